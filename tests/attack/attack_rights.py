"""Accounts that want more of a file when root replaces it and puts it back.

Owner, mode, access list, default access list of the folder and attributes are random. An attack
succeeds if an account may read or write the file when it could not before, if one that could may
not any more, if it opens the unfinished file, or if anything but the content differs after apply
or anything at all after revert. The kernel answers: each account opens the files.
"""

import os
import shutil
import stat
import struct
from collections.abc import Iterator
from random import Random
from typing import Any

import family
import sandbox
from family import CONTAINED, REFUSED, WON, Outcome
from sandbox import BASE, MALLORY, ORACLE

sandbox.enter()

from hostproof.apply import transaction as apply  # noqa: E402
from hostproof.apply.change import FileChange, Plan  # noqa: E402
from hostproof.apply.journal import Journal  # noqa: E402
from hostproof.apply.writer import Writer  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402

SHARE = 2

ETC = BASE / "etc"
TARGET = ETC / "target.conf"
UNFINISHED = ETC / "target.conf.hostproof-unfinished"
OPENED = BASE / "opened"
OLD, NEW = "old = 1\n", "new = 1\n"
NOBODY = 65534
ACCOUNTS = (MALLORY, ORACLE, NOBODY)
NO_ID = 2**32 - 1


def access_list(rng: Random) -> bytes:
    """Valid ones only: the kernel refuses others (acl(5))."""
    users = sorted(rng.sample(ACCOUNTS, rng.randint(0, 3)))
    groups = sorted(rng.sample(sorted(sandbox.GIDS.values()), rng.randint(0, 2)))

    def some() -> int:
        return rng.randint(0, 7)

    entries = [(0x01, some(), NO_ID), *((0x02, some(), user) for user in users)]
    entries += [(0x04, some(), NO_ID), *((0x08, some(), group) for group in groups)]
    entries += [(0x10, some(), NO_ID)] if users or groups else []
    entries += [(0x20, some(), NO_ID)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def prepare(rng: Random) -> dict[str, Any]:
    for path in (ETC, sandbox.JOURNAL):
        shutil.rmtree(path, ignore_errors=True)
    # In a folder of its own the account replaces the file, with its own rights.
    theirs = rng.random() < 0.25
    sandbox.folder(ETC, ORACLE if theirs else 0)
    owner = rng.choice((0, MALLORY, ORACLE)), rng.choice((0, *sandbox.GIDS.values()))
    attributes: dict[str, Any] = {
        "folder of": "oracle" if theirs else "root",
        "owner": (ORACLE, sandbox.GIDS[ORACLE]) if theirs else owner,
        "mode": rng.choice((0o600, 0o640, 0o644, 0o604, 0o660, rng.randrange(0o10000))),
    }
    TARGET.write_text(OLD)
    os.chown(TARGET, *attributes["owner"])
    if rng.random() < 0.6:
        attributes["access list"] = access_list(rng)
        os.setxattr(TARGET, "system.posix_acl_access", attributes["access list"])
    else:
        TARGET.chmod(attributes["mode"])
    for number in range(rng.choice((0, 0, 1, 3))):
        name = f"{rng.choice(('user', 'user' if theirs else 'trusted'))}.note{number}"
        attributes[name] = rng.randbytes(rng.randint(0, 40))
        os.setxattr(TARGET, name, attributes[name])
    if rng.random() < 0.3:
        attributes["capability"] = struct.pack("<5I", 0x02000001, rng.getrandbits(20), 0, 0, 0)
        os.setxattr(TARGET, "security.capability", attributes["capability"])
    if rng.random() < 0.5:
        attributes["default access list"] = access_list(rng)
        os.setxattr(ETC, "system.posix_acl_default", attributes["default access list"])
    return attributes


def all_of_it() -> tuple[Any, ...]:
    look = TARGET.lstat()
    attributes = {name: os.getxattr(TARGET, name) for name in os.listxattr(TARGET)}
    return stat.filemode(look.st_mode), look.st_uid, look.st_gid, look.st_nlink, attributes


def rights() -> list[tuple[int, int, bool]]:
    """Account, how it opens the file, and whether the kernel lets it."""
    access = []
    for uid in ACCOUNTS:
        pid = os.fork()
        if pid == 0:
            become(uid)
            os._exit(sum(1 << flag for flag in (os.O_RDONLY, os.O_WRONLY) if opens(flag)))
        answer = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        access += [(uid, flag, bool(answer & 1 << flag)) for flag in (os.O_RDONLY, os.O_WRONLY)]
    return access


def become(uid: int) -> None:
    os.setgroups([])
    os.setgid(sandbox.GIDS.get(uid, NOBODY))
    os.setuid(uid)


def opens(flag: int) -> bool:
    try:
        os.close(os.open(TARGET, flag))
    except PermissionError:
        return False
    return True


def peek() -> None:
    """Mallory opens the unfinished file, which is not for her before it has its name."""
    os.close(os.open(UNFINISHED, os.O_RDONLY))
    os.close(os.open(OPENED / "it", os.O_CREAT | os.O_WRONLY))


def strike(rng: Random, given: dict[str, Any]) -> Outcome:
    before, may = all_of_it(), rights()
    sandbox.folder(OPENED, MALLORY)
    removed = rng.random() < 0.2
    writer = Writer()
    journal = Journal(writer, str(sandbox.JOURNAL))
    plan = Plan([FileChange(str(TARGET), None if removed else NEW, OLD)], [], [], [])
    result, wrong = CONTAINED, []
    # Who may read the file anyway may also read what is to take its place.
    may_read = {(uid, flag): yes for uid, flag, yes in may}[MALLORY, os.O_RDONLY]
    try:
        with sandbox.attacker(peek):
            apply.refuse(plan, "control", journal)
            apply.apply_plan(plan, "control", journal, writer)
            if not removed and (all_of_it() != before or rights() != may):
                wrong.append("not as before after apply")
            apply.revert(journal.transactions(), journal, writer)
    except HostproofError as problem:
        result = REFUSED
        given["refused"] = str(problem)
    if all_of_it() != before or rights() != may or TARGET.read_text() != OLD:
        wrong.append("not as before in the end")
    if (OPENED / "it").exists() and not may_read:
        wrong.append("the unfinished file was opened")
    (OPENED / "it").unlink(missing_ok=True)
    return Outcome(
        "removed file" if removed else "replaced file", WON if wrong else result, (wrong, given)
    )


def attempts(rng: Random, number: int) -> Iterator[Outcome]:
    for _ in range(number):
        attributes = prepare(rng)
        yield strike(rng, attributes)


if __name__ == "__main__":
    family.main(attempts)
