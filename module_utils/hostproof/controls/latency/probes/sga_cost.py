# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an SGA costs on this host, measured before Oracle is there: in 4 KiB pages and in huge ones.

A System V segment is made and touched once, as an instance does at its start. Then n processes
attach it at the same time and write one byte to each page, as logins with pre_page_sga do up to
11.2, and keep it until all are done. Told are the time of each and the page tables of all.

It needs a machine: nothing here can be checked from a record. It is not a part of an audit. The
segment is removed as soon as it is attached, so that nothing outlives a kill."""

import ctypes
import errno
import json
import os
import signal
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ....errors import HostproofError
from ....parsers.kernel import meminfo
from ....parsers.size import human

IPC_PRIVATE = 0
IPC_CREAT = 0o1000
IPC_RMID = 0
SHM_HUGETLB = 0o4000
MADV_NOHUGEPAGE = 15

SMALL_PAGE = 4096
#: An entry of a page table.
ENTRY = 8
#: Less than this measures the noise.
LEAST = 32 << 20
MOST_PROCESSES = 256

#: A process that does not report in this time has hung, or the host swaps.
LIMIT_SECONDS = 600


class CannotMeasure(HostproofError):
    """The host cannot be measured as asked; nothing was left on it."""


class Bounds(NamedTuple):
    """The size to measure, and why it is not the size requested."""

    size: int
    huge: bool
    reasons: List[str]


class Row(NamedTuple):
    """One measurement. Seconds are per process, bytes are the sum of all processes.

    ``page_tables`` is the sum of VmPTE of the processes. ``kernel_page_tables`` is the increase of
    PageTables in /proc/meminfo, which includes other processes. ``expected`` is the size with one
    entry per page and process.
    """

    pages: str
    page_size: int
    processes: int
    attach_median: float
    attach_max: float
    page_tables: int
    kernel_page_tables: int
    expected: int


class Cost(NamedTuple):
    """All measurements of one host. ``first_touch`` is seconds by kind of page: the start."""

    requested: int
    size: int
    reasons: List[str]
    first_touch: Dict[str, float]
    rows: List[Row]


def bounds(rows: Dict[str, int], requested: int, processes: int, share: int) -> Bounds:
    """The part of ``requested`` bytes that fits into ``share`` percent of available memory.

    ``rows`` are those of /proc/meminfo. Huge pages are from the existing pool without reserved
    pages. The pool is never enlarged.
    """
    available = rows.get("MemAvailable", rows.get("MemFree", 0)) * share // 100
    # The page tables of all processes must fit too: an entry of 8 bytes for each page.
    room = available * (SMALL_PAGE // ENTRY) // (SMALL_PAGE // ENTRY + processes + 1)
    reasons = []
    size = requested
    if room < size:
        size = room
        reasons.append(
            f"{share} percent of the available memory hold {human(room)} and the page tables of "
            f"{processes} processes"
        )
    pool = meminfo.pool(rows)
    free = max(pool.unpromised, 0) * pool.page_size
    huge = free >= min(size, LEAST) and free > 0
    if not huge:
        reasons.append(
            f"{max(pool.unpromised, 0)} huge pages are free: only 4 KiB pages are measured"
        )
    elif free < size:
        size = free
        reasons.append(f"{pool.unpromised} huge pages ({human(free)}) are free")
    # Both kinds are measured at the same size, which both can have.
    size -= size % pool.page_size
    if size < min(LEAST, requested):
        raise CannotMeasure(
            "{0} cannot be measured here: {1}".format(human(requested), "; ".join(reasons))
        )
    return Bounds(size, huge, reasons)


def steps(processes: int) -> List[int]:
    """1, 2, 4 … up to the number of processes."""
    counts = []
    count = 1
    while count < processes:
        counts.append(count)
        count *= 2
    return counts + [processes]


def measure(requested: int, processes: int, share: int) -> Cost:
    """Measure this machine; CannotMeasure says why not."""
    rows = _meminfo()
    bound = bounds(rows, requested, processes, share)
    kinds = [("4 KiB", SMALL_PAGE)]
    if bound.huge:
        kinds.append(("huge", meminfo.pool(rows).page_size))
    results: List[Row] = []
    first: Dict[str, float] = {}
    for pages, page_size in kinds:
        segment = Segment(bound.size, pages == "huge")
        try:
            first[pages] = segment.touch(page_size)
            for count in steps(processes):
                results.append(_measure_step(segment, pages, page_size, count))
        finally:
            segment.detach()
    return Cost(requested, bound.size, bound.reasons, first, results)


def _meminfo() -> Dict[str, int]:
    with open("/proc/meminfo") as stream:
        return meminfo.parse(stream.read())


class Segment:
    """A System V segment that this process has attached, and that ends with its last process."""

    def __init__(self, size: int, huge: bool) -> None:
        self.size = size
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
        self._libc.shmat.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        self._libc.shmat.restype = ctypes.c_void_p
        self._libc.shmdt.argtypes = (ctypes.c_void_p,)
        self._libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        flags = IPC_CREAT | 0o600 | (SHM_HUGETLB if huge else 0)
        self._id = self._libc.shmget(IPC_PRIVATE, size, flags)
        if self._id < 0:
            raise self._failed("make a segment of " + human(size), huge)
        try:
            self._address = self._attach(huge)
        finally:
            # It lives on while it is attached, and others may still attach it (shmctl(2), Linux).
            self._libc.shmctl(self._id, IPC_RMID, None)
        self._huge = huge

    def _attach(self, huge: bool) -> int:
        address = self._libc.shmat(self._id, None, 0)
        if address == ctypes.c_void_p(-1).value:
            raise self._failed("attach the segment", huge)
        if not huge:
            # Transparent huge pages of shared memory would measure something else.
            self._libc.madvise(address, self.size, MADV_NOHUGEPAGE)
        return int(address)

    def _failed(self, action: str, huge: bool) -> CannotMeasure:
        number = ctypes.get_errno()
        hint = ""
        if number == errno.EPERM and huge:
            hint = " (root or the group of vm.hugetlb_shm_group may)"
        elif number in (errno.EINVAL, errno.ENOSPC):
            hint = " (kernel.shmmax or kernel.shmall is lower)"
        return CannotMeasure(f"could not {action}: {os.strerror(number)}{hint}")

    def attach_and_touch(self, page_size: int) -> float:
        """Attach it once more and write to each page: the seconds that took."""
        began = time.monotonic()
        self._address = self._attach(self._huge)
        self.touch(page_size)
        return time.monotonic() - began

    def touch(self, page_size: int) -> float:
        """Write one byte to each page, without a step of Python for each: the seconds it took."""
        began = time.monotonic()
        memory = (ctypes.c_ubyte * self.size).from_address(self._address)
        view = memoryview(memory).cast("B")
        view[::page_size] = b"\1" * -(-self.size // page_size)
        view.release()
        return time.monotonic() - began

    def detach(self) -> None:
        self._libc.shmdt(self._address)


# -- n processes ----------------------------------------------------------------------------------


def _measure_step(segment: Segment, pages: str, page_size: int, count: int) -> Row:
    """``count`` processes that attach at the same time and keep what they have until all do."""
    go, done = os.pipe(), os.pipe()
    children: List[Tuple[int, int]] = []
    try:
        for _number in range(count):
            children.append(_start_child(segment, page_size, go, done))
        os.close(go[0])
        started = _meminfo()["PageTables"]
        os.write(go[1], b"g" * count)
        reports = [_report_of(read) for _pid, read in children]
        grown = _meminfo()["PageTables"] - started
    except BaseException:
        for pid, _read in children:
            _kill(pid)
        raise
    finally:
        for descriptor in (go[0], go[1], done[0], done[1]):
            _close(descriptor)
        for pid, read in children:
            os.waitpid(pid, 0)
            _close(read)
    seconds = sorted(report["seconds"] for report in reports)
    return Row(
        pages=pages,
        page_size=page_size,
        processes=count,
        attach_median=seconds[len(seconds) // 2],
        attach_max=seconds[-1],
        page_tables=sum(report["page_tables"] for report in reports),
        kernel_page_tables=grown,
        expected=count * ENTRY * -(-segment.size // page_size),
    )


def _start_child(
    segment: Segment, page_size: int, go: Tuple[int, int], done: Tuple[int, int]
) -> Tuple[int, int]:
    """A process that waits for the word, and the descriptor that its report comes from."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return pid, read
    code = 1
    try:
        os.close(go[1])
        os.close(done[1])
        os.close(read)
        os.read(go[0], 1)
        before = _page_tables()
        seconds = segment.attach_and_touch(page_size)
        report = {"seconds": seconds, "page_tables": _page_tables() - before}
        os.write(write, json.dumps(report).encode("ascii"))
        os.close(write)
        # Until the parent has seen all of them, and also if it has ended.
        os.read(done[0], 1)
        code = 0
    finally:
        os._exit(code)


