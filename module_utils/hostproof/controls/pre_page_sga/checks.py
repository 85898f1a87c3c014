# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control pre_page_sga checks: once for each instance, with its SID before the title."""

from ...finding import Check

_REFERENCE = "Oracle Database Reference"

PRE_PAGE = Check(
    "pre_page_sga.setting",
    "pre_page_sga fits the release and the pages of the SGA",
    "critical",
    "instance_restart",
    "Up to 11.2 every process that starts touches every page of the SGA: in 4 KiB pages a login to "
    "a large SGA takes seconds, and the listener piles up.",
    _REFERENCE + " 11.2, 12.2 and 19c, PRE_PAGE_SGA; M. Przepiorowski, Oracle and HugePages, 2012",
)
USE_LARGE_PAGES = Check(
    "pre_page_sga.use_large_pages",
    "use_large_pages makes the instance take huge pages",
    "high",
    "instance_restart",
    "TRUE silently falls back to 4 KiB pages where the pool is short; FALSE never takes huge "
    "pages; a value that the release does not know stops the next start (ORA-27107).",
    _REFERENCE + ", USE_LARGE_PAGES; ORA-27107",
)
MEMORY_TARGET = Check(
    "pre_page_sga.memory_target",
    "memory_target is not set",
    "high",
    "instance_restart",
    "Automatic Memory Management keeps the SGA in /dev/shm, where it never gets huge pages "
    "(ORA-27138 with use_large_pages=ONLY).",
    _REFERENCE + ", USE_LARGE_PAGES and MEMORY_TARGET; ORA-27138",
)
LOCK_SGA = Check(
    "pre_page_sga.lock_sga",
    "lock_sga fits the pages of the SGA",
    "medium",
    "instance_restart",
    "Huge pages are never paged out, so lock_sga only adds a way to fail: with memory_target the "
    "instance does not start (ORA-00847), and an SGA above memlock cannot be locked.",
    _REFERENCE + ", LOCK_SGA; ORA-00847; kernel Documentation/admin-guide/mm/hugetlbpage.rst",
)
GRANTED_AT_START = Check(
    "pre_page_sga.granted_at_start",
    "The last start got the huge pages that it asked for",
    "high",
    "instance_restart",
    "A short grant is only a few lines of the alert log; the instance runs on, slower.",
    "MOS 2049901.1 and 1392497.1: the large pages in the alert log",
)
PENDING_RESTART = Check(
    "pre_page_sga.pending_restart",
    "The next start keeps what runs now",
    "medium",
    "instance_restart",
    "These parameters are static: what was changed since the start is only seen at the next one.",
    _REFERENCE + ", V$SYSTEM_PARAMETER and V$SPPARAMETER",
)
ONE_VALUE = Check(
    "pre_page_sga.one_value",
    "Each parameter is set once for the instance",
    "medium",
    "instance_restart",
    "An entry for one SID beats the one for all (*), and the last of two in a file beats the "
    "first: a change of the other one does nothing.",
    "Oracle Database Administrator's Guide, About the Server Parameter File; " + _REFERENCE,
)
PARAMETER_FILE = Check(
    "pre_page_sga.parameter_file",
    "The next start reads the file that this one read",
    "medium",
    "instance_restart",
    "startup takes spfileSID.ora, then spfile.ora, then initSID.ora: an instance that was started "
    "with another file loses its settings at the next plain startup.",
    "Oracle Database Administrator's Guide, About Initialization Parameter Files and Startup",
)

#: In the order of the report.
CHECKS = (
    PRE_PAGE,
    USE_LARGE_PAGES,
    GRANTED_AT_START,
    MEMORY_TARGET,
    LOCK_SGA,
    PENDING_RESTART,
    ONE_VALUE,
    PARAMETER_FILE,
)
