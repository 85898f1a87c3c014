# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of Oracle's books: release, distribution, kernel line, minimum kernel, release update.

A new Oracle release or distribution is a new row here. Each row has its source and the day on
which the source was read.
"""

from typing import Dict, NamedTuple, Tuple


class Row(NamedTuple):
    """``version`` is the oldest update of the distribution; ``update`` is "" without a minimum."""

    release: str
    distribution: str
    version: str
    architecture: str
    line: str
    kernel: str
    update: str
    source: str
    seen: str


_SEEN = "2026-11-25"
_DB19_OL9 = "Database Installation Guide 19c for Linux, Supported Oracle Linux 9 Distributions"
_GI19_RHEL9 = "Grid Installation Guide 19c for Linux, Supported Red Hat Enterprise Linux 9"
_GI19_Z = "Grid Installation Guide 19c for Linux, Supported Red Hat Enterprise Linux 9 (IBM Z)"
_CLIENT = "Database Client Installation Guide {} for Linux, Operating System Checklist"
_DB21 = "Database Installation Guide 21c for Linux, Operating System Checklist"
_CLIENT26 = "Database Client Installation Guide 26ai for Linux, Operating System Checklist"
_IC26 = "Database Client Installation Guide 26ai for Linux, {} (Instant Client)"

_C19, _C23 = _CLIENT.format("19c"), _CLIENT.format("23ai")
_X86, _Z, _ARM = "x86_64", "s390x", "aarch64"
#: The day on which the whole checklists of 19c and 26ai were read.
_AGAIN = "2026-11-28"

ROWS: Tuple[Row, ...] = (
    Row("19c", "OL", "9", _X86, "UEK7", "5.15.0-1.43.4.2.el9uek", "19.19", _DB19_OL9, _SEEN),
    Row("19c", "OL", "9", _X86, "RHCK", "5.14.0-70.22.1.0.2.el9_0", "19.19", _DB19_OL9, _SEEN),
    Row("19c", "RHEL", "9", _X86, "RHEL", "5.14.0-70.22.1.el9_0", "19.19", _GI19_RHEL9, _SEEN),
    Row("19c", "RHEL", "9.2", "s390x", "RHEL", "5.14.0-284.30.1.el9_2", "19.23", _GI19_Z, _SEEN),
    Row("19c", "OL", "8.8", _X86, "UEK7", "5.15.0-202.135.2.el8uek", "", _C19, _SEEN),
    Row("19c", "OL", "8.1", _X86, "UEK6", "5.4.17-2011.0.7.el8uek", "", _C19, _SEEN),
    Row("19c", "OL", "8", _X86, "RHCK", "4.18.0-80.el8", "", _C19, _SEEN),
    Row("19c", "OL", "7.4", _X86, "UEK4", "4.1.12-124.19.2.el7uek", "", _C19, _SEEN),
    Row("19c", "OL", "7.4", _X86, "UEK5", "4.14.35-1818.1.6.el7uek", "", _C19, _SEEN),
    Row("19c", "OL", "7.7", _X86, "UEK6", "5.4.17-2011.4.4.el7uek", "", _C19, _SEEN),
    Row("19c", "OL", "7.5", _X86, "RHCK", "3.10.0-862.11.6.el7", "", _C19, _SEEN),
    Row("19c", "RHEL", "8", _X86, "RHEL", "4.18.0-80.el8", "", _C19, _AGAIN),
    Row("19c", "RHEL", "7.5", _X86, "RHEL", "3.10.0-862.11.6.el7", "", _C19, _AGAIN),
    Row("19c", "SLES", "15", _X86, "SLES", "4.12.14-23-default", "", _C19, _AGAIN),
    Row("19c", "SLES", "12.3", _X86, "SLES", "4.4.162-94.72-default", "", _C19, _AGAIN),
    Row("19c", "RHEL", "8.3", _Z, "RHEL", "4.18.0-240.el8", "", _C19, _AGAIN),
    Row("19c", "RHEL", "7.4", _Z, "RHEL", "3.10.0-693.el7", "", _C19, _AGAIN),
    Row("19c", "SLES", "15", _Z, "SLES", "5.3.18-57-default", "", _C19, _AGAIN),
    Row("19c", "SLES", "12", _Z, "SLES", "4.4.73-5-default", "", _C19, _AGAIN),
    Row("19c", "OL", "8.6", _ARM, "UEK7", "5.15.0-6.80.3.1.el8uek", "19.19", _C19, _AGAIN),
    Row("21c", "OL", "8.2", _X86, "UEK6", "5.4.17-2011.1.2.el8uek", "", _DB21, _SEEN),
    Row("21c", "OL", "8.2", _X86, "RHCK", "4.18.0-193.19.1.el8_2", "", _DB21, _SEEN),
    Row("21c", "OL", "7.6", _X86, "UEK5", "4.14.35-2025.404.1.el7uek", "", _DB21, _SEEN),
    Row("21c", "OL", "7.4", _X86, "UEK4", "4.1.12-124.53.1.el7uek", "", _DB21, _SEEN),
    Row("21c", "RHEL", "8.2", _X86, "RHEL", "4.18.0-193.19.1.el8_2", "", _DB21, _SEEN),
    Row("21c", "SLES", "15.1", _X86, "SLES", "4.12.14-197.29-default", "", _DB21, _SEEN),
    Row("23ai", "OL", "9.2", _X86, "UEK7", "5.15.0-201.135.6.el9uek", "", _C23, _SEEN),
    Row("23ai", "OL", "9.2", _X86, "RHCK", "5.14.0-284.30.1.el9_2", "", _C23, _SEEN),
    Row("23ai", "OL", "8.8", _X86, "UEK7", "5.15.0-202.135.2.el8uek", "", _C23, _SEEN),
    Row("23ai", "OL", "8.6", _X86, "UEK6", "5.4.17-2136.312.3.4.el8uek", "", _C23, _SEEN),
    Row("23ai", "OL", "8.6", _X86, "RHCK", "4.18.0-372.26.1.0.1.el8_6", "", _C23, _SEEN),
    Row("23ai", "RHEL", "9.2", _X86, "RHEL", "5.14.0-284.30.1.el9_2", "", _C23, _SEEN),
    Row("23ai", "RHEL", "8.6", _X86, "RHEL", "4.18.0-372.26.1.0.1.el8_6", "", _C23, _SEEN),
    Row(
        "26ai",
        "OL",
        "9.6",
        _X86,
        "UEK8",
        "6.12.0-1.23.3.2.el9uek",
        "23.26.1",
        _IC26.format("Oracle Linux 9"),
        _SEEN,
    ),
    Row(
        "26ai",
        "OL",
        "10",
        _X86,
        "UEK8",
        "6.12.0-104.43.4.2.el10uek",
        "23.26",
        _IC26.format("Oracle Linux 10"),
        _SEEN,
    ),
    Row(
        "26ai",
        "OL",
        "10",
        _X86,
        "RHCK",
        "6.12.0-55.40.1.0.1.el10_0",
        "23.26",
        _IC26.format("Oracle Linux 10"),
        _SEEN,
    ),
    Row(
        "26ai",
        "RHEL",
        "10",
        _X86,
        "RHEL",
        "6.12.0-55.40.1.0.1.el10_0",
        "23.26",
        _IC26.format("Red Hat Enterprise Linux 10"),
        _AGAIN,
    ),
    Row("26ai", "OL", "9.2", _X86, "UEK7", "5.15.0-201.135.6.el9uek", "", _CLIENT26, _AGAIN),
    Row("26ai", "OL", "9.2", _X86, "RHCK", "5.14.0-284.30.1.el9_2", "", _CLIENT26, _AGAIN),
    Row("26ai", "OL", "8.8", _X86, "UEK7", "5.15.0-202.135.2.el8uek", "", _CLIENT26, _AGAIN),
    Row("26ai", "OL", "8.6", _X86, "UEK6", "5.4.17-2136.312.3.4.el8uek", "", _CLIENT26, _AGAIN),
    Row("26ai", "OL", "8.6", _X86, "RHCK", "4.18.0-372.26.1.0.1.el8_6", "", _CLIENT26, _AGAIN),
)

#: The oldest EL of each release: the oldest of its books. 26ai is a release update of 23ai
#: (23.26), so its oldest is that of 23ai.
OLDEST_EL: Dict[str, int] = {"19c": 7, "21c": 7, "23ai": 8, "26ai": 8}
#: Kernel versions of Oracle's UEK.
UEK_LINES: Dict[Tuple[int, int], str] = {
    (4, 1): "UEK4",
    (4, 14): "UEK5",
    (5, 4): "UEK6",
    (5, 15): "UEK7",
    (6, 12): "UEK8",
}