def _page_tables() -> int:
    """Bytes of this process's own page tables."""
    with open("/proc/self/status") as stream:
        for line in stream:
            if line.startswith("VmPTE:"):
                return int(line.split()[1]) * 1024
    raise CannotMeasure("the kernel does not tell the page tables of a process (VmPTE)")


def _report_of(read: int) -> Dict[str, Any]:
    signal.alarm(LIMIT_SECONDS)
    try:
        text = b"".join(iter(lambda: os.read(read, 4096), b""))
    finally:
        signal.alarm(0)
    if not text:
        raise CannotMeasure("a process ended before it had touched all pages (out of memory?)")
    return dict(json.loads(text.decode("ascii")))


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        pass


# -- telling it -----------------------------------------------------------------------------------


def ratios(cost: Cost) -> Optional[Dict[str, float]]:
    """The cost of 4 KiB pages relative to huge pages, with the largest number of processes."""
    last = {row.pages: row for row in cost.rows}
    if "huge" not in last:
        return None
    small, huge = last["4 KiB"], last["huge"]
    return {
        "attach": small.attach_median / max(huge.attach_median, 1e-6),
        # A small segment's entries can be in a table that the process has already.
        "page_tables": small.page_tables / float(max(huge.page_tables, huge.expected)),
    }


