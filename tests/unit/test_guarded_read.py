"""Who reads a path, and what nobody reads. Needs root, who alone can read for other accounts; what
races do is for tests/attack."""

import ctypes
import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import guarded, guarded_read, mount_owner
from ansible.module_utils.hostproof.collect.child import Untrusted
from ansible.module_utils.hostproof.collect.guarded_read import Reader
from ansible.module_utils.hostproof.collect.host import LiveHost, script_search
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from ansible.module_utils.hostproof.probes.nfs import nfs_files
from cases import cases

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root reads for other accounts")

NOBODY = pwd.getpwnam("nobody")
DAEMON = pwd.getpwnam("daemon")
BIN = pwd.getpwnam("bin")
SECRET = "only root reads this\n"
GROUP = 61999


@pytest.fixture
def base() -> Iterator[Path]:
    """pytest's own folders let nobody else in."""
    with tempfile.TemporaryDirectory(prefix="hostproof-") as folder:
        os.chmod(folder, 0o755)
        secret = Path(folder, "secret")
        secret.write_text(SECRET)
        secret.chmod(0o600)
        yield Path(folder)


def folder(path: Path, uid: int = 0, gid: int = 0, mode: int = 0o755) -> Path:
    path.mkdir()
    os.chown(path, uid, gid)
    path.chmod(mode)
    return path


def file(path: Path, text: str = "text\n", uid: int = 0, gid: int = 0, mode: int = 0o644) -> Path:
    path.write_text(text)
    os.chown(path, uid, gid)
    path.chmod(mode)
    return path


def members(monkeypatch: pytest.MonkeyPatch, *uids: int, installing: bool = False) -> None:
    """The accounts of GROUP, and whether it is the one that root named for Oracle."""
    monkeypatch.setattr(guarded, "members_of", lambda gid: frozenset(uids if gid == GROUP else ()))
    group = (GROUP, frozenset(uids)) if installing else None
    monkeypatch.setattr(guarded, "installing_group", lambda: group)


def all_ways(path: Path) -> list[str]:
    """What each way to read a path as a host answers or says instead."""
    host = LiveHost()
    answers = []
    for read in (
        host.read_text,
        host.list_dir,
        host.stat,
        host.real_path,
        lambda name: nfs_files.read_text(host, name),
        lambda name: host.find_lines("x", [name], "text|only").lines,
    ):
        try:
            answers.append(repr(read(str(path))))
        except HostproofError as problem:
            answers.append(str(problem))
    assert SECRET.strip() not in repr(host.evidence)
    return answers


def test_in_folders_of_root_root_reads(base):
    path = file(folder(base / "a") / "file", mode=0o600)
    (base / "link").symlink_to("a/../a/file")
    assert guarded_read.reader_of([str(path)]) == Reader(0)
    host = LiveHost()
    assert host.read_text(str(base / "link")) == "text\n"
    assert host.real_path(str(base / "link")) == str(path)
    assert host.list_dir(str(base / "a/..")) == ["a", "link", "secret"]
    assert host.real_path("/") == "/"
    assert host.stat(str(path)).mode == 0o600
    assert host.stat("/").uid == 0


def test_the_account_that_may_change_the_way_reads(base):
    theirs = folder(base / "theirs", NOBODY.pw_uid)
    file(theirs / "own", uid=NOBODY.pw_uid, mode=0o600)
    (theirs / "link").symlink_to(base / "secret")
    assert guarded_read.reader_of([f"{theirs}/own"]) == Reader(NOBODY.pw_uid)
    assert LiveHost().read_text(f"{theirs}/own") == "text\n"
    all_ways(theirs / "link")


def test_a_name_of_proc_proves_nothing(base):
    """/proc/PID/cwd, root and fd lead wherever the process stands, and so do their neighbours."""
    theirs = folder(base / "theirs", NOBODY.pw_uid)
    (theirs / "dbs").symlink_to(base)
    with subprocess.Popen(["sleep", "60"], user=NOBODY.pw_uid, cwd=theirs) as process:
        try:
            proc = f"/proc/{process.pid}"
            for path in (
                f"{proc}/cwd/dbs/secret",
                f"{proc}/root{base}/secret",
                f"{proc}/task/{process.pid}/cwd/dbs/secret",
                f"/proc/self/../{process.pid}/cwd/dbs/secret",
                f"//proc/./{process.pid}/cwd/dbs/secret",
                f"/sys/../{proc}/cwd/dbs/secret",
                f"/proc/sys/../{process.pid}/cwd/dbs/secret",
            ):
                answers = all_ways(Path(path))
                assert any("leads wherever a process wants" in answer for answer in answers), (
                    answers
                )
            os.symlink(f"{proc}/cwd", base / "indirect")
            all_ways(base / "indirect/dbs/secret")
            assert LiveHost().read_text(f"{proc}/status").startswith("Name:\tsleep")
        finally:
            process.kill()


