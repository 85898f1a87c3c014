"""Changes that commands make: journaled before, read back, undone after the files are back."""

import contextlib
import gc
import json
import os
import pwd
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.apply import difference
from ansible.module_utils.hostproof.apply import transaction as apply
from ansible.module_utils.hostproof.apply.change import CommandChange, FileChange, Plan
from ansible.module_utils.hostproof.apply.journal import Journal
from ansible.module_utils.hostproof.apply.writer import Writer
from ansible.module_utils.hostproof.collect import command
from ansible.module_utils.hostproof.collect.command import Command
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.errors import Absent, Denied, HostproofError, Unanswered
from cases import cases


class Crash(BaseException):
    """As if the process had been killed here."""


def shell(name: str, text: str, **how: Any) -> Command:
    return Command(name, ("/bin/sh", "-c", text), **how)


class Service:
    """A service that reads its file when it is told to, and keeps one value that can be set.

    ``loaded`` is what it read last, ``starts`` has a line for every start, ``value`` the value.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.conf, self.loaded = root / "service.conf", root / "loaded"
        self.starts, self.value = root / "starts", root / "value"
        self.conf.write_text("rate = none\n")
        self.loaded.write_text("rate = none\n")
        self.starts.write_text("start\n")
        self.value.write_text("FALSE\n")
        (root / "var").mkdir()
        self.journal = Journal(Writer(), str(root / "var/hostproof"))

    def load(self) -> Command:
        return shell("load", f"cp {self.conf} {self.loaded}; echo completed", expected="^completed")

    def reload(self) -> CommandChange:
        """Nothing tells whether it was done."""
        look = shell("look", "echo alive", expected="^alive$")
        return CommandChange("service", None, None, look, (self.load(),), (self.load(),))

    def restart(self) -> CommandChange:
        """The state is the number of starts, which nobody could tell in advance."""
        look = shell("look", f"wc -l < {self.starts}", expected=r"(\d+)")
        steps = (shell("start", f"echo start >> {self.starts}"), self.load())
        return CommandChange("service", self.state(look), None, look, steps, steps)

    def set(self, value: str, granted: str | None = None) -> CommandChange:
        look = shell("look", f"sed 's/^/value=/' {self.value}", expected="^value=(.*)$")
        before = self.state(look)
        return CommandChange(
            "value",
            before,
            value,
            look,
            (shell("set", f"echo {granted or value} > {self.value}"),),
            (shell("set back", f"echo {before} > {self.value}"),),
        )

    def state(self, look: Command) -> str:
        return command.state_of(look, command.run(look))

    def file(self) -> FileChange:
        return FileChange(str(self.conf), "rate = 10\n", "rate = none\n")

    def apply(self, *changes: FileChange | CommandChange, hand: Writer | None = None) -> None:
        apply.apply_plan(Plan(list(changes), [], [], []), "x", self.journal, hand or Writer())

    def revert(self) -> None:
        apply.revert(self.journal.transactions("x"), self.journal, Writer())

    def told(self) -> dict[str, tuple[str | None, str | None]]:
        restored = apply.restorations(self.journal.transactions("x"))
        return {entry.path: (entry.now, entry.before) for entry in restored}


@pytest.fixture
def service(tmp_path, monkeypatch) -> Service:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    return Service(tmp_path)


class TestReload:
    def test_file_first_and_on_revert_too(self, service):
        service.apply(service.file(), service.reload())
        assert service.loaded.read_text() == "rate = 10\n"
        service.revert()
        assert service.conf.read_text() == "rate = none\n"
        assert service.loaded.read_text() == "rate = none\n"

    def test_what_fails_after_it_is_undone_with_the_old_file(self, service):
        with pytest.raises(apply.NotGranted, match="requested TRUE, found FALSE; the old state is"):
            service.apply(service.file(), service.reload(), service.set("TRUE", granted="FALSE"))
        assert service.conf.read_text() == service.loaded.read_text() == "rate = none\n"

    def test_diff_tells_the_command(self, service):
        plan = Plan([service.file(), service.reload()], [], [], [])
        diff = difference.of_plan(plan)[1]
        assert diff["before_header"] == "service"
        assert diff["before"] == ""
        assert diff["after"].startswith("# load: /bin/sh -c ")

    def test_revert_tells_the_command(self, service):
        service.apply(service.file(), service.reload())
        now, before = service.told()["service"]
        assert now == "alive"
        assert str(before).startswith("# load: /bin/sh -c ")


class TestRestart:
    def test_made_and_undone_by_one_more(self, service):
        service.apply(service.file(), service.restart())
        assert service.starts.read_text() == "start\n" * 2
        service.revert()
        assert service.starts.read_text() == "start\n" * 3
        assert service.loaded.read_text() == "rate = none\n"

    def test_crash_before_it_needs_none(self, service):
        class Dying(Writer):
            def run(self, wanted):
                raise Crash

        with pytest.raises(Crash):
            service.apply(service.file(), service.restart(), hand=Dying())
        assert service.conf.read_text() == "rate = 10\n"
        assert set(service.told()) == {str(service.conf)}
        service.revert()
        assert service.conf.read_text() == "rate = none\n"
        assert service.starts.read_text() == "start\n"

    def test_start_that_did_not_happen(self, service):
        change = service.restart()
        change = change._replace(make=(service.load(),))
        with pytest.raises(apply.NotGranted, match="service: requested another state, found 1;"):
            service.apply(change)


class TestValue:
    def test_set_and_put_back(self, service):
        service.apply(service.set("TRUE"))
        assert service.value.read_text() == "TRUE\n"
        assert service.told() == {"value": ("TRUE", "FALSE")}
        service.revert()
        assert service.value.read_text() == "FALSE\n"
        assert service.journal.transactions() == []

    def test_oldest_of_several_counts(self, service):
        for value in ("A", "B", "C"):
            service.apply(service.set(value))
        service.revert()
        assert service.value.read_text() == "FALSE\n"

    def test_refused_by_the_command(self, service):
        change = service.set("TRUE")
        change = change._replace(make=(shell("set", "echo ORA-01031: no; exit 3"),))
        with pytest.raises(apply.NotGranted, match="set: ORA-01031: no; the old state is restored"):
            service.apply(change)

    def test_step_that_fails_before_it_changes_anything_is_not_undone(self, service):
        """Its undo would fail as it did, and every later revert, too."""
        refused = shell("set", "echo not supported; exit 1")
        look = shell("look", "echo alive", expected="^alive$")
        flag = CommandChange("flag", None, None, look, (refused,), (refused,), atomic=True)
        with pytest.raises(apply.NotGranted, match="not supported; the old state is restored"):
            service.apply(service.file(), flag)
        assert service.conf.read_text() == "rate = none\n"
        assert service.journal.transactions() == []

    @cases("make", "echo odd", "true; exit 0")
    def test_step_that_ends_well_with_odd_words_is_undone(self, service, make):
        """It may have changed something all the same."""
        undone = service.root / "undone"
        look = shell("look", "echo alive", expected="^alive$")
        steps = (shell("set", make, expected="^changed$"),)
        undo = (shell("set back", f"echo changed | tee {undone}", expected="^changed$"),)
        with pytest.raises(apply.NotGranted, match="the old state is restored"):
            service.apply(CommandChange("flag", None, None, look, steps, undo, atomic=True))
        assert undone.exists()

    def test_only_the_first_step_leaves_nothing_to_undo(self, service):
        undone = service.root / "undone"
        look = shell("look", "echo alive", expected="^alive$")
        steps = (shell("one", "true"), shell("two", "exit 1"))
        undo = (shell("back", f"touch {undone}"),)
        with pytest.raises(apply.NotGranted, match="the old state is restored"):
            service.apply(CommandChange("flag", None, None, look, steps, undo, atomic=True))
        assert undone.exists()

    def test_old_value_that_does_not_come_back(self, service):
        change = service.set("TRUE")._replace(undo=(shell("set back", "true"),))
        service.apply(change)
        with pytest.raises(apply.NotGranted, match="value: requested the old FALSE, found TRUE"):
            service.revert()
        assert len(service.journal.transactions()) == 1

    @cases("after", False, True, ids=["before", "after"])
    def test_crash_around_the_command(self, service, after):
        class Dying(Writer):
            def run(self, wanted):
                if after:
                    super().run(wanted)
                raise Crash

        with pytest.raises(Crash):
            service.apply(service.set("TRUE"), hand=Dying())
        service.revert()
        assert service.value.read_text() == "FALSE\n"


class TestJournal:
    def test_entry_as_documented(self, service):
        change = service.set("TRUE")
        service.apply(change)
        (path,) = (service.root / "var/hostproof/journal").glob("*/*.json")
        record = json.loads(path.read_text())
        assert (record["kind"], record["path"], record["after"]) == ("command", "value", "TRUE")
        assert record["before"]["state"] == "FALSE"
        assert command.from_dict(record["before"]["look"]) == change.look
        assert command.from_dict(record["before"]["undo"][0]) == change.undo[0]

    @cases(
        "name value",
        ("state", 5),
        ("look", None),
        ("look", {"name": "x"}),
        ("look", {"name": "x", "argv": []}),
        ("look", {"name": "x", "argv": ["a"], "expected": "("}),
        ("look", {"name": "x", "argv": ["a"], "environment": {"A": 1}}),
        ("look", {"name": "x", "argv": ["a"], "codes": ["a"]}),
        ("undo", []),
        ("undo", [5]),
    )
    def test_entry_that_is_none(self, service, name, value):
        service.apply(service.set("TRUE"))
        (path,) = (service.root / "var/hostproof/journal").glob("*/*.json")
        record = json.loads(path.read_text())
        record["before"][name] = value
        path.write_text(json.dumps(record))
        with pytest.raises(HostproofError, match="nothing was restored"):
            service.revert()
        assert service.value.read_text() == "TRUE\n"


class TestCommand:
    def test_environment_is_its_own(self, monkeypatch):
        monkeypatch.setenv("TWO_TASK", "elsewhere")
        printed = command.run(Command("env", ("env",), environment={"ORACLE_SID": "ORCL"}))
        names = dict(line.partition("=")[::2] for line in printed.stdout.splitlines())
        assert names["ORACLE_SID"] == "ORCL"
        assert names["LC_ALL"] == "C"
        assert not {"TWO_TASK"} & set(names)

    def test_stdin_and_codes(self):
        order = shell("echo", "cat; echo ORA-00942 >&2; exit 4", stdin="select\n", codes=(0, 4))
        printed = command.run(order)
        assert printed == (4, "select\n", "ORA-00942\n")
        assert command.state_of(order._replace(expected="ORA-(.*)"), printed) == "00942"

    def test_daemon_that_it_leaves_does_not_hold_it_up(self):
        started = time.monotonic()
        printed = command.run(shell("start", "sleep 60 & echo started"))
        assert printed.stdout == "started\n"
        assert time.monotonic() - started < 50

    def test_daemon_that_it_leaves_does_not_hold_the_journal(self, service):
        change = service.set("TRUE")
        wait = shell("start", "sleep 5 &")
        service.apply(change._replace(make=(*change.make, wait)))
        service.revert()

    def test_no_end(self):
        with pytest.raises(HostproofError, match=r"wait: no end after 0\.2 seconds, stopped"):
            Writer().run(shell("wait", "exec sleep 5", timeout=0.2))

    def test_missing(self):
        with pytest.raises(HostproofError, match="x: .*No such file"):
            Writer().run(Command("x", ("/none/lsnrctl",)))
        with pytest.raises(HostproofError, match="there is no user nobody-of-the-kind"):
            Writer().run(Command("x", ("true",), user="nobody-of-the-kind"))

    def test_limits(self):
        _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        low = min(99, hard)
        printed = command.run(shell("ulimit", "ulimit -n", limits={"NOFILE": (low, hard)}))
        assert printed.stdout == f"{low}\n"

    def test_another_user(self):
        order = Command("id", ("id", "-un"), user=pwd.getpwuid(65534).pw_name)
        if os.geteuid() == 0:
            assert command.run(order).stdout == f"{order.user}\n"
            assert "HOME" in command.run(order._replace(argv=("env",))).stdout
        else:
            with pytest.raises(HostproofError, match="only root may run it as"):
                Writer().run(order)


class TestStamped:
    """A command whose lines are stamped as they come."""

    def test_a_mark_in_pieces_counts_once(self, tmp_path, monkeypatch):
        """The child prints the second half of the mark after the first half was read."""
        gate, opened = tmp_path / "gate", []
        os.mkfifo(gate)
        pieces = command._pieces

        def watched(*given: Any) -> Iterator[bytes]:
            for piece in pieces(*given):
                yield piece
                if piece.endswith(b"\n}"):
                    opened.append(int(time.monotonic() * 1e9))
                    gate.write_text("go\n")

        monkeypatch.setattr(command, "_pieces", watched)
        text = "cat; printf '\\n}'; read go < \"$0\"; printf '='; printf 'x\\n  }=\\n}=\\n'; exit 4"
        order = Command("cli", ("/bin/sh", "-c", text, str(gate)), stdin="}=given")
        printed, stamps = command.stamped(order, b"}=")
        assert printed == (4, "}=given\n}=x\n  }=\n}=\n", "")
        assert len(stamps) == 3
        assert stamps == sorted(stamps)
        assert [stamps[0] <= at < stamps[1] for at in opened] == [True]

    @cases("then", "exec sleep 60", "exec >&-; exec sleep 60")
    def test_no_end(self, then):
        started = time.monotonic()
        with pytest.raises(subprocess.TimeoutExpired, match=r"timed out after 0\.2 seconds"):
            command.stamped(shell("wait", "echo }; " + then, timeout=0.2), b"}")
        assert time.monotonic() - started < 50

    @cases("stream", "", ">&2")
    def test_too_much(self, stream, monkeypatch):
        monkeypatch.setattr(command, "OUTPUT_LIMIT", 100000)
        with pytest.raises(ValueError, match="printed more than 100000 bytes"):
            command.stamped(shell("much", f"while echo }}; do echo much; done {stream}"), b"}")

    def test_missing(self):
        with pytest.raises(FileNotFoundError, match="/none/jboss-cli"):
            command.stamped(Command("x", ("/none/jboss-cli",)), b"}")

    def test_nothing_is_left_open_and_no_child(self, forked):
        # What other tests left is not to be collected, and closed, meanwhile.
        gc.collect()
        before = os.listdir("/proc/self/fd")
        for text in ("exit 1", "exec sleep 5"):
            with contextlib.suppress(subprocess.TimeoutExpired):
                command.stamped(shell("x", text, timeout=0.2), b"}")
        assert os.listdir("/proc/self/fd") == before
        assert len(forked) == 2
        for child in forked:
            with pytest.raises(ChildProcessError):
                os.waitpid(child, os.WNOHANG)


class TestHost:
    def test_asks_once_and_replays(self):
        live = LiveHost()
        order = shell("parameters of ORCL", "echo; date +%N")
        printed = live.ask(order)
        assert live.ask(order) == printed
        assert RecordedHost(live.evidence).ask(order) == printed
        assert set(live.evidence) == {"command:parameters of ORCL"}

    def test_another_user_needs_root(self, monkeypatch):
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(Denied):
            LiveHost().ask(Command("x", ("true",), user="root"))

    def test_no_end_is_no_answer(self):
        with pytest.raises(Unanswered):
            LiveHost().ask(shell("wait", "exec sleep 5", timeout=0.2))

    def test_environment_keeps_only_what_is_asked_for(self, monkeypatch):
        import subprocess

        secret = {"TNS_ADMIN": "/etc/oracle", "PASSWORD": "tiger", "PATH": os.environ["PATH"]}
        argv = [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)"]
        child = subprocess.Popen(argv, env=secret, stdout=subprocess.PIPE)
        try:
            assert child.stdout is not None
            child.stdout.readline()
            live = LiveHost()
            names = ("TNS_ADMIN", "ORACLE_HOME")
            assert live.environment(child.pid, names) == {"TNS_ADMIN": "/etc/oracle"}
            assert live.argument(child.pid, 1) == "-c"
            with pytest.raises(Absent):
                live.argument(child.pid, 3)
        finally:
            child.kill()
            child.communicate()
        assert "tiger" not in json.dumps(live.evidence)
        recorded = RecordedHost(live.evidence)
        assert recorded.argument(child.pid, 1) == "-c"
        assert recorded.environment(child.pid, names) == {"TNS_ADMIN": "/etc/oracle"}
        with pytest.raises(Unanswered, match="read without ORACLE_SID"):
            recorded.environment(child.pid, ("ORACLE_SID",))
