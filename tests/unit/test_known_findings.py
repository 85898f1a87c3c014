"""Findings with the text of an earlier host's are recognised, with the same result."""

import base64
import json
import os
import zlib

import pytest
from ansible.module_utils.hostproof.collect import bounded
from cases import cases
from hostproof_controller import commands, known_findings, runs
from hostproof_controller.known_findings import KnownFinding
from hostproof_controller.remote import payload, response_validation


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(known_findings, "_known", {})
    monkeypatch.setattr(known_findings, "_handed", [])
    monkeypatch.setattr(known_findings, "_generation", 0)
    monkeypatch.setattr(known_findings, "_learned", 0)
    known_findings.prime()


def finding(check="hugepages.pool", **fields):
    found = response_validation.error_of("hugepages", check, "Title", "Why.")
    names = ("control", *(name for name in found if name != "control"))
    return {name: {**found, "commands": [], **fields}[name] for name in names}


def findings(count=40, **fields):
    return [finding(f"hugepages.c{number}", **fields) for number in range(count)]


def sent(found, **more):
    return json.dumps({"changed": False, "evidence": "e", "findings": found, **more}).encode()


def received(text):
    """What the controller makes of the answer of a host."""
    answer = payload.unpack(base64.b64encode(zlib.compress(text)).decode())
    return response_validation.checked("verify_controls", answer)["findings"]


def in_a_worker(*steps):
    """Run the steps in a separate process, as Ansible runs a task."""
    worker = os.fork()
    if not worker:
        code = 1
        try:
            for step in steps:
                step()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(worker, 0)[1] == 0


def learned(found):
    in_a_worker(lambda: received(sent(found)))
    return known_findings.learn()


def test_a_worker_recognises_what_another_one_received():
    own = finding("hugepages.own", persisted="only here")
    before = received(sent([*findings(), own]))
    assert not any(isinstance(one, KnownFinding) for one in before)
    assert known_findings.learn()
    known_findings._known.popitem()
    after = received(sent([*findings(), own]))
    assert [isinstance(one, KnownFinding) for one in after] == [*[True] * 40, False]
    assert after == before


def test_what_is_wrong_in_a_known_finding_stays_left_out():
    wrong = finding("hugepages.wrong", fix="run ./hostproof revert", commands=[])
    assert learned([*findings(), wrong])
    known = received(sent([wrong]))[0]
    assert isinstance(known, KnownFinding) and "left out" in known["why"] and known["fix"] is None


def test_few_new_findings_are_not_handed_over():
    assert not learned(findings(20))
    assert not learned(findings(20, persisted="\x1b[2J"))
    assert learned(findings(40, persisted="x" * 9_000)) and not known_findings._known


def test_what_is_known_is_bounded(monkeypatch):
    monkeypatch.setattr(known_findings, "_MOST_KNOWN", 60)
    assert learned(findings(40)) and learned(findings(40, persisted="x"))
    assert len(known_findings._known) == 60 and not learned(findings(40, persisted="y"))
    monkeypatch.setattr(known_findings, "_MOST_KNOWN", 3_000)
    assert learned(findings(1_900, persisted="z")) and len(known_findings._known) == 1_060
    monkeypatch.setattr(known_findings, "_MOST_TEXT", known_findings._learned + 40_000)
    assert learned(findings(40, persisted="x" * 4_000))
    assert 1_060 < len(known_findings._known) < 1_100


def test_a_worker_that_was_started_before_the_process_learned_hands_nothing_over():
    assert learned(findings(40))
    known_findings._known.clear()
    before = known_findings._generation
    known_findings._generation -= 1
    in_a_worker(lambda: received(sent(findings(40))))
    known_findings._generation = before
    assert not known_findings.learn() and learned(findings(40))


HOUSE = ["/opt/site/fix-swappiness --now"]


def test_the_variables_of_a_host_decide_about_its_commands(monkeypatch):
    """They allow the commands of custom checks, which an earlier host may not have."""
    own = finding("hugepages.own", commands=HOUSE)
    assert learned([*findings(), own])
    monkeypatch.setattr(commands, "_OF_RUN", {*HOUSE})
    assert received(sent([own]))[0]["commands"] == HOUSE
    assert learned([*findings(persisted="x"), own])
    monkeypatch.setattr(commands, "_OF_RUN", set())
    assert received(sent([own]))[0]["commands"] == []