@cases("path", "/proc/self/mounts", "/proc/mounts", "/proc/net/dev")
def test_links_in_the_root_of_proc_are_followed(path):
    assert LiveHost().read_text(path)


def test_what_the_kernel_serves_is_told_by_its_device():
    assert guarded_read.kernels("/proc/sys/kernel/ostype", "file") == ("Linux\n",)
    assert guarded_read.kernels("/proc/self/status", "file") is None
    assert guarded_read.kernels("/proc/1/status", "file") is None
    assert guarded_read.kernels("/etc/passwd", "file") is None
    assert guarded_read.kernels("/proc/../etc/passwd", "file") is None
    # The folder of a process, however it is spelled.
    for task in ("file", "stat", "dir"):
        for spelled in ("/proc//{}", "/proc/./{}", "/proc/.//{}", "/proc/fs//..//{}"):
            for process in ("self/environ", "1/status", "thread-self/fd", "self/task"):
                assert guarded_read.kernels(spelled.format(process), task) is None
    # Another file system below /sys, as one that is mounted over a file would be.
    if os.stat("/sys/fs/cgroup").st_dev != os.stat("/sys").st_dev:
        assert guarded_read.kernels("/sys/fs/cgroup", "dir") is None


@cases("number", 5, 13, 107, 110)
def test_an_error_is_an_answer_and_no_reason_to_read_as_root(base, monkeypatch, number):
    """FUSE says EACCES to root, and a moment later there is a link."""
    theirs = folder(base / "theirs", NOBODY.pw_uid)
    (theirs / "file").symlink_to(base / "secret")
    real = os.stat

    def refuse(path, *more, **names):
        if path == theirs.name:
            raise OSError(number, os.strerror(number), path)
        return real(path, *more, **names)

    monkeypatch.setattr(guarded.os, "stat", refuse)
    answers = all_ways(theirs / "file")
    assert all(os.strerror(number) in answer or answer == "{}" for answer in answers), answers


def test_a_folder_that_several_may_write_is_read_by_nobody(base, monkeypatch):
    members(monkeypatch, NOBODY.pw_uid, DAEMON.pw_uid)
    path = file(folder(base / "group", gid=GROUP, mode=0o775) / "file")
    answers = all_ways(path)
    assert all(
        "may be changed by daemon, nobody" in answer or answer == "{}" for answer in answers
    ), answers


def test_a_folder_that_anybody_may_write_is_read_by_nobody(base):
    answers = all_ways(file(folder(base / "open", mode=0o777) / "file"))
    assert all("may be changed by any account" in answer or answer == "{}" for answer in answers), (
        answers
    )


def test_a_group_of_one_is_an_account(base, monkeypatch):
    members(monkeypatch, DAEMON.pw_uid)
    path = file(folder(base / "group", gid=GROUP, mode=0o775) / "file")
    assert guarded_read.reader_of([str(path)]) == Reader(DAEMON.pw_uid)


def test_several_accounts_on_the_way_are_refused(base):
    outer = folder(base / "outer", NOBODY.pw_uid)
    path = file(folder(outer / "inner", DAEMON.pw_uid) / "file")
    answers = all_ways(path)
    assert all(
        "several accounts (nobody and daemon)" in answer or answer == "{}" for answer in answers
    ), answers


def test_a_link_goes_on_as_who_made_it(base):
    """Hers leads into his: neither reads for both."""
    his = folder(base / "his", DAEMON.pw_uid)
    file(his / "file", uid=DAEMON.pw_uid, mode=0o600)
    hers = folder(base / "hers", NOBODY.pw_uid)
    (hers / "link").symlink_to(his / "file")
    answers = all_ways(hers / "link")
    assert not any("'text" in answer for answer in answers), answers


def test_those_who_install_oracle_read_with_the_rights_that_all_of_them_have(base, monkeypatch):
    members(monkeypatch, NOBODY.pw_uid, DAEMON.pw_uid, installing=True)
    shared = folder(base / "u01", gid=GROUP, mode=0o775)
    file(shared / "group", gid=GROUP, mode=0o640)
    file(shared / "own", uid=DAEMON.pw_uid, gid=GROUP, mode=0o600)
    (shared / "link").symlink_to(base / "secret")
    assert guarded_read.reader_of([f"{shared}/group"]) == Reader(65534, GROUP)
    host = LiveHost()
    assert host.read_text(f"{shared}/group") == "text\n"
    assert nfs_files.read_text(host, f"{shared}/group") == "text\n"
    for name in ("own", "link"):
        with pytest.raises(HostproofError, match="Permission denied"):
            host.read_text(f"{shared}/{name}")
    # First a folder of one of them, then one that both may write.
    inner = folder(folder(base / "home", DAEMON.pw_uid) / "inner", DAEMON.pw_uid, GROUP, 0o775)
    file(inner / "file", gid=GROUP, mode=0o640)
    assert guarded_read.reader_of([f"{inner}/file"]) == Reader(65534, GROUP)
    assert host.read_text(f"{inner}/file") == "text\n"


