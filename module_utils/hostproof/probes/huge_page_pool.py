# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool of default-sized huge pages that the next boot makes.

Source: Documentation/admin-guide/mm/hugetlbpage.rst: hugepages= reserves it first, and every
later write of the sysctl changes it.
"""

from typing import List, NamedTuple, Optional

from ..answer import known
from ..errors import Unanswered
from ..parsers import kernel_cmdline, tmpfiles_d
from .boot import Boot, Setting, rc_local_lines, sysctl_at_boot

KEY = "vm.nr_hugepages"


class PoolAtBoot(NamedTuple):
    """The pool after the next boot: ``pages`` 0 with ``place`` None where nothing sets it."""

    pages: int
    place: Optional[str]
    losers: List[str]

    def text(self):
        # type: () -> str
        if self.place is None:
            words = "nothing sets it"
        else:
            words = "{0} from {1}".format(in_pages(self.pages), self.place)
        return words + ("; not used: " + ", ".join(self.losers) if self.losers else "")


def in_pages(count):
    # type: (int) -> str
    return "{0} page{1}".format(count, "" if count == 1 else "s")


def pool_at_boot(boot, page_size):
    # type: (Boot, int) -> PoolAtBoot
    """What wins at boot, and what loses. ``page_size`` (bytes) is the kernel's default one."""
    rival = sysctl_at_boot(boot, KEY + "_mempolicy").winner
    if rival is not None:
        raise _unreadable(
            rival.place, "sets {0}_mempolicy, which changes the same pool: keep one".format(KEY)
        )
    for by_sysfs in _sysfs_writes(boot, page_size):
        raise _unreadable(by_sysfs.place, "sets the pool by sysfs: leave it to sysctl.d alone")
    by_sysctl = sysctl_at_boot(boot, KEY)
    from_kernel = kernel_cmdline.hugepages(known(boot.cmdline), page_size).get(page_size)
    losers = list(by_sysctl.losers)
    if by_sysctl.winner is None:
        place = None if from_kernel is None else "kernel command line hugepages="
        return PoolAtBoot(from_kernel or 0, place, losers)
    if from_kernel is not None:
        losers.insert(0, "kernel command line hugepages={0}".format(from_kernel))
    value, place = by_sysctl.winner
    if not value.strip().isdecimal():
        raise _unreadable(
            place, "sets {0} by {1}: read it by hand, then leave it to sysctl.d".format(KEY, value)
        )
    return PoolAtBoot(int(value), place, losers)


def _sysfs_writes(boot, page_size):
    # type: (Boot, int) -> List[Setting]
    """Places that write the pool past sysctl; which write comes last is not to be told."""
    path = "/sys/kernel/mm/hugepages/hugepages-{0}kB/nr_hugepages".format(page_size // 1024)
    entries = tmpfiles_d.writes(known(boot.tmpfiles), path)
    return [
        Setting(entry.argument, "{0}:{1}".format(entry.path, entry.line)) for entry in entries
    ] + rc_local_lines(boot, [path])


def _unreadable(place, problem):
    # type: (str, str) -> Unanswered
    return Unanswered("file:" + place.rsplit(":", 1)[0], "{0} {1}".format(place, problem))
