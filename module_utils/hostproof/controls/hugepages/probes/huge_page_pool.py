# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pool of default-sized huge pages that a reboot makes.

Source: Documentation/admin-guide/mm/hugetlbpage.rst: hugepages= reserves it first, and every
later write of the sysctl changes it.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence

from ....collect.answer import attempt, if_known, known, unless_absent
from ....collect.host import Host
from ....errors import HostproofError, Unanswered
from ....parsers.kernel import kernel_cmdline
from ....parsers.size import human
from ....parsers.systemd import tmpfiles_d
from ....probes.systemd.boot import (
    Boot,
    SysctlAtBoot,
    Write,
    later_writes,
    outcome,
    parameters,
    read_decimal,
    sysctl_at_boot,
    unseen,
)

KEY = "vm.nr_hugepages"
#: Parameters of the kernel that reserve huge pages.
_POOLS = "hugepages|(?:default_)?hugepagesz"
OVERCOMMIT_KEY = "vm.nr_overcommit_hugepages"

SYSFS = "/sys/kernel/mm/hugepages"
_SIZE = re.compile(r"^hugepages-([0-9]{1,9})kB$")
#: Page sizes of all architectures. Pools of sizes that the kernel does not show yet are possible.
_KILOBYTES = (64, 256, 1024, 2048, 4096, 16384, 32768, 65536, 262144, 524288, 1048576, 16777216)


class PagesOfSize(NamedTuple):
    """The pool of one page size now: its pages, its surplus pages, and their limit."""

    pages: int
    surplus: int
    overcommit: int


class OtherSizes(NamedTuple):
    """Bytes in huge pages of sizes other than the default after a reboot.

    ``pages`` are those of the pools, ``beyond`` are allowed surplus pages. ``unknown`` is the error
    if places were not read: call settled() before the numbers are used as complete."""

    pages: int
    beyond: int
    unknown: Optional[HostproofError]

    def settled(self) -> None:
        known(self.unknown)


class PoolAtBoot(NamedTuple):
    """The pool after a reboot: ``pages`` is 0 and ``place`` None if nothing sets it.

    ``remark`` is a note about the place. The last field are later lines that the kernel rejects.
    ``unknown`` is the error if places were not read: call settled() before the pool is used as
    final."""

    pages: int
    place: Optional[str]
    losers: List[str]
    remark: Optional[str] = None
    unknown: Optional[HostproofError] = None
    refused: Sequence[str] = ()

    def settled(self) -> None:
        """Raise if the pool is uncertain. Call it before the pool is used as final."""
        known(self.unknown)

    def text(self) -> str:
        if self.place is None:
            words = "nothing sets it"
        else:
            words = f"{in_pages(self.pages)} from {self.place}"
            words += f" ({self.remark})" if self.remark else ""
        return words + ("; not used: " + ", ".join(self.losers) if self.losers else "")


def in_pages(count: int) -> str:
    return "{0} page{1}".format(count, "" if count == 1 else "s")


def pool_at_boot(boot: Boot, page_size: int) -> PoolAtBoot:
    """The effective setting at boot, and the overridden ones. ``page_size`` is the default size."""
    rival = sysctl_at_boot(boot, KEY + "_mempolicy").winner
    if rival is not None:
        raise _unreadable(
            rival.place, f"sets {KEY}_mempolicy, which changes the same pool: keep one"
        )
    for by_sysfs in _sysfs_writes(boot, page_size):
        raise _unreadable(by_sysfs.place, "sets the pool in sysfs: set it only in sysctl.d")
    by_sysctl = sysctl_at_boot(boot, KEY, sysfs_files(page_size))
    from_kernel = kernel_cmdline.hugepages(parameters(boot, _POOLS), page_size).get(page_size)
    losers = list(by_sysctl.losers)
    if by_sysctl.winner is None:
        place = None if from_kernel is None else "kernel command line hugepages="
        return PoolAtBoot(
            from_kernel or 0, place, losers, None, by_sysctl.unknown, by_sysctl.refused
        )
    if from_kernel is not None:
        losers.insert(0, f"kernel command line hugepages={from_kernel}")
    value, place = by_sysctl.winner
    return PoolAtBoot(
        int(value), place, losers, by_sysctl.remark, by_sysctl.unknown, by_sysctl.refused
    )


