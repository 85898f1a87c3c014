"""The seam to the machine: what a live host answers, and that a recording answers the same."""

import copy
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import packs
import pytest
from ansible.module_utils.hostproof.collect import command, guarded_read, host
from ansible.module_utils.hostproof.collect.host import LiveHost, Process, RecordedHost, live
from ansible.module_utils.hostproof.collect.host import processes as process_files
from ansible.module_utils.hostproof.collect.identity import ANYBODY
from ansible.module_utils.hostproof.errors import Absent, Denied, HostError, Unanswered
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases


class TestReading:
    def test_text(self, tmp_path):
        (tmp_path / "file").write_text("two\nlines\n")
        assert LiveHost().read_text(str(tmp_path / "file")) == "two\nlines\n"

    def test_bytes_that_are_no_utf8_survive(self, tmp_path):
        (tmp_path / "file").write_bytes(b"caf\xe9\n")
        text = LiveHost().read_text(str(tmp_path / "file"))
        assert text.encode("utf-8", "surrogateescape") == b"caf\xe9\n"
        assert json.loads(json.dumps(text)) == text

    def test_sysctl_is_read_in_small_pieces(self, monkeypatch):
        """For each read of /proc/sys the kernel allocates as much as is asked for, or ENOMEM."""
        sizes = []
        real = os.read

        def watched(handle, size):
            sizes.append(size)
            return real(handle, size)

        monkeypatch.setattr(guarded_read.os, "read", watched)
        assert LiveHost().read_number("/proc/sys/vm/swappiness") >= 0
        assert sizes
        assert 0 < max(sizes) <= 64 * 1024

    def test_link_to_dev_null_masks_a_file_and_is_empty(self, tmp_path):
        """systemctl mask and a masked file of sysctl.d are such links."""
        (tmp_path / "masked.conf").symlink_to("/dev/null")
        assert LiveHost().read_text(str(tmp_path / "masked.conf")) == ""

    def test_no_other_device_is_read(self, tmp_path):
        (tmp_path / "zeros.conf").symlink_to("/dev/zero")
        with pytest.raises(Unanswered, match="is not a regular file"):
            LiveHost().read_text(str(tmp_path / "zeros.conf"))

    def test_empty_file_is_an_answer(self, tmp_path):
        (tmp_path / "file").write_text("")
        assert LiveHost().read_text(str(tmp_path / "file")) == ""

    @cases("text", "", "many", "1 2", "-1", "\u00b2", "0x10")
    def test_no_number(self, tmp_path, text):
        (tmp_path / "file").write_text(text)
        with pytest.raises(Unanswered, match="not a number"):
            LiveHost().read_number(str(tmp_path / "file"))

    def test_huge_file_is_not_read(self, tmp_path, monkeypatch):
        monkeypatch.setattr(guarded_read, "READ_LIMIT", 100)
        (tmp_path / "file").write_text("x" * 101)
        with pytest.raises(Unanswered, match="longer than 100 bytes"):
            LiveHost().read_text(str(tmp_path / "file"))

    def test_folder_link_and_stat(self, tmp_path):
        (tmp_path / "b").write_text("12")
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").chmod(0o640)
        live = LiveHost()
        assert live.list_dir(str(tmp_path)) == ["a", "b"]
        assert live.real_path(str(tmp_path / "a")) == str(tmp_path / "b")
        look = live.stat(str(tmp_path / "a"))
        assert (look.mode, look.size, look.uid) == (0o640, 2, os.getuid())

    @cases("ask", "read_text", "list_dir", "real_path", "stat")
    def test_absent_is_an_answer_of_its_own(self, tmp_path, ask):
        (tmp_path / "dangling").symlink_to("nothing")
        live = LiveHost()
        for name in ("missing", "dangling", "missing/below"):
            with pytest.raises(Absent) as problem:
                getattr(live, ask)(str(tmp_path / name))
            assert problem.value.key.endswith(f"/{name}")
            assert "No such file" in str(problem.value)

    def test_below_a_file_there_is_nothing(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(Absent):
            LiveHost().read_text(str(tmp_path / "file/below"))

    def test_denied(self, monkeypatch):
        def refuse(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(live, "text_of_file", refuse)
        with pytest.raises(Denied, match="file:/etc/shadow: Permission denied"):
            LiveHost().read_text("/etc/shadow")

    def test_process_that_ended_is_absent(self, monkeypatch):
        def ended(path):
            raise ProcessLookupError(3, "No such process")

        monkeypatch.setattr(live, "text_of_file", ended)
        with pytest.raises(Absent):
            LiveHost().read_text("/proc/4711/maps")

    def test_kernel_that_cannot_allocate_has_not_answered(self, monkeypatch):
        def no_memory(_task, _path):
            raise OSError(12, "Cannot allocate memory")

        monkeypatch.setattr(live, "_of_kernel", no_memory)
        with pytest.raises(Unanswered, match="Cannot allocate memory"):
            LiveHost().read_text("/proc/sys/vm/nr_hugepages")


class TestRunning:
    def test_output(self):
        argv = [sys.executable, "-c", "import sys; print('out'); sys.stderr.write('err'); exit(3)"]
        assert LiveHost().run(argv) == (3, "out\n", "err")

    def test_language_is_c(self, monkeypatch):
        monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
        assert LiveHost().run(["sh", "-c", "echo $LC_ALL $LANG"]).stdout == "C C\n"

    def test_administrators_folders_are_searched(self, monkeypatch):
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        assert LiveHost().run(["sh", "-c", "echo $PATH"]).stdout == (
            "/usr/bin:/bin:/usr/sbin:/sbin\n"
        )

    def test_missing_command_is_absent(self):
        with pytest.raises(Absent):
            LiveHost().run(["hostproof-has-no-such-command"])

    def test_command_that_hangs_is_ended_and_unanswered(self):
        with pytest.raises(Unanswered, match="timed out"):
            LiveHost().run(["sleep", "60"], timeout=0.1)

    def test_command_that_writes_without_end_is_ended_and_unanswered(self, monkeypatch):
        monkeypatch.setattr(command, "OUTPUT_LIMIT", 100_000)
        with pytest.raises(Unanswered, match="wrote more than 100000 bytes"):
            LiveHost().run(["yes"])

    def test_both_streams_are_kept_apart(self):
        output = LiveHost().run(["sh", "-c", "echo out; echo err >&2; exit 3"])
        assert output == (3, "out\n", "err\n")


class TestSecret:
    SECRET = host.Secret("private.conf", "pass phrase\n", (("PLACE", "{0}"), ("OTHER", "fixed")))

    def ask(self, live: LiveHost, script: str, key: str = "asked") -> str:
        return live.run_with_secret(key, ["sh", "-c", script], self.SECRET).stdout

    def test_reaches_the_command_and_nobody_else(self, monkeypatch):
        monkeypatch.setenv("UNRELATED", "of this process")
        live = LiveHost()
        assert self.ask(live, "cat $PLACE/private.conf; cat $PLACE/private.conf", "twice") == (
            "pass phrase\npass phrase\n"
        )
        assert self.ask(live, "echo $OTHER $UNRELATED; stat -c %a $PLACE") == "fixed\n700\n"
        assert "pass phrase" not in json.dumps(live.evidence["asked"])

    def test_folder_holds_no_file(self):
        live = LiveHost()
        place, target = self.ask(live, "echo $PLACE; readlink $PLACE/private.conf").split()
        assert target.startswith("/dev/fd/")
        assert os.listdir(place) == ["private.conf"]
        del live
        assert not os.path.exists(place)

    def test_folder_goes_with_the_process(self):
        script = (
            "from hostproof.collect.host import LiveHost, Secret; host = LiveHost();"
            "secret = Secret('c', 'x', (('PLACE', '{0}'),));"
            "print(host.run_with_secret('k', ['sh', '-c', 'echo $PLACE'], secret).stdout)"
        )
        environment = {**os.environ, "PYTHONPATH": str(packs.ROOT / "module_utils")}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stdout.startswith("/")
        assert not os.path.exists(done.stdout.strip())


class TestUdp:
    def test_reply(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            threading.Thread(target=self.echo, args=(other,)).start()
            live = LiveHost()
            port = other.getsockname()[1]
            assert live.ask_udp("udp:x", "127.0.0.1", port, b"\0\xff", 5) == b"\xff\0"
        recorded = RecordedHost(live.evidence)
        assert recorded.ask_udp("udp:x", "127.0.0.1", port, b"", 5) == b"\xff\0"

    def echo(self, other: socket.socket) -> None:
        message, asker = other.recvfrom(100)
        other.sendto(message[::-1], asker)

    def test_closed_port_is_absent_and_silence_is_not(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("127.0.0.1", 0))
            port = other.getsockname()[1]
            with pytest.raises(Unanswered, match="timed out"):
                LiveHost().ask_udp("udp:x", "127.0.0.1", port, b"x", 0.1)
        with pytest.raises(Absent, match="refused"):
            LiveHost().ask_udp("udp:x", "127.0.0.1", port, b"x", 1)

    @cases("reading", {"reply": "zz"}, {"reply": None}, {})
    def test_recording_without_a_reply_is_unknown(self, reading):
        with pytest.raises(Unanswered, match="holds no answer"):
            RecordedHost({"udp:x": {"kind": "udp", **reading}}).ask_udp("udp:x", "", 1, b"", 1)


class TestProcesses:
    @pytest.fixture
    def pmon(self) -> Iterator[subprocess.Popen]:
        """A process of that name; the password behind it is what no recording may hold."""
        argv = ["ora_pmon_TEST1", "-c", "echo ready; read line", "secret"]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, executable="/bin/sh", stdin=pipe, stdout=pipe) as process:
            assert process.stdout is not None
            process.stdout.readline()  # the kernel shows the arguments only when exec is done
            yield process
            process.kill()

    def test_found_by_its_first_argument_and_nothing_else_is_kept(self, pmon):
        live = LiveHost()
        processes = [
            process
            for process in live.processes("pmon", r"^ora_pmon_TEST1$", ANYBODY)
            if process.pid == pmon.pid
        ]
        assert [(process.argv0, process.uid) for process in processes] == [
            ("ora_pmon_TEST1", os.getuid())
        ]
        assert processes[0].started > 0
        assert "secret" not in json.dumps(live.evidence)

    def test_none(self):
        assert LiveHost().processes("none", "^no-such-process$", ANYBODY) == []

    def test_hidden_processes_are_not_absent_ones(self, monkeypatch):
        """With hidepid a user sees his own processes alone: that is no answer."""
        monkeypatch.setattr(os, "listdir", lambda path: [str(os.getpid()), "meminfo"])
        with pytest.raises(Denied, match="hidepid"):
            LiveHost().processes("pmon", "pmon", ANYBODY)

    def test_name_with_spaces_and_parentheses(self, monkeypatch):
        """/proc/PID/stat holds the name in parentheses, whatever is in it."""
        stat = "7 (a) (b c) S " + " ".join(str(number) for number in range(4, 53))
        monkeypatch.setattr(
            process_files, "_first_argument", {"/proc/7": "asm_pmon_+ASM1"}.__getitem__
        )
        monkeypatch.setattr(process_files, "read_trusted", {"/proc/7/stat": stat}.__getitem__)
        monkeypatch.setattr(os, "stat", lambda path: os.stat_result(range(10)))
        monkeypatch.setattr(process_files.identity, "unit_of", lambda _pid: "")
        process = process_files._read_process(7, re.compile("pmon"), 1.0, ANYBODY)
        assert process == Process(7, 4, 5, 22.0, "asm_pmon_+ASM1", unit="")


class TestEvidence:
    def test_asks_once(self, tmp_path):
        path = tmp_path / "file"
        path.write_text("first")
        live = LiveHost()
        assert live.read_text(str(path)) == "first"
        path.write_text("second")
        assert live.read_text(str(path)) == "first"
        assert LiveHost().read_text(str(path)) == "second"

    def test_a_failed_read_is_kept_too(self, tmp_path):
        path = tmp_path / "file"
        live = LiveHost()
        with pytest.raises(Absent):
            live.read_text(str(path))
        path.write_text("now")
        with pytest.raises(Absent):
            live.read_text(str(path))
        reading = live.evidence[f"file:{path}"]
        assert (reading["kind"], reading["error"]) == ("file", "absent")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", reading["at"])

    def test_recording_answers_as_the_machine_did(self, tmp_path):
        (tmp_path / "file").write_text("text")
        asks = [
            ("read_text", [str(tmp_path / "file")]),
            ("read_text", [str(tmp_path / "none")]),
            ("list_dir", [str(tmp_path)]),
            ("real_path", [str(tmp_path)]),
            ("stat", [str(tmp_path / "file")]),
            ("run", [["sh", "-c", "echo x; exit 2"]]),
            ("run", [["hostproof-has-no-such-command"]]),
            ("processes", ["none", "^no-such-process$", ANYBODY]),
        ]
        live = LiveHost()
        first = [answer(live, name, arguments) for name, arguments in asks]
        kept = RecordedHost(json.loads(json.dumps(live.evidence)))
        assert [answer(kept, name, arguments) for name, arguments in asks] == first

    def test_what_is_not_recorded_is_unknown(self):
        with pytest.raises(Unanswered, match="not in the recorded evidence; record it again"):
            RecordedHost({}).read_text("/proc/meminfo")

    def test_an_error_of_another_version_is_unknown(self):
        reading = {"kind": "file", "error": "eaten", "message": "by the dog"}
        with pytest.raises(Unanswered, match="by the dog"):
            RecordedHost({"file:/x": reading}).read_text("/x")


def answer(machine, name, arguments):
    try:
        return getattr(machine, name)(*arguments)
    except HostError as problem:
        return type(problem), problem.key, str(problem)


@cases(
    "changes",
    {},
    {"instances": [{"sid": "X", "sga": "1G"}], "users": ["root"], "group": "root"},
    ids=["default", "listed"],
)
def test_judging_a_recording_of_this_machine_is_judging_this_machine(changes):
    live = LiveHost()
    policies = {"hugepages": packs.hugepages_policy(**changes)}
    findings = audit.judge_host(live, policies)
    recorded = RecordedHost(json.loads(json.dumps(copy.deepcopy(live.evidence))))
    assert len({finding.check for finding in findings}) >= 8
    assert audit.judge_host(recorded, policies) == findings


def test_reading_is_what_judging_reads():
    """record reads without judging; what it writes must be enough to judge."""
    policies = {"hugepages": packs.hugepages_policy()}
    reader, judge = packs.database_host(), packs.database_host()
    audit.read_host(reader, policies)
    audit.judge_host(judge, policies)
    assert set(reader.evidence) == set(judge.evidence)


def test_a_setuid_program_belongs_to_who_started_it():
    status = "Name:\tsu\nUid:\t65534\t0\t0\t0\nGid:\t65534\t0\t0\t0\n"
    assert process_files._real_uid(status) == 65534


class TestOthersProcesses:
    """What an account does to its own processes costs nobody else an answer."""

    def test_arguments_without_end_are_cut(self):
        with subprocess.Popen(
            ["bash", "-c", 'exec -a "$0" sleep 60', "hostproof-long-" + "x" * 100_000]
        ) as process:
            try:
                wait_for_name(process.pid, b"hostproof-long-")
                (result,) = LiveHost().processes("long", "^hostproof-long-", ANYBODY)
            finally:
                process.kill()
        assert result.pid == process.pid
        assert len(result.argv0) == 4096

    def test_of_many_open_files_those_asked_for_are_kept(self, tmp_path):
        files = [(tmp_path / f"{number}").open("w") for number in range(300)]
        try:
            holders = LiveHost().open_files("many", "python|pytest", [str(tmp_path / "7")], ANYBODY)
        finally:
            for file in files:
                file.close()
        assert [holder.paths for holder in holders if holder.pid == os.getpid()] == [
            (str(tmp_path / "7"),)
        ]


def wait_for_name(pid: int, name: bytes) -> None:
    for _ in range(2000):
        if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(name):
            return
        time.sleep(0.01)
    raise AssertionError("it did not start")
