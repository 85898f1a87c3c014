# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's asynchronous I/O: how many events all contexts may ask for, and do.

fs.aio-nr is the sum of what every io_setup(2) on the host requested; one that would bring it above
fs.aio-max-nr fails with EAGAIN. It is of the host: containers share it. To raise the limit reserves
nothing. Sources: Linux, Documentation/admin-guide/sysctl/fs.rst; fs/aio.c, ioctx_alloc() and
aio_setup_ring()."""

from typing import Iterable, NamedTuple, Tuple

from ....collect.host import Host

KEY = "fs.aio-max-nr"
LIMIT_FILE = "/proc/sys/fs/aio-max-nr"
USED_FILE = "/proc/sys/fs/aio-nr"

#: What one process of a database requires for when it has much to write (MOS 579108.1).
CONTEXT = 4096
#: Kernels from 3.12 to 4.13 charge more than was required, and compare with twice the limit: there
#: aio-nr may be above aio-max-nr (2500e287bca1, "fix the increment of aio-nr").
CHARGED_MORE = ((3, 10), (4, 14))

#: sizeof(struct io_event), and of the ring's head.
_EVENT = 32


class Events(NamedTuple):
    """``used`` of ``limit`` events."""

    used: int
    limit: int

    def contexts_left(self) -> int:
        """The number of more processes get a context of the usual size."""
        return max(self.limit - self.used, 0) // CONTEXT


def read_events(host: Host) -> Events:
    return Events(host.read_number(USED_FILE), host.read_number(LIMIT_FILE))


def events_of(ring: int) -> int:
    """The most events that a ring of this size was created for: the kernel doubles the request,
    adds two, and takes whole pages."""
    return max((ring - _EVENT) // _EVENT // 2 - 1, 0)


def sum_of(rings: Iterable[Tuple[int, int]]) -> Tuple[int, int]:
    """(contexts, events at most) of rings by inode and size: one that a child shows again counts
    once."""
    sizes = dict(rings)
    return len(sizes), sum(map(events_of, sizes.values()))
