"""Packs of hosts that only look ready, kept beside the checkout: none of them may pass.

They were recorded by 0.1.0, which lacks what later controls read, and are judged as they are:
what a pack shows to be wrong stays wrong whatever it does not hold.
"""

import os
from typing import Any, NamedTuple

import packs
import pytest
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.evaluate import audit
from default_policies import default_policy

FOLDER = packs.ROOT / "../shared/data/packs"


class Expected(NamedTuple):
    """``says`` is in the findings of the check; ``statuses`` are those that it may have."""

    control: str
    check: str
    statuses: tuple[str, ...]
    says: str = ""


FAIL = ("fail",)
PACKS = {
    "f1-tuned-reapply": [Expected("hugepages", "pool_persisted", FAIL, "1024 pages from")],
    "f2-forcedirectio": [Expected("nfs_mounts", "options_persisted", FAIL)],
    "f2-hrad": [Expected("nfs_mounts", "options_persisted", FAIL)],
    "f3-sga-raised": [
        Expected("hugepages", "pool_covers_sga", FAIL, "next start"),
        Expected("pre_page_sga", "pending_restart", ("warn",), "sga_max_size"),
    ],
    "f3b-sga-raised": [
        Expected("hugepages", "pool_covers_sga", FAIL, "next start"),
        Expected("pre_page_sga", "pending_restart", ("warn",), "sga_max_size"),
    ],
    "f4-nosuid-home": [
        Expected("nfs_mounts", "options_in_force", FAIL),
        Expected("nfs_mounts", "options_persisted", FAIL),
    ],
    "f5-1g-pages": [Expected("hugepages", "ram_share", FAIL)],
    "f6-octal": [Expected("hugepages", "pool_persisted", FAIL, "the kernel rejects it")],
    "f7-tuned-type": [Expected("hugepages", "pool_persisted", FAIL, "10 pages from tuned profile")],
    "f8-rclocal-sysctl-p": [Expected("hugepages", "pool_persisted", ("fail", "error"))],
}
ROWS = [(name, expected) for name, several in sorted(PACKS.items()) for expected in several]


def host_of(name: str) -> RecordedHost:
    if not FOLDER.is_dir():
        pytest.skip("the packs of ../shared are not on this machine")
    return RecordedHost(*evidence.open_pack(os.path.normpath(FOLDER / f"{name}.example.com.json")))


def policy_of(name: str, control: str) -> dict[str, Any]:
    policy = default_policy(control)
    if name == "f4-nosuid-home":
        policy["oracle_homes"] = ["/u01/app/oracle/product/19"]
    return policy


@pytest.mark.parametrize(
    ("name", "expected"), ROWS, ids=[f"{name} {row.control}.{row.check}" for name, row in ROWS]
)
def test_a_host_that_only_looks_ready_does_not_pass(name, expected):
    policies = {expected.control: policy_of(name, expected.control)}
    findings = audit.judge_host(host_of(name), policies)
    of_check = [
        finding for finding in findings if finding.check == f"{expected.control}.{expected.check}"
    ]
    wrong = [finding for finding in of_check if finding.status in expected.statuses]
    assert wrong, of_check
    assert expected.says in " ".join(str(part) for finding in wrong for part in finding)


def test_every_pack_is_judged():
    if not FOLDER.is_dir():
        pytest.skip("the packs of ../shared are not on this machine")
    assert sorted(path.name.split(".")[0] for path in FOLDER.glob("*.json")) == sorted(PACKS)
