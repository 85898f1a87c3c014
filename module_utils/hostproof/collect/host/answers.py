# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of the answers of a host, and how a reading holds them."""

import re
import time
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Tuple,
)

from ...errors import (
    Absent,
    Denied,
    Unanswered,
)
from .. import guarded_read
from ..measured import Measured

#: Characters of a line that a pattern is searched in.
_MOST_OF_A_LINE = 4096


_ERRORS = {"absent": Absent, "denied": Denied, "unanswered": Unanswered}


#: What evidence holds of a text that can hold more than a control needs (parsers/kept_lines.py).
Record = Callable[[str], str]


class Secret(NamedTuple):
    """A file that only one command may read: its name and its text.

    ``variables`` are environment variables for the command; "{0}" in a value is the file's
    directory.
    """

    name: str
    text: str
    variables: Tuple[Tuple[str, str], ...]


class Stat(NamedTuple):
    """The part of stat(2) that controls check. ``mode`` holds the permission bits only."""

    mode: int
    uid: int
    gid: int
    size: int
    mtime: float


class Process(NamedTuple):
    """A process as /proc shows it. ``started`` is seconds since boot, None where an archive does
    not tell; ``exe`` is the file that it
    runs as the kernel names it, ``exe_uid`` who owns that file; None where that is not known.

    ``unit`` is the unit of systemd that it belongs to, "" for none; None in records before 0.3.0.
    """

    pid: int
    uid: int
    gid: int
    started: Optional[float]
    argv0: str
    exe: Optional[str] = None
    exe_uid: Optional[int] = None
    unit: Optional[str] = None

    def runs(self, name: str) -> Optional[bool]:
        """Whether it is the program HOME/bin/NAME of the account that runs it. A process can choose
        its displayed name, but not the file that the kernel reports for it.

        None if that is not known: this user may not see it, its file is on an unreachable server,
        or the record was created by an older version. A relink renames or removes the running
        program.
        """
        if self.exe is None or self.exe_uid is None:
            return None
        fits = re.search("/bin/" + re.escape(name) + r"[0O]?( \(deleted\))?$", self.exe)
        return fits is not None and self.exe_uid == self.uid

    def home(self, name: str) -> Optional[str]:
        """The home of HOME/bin/NAME, as the kernel has it."""
        match = re.match("(/.*)/bin/" + re.escape(name) + r"[0O]?( \(deleted\))?$", self.exe or "")
        return match.group(1) if match else None


class OpenFiles(NamedTuple):
    """Requested files that a process has open or mapped, and its directories.

    ``paths`` are sorted and unique, as the kernel writes them: a file that was removed ends in
    " (deleted)", a socket is socket:[INODE].
    """

    pid: int
    uid: int
    argv0: str
    paths: Tuple[str, ...]


class Measure(NamedTuple):
    """A measurement by a latency probe in a window; window.py describes ``how`` it is combined with
    others.

    ``measure`` takes its duration in seconds.
    """

    name: str
    how: str
    measure: Callable[[float], Measured]


class FoundLines(NamedTuple):
    """Lines that a search found: (number, text) by file.

    ``callers`` say of a script that was looked into because it is called from which file of the
    places that began. ``unread`` are files and directories that may not be read.
    """

    lines: Dict[str, List[Tuple[int, str]]]
    callers: Dict[str, str]
    unread: List[str]


class Sample(NamedTuple):
    """Files and commands read twice, to tell what happened in ``seconds`` between.

    ``first`` and ``second`` hold the text of each source under "file:PATH" or "command:ARGV".
    A source is in both or in neither; ``errors`` say why it is in neither.
    """

    seconds: float
    first: Dict[str, str]
    second: Dict[str, str]
    errors: Dict[str, str]


#: Stands for a line in which a pattern is found only with the secret that it holds.
HIDDEN_LINE = "(a line that holds a secret)"


def matching_lines(text: str, pattern: str, name: str = "") -> str:
    """The lines in which the pattern is found, without empty ones and without secrets; long lines
    are cut. A part of the result gives the same result.

    ``name`` is the path of the file, or the evidence key, that the text comes from.
    """
    from ..masking import masked_lines

    lines = [line[:_MOST_OF_A_LINE] for line in text.split("\n")]
    found = [
        index
        for index, line in enumerate(lines)
        if line and (line == HIDDEN_LINE or re.search(pattern, line))
    ]
    shown = masked_lines(name, lines, found)
    return "\n".join(
        line if line == lines[index] or re.search(pattern, line) else HIDDEN_LINE
        for index, line in zip(found, shown)
    )


def now() -> str:
    """UTC, as readings have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def part_of(reading: Dict[str, Any], record: Record) -> Dict[str, Any]:
    """The reading with the part of its text, or of the output of its command, that is recorded."""
    field = "text" if "text" in reading else "stdout"
    return dict(reading, **{field: record(reading[field])})


def value_or_raise(key: str, reading: Dict[str, Any]) -> Dict[str, Any]:
    error = reading.get("error")
    if error is not None:
        kind = _ERRORS.get(error, Unanswered) if isinstance(error, str) else Unanswered
        raise kind(key, str(reading.get("message", error)))
    return reading


#: ConnectionRefusedError: nothing listens there.
_ABSENT = (FileNotFoundError, NotADirectoryError, ProcessLookupError, ConnectionRefusedError)


def error_reading(key: str, problem: Exception) -> Dict[str, Any]:
    """How a failed read is kept. ESRCH: the process behind a /proc file ended meanwhile."""
    if isinstance(problem, _ABSENT):
        name = "absent"
    elif isinstance(problem, PermissionError):
        name = "denied"
    else:
        name = "unanswered"
    detail = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return {"error": name, "message": f"{key}: {detail}"}


def text_of_file(path: str) -> str:
    return str(guarded_read.read(path, guarded_read.text))


def only_under(process: OpenFiles, under: List[str]) -> OpenFiles:
    return process._replace(paths=tuple(sorted(paths_under(process.paths, under))))


def paths_under(paths: Iterable[str], under: List[str]) -> Iterator[str]:
    return (path for path in paths if any(_lies_under(path, item) for item in under))


def _lies_under(path: str, item: str) -> bool:
    if item.endswith(":"):
        return path.startswith(item)
    return path == item or path.startswith(item.rstrip("/") + "/")


def open_files_of(process: Dict[str, Any]) -> OpenFiles:
    paths = tuple(process["paths"])
    return OpenFiles(process["pid"], process["uid"], process["argv0"], paths)
