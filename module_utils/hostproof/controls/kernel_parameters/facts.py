# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its kernel parameters: their values, what sets them, what is used up."""

import re
from typing import Dict, Iterable, List, NamedTuple, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, ParseError
from ...evaluate import profiles
from ...evaluate.comparing import numbers
from ...parsers.kernel import kernel_release, meminfo, sysvipc_shm
from ...parsers.nfs.nfs_options import AIX, LINUX
from ...parsers.number import integer
from ...parsers.systemd import sysctl_d
from ...parsers.unix import ioo
from ...probes.kernel import numa, page_size
from ...probes.nfs import nfs_files, nfs_mounted
from ...probes.oracle import (
    clusterware,
    instances,
    next_start,
    oracle_homes,
    releases,
    will_start,
)
from ...probes.systemd import boot as boot_probe
from ...probes.unix import aix_said
from .formulas import Figures
from .parameter_table import ROWS
from .parsers import sysvipc_sem
from .policy import Policy

#: Where Direct NFS is told its servers, for all homes of a host.
ORANFSTAB = "/etc/oranfstab"
#: Where it is told those of one home.
OF_HOME = "/dbs/oranfstab"
RELEASE_FILE = "/proc/sys/kernel/osrelease"
_NAMESPACE = "/proc/{0}/ns/ipc"
SEMAPHORES = "/proc/sysvipc/sem"
LOADAVG = "/proc/loadavg"
AIO_USED = "/proc/sys/fs/aio-nr"
FILES_USED = "/proc/sys/fs/file-nr"
#: Where saptune keeps a file for each parameter that it has set: since 3.1, and before.
SAPTUNE = ("/run/saptune/parameter", "/var/lib/saptune/parameter")
#: On AIX: the tunables now, with restricted ones (-F), and after a reboot (-r).
NO, NO_AT_BOOT = ["no", "-F", "-a"], ["no", "-r", "-a"]
#: Time limit of sqlplus in seconds.
_SQLPLUS_SECONDS = 20.0
#: 1 where a crash kernel is loaded, which a panic starts.
CRASH_KERNEL = "/sys/kernel/kexec_crash_loaded"
#: Requests that a process of an instance reserves at least (ORA-27090 prints 128).
_REQUESTS = 128
#: Semaphores in a set, and those of an instance beyond its processes.
_IN_SET, _MORE = 250, 10
IFCONFIG = ["ifconfig", "-a"]


class Aix(NamedTuple):
    """The network of an AIX host. ``interfaces``: the options of each that override tunables.

    ``has_oracle`` is whether oratab or the inventory has a home."""

    now: Answer[Dict[str, str]]
    at_boot: Answer[Dict[str, str]]
    interfaces: Answer[Dict[str, Dict[str, str]]]
    has_oracle: Answer[bool]


class Facts(NamedTuple):
    """The state of the host. Every Answer may contain the error that replaces it.

    ``running`` are the texts of files by their paths below /proc/sys. ``cluster`` is whether it is
    a node of a cluster, ``interconnect`` its interfaces or those of the policy. ``saptune`` maps
    the parameters that it has set to the directory that proves it. ``apart`` are instances that run
    in a separate IPC namespace, where semaphores and shared memory have other limits. ``stopped``
    is what databases take that are down. ``crash_kernel`` is whether one is loaded. ``direct_nfs``
    is whether the host or a home has an oranfstab. ``tasks`` is the number of all processes and
    threads."""

    meminfo: Answer[Dict[str, int]]
    kernel: Answer[kernel_release.Release]
    figures: Figures
    boot: boot_probe.Boot
    running: Dict[str, Answer[str]]
    software: releases.Software
    cluster: Answer[bool]
    direct_nfs: Answer[bool]
    interconnect: Answer[Tuple[str, ...]]
    segments: Answer[List[sysvipc_shm.ShmSegment]]
    semaphores: Answer[List[sysvipc_sem.SemaphoreSet]]
    stopped: will_start.Sizes
    crash_kernel: Answer[bool]
    aio_used: Answer[int]
    files_used: Answer[str]
    tasks: Answer[int]
    saptune: Dict[str, str]
    apart: Answer[List[str]]
    file: Answer[str]
    aix: Answer[Aix]


