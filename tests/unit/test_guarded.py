"""Files in folders of others: who acts, and where nobody does. Needs root, who alone can act for
others; what the races do is for tests/attack."""

import errno
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import FileChange, Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect import child, command, guarded
from ansible.module_utils.hostproof.collect.child import Untrusted
from ansible.module_utils.hostproof.collect.command import Command
from ansible.module_utils.hostproof.collect.host import LiveHost, Process
from ansible.module_utils.hostproof.collect.identity import ANYBODY
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.nfs import nfs_files
from ansible.module_utils.hostproof.probes.oracle import oracle_parameters
from cases import cases

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root acts for other accounts")

NOBODY = pwd.getpwnam("nobody")
DAEMON = pwd.getpwnam("daemon")


def give(path: Path, account: pwd.struct_passwd, mode: int | None = None) -> Path:
    os.chown(path, account.pw_uid, account.pw_gid)
    if mode is not None:
        path.chmod(mode)
    return path


@pytest.fixture
def base() -> Iterator[Path]:
    """pytest's own folders let nobody else in."""
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def theirs(base: Path) -> Path:
    """A folder of nobody's, with a file."""
    folder = base / "theirs"
    folder.mkdir()
    give(folder, NOBODY, 0o755)
    (folder / "file").write_text("old\n")
    give(folder / "file", NOBODY, 0o640)
    return folder


def make(base: Path, *changes: FileChange) -> None:
    journal = Journal(Writer(), str(base / "journal"))
    plan = Plan(list(changes), [], [], [])
    apply.refuse(plan, "control")
    apply.apply_plan(plan, "control", journal, Writer())


def revert(base: Path) -> None:
    journal = Journal(Writer(), str(base / "journal"))
    transactions = journal.transactions()
    apply.refuse_if_edited_since(transactions, overwrite=False)
    apply.revert(transactions, journal, Writer())


def test_the_owner_writes_and_puts_back(base, theirs):
    make(
        base, FileChange(f"{theirs}/file", "new\n", "old\n"), FileChange(f"{theirs}/a/b", "b", None)
    )
    look = (theirs / "file").stat()
    assert (theirs / "file").read_text() == "new\n"
    assert (look.st_uid, look.st_gid, look.st_mode & 0o777) == (NOBODY.pw_uid, NOBODY.pw_gid, 0o640)
    assert {(theirs / name).stat().st_uid for name in ("a", "a/b")} == {NOBODY.pw_uid}
    revert(base)
    assert (theirs / "file").read_text() == "old\n"
    assert [path.name for path in theirs.iterdir()] == ["file"]


def refusals() -> dict[str, Callable[[Path], str]]:
    """Each makes a way of somebody's that is not to be trusted; it returns what is said of it."""

    def link_to_roots(theirs: Path) -> str:
        (theirs.parent / "roots").write_text("old\n")
        (theirs.parent / "roots").chmod(0o600)
        (theirs / "file").unlink()
        (theirs / "file").symlink_to(theirs.parent / "roots")
        return "belongs to root in a directory of nobody"

    def folder_to_roots(theirs: Path) -> str:
        (theirs.parent / "roots").mkdir()
        (theirs.parent / "roots/file").write_text("old\n")
        shutil.rmtree(theirs)
        theirs.mkdir()
        give(theirs, NOBODY)
        (theirs / "sub").symlink_to(theirs.parent / "roots")
        return "belongs to root in a directory of nobody"

    def hard_link(theirs: Path) -> str:
        (theirs.parent / "roots").write_text("old\n")
        (theirs / "file").unlink()
        os.link(theirs.parent / "roots", theirs / "file")
        return "belongs to root in a directory of nobody"

    def a_third(theirs: Path) -> str:
        shutil.rmtree(theirs)
        theirs.mkdir()
        give(theirs, DAEMON, 0o755)
        (theirs / "sub").mkdir()
        give(theirs / "sub", NOBODY, 0o755)
        (theirs / "sub/file").write_text("old\n")
        give(theirs / "sub/file", NOBODY)
        return "directories of daemon and of nobody"

    def everybody(theirs: Path) -> str:
        theirs.chmod(0o777)
        return "may be changed by .*any account"

    def sticky_and_absent(theirs: Path) -> str:
        os.chown(theirs, 0, 0)
        theirs.chmod(0o1777)
        (theirs / "file").unlink()
        return "any account may create it"

    def listed(theirs: Path) -> str:
        done = subprocess.run(["setfacl", "-m", "u:daemon:rwx", str(theirs)], capture_output=True)
        if done.returncode:
            pytest.skip("this file system has no access lists")
        return "may be changed by"

    def fifo(theirs: Path) -> str:
        (theirs / "file").unlink()
        os.mkfifo(theirs / "file")
        give(theirs / "file", NOBODY)
        return "is not a regular file"

    return {name: function for name, function in locals().items() if callable(function)}


