# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host as a record of its evidence shows it."""

from typing import (
    Any,
    Callable,
    Dict,
    List,
    Optional,
)

from ...errors import (
    NotRecorded,
    Unanswered,
)
from .. import held, readings
from ..measured import Window
from .answers import OpenFiles, Process, Record, Stat, open_files_of, value_or_raise
from .interface import Host


def _is_output(reading: Dict[str, Any]) -> bool:
    streams = (reading["stdout"], reading["stderr"])
    return _is_number(reading["rc"]) and all(isinstance(text, str) for text in streams)


def _is_number(value: Any, kinds: Any = int) -> bool:
    """A number that a system can have: an id, a size, a time."""
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    return is_number and -(2**63) <= value < 2**64


def _is_stat(reading: Dict[str, Any]) -> bool:
    status = Stat(**reading["stat"])
    # A moment far beyond has no name in any calendar.
    time_is_one = _is_number(status.mtime, (int, float)) and abs(status.mtime) < 2**37
    return time_is_one and all(_is_number(number) for number in status[:4])


def _is_process(process: Process) -> bool:
    ids = (process.pid, process.uid, process.gid)
    return (
        all(_is_number(number) for number in ids)
        and (process.started is None or _is_number(process.started, (int, float)))
        and isinstance(process.argv0, str)
        and (process.exe is None or isinstance(process.exe, str))
        and (process.exe_uid is None or _is_number(process.exe_uid))
        and (process.unit is None or isinstance(process.unit, str))
    )


def _has_names(process: OpenFiles) -> bool:
    names = (process.argv0,) + process.paths
    return all(isinstance(name, str) for name in names) and all(
        _is_number(number) for number in (process.pid, process.uid)
    )


def _holds_lines(reading: Dict[str, Any]) -> bool:
    pairs = [line for lines in reading["lines"].values() for line in lines]
    names = list(reading["callers"].values()) + reading["unread"]
    return all(isinstance(name, str) for name in names) and all(
        isinstance(number, int) and isinstance(text, str) for number, text in pairs
    )


def _holds_windows(reading: Dict[str, Any]) -> bool:
    lists = (reading["windows"], reading["remarks"])
    if not all(isinstance(part, list) for part in lists):
        return False
    # ValueError where one is not a window.
    windows = [Window.from_json(item) for item in lists[0]]
    figures = reading.get("figures", {})
    return (
        len(windows) == len(lists[0])
        and all(isinstance(remark, str) for remark in lists[1])
        and isinstance(figures, dict)
        and all(
            isinstance(figure, str) or _is_number(figure, (int, float))
            for figure in figures.values()
        )
    )


#: Kind of a reading to whether it holds an answer; a KeyError or TypeError means that it does not.
_SHAPES: Dict[str, Callable[[Dict[str, Any]], object]] = {
    "file": lambda reading: isinstance(reading["text"], str),
    "dir": lambda reading: (
        isinstance(reading["names"], list)
        and all(isinstance(name, str) for name in reading["names"])
    ),
    "link": lambda reading: isinstance(reading["target"], str),
    "stat": _is_stat,
    "command": _is_output,
    "program": lambda reading: _is_number(reading["uid"]),
    "argument": lambda reading: isinstance(reading["text"], str),
    "environment": lambda reading: (
        isinstance(reading["names"], list)
        and all(isinstance(text, str) for text in reading["values"].values())
    ),
    "udp": lambda reading: isinstance(bytes.fromhex(reading["reply"]), bytes),
    "processes": lambda reading: all(
        _is_process(Process(**process)) for process in reading["processes"]
    ),
    "open_files": lambda reading: (
        isinstance(reading["under"], list)
        and all(_has_names(open_files_of(process)) for process in reading["processes"])
    ),
    "held": held.is_reading,
    "lines": _holds_lines,
    "sample": lambda reading: (
        _is_number(reading["seconds"], (int, float))
        and reading["seconds"] > 0
        and all(
            isinstance(text, str)
            for part in ("first", "second", "errors")
            for text in reading[part].values()
        )
    ),
    "windows": _holds_windows,
}


class RecordedHost(Host):
    """A host as a record of its evidence shows it (key to reading, as LiveHost.evidence).

    ``release`` is the release of Hostproof that recorded it, "" where that is not known.
    ``not_recorded`` are the readings that were requested and are newer than the record.
    """

    def __init__(self, evidence: Dict[str, Dict[str, Any]], release: str = "") -> None:
        self.evidence = evidence
        self.not_recorded: List[NotRecorded] = []
        self._release = release

    def _answer(
        self,
        key: str,
        kind: str,
        ask: Callable[[], Dict[str, Any]],
        record: Optional[Record] = None,
    ) -> Dict[str, Any]:
        former = readings.RENAMED.get(key)
        if key not in self.evidence and former in self.evidence:
            return self._answer(former, kind, ask, record)
        if key not in self.evidence:
            since = readings.newer_than(self._release, key, self.evidence)
            if since is None:
                raise Unanswered(key, f"{key} is not in the recorded evidence; record it again")
            self.not_recorded.append(NotRecorded(key, since, self._release))
            raise self.not_recorded[-1]
        answer = value_or_raise(key, self.evidence[key])
        if not _has_answer(answer, kind):
            raise Unanswered(key, f"the reading of {key} holds no answer; record it again")
        return answer


def _has_answer(reading: Dict[str, Any], kind: str) -> bool:
    """Whether a reading that a person may have edited holds what its kind must."""
    try:
        return bool(_SHAPES[kind](reading))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
