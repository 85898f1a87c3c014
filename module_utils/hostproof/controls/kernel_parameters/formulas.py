# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that depend on the host: each formula gives the number and says how it came to it.

Sources: Oracle Database Installation Guide for Linux, Minimum Parameter Settings for Installation;
My Oracle Support 567506.1 (shmmax), 301830.1 (shmall), 2041723.1 (min_free_kbytes); Linux,
fs/file_table.c files_maxfiles_init() and mm/page_alloc.c calculate_min_free_kbytes().
"""

from typing import Callable, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, known
from ...evaluate.comparing import Numbers
from ...parsers.size import human

#: The largest number of files that the kernel takes: what systemd raises fs.file-max to.
LONG_MAX = (1 << 63) - 1
#: The largest segment of the releases whose book names one: 4 GiB less a byte.
_SEGMENT_11 = (1 << 32) - 1
_REQUESTS = 1048576
#: What kernels start kernel.pid_max with on hosts of at most 32 processors.
_TASKS = 32768
#: Pages of kernel.shmall in the book of 11.2.
_PAGES_11 = 2097152


class Figures(NamedTuple):
    """What the formulas take. Bytes but for ``nodes``, the NUMA nodes; ``sga`` is that of all
    instances, ``huge`` what is in the pool of huge pages, ``segment`` what kernel.shmmax is now,
    ``files`` what fs.file-max is now. ``stopped`` are databases that are down, whose SGA counts;
    ``semaphores`` is the number that all instances need, and that of their sets; ``requests`` are
    the AIO requests that are reserved now, with those of databases that are down; ``tasks`` are the
    processes and threads, with those of databases that are down."""

    memory: Answer[int]
    huge: Answer[int]
    page: Answer[int]
    sga: Answer[int]
    largest: Answer[int]
    nodes: Answer[int]
    segment: Answer[int]
    files: Optional[int]
    stopped: Tuple[str, ...] = ()
    semaphores: Tuple[int, int] = (0, 0)
    requests: int = 0
    tasks: int = 0

    def with_stopped(self) -> str:
        """The names of databases that are down, whose SGAs count too."""
        return f" (with {', '.join(self.stopped)}, now down)" if self.stopped else ""


class Amount(NamedTuple):
    value: Numbers
    how: str


Formula = Callable[[Figures], Amount]


def semaphores(figures: Figures) -> Amount:
    """kernel.sem: the book's numbers, or one semaphore for each process of all instances."""
    total, sets = figures.semaphores
    value = (250, max(32000, total), 100, max(128, sets))
    how = f"the instances{figures.with_stopped()} need {total} semaphores in {sets} sets"
    return Amount(value, how if value[1] > 32000 or value[3] > 128 else "")


def requests(figures: Figures) -> Amount:
    """fs.aio-max-nr: the book's number, or what is reserved with databases that are down."""
    if figures.requests <= _REQUESTS:
        return Amount((_REQUESTS,), "")
    how = f"the instances{figures.with_stopped()} reserve {figures.requests} requests"
    return Amount((figures.requests,), how)


def process_numbers(figures: Figures) -> Amount:
    """kernel.pid_max: the kernel's own least number, or what databases that are down add."""
    if figures.tasks <= _TASKS:
        return Amount((_TASKS,), "")
    how = f"the host{figures.with_stopped()} has {figures.tasks} processes and threads"
    return Amount((figures.tasks,), how)


def half_of_memory(figures: Figures) -> Amount:
    """kernel.shmmax since 12.1: half of memory, or the largest SGA if that is more. It limits one
    segment, not their sum."""
    memory, sga = known(figures.memory), known(figures.largest)
    if sga > memory // 2:
        how = f"the largest SGA{figures.with_stopped()} is {human(sga)}, more than half of memory"
        return Amount((sga,), how)
    return Amount((memory // 2,), f"half of {human(memory)} memory is {memory // 2} bytes")


def half_of_memory_11(figures: Figures) -> Amount:
    """kernel.shmmax up to 11.2: the same, at most 4 GiB less a byte."""
    amount = half_of_memory(figures)
    if amount.value[0] <= _SEGMENT_11:
        return amount
    return Amount((_SEGMENT_11,), f"{amount.how}, of which {_SEGMENT_11} are enough")


def pages_11(figures: Figures) -> Amount:
    """kernel.shmall up to 11.2: the book's 2097152 pages, or all SGAs if they are more."""
    page, sga = known(figures.page), known(figures.sga)
    pages = -(-sga // page)
    if pages <= _PAGES_11:
        return Amount((_PAGES_11,), "")
    what = "all SGAs together" + figures.with_stopped()
    return Amount((pages,), f"{what}, {sga} bytes, are {pages} pages of {page} bytes")


def pages_of_memory(figures: Figures) -> Amount:
    """kernel.shmall since 12.1: 40% of memory in pages, or all SGAs if they are more."""
    memory, page, sga = known(figures.memory), known(figures.page), known(figures.sga)
    share = memory * 2 // 5
    size, what = (share, f"40% of {human(memory)} memory")
    if sga > share:
        size, what = sga, "all SGAs together" + figures.with_stopped()
    pages = -(-size // page)
    return Amount((pages,), f"{what}, {size} bytes, are {pages} pages of {page} bytes")


def pages_of_largest(figures: Figures) -> Amount:
    """kernel.shmall since 23ai: kernel.shmmax in pages, as it is set or as it is required."""
    amount, page = half_of_memory(figures), known(figures.page)
    size, how, now = amount.value[0], amount.how, known(figures.segment)
    if now > size:
        size, how = now, f"kernel.shmmax is {now} bytes"
    if figures.stopped and known(figures.sga) > size:
        size = known(figures.sga)
        how = f"all SGAs together{figures.with_stopped()} are {size} bytes"
    pages = -(-size // page)
    return Amount((pages,), f"{how}, which are {pages} pages of {page} bytes")


def free_for_receives(figures: Figures) -> Amount:
    """vm.min_free_kbytes: 0.4% of memory for each NUMA node, of what is no huge page.

    More than 5% of that would make the kernel reclaim at once."""
    memory = known(figures.memory) - known(figures.huge)
    nodes = known(figures.nodes)
    size, most = memory * 4 // 1000 * nodes, memory // 20
    how = f"0.4% of {human(memory)} without huge pages, for each of {nodes} NUMA nodes"
    if size > most:
        return Amount((most // 1024,), f"{how}, but no more than 5% of it")
    return Amount((size // 1024,), f"{how}, is {size // 1024} kB")


# -- what a kernel sets by itself -----------------------------------------------------------------


def files_by_kernel(figures: Figures) -> Amount:
    """fs.file-max: a tenth of memory in kB, a little less for what the kernel has taken already."""
    if figures.files == LONG_MAX:
        return Amount((LONG_MAX,), "systemd raises it to its maximum at every reboot")
    files = known(figures.memory) // 1024 // 11
    return Amount((files,), "the kernel makes about a tenth of memory in kB of it")


def free_by_kernel(figures: Figures) -> Amount:
    """vm.min_free_kbytes: four times the root of memory in kB, 64 MiB at most on older kernels."""
    kilobytes = known(figures.memory) // 1024
    return Amount((min(int((kilobytes * 16) ** 0.5), 65536),), "the kernel reckons it by memory")
