# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency of block devices from the kernel's counters, without I/O and without privileges.

The mean time of a request is computed for intervals of a few seconds, as on Exadata cells, and the
result is the median of these means. One slow stream can double the mean of a whole hour. The mean
includes the requests of all processes, but not the time before a request reaches the block layer.
Only one layer of stacked devices is reported, because each layer counts the same I/O.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....collect.host import Host, Sample
from ....collect.measured import Window
from ....errors import Absent, HostproofError, Unanswered
from ....latency.probe_list import IN_TICKS, TICKS
from ....parsers.kernel import kernel_release
from ....parsers.number import integer
from ..parsers import diskstats
from .median import spread

SAMPLE = "diskstats_{0}"
DISKSTATS = "/proc/diskstats"
_BLOCK = "/sys/block"
_OSRELEASE = "/proc/sys/kernel/osrelease"

#: The counters tell whole milliseconds, so that fewer I/Os tell less than 33 microseconds.
FEWEST = 30

#: Layers of stacked devices.
DEVICES, PATHS = "devices", "paths"

#: Reasons for a time in ticks. {0} is the device, {1} the length of a tick.
NO_QUEUE = "the kernel counts the time of {0} " + IN_TICKS + " {1}, for want of a request queue"
OLD_KERNEL = "a Linux before 4.18 counts the time of {0} " + IN_TICKS + " {1}"
#: Maximum number of devices in a remark, because hosts may have hundreds.
_NAMED = 20
#: The first release that may count nanoseconds. Linux 4.18 counted in ticks, but the change of 4.19
#: was backported to its stable releases, and possibly to vendor kernels with this number.
_NANOSECONDS = (4, 18)

_READ = ("read", "reads", "read_ms", "sectors_read")
_WRITE = ("write", "writes", "write_ms", "sectors_written")
_SECTOR = 512
_MEMORY = ("loop", "ram", "zram", "sr", "fd")


class NoSuchDevice(HostproofError):
    """A listed device does not exist, or is part of another listed device."""


class Interval(NamedTuple):
    """The counters of each device in ``seconds``, without devices that were recreated meanwhile."""

    seconds: float
    devices: Dict[str, diskstats.Difference]


# -- which devices --------------------------------------------------------------------------------


def choose(host: Host, layer: str) -> List[str]:
    """The devices that represent the host's storage: ``devices`` or ``paths``.

    ``devices`` are multipath devices and disks that are not a path of one. ``paths`` are only
    disks. Logical volumes, RAID devices, RAM disks and removable media are excluded.
    """
    below = _stacks(host)
    disks = [name for name, parts in below.items() if not parts]
    if layer == PATHS:
        return disks
    multipath = [name for name, parts in below.items() if parts and _is_multipath(host, name)]
    paths = {part for name in multipath for part in below[name]}
    return sorted(multipath + [name for name in disks if name not in paths])


def names_given(host: Host, names: Sequence[str]) -> Dict[str, List[str]]:
    """The kernel's names of devices that the user named (sdb, /dev/mapper/redo), each with those
    names. NoSuchDevice where one is none, or where one is on another."""
    known = diskstats.parse(host.read_text(DISKSTATS))
    below = _stacks(host)
    by_device: Dict[str, List[str]] = {}
    for name in names:
        try:
            real = host.real_path(name if name.startswith("/") else "/dev/" + name)
        except Absent:
            real = name
        kernel_name: Optional[str] = real.split("/")[-1]
        if kernel_name not in known or real not in (kernel_name, "/dev/" + kernel_name):
            # A separate device node, created manually or by the device mapper without udev.
            kernel_name = _by_number(host, real, known)
        if kernel_name is None:
            raise NoSuchDevice(
                "{0} is not a block device of this host; {1} has {2}".format(
                    name, DISKSTATS, ", ".join(sorted(known)[:20])
                )
            )
        by_device.setdefault(kernel_name, []).append(name)
    for device in by_device:
        stands_on = [
            other for other in by_device if other != device and other in _all_below(below, device)
        ]
        if stands_on:
            raise NoSuchDevice(
                f"{device} is on {stands_on[0]}: name one of them, or each I/O counts twice"
            )
    return by_device


