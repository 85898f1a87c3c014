"""The findings of each control when one answer of a good host fails, is denied, absent or empty.

The statuses that change are in lost_answers.json, with the first new sentence and the plan: a line
for each outcome, then the answers and faults that have it. If a control was changed on purpose,
review the difference after
HOSTPROOF_WRITE_FIXTURES=1 pytest -k lost_answers tests/unit
"""

import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import account_packs
import clock_packs
import cluster_packs
import example_packs
import firewall_packs
import interconnect_packs
import io_packs
import kernel_packs
import latency_packs
import limit_packs
import listener_packs
import memory_packs
import name_packs
import nfs_packs
import nic_packs
import oracle_packs
import package_packs
import packs
import platform_packs
import pytest
import space_packs
import test_packs_by_command
import test_time_sync
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS, NAMES, planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from cases import cases
from default_policies import default_policy
from stored import text_of

# Only rules are evaluated; a module of the stories also starts plays.
pytestmark = pytest.mark.one_core

EXPECTED = Path(__file__).with_name("lost_answers.json")
Readings = dict[str, Any]


class Story(NamedTuple):
    control: str
    machine: Callable[[], packs.Machine]
    changes: dict[str, Any] = {}


def _accounts() -> packs.Machine:
    machine = account_packs.instance(account_packs.host())
    return account_packs.inventory(machine, "54321 54321 770\n")


def _clock() -> packs.Machine:
    return test_time_sync.with_clusterware(clock_packs.with_chrony(), test_time_sync.OBSERVER)


def _limits() -> packs.Machine:
    return limit_packs.process(limit_packs.with_oracle(), "ora_pmon_ORCL", 4101)


def _memory() -> packs.Machine:
    return memory_packs.process(memory_packs.host(), "ora_pmon_ORCL", 11, 0)


def _packages(name: str) -> packs.Machine:
    return kernel_packs.with_home(package_packs.recorded(name))


def _platform(name: str, kernel: str) -> packs.Machine:
    return kernel_packs.with_home(platform_packs.host(name, kernel))


RAC = {"profile": "rac_asm"}
STORIES = {
    "accounts": Story("accounts", _accounts),
    "async_io": Story("async_io", io_packs.story),
    "async_io on NFS": Story("async_io", lambda: io_packs.story(mounts=io_packs.ON_NFS)),
    "async_io of a stopped instance": Story("async_io", io_packs.down),
    "block_devices": Story("block_devices", test_packs_by_command.disks),
    "cluster_nodes": Story("cluster_nodes", lambda: cluster_packs.node("db1")),
    "firewall": Story("firewall", firewall_packs.host, RAC),
    "flow_control": Story("flow_control", nic_packs.storage_host),
    "flow_control of a bond": Story("flow_control", nic_packs.bonded_host),
    "hugepages": Story("hugepages", packs.database_host),
    "interconnect": Story("interconnect", interconnect_packs.Node),
    "kernel_parameters": Story(
        "kernel_parameters", lambda: kernel_packs.with_home(kernel_packs.stock())
    ),
    "latency": Story("latency", latency_packs.real_host),
    "listener_rate_limit": Story("listener_rate_limit", listener_packs.ready_host),
    "memory_pressure": Story("memory_pressure", _memory),
    "name_resolution": Story("name_resolution", name_packs.node),
    "nfs_mounts": Story("nfs_mounts", nfs_packs.ready_host),
    "packages": Story("packages", lambda: _packages("rhel-9.4"), RAC),
    "platform": Story(
        "platform", lambda: _platform("rhel-9.4", "5.14.0-427.13.1.el9_4.x86_64"), RAC
    ),
    "pool_validation": Story(
        "pool_validation",
        test_packs_by_command.application_server,
        test_packs_by_command.CHANGED["pool_validation"],
    ),
    "pre_page_sga": Story("pre_page_sga", oracle_packs.story),
    "pre_page_sga of a stopped instance": Story("pre_page_sga", oracle_packs.down),
    "process_limits": Story("process_limits", _limits),
    "space": Story("space", lambda: space_packs.with_home(space_packs.mounted(packs.linux())), RAC),
    "time_sync": Story("time_sync", _clock, RAC),
}
#: Example packs with what no story has, and the controls that judge it: a filer, and an AIX.
EXAMPLES = {
    "db05.example.com": ("io_pacing", "nfs_mounts", "storage_type"),
    example_packs.AIX: tuple(NAMES),
}


def failed(reading: Readings) -> Readings | None:
    """A command that ends with an error, and has printed what it prints otherwise."""
    if reading["kind"] != "command" or reading.get("rc") != 0:
        return None
    return reading | {"rc": 9, "stderr": "made up"}


def denied(reading: Readings) -> Readings:
    return {"kind": reading["kind"], "error": "denied", "message": "no permission"}


def absent(reading: Readings) -> Readings:
    return {"kind": reading["kind"], "error": "absent", "message": "made up"}


