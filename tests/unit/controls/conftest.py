"""Judging and planning as the modules do, each finding checked against the published schema."""

from collections.abc import Callable, Iterator
from typing import Any

import packs
import pytest
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.collect.host import Host
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.control import Control
from ansible.module_utils.hostproof.evaluate.finding import Finding

#: Check id without the control to its findings: one, or one for each instance or account.
Findings = dict[str, list[Finding]]


@pytest.fixture(autouse=True)
def no_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An error in Hostproof is an error finding too, so a test of an error would not notice it."""
    told: list[str] = []
    fault = audit._fault

    def noted(*given: Any) -> str:
        told.append(fault(*given))
        return told[-1]

    monkeypatch.setattr(audit, "_fault", noted)
    yield
    assert told == []


@pytest.fixture
def findings_of(validate_finding) -> Callable[[str, Host, dict[str, Any]], Findings]:
    """findings_of(control, host, policy): its findings by check, each valid by the schema."""

    def judge_host(control: str, host: Host, policy: dict[str, Any]) -> Findings:
        findings: Findings = {}
        for finding in audit.judge_host(host, {control: policy}):
            validate_finding(finding.as_dict())
            findings.setdefault(finding.check.removeprefix(f"{control}."), []).append(finding)
        return findings

    return judge_host


@pytest.fixture
def findings_by_rules(validate_finding) -> Callable[[Control, Host, dict[str, Any]], Findings]:
    """findings_by_rules(control, host, policy): as findings_of, but an exception stays one: an
    audit makes a finding of it."""

    def judge_host(control: Control, host: Host, given: dict[str, Any]) -> Findings:
        findings: Findings = {}
        policy = control.policy_from(given)
        for finding in control.judge(control.read(host, policy), policy):
            validate_finding(finding.as_dict())
            findings.setdefault(finding.check.removeprefix(f"{control.name}."), []).append(finding)
        return findings

    return judge_host


@pytest.fixture
def valid(validate_finding) -> Callable[..., Callable[..., dict[str, Finding]]]:
    """valid(judged): the function judged, which validates each finding that it returns."""

    def validated(judged: Callable[..., dict[str, Finding]]) -> Callable[..., dict[str, Finding]]:
        def judge_host(*given: Any, **changes: Any) -> dict[str, Finding]:
            findings = judged(*given, **changes)
            for finding in findings.values():
                validate_finding(finding.as_dict())
            return findings

        return judge_host

    return validated


@pytest.fixture
def judge(findings_of) -> Callable[..., Findings]:
    """judge(host, **changes of the policy of hugepages): findings by check."""
    return lambda host, **changes: findings_of("hugepages", host, packs.hugepages_policy(**changes))


@pytest.fixture
def plan() -> Callable[..., Plan]:
    """plan(host, **changes of the policy): the Plan for it."""

    def plan_host(host: Host, **changes: Any) -> Plan:
        policy = hugepages.policy_from(packs.hugepages_policy(**changes))
        return planner("hugepages")(hugepages.read(host, policy), policy)

    return plan_host
