"""Another account owns, or may write to, a place that root's timer uses. It is won if the check
before a run accepts the place."""

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from hostproof_controller.cli import owned_by_root  # noqa: E402

PLACES = ("own", "own/a", "own/a/b", "own/a/b/code.py", "own/hostproof", "target", "target/t.py")
OTHER = 1234


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    if os.geteuid() != 0:
        family.skip("only root can give a file to another account")
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder)
        (site / "own/a/b").mkdir(parents=True)
        (site / "target").mkdir()
        for name in ("own/a/b/code.py", "own/hostproof", "target/t.py"):
            (site / name).touch()
        (site / "own/a/link").symlink_to(site / "target")
        os.chmod(site, 0o755)
        if run(site).returncode:
            raise ValueError("the site of root is not accepted")
        while True:
            place = site / rng.choice(PLACES)
            before = place.stat().st_mode & 0o7777
            kind = rng.randrange(3)
            if kind == 0:
                os.chown(place, OTHER, -1)
            else:
                bits = rng.choice((0o020, 0o002, 0o022)) | rng.choice((0, 0o1000))
                place.chmod(before | bits)
            won = run(site).returncode == 0
            yield family.Outcome(
                "an owner" if kind == 0 else "a mode",
                family.WON if won else family.REFUSED,
                (str(place), oct(place.stat().st_mode)),
            )
            os.chown(place, 0, -1)
            place.chmod(before)


def run(site: Path) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-I", "-S", owned_by_root.__file__]
    return subprocess.run(
        [*program, str(site / "own/hostproof"), "--", str(site / "own")],
        capture_output=True,
        check=False,
    )


if __name__ == "__main__":
    family.main(attempts)
