"""What apply of pool_validation would tell a server, and what it refuses."""

import json

import pytest
from ansible.module_utils.hostproof.apply.change import CommandChange
from ansible.module_utils.hostproof.collect.command import Output, state_of
from ansible.module_utils.hostproof.controls.pool_validation.control import (
    CONTROL as pool_validation,
)
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import PolicyError, Unanswered
from cases import cases
from default_policies import default_policy
from packs import FIXTURES, Machine

JAVA = "/usr/lib/jvm/java-17/bin/java"
KEY = "jboss-cli shop: data sources"
SERVER = {"name": "shop", "home": "/opt/wildfly", "user": "wildfly"}
SORTER = "org.example.Sorter"
FG = '/subsystem=datasources/data-source="FG":'
BEHIND = {
    "pool": "UNSET",
    "server": "shop",
    "validation": "background",
    "sorter": SORTER,
    "flush": "EntirePool",
}
FRONT = {"pool": "FG", "server": "shop", "validation": "foreground"}


def fixture(name: str) -> str:
    return (FIXTURES / "pool_validation" / name).read_text()


@pytest.fixture
def plan():
    """plan(wanted, ..., answers=, server=, **policy): the plan for a server with these answers."""

    def plan_for(*wanted, answers=None, server=SERVER, **changes):
        host = Machine().link("/usr/bin/java", JAVA).folder("/opt/wildfly/standalone/deployments")
        host.file(JAVA, "").command(KEY, answers or fixture("answers.json"))
        settings = {"servers": [server], "pools": list(wanted), **changes}
        policy = pool_validation.policy_from(default_policy("pool_validation") | settings)
        return planner("pool_validation")(pool_validation.read(host, policy), policy)

    return plan_for


def told(command) -> str:
    """The operations of a command."""
    return command.argv[-1].removeprefix("--commands=")


def test_without_a_wish_nothing_is_changed(plan):
    planned = plan()
    assert (planned.changes, planned.refusals) == ([], [])
    assert planned.pending == ["pool_validation_pools names no pool."] and planned.idle


def test_one_batch_of_what_differs_and_its_exact_undo(plan):
    planned = plan(FRONT)
    (change,) = planned.changes
    assert isinstance(change, CommandChange) and change.atomic and planned.refusals == []
    assert told(change.make[0]) == (
        f"batch,{FG}write-attribute(name=background-validation,value=false),"
        f"{FG}write-attribute(name=validate-on-match,value=true),run-batch"
    )
    assert told(change.undo[0]) == (
        f"batch,{FG}write-attribute(name=background-validation,value=true),"
        f"{FG}write-attribute(name=validate-on-match,value=false),run-batch"
    )
    assert {command.user for command in (*change.make, *change.undo, change.look)} == {"wildfly"}
    assert change.look.argv[0] == JAVA


def test_what_was_not_set_is_undefined_again(plan):
    (change,) = plan(BEHIND, allow_stale_connections=True).changes
    assert "undefine-attribute(name=background-validation-millis)" in told(change.undo[0])
    assert "value=10000" in told(change.make[0])


def test_as_wanted_already_nothing_is_told(plan):
    pool = {**BEHIND, "pool": "BG", "millis": 20000, "sorter": None, "flush": None}
    assert plan(pool).changes == [] and plan(pool).refusals == []


@cases("allow_reload", True, False)
def test_a_reload_only_where_it_is_allowed(plan, allow_reload):
    planned = plan(FRONT, allow_reload=allow_reload)
    (change,) = planned.changes
    assert ([told(command) for command in change.make[1:]] == ["reload"]) is allow_reload
    assert ([told(command) for command in change.undo[1:]] == ["reload"]) is allow_reload
    assert ("server-state" in change.after) is allow_reload
    assert ("old values until it is reloaded" in " ".join(planned.pending)) is not allow_reload


def test_the_state_is_what_a_real_server_prints(plan):
    """Origin of the answers: SOURCES.md."""
    (change,) = plan(FRONT, allow_reload=True).changes
    printed = fixture("look-foreground.json")
    assert state_of(change.look, Output(0, printed, "WARN: no jboss-cli.xml\n")) == change.after
    waits = printed.replace('"running"', '"reload-required"')
    assert state_of(change.look, Output(0, waits, "")) != change.after


def test_a_server_that_waits_adds_a_header_to_its_answers(plan):
    """So each pool is looked at alone, and its state is the result alone (seen on WildFly)."""
    first, second = plan(FRONT, {**FRONT, "pool": "BG"}).changes
    result = fixture("look-foreground.json").partition("\n}\n")[0]
    header = ',\n    "response-headers" : {"process-state" : "reload-required"}\n}\n'
    assert state_of(first.look, Output(0, result + header, "")) == first.after
    assert state_of(first.look, Output(0, result + "\n}\n", "")) == first.after
    assert first.name != second.name


def test_the_background_needs_who_takes_the_risk(plan):
    planned = plan(BEHIND, round_trip_ms=6)
    (refusal,) = planned.refusals
    assert (planned.changes, refusal.override) == ([], "allow_stale_connections")
    assert "saves 6 ms a request" in refusal.reason
    assert "up to 20 requests get a dead connection" in refusal.reason
    assert plan(BEHIND, allow_stale_connections=True).refusals == []


@cases(
    "wanted said",
    ({**BEHIND, "sorter": None}, "has no exception sorter"),
    ({**FRONT, "pool": "NONE"}, "neither checker nor statement"),
    ({**FRONT, "pool": "gone"}, "no enabled data source"),
)
def test_what_would_validate_nothing_is_refused(plan, wanted, said):
    planned = plan(wanted, allow_stale_connections=True)
    assert planned.changes == []
    found = [(said in refusal.reason, refusal.override) for refusal in planned.refusals]
    assert found == [(True, None)]


def test_one_bad_pool_keeps_no_other_pool_of_its_server_back(plan):
    planned = plan(FRONT, {**FRONT, "pool": "NONE"})
    (change,), (refusal,) = planned.changes, planned.refusals
    assert "NONE" not in str(change) and refusal.part == "shop NONE"


def test_others_changes_are_not_brought_by_a_reload(plan):
    planned = plan(
        {**FRONT, "pool": "BG"}, answers=fixture("answers-reload.json"), allow_reload=True
    )
    assert planned.changes == []
    assert "a reload would bring others' changes too" in planned.refusals[0].reason


@cases("changes said", ({"user": "root"}, "runs as root"), ({"mode": "domain"}, "is a domain"))
def test_servers_that_are_left_alone(plan, changes, said):
    answers = fixture("answers-domain.json") if "mode" in changes else None
    planned = plan(FRONT, server={**SERVER, **changes}, answers=answers)
    assert planned.changes == [] and said in planned.refusals[0].reason


@cases("value", '{"EXPRESSION_VALUE" : "${x:true}"}', json.dumps("true),/:shutdown("))
def test_what_could_not_be_put_back_is_not_touched(plan, value):
    answers = fixture("answers.json").replace(
        '"validate-on-match" : false', '"validate-on-match" : ' + value, 1
    )
    with pytest.raises(Unanswered, match="could not be restored"):
        plan(FRONT, answers=answers)


@cases(
    "changes said",
    ({"server": "other"}, "names other, which is none of the servers"),
    ({"sorter": "a,b"}, "sorter must be the name of a class"),
    ({"validation": "both"}, "validation"),
    ({"millis": 0}, "millis"),
)
def test_a_mistake_in_a_wish_names_it(plan, changes, said):
    with pytest.raises(PolicyError, match=said):
        plan({**BEHIND, **changes})
