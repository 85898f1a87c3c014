# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about memory: swap areas, swapped processes, /dev/shm, NUMA nodes."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, Unanswered
from ...parsers.kernel import kernel_cmdline, meminfo, proc_status
from ...parsers.nfs import fstab, mountinfo
from ...probes.kernel import mounts as mount_table
from ...probes.kernel import numa
from ...probes.oracle import instances, next_start, oracle_homes, processes, releases
from ...probes.oracle.instances import Instance
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

    ``databases`` are running ones, ``stopped`` other ones in oratab, ``hidden`` is the
    error if Clusterware knows more. ``min_free`` is in kB.
    ``swap_sources`` activate swap at boot. ``rates`` is None if the time window is disabled.
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
    databases: Answer[List[Database]]
    stopped: Answer[List[Database]]
    hidden: Answer[None]
    min_free: Answer[int]
    nodes: Answer[List[numa.NodeMemory]]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks."""
    lines = attempt(_read_fstab, host)
    cmdline = attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline")))
    swaps = attempt(lambda: proc_swaps.parse(host.read_text(SWAPS)))
    databases = attempt(_read_databases, host, policy)
    stopped = attempt(_read_stopped, host, policy)
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
        databases=databases,
        stopped=stopped,
        hidden=attempt(_check_hidden, host, databases, stopped),
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


def _read_databases(host: Host, policy: Policy) -> List[Database]:
    running, asking = _running(host, policy)
    return [
        next_start.look_at(host, asking, sid, instance) for sid, instance in sorted(running.items())
    ]


def _read_stopped(host: Host, policy: Policy) -> List[Database]:
    running, asking = _running(host, policy)
    stopped = next_start.stopped_of_oratab(host, asking, running)
    return [
        next_start.look_at(host, asking, sid, None, home) for sid, home in sorted(stopped.items())
    ]


def _check_hidden(
    host: Host, databases: Answer[List[Database]], stopped: Answer[List[Database]]
) -> None:
    sids = [database.sid for database in known(databases) + known(stopped)]
    next_start.check_clusterware(host, sids, "list each in oratab")


def _running(host: Host, policy: Policy) -> Tuple[Dict[str, Instance], next_start.Asking]:
    if not policy.query_instances:
        raise Absent("policy", "memory_pressure_query_instances is false")
    running = next_start.running_databases(instances.find_instances(host))
    return running, next_start.Asking(_SQLPLUS_SECONDS, None)


def ordinary(facts: Facts) -> int:
    """Bytes of memory without the huge page pool."""
    memory = known(facts.meminfo)
    return int(
        memory["MemTotal"] - memory.get("HugePages_Total", 0) * memory.get("Hugepagesize", 0)
    )
