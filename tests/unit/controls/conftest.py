"""Judging and planning as the modules do, each finding checked against the published schema."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import advice_rows
import packs
import pytest
from ansible.module_utils.hostproof.apply.change import Plan
from ansible.module_utils.hostproof.collect.host import Host
from ansible.module_utils.hostproof.controls.hugepages.control import CONTROL as hugepages
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
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


@pytest.fixture(autouse=True)
def advice_is_stored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each fix that a test produces was reviewed and stored (advice_rows.py)."""
    advised: list[Finding] = []
    judge = Control.judge

    def noted(control: Control, *given: Any) -> list[Finding]:
        findings = judge(control, *given)
        if CONTROLS.get(control.name) is control:
            advised.extend(findings)
        return findings

    monkeypatch.setattr(Control, "judge", noted)
    yield
    rows = advice_rows.rows_of(advised)
    advice_rows.add(rows, _SEEN)
    if "HOSTPROOF_ADVICE" in os.environ:
        return
    new = advice_rows.text_of(advice_rows.not_stored(rows))
    assert not new, f"new advice: review it, then run tests/advice\n{new}"


#: The advice that the tests of this process produced.
_SEEN: advice_rows.Rows = {}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the advice to tests/advice, and to the process that started this one."""
    if "HOSTPROOF_ADVICE" in os.environ:
        path = Path(os.environ["HOSTPROOF_ADVICE"]) / str(os.getpid())
        path.write_text(advice_rows.text_of(_SEEN))
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["advice"] = advice_rows.text_of(_SEEN)


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
