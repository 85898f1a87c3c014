"""Carries out stories by the real programs: python real.py < STORIES, in namespaces of its own.

What systemd would do at boot is done in its order: systemd-sysctl, systemd-tmpfiles, rc.local.
Whether a service starts is what systemctl and systemd-analyze say. Standard input and output are
JSON; the caller has made the namespaces (unshare --user --map-root-user --net --mount).
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

TREES = ("/etc", "/run", "/opt", "/usr/local/lib", "/usr/lib/sysctl.d", "/usr/lib/tmpfiles.d")
PROGRAMS = {
    "systemd-sysctl.service": ["/usr/lib/systemd/systemd-sysctl"],
    "systemd-tmpfiles-setup.service": ["systemd-tmpfiles", "--create", "--remove", "--boot"],
}
RC_LOCAL = "/etc/rc.local"


def main() -> int:
    request = json.load(sys.stdin)
    for tree in TREES:
        subprocess.run(["mount", "-t", "tmpfs", "boot", tree], check=True)
    results = [carried_out(story, request["defaults"]) for story in request["stories"]]
    json.dump(results, sys.stdout)
    return 0


def carried_out(story: dict[str, Any], defaults: dict[str, int]) -> dict[str, str]:
    """The value of each key after the boot of a story."""
    for tree in TREES:
        for path in Path(tree).iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    for path, text in story["files"].items():
        _parent(path).write_text(text)
    for path, target in story["links"].items():
        _parent(path).symlink_to(target)
    for path in story["executable"]:
        os.chmod(path, 0o755)
    for key, value in defaults.items():
        _file(key).write_text(f"{value}\n")
    for service, argv in PROGRAMS.items():
        if starts(service):
            run(argv)
    if os.path.exists(RC_LOCAL) and os.access(RC_LOCAL, os.X_OK):
        run([RC_LOCAL, "start"])
    return {key: _file(key).read_text().strip() for key in defaults}


def starts(service: str) -> bool:
    # What lies in /run does not survive a boot.
    for folder in ("systemd/system", "sysctl.d", "tmpfiles.d"):
        shutil.rmtree(f"/run/{folder}", ignore_errors=True)
    if run(["systemctl", "--root=/", "is-enabled", service]).strip() != "static":
        return False
    drop_in = Path(f"/etc/systemd/system/{service}.d/a.conf")
    lines = drop_in.read_text().splitlines()[1:] if drop_in.exists() else []
    conditions = subprocess.run(["systemd-analyze", "condition", *lines], capture_output=True)
    return not lines or conditions.returncode == 0


def run(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, cwd="/", timeout=60, check=False)
    return done.stdout


def _parent(path: str) -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return Path(path)


def _file(key: str) -> Path:
    return Path("/proc/sys/" + key.replace(".", "/"))


if __name__ == "__main__":
    sys.exit(main())
