"""The alert log of a start that failed: the errors about shared memory, with their sizes."""

import oracle_packs
import pytest
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.parsers.oracle import alert_log_large_pages
from cases import cases
from default_policies import default_policy
from packs import FIXTURES

HEAD = "2024-02-11T08:00:02.190300+01:00\nStarting ORACLE instance (normal) (OS id: 4711)\n"
TABLE = "PAGESIZE  AVAILABLE_PAGES  EXPECTED_PAGES  ALLOCATED_PAGES  ERROR(s)\n"
#: My Oracle Support 465048.1 has this text.
AMM = (
    "WARNING: You are trying to use the MEMORY_TARGET feature. This feature requires the /dev/shm "
    "file system to be mounted for at least 1073741824 bytes. /dev/shm is either not mounted or is "
    "mounted with available space less than this size. Please fix this so that MEMORY_TARGET can "
    "work as expected. Current available is 519540736 and used is 0 bytes.\n"
)


@cases(
    "text failures",
    (
        "ORA-27102: out of memory\nLinux-x86_64 Error: 28: No space left on device\n",
        ["ORA-27102: out of memory, Linux-x86_64 Error: 28: No space left on device"],
    ),
    (
        "ORA-27125: unable to create shared memory segment\n"
        "2024-02-11T08:00:02.190300+01:00\n"
        "Linux-x86_64 Error: 1: Operation not permitted\nAdditional information: 1152\n",
        [
            "ORA-27125: unable to create shared memory segment, "
            "Linux-x86_64 Error: 1: Operation not permitted"
        ],
    ),
    (
        AMM + "memory_target needs larger /dev/shm\n",
        ["memory_target needs 1073741824 bytes in /dev/shm, which has 519540736 left"],
    ),
    (
        "System cannot support SGA size of 32GB\n"
        "Increase the system shared memory size to at least 32GB\nORA-27104: misconfigured\n",
        [
            "System cannot support SGA size of 32GB",
            "Increase the system shared memory size to at least 32GB",
            "ORA-27104: misconfigured",
        ],
    ),
    (TABLE + "4K Configured 5 5 NONE\nORA-27106: system pages not available\n", None),
    ("PMON started with pid=2, OS id=4715\nORA-27102: out of memory\n", []),
    # The row tells of pages that were missing; the start went on with others.
    (TABLE + "2048K 9 9 0 ORA-27125\nStarting background process PMON\n", []),
    (TABLE + "2048K 0 9 0 ORA-27102\n", ["2048K 0 9 0 ORA-27102"]),
    # A form that is not known does not hide the error.
    (
        "****** Large Pages Information *****\nORA-27137: unable to allocate large pages\n",
        ["ORA-27137: unable to allocate large pages"],
    ),
    ("Starting background process PMON\nORA-27102: out of memory\n", []),
    ("Linux-x86_64 Error: 28: No space left on device\n", []),
)
def test_the_messages_of_a_failed_start(text, failures):
    start = alert_log_large_pages.parse(HEAD + text)
    if failures is None:
        failures = ["ORA-27106: system pages not available"]
        assert (start.large, start.ordinary.granted) == ([], 5)
    assert list(start.failures) == failures


@pytest.mark.parametrize("path", sorted((FIXTURES / "alert_log").glob("*.txt")), ids=str)
def test_real_starts_that_got_their_memory_have_none(path):
    text = path.read_text(errors="surrogateescape")
    if "PMON started" in text or "ORA-" not in text:
        assert alert_log_large_pages.parse(text).failures == ()


@cases(
    "stored rows status",
    ("ONLY", "4K Configured 5 5 NONE\n", "fail"),
    ("AUTO_ONLY", "4K Configured 5 0 NONE\n", "fail"),
    ("TRUE", "4K Configured 5 5 NONE\n", "pass"),
    ("TRUE", "Parameter use_large_pages = ONLY\n4K Configured 5 5 NONE\n", "fail"),
    # The SGA is in these pages: ONLY was set later.
    ("ONLY", "4K Configured 5 391529 NONE\n", "pass"),
    ("ONLY", "4K Configured 5 5 NONE\nPMON started with pid=2, OS id=4\n", "pass"),
    ("ONLY", "2048K 9 9 9 NONE\n4K Configured 5 0 NONE\n", "pass"),
)
def test_a_table_with_4k_only(stored, rows, status):
    machine = oracle_packs.down(stored=(("*", "use_large_pages", stored),))
    parameter = rows.partition("\n")[0] + "\n" if rows.startswith("Parameter") else ""
    oracle_packs.add_alert_log(machine, HEAD + parameter + TABLE + rows[len(parameter) :])
    findings = audit.judge_host(machine, {"pre_page_sga": default_policy("pre_page_sga")})
    (finding,) = (one for one in findings if one.check == "pre_page_sga.last_start")
    assert finding.status == status, finding.why
