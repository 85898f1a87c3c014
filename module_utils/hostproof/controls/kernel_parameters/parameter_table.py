# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of parameters: what is required, of which releases, by whom. One row per parameter.

A parameter whose demand changed with a release has a row for each; where several releases are on
a host, all their rows count, and the strictest number wins.

Sources of the table as a whole: Oracle Database Installation Guide for Linux, "Minimum Parameter
Settings for Installation" of 11.2, 12.1, 12.2, 18c, 19c, 21c, 23ai and 26ai; what Cluster
Verification Utility 19c and 26ai ask on a host; and where a row names more, that.
"""

from typing import NamedTuple, Optional, Tuple, Union

from ...evaluate.comparing import AT_LEAST, AT_MOST, EXACTLY, OTHER_THAN, WITHIN
from .formulas import (
    Formula,
    files_by_kernel,
    free_by_kernel,
    free_for_receives,
    half_of_memory,
    half_of_memory_11,
    pages_11,
    pages_of_largest,
    pages_of_memory,
    process_numbers,
    requests,
    semaphores,
)

#: What kernels since 3.16 start with: as much as goes.
_NO_LIMIT = "18446744073692774399"

#: Hosts that a row applies to, if not to all: nodes of a cluster, hosts with Direct NFS, hosts
#: without a crash kernel, hosts with a pool of huge pages, and hosts whose policy specifies a
#: purpose. The last kind is a recommendation, not a requirement of Oracle.
CLUSTER, DIRECT_NFS, ADVICE = "cluster", "direct_nfs", "advice"
NO_CRASH_KERNEL, POOL = "no_crash_kernel", "pool"

_BOOK = "Oracle Database Installation Guide for Linux, Minimum Parameter Settings for Installation"
_TUNED = "TuneD, profiles/oracle/tuned.conf and profiles/throughput-performance/tuned.conf"


class Row(NamedTuple):
    """``family`` is the check that checks it. ``value`` is numbers, or the formula that gives
    them.

    ``since`` and ``until`` are releases that it is for, both included; () is not a bound.
    ``default`` is what the kernel starts with, None where that is not known. ``good`` is what to
    write where ``value`` is not met, if that is not the value itself. ``unless`` is a parameter
    that counts instead, where it is not 0. ``live`` is whether a running host may be changed.
    ``room`` is the least size of a range. ``warns``: a wrong value is a warning. ``default`` is
    that of kernels from ``kernel`` on.
    """

    name: str
    family: str
    compare: str
    value: Union[str, Formula]
    severity: str
    source: str
    since: Tuple[int, ...] = ()
    until: Tuple[int, ...] = ()
    only: Optional[str] = None
    default: Optional[Union[str, Formula]] = None
    good: Optional[str] = None
    unless: Optional[str] = None
    live: bool = True
    room: int = 0
    warns: bool = False
    kernel: int = 4


ROWS: Tuple[Row, ...] = (
    Row(
        "kernel.sem",
        "semaphores",
        AT_LEAST,
        semaphores,
        "critical",
        _BOOK + "; MOS 949468.1",
        default="32000 1024000000 500 32000",
    ),
    Row(
        "kernel.shmmax",
        "shared_memory",
        AT_LEAST,
        half_of_memory_11,
        "medium",
        _BOOK + " (11.2)",
        until=(11, 2),
        default=_NO_LIMIT,
    ),
    Row(
        "kernel.shmmax",
        "shared_memory",
        AT_LEAST,
        half_of_memory,
        "medium",
        _BOOK + "; MOS 567506.1",
        since=(12, 1),
        default=_NO_LIMIT,
    ),
    Row(
        "kernel.shmall",
        "shared_memory",
        AT_LEAST,
        pages_11,
        "high",
        _BOOK + " (11.2); MOS 301830.1",
        until=(11, 2),
        default=_NO_LIMIT,
    ),
    Row(
        "kernel.shmall",
        "shared_memory",
        AT_LEAST,
        pages_of_memory,
        "high",
        _BOOK + "; MOS 301830.1",
        since=(12, 1),
        until=(21,),
        default=_NO_LIMIT,
    ),
    Row(
        "kernel.shmall",
        "shared_memory",
        AT_LEAST,
        pages_of_largest,
        "high",
        _BOOK + " (23ai); MOS 301830.1",
        since=(23,),
        default=_NO_LIMIT,
    ),
    Row("kernel.shmmni", "shared_memory", AT_LEAST, "4096", "medium", _BOOK, default="4096"),
    Row(
        "kernel.shm_rmid_forced",
        "shared_memory",
        EXACTLY,
        "0",
        "medium",
        "kernel Documentation/admin-guide/sysctl/kernel.rst, shm_rmid_forced: 1 destroys a segment "
        "of shared memory that no process of Oracle has attached",
        default="0",
        warns=True,
        kernel=3,
    ),
    Row(
        "kernel.pid_max",
        "processes",
        AT_LEAST,
        process_numbers,
        "high",
        "kernel Documentation/admin-guide/sysctl/kernel.rst, pid_max; Oracle Database Installation "
        "Guide for Linux, Checking Resource Limits (nproc 16384 for each owner)",
        default="32768",
        kernel=2,
    ),
    Row(
        "fs.file-max",
        "open_files",
        AT_LEAST,
        "6815744",
        "medium",
        _BOOK,
        default=files_by_kernel,
    ),
    Row(
        "fs.aio-max-nr",
        "asynchronous_io",
        AT_LEAST,
        requests,
        "high",
        _BOOK + "; MOS 579108.1 has 3145728 for many databases",
        default="65536",
    ),
    Row(
        "net.ipv4.ip_local_port_range",
        "ephemeral_ports",
        WITHIN,
        "9000 65535",
        "medium",
        _BOOK + "; Cluster Verification Utility 19c and 26ai",
        default="32768 60999",
        good="9000 65500",
        # The guides show the kernel's own range as enough for few connections.
        room=28232,
    ),
    Row(
        "net.core.rmem_default",
        "socket_buffers",
        AT_LEAST,
        "262144",
        "medium",
        _BOOK,
        default="212992",
    ),
    Row(
        "net.core.rmem_max",
        "socket_buffers",
        AT_LEAST,
        "4194304",
        "medium",
        _BOOK,
        default="212992",
    ),
    Row(
        "net.core.wmem_default",
        "socket_buffers",
        AT_LEAST,
        "262144",
        "medium",
        _BOOK,
        default="212992",
    ),
    Row(
        "net.core.wmem_max",
        "socket_buffers",
        AT_LEAST,
        "1048576",
        "medium",
        _BOOK + "; that of 11.2 printed 1048586",
        default="212992",
    ),
    Row(
        "net.ipv4.tcp_rmem",
        "socket_buffers",
        AT_LEAST,
        "4096 87380 4194304",
        "medium",
        "Oracle Database Installation Guide for Linux, Checking TCP Network Protocol Buffer for "
        "Direct NFS Client",
        only=DIRECT_NFS,
        default="4096 131072 6291456",
    ),
    Row(
        "net.ipv4.tcp_wmem",
        "socket_buffers",
        AT_LEAST,
        "4096 16384 4194304",
        "medium",
        "Oracle Database Installation Guide for Linux, Checking TCP Network Protocol Buffer for "
        "Direct NFS Client",
        only=DIRECT_NFS,
        default="4096 16384 4194304",
    ),
    Row(
        "kernel.panic_on_oops",
        "panic",
        EXACTLY,
        "1",
        "high",
        _BOOK,
        since=(12, 1),
    ),
    Row(
        "kernel.panic",
        "panic",
        OTHER_THAN,
        "0",
        "high",
        _BOOK + " (23ai, which has 10); Cluster Verification Utility 26ai",
        since=(23,),
        good="10",
    ),
    Row(
        "kernel.panic",
        "panic",
        OTHER_THAN,
        "0",
        "medium",
        "kernel Documentation/admin-guide/sysctl/kernel.rst, panic: with 0 the host stays down, "
        "below 0 it restarts at once; "
        "Oracle's Cluster Verification Utility 26ai; MOS 2821641.1 for hosts with kdump",
        until=(21,),
        only=NO_CRASH_KERNEL,
        good="10",
        warns=True,
    ),
    Row(
        "vm.min_free_kbytes",
        "memory",
        AT_LEAST,
        free_for_receives,
        "high",
        "MOS 2041723.1",
        only=CLUSTER,
        default=free_by_kernel,
        live=False,
    ),
    Row(
        "vm.swappiness",
        "memory",
        WITHIN,
        "1 10",
        "medium",
        _TUNED + "; kernel Documentation/admin-guide/sysctl/vm.rst, swappiness: with 0 the kernel "
        "swaps only when it is out of memory",
        only=ADVICE,
        default="60",
    ),
    Row(
        "vm.overcommit_memory",
        "memory",
        OTHER_THAN,
        "2",
        "medium",
        "kernel Documentation/mm/overcommit-accounting.rst: with 2 the limit is swap and a share "
        "of the memory that is no huge page, so Oracle's PGA and fork fail early (ORA-27300)",
        only=POOL,
        default="0",
        good="0",
        warns=True,
        kernel=2,
    ),
    Row("kernel.numa_balancing", "memory", EXACTLY, "0", "medium", _TUNED, only=ADVICE),
    Row(
        "vm.dirty_background_ratio",
        "memory",
        AT_MOST,
        "10",
        "low",
        _TUNED,
        only=ADVICE,
        default="10",
        unless="vm.dirty_background_bytes",
    ),
    Row(
        "vm.dirty_ratio",
        "memory",
        AT_MOST,
        "40",
        "low",
        _TUNED,
        only=ADVICE,
        default="20",
        unless="vm.dirty_bytes",
    ),
    Row(
        "net.ipv4.ipfrag_high_thresh",
        "reassembly",
        AT_LEAST,
        "16777216",
        "high",
        "MOS 2008933.1",
        only=CLUSTER,
        default="4194304",
    ),
    Row(
        "net.ipv4.ipfrag_low_thresh",
        "reassembly",
        AT_LEAST,
        "15728640",
        "high",
        "MOS 2008933.1",
        only=CLUSTER,
        default="3145728",
    ),
)
