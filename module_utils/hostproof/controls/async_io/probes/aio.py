# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asynchronous I/O of the kernel: the limit of requested events, and their current number.

fs.aio-nr is the sum of all events that io_setup(2) calls requested. A call that would exceed
fs.aio-max-nr fails with EAGAIN. The host and its containers share the limit. A higher limit does
not reserve memory. Sources: Linux, Documentation/admin-guide/sysctl/fs.rst; fs/aio.c,
ioctx_alloc() and aio_setup_ring()."""

from typing import Iterable, NamedTuple, Tuple

from ....collect.host import Host

KEY = "fs.aio-max-nr"
LIMIT_FILE = "/proc/sys/fs/aio-max-nr"
USED_FILE = "/proc/sys/fs/aio-nr"

#: Events that a database process requests for heavy writes (MOS 579108.1).
CONTEXT = 4096
#: Requests that each process of an instance reserves at least, as ORA-27090 prints them.
REQUESTS = 128
#: Kernels from 3.12 to 4.13 count more events than requested and compare them with twice the
#: limit, so aio-nr can exceed aio-max-nr (2500e287bca1, "fix the increment of aio-nr").
CHARGED_MORE = ((3, 10), (4, 14))

#: sizeof(struct io_event), and of the ring's head.
_EVENT = 32


class Events(NamedTuple):
    """``used`` of ``limit`` events."""

    used: int
    limit: int

    def contexts_left(self) -> int:
        """Number of further contexts of the usual size."""
        return max(self.limit - self.used, 0) // CONTEXT


def read_events(host: Host) -> Events:
    return Events(host.read_number(USED_FILE), host.read_number(LIMIT_FILE))


def events_of(ring: int) -> int:
    """Maximum number of requested events for a ring of this size: the kernel doubles the request,
    adds two, and rounds up to whole pages."""
    return max((ring - _EVENT) // _EVENT // 2 - 1, 0)


def sum_of(rings: Iterable[Tuple[int, int]]) -> Tuple[int, int]:
    """(contexts, maximum of events) of rings by inode and size. A ring that a child process also
    shows counts once."""
    sizes = dict(rings)
    return len(sizes), sum(map(events_of, sizes.values()))
