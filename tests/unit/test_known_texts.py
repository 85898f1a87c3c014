"""What is always said of a check stays on the controller, and no finding is without it."""

import ast
import copy

import pytest
from hostproof_controller import known_texts, payload
from hostproof_controller.cli import explain
from hostproof_controller.known_texts import MARK

TEXTS = {"a.b": {"title": "The title", "why": "The reason."}}


def finding(**given):
    return {"check": "a.b", "title": MARK, "why": MARK, "reference": "a document", **given}


def test_each_text_is_what_the_check_itself_has():
    checks = {one.id: one._asdict() for one in explain.all_checks()}
    texts = payload.check_texts()
    # Those that a loop makes have no place of their own in the source.
    assert {name for name, found in texts.items() if "title" in found} <= set(checks)
    assert len(texts) > 0.9 * len(checks)
    for name, found in texts.items():
        said = {field: text for field, text in found.items() if field != "fix"}
        assert said == {field: checks[name][field] for field in said}
        assert found.get("fix") != ""


def test_an_advice_stays_where_a_rule_has_but_one():
    rules = ast.parse(
        '@rules.check("a.one", "T")\ndef one(): return Verdict(fix="do it")\n'
        '@rules.check("a.two", "T")\ndef two(): return [Verdict(fix="do it"), Verdict(fix=this)]\n'
        '@rules.check("a.else", "T")\ndef other(): return Verdict(why=text(Problem(fix="it")))\n'
        '@rules.check("a.made", "T")\ndef made(): return Verdict(fix=f"do {it}")\n'
    )
    found = known_texts.texts_of(rules)
    assert found["a.one"] == {"title": "T", "fix": "do it"}
    assert found["a.two"] == found["a.made"] == found["a.else"] == {"title": "T"}
    said = [finding(check="a.one", fix=MARK), finding(check="a.one", fix=None)]
    known_texts.restore(said, found)
    assert [one["fix"] for one in said] == ["do it", None]


def test_they_do_not_travel_and_the_mark_is_nobody_else_s():
    travelling = "\0".join(one.text for one in payload.all_sources().values())
    for found in payload.check_texts().values():
        assert found["title"] not in travelling
    for _, content in payload._read().values():
        assert MARK not in content.decode()


def test_no_title_reads_as_a_subject_and_a_title():
    assert not [
        found["title"] for found in payload.check_texts().values() if ": " in found["title"]
    ]


@pytest.mark.parametrize(
    ("said", "title", "why"),
    [
        ({}, "The title", "The reason."),
        ({"title": f"eth0: {MARK}"}, "eth0: The title", "The reason."),
        ({"why": f"It is so. {MARK} No more."}, "The title", "It is so. The reason. No more."),
        ({"title": "Its own", "why": "Its own."}, "Its own", "Its own."),
        # A host's own would make a long text of a short one.
        ({"why": MARK * 1000}, "The title", "The reason." + MARK * 999),
    ],
)
def test_a_finding_gets_its_check_s_texts(said, title, why):
    findings = [finding(**said)]
    known_texts.restore(findings, TEXTS)
    assert findings == [finding(title=title, why=why)]


@pytest.mark.parametrize(
    "answered",
    [
        None,
        MARK,
        {"check": "a.b", "title": MARK},
        [MARK, None, 1, [MARK], {}],
        [finding(check="a.c"), finding(check=["a.b"]), finding(check=None)],
        [finding(title=[MARK], why={MARK: MARK})],
    ],
)
def test_what_is_no_finding_stays_as_it_is(answered):
    before = copy.deepcopy(answered)
    known_texts.restore(answered, TEXTS)
    assert answered == before