def _by_number(host: Host, path: str, known: Dict[str, diskstats.Counters]) -> Optional[str]:
    """The kernel's name of the device that a special file represents; None where it is none."""
    if not path.startswith("/"):
        return None
    try:
        output = host.run(["stat", "-L", "-c", "%t:%T:%F", path])
    except HostproofError:
        return None
    major, _, rest = output.stdout.strip().partition(":")
    minor, _, kind = rest.partition(":")
    if output.rc != 0 or kind != "block special file":
        return None
    try:
        number = (integer(major, 16), integer(minor, 16))
    except ValueError:
        return None
    return next((disk.name for disk in known.values() if (disk.major, disk.minor) == number), None)


def _stacks(host: Host) -> Dict[str, List[str]]:
    """Each device with the disks and devices right below it."""
    names = [name for name in host.list_dir(_BLOCK) if not name.startswith(_MEMORY)]
    stacks: Dict[str, List[str]] = {}
    for name in names:
        try:
            parts = host.list_dir(f"{_BLOCK}/{name}/slaves")
        except Absent:
            parts = []
        stacks[name] = sorted({_disk_of(part, names) for part in parts})
    return stacks


def _disk_of(part: str, names: List[str]) -> str:
    """The disk that a partition is on; the name itself where it is none."""
    if part in names:
        return part
    disks = [name for name in names if part.startswith(name)]
    return max(disks, key=len) if disks else part


def _all_below(stacks: Dict[str, List[str]], name: str) -> List[str]:
    """All that a device is on, however deep; its disk where it is a partition."""
    names: List[str] = []
    left = list(stacks[name]) if name in stacks else [_disk_of(name, list(stacks))]
    while left:
        part = left.pop()
        if part not in names and part != name:
            names.append(part)
            left += stacks.get(part, [])
    return names


def _is_multipath(host: Host, name: str) -> bool:
    try:
        return host.read_text(f"{_BLOCK}/{name}/dm/uuid").startswith("mpath-")
    except Absent:
        return False


# -- how their time is counted --------------------------------------------------------------------


def in_ticks(host: Host, names: Sequence[str]) -> Dict[str, str]:
    """Devices whose time the kernel counts in ticks, with the reason NO_QUEUE or OLD_KERNEL.

    The error of each duration is then up to one tick. If requests are in step with the tick, the
    mean has the same error. Devices are omitted if the host does not report the facts. Sources:
    bdev_end_io_acct() of the kernel (block/blk-core.c), which counts jiffies for devices without a
    request queue (device mapper, md, NVMe multipath). Commit b57e99b4b8b0 of Linux 4.19 introduced
    nanoseconds for other devices. The legacy single queue, removed after 4.20, also has no "mq"
    and is treated as no queue.
    """
    try:
        release = kernel_release.parse(host.read_text(_OSRELEASE))
        if (release.major, release.minor) < _NANOSECONDS:
            return dict.fromkeys(names, OLD_KERNEL)
    except HostproofError:
        pass
    return {name: NO_QUEUE for name in names if _has_queue(host, name) is False}


def _has_queue(host: Host, name: str) -> Optional[bool]:
    """Whether a device, or the disk that it is a partition of, has one; None for unknown."""
    try:
        disks = host.list_dir(_BLOCK)
    except HostproofError:
        return None
    disk = _disk_of(name, disks)
    if disk not in disks:
        return None
    try:
        host.list_dir(f"{_BLOCK}/{disk}/mq")
    except Absent:
        return False
    except HostproofError:
        return None
    return True


def tick_text(tick_us: float) -> str:
    """Microseconds of a tick for people: "4 ms"."""
    return f"{tick_us / 1000.0:.3g} ms"


def tick_remarks(ticks: Dict[str, str], tick_us: float) -> List[str]:
    """What to mind of the devices that in_ticks() names: a sentence for each reason."""
    tick = tick_text(tick_us)
    suffix = f": a mean can be up to {tick} too long or too short"
    remarks = []
    names = [name for name, why in ticks.items() if why == NO_QUEUE]
    if names:
        more = len(names) - _NAMED
        listed = ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        remarks.append(NO_QUEUE.format(listed, tick))
    if OLD_KERNEL in ticks.values():
        remarks.append(OLD_KERNEL.format("every device", tick))
    return [remark + suffix for remark in remarks]


# -- what they did --------------------------------------------------------------------------------


def read_intervals(host: Host, count: int, seconds: float, first: int = 0) -> List[Interval]:
    """Read the counters for ``count`` intervals of ``seconds``; ``first`` numbers the evidence."""
    intervals = []
    for number in range(first, first + count):
        key = SAMPLE.format(number)
        intervals.append(interval_of(key, host.sample(key, [DISKSTATS], [], seconds)))
    return intervals


