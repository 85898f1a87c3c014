"""What processes hold open: what a live host answers, and that a recording answers the same."""

import json
import mmap
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost, OpenFiles, RecordedHost
from ansible.module_utils.hostproof.collect.host import processes as process_files
from ansible.module_utils.hostproof.collect.identity import ANYBODY
from ansible.module_utils.hostproof.errors import Denied, Unanswered
from cases import cases

HOLDER = """
import mmap, os, socket, sys
folder = sys.argv[1]
opened = open(folder + "/opened")
gone = open(folder + "/gone"); os.unlink(folder + "/gone")
with open(folder + "/mapped", "rb") as stream:
    mapped = mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ)
os.chdir(folder + "/cwd")
wire = socket.socket()
print(os.fstat(wire.fileno()).st_ino, flush=True)
sys.stdin.readline()
"""
PATTERN = r"^ora_dbw0_OPEN1$"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "mount/cwd").mkdir(parents=True)
    (tmp_path / "mount2").mkdir()
    for name in ("opened", "gone", "mapped"):
        (tmp_path / "mount" / name).write_text("x" * mmap.PAGESIZE)
    (tmp_path / "mount2/neighbour").write_text("")
    return tmp_path / "mount"


@pytest.fixture
def holder(files: Path) -> Iterator[tuple[int, str]]:
    """A background process that holds the files: its pid and the inode of its socket."""
    argv = ["ora_dbw0_OPEN1", "-c", HOLDER, str(files)]
    pipe = subprocess.PIPE
    with (
        (files.parent / "mount2/neighbour").open() as neighbour,
        subprocess.Popen(
            argv, executable=sys.executable, stdin=pipe, stdout=pipe, stderr=neighbour, text=True
        ) as process,
    ):
        assert process.stdout is not None
        yield process.pid, process.stdout.readline().strip()
        process.kill()


class TestLive:
    def test_every_way_of_holding_a_file(self, files, holder):
        pid, inode = holder
        processes = LiveHost().open_files("database", PATTERN, (str(files), "socket:"), ANYBODY)
        names = (f"{files}/cwd", f"{files}/gone (deleted)", f"{files}/mapped", f"{files}/opened")
        assert processes == [
            OpenFiles(pid, os.getuid(), "ora_dbw0_OPEN1", (*names, f"socket:[{inode}]"))
        ]

    def test_the_path_itself_counts_and_its_neighbours_do_not(self, files, holder):
        live = LiveHost()
        assert live.open_files("cwd", PATTERN, [f"{files}/cwd"], ANYBODY)[0].paths == (
            f"{files}/cwd",
        )
        assert live.open_files("none", PATTERN, [f"{files}/open", "pipe"], ANYBODY) == []

    def test_the_program_is_held_too(self, files, holder):
        program = os.path.realpath(sys.executable)
        processes = LiveHost().open_files("program", PATTERN, [program], ANYBODY)
        assert [process.paths for process in processes] == [(program,)]

    def test_everybody(self, files, holder, monkeypatch):
        # A build container may forbid root itself to look at processes that are not its own.
        monkeypatch.setattr(process_files, "process_ids", lambda: [1, os.getpid(), holder[0]])
        monkeypatch.setattr(process_files, "_holds_nothing", lambda folder: True)
        real = process_files._first_argument
        monkeypatch.setattr(
            process_files,
            "_first_argument",
            lambda folder: "" if folder == "/proc/1" else real(folder),
        )
        processes = LiveHost().open_files("all", "", [str(files)], ANYBODY)
        assert [process.pid for process in processes] == [holder[0]]

    def test_under_the_root_lies_everything_with_a_path(self, files, holder):
        paths = LiveHost().open_files("root", PATTERN, ["/"], ANYBODY)[0].paths
        assert f"{files}/opened" in paths
        assert all(path.startswith("/") for path in paths)

    def test_the_kernels_own_threads_and_zombies_hold_nothing(self, monkeypatch):
        stat = {"thread": "2 (kthreadd) S 0 0 0 0 -1 2129984 0", "zombie": "3 (sh) Z 1 3 3 0 -1 0"}
        for text in stat.values():
            monkeypatch.setattr(process_files, "_first_argument", {"/proc/9": ""}.__getitem__)
            monkeypatch.setattr(process_files, "read_trusted", {"/proc/9/stat": text}.__getitem__)
            assert process_files._read_open_files(9, re.compile(""), ["/"], ANYBODY) is None

    def test_a_process_that_hid_its_arguments_is_looked_at(self, monkeypatch, tmp_path):
        """A program may clear its arguments: it holds a mount busy nevertheless."""
        with (tmp_path / "held").open("w"):
            monkeypatch.setattr(process_files, "_first_argument", lambda _folder: "")
            process = process_files._read_open_files(
                os.getpid(), re.compile(""), [str(tmp_path)], ANYBODY
            )
        assert process == OpenFiles(os.getpid(), os.getuid(), "", (f"{tmp_path}/held",))

    def test_one_process_that_may_not_be_looked_at_makes_it_all_unknown(self, holder, monkeypatch):
        real = os.listdir

        def listdir(path):
            if path == f"/proc/{holder[0]}/fd":
                raise PermissionError(13, "Permission denied")
            return real(path)

        monkeypatch.setattr(os, "listdir", listdir)
        with pytest.raises(Denied, match=f"may not see what process {holder[0]} holds"):
            LiveHost().open_files("database", PATTERN, ["/"], ANYBODY)
        assert LiveHost().open_files("others", "^no-such-process$", ["/"], ANYBODY) == []

    def test_hidden_processes_are_not_absent_ones(self, monkeypatch):
        monkeypatch.setattr(os, "listdir", lambda path: [str(os.getpid()), "meminfo"])
        with pytest.raises(Denied, match="hidepid"):
            LiveHost().open_files("all", "", ["/"], ANYBODY)

    def test_a_system_whose_proc_is_another(self, monkeypatch):
        """Solaris and AIX have a /proc too, and no process would seem to run there."""
        monkeypatch.setattr(os.path, "exists", lambda path: path != "/proc/self/cmdline")
        with pytest.raises(Unanswered, match="processes are known on Linux only"):
            LiveHost().open_files("all", "", ["/"], ANYBODY)

    def test_what_closes_while_we_look_is_left_out(self, holder, files, monkeypatch):
        real = os.listdir
        monkeypatch.setattr(
            os, "listdir", lambda path: [*real(path), *["987654"] * (path != "/proc")]
        )
        processes = LiveHost().open_files("database", PATTERN, [f"{files}/opened"], ANYBODY)
        assert [process.paths for process in processes] == [(f"{files}/opened",)]