def test_who_wrote_the_file_that_names_a_path_reads_it(base):
    """A home of oracle's names a folder of root's: oracle reads it."""
    place = folder(base / "place")
    file(place / "oranfstab", SECRET, mode=0o600)
    named = file(base / "orabasetab", uid=NOBODY.pw_uid)
    argv = ["cat", f"{place}/oranfstab"]
    host = LiveHost()
    assert host.run_as_reader(argv, [argv[1]]).rc == 0
    output = LiveHost().run_as_reader(argv, [argv[1]], named_by=[str(named)])
    assert (output.rc, output.stdout) == (1, "")
    with pytest.raises(PermissionError):
        guarded_read.read(argv[1], guarded_read.text, [str(named)])
    file(base / "other", uid=DAEMON.pw_uid)
    with pytest.raises(Untrusted, match="several accounts"):
        guarded_read.reader_of([argv[1]], [str(named), str(base / "other")])
    file(base / "open", mode=0o666)
    with pytest.raises(Untrusted, match="written by any account"):
        guarded_read.reader_of([argv[1]], [str(base / "open")])
    assert guarded_read.reader_of([argv[1]], [str(base / "absent"), "/etc/passwd"]) == Reader(0)


def test_a_command_over_files_of_two_accounts_is_not_run(base):
    first = file(folder(base / "one", NOBODY.pw_uid) / "file")
    other = file(folder(base / "other", DAEMON.pw_uid) / "file")
    with pytest.raises(Unanswered, match="several accounts"):
        nfs_files.same_content(LiveHost(), str(first), str(other))
    assert nfs_files.same_content(LiveHost(), str(first), str(first))


def test_what_anybody_may_have_put_there_is_not_read_as_root(base):
    """A hard link needs no right to the file where fs.protected_hardlinks is 0."""
    common = folder(base / "tmp", mode=0o1777)
    os.link(base / "secret", common / "hard")
    file(common / "shown")
    assert LiveHost().read_text(str(common / "shown")) == "text\n"
    assert "any account could have created" in all_ways(common / "hard")[0]


def test_kinds_that_are_no_file_do_not_hold_up_a_read(base):
    os.mkfifo(base / "fifo")
    with pytest.raises(Unanswered, match="not a regular file"):
        LiveHost().read_text(str(base / "fifo"))


def test_a_fuse_mount_belongs_to_who_mounted_it(base, tmp_path):
    """It claims to be root's, and its server says nothing: it must not be walked as root's."""
    place = folder(base / "fuse")
    try:
        server = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as problem:
        pytest.skip(f"no FUSE here: {problem.strerror}")
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={server},rootmode=40755,user_id={NOBODY.pw_uid},group_id=0,allow_other"
    if libc.mount(b"x", str(place).encode(), b"fuse", 0, options.encode()):
        os.close(server)
        pytest.skip(f"no FUSE here: {os.strerror(ctypes.get_errno())}")
    try:
        handle = os.open(place, os.O_PATH | os.O_DIRECTORY)
        try:
            # stat would ask the server: only its device counts here.
            look = os.stat_result((0o40755, 1, 2**40 + 7, 1, 0, 0, 0, 0, 0, 0))
            mount = mount_owner.of_folder(handle, look, str(place))
            assert mount is not None
            assert (mount.fstype, mount.uid) == ("fuse", NOBODY.pw_uid)
            libc.umount2(str(place).encode(), 2)
            other = os.stat_result((0o40755, 1, 2**40 + 8, 1, 0, 0, 0, 0, 0, 0))
            with pytest.raises(Untrusted, match="unmounted"):
                mount_owner.of_folder(handle, other, str(place))
        finally:
            os.close(handle)
    finally:
        libc.umount2(str(place).encode(), 2)
        os.close(server)


@cases("at_end", "file", "folder")
def test_a_mount_at_the_end_of_the_path_belongs_to_who_mounted_it(base, monkeypatch, at_end):
    """In a sticky folder it claims to be root's. A tmpfs stands for FUSE, which needs a server."""
    shared = folder(base / "shared", mode=0o1777)
    place = folder(shared / "mine") if at_end == "folder" else file(shared / "mine")
    other = folder(base / "other")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"x", str(other).encode(), b"tmpfs", 0, b"mode=755"):
        pytest.skip(f"no mounts here: {os.strerror(ctypes.get_errno())}")
    try:
        made = folder(other / "made") if at_end == "folder" else file(other / "made")
        bind = 4096
        assert libc.mount(str(made).encode(), str(place).encode(), None, bind, None) == 0
        try:
            device = made.stat().st_dev
            original = mount_owner.of_folder

            def of_folder(handle, look, path):
                if look.st_dev == device:
                    return mount_owner.Mount("fuse", NOBODY.pw_uid)
                return original(handle, look, path)

            assert guarded.actor(str(place)) == 0
            monkeypatch.setattr(mount_owner, "of_folder", of_folder)
            assert guarded.actor(str(place)) == NOBODY.pw_uid
            assert guarded_read.reader_of([str(base / "absent")], [str(place)]).uid == NOBODY.pw_uid
        finally:
            libc.umount2(str(place).encode(), 2)
    finally:
        libc.umount2(str(other).encode(), 2)


