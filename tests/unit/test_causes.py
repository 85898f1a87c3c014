"""What findings rest on: declared beside the rules, and said of a host where it is so."""

from ansible.module_utils.hostproof.controls import registry as controls
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SKIP,
    WARN,
    Check,
    keep_failed_causes,
    make_finding,
)
from cases import cases

POOL = Check("c.pool", "The pool fits", "high", "now", "It breaks.", "a book")
START = Check("c.start", "It starts", "high", "reboot", "It breaks.", "a book", ("c.pool", "d.x"))


def rested(status, *causes, of="ora1"):
    symptom = make_finding(START, status, title=f"{of}: It starts")
    return keep_failed_causes([*causes, symptom])[-1].because_of


def checks():
    return {
        check.id: check.because_of
        for control in controls.CONTROLS.values()
        for check in control.checks
    }


def test_every_cause_is_a_check():
    known = checks()
    named = {cause for causes in known.values() for cause in causes}
    assert len(named) > 20
    assert named <= set(known)


def test_nothing_is_its_own_cause():
    known = checks()
    assert any(known.values())

    def above(check, way):
        assert check not in way, f"{check} causes itself"
        for cause in known[check]:
            above(cause, (*way, check))

    for check in known:
        above(check, ())


@cases(
    "status cause rests",
    (FAIL, FAIL, True),
    (WARN, FAIL, True),
    (FAIL, WARN, True),
    (FAIL, PASS, False),
    (FAIL, SKIP, False),
    (ERROR, ERROR, True),
    # What is known to be wrong is so whatever is not known, and the other way round.
    (FAIL, ERROR, False),
    (ERROR, FAIL, False),
    (PASS, FAIL, False),
    (SKIP, FAIL, False),
)
def test_a_finding_rests_on_what_is_not_well(status, cause, rests):
    assert rested(status, make_finding(POOL, cause)) == (("c.pool",) if rests else ())


def test_where_the_cause_has_the_subject_that_one_counts():
    other, own = (
        make_finding(POOL, FAIL, title="ora2: The pool fits"),
        make_finding(POOL, PASS, title="ora1: P"),
    )
    assert rested(FAIL, other) == ("c.pool",)
    assert rested(FAIL, other, own) == ()
    assert rested(FAIL, other, own, of="ora2") == ("c.pool",)


def test_a_cause_that_was_not_judged_is_none():
    assert rested(FAIL) == ()
