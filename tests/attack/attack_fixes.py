"""A result of a hostile host makes a fix file run a program of another account as root. It is won
if the controller gives root a program or a makefile of a home, or a path whose directories are not
checked."""

import importlib
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from random import Random

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

import family  # noqa: E402
from hostproof_controller.cli import fixes  # noqa: E402
from hostproof_controller.commands import execution, is_from_host  # noqa: E402

HOMES = ("/u01/19", "/home/x", "/tmp/h", "/opt/oracle/21c")
ACCOUNTS = ("root", "0", "'#0'", "toor", "oracle", "-", "root\\", "oracle -g root", "+0")
PROGRAMS = (
    *("make -C {0}/rdbms/lib -f ins_rdbms.mk dnfs_on", "{0}/bin/lsnrctl start LISTENER"),
    *("{0}/OPatch/opatch lsinventory", "{0}/bin/srvctl stop database -d x"),
    *("lsnrctl stop LISTENER", "sh {0}/x.sh"),
)
PREFIXES = ("", "env ORACLE_HOME={0} ", "env PATH={0}/bin ", "sudo ", "nice ", "/usr/bin/env ")
PATHS = ("umount {0}/a", "mount {0}/a", "mkdir -p {0}/a/b", "mount -o remount,rw {0}")
#: The programs that belong to no account but root.
SYSTEM = {"umount", "mount", "mkdir"}


def attempts(rng: Random, number: int) -> Iterator[family.Outcome]:
    while True:
        home = rng.choice(HOMES)
        if rng.random() < 0.3:
            line = rng.choice(PATHS).format(home)
        else:
            as_account = f"runuser -u {rng.choice(ACCOUNTS)} -- " if rng.random() < 0.6 else ""
            line = as_account + (rng.choice(PREFIXES) + rng.choice(PROGRAMS)).format(home)
        yield family.Outcome("a command for root", strike(line), line)


def strike(line: str) -> str:
    if not is_from_host(line):
        return family.REFUSED
    run = execution(line)
    words = shlex.split(line)
    if run.account is not None:
        is_other = words[:2] == ["runuser", "-u"] and run.account not in ("root", "toor", "0")
        return family.CONTAINED if is_other else family.WON
    needed = {str(parent) for parent in PurePosixPath(words[-1]).parents}
    guard = fixes._guarded(line)[0]
    is_checked = guard.startswith("only_root ") and needed <= {*shlex.split(guard)}
    return family.CONTAINED if words[0] in SYSTEM and is_checked else family.WON


if __name__ == "__main__":
    family.main(attempts)