REFUSALS = refusals()


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_refused(base, theirs, name):
    if name == "listed" and shutil.which("setfacl") is None:
        pytest.skip("setfacl is not installed")
    message = REFUSALS[name](theirs)
    path = theirs / "sub/file" if (theirs / "sub").exists() else theirs / "file"
    before = "old\n" if os.path.lexists(path) else None
    with pytest.raises(HostproofError, match=message):
        make(base, FileChange(str(path), "new\n", before))
    roots = base / "roots"
    assert not roots.is_file() or roots.read_text() == "old\n"
    assert not (base / "journal").exists()


def test_a_group_of_several_may_change_it(base, theirs, monkeypatch):
    members = {NOBODY.pw_uid, DAEMON.pw_uid}
    monkeypatch.setattr(guarded, "members_of", lambda gid: frozenset(members))
    theirs.chmod(0o775)
    with pytest.raises(HostproofError, match="may be changed by daemon, nobody"):
        make(base, FileChange(f"{theirs}/file", "new\n", "old\n"))
    members.remove(DAEMON.pw_uid)
    make(base, FileChange(f"{theirs}/file", "new\n", "old\n"))
    assert (theirs / "file").read_text() == "new\n"


def test_the_file_of_another_listener_is_not_changed(base, theirs):
    with pytest.raises(HostproofError, match="not of daemon"):
        make(base, FileChange(f"{theirs}/file", "new\n", "old\n", owner=DAEMON.pw_uid))


def test_links_of_root_are_followed(base, theirs):
    (base / "way").symlink_to("theirs")
    make(base, FileChange(f"{base}/way/file", "new\n", "old\n"))
    assert (theirs / "file").read_text() == "new\n"


def test_a_journal_that_somebody_else_may_write_is_not_believed(base, theirs):
    root = base / "journal"
    root.mkdir(0o777)
    root.chmod(0o777)
    with pytest.raises(HostproofError, match="not a directory that root only may change"):
        Journal(Writer(), str(root)).transactions()
    root.rmdir()
    root.symlink_to(theirs)
    with pytest.raises(HostproofError, match="not a directory that root only may change"):
        Journal(Writer(), str(root)).transactions()


def test_a_mount_point_below_a_folder_of_somebody(base, theirs):
    with pytest.raises(Untrusted, match="nobody may change"):
        guarded.check_mount_point(f"{theirs}/data")
    guarded.check_mount_point(f"{base}/data")
    guarded.check_mount_point(f"{base}/missing/data")


def test_work_that_does_not_come_back_is_ended():
    with pytest.raises(child.Late, match="no answer in 0.2 seconds"):
        child.call(lambda: __import__("time").sleep(60), 0.2, "waiting")


# -- what is run -----------------------------------------------------------------------------------


@pytest.fixture
def home(base: Path) -> Path:
    home = base / "home"
    (home / "bin").mkdir(parents=True)
    program = home / "bin/sqlplus"
    program.write_text('#!/bin/sh\necho "SQL*Plus: Release $(id -u)"\n')
    program.chmod(0o755)
    for path in (home, home / "bin", program):
        give(path, NOBODY)
    return home


def answer(home: Path, user: str = "nobody") -> str:
    return command.run(Command("test", (f"{home}/bin/sqlplus",), user=user)).stdout


def test_a_program_of_one_owner_runs_as_that(home):
    assert oracle_parameters.owner_of(LiveHost(), str(home)) == "nobody"
    assert answer(home) == f"SQL*Plus: Release {NOBODY.pw_uid}\n"


def test_a_program_is_not_found_under_another_name_later(home):
    """What was looked at is run by its descriptor."""
    (home / "bin/sqlplus").write_text("#!/bin/sh\nread name < /proc/$$/cmdline; echo $0\n")
    assert answer(home).startswith("/dev/fd/")


@cases("part", "bin/sqlplus", "bin", ".")
def test_no_part_of_a_home_is_a_link(home, base, part):
    place = home / part
    moved = base / "moved"
    os.rename(place, moved)
    place.symlink_to(moved)
    with pytest.raises(Unanswered, match="is a link"):
        oracle_parameters.owner_of(LiveHost(), str(home))
    with pytest.raises(ValueError, match="is a link"):
        answer(home)


@cases("part", "bin/sqlplus", "bin", ".")
def test_no_part_of_a_home_is_of_another(home, part):
    give(home / part, DAEMON)
    with pytest.raises(Unanswered, match="must have one owner"):
        oracle_parameters.owner_of(LiveHost(), str(home))
    with pytest.raises(ValueError, match="daemon"):
        answer(home)


@cases("part", "bin/sqlplus", "bin", ".")
def test_no_part_of_a_home_is_open_to_all(home, part):
    (home / part).chmod(0o777)
    with pytest.raises(ValueError, match="may be changed by"):
        answer(home)


