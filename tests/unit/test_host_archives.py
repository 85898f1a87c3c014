"""Archives of real hosts: what stands in them is judged, whatever they lack."""

import host_archives
import pytest
from ansible.module_utils.hostproof.evaluate.finding import ERROR

#: Percent of the checks whose main sources are in an archive that have a verdict other than error.
LEAST = 75
#: Checks on all archives that are no errors. Many are judged by one known layer.
LEAST_CHECKS = 470


@pytest.fixture(scope="module")
def archives():
    names = host_archives.names()
    if not names:
        pytest.skip("the archives of ../shared are not on this machine")
    return {name: host_archives.readings_of(host_archives.FOLDER / name) for name in names}


def test_what_stands_in_an_archive_is_judged(archives):
    rows = host_archives.table(archives)
    present, known = sum(row.present for row in rows), sum(row.judged for row in rows)
    errors, checks = sum(row.errors for row in rows), sum(row.checks for row in rows)
    assert present > 70
    assert known * 100 >= present * LEAST, rows
    assert checks - errors >= LEAST_CHECKS, rows


def test_a_running_value_that_is_too_low_fails(archives):
    """Where the next boot takes the value from is unknown on every one of them."""
    statuses = set()
    for readings in archives.values():
        value = int(readings["file:/proc/sys/fs/aio-max-nr"]["text"])
        (finding,) = [
            candidate
            for candidate in host_archives.judge(readings)
            if candidate.check == "kernel_parameters.asynchronous_io"
        ]
        assert (finding.status == "fail") == (value < 1048576)
        assert ("Not known: after a reboot" in finding.why) == (finding.status == "fail")
        statuses.add(finding.status)
    assert statuses == {"fail", "error"}


def test_a_list_of_processes_with_holes_shows_that_nothing_is_absent(archives):
    """Insights keeps only some lines of ps: that no instance stands there says nothing."""
    for readings in archives.values():
        (finding,) = [
            candidate
            for candidate in host_archives.judge(readings)
            if candidate.check == "hugepages.pool_covers_sga"
        ]
        assert finding.status == ERROR