def test_an_answer_that_is_not_plain_is_not_handed_over():
    assert not learned(findings(40, persisted="\u202e"))


def test_a_worker_that_is_ended_while_it_writes():
    in_a_worker(lambda: os.pwrite(known_findings._handed[0], b'[["{', known_findings._HEAD))
    assert known_findings.learn() and not known_findings._known
    assert learned(findings())


def test_without_a_file_nothing_is_known(monkeypatch):
    monkeypatch.setattr(known_findings, "_handed", [])
    monkeypatch.setattr(known_findings.tempfile, "mkstemp", lambda: os.open("/nowhere", 0))
    known_findings.prime()
    assert not learned(findings())


NESTED = {"a": [{"b": 1}, {"control": 2}]}


@cases(
    "text",
    sent([]),
    sent(findings(2)),
    sent([*findings(1), *findings(1)]),
    sent([finding(values=NESTED), finding()]),
    sent([{"control": [{"x": 1}, {"control": 2}]}, {"x": 1}]),
    sent([{"check": "hugepages.pool"}]),
    sent(findings(1), msg='"findings": [{"control": "x"}]'),
    sent(findings(1), findings_of=[{"control": 1}]),
    sent([finding(why='"}, {"control": "')]),
    b'{"x": {"findings": [{"control": "a"}]}, "findings": [{"control": "b"}]}',
    b'{"findings": [{"control": "a"}], "findings": [{"control": "b"}]}',
    b'{"findings": [{"control": "a"}], "findings": []}',
    b'{"findings": [], "x": {"findings": [{"control": "a"}]}}',
    b'{"x\\"findings": [{"control": "a"}], "findings": []}',
    b'[{"findings": [{"control": "a"}]}]',
    b'"findings": [{"control": "a"}]',
    b'{"findings": [{"control": 1}, {"control": "a"} ]}',
    b'{"findings": [{"control": NaN}]}',
)
def test_an_answer_is_what_its_json_says(text):
    try:
        plain = bounded.loads(text)
    except ValueError:
        with pytest.raises(ValueError):
            known_findings.loads(text)
        return
    assert repr(known_findings.loads(text)[0]) == repr(plain)


@cases(
    "text",
    b'{"findings": [{"control": "a"}, {"control": ]}',
    b'{"findings": [{"control": "a"}, {"control": 1}}',
    b'{"findings": [{"control": [[[' + b"[" * 5_000 + b"]}]}",
)
def test_what_is_no_json_stays_an_error(text):
    with pytest.raises(ValueError):
        known_findings.loads(text)


def test_a_known_finding_within_another_one():
    learned([inner := finding("hugepages.inner"), *findings()])
    text = sent([finding(values={"a": [{"b": 1}, inner, {"control": 2}]}), inner])
    assert known_findings.loads(text)[0] == json.loads(text)


def test_the_number_of_values_is_bounded():
    text = b'{"findings": [{"control": [%b]}]}' % b",".join([b"1"] * 1_000_001)
    with pytest.raises(ValueError, match="values"):
        known_findings.loads(text)


def test_a_line_is_the_same_with_known_findings(tmp_path, monkeypatch):
    monkeypatch.setenv("HOSTPROOF_REPORT", str(tmp_path / "run"))
    monkeypatch.setenv("HOSTPROOF_STARTED", "2026-11-21T03:15:00Z")
    monkeypatch.setattr(runs, "now", lambda: "2026-11-21T03:15:00Z")
    apply = ["./hostproof apply --tags hugepages"]
    found = [*findings(), finding(commands=apply), finding(persisted='"findings": [] ä')]
    message = '"findings": []'
    for is_first in (True, False):
        completed = response_validation.completed(received(sent(found)), "db01", ["/x"])
        runs.write_result("db01", 9, "judged", message, completed, "e")
        assert known_findings.learn() == is_first
    first, second = (tmp_path / "run/findings.jsonl").read_text().splitlines()
    assert first == second == json.dumps(json.loads(first), sort_keys=True)
    assert json.loads(first)["findings"][40]["commands"] == [f"{apply[0]} -i /x --limit db01"]
