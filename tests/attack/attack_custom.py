"""A check of a site captures a secret, follows a path, opens a device or searches without end.

Success: the secret is in a finding, or a command that does more than read is accepted.
"""

import json
import random
import string
import sys
from collections.abc import Iterator
from pathlib import Path

import family
from family import CONTAINED, REFUSED, WON, Outcome

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "unit")]
import conftest  # noqa: E402,F401 - puts the code where Ansible has it
import packs  # noqa: E402
from ansible.module_utils.hostproof.controls.custom import patterns  # noqa: E402
from ansible.module_utils.hostproof.controls.custom.commands import refusal  # noqa: E402
from ansible.module_utils.hostproof.evaluate import audit  # noqa: E402
from masking_formats import COMMANDS, TEXTS  # noqa: E402

SHARE = 5
FORMS = [text for texts in {**COMMANDS, **TEXTS}.values() for text in texts]
PATTERNS = ("(Z[A-Za-z0-9]+q)", r"[=\s](\S*)$", "(.*)", r"(\S+)\s*$", ".*")
PROGRAMS = {
    "cat": ["/dev/watchdog", "/dev/nst0", "/proc/1/environ", "/etc/../dev/mem", "-", "../x"],
    "head": ["/dev/sda", "/proc/self/mem", "/dev/fd/0"],
    "tail": ["-f", "--follow", "--pid=1", "-F"],
    "wc": ["--files0-from=-", "--files0-from=/x"],
    "df": ["--sync", "--syn", "--sy"],
    "lspci": ["-M", "-O", "-H1", "-q", "-Q", "-A", "-i", "-p", "-F"],
    "lscpu": ["-s", "--sysroot"],
    "lsblk": ["--sysroot", "--sysroot=/x"],
    "getent": ["shadow", "gshadow", "-s", "netgroup", "aliases", "-i"],
    "findmnt": ["--poll", "-p", "-F", "--tab-file", "-N", "-x", "--verify", "-w"],
    "modinfo": ["/tmp/x.ko", "-b", "--basedir=/x", "-k", "../x"],
    "id": ["-", "--x"],
    "ipcs": ["--x", "/x"],
}


def captured(rng: random.Random) -> Outcome:
    letters = string.ascii_letters + string.digits
    secret = "Z" + "".join(rng.choice(letters) for _ in range(rng.randint(8, 20))) + "q"
    form = rng.choice(FORMS)
    text = form.replace("§", secret)
    machine = packs.linux().file("/etc/app.conf", f"a=1\n{text}\nb=2\n")
    check = {
        **{"id": "own", "title": "T", "problem": "P", "severity": "low", "why": "W."},
        **{"reference": "R", "file": "/etc/app.conf", "pattern": rng.choice(PATTERNS)},
        "matches": rng.choice((".", "^Z", "x")),
    }
    policy = {"checks": [check], "own_commands": False}
    found = audit.judge_host(machine, {"custom": policy})
    leaks = secret in json.dumps([finding.as_dict() for finding in found])
    status = WON if leaks else REFUSED if found[0].status == "error" else CONTAINED
    return Outcome("captured secret", status, text)


def accepted(rng: random.Random) -> Outcome:
    program = rng.choice([*PROGRAMS])
    argv = [program, rng.choice(PROGRAMS[program])]
    return Outcome("argument", REFUSED if refusal(argv) else WON, argv)


def as_root(rng: random.Random) -> Outcome:
    program = rng.choice(("cat", "head", "tail", "wc", "ls", "stat", "readlink"))
    argv = [program, f"/home/user{rng.randrange(99)}/link"]
    return Outcome("path as root", REFUSED if refusal(argv, True) else WON, argv)


def attempts(rng: random.Random, _number: int) -> Iterator[Outcome]:
    patterns._limited = lambda work, _pattern: work()  # a process for each takes too long here
    while True:
        yield captured(rng)
        yield accepted(rng)
        yield as_root(rng)


if __name__ == "__main__":
    family.main(attempts)
