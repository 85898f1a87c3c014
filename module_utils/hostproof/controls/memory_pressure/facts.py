# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about memory: swap areas, swapped processes, /dev/shm, NUMA nodes."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, Unanswered
from ...parsers.kernel import kernel_cmdline, meminfo, proc_status
from ...parsers.mounts import fstab, mountinfo
from ...probes.kernel import mounts as mount_table
from ...probes.kernel import numa
from ...probes.oracle import next_start, oracle_homes, processes, releases, will_start
from ...probes.oracle.next_start import Database
from . import swap_at_boot
from .parsers import proc_swaps, vmstat
from .policy import Policy

SWAPS = "/proc/swaps"
FSTAB = swap_at_boot.FSTAB
MOUNTS = mount_table.MOUNTINFO
VMSTAT = "/proc/vmstat"
MIN_FREE = "/proc/sys/vm/min_free_kbytes"
SAMPLE = "swapping"
SHM = "/dev/shm"
#: Files of /dev/shm whose sizes are read.
_MOST_FILES = 200
#: Time limit of sqlplus in seconds.
_SQLPLUS_SECONDS = 20.0


class Swapped(NamedTuple):
    """Swapped-out memory of a process in bytes."""

    name: str
    swap: Answer[int]


class Rates(NamedTuple):
    """Pages per second that were read from swap and written to it in the time window."""

    read: float
    written: float


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    ``databases`` are running ones, ``stopped`` other ones in oratab, ``at_boot`` those that
    dbstart starts, ``hidden`` is the error if Clusterware knows more. ``min_free`` is in kB.
    ``swap_sources`` activate swap at boot. ``shm_files`` are bytes in /dev/shm of other programs.
    ``rates`` is None if the time window is disabled.
    """

    meminfo: Answer[Dict[str, int]]
    software: releases.Software
    homes: Answer[List[oracle_homes.OracleHome]]
    swaps: Answer[List[proc_swaps.Area]]
    fstab: Answer[List[fstab.Entry]]
    swap_sources: Answer[List[swap_at_boot.Source]]
    swapped: Answer[List[Swapped]]
    rates: Answer[Optional[Rates]]
    mounts: Answer[List[mountinfo.Mount]]
    shm_files: Answer[int]
    databases: Answer[List[Database]]
    stopped: Answer[List[Database]]
    at_boot: Answer[List[str]]
    hidden: Answer[None]
    min_free: Answer[int]
    nodes: Answer[List[numa.NodeMemory]]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks."""
    lines = attempt(_read_fstab, host)
    cmdline = attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline")))
    swaps = attempt(lambda: proc_swaps.parse(host.read_text(SWAPS)))
    coming = _read_coming(host, policy)
    return Facts(
        meminfo=attempt(lambda: meminfo.parse(host.read_text("/proc/meminfo"))),
        software=releases.read_software(host),
        homes=attempt(oracle_homes.read_homes, host, ()),
        swaps=swaps,
        fstab=lines,
        swap_sources=attempt(
            lambda: swap_at_boot.read(host, known(lines), known(cmdline), known(swaps))
        ),
        swapped=attempt(_read_swapped, host),
        rates=attempt(_read_rates, host, policy.window_seconds),
        mounts=attempt(mount_table.read_all, host),
        shm_files=attempt(_read_shm_files, host),
        databases=coming.running,
        stopped=coming.stopped,
        at_boot=coming.at_boot,
        hidden=coming.hidden,
        min_free=attempt(host.read_number, MIN_FREE),
        nodes=attempt(numa.read_memory, host),
        cmdline=cmdline,
    )


def _read_fstab(host: Host) -> List[fstab.Entry]:
    text: str = unless_absent(attempt(host.read_text, FSTAB, record=fstab.kept), "")
    return fstab.parse(text)


def _read_swapped(host: Host) -> List[Swapped]:
    entries = attempt(processes.read_with_writers, host)
    if isinstance(entries, Unanswered):
        # Recordings of older Hostproof releases have fewer processes.
        entries = processes.read(host)
    return [
        Swapped(entry.name, attempt(_swap_of, host, entry.process.pid)) for entry in known(entries)
    ]


def _swap_of(host: Host, pid: int) -> int:
    path = f"/proc/{pid}/status"
    swap = proc_status.parse(host.read_text(path)).swap
    if swap is None:
        raise Unanswered("file:" + path, "the kernel shows no VmSwap")
    return swap


def _read_rates(host: Host, seconds: float) -> Optional[Rates]:
    if not seconds:
        return None
    sample = host.sample(SAMPLE, [VMSTAT], [], seconds)
    key = "file:" + VMSTAT
    if key in sample.errors:
        raise Unanswered(key, sample.errors[key])
    before, after = vmstat.parse(sample.first[key]), vmstat.parse(sample.second[key])
    names = ("pswpin", "pswpout")
    if (
        not all(name in counters for name in names for counters in (before, after))
        or sample.seconds <= 0
    ):
        raise Unanswered(key, "the kernel does not count what it swaps")
    return Rates(*((after[name] - before[name]) / sample.seconds for name in names))


def _read_shm_files(host: Host) -> int:
    """Bytes of files in /dev/shm that are not of an instance (ora_SID_...), which keep its memory
    there."""
    names = unless_absent(attempt(host.list_dir, SHM), [])
    others = [name for name in names if not name.startswith("ora_")]
    if len(others) > _MOST_FILES:
        raise Unanswered("dir:" + SHM, f"{SHM} has more than {_MOST_FILES} files")
    stats = [unless_absent(attempt(host.stat, f"{SHM}/{name}"), None) for name in others]
    return sum(stat.size for stat in stats if stat is not None)


def _read_coming(host: Host, policy: Policy) -> will_start.WillStart:
    if policy.query_instances:
        return will_start.read(host, next_start.Asking(_SQLPLUS_SECONDS, None))
    off = Absent("policy", "memory_pressure_query_instances is false")
    return will_start.WillStart(off, off, off, off)


def ordinary(facts: Facts) -> int:
    """Bytes of memory without the huge page pool."""
    memory = known(facts.meminfo)
    return int(
        memory["MemTotal"] - memory.get("HugePages_Total", 0) * memory.get("Hugepagesize", 0)
    )