def filter_key(interface: str) -> str:
    """The path below /proc/sys of an interface's reverse path filter; "all" and "default" too."""
    return f"net/ipv4/conf/{interface}/rp_filter"


def proc_file(key: str) -> str:
    return boot_probe.PROC_SYS + key


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written."""
    memory = attempt(lambda: meminfo.parse(host.read_text("/proc/meminfo")))
    interconnect = attempt(_read_interconnect, host, policy)
    segments = attempt(instances.read_segments, host)
    running = _read_running(host, policy, if_known(interconnect, ()))
    software = releases.read_software(host)
    semaphores = attempt(lambda: sysvipc_sem.parse(host.read_text(SEMAPHORES)))
    stopped = _read_stopped(host, policy, memory)
    aio_used = attempt(host.read_number, AIO_USED)
    tasks = attempt(_count_tasks, host)
    figures = _figures(host, policy, memory, segments, semaphores, running, stopped)
    return Facts(
        meminfo=memory,
        kernel=attempt(lambda: kernel_release.parse(host.read_text(RELEASE_FILE).strip())),
        figures=figures._replace(
            requests=if_known(aio_used, 0) + sum(stopped.processes) * _REQUESTS,
            tasks=if_known(tasks, 0) + sum(stopped.processes),
        ),
        boot=boot_probe.read_boot(host),
        running=running,
        software=software,
        cluster=attempt(clusterware.may_be_node, host, profiles.announces_node(policy.profile)),
        direct_nfs=attempt(_has_oranfstab, host, software),
        interconnect=interconnect,
        segments=segments,
        semaphores=semaphores,
        stopped=stopped,
        crash_kernel=attempt(_has_crash_kernel, host),
        aio_used=aio_used,
        files_used=attempt(host.read_text, FILES_USED),
        tasks=tasks,
        saptune=_read_saptune(host),
        apart=attempt(_read_apart, host, software),
        file=attempt(host.read_text, policy.sysctl_file),
        aix=attempt(_read_aix, host, memory),
    )


def _read_aix(host: Host, memory: Answer[Dict[str, int]]) -> Aix:
    system = LINUX if isinstance(memory, dict) else nfs_mounted.read_system(host)
    if system != AIX:
        raise Absent("", f"Not an AIX host ({system})")
    return Aix(
        now=attempt(aix_said.tunables, host, NO),
        at_boot=attempt(aix_said.tunables, host, NO_AT_BOOT),
        interfaces=attempt(lambda: ioo.parse_interfaces(host.read_output(IFCONFIG))),
        has_oracle=attempt(oracle_homes.are_listed, host),
    )


def _read_interconnect(host: Host, policy: Policy) -> Tuple[str, ...]:
    if policy.interconnect is not None:
        return policy.interconnect
    return tuple(sorted(set(clusterware.private_interfaces(host))))


def _read_running(host: Host, policy: Policy, interfaces: Iterable[str]) -> Dict[str, Answer[str]]:
    names = [row.name for row in ROWS] + [row.unless for row in ROWS if row.unless]
    keys = [sysctl_d.normalize(name) for name in names + [entry.name for entry in policy.values]]
    keys += [filter_key(interface) for interface in ("all", *interfaces)]
    return {key: attempt(lambda name=key: _read(host, name)) for key in keys}


def _read(host: Host, key: str) -> str:
    return host.read_text(proc_file(key)).strip()


def _figures(
    host: Host,
    policy: Policy,
    memory: Answer[Dict[str, int]],
    segments: Answer[List[sysvipc_shm.ShmSegment]],
    semaphores: Answer[List[sysvipc_sem.SemaphoreSet]],
    running: Dict[str, Answer[str]],
    stopped: will_start.Sizes,
) -> Figures:
    files = numbers(if_known(running["fs/file-max"], ""))

    return Figures(
        memory=attempt(lambda: known(memory)["MemTotal"]),
        huge=attempt(lambda: _huge_pages(known(memory))),
        page=attempt(page_size.read, host),
        sga=attempt(_sga, policy, segments, stopped),
        largest=attempt(_largest, policy, segments, stopped),
        nodes=attempt(_count_nodes, host),
        segment=attempt(lambda: integer(known(running["kernel/shmmax"]))),
        files=files[0] if files else None,
        stopped=stopped.sids,
        semaphores=_semaphores(if_known(semaphores, []), stopped),
    )


def _huge_pages(memory: Dict[str, int]) -> int:
    """Bytes of all pools; kernels before 4.15 show only the pool of the default size."""
    default = memory.get("HugePages_Total", 0) * memory.get("Hugepagesize", 0)
    return max(default, memory.get("Hugetlb", 0))


def _read_stopped(host: Host, policy: Policy, memory: Answer[Dict[str, int]]) -> will_start.Sizes:
    if policy.total_sga is not None or not isinstance(memory, dict):
        return will_start.Sizes(0, 0, (), (), None)
    asking = next_start.Asking(_SQLPLUS_SECONDS, None)
    return will_start.sizes_of_stopped(will_start.read_stopped(host, asking))


def _sga(
    policy: Policy, segments: Answer[List[sysvipc_shm.ShmSegment]], stopped: will_start.Sizes
) -> int:
    """Bytes of all SGAs: those of the policy, otherwise those of processes not owned by root, and
    of databases that are down."""
    if policy.total_sga is not None:
        return policy.total_sga
    return sum(segment.size for segment in known(segments) if segment.uid != 0) + stopped.sga


def _largest(
    policy: Policy, segments: Answer[List[sysvipc_shm.ShmSegment]], stopped: will_start.Sizes
) -> int:
    """Bytes that one segment may need: the policy shows only the sum, which no SGA exceeds."""
    if policy.total_sga is not None:
        return policy.total_sga
    sizes = [segment.size for segment in known(segments) if segment.uid != 0]
    return max([*sizes, stopped.largest])


def _semaphores(sets: List[sysvipc_sem.SemaphoreSet], stopped: will_start.Sizes) -> Tuple[int, int]:
    """Semaphores and sets of those that run and of those that are down: an instance takes one for
    each process and a few more, in sets of at most 250."""
    coming = [count + _MORE for count in stopped.processes]
    return (
        sum(array.nsems for array in sets) + sum(coming),
        len(sets) + sum(-(-count // _IN_SET) for count in coming),
    )


def _count_nodes(host: Host) -> int:
    names = unless_absent(attempt(host.list_dir, numa.FOLDER), [])
    return max(1, len([name for name in names if re.match(r"node\d{1,4}\Z", name)]))


def _count_tasks(host: Host) -> int:
    """Processes and threads: the fourth word is those that can run, and all (proc_loadavg(5))."""
    words = host.read_text(LOADAVG).split()
    counts = words[3].split("/") if len(words) > 3 else []
    if len(counts) != 2:
        raise ParseError("loadavg", "its fourth word is not two numbers with a slash")
    return integer(counts[1])


def _has_crash_kernel(host: Host) -> bool:
    number = attempt(host.read_number, CRASH_KERNEL)
    return not isinstance(number, Absent) and known(number) == 1


def _has_oranfstab(host: Host, software: releases.Software) -> bool:
    """Raises where no file was found and a place is not known."""
    homes = attempt(lambda: list(known(software.homes)))
    places = [ORANFSTAB, *(home + OF_HOME for home in if_known(homes, []))]
    found = [attempt(host.stat, place) for place in places]
    if any(not isinstance(stat, HostproofError) for stat in found):
        return True
    unless_absent(homes, [])
    return any(unless_absent(stat, None) is not None for stat in found)


def _read_apart(host: Host, software: releases.Software) -> List[str]:
    """By SID; a container's instance is seen from the host that it runs on."""
    monitors = known(software.monitors)
    own = nfs_files.link_target(host, _NAMESPACE.format("self")) if monitors else ""
    return sorted(
        monitor.argv0.partition("_pmon_")[2]
        for monitor in monitors
        if nfs_files.link_target(host, _NAMESPACE.format(monitor.pid)) != own
    )


def _read_saptune(host: Host) -> Dict[str, str]:
    """Best effort: what may not be listed is checked by what the reboot files state."""
    folders: Dict[str, str] = {}
    for folder in SAPTUNE:
        for name in if_known(attempt(host.list_dir, folder), []):
            folders.setdefault(sysctl_d.normalize(name), folder)
    return folders
