"""Flags of what processes hold open, and rings of AIO: of real processes, and as recorded."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.collect import held
from ansible.module_utils.hostproof.collect.host import LiveHost, RecordedHost
from ansible.module_utils.hostproof.collect.identity import ANYBODY
from ansible.module_utils.hostproof.controls.async_io.probes import aio
from ansible.module_utils.hostproof.errors import Denied, Unanswered
from ansible.module_utils.hostproof.parsers.kernel import open_flags
from cases import cases
from packs import ROOT

STAND_IN = ROOT / "tests/standins/instance.py"
MACHINE = os.uname().machine
PATTERN = r"^ora_(dbw0|lgwr)_HELD\d$"

Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a stand-in of a writer; its pid."""
    running: list[subprocess.Popen[str]] = []

    def start_one(sid: str, *options: str, process: str = "dbw0") -> int:
        argv = [sys.executable, str(STAND_IN), "--sid", sid, "--process", process, *options]
        running.append(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
        stdout = running[-1].stdout
        assert stdout is not None
        assert stdout.readline().startswith("ready ")
        return running[-1].pid

    yield start_one
    for child in running:
        child.terminate()
        child.communicate()


def test_flags_and_rings_of_a_real_process(start: Start, tmp_path: Path):
    files = [f"{tmp_path}/{name}" for name in ("plain", "synced", "whole")]
    argv = [
        word
        for flags, path in zip((":", "dsync:", "sync:"), files, strict=True)
        for word in ("--hold", flags + path)
    ]
    pid = start("HELD1", *argv, "--context", "1", "--context", "128")
    holders = LiveHost().holders("writers", PATTERN, ANYBODY)
    (holder,) = [process for process in holders.processes if process.pid == pid]
    assert holder.files is not None
    read = {
        path: open_flags.parse(flags, MACHINE)
        for flags in holder.files
        for path in holder.files[flags]
    }
    assert {path: read[path] for path in files} == {
        files[0]: (True, False, False),
        files[1]: (True, False, True),
        files[2]: (True, False, True),
    }
    sizes = sorted(size for _inode, size in holder.rings)
    assert len(sizes) == 2
    # The kernel rounds up to what every processor can use, so this is what was asked at least.
    assert all(aio.events_of(size) >= least for size, least in zip(sizes, (1, 128), strict=True))


def test_of_others_only_the_rings_are_read(start: Start, tmp_path: Path):
    pid = start("HELD2", "--open", f"{tmp_path}/file", "--context", "128")
    holders = LiveHost().holders("nobody", "^no-such-process$", ANYBODY)
    (holder,) = [process for process in holders.processes if process.pid == pid]
    assert holder.files is None
    assert len(holder.rings) == 1


def test_a_recording_answers_the_same(start: Start, tmp_path: Path):
    start("HELD3", "--hold", f"dsync:{tmp_path}/file", "--context", "128", process="lgwr")
    live = LiveHost()
    holders = live.holders("writers", PATTERN, ANYBODY)
    kept = RecordedHost(json.loads(json.dumps(live.evidence)))
    assert kept.holders("writers", PATTERN, ANYBODY) == holders


def test_who_may_not_be_looked_at(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(held, "_rings", refuse)
    assert held.look([os.getpid()], "^no-such-process$", lambda *_: True)["unseen"] == 1
    with pytest.raises(PermissionError):
        held.look([os.getpid()], "", lambda *_: True)


def test_the_reading_child_says_denied(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(held, "look", refuse)
    with pytest.raises(Denied):
        LiveHost().holders("writers", PATTERN, ANYBODY)


@cases(
    "change",
    {"unseen": "none"},
    {"processes": [{"pid": 1}]},
    {"processes": [{"pid": -1, "uid": 0, "argv0": "a", "rings": [], "files": None, "urings": 0}]},
    {"processes": [{"pid": 1, "uid": 0, "argv0": "a", "rings": [[1]], "files": None, "urings": 0}]},
    {
        "processes": [
            {"pid": 1, "uid": 0, "argv0": "a", "rings": [], "files": {"9": []}, "urings": 0}
        ]
    },
)
def test_an_edited_recording_is_no_answer(change):
    reading = {"kind": "held", "at": "", "pattern": "", "processes": [], "unseen": 0, **change}
    with pytest.raises(Unanswered):
        RecordedHost({"held:writers": reading}).holders("writers", "", ANYBODY)
