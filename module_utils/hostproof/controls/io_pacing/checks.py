# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control io_pacing checks: on AIX all but the last, on Linux the last alone."""

from ...finding import Check

_PACING = "AIX Performance Management, Disk I/O pacing"
_TUNABLES = "AIX Performance Management, Synchronous I/O tunable parameters"
_ARTICLE = "J. Wartak, AIX disk I/O pacing vs PowerHA, 2011"

#: Orion, 100 % writes: MB/s of large and IOPS of small ones, by 8193/4096 and by 33/24.
COST = "measured with Orion, 100 % large writes: 213.55 MB/s with 8193/4096, 109.64 MB/s with 33/24"

PERSISTED = Check(
    "io_pacing.persisted",
    "The ODM holds the wanted maxpout and minpout",
    "high",
    "now",
    "The next boot takes the marks from the ODM, whatever is in force now.",
    _TUNABLES + "; AIX Commands Reference, lsattr",
)
RUNNING = Check(
    "io_pacing.running",
    "The kernel paces with the wanted maxpout and minpout",
    "high",
    "now",
    "lsattr shows the ODM: after chdev -P or chdev -T the kernel goes by other values.",
    "AIX Commands Reference, lsattr and chdev; AIX Base Operating System, sys_parm",
)
LEGAL = Check(
    "io_pacing.legal",
    "maxpout and minpout go together",
    "medium",
    "now",
    "maxpout should be a multiple of 4 plus 1 and minpout below it by at least 4; both are 0, or "
    "neither.",
    _TUNABLES,
)
LEGACY_VALUES = Check(
    "io_pacing.legacy_values",
    "No marks are left over from an old HACMP",
    "high",
    "now",
    "33/24 makes a writer sleep after 33 pages pending in a file: " + COST + ".",
    _ARTICLE + "; " + _PACING,
)
DEADMAN_RISK = Check(
    "io_pacing.deadman_risk",
    "The marks protect the heartbeat of an old HACMP",
    "critical",
    "now",
    "Before 7.1 the heartbeat is a process like any other: where one writer keeps the host busy it "
    "comes late, and the deadman switch halts the node.",
    "HACMP Troubleshooting Guide, I/O pacing; " + _ARTICLE,
)
CPU_HEADROOM = Check(
    "io_pacing.cpu_headroom",
    "CPU is left for a heartbeat beside writers that nobody holds back",
    "medium",
    "now",
    "A writer that is not held back works instead of sleeping: on a host that uses more than 80 % "
    "of its CPU, what the cluster needs in time waits behind it.",
    _ARTICLE,
)
FILESYSTEMS = Check(
    "io_pacing.filesystems",
    "No file system has marks of its own that nobody asked for",
    "medium",
    "remount",
    "The mount options maxpout and minpout win over the marks of the host.",
    _PACING + "; AIX Commands Reference, mount",
)
NOT_GOVERNED = Check(
    "io_pacing.not_governed",
    "What I/O pacing does not govern is known",
    "low",
    "now",
    "Writes with concurrent or direct I/O (cio, dio, filesystemio_options) and to raw devices are "
    "never paced.",
    _PACING + "; AIX Performance Management, Direct I/O",
)
NEIGHBOURS = Check(
    "io_pacing.neighbours",
    "The tunables beside I/O pacing are known",
    "low",
    "now",
    "Write-behind and read-ahead of JFS2 decide how many pages wait for the disks, as pacing does.",
    "AIX Commands Reference, ioo",
)
BUFFERED_WRITERS = Check(
    "io_pacing.buffered_writers",
    "Buffered writers cannot fill the page cache without bound (advice)",
    "low",
    "now",
    "A backup or an export that writes through the page cache is held back only when so many bytes "
    "are dirty; then every buffered writer waits. A database with direct I/O is not governed by "
    "it.",
    "kernel Documentation/admin-guide/sysctl/vm.rst, dirty_*; Documentation/ABI/stable/sysfs-block",
)

#: In the order of the report.
CHECKS = (
    PERSISTED,
    RUNNING,
    LEGAL,
    LEGACY_VALUES,
    DEADMAN_RISK,
    CPU_HEADROOM,
    FILESYSTEMS,
    NOT_GOVERNED,
    NEIGHBOURS,
    BUFFERED_WRITERS,
)

AIX_CHECKS = CHECKS[:-1]