class TestRecorded:
    def record(self, files: Path) -> dict:
        live = LiveHost()
        live.open_files("database", PATTERN, (str(files), "socket:"), ANYBODY)
        return json.loads(json.dumps(live.evidence))

    def test_answers_as_the_machine_did(self, files, holder):
        live = LiveHost().open_files("database", PATTERN, (str(files), "socket:"), ANYBODY)
        kept = RecordedHost(self.record(files))
        assert kept.open_files("database", PATTERN, (str(files), "socket:"), ANYBODY) == live

    def test_fewer_paths_are_answered_other_ones_are_not(self, files, holder):
        kept = RecordedHost(self.record(files))
        assert [
            process.paths for process in kept.open_files("database", PATTERN, [f"{files}"], ANYBODY)
        ] == [tuple(f"{files}/{name}" for name in ("cwd", "gone (deleted)", "mapped", "opened"))]
        with pytest.raises(Unanswered, match="was read without /other; record it again"):
            kept.open_files("database", PATTERN, [str(files), "/other"], ANYBODY)

    @cases(
        "change",
        {"processes": ["ora_dbw0_OPEN1"]},
        {"processes": [{"pid": 1, "uid": 0, "argv0": "x", "paths": [1]}]},
        {"processes": [{"pid": 1, "uid": 0, "argv0": "x"}]},
        {"under": "/"},
        {"processes": None},
    )
    def test_a_reading_of_another_shape_holds_no_answer(self, change):
        reading = {"kind": "open_files", "pattern": "", "under": ["/"], "processes": [], **change}
        with pytest.raises(Unanswered, match="holds no answer"):
            RecordedHost({"open_files:all": reading}).open_files("all", "", ["/"], ANYBODY)


def test_a_socket_is_found_by_its_inode():
    with socket.socket() as wire:
        inode = os.fstat(wire.fileno()).st_ino
        own = Path("/proc/self/cmdline").read_text().split("\0")[0]
        processes = LiveHost().open_files("own", f"^{re.escape(own)}$", ["socket:"], ANYBODY)
    mine = [process for process in processes if process.pid == os.getpid()]
    assert f"socket:[{inode}]" in mine[0].paths