def table(cost: Cost) -> List[str]:
    """The measurements for people, with what the size requested would take."""
    lines = [
        "Measured on this host with a segment of {0}{1}".format(
            human(cost.size),
            "" if cost.size == cost.requested else f" ({human(cost.requested)} requested)",
        )
    ]
    lines += ["  " + reason for reason in cost.reasons]
    lines.append(
        "{0:<6} {1:>9} {2:>12} {3:>12} {4:>13} {5:>13} {6:>8}".format(
            "pages", "processes", "attach (s)", "slowest (s)", "page tables", "expected", "diff"
        )
    )
    for row in cost.rows:
        lines.append(
            f"{row.pages:<6} {row.processes:>9} {row.attach_median:>12.4f} "
            f"{row.attach_max:>12.4f} {human(row.page_tables):>13} {human(row.expected):>13} "
            f"{_difference(row):>8}"
        )
    factors = ratios(cost)
    if factors is not None:
        lines.append(
            "4 KiB against huge: {0:.0f} times the time to attach, {1:.0f} times the page "
            "tables".format(factors["attach"], factors["page_tables"])
        )
    if cost.size != cost.requested:
        lines.append(_scaled(cost))
    return lines


def _difference(row: Row) -> str:
    """Only 4 KiB pages fill whole tables: a huge page's entry comes in a table of 4 KiB."""
    if row.page_size != SMALL_PAGE:
        return "-"
    return f"{100.0 * (row.page_tables - row.expected) / row.expected:+.1f} %"


def _scaled(cost: Cost) -> str:
    last = [row for row in cost.rows if row.pages == "4 KiB"][-1]
    factor = cost.requested / float(cost.size)
    return (
        f"Scaled to {human(cost.requested)}, not measured: {last.attach_median * factor:.1f} s to "
        f"attach and {human(int(last.page_tables * factor))} of page tables for {last.processes} "
        "processes in 4 KiB pages"
    )
