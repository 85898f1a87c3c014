"""The cost of an SGA: what is measured, how it is bounded and told. The lab measures for real."""

import pytest
from ansible.module_utils.hostproof.controls.latency.probes import sga_cost
from ansible.module_utils.hostproof.controls.latency.probes.sga_cost import Cost, Row
from cases import cases

MIB, GIB = 1 << 20, 1 << 30


def rows(available: int, free_pages: int = 0, reserved: int = 0) -> dict[str, int]:
    return {
        "MemTotal": 64 * GIB,
        "MemAvailable": available,
        "HugePages_Total": free_pages,
        "HugePages_Free": free_pages,
        "HugePages_Rsvd": reserved,
        "Hugepagesize": 2 * MIB,
    }


def test_what_fits_is_measured_whole():
    bound = sga_cost.bounds(rows(40 * GIB, 4096), 8 * GIB, 32, 40)
    assert (bound.size, bound.huge, bound.reasons) == (8 * GIB, True, [])


def test_the_page_tables_of_all_processes_must_fit_too():
    bound = sga_cost.bounds(rows(10 * GIB, 8192), 60 * GIB, 32, 50)
    with_tables = bound.size + 33 * bound.size // 512
    assert 4.9 * GIB < with_tables <= 5 * GIB
    assert "50 percent of the available memory hold 4.7 GiB" in bound.reasons[0]


def test_both_kinds_are_measured_at_a_size_that_both_can_have():
    bound = sga_cost.bounds(rows(40 * GIB, 100, reserved=36), 8 * GIB, 32, 40)
    assert (bound.size, bound.huge) == (64 * 2 * MIB, True)
    assert bound.reasons == ["64 huge pages (128.0 MiB) are free"]


@cases("free", 0, 15)
def test_a_pool_too_small_to_say_anything_is_left_alone(free):
    bound = sga_cost.bounds(rows(40 * GIB, free), 8 * GIB, 32, 40)
    assert (bound.size, bound.huge) == (8 * GIB, False)
    assert bound.reasons == [f"{free} huge pages are free: only 4 KiB pages are measured"]


def test_a_host_without_room_is_not_measured():
    with pytest.raises(sga_cost.CannotMeasure, match=r"8\.0 GiB cannot be measured here: 40 perc"):
        sga_cost.bounds(rows(70 * MIB), 8 * GIB, 32, 40)


@cases("most counts", (1, [1]), (2, [1, 2]), (5, [1, 2, 4, 5]), (32, [1, 2, 4, 8, 16, 32]))
def test_numbers_of_processes(most, counts):
    assert sga_cost.steps(most) == counts


def cost(size: int = 8 * GIB, requested: int = 8 * GIB, huge: bool = True) -> Cost:
    results = [Row("4 KiB", 4096, 32, 1.5, 3.0, 32 * (size // 512) + 4096, 0, 32 * size // 512)]
    if huge:
        results.append(Row("huge", 2 * MIB, 32, 0.003, 0.004, 32 * 32768, 0, 32 * size // 262144))
    reasons = [] if size == requested else ["too little memory"]
    return Cost(requested, size, reasons, {"4 KiB": 4.0, "huge": 0.5}, results)


def test_the_table_says_what_was_measured():
    lines = sga_cost.table(cost())
    assert lines[0] == "Measured on this host with a segment of 8.0 GiB"
    assert " ".join(lines[2].split()) == "4 KiB 32 1.5000 3.0000 512.0 MiB 512.0 MiB +0.0 %"
    assert lines[3].split()[-1] == "-"
    assert lines[-1] == (
        "4 KiB against huge: 500 times the time to attach, 512 times the page tables"
    )


def test_what_was_not_measured_is_called_so():
    lines = sga_cost.table(cost(size=4 * GIB, requested=60 * GIB))
    assert lines[0] == "Measured on this host with a segment of 4.0 GiB (60.0 GiB requested)"
    assert lines[1] == "  too little memory"
    assert lines[-1] == (
        "Scaled to 60.0 GiB, not measured: 22.5 s to attach and 3.8 GiB of page tables for 32 "
        "processes in 4 KiB pages"
    )


def test_without_huge_pages_there_is_nothing_to_compare():
    assert sga_cost.ratios(cost(huge=False)) is None
    assert not any("against huge" in line for line in sga_cost.table(cost(huge=False)))
