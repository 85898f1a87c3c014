"""At which value of a numeric variable a verdict changes: at the observed number, or beyond it.

Each variable gets the numbers that findings compare, and those a step beside them. The verdicts are
in thresholds.json; HOSTPROOF_WRITE_FIXTURES=1 pytest -k thresholds tests/unit
"""

import functools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import example_packs
import interconnect_packs
import io_packs
import nfs_packs
import packs
import pytest
import test_lost_answers
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from default_policies import default_policy
from nfs_packs import Did, Op
from stored import text_of

# Only rules are evaluated; a module of the stories also starts plays.
pytestmark = pytest.mark.one_core

EXPECTED = Path(__file__).with_name("thresholds.json")
BOUNDS = json.loads((Path(__file__).parents[1] / "policy_bounds.json").read_text())
STEP = 0.001


class Case(NamedTuple):
    control: str
    readings: dict[str, Any]
    changes: dict[str, Any]


def told(control: str, machine: packs.Machine, changes: dict[str, Any]) -> Case:
    audit.read_host(machine, {control: default_policy(control, secrets=True) | changes})
    return Case(control, machine.evidence, changes)


def of_story(name: str) -> Case:
    story = test_lost_answers.STORIES[name]
    return told(story.control, story.machine(), story.changes)


def of_example(number: int, control: str) -> Case:
    path = example_packs.FOLDER / f"db0{number}.example.com.json"
    return Case(
        control, evidence.open_pack(str(path))[0], example_packs.policies().get(control, {})
    )


def mount(op: Op, shows: str | None = None, **wire: int) -> Case:
    """A mount whose requests are slow, wait, or are sent again."""
    options = nfs_packs.OPTIONS.replace("tcp", "udp") if shows else nfs_packs.OPTIONS
    machine = nfs_packs.nfs_host().persisted_mount(
        "/u02", "filer1:/vol/u02", options, shows, did=Did(read=op, write=op)
    )
    machine.database("/u02/oradata/ORCL/system01.dbf", "/u02/oradata/ORCL/redo01.log")
    return told("nfs_mounts", machine.wire(**wire), {})


CASES: dict[str, Callable[[], Case]] = {
    **{name: functools.partial(of_story, name) for name in test_lost_answers.STORIES},
    **{
        f"{control} of db0{number}": functools.partial(of_example, number, control)
        for number, controls in {
            1: ("async_io", "hugepages", "listener_rate_limit"),
            2: ("async_io", "hugepages"),
            3: ("hugepages",),
            5: ("flow_control", "nfs_mounts", "storage_type"),
        }.items()
        for control in controls
    },
    "nfs_mounts with a busy mount": lambda: mount(
        Op(ops=900, rtt=24.0, queue=7.0, retransmissions=9)
    ),
    "nfs_mounts with a queue": lambda: mount(Op(ops=900, rtt=1.0, queue=7.0)),
    "nfs_mounts over UDP": lambda: mount(
        Op(ops=900, retransmissions=9), nfs_packs.shown(proto="udp")
    ),
    "nfs_mounts with lost segments": lambda: mount(Op(), sent=20000, retransmitted=100),
    "nfs_mounts with segments lost somewhere": lambda: mount(
        Op(), sent=20000, retransmitted=100, shown_by_ss=False
    ),
    "interconnect with losses": lambda: told(
        "interconnect", interconnect_packs.Node().lost(IPReversePathFilter=30, IpReasmFails=30), {}
    ),
    "async_io with many events": lambda: told("async_io", io_packs.story(used=600000), {}),
}


def is_accepted(case: Case, field: str, value: float) -> bool:
    try:
        CONTROLS[case.control].policy_from(policy_of(case) | {field: value})
    except PolicyError:
        return False
    return True


def policy_of(case: Case) -> dict[str, Any]:
    return default_policy(case.control, secrets=True) | case.changes


def judged(case: Case, **changes: Any) -> list[Finding]:
    return audit.judge_host(RecordedHost(case.readings), {case.control: policy_of(case) | changes})


def verdicts(findings: list[Finding]) -> dict[str, str]:
    return {
        f"{finding.check.partition('.')[2]} {finding.title.partition(': ')[0]}"
        if ": " in finding.title
        else finding.check.partition(".")[2]: finding.status
        for finding in findings
    }


def candidates(findings: list[Finding], is_whole: bool) -> Iterator[float]:
    for finding in findings:
        numbers = [n for n in (finding.values or {}).values() if isinstance(n, int | float)]
        # A share is of two of them.
        shares = [100 * n / of for n in numbers for of in numbers if of > n > 0]
        for number in [*numbers, *(round(share, 3) for share in shares)]:
            step = 1 if is_whole else STEP
            for place in (number - step, number, number + step):
                yield round(place) if is_whole else round(place, 3)


def changes_of(case: Case, field: str, low: float, high: float | None) -> list[Any]:
    """[value, its verdicts that differ from those of the value before], in their order."""
    is_whole = isinstance(default_policy(case.control, secrets=True)[field], int) and not (
        is_accepted(case, field, low + 0.5)
    )
    values = {*candidates(judged(case), is_whole), low, *([high] if high else [])}
    values = [value for value in sorted(values)[:400] if is_accepted(case, field, value)]

    @functools.cache
    def at(place: int) -> dict[str, str]:
        return verdicts(judged(case, **{field: values[place]}))

    def between(first: int, last: int) -> Iterator[Any]:
        """A verdict does not go to and fro while a limit rises: equal at both ends is equal
        between, which spares most of the places."""
        if field not in EXACT and at(first) == at(last):
            return
        if last - first > 1:
            middle = (first + last) // 2
            yield from between(first, middle)
            yield from between(middle, last)
        else:
            was = at(first)
            changed = {name: now for name, now in at(last).items() if was.get(name) != now}
            if changed:
                yield [values[last], changed]

    return list(between(0, len(values) - 1))


#: One of these values is right; a lower and a higher one are wrong.
EXACT = {"scan_address_count"}


def of_case(name: str) -> dict[str, Any]:
    case = CASES[name]()
    every = {
        field: changes_of(case, field, *limits)
        for field, limits in BOUNDS.get(case.control, {}).items()
        if field not in LEFT_OUT
    }
    return {field: changes for field, changes in every.items() if changes}


#: These say how to ask, and not what is good.
LEFT_OUT = {
    "answer_seconds", "multicast_seconds", "snmp_agent_timeout", "snmp_port", "snmp_retries",
    "snmp_timeout", "snmp_total_timeout", "sqlplus_timeout", "window_seconds",
}  # fmt: skip


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        EXPECTED.write_text(text_of({name: found for name in CASES if (found := of_case(name))}, 2))
    return dict(json.loads(EXPECTED.read_text()))


@pytest.mark.parametrize("name", CASES)
def test_where_a_verdict_changes(name: str, expected: dict[str, Any]):
    """If it is meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k thresholds tests/unit"""
    assert json.loads(json.dumps(of_case(name))) == expected.get(name, {})
