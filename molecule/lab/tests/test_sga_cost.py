"""What an SGA costs on a machine of its own, in both kinds of pages: the module's own table.

It stands beside the story of HugePages and leaves the machine as it found it. The table of the
run is in .cache/logs/sga-cost.txt.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from machines.needs import ROOT

MIB = 1 << 20
SIZE = 256 * MIB
PROCESSES = [1, 2, 4, 8, 16, 32]

#: A table of each level above the entries, for each process.
UPPER_TABLES = 16 << 10


def by_ansible(**options: Any) -> dict[str, Any]:
    """What the module sga_cost returns for the lab."""
    program = Path(sys.executable).with_name("ansible")
    done = subprocess.run(
        [str(program), "-i", "inventories/lab", "lab", "-m", "sga_cost", "-a", json.dumps(options)],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if "ANSIBLE_" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
    )
    print(done.stdout, done.stderr)
    return dict(json.loads(re.split(r"(?:SUCCESS|FAILED!) => ", done.stdout)[-1]))


@pytest.fixture(scope="module")
def pool(lab):
    """A pool that holds the segment, and the machine's own again afterwards."""
    before = lab.values()["pool"]
    lab.run(f"sysctl -w vm.nr_hugepages={SIZE // (2 * MIB) + 8}")
    yield
    lab.run(f"sysctl -w vm.nr_hugepages={before}")


@pytest.fixture(scope="module")
def segments(lab, pool):
    return lab.run("ipcs -m; grep HugePages_Free /proc/meminfo")


@pytest.fixture(scope="module")
def cost(lab, segments):
    result = by_ansible(size="256M", processes=PROCESSES[-1])
    logs = ROOT / ".cache/logs"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "sga-cost.txt").write_text("\n".join(result["table"]) + "\n")
    return result


def rows_of(cost: dict[str, Any], pages: str) -> list[dict[str, Any]]:
    return [row for row in cost["rows"] if row["pages"] == pages]


def test_both_kinds_of_pages_are_measured_for_each_number_of_processes(cost):
    assert (cost["size"], cost["reasons"]) == (SIZE, [])
    for pages in ("4 KiB", "huge"):
        assert [row["processes"] for row in rows_of(cost, pages)] == PROCESSES


def test_page_tables_of_small_pages_are_processes_times_sga_by_512(cost):
    for row in rows_of(cost, "4 KiB"):
        expected = row["processes"] * SIZE / 512
        assert row["expected"] == expected
        assert row["page_tables"] == pytest.approx(expected, rel=0.10), row


def test_the_kernel_counts_the_same(cost):
    for row in rows_of(cost, "4 KiB"):
        # It counts for the whole machine, and in portions for each processor.
        assert row["kernel_page_tables"] == pytest.approx(row["expected"], rel=0.10, abs=512 << 10)


def test_page_tables_of_huge_pages_are_next_to_nothing(cost):
    for row in rows_of(cost, "huge"):
        assert row["page_tables"] <= row["expected"] + row["processes"] * UPPER_TABLES
    assert cost["ratios"]["page_tables"] > 20


def test_attaching_takes_longer_in_small_pages(cost):
    for small, huge in zip(rows_of(cost, "4 KiB"), rows_of(cost, "huge"), strict=True):
        assert small["attach_median"] > huge["attach_median"] > 0
    assert cost["ratios"]["attach"] > 5


def test_nothing_is_left_behind(lab, segments, cost):
    assert lab.run("ipcs -m; grep HugePages_Free /proc/meminfo") == segments


def test_more_than_is_free_is_bounded_and_said(lab, pool):
    bounded = lab.module("sga_cost", size="60G", processes=2)
    assert MIB < bounded["size"] < 60 << 30
    assert any("huge pages" in reason for reason in bounded["reasons"])
    assert any(line.startswith("Scaled to 60.0 GiB, not measured") for line in bounded["table"])


def test_it_does_not_run_beside_an_instance(lab, pool):
    lab.start("LAB1", "64M", "4k")
    try:
        small: dict[str, Any] = {"size": "64M", "processes": 2}
        refused = lab.module("sga_cost", **small)
        assert "rows" not in refused
        assert "LAB1 runs here" in refused["msg"]
        assert lab.module("sga_cost", allow_beside_instances=True, **small)["rows"]
    finally:
        lab.stop_instance("LAB1")
