"""The search for lines in scripts and what they call, on a real file system and as a recording."""

import itertools
import os
import re
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import guarded_read
from ansible.module_utils.hostproof.collect.host import (
    FoundLines,
    LiveHost,
    RecordedHost,
    script_search,
)
from ansible.module_utils.hostproof.errors import Unanswered
from cases import cases


@pytest.fixture
def root(tmp_path) -> Path:
    """Units, a script that one calls, one that this calls, and files that are none."""
    (tmp_path / "units").mkdir()
    (tmp_path / "bin").mkdir()
    put(tmp_path / "units/a.service", f"ExecStart={tmp_path}/bin/one start\nPassword=x\n")
    put(tmp_path / "units/b.service", "ExecStart=/sbin/sysctl \\\n  -p /x\n")
    put(tmp_path / "units/b.timer", "sysctl\n")
    put(tmp_path / "bin/one", f"#!/bin/sh\nsecret=1\n{tmp_path}/bin/two\n")
    put(tmp_path / "bin/two", f"#!/bin/sh\n# sysctl\nsysctl -p\n{tmp_path}/bin/data\n")
    put(tmp_path / "bin/data", "sysctl\n")
    return tmp_path


def put(path: Path, text: str) -> None:
    path.write_text(text)


def find(root: Path, *places: str, only_as_root: bool = False) -> FoundLines:
    paths = [f"{root}/{place}" for place in places or ("units/*.service",)]
    return LiveHost().find_lines("test", paths, r"\bsysctl\b", only_as_root)


def test_lines_of_files_and_of_scripts_that_they_call(root):
    result = find(root)
    assert result.lines == {
        f"{root}/units/b.service": [(1, "ExecStart=/sbin/sysctl  -p /x")],
        f"{root}/bin/two": [(2, "# sysctl"), (3, "sysctl -p")],
    }
    assert result.callers == {f"{root}/bin/two": f"{root}/units/a.service"}
    assert result.unread == []


def test_several_searches_read_the_same_files_once(root):
    """An audit searches the commands of the boot for several settings."""
    live = LiveHost()
    first = live.find_lines("first", [f"{root}/units/*.service"], r"\bsysctl\b")
    for path in root.rglob("*.*"):
        put(path, "nothing\n")
    assert live.find_lines("second", [f"{root}/units/*.service"], r"\bsysctl\b") == first
    secret = live.find_lines("third", [f"{root}/units/*.service"], "secret=")
    assert secret.lines == {f"{root}/bin/one": [(2, "secret=1")]}
    # Another audit, and other places.
    assert LiveHost().find_lines("x", [f"{root}/units/*.service"], r"\bsysctl\b").lines == {}
    assert live.find_lines("y", [f"{root}/units/a.*"], "nothing").lines != {}


def test_only_matching_lines_are_kept(root):
    live = LiveHost()
    live.find_lines("test", [f"{root}/units/*.service"], r"\bsysctl\b")
    assert "Password" not in str(live.evidence)
    assert "secret" not in str(live.evidence)


@cases(
    "line",
    *(". {0}", "  source {0}", "[ -f {0} ] && . {0}", "sh {0}", "/bin/bash -e {0} 5"),
    *("(ksh {0}) &", ". '{0}'", "ExecStart=/bin/sh {0}"),
    *("su - root -c 'sh {0}'", "/usr/bin/python3.9 -u {0}"),
)
def test_a_file_that_a_shell_reads_needs_no_first_line(root, line):
    data = f"{root}/bin/data"
    put(root / "units/b.service", f"# {data}\n{line.format(data)}\n")
    result = find(root, "units/b.service")
    assert result.lines == {data: [(1, "sysctl")]}
    assert result.callers == {data: f"{root}/units/b.service"}


@cases("line", "{0}", "cat {0}", "finish {0}", "sh -c 'cat {0}'", "x.sh > {0}")
def test_a_file_that_no_shell_reads(root, line):
    put(root / "units/b.service", line.format(f"{root}/bin/data") + "\n")
    assert find(root, "units/b.service").lines == {}