def interval_of(key: str, sample: Sample) -> Interval:
    """What the devices did between the two readings of a sample of that name."""
    source = "file:" + DISKSTATS
    if source in sample.errors:
        raise Unanswered("sample:" + key, sample.errors[source])
    before, after = [diskstats.parse(reading[source]) for reading in (sample.first, sample.second)]
    devices: Dict[str, diskstats.Difference] = {}
    for name in before:
        moved = diskstats.difference(before[name], after[name]) if name in after else None
        if moved is not None:
            devices[name] = moved
    return Interval(sample.seconds, devices)


def windows(
    names: Sequence[str],
    intervals: Sequence[Interval],
    started: Optional[float],
    ticks: Optional[Dict[str, float]] = None,
    aliases: Optional[Dict[str, List[str]]] = None,
) -> Tuple[List[Window], List[str]]:
    """A window for the reads and one for the writes of each device, and what is unknown.

    ``p50`` is the median of the intervals' means, ``minimum`` and ``maximum`` the least and the
    largest of them, ``mean`` the quotient of all. They are None with too few I/Os. ``ticks`` has
    the tick (microseconds) for devices that are counted in ticks: ``counted_in`` of their windows
    says so, and ``resolution_us`` is that tick. ``aliases`` is what names_given() found: those
    of the user's names that are not the kernel's are the condition ``named``.
    """
    result: List[Window] = []
    remarks: List[str] = []
    for name in names:
        seen = [
            (interval.seconds, interval.devices[name])
            for interval in intervals
            if name in interval.devices
        ]
        if not seen:
            remarks.append(f"{name}: has no counters, or was replaced in that time")
            continue
        if len(seen) < len(intervals):
            remarks.append(
                f"{name}: was replaced in that time, so {len(seen)} of {len(intervals)} intervals "
                "count"
            )
        special: Dict[str, Any] = {}
        if ticks and name in ticks:
            special.update(counted_in=TICKS, resolution_us=ticks[name])
        others = [alias for alias in (aliases or {}).get(name, []) if alias != name]
        if others:
            special["named"] = others
        for direction in (_READ, _WRITE):
            window = _window(name, direction, seen, started, special)
            result.append(window)
            if window.p50 is None:
                remarks.append(
                    f"{name}: too few I/Os to tell ({window.n} {direction[0]}s in "
                    f"{window.seconds or 0.0:.0f} s, and no interval with "
                    f"{FEWEST})"
                )
    return result, remarks


def _window(
    name: str,
    direction: Tuple[str, str, str, str],
    seen: List[Tuple[float, diskstats.Difference]],
    started: Optional[float],
    special: Dict[str, Any],
) -> Window:
    layer, count_of, time_of, sectors_of = direction
    counts = [getattr(moved, count_of) for _, moved in seen]
    times = [getattr(moved, time_of) for _, moved in seen]
    means = sorted(1000.0 * time / count for count, time in zip(counts, times) if count >= FEWEST)
    seconds = sum(length for length, _ in seen)
    of_means = spread(means)
    total = sum(counts)
    sectors = sum(getattr(moved, sectors_of) for _, moved in seen)
    conditions: Dict[str, Any] = {
        "mode": "passive",
        "intervals": len(seen),
        "intervals_told": len(means),
        "interval_s": round(seconds / len(seen), 3),
        "per_second": round(total / seconds, 2),
        "request_bytes": int(sectors * _SECTOR / total) if total else None,
        "queue": round(sum(moved.weighted_ms for _, moved in seen) / 1000.0 / seconds, 3),
        "busy_percent": round(sum(moved.busy_ms for _, moved in seen) / 10.0 / seconds, 1),
        # How exact the mean of the median interval can be.
        "resolution_us": round(1000.0 * len(seen) / total, 1) if total else None,
    }
    return Window(
        probe="disk",
        subject=name,
        layer=layer,
        size=None,
        started=started,
        seconds=seconds,
        n=total,
        minimum=of_means.minimum,
        mean=1000.0 * sum(times) / total if means else None,
        p50=of_means.median,
        p90=None,
        p99=None,
        maximum=of_means.maximum,
        bins=None,
        conditions=dict(conditions, **special),
    )
