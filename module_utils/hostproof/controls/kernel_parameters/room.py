# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is used up of a limit: the layer that no file shows, and where the next start fails."""

from typing import List, NamedTuple

from ...collect.answer import known
from ...errors import ParseError
from ...evaluate.comparing import Numbers, numbers
from .facts import AIO_USED, FILES_USED, LOADAVG, SEMAPHORES, Facts
from .required_parameters import Parameter

#: The value of vm.overcommit_memory that makes the limit count.
_STRICT = (2,)
_SEGMENTS = "/proc/sysvipc/shm"


class Room(NamedTuple):
    """Usage of a limit: ``used`` of ``limit``; ``key`` is the evidence."""

    used: int
    limit: int
    what: str
    key: str

    def text(self) -> str:
        return f"{self.used} of {self.limit} {self.what} are in use"


def room_of(parameter: Parameter, value: Numbers, facts: Facts) -> List[Room]:
    """What is used of a parameter that had this value; raises what is not known."""
    reader = _READERS.get(parameter.key)
    return [] if reader is None else reader(value, facts)


def _semaphores(value: Numbers, facts: Facts) -> List[Room]:
    sets = known(facts.semaphores)
    if len(value) < 4:
        raise ParseError("kernel.sem", "it has less than four numbers")
    key = "file:" + SEMAPHORES
    return [
        Room(len(sets), value[3], "sets of semaphores", key),
        Room(sum(array.nsems for array in sets), value[1], "semaphores", key),
    ]


def _pages(value: Numbers, facts: Facts) -> List[Room]:
    page = known(facts.figures.page)
    used = sum(-(-segment.size // page) for segment in known(facts.segments))
    return [Room(used, value[0], "pages of shared memory", "file:" + _SEGMENTS)]


def _segments(value: Numbers, facts: Facts) -> List[Room]:
    used = len(known(facts.segments))
    return [Room(used, value[0], "segments of shared memory", "file:" + _SEGMENTS)]


def _aio(value: Numbers, facts: Facts) -> List[Room]:
    key = "file:" + AIO_USED
    return [Room(known(facts.aio_used), value[0], "asynchronous requests (reserved)", key)]


def _files(value: Numbers, facts: Facts) -> List[Room]:
    counts = numbers(known(facts.files_used))
    if not counts:
        raise ParseError("file-nr", "it does not begin with a number")
    return [Room(counts[0], value[0], "open files", "file:" + FILES_USED)]


def _tasks(value: Numbers, facts: Facts) -> List[Room]:
    return [Room(known(facts.tasks), value[0], "process numbers", "file:" + LOADAVG)]


def _committed(value: Numbers, facts: Facts) -> List[Room]:
    """With 2 the kernel promises no more memory than the limit (overcommit-accounting.rst)."""
    rows = known(facts.meminfo) if value == _STRICT else {}
    if not {"Committed_AS", "CommitLimit"} <= set(rows):
        return []
    used, limit = (rows[name] // 1024 for name in ("Committed_AS", "CommitLimit"))
    return [Room(used, limit, "kB of memory that may be promised", "file:/proc/meminfo")]


_READERS = {
    "kernel/sem": _semaphores,
    "kernel/shmall": _pages,
    "kernel/shmmni": _segments,
    "fs/aio-max-nr": _aio,
    "fs/file-max": _files,
    "kernel/pid_max": _tasks,
    "vm/overcommit_memory": _committed,
}
