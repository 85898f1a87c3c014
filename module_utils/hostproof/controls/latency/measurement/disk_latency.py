# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency of direct reads from a disk, and the kernel's counters at the same time.

``user`` is the time that this process waited. ``device`` is the mean of all requests of the device
in the block layer. ``host`` is the difference of the means: the time that this host added. A slow
``user`` with a fast ``device`` is not a storage problem.
"""

import mmap
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ....collect.host import LiveHost
from ....collect.measured import Window, window_from_samples
from ....errors import ParseError
from ....parsers.number import clipped
from ..parsers import diskstats
from ..probes import direct_file
from ..probes.direct_file import CannotRead, DirectFile
from . import conditions, disk_counters, pacing
from . import fio_reads as fio
from .disk_counters import DISKSTATS, FEWEST, TICKS

#: Queue attributes of a disk, and of the disk of a partition.
_QUEUES = ("/sys/dev/block/{0}:{1}/queue/{2}", "/sys/dev/block/{0}:{1}/../queue/{2}")

#: A read can start on time only if the previous read has ended.
_READS_PER_INTERVAL = 2
#: Trial reads before the measurement, to estimate the duration of a read.
_TRIALS = 9

#: If the device has more requests than ours by this share, other processes affect its mean.
_FOREIGN = 0.02
#: If the device has fewer requests than reads by this share, a cache answered.
_CACHED = 0.1


class NoTime(CannotRead):
    """The deadline came before the first read."""


class Pace(NamedTuple):
    """The number of reads and how often. ``interval`` (seconds) 0 is back to back.

    Nothing begins after ``deadline`` (time.monotonic()).
    """

    reads: int
    interval: float
    deadline: float


class Measured(NamedTuple):
    """The windows of one series of reads; ``remarks`` are sentences about what is missing."""

    windows: List[Window]
    remarks: List[str]


class Counted(NamedTuple):
    """The counters of the device during the reads. Durations are in microseconds."""

    requests: int
    mean: float


def one_at_a_time(
    file: DirectFile,
    size: int,
    pace: Pace,
    seed: int,
    cpu: Optional[int] = None,
    clock: Callable[[], int] = pacing.now_ns,
) -> Measured:
    """Read ``size`` bytes at places that ``seed`` chooses, each timed from when it was to begin.

    The interval is stretched where a read takes more than half of it: reads would wait for each
    other, and the figures would be those of a queue that the probe makes itself.
    """
    places = direct_file.offsets(file, size, pace.reads, seed)
    read = direct_file.reader(file, size)
    samples: List[int] = []
    remarks: List[str] = []
    with pacing.steady(cpu):
        interval = pace.interval
        if interval:
            typical = _typical(file, read, size, seed, pace, clock)
            interval = _stretched(interval, typical)
            if interval > pace.interval:
                remarks.append(
                    f"{file.path}: a read of {size} bytes takes {typical * 1e3:.1f} ms, so one "
                    f"began every {interval * 1e3:g} ms instead of every {pace.interval * 1e3:g} "
                    "ms"
                )
        schedule = pacing.Schedule(interval, clock)
        before, started, began = conditions.start(), time.time(), time.monotonic()
        counters = _counters(file)
        last = clock() + int((pace.deadline - began) * 1e9)
        for offset in places:
            begin = schedule.wait()
            if begin >= last:
                break
            got = _read(file, read, size, offset)
            samples.append(clock() - begin)
            _check_whole(file, got, size, offset)
        seconds = time.monotonic() - began
        counted = _difference(counters, _counters(file))
    if not samples:
        raise NoTime(f"{file.path}: there was no time for one read")
    context = conditions.since(before, cpu)
    context.update(mode="active", interval_us=int(interval * 1e6), queue_depth=1, seed=seed)
    user = window_from_samples(
        _probe(file), file.path, "user", size, started, seconds, samples, context
    )
    if len(samples) < pace.reads:
        remarks.append(
            f"{file.path}: the time that was given allowed {len(samples)} of {pace.reads} reads"
        )
    return _with_device(file, user, counted, _ticks(counters), remarks)


def _read(file: DirectFile, read: Callable[[int], int], size: int, offset: int) -> int:
    try:
        return read(offset)
    except OSError as problem:
        raise CannotRead(
            f"{file.path}: reading {size} bytes at {offset}: {problem.strerror}"
        ) from problem


def _check_whole(file: DirectFile, got: int, size: int, offset: int) -> None:
    if got != size:
        raise CannotRead(f"{file.path}: {got} of {size} bytes came at {offset}; is it shorter now?")


def _typical(
    file: DirectFile,
    read: Callable[[int], int],
    size: int,
    seed: int,
    pace: Pace,
    clock: Callable[[], int],
) -> float:
    """Seconds that a read takes: the median of a few, at other places than those that count."""
    took: List[int] = []
    for offset in direct_file.offsets(file, size, min(_TRIALS, pace.reads), seed + 1):
        if took and time.monotonic() >= pace.deadline:
            break
        begin = clock()
        got = _read(file, read, size, offset)
        took.append(clock() - begin)
        _check_whole(file, got, size, offset)
    return sorted(took)[len(took) // 2] / 1e9


def _stretched(interval: float, typical: float) -> float:
    """The interval, doubled until there is room for a read.

    Doubled and no less, so that windows of one disk have the same although no two reads do.
    """
    while interval < _READS_PER_INTERVAL * typical:
        interval *= 2
    return interval


def many_at_a_time(
    run: fio.Run, file: DirectFile, size: int, depth: int, pace: Pace, seed: int
) -> Measured:
    """Read with ``depth`` reads under way, by fio, as fast as they are answered."""
    seconds = int(pace.deadline - time.monotonic())
    if seconds < 1:
        raise NoTime(f"{file.path}: there was no time for fio")
    before, started = conditions.start(), time.time()
    counters = _counters(file)
    job = fio.read(run, file, size, depth, pace.reads, seconds, seed)
    counted = _difference(counters, _counters(file))
    context = conditions.since(before)
    context.update(mode="active", interval_us=0, queue_depth=depth, seed=seed, tool=job.version)
    user = window_from_samples(
        _probe(file),
        # Another depth is another figure.
        f"{file.path} (depth {depth})",
        "user",
        size,
        started,
        job.runtime_ms / 1000.0,
        fio.samples(job),
        context,
    )
    return _with_device(file, user, counted, _ticks(counters), [])


def _probe(file: DirectFile) -> str:
    return "nfs" if (file.fstype or "").startswith("nfs") else "disk"


def _with_device(
    file: DirectFile,
    user: Window,
    counted: Optional[Counted],
    ticks: Dict[str, str],
    remarks: List[str],
) -> Measured:
    """The window of the process, those of the device and of the host, and what they lack.

    ``cached`` is a condition of what a cache answered, and of nothing else.
    ``ticks`` is what disk_counters.in_ticks() says of the device.
    """
    windows = [user]
    size = user.size or 0
    if counted is None:
        remarks.append(
            f"{file.path}: is on no block device of this host, so there is no figure of the device"
        )
        return Measured(windows, remarks)
    pieces = _pieces(file, size, counted.requests / float(user.n))
    expected = user.n * pieces
    user.conditions.update(requests=counted.requests, requests_expected=expected)
    if counted.requests < (1 - _CACHED) * user.n:
        user.conditions["cached"] = True
        remarks.append(
            f"{file.path}: of {user.n} reads only {counted.requests} reached the device: a cache "
            "answered the others, and the figures are not the disk's"
        )
        return Measured(windows, remarks)
    if counted.requests < FEWEST:
        remarks.append(f"{file.path}: too few I/Os for a figure of the device")
        return Measured(windows, remarks)
    # The counter is whole milliseconds, so that their sum is off by less than one.
    resolution = 1000.0 / counted.requests
    kernel: Dict[str, Any] = {"resolution_us": round(resolution, 1)}
    if ticks:
        tick = conditions.tick_us()
        kernel = {"counted_in": TICKS, "resolution_us": tick}
        remarks += [_tick_remark(file, ticks, disk_counters.tick_text(tick))]
    windows.append(_mean_only(user, "device", counted.requests, counted.mean, kernel))
    why = _why_no_gap(file, user, counted, pieces, None if ticks else resolution)
    if why is not None:
        remarks.append(why)
    elif not ticks and user.mean is not None:
        gap = max(0.0, user.mean - counted.mean)
        windows.append(_mean_only(user, "host", user.n, gap, kernel))
    return Measured(windows, remarks)


def _why_no_gap(
    file: DirectFile, user: Window, counted: Counted, pieces: int, resolution: Optional[float]
) -> Optional[str]:
    """Why what the host adds is unknown; None where it can, or where a tick is too coarse."""
    size, expected = user.size or 0, user.n * pieces
    if counted.requests > (1 + _FOREIGN) * expected:
        return (
            f"{file.path}: {counted.requests - expected} of the device's {counted.requests} reads "
            "were not ours, so its mean is not part of ours"
        )
    if pieces > 1:
        return (
            f"{file.path}: the kernel makes {pieces} requests of each read of {size} bytes, and "
            "its mean is of a request, so the host's part is not told"
        )
    if resolution is None or user.mean is None:
        return None
    if counted.mean - user.mean > resolution:
        return (
            f"{file.path}: the device's mean is longer than that of our reads, so slow ones of "
            "others are in it, and the host's part is not told"
        )
    return None


def _tick_remark(file: DirectFile, ticks: Dict[str, str], tick: str) -> str:
    ((name, why),) = ticks.items()
    return (
        f"{file.path}: {why.format(name, tick)}: the device's mean can be up to {tick} too long "
        "or too short, and the host's part is not told"
    )


def _ticks(counters: Optional[diskstats.Counters]) -> Dict[str, str]:
    """What disk_counters.in_ticks() says of the device of these counters."""
    return {} if counters is None else disk_counters.in_ticks(LiveHost(), [counters.name])


def _mean_only(user: Window, layer: str, count: int, mean: float, kernel: Dict[str, Any]) -> Window:
    """A window of which the kernel shows the mean and nothing else."""
    return user._replace(
        layer=layer,
        n=count,
        minimum=None,
        mean=mean,
        p50=None,
        p90=None,
        p99=None,
        maximum=None,
        bins=None,
        conditions=dict(user.conditions, **kernel),
    )


def _counters(file: DirectFile) -> Optional[diskstats.Counters]:
    """The counters of the device below a file; None where it has none."""
    if file.device is None:
        return None
    try:
        with open(DISKSTATS) as stream:
            devices = diskstats.parse(stream.read())
    except (OSError, ParseError):
        return None
    return next(
        (device for device in devices.values() if (device.major, device.minor) == file.device), None
    )


def _difference(
    before: Optional[diskstats.Counters], after: Optional[diskstats.Counters]
) -> Optional[Counted]:
    if before is None or after is None:
        return None
    moved = diskstats.difference(before, after)
    if moved is None:
        return None
    return Counted(moved.reads, 1000.0 * moved.read_ms / moved.reads if moved.reads else 0.0)


def _pieces(file: DirectFile, size: int, counted: float = 0.0) -> int:
    """The number of requests into which the kernel splits one read, if its counters agree.

    A request has a maximum size and a maximum number of memory segments. Contiguous pages are one
    segment, but the kernel does not report which pages are contiguous, so the counters decide.
    """
    if file.device is None:
        raise AssertionError
    by_size = _queue_limit(file.device, "max_sectors_kb", 1024)
    by_memory = _queue_limit(file.device, "max_segments", mmap.PAGESIZE)
    fewest = -(-size // by_size) if by_size else 1
    most = max(fewest, -(-size // by_memory) if by_memory else 1)
    return fewest if counted <= (1 + _FOREIGN) * fewest else most


def _queue_limit(device: Tuple[int, int], name: str, unit: int) -> int:
    """A limit of a request in bytes; 0 where the kernel does not tell."""
    for path in _QUEUES:
        try:
            with open(path.format(device[0], device[1], name)) as stream:
                text = stream.read().strip()
        except OSError:
            continue
        if text.isdecimal() and clipped(text):
            return clipped(text) * unit
    return 0