def test_who_is_not_root_reads_with_own_rights(base, monkeypatch):
    monkeypatch.setattr(guarded_read.os, "geteuid", lambda: NOBODY.pw_uid)
    path = file(folder(base / "open", mode=0o777) / "file")
    assert guarded_read.read(str(path), guarded_read.text) == "text\n"
    assert guarded_read.reader_of([str(path)]) == Reader(NOBODY.pw_uid)


@pytest.fixture
def tree(base: Path) -> Path:
    """Files below links and directories of root, and some that other accounts may change."""
    file(folder(folder(base / "a") / "b") / "file", "in a/b\n")
    file(base / "a" / "above", "in a\n")
    (base / "relative").symlink_to("a/b")
    (base / "absolute").symlink_to(base / "a")
    (base / "a" / "b" / "up").symlink_to("../above")
    (base / "a" / "b" / "away").symlink_to(base / "secret")
    file(folder(base / "theirs", NOBODY.pw_uid) / "file", uid=NOBODY.pw_uid)
    folder(base / "shared", mode=0o1777)
    file(base / "shared" / "file")
    file(base / "shared" / "chosen", uid=NOBODY.pw_uid)
    return base


def test_a_search_reads_what_single_reads_do(tree: Path) -> None:
    """A search keeps its directories open. It gets the same answers, in any order."""
    paths = [
        f"{tree}/{name}"
        for name in (
            *("a/b/file", "relative/file", "absolute/b/file", "a/b/up", "a/b/away", "a/above"),
            *("theirs/file", "shared/file", "shared/chosen", "shared/missing", "a/missing/file"),
            *("relative/../above", "a//b/./file", "a/b/file/x", "absolute", "a/b/up"),
        )
    ]

    def answer(path: str, kept: guarded.OpenFolders | None) -> str:
        try:
            return str(guarded_read.read(path, guarded_read.text, (), kept))
        except (OSError, HostproofError) as problem:
            return f"{type(problem).__name__}: {problem}"

    alone = {path: answer(path, None) for path in paths}
    assert alone[f"{tree}/a/b/away"] == SECRET
    before = os.listdir("/proc/self/fd")
    for order in (paths, paths[::-1]):
        with guarded.OpenFolders() as kept:
            assert {path: answer(path, kept) for path in [*order, *order]} == alone
    assert os.listdir("/proc/self/fd") == before


def test_a_search_opens_each_directory_once(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    open_folder = guarded._open_folder

    def noted(folder: int, name: str, look: os.stat_result, here: str) -> int:
        opened.append(here)
        return open_folder(folder, name, look, here)

    monkeypatch.setattr(guarded, "_open_folder", noted)
    with guarded.OpenFolders() as kept:
        for path in ("a/b/file", "a/above", "a/b/up", "absolute/b/file", "theirs/file"):
            guarded_read.read(f"{tree}/{path}", guarded_read.text, (), kept)
    assert opened.count(f"{tree}/a/b") <= 2  # by its path, and by the path of the link
    assert opened.count(str(tree)) <= 2


def test_a_search_keeps_nothing_that_another_account_may_change(tree: Path) -> None:
    with guarded.OpenFolders() as kept:
        guarded_read.read(f"{tree}/theirs/file", guarded_read.text, (), kept)
        folder(tree / "theirs" / "below", NOBODY.pw_uid)
        (tree / "theirs" / "below").rmdir()
        (tree / "theirs" / "below").symlink_to(tree)
        with pytest.raises(PermissionError):
            guarded_read.read(f"{tree}/theirs/below/secret", guarded_read.text, (), kept)


def test_what_a_search_keeps_is_not_for_another_account(tree: Path) -> None:
    """Root reads the secret first. Then a script of another account names it."""
    secret, theirs = f"{tree}/secret", f"{tree}/theirs/script"
    assert list(script_search.search_lines([secret], "only root").lines) == [secret]
    file(Path(theirs), f"sh {secret}\n", uid=NOBODY.pw_uid)
    for _ in range(2):
        found = script_search.search_lines([theirs], "only root|sh")
        assert (list(found.lines), found.unread) == ([theirs], [secret])
