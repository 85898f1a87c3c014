"""Judging and planning as the modules do, each finding checked against the published schema."""

from collections.abc import Callable
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.collect.host import Host
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding

#: Check id without the control to its findings: one, or one for each instance or account.
Findings = dict[str, list[Finding]]


@pytest.fixture
def judge(validate_finding) -> Callable[..., Findings]:
    """judge(host, **changes of the policy): findings by check."""

    def judge_host(host: Host, **changes: Any) -> Findings:
        found: Findings = {}
        policies = {"hugepages": packs.hugepages_policy(**changes)}
        for finding in audit.judge_host(host, policies):
            validate_finding(finding.as_dict())
            found.setdefault(finding.check.removeprefix("hugepages."), []).append(finding)
        return found

    return judge_host


@pytest.fixture
def plan() -> Callable[..., Plan]:
    """plan(host, **changes of the policy): the Plan for it."""

    def plan_host(host: Host, **changes: Any) -> Plan:
        policy = hugepages.policy_from(packs.hugepages_policy(**changes))
        return planner("hugepages")(hugepages.read(host, policy), policy)

    return plan_host
