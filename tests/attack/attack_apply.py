"""A local user against apply, the journal and revert: folders and files are exchanged for links
to root's own, and back, all the while that root changes a file in a directory of that user."""

import base64
import contextlib
import os
import shutil
import sys
from collections.abc import Callable

import sandbox
from sandbox import BASE, MALLORY, SECRET

sandbox.enter()

from hostproof.apply import transaction as apply  # noqa: E402
from hostproof.apply.change import FileChange, Plan  # noqa: E402
from hostproof.apply.journal import Journal  # noqa: E402
from hostproof.apply.writer import Writer  # noqa: E402
from hostproof.errors import HostproofError  # noqa: E402

SHARE = 3
ATTACKS = 10

BEFORE, AFTER = "before = 1\n", "after = 1\n"
#: What mallory's folder looks like, and where links lead: a folder of root with the same names.
HOME = BASE / "home"
ADMIN = HOME / "network/admin"
TARGET = ADMIN / "listener.ora"
PRIZE = BASE / "root/network/admin"


def prepare() -> None:
    shutil.rmtree(HOME, ignore_errors=True)
    shutil.rmtree(BASE / "root", ignore_errors=True)
    shutil.rmtree(sandbox.JOURNAL, ignore_errors=True)
    for path in (HOME, HOME / "network", ADMIN):
        sandbox.folder(path, MALLORY)
    sandbox.file(TARGET, BEFORE, MALLORY)
    for path in (BASE / "root", BASE / "root/network", PRIZE):
        sandbox.folder(path, 0)
    sandbox.file(PRIZE / "listener.ora", BEFORE)
    sandbox.file(BASE / "root/secret", SECRET, mode=0o600)


def prize() -> dict[str, object]:
    """Everything of root's: what is where, whose, and what is in it."""
    files: dict[str, object] = {}
    for path in sorted((BASE / "root").rglob("*")):
        look = path.lstat()
        text = path.read_text() if path.is_file() else None
        files[str(path)] = (look.st_mode, look.st_uid, look.st_gid, text)
    return files


def swap_folder() -> None:
    """network/admin is mallory's own, then root's."""
    os.rename(ADMIN, HOME / "network/kept")
    os.symlink(PRIZE, ADMIN)
    os.unlink(ADMIN)
    os.rename(HOME / "network/kept", ADMIN)


def swap_above() -> None:
    os.rename(HOME / "network", HOME / "kept")
    os.symlink(BASE / "root/network", HOME / "network")
    os.unlink(HOME / "network")
    os.rename(HOME / "kept", HOME / "network")


def swap_file() -> None:
    """The file is a link to root's of the same content, then the file."""
    os.symlink(PRIZE / "listener.ora", ADMIN / "link")
    os.rename(ADMIN / "link", TARGET)
    (ADMIN / "new").write_text(BEFORE)
    os.rename(ADMIN / "new", TARGET)


def swap_secret() -> None:
    """The file is a link to what only root reads: in the journal, and then put back readable."""
    os.symlink(BASE / "root/secret", ADMIN / "link")
    os.rename(ADMIN / "link", TARGET)
    (ADMIN / "new").write_text(BEFORE)
    os.rename(ADMIN / "new", TARGET)


def link_unfinished() -> None:
    """The name of the unfinished file leads to root's file."""
    for name in (".hostproof-unfinished", "listener.ora.hostproof-unfinished"):
        try:
            os.symlink(PRIZE / "listener.ora", ADMIN / name)
        except FileExistsError:
            os.unlink(ADMIN / name)


def change() -> None:
    """What library/apply_control.py and library/revert_control.py do."""
    plan = Plan([FileChange(str(TARGET), AFTER, BEFORE)], [], [], [])
    writer = Writer()
    journal = Journal(writer, str(sandbox.JOURNAL))
    apply.refuse(plan, "control")
    apply.apply_plan(plan, "control", journal, writer)


def put_back() -> None:
    writer = Writer()
    journal = Journal(writer, str(sandbox.JOURNAL))
    transactions = journal.transactions()
    apply.restorations(transactions)
    apply.refuse_if_edited_since(transactions, overwrite=True)
    apply.revert(transactions, journal, writer)


def leaked() -> bool:
    """Whether something of root's is where mallory reads, or mallory has what was root's."""
    for path in HOME.rglob("*"):
        own = not path.is_symlink() and path.is_file()
        if own and (path.lstat().st_uid != MALLORY or path.read_text() == SECRET):
            return True
    journal = [path.read_text() for path in sandbox.JOURNAL.rglob("*.json")]
    secret = base64.b64encode(SECRET.encode()).decode()
    return any(secret in text for text in journal)


def against(step: Callable[[], None], act: Callable[[], None]) -> Callable[[int], bool]:
    def attempt(_number: int) -> bool:
        prepare()
        if step is put_back:
            change()
        before = prize()
        # Refused, or the attacker was in the way: nothing is won by that.
        with sandbox.attacker(act), contextlib.suppress(HostproofError, OSError):
            step()
        return prize() != before or leaked()

    return attempt


def main() -> int:
    wins = 0
    acts = (swap_folder, swap_above, swap_file, swap_secret, link_unfinished)
    for step in (change, put_back):
        for act in acts:
            name = f"{'apply' if step is change else 'revert'} {act.__name__.replace('_', ' ')}"
            wins += sandbox.try_often(name, against(step, act))
    return 1 if wins else 0


if __name__ == "__main__":
    sys.exit(main())