def sysfs_files(page_size: int, name: str = "nr_hugepages") -> List[str]:
    """The files in sysfs that set the pool and its part on a node, without sysctl."""
    name = f"hugepages/hugepages-{page_size // 1024}kB/{name}"
    return ["/sys/kernel/mm/" + name, "/sys/devices/system/node/node0/" + name]


def read_page_sizes(host: Host) -> Dict[int, PagesOfSize]:
    """The pools by page size in bytes."""
    pools = {}
    for name in unless_absent(attempt(host.list_dir, SYSFS), []):
        match = _SIZE.match(name)
        if match is not None:
            folder = f"{SYSFS}/{name}/"
            pools[int(match.group(1)) * 1024] = PagesOfSize(
                host.read_number(folder + "nr_hugepages"),
                host.read_number(folder + "surplus_hugepages"),
                unless_absent(attempt(host.read_number, folder + "nr_overcommit_hugepages"), 0),
            )
    return pools


def other_sizes_at_boot(boot: Boot, page_size: int) -> OtherSizes:
    """The pools of sizes other than the default after a reboot."""
    reserved = kernel_cmdline.hugepages(parameters(boot, _POOLS), page_size)
    sizes = {kilobytes * 1024 for kilobytes in _KILOBYTES}.union(reserved) - {page_size}
    pages = beyond = 0
    for size in sorted(sizes):
        pages += size * _other_size(boot, size, "nr_hugepages", reserved.get(size))
        beyond += size * _other_size(boot, size, "nr_overcommit_hugepages", None)
    return OtherSizes(pages, beyond, unseen(boot))


def _other_size(boot: Boot, size: int, name: str, reserved: Optional[int]) -> int:
    """The value of a file of a page size after a reboot. ``reserved`` is from the kernel command
    line."""
    writes: List[Write] = []
    if reserved is not None:
        writes.append(Write(str(reserved), "kernel command line hugepages="))
    for line in _sysfs_writes(boot, size, name):
        value = None if "/node" in line.file else line.value
        writes.append(Write(value, line.place, line.certain))
    writes.extend(later_writes(boot, sysfs_files(size, name)))
    what = f"{name} of the pages of {human(size)}"
    winner = outcome(writes, what, read_decimal, {}).winner
    return 0 if winner is None else int(winner.value)


def overcommit_at_boot(boot: Boot, page_size: int) -> SysctlAtBoot:
    """The number of surplus pages that is allowed after a reboot."""
    name = OVERCOMMIT_KEY.rpartition(".")[2]
    for line in _sysfs_writes(boot, page_size, name):
        raise _unreadable(line.place, "sets it in sysfs: set it only in sysctl.d")
    return sysctl_at_boot(boot, OVERCOMMIT_KEY, sysfs_files(page_size, name))


class _Line(NamedTuple):
    """A line of tmpfiles.d that writes to ``file``; ``value`` is None if it is unknown."""

    value: Optional[str]
    place: str
    file: str
    certain: bool


def _sysfs_writes(boot: Boot, page_size: int, name: str = "nr_hugepages") -> List[_Line]:
    """Lines of tmpfiles.d that write these files. Their order relative to sysctl.d is unknown."""
    if if_known(boot.tmpfiles_off, ""):
        return []
    entries = [
        entry._replace(target=re.sub("/node(?:[0-9]+|[*])/", "/node0/", entry.target))
        for entry in known(boot.tmpfiles)
        if entry.type[0] in tmpfiles_d.WRITING
    ]
    return [
        _Line(value, f"{entry.path}:{entry.line}", path, certain)
        for path in sysfs_files(page_size, name)
        for entry in tmpfiles_d.writes(entries, path)
        for value, certain in [tmpfiles_d.written(entry)]
    ]


def _unreadable(place: str, problem: str) -> Unanswered:
    return Unanswered("file:" + place.rsplit(":", 1)[0], f"{place} {problem}")