def emptied(reading: Readings) -> Readings | None:
    empty = {name: "" for name in ("text", "stdout") if reading.get(name)}
    return reading | empty if empty else None


def altered(reading: Readings) -> Readings | None:
    """The first number is another one: a pair of counters contradicts itself, a size is larger."""
    for name in ("text", "stdout"):
        if re.search(r"\d", reading.get(name) or ""):
            return reading | {name: re.sub(r"\d+", lambda n: n[0] + "7", reading[name], count=1)}
    return None


FAULTS = (failed, denied, absent, emptied, altered)


class Noted(RecordedHost):
    """Records which answers a control reads."""

    def __init__(self, readings: Readings) -> None:
        super().__init__(readings)
        self.asked: set[str] = set()

    def _answer(self, key, kind, ask, record=None):
        self.asked.add(key)
        return super()._answer(key, kind, ask, record)


class Judged(NamedTuple):
    findings: list[Finding]
    plan: str
    asked: set[str]


def judged(control: str, policy: Readings, readings: Readings) -> Judged:
    host = Noted(readings)
    read, known = CONTROLS[control].read, []

    def once(*given: Any) -> Any:
        known.append(read(*given))
        return known[-1]

    with mock.patch.object(CONTROLS[control], "read", once):
        findings = audit.judge_host(host, {control: policy})
    values = CONTROLS[control].policy_from(policy)
    facts = known.pop if known else functools.partial(read, host, values)
    return Judged(findings, planned(control, values, facts), host.asked)


def planned(control: str, values: Any, facts: Callable[[], Any]) -> str:
    """What apply would do."""
    try:
        found = planner(control)(facts(), values)
    except HostproofError as problem:
        return f"{type(problem).__name__}: {problem}"[:100]
    reasons = [reason.override or reason.reason[:100] for reason in found.refusals]
    return f"{len(found.changes)} changes" + "".join(f"; refused: {text}" for text in reasons)


def difference(was: Judged, now: Judged) -> dict[str, Any]:
    """{status: its checks that had another, "says": the first sentence that is new, "plan"}"""
    before, after = was.findings, now.findings
    old = {(finding.check, finding.title.partition(": ")[0], finding.status) for finding in before}
    why = {finding.why for finding in before}
    changed: dict[str, Any] = {}
    for finding in after:
        if (finding.check, finding.title.partition(": ")[0], finding.status) not in old:
            checks = changed.setdefault(finding.status, [])
            name = finding.check.partition(".")[2]
            if name not in checks:
                checks.append(name)
    says = next((finding.why for finding in after if finding.why not in why), None)
    shown = {status: " ".join(checks) for status, checks in sorted(changed.items())}
    shown |= {"says": says[:160]} if says else {}
    return shown | ({"plan": now.plan} if now.plan != was.plan else {})


def outcomes(control: str, policy: Readings, readings: Readings) -> Iterator[tuple[str, Any]]:
    before = judged(control, policy, readings)
    for key in sorted(before.asked & set(readings)):
        if "error" in readings[key]:
            continue
        for fault in FAULTS:
            reading = fault(readings[key])
            if reading is None:
                continue
            changed = difference(before, judged(control, policy, readings | {key: reading}))
            if changed:
                yield f"{key[:200]} {fault.__name__}", changed


def of_story(name: str) -> Readings:
    story = STORIES[name]
    policy = default_policy(story.control, secrets=True) | story.changes
    machine = story.machine()
    audit.read_host(machine, {story.control: policy})
    return dict(outcomes(story.control, policy, machine.evidence))


def of_example(host: str) -> Readings:
    readings = evidence.open_pack(str(example_packs.FOLDER / f"{host}.json"))[0]
    policies = example_packs.policies()
    return {
        f"{name}: {key}": changed
        for name in EXAMPLES[host]
        for key, changed in outcomes(
            name, policies.get(name) or default_policy(name, secrets=True), readings
        )
    }


def found(name: str) -> dict[str, list[str]]:
    """Each outcome as text, with what leads to it."""
    by_outcome: dict[str, list[str]] = {}
    for cause, changed in (of_story(name) if name in STORIES else of_example(name)).items():
        words = "; ".join(f"{status}: {text}" for status, text in changed.items())
        by_outcome.setdefault(words, []).append(cause)
    return by_outcome


@pytest.fixture(scope="module")
def expected() -> Readings:
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        EXPECTED.write_text(text_of({name: found(name) for name in (*STORIES, *EXAMPLES)}, 2))
    return dict(json.loads(EXPECTED.read_text()))


@cases("name", *STORIES, *EXAMPLES)
def test_what_a_lost_answer_leads_to(name: str, expected: Readings):
    """If it is meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k lost_answers tests/unit"""
    assert found(name) == expected[name]


def test_no_expectation_without_a_story(expected: Readings):
    assert set(expected) == {*STORIES, *EXAMPLES}
