# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Oracle's documents require of the limits of accounts: a row a limit.

The numbers are the same in every guide from 12.1 to 26ai. Amounts are in the units of limits.conf:
files and processes are counted, stack and locked memory are kB; UNLIMITED is more than any.
"""

from typing import NamedTuple, Optional, Tuple

UNLIMITED = 1 << 64
BOOK = "Oracle Database Installation Guide for Linux (12.1 to 26ai), Checking Resource Limits"


class Row(NamedTuple):
    """A limit: ``item`` of limits.conf, its name in /proc/PID/limits and in systemd's Limit*=.

    ``size`` is bytes of a unit of limits.conf, as the kernel counts. ``soft`` and ``hard`` are the
    least that is required, None by memory; ``most`` is the highest hard limit that is. ``good`` is
    what Oracle's preinstallation package writes."""

    item: str
    kernel: str
    unit: str
    size: int
    soft: Optional[int]
    hard: Optional[int]
    most: int
    good: Tuple[Optional[int], Optional[int]]
    severity: str


ROWS = (
    Row("nofile", "Max open files", "NOFILE", 1, 1024, 65536, UNLIMITED, (1024, 65536), "high"),
    Row("nproc", "Max processes", "NPROC", 1, 2047, 16384, UNLIMITED, (16384, 16384), "high"),
    Row("stack", "Max stack size", "STACK", 1024, 10240, 10240, 32768, (10240, 32768), "medium"),
    Row(
        "memlock", "Max locked memory", "MEMLOCK", 1024, None, None, UNLIMITED, (None, None), "high"
    ),
)
ITEMS = tuple(row.item for row in ROWS)
