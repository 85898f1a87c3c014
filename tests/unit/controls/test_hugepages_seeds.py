"""The two states of one host in an article of 2012, as evidence packs that an audit judges."""

import json
import os

import packs
import pytest
import seed_packs
import yaml
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from cases import cases

FOLDER = seed_packs.FOLDER
POLICY = yaml.safe_load((FOLDER.parent / "seed-policy.yml").read_text())


@pytest.fixture
def judge_pack(judge):
    def judge_one(name: str):
        host = RecordedHost(*evidence.open_pack(str(FOLDER / f"{name}.json")))
        findings = judge(host, instances=POLICY["hugepages_instances"])
        return {check: group[0] for check, group in findings.items()}

    return judge_one


def statuses(findings):
    return {check: finding.status for check, finding in findings.items()}


def test_a_thousand_pages_for_60_gb_fail_and_say_what_they_cost(judge_pack):
    findings = judge_pack("seed-1000-pages")
    pool = findings["pool_covers_sga"]
    assert pool.status == "fail" and "29721 pages of 30721 are missing" in pool.why
    assert "each process that touches all of it costs 120.0 MiB of page tables" in pool.why
    assert "PageTables is 3.5 GiB now" in pool.why
    assert pool.in_use == "0 of 1000 pages committed (total 1000 - free 1000 + reserved 0)"
    assert pool.fix.startswith("the pool must have 30721 pages: apply is blocked. First: ")
    assert pool.commands == ()
    assert "The whole SGA (60.0 GiB)" in findings["sga_in_huge_pages"].why
    assert findings["page_table_cost"].status == "warn"
    # 30 processes, each with 60 GiB / 512 of page tables: what the article measured.
    assert "up to 3.5 GiB" in findings["page_table_cost"].in_use


def test_35893_pages_cover_it_with_a_surplus(judge_pack):
    findings = judge_pack("seed-35893-pages")
    pool = findings["pool_covers_sga"]
    assert pool.status == "pass"
    assert pool.in_use == "30721 of 35893 pages committed (total 35893 - free 5245 + reserved 73)"
    surplus = findings["pool_not_wasted"]
    assert surplus.status == "warn" and "5172 pages (10.1 GiB) are not required" in surplus.why
    assert surplus.in_use == "30721 committed, 5172 pages neither used nor reserved"
    assert findings["sga_in_huge_pages"].status == "pass"
    assert findings["page_table_cost"].status == "pass"
    assert findings["page_table_cost"].running == "14.0 MiB"


def test_whole_verdicts(judge_pack):
    few, many = (statuses(judge_pack(name)) for name in ("seed-1000-pages", "seed-35893-pages"))
    assert few == {
        "reserved": "skip",
        "pool_covers_sga": "fail",
        "sga_in_huge_pages": "fail",
        "pool_persisted": "fail",
        "single_source": "pass",
        "ram_share": "pass",
        "pool_not_wasted": "pass",
        "page_size": "pass",
        "numa_split": "skip",
        "no_overcommit": "skip",
        "memlock_persisted": "warn",
        "memlock_in_force": "pass",
        "shm_group": "warn",
        "no_amm": "pass",
        "transparent_hugepages": "skip",
        "page_table_cost": "warn",
    }
    changed = {check: status for check, status in many.items() if status != few[check]}
    assert changed == {
        "pool_covers_sga": "pass",
        "sga_in_huge_pages": "pass",
        "pool_persisted": "pass",
        # 74 % of the host's memory.
        "ram_share": "warn",
        "pool_not_wasted": "warn",
        "page_table_cost": "pass",
    }


@cases(
    "pack fixture",
    ("seed-1000-pages", "rhel-5.6-sga-60g-small-pages.txt"),
    ("seed-35893-pages", "rhel-5.6-sga-60g-huge-pages.txt"),
)
def test_meminfo_is_the_articles_own(pack, fixture):
    readings = json.loads((FOLDER / f"{pack}.json").read_text())["readings"]
    expected = (packs.FIXTURES / "meminfo" / fixture).read_text()
    assert readings["file:/proc/meminfo"]["text"] == expected


def test_seed_packs_hold_what_todays_controls_read():
    """If they do not: HOSTPROOF_WRITE_FIXTURES=1 pytest -k seed_packs tests/unit"""
    for name, text in seed_packs.seed_packs().items():
        if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
            (FOLDER / name).write_text(text)
        assert (FOLDER / name).read_text() == text


def test_policy_is_the_one_the_packs_were_read_for():
    assert {"instances": POLICY["hugepages_instances"]} == seed_packs.POLICY


def test_recording_of_a_machine_without_a_database_is_useful_and_not_red(judge):
    findings = judge(RecordedHost(*evidence.open_pack(str(FOLDER.parent / "laptop/laptop.json"))))
    statuses = {check: group[0].status for check, group in findings.items()}
    assert set(statuses.values()) == {"pass", "warn", "skip"}
    assert statuses["transparent_hugepages"] == "warn"
    assert [status for status in statuses.values() if status == "pass"] == ["pass"] * 8
