# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs of every release stay readable, and the register of readings says what they lack."""

import json
import re
from typing import Any

import example_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect import answer, evidence, readings
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.errors import NotRecorded, Unanswered
from ansible.module_utils.hostproof.evaluate import audit, checking
from cases import cases
from hostproof_controller.report.renamed import CHECKS

FOLDER = packs.FIXTURES / "released_packs"
PACKS = [
    pytest.param(path, id=f"{path.parent.name}-{path.stem}")
    for path in sorted(FOLDER.glob("*/*.json"))
    if path.name != "statuses.json"
]
RANK = {"skip": 0, "pass": 0, "warn": 1, "error": 2, "fail": 3}


def statuses_of(path: Any) -> tuple[dict[str, str], list[str]]:
    stored = json.loads((path.parent / "statuses.json").read_text())
    return {CHECKS.get(c, c): s for c, s in stored["worst"][path.stem].items()}, stored[
        "incomplete"
    ]


class Listening(RecordedHost):
    """Notes the keys that the pack lacks."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lacking: set[str] = set()

    def _answer(self, key: str, *arguments: Any, **options: Any) -> dict[str, Any]:
        former = readings.RENAMED.get(key)
        if key not in self.evidence and former not in self.evidence:
            self.lacking.add(key)
        return super()._answer(key, *arguments, **options)


@pytest.mark.parametrize("path", PACKS)
def test_packs_of_a_release_keep_their_failures(path):
    """A failure that becomes unknown, or a better status, is a fault; so is an unregistered key."""
    then, incomplete = statuses_of(path)
    controls = {check.partition(".")[0] for check in then}
    policies = {n: p for n, p in example_packs.policies().items() if n in controls}
    host = Listening(*evidence.open_pack(str(path)))
    today: dict[str, str] = {}
    for finding in audit.judge_host(host, policies):
        worst = today.get(finding.check, "skip")
        today[finding.check] = max(worst, finding.status, key=RANK.__getitem__)
    unregistered = host.lacking - {gap.key for gap in host.not_recorded} - set(incomplete)
    assert not unregistered, "add a line for each to collect/readings.py, with the next release"
    better = {
        check: (status, today.get(check))
        for check, status in then.items()
        if status in ("fail", "warn") and RANK[today.get(check, "skip")] < RANK[status]
    }
    assert better == {}
    # Without evidence that names a problem an unknown stays unknown.
    lost = {c for c, s in then.items() if s == "error" and today.get(c) in ("pass", "skip")}
    assert lost == set()


@pytest.mark.parametrize("path", PACKS)
def test_no_registered_reading_is_in_an_older_pack(path):
    for key in evidence.open_pack(str(path))[0]:
        assert readings.newer_than(path.parent.name, key) is None, key


def test_each_pattern_is_a_key_that_the_code_reads():
    """A line of the register that nothing reads is left over."""
    folder = packs.ROOT / "module_utils/hostproof"
    sources = (path for path in folder.rglob("*.py") if path.name != "readings.py")
    code = "\n".join(path.read_text() for path in sources)
    words = {pattern: re.findall(r"[a-z_]{3,}", pattern)[1:] for pattern, _since in readings.SINCE}
    assert {p: w for p, found in words.items() for w in found if w not in code} == {}


class TestAHostThatIsOlderThanAReading:
    KEY = "file:/etc/credstore/sysctl.extra"
    PATH = KEY.partition(":")[2]

    @cases(
        "release kind words",
        ("0.2.0", NotRecorded, "not recorded by Hostproof 0.2.0"),
        ("", NotRecorded, "not recorded by an unknown release"),
        ("0.3.0", Unanswered, "record it again"),
        ("0.10.0", Unanswered, "record it again"),
    )
    def test_what_it_answers(self, release, kind, words):
        with pytest.raises(kind, match=words):
            RecordedHost({}, release).read_text(self.PATH)

    def test_a_key_that_is_not_registered_is_missing(self):
        with pytest.raises(Unanswered, match="record it again"):
            RecordedHost({}, "0.1.0").read_text("/proc/meminfo")

    def test_an_optional_reading_counts_as_absent_and_is_noted(self):
        host = RecordedHost({}, "0.2.0")
        assert answer.unless_absent(answer.attempt(host.read_text, self.PATH), "none") == "none"
        assert [gap.counts_as_absent for gap in host.not_recorded] == [True]

    @cases("field", None, 3, "0.2", "0.2.0\n", "0.2.0-rc1", "²", "x" * 90, [])
    def test_a_pack_that_names_no_release(self, field):
        assert readings.release_of(field) == ""

    def test_a_known_layer_keeps_its_verdict(self):
        gap = NotRecorded(self.KEY, "0.3.0", "0.2.0")
        layers = (("running", 3), ("persisted", gap))
        verdict = checking.by_layers(checking.Verdict("pass"), layers)
        assert verdict.status == "pass"
        assert "persisted: " + self.KEY + ": not recorded by Hostproof 0.2.0" in verdict.unknown
        for others in ((), (("in_use", None),), (("in_use", Unanswered("x", "x")),)):
            with pytest.raises((NotRecorded, Unanswered)):
                checking.by_layers(checking.Verdict("pass"), (("persisted", gap), *others))