@cases("name", "functions", "init-functions", "rc.status")
def test_functions_for_scripts_set_nothing_by_themselves(root, name):
    put(root / f"bin/{name}", "sysctl -p\n")
    put(root / "units/b.service", f". {root}/bin/{name}\n")
    assert find(root, "units/b.service").lines == {}


def test_a_recording_says_the_same(root):
    live = LiveHost()
    result = live.find_lines("test", [f"{root}/units/*"], "sysctl")
    assert RecordedHost(live.evidence).find_lines("test", [], "") == result


def test_a_file_under_two_names_is_read_once(root):
    (root / "units/c.service").symlink_to(root / "units/b.service")
    assert list(find(root).lines) == [f"{root}/units/b.service", f"{root}/bin/two"]


def test_what_is_not_there_is_nothing(root):
    assert find(root, "nowhere/*", "units/x.service", "units/*/y") == FoundLines({}, {}, [])


def test_no_text_no_file_and_a_pipe(root):
    (root / "units/bin.service").write_bytes(b"sysctl\0\n")
    (root / "units/dir.service").mkdir()
    os.mkfifo(root / "units/pipe.service")
    assert "pipe" not in str(find(root)) + str(find(root, "units/dir.service"))


def test_a_folder_that_a_script_names_holds_no_line(root):
    """As /bin in PATH=/usr/bin:/bin, with and without a link to it."""
    (root / "link").symlink_to(root / "bin")
    put(root / "units/d.service", f"Environment=PATH={root}/bin:{root}/link\n")
    result = find(root, "units/d.service")
    assert (result.lines, result.unread) == ({}, [])


@cases("name", "/dev/stderr", "/dev/stdin", "/dev/fd/3", "/proc/self/fd/0", "/proc/1/ns/mnt")
def test_a_stream_of_a_running_script_is_no_script(root, name):
    """What it leads to is of the process that reads it, and never of the one that looks."""
    put(root / "units/d.service", f"ExecStart=/bin/sh -c 'echo late >{name}'\n")
    result = find(root, "units/d.service")
    assert (result.lines, result.unread) == ({}, [])


