"""Huge pages of a host on which no instance exists yet, and of a kernel without any."""

import packs
import pytest
from cases import cases
from packs import GIB, KIB, MIB, hugepages_policy

PLANNED = {"profile": "oracle_19c_single"}
NR = "/etc/sysctl.d/90-pool.conf"


@pytest.fixture
def judge(findings_of):
    def judge_host(machine, check="reserved", **changes):
        return findings_of("hugepages", machine, hugepages_policy(**changes))[check][0]

    return judge_host


def bare(pages=0, at_boot=0):
    return packs.linux().pool(pages, pages).file(NR, f"vm.nr_hugepages={at_boot}\n")


@cases(
    "now at_boot status layer",
    (0, 0, "warn", "running"),
    (10, 10, "pass", None),
    (10, 0, "warn", "persisted"),
    (0, 10, "warn", "running"),
)
def test_a_planned_database(judge, now, at_boot, status, layer):
    finding = judge(bare(now, at_boot), **PLANNED)
    assert (finding.status, finding.running) == (status, f"{now} pages")
    if layer:
        assert finding.failing_layer == layer and "does not state" in finding.why


def test_nothing_is_planned(judge):
    assert judge(bare()).status == "skip"


def test_the_sga_is_known(judge):
    listed = [{"sid": "ORCL", "sga": "16G"}]
    assert judge(bare(), instances=listed, **PLANNED).status == "skip"
    assert judge(packs.database_host(), **PLANNED).status == "skip"


@cases("size status", (4 * GIB, "skip"), (4 * GIB + MIB, "warn"))
def test_cvu_asks_above_4_gib(judge, size, status):
    assert judge(bare().memory(MemTotal=size // KIB), **PLANNED).status == status


def test_an_unknown_pool_at_boot(judge):
    assert judge(bare(10, 10).deny("/etc/sysctl.d"), **PLANNED).status == "error"
    assert judge(bare().remove("/proc/meminfo").deny("/proc/meminfo"), **PLANNED).status == "error"


@cases(
    "changes status",
    ({}, "warn"),
    (PLANNED, "fail"),
    ({"instances": [{"sid": "A", "sga": "1G"}]}, "fail"),
)
def test_a_kernel_without_huge_pages(judge, changes, status):
    machine = bare()
    rows = machine.files["/proc/meminfo"].splitlines()
    kept = [row for row in rows if not row.startswith("Huge")]
    machine.file("/proc/meminfo", "\n".join(kept) + "\n")
    finding = judge(machine, "page_size", **changes)
    assert (finding.status, finding.running) == (status, "no huge pages")
    assert "built without huge pages" in finding.why