def test_nobody_runs_the_program_of_another(home):
    with pytest.raises(ValueError, match="not to daemon|not of daemon"):
        answer(home, "daemon")


def test_those_who_install_oracle_may_change_its_homes(home, base, monkeypatch):
    inventory = base / "oraInst.loc"
    monkeypatch.setattr(guarded, "_INVENTORIES", (str(inventory),))
    monkeypatch.setattr(
        guarded, "members_of", lambda gid: frozenset((NOBODY.pw_uid, DAEMON.pw_uid))
    )
    home.chmod(0o775)
    with pytest.raises(ValueError, match="may be changed by|goes through|leads through"):
        answer(home)
    inventory.write_text("inventory_loc=/u01/app/oraInventory\ninst_group=daemon\n")
    assert answer(home).startswith("SQL*Plus")
    give(inventory, NOBODY)
    with pytest.raises(ValueError, match="may be changed by|leads through"):
        answer(home)


# -- what is read ----------------------------------------------------------------------------------


def test_root_reads_no_file_that_another_chose(base, theirs):
    secret = base / "secret"
    secret.write_text("only root\n")
    secret.chmod(0o600)
    (theirs / "link").symlink_to(secret)
    host = LiveHost()
    for read in (host.read_text, lambda path: nfs_files.read_text(host, path)):
        assert read(f"{theirs}/file") == "old\n"
        with pytest.raises(HostproofError, match="Permission denied"):
            read(f"{theirs}/link")
    assert "only root" not in repr(host.evidence)


@cases("kind", "fifo", "device", "sparse", "socket")
def test_what_is_no_file_of_text_does_not_hold_up_a_read(base, kind):
    path = base / "odd"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, 0o20600, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("no device can be made here")
    elif kind == "socket":
        os.mknod(path, 0o140600)
    else:
        with path.open("wb") as stream:
            stream.truncate(1 << 40)
    with pytest.raises(Unanswered, match="not a regular file|longer than"):
        LiveHost().read_text(str(path))
    if kind in ("device", "sparse"):
        with pytest.raises(HostproofError, match="more than|longer than|cat ended|Permission"):
            nfs_files.read_text(LiveHost(), str(path), "root")


@cases(
    "error record",
    (OSError(errno.EPERM, "not permitted"), {"errno": errno.EPERM, "text": "not permitted"}),
    (OSError("gone"), {"errno": errno.EIO, "text": "gone"}),
    (Untrusted("of another"), {"untrusted": "of another"}),
    (ValueError("no number"), {"error": "no number"}),
    (MemoryError(), {"error": "MemoryError"}),
)
def test_record_of_an_error_in_a_child(error, record):
    assert child.problem_of(error) == record


# -- what is believed ------------------------------------------------------------------------------

OWN = {"pid": 7, "uid": 54321, "gid": 54321, "started": 1.0, "argv0": "ora_pmon_ORCL"}


@cases(
    "exe owner runs",
    ("/u01/db/bin/oracle", 54321, True),
    ("/u01/db/bin/oracle (deleted)", 54321, True),
    ("/u01/db/bin/oracleO", 54321, True),
    ("/u01/db/bin/oracle", 0, False),
    ("/u01/db/bin/oracle", 54322, False),
    ("/usr/bin/sleep", 54321, False),
    ("/u01/db/bin/oracle2", 54321, False),
    ("/tmp/bin/oracle/x", 54321, False),
    ("oracle", 54321, False),
    (None, None, None),
    ("/u01/db/bin/oracle", None, None),
)
def test_what_tells_an_instance(exe, owner, runs):
    assert Process(**OWN, exe=exe, exe_uid=owner).runs("oracle") is runs


@cases(
    "exe home",
    ("/u01/db/bin/oracle", "/u01/db"),
    ("/u01/db/bin/oracle (deleted)", "/u01/db"),
    ("/u01/db/bin/oracle0", "/u01/db"),
    ("/u01/db/bin/oracle2", None),
    ("/bin/oracle", None),
)
def test_home_of_a_program(exe, home):
    assert Process(**OWN, exe=exe, exe_uid=0).home("oracle") == home


def test_an_old_record_is_replayed():
    assert Process(**OWN).runs("oracle") is None
    assert Process(**OWN).home("oracle") is None


def test_the_kernel_tells_who_owns_a_program():
    with subprocess.Popen(["sleep", "60"], user=NOBODY.pw_uid) as process:
        try:
            (result,) = [
                candidate
                for candidate in LiveHost().processes("x", r"^sleep$", ANYBODY)
                if candidate.pid == process.pid
            ]
        finally:
            process.kill()
    assert result.uid == NOBODY.pw_uid
    assert result.exe is not None
    assert result.exe.startswith("/")
    assert result.exe_uid == 0
    assert result.runs("sleep") is False