@cases("kind", "missing", "folder", "fifo")
def test_what_is_no_file_in_everybodys_folder_is_no_script(root, tmp_path, kind):
    """mktemp /tmp/x.XXXXXX names a file that never exists; the walk through /tmp is refused."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    if kind == "folder":
        (shared / "late.XXXXXX").mkdir(mode=0o777)
    elif kind == "fifo":
        os.mkfifo(shared / "late.XXXXXX")
    put(root / "units/d.service", f"ExecStart=/bin/sh -c 'mktemp {shared}/late.XXXXXX'\n")
    result = find(root, "units/d.service")
    assert (result.lines, result.unread) == ({}, [])


def test_a_script_that_is_too_long_is_not_taken_for_empty(root):
    put(root / "units/long.service", "#" * (600 * 1024))
    assert find(root).unread == [f"{root}/units/long.service"]


def test_what_may_not_be_read_is_named(root, monkeypatch):
    """As root nothing is refused, so the refusal is made."""
    real_read, real_list = guarded_read.read, os.listdir

    def refuse(path, *more):
        if path.endswith("b.service"):
            raise PermissionError(13, "Permission denied", path)
        return real_read(path, *more)

    def refuse_list(path):
        if str(path).endswith("bin"):
            raise PermissionError(13, "Permission denied", path)
        return real_list(path)

    monkeypatch.setattr(guarded_read, "read", refuse)
    monkeypatch.setattr(script_search.os, "listdir", refuse_list)
    result = find(root, "units/*.service", "bin/*")
    assert result.unread == [f"{root}/bin", f"{root}/units/b.service"]


def test_a_script_is_read_with_what_calls_it_as_the_one_who_named_it(root, monkeypatch):
    """Else the owner of the caller could have root read any path."""
    named: dict[str, tuple[str, ...]] = {}
    real = guarded_read.read

    def watched(path, step, named_by, kept):
        named[path] = named_by
        return real(path, step, named_by, kept)

    monkeypatch.setattr(guarded_read, "read", watched)
    script_search.search_lines([f"{root}/units/*.service"], "sysctl")
    assert named[f"{root}/units/b.service"] == ()
    (caller,) = named[f"{root}/bin/one"]
    assert caller.startswith(f"{root}/units/")


@cases("number unread", (5, True), (110, True), (2, False), (20, False))
def test_what_cannot_be_read_may_hold_anything(root, monkeypatch, number, unread):
    def broken(path, *_more):
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(guarded_read, "read", broken)
    result = script_search.search_lines([f"{root}/units/a.service"], "sysctl")
    assert result == FoundLines({}, {}, [f"{root}/units/a.service"] if unread else [])


def test_a_network_file_system_is_not_touched(root, monkeypatch):
    mounts = f"/dev/vda1 / ext4 rw 0 0\nfiler:/x {root}/bin nfs4 rw 0 0\n"
    real = script_search.read_trusted
    monkeypatch.setattr(
        script_search,
        "read_trusted",
        lambda path: mounts if path == "/proc/self/mounts" else real(path),
    )
    assert list(find(root).lines) == [f"{root}/units/b.service"]


@cases(
    "change",
    {"lines": []},
    {"lines": {"/x": [["1", "a"]]}},
    {"lines": {"/x": [[1]]}},
    {"callers": None},
    {"unread": [1]},
)
def test_a_broken_reading_is_no_answer(change):
    reading = {"kind": "lines", "lines": {}, "callers": {}, "unread": [], **change}
    with pytest.raises(Unanswered, match="holds no answer"):
        RecordedHost({"lines:x": reading}).find_lines("x", [], "")


class TestCrontabsOfAccounts:
    @staticmethod
    def crontab(root: Path, *lines: str, only_as_root: bool = True) -> FoundLines:
        (root / "spool/cron/crontabs").mkdir(parents=True, exist_ok=True)
        put(root / "spool/cron/crontabs/oracle", "\n".join([*lines, ""]))
        return find(root, "spool/cron/crontabs/*", only_as_root=only_as_root)

    def test_lines_with_the_rights_of_root(self, root):
        findings = self.crontab(
            root,
            "@reboot sudo sysctl -w a=1",
            "@reboot sysctl -w a=2",
            "@reboot echo 1 | sudo -n tee /x # sysctl",
            "@reboot sudo -u grid sysctl -w a=3",
            "@reboot sudo -u root sysctl -w a=4",
        )
        [lines] = findings.lines.values()
        assert [number for number, _line in lines] == [1, 3, 5]

    def test_a_search_for_any_right_takes_every_line(self, root):
        findings = self.crontab(root, "@daily sysctl -w a=2", only_as_root=False)
        assert len(findings.lines) == 1

    def test_of_root_every_line_counts(self, root):
        self.crontab(root)
        put(root / "spool/cron/crontabs/root", "@reboot sysctl -w a=2\n")
        assert len(find(root, "spool/cron/crontabs/root", only_as_root=True).lines) == 1

    @cases(
        "line numbers",
        ("{0}/bin/two", [4]),
        ("sudo {0}/bin/two", [2, 3, 4]),
        ("{0}/x; sudo {0}/bin/two", [2, 3, 4]),
    )
    def test_a_script_that_one_calls(self, root, line, numbers):
        put(root / "bin/two", "#!/bin/sh\n# sysctl\nsysctl -p\nsudo sysctl -p\n")
        findings = self.crontab(root, "@reboot " + line.format(root))
        assert [number for number, _line in findings.lines[f"{root}/bin/two"]] == numbers

    def test_what_may_not_be_read_counts_only_where_root_runs_it(self, root, monkeypatch):
        read = guarded_read.read

        def refusing(path, *rest, **named):
            if path.endswith("/two"):
                raise PermissionError(13, "x", path)
            return read(path, *rest, **named)

        monkeypatch.setattr(guarded_read, "read", refusing)
        assert self.crontab(root, f"@reboot {root}/bin/two > {root}/x").unread == []
        assert self.crontab(root, f"@reboot sudo {root}/bin/two").unread == [f"{root}/bin/two"]


@cases(
    "command",
    *("/bin/sh data", "/bin/bash data", "/bin/bash -e -x data", "/bin/bash -c './data'"),
    *("/bin/bash -c 'source data'", "/bin/bash -c '. ./data'", "/bin/bash -c '. data'"),
    *("/usr/bin/python3 data", "/bin/sh ./data", "sh -c 'cd /; ./data'"),
)
def test_a_script_in_the_working_directory_of_a_unit(root, command):
    text = f"WorkingDirectory=-{root}/bin\nExecStart={command}\n"
    put(root / "units/b.service", text)
    assert find(root, "units/b.service").lines == {f"{root}/bin/data": [(1, "sysctl")]}


@cases("command", "cd {0}/bin && ./data", "cd '{0}/bin'; sh data")
def test_a_script_in_a_directory_that_a_command_enters(root, command):
    put(root / "units/b.service", f'ExecStart=sh -c "{command.format(root)}"\n')
    assert find(root, "units/b.service").lines == {f"{root}/bin/data": [(1, "sysctl")]}


@cases(
    "name scripts",
    ("da%i", ["data"]),
    ("x {0}/bin/da%i", []),
    ("x\nTTYPath={0}/bin/%I", []),
    ("x\nExecStop=-/bin/sh -e {0}/bin/d%j", ["data"]),
    ("d%I", ["data"]),
    ("o%i.sh", ["one.sh"]),
    ("%i", ["data", "one.sh", "two"]),
    ("%%i", []),
    ("x%i", []),
)
def test_a_script_whose_name_has_the_name_of_an_instance(root, name, scripts):
    (root / "systemd").mkdir()
    put(root / "systemd/b@.service", f"ExecStart={root}/bin/{name.format(root)} start\n")
    put(root / "bin/data", "#!/bin/sh\nsysctl\n")
    put(root / "bin/one.sh", "#!/bin/sh\nsysctl -p\n")
    assert list(find(root, "systemd/b@.service").lines) == [f"{root}/bin/{n}" for n in scripts]


def test_variables_of_a_unit(root):
    put(root / "tune.env", "A=1\nCMD=sysctl -p\n")
    put(root / "units/d.service", f"EnvironmentFile=-{root}/tune.env\n# sh {root}/x\n")
    result = find(root, "units/d.service")
    assert result.lines == {f"{root}/tune.env": [(2, "CMD=sysctl -p")]}
    assert result.callers == {f"{root}/tune.env": f"{root}/units/d.service"}


def test_a_fast_look_finds_each_text_that_names_a_script():
    """Texts of every two and three of these pieces: what the whole pattern finds is found."""
    pieces = (
        *("\n", " ", "\t", "'", "=", "-x ", "< ", "x", ".", "/", "/a/b.sh", "/usr/bin/sh"),
        *(". ", "source ", "bash ", "zsh\t", "python3.9 ", "EnvironmentFile = -", "cd ", "cd\t"),
        *("WorkingDirectory", "WorkingDirectory =", "${x}/y"),
    )
    old_path = re.compile(r"(?<![\w.$}/])/[\w.+@/-]*[\w+]")
    for count in (2, 3):
        for chosen in itertools.product(pieces, repeat=count):
            text = "".join(chosen) + "/opt/tune"
            assert script_search._sourced(text) == script_search.SOURCED.findall(text)
            assert script_search._folders(text) == script_search._IN_FOLDER.findall(text)
            assert script_search._ABSOLUTE_PATH.findall(text) == old_path.findall(text)
