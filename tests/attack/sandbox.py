"""Where an attack is tried: mount and process namespaces of its own, with two more accounts.

``enter()`` starts the program again as root of such namespaces: what it mounts and whom it starts
ends with it, and /etc and /var/lib of the machine are never written to. mallory is the attacker,
oracle owns a database home.
"""

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
INSIDE = "HOSTPROOF_ATTACK_SANDBOX"
SKIPPED = 77
TRIES = int(os.environ.get("HOSTPROOF_ATTACK_TRIES", "200"))

MALLORY = 61001
ORACLE = 61002
GROUP = 61000
GIDS = {MALLORY: MALLORY, ORACLE: GROUP}
BASE = Path("/mnt")
JOURNAL = BASE / "journal"
PASSWD = f"mallory:x:{MALLORY}:61001::/:/bin/sh\noracle:x:{ORACLE}:{GROUP}::/:/bin/sh\n"
GROUPS = f"mallory:x:61001:\noinstall:x:{GROUP}:\n"
SECRET = "only root reads this\n"

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "module_utils"))


def enter() -> None:
    """Be inside; ends the program with 77 where that cannot be had here."""
    if INSIDE not in os.environ:
        leave_for_sandbox()
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "attack", str(BASE))
    for name, more in (("passwd", PASSWD), ("group", GROUPS)):
        copy = BASE / name
        copy.write_text(Path("/etc", name).read_text().rstrip("\n") + "\n" + more)
        run("mount", "--bind", str(copy), f"/etc/{name}")
    os.chdir("/")


def leave_for_sandbox() -> NoReturn:
    if os.geteuid() != 0:
        skip("accounts to attack from need root")
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"]).returncode:
        skip("no mount and process namespaces can be made here")
    environment = dict(os.environ, **{INSIDE: "1", "PYTHONDONTWRITEBYTECODE": "1"})
    done = subprocess.run([*unshare, sys.executable, *sys.argv], env=environment)
    sys.exit(done.returncode)


def skip(reason: str) -> NoReturn:
    print(reason)
    sys.exit(SKIPPED)


def run(*argv: str) -> None:
    subprocess.run(argv, check=True)


def folder(path: Path, uid: int, mode: int = 0o755) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    os.chown(path, uid, GIDS.get(uid, 0))
    path.chmod(mode)
    return path


def file(path: Path, text: str, uid: int = 0, mode: int = 0o644) -> Path:
    path.write_text(text)
    os.chown(path, uid, GIDS.get(uid, 0))
    path.chmod(mode)
    return path


@contextlib.contextmanager
def attacker(act: Callable[[], None], uid: int = MALLORY) -> Iterator[None]:
    """``act`` again and again as an account, in another process, as long as the block runs."""

    def loop() -> None:
        os.setgroups([])
        os.setgid(GIDS[uid])
        os.setuid(uid)
        while True:
            # What is in the way was put there by its own last step, or by whom it attacks.
            with contextlib.suppress(OSError):
                act()

    process = multiprocessing.get_context("fork").Process(target=loop, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.kill()
        process.join()


def try_often(name: str, attempt: Callable[[int], bool], tries: int = TRIES) -> int:
    """Count how many of the tries the attacker wins, and print it."""
    wins = sum(attempt(number) for number in range(tries))
    print(f"{name}: {tries} tries, {wins} wins", flush=True)
    return wins
