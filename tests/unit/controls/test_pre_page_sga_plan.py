"""The plan of pre_page_sga: only the spfile, never a restart, no TRUE where logins would walk."""

import oracle_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.pre_page_sga.control import CONTROL as pre_page_sga
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import HostproofError, Unanswered
from cases import cases
from oracle_packs import PFILE, SPFILE, answer, defaults, down, story

ONLY = ("*", "use_large_pages", "ONLY")


def plan(host, **changes):
    policy = pre_page_sga.policy_from(oracle_packs.policy(**changes))
    return planner("pre_page_sga")(pre_page_sga.read(host, policy), policy)


def entry(value, sid="*"):
    return (sid, "pre_page_sga", value)


def test_a_host_that_is_ready_is_left_alone():
    assert plan(story()) == ([], [], [], [], False)


def test_up_to_11_2_small_pages_get_false():
    planned = plan(story("11.2.0.4.0", "small", (entry("TRUE"),)))
    (change,) = planned.changes
    assert change.name == "pre_page_sga of ORCL in its spfile"
    assert (change.before, change.after) == ("*=TRUE ORCL=unset", "*=FALSE ORCL=unset")
    (made,) = change.make
    assert "alter system set pre_page_sga=FALSE scope=spfile sid='*';" in made.stdin
    assert (made.user, made.environment["ORACLE_SID"]) == ("oracle", "ORCL")
    assert planned.refusals == []
    assert planned.pending == ["ORCL runs with pre_page_sga TRUE until it is restarted."]


def test_nothing_restarts_an_instance():
    (change,) = plan(story("11.2.0.4.0", "small", (entry("TRUE"),))).changes
    for command in (change.look, *change.make, *change.undo):
        assert "startup" not in command.stdin and "shutdown" not in command.stdin


def test_undo_sets_what_was_there():
    machine = story(stored=(entry("FALSE"), entry("FALSE", "ORCL"), ONLY))
    (change,) = plan(machine, value=True).changes
    (undo,) = change.undo
    assert "set pre_page_sga=FALSE scope=spfile sid='*'" in undo.stdin
    assert "set pre_page_sga=FALSE scope=spfile sid='ORCL'" in undo.stdin


def test_an_entry_for_the_sid_is_taken_out():
    (change,) = plan(story(stored=(entry("FALSE", "ORCL"), ONLY)), value=True).changes
    assert (change.before, change.after) == ("*=unset ORCL=FALSE", "*=unset ORCL=unset")
    (made,) = change.make
    assert "alter system reset pre_page_sga scope=spfile sid=''ORCL''" in made.stdin


def test_made_it_is_made_no_more():
    planned = plan(story("11.2.0.4.0", "small", (entry("FALSE"),), pre_page_sga="TRUE"))
    assert planned.changes == []
    assert planned.pending == ["ORCL runs with pre_page_sga TRUE until it is restarted."]


@cases(
    "version pages stored",
    ("11.2.0.4.0", "small", ()),
    ("11.2.0.4.0", "huge", (entry("TRUE"),)),
    ("11.2.0.4.0", "huge", (entry("FALSE"),)),
    ("19.0.0.0.0", "small", (entry("TRUE"),)),
    ("19.0.0.0.0", "huge", (entry("FALSE"),)),
    ("12.1.0.2.0", "small", (entry("FALSE", "ORCL"),)),
)
def test_auto_leaves_what_release_and_pages_allow(version, pages, stored):
    assert plan(story(version, pages, stored)).changes == []


# -- guards


@cases("pages", "small", "mixed", "amm")
def test_true_is_refused_where_logins_would_walk(pages):
    machine = story("11.2.0.4.0", pages, (entry("FALSE"), ONLY))
    (refusal,) = plan(machine, value=True, allow_small_pages_at_next_start=True).refusals
    assert refusal.override is None and "ORCL is release 11.2.0.4.0" in refusal.reason


def test_the_refusal_has_the_numbers():
    (refusal,) = plan(story("11.2.0.4.0", "mixed", (entry("FALSE"),)), value=True).refusals
    assert "SGA 8.0 GiB in pages of 2.0 MiB and 8.0 GiB in pages of 4 KiB" in refusal.reason


def test_true_needs_only_or_the_accepted_risk():
    machine = story("11.2.0.4.0", "huge", (entry("FALSE"),))
    (refusal,) = plan(machine, value=True).refusals
    assert refusal.override == "allow_small_pages_at_next_start"
    allowed = plan(machine, value=True, allow_small_pages_at_next_start=True)
    assert allowed.refusals == [] and len(allowed.changes) == 1
    only = plan(story("11.2.0.4.0", "huge", (entry("FALSE"), ONLY)), value=True)
    assert only.refusals == [] and len(only.changes) == 1


@cases(
    "stored before after",
    ((), "*=unset ORCL=unset", "*=unset ORCL=TRUE"),
    ((entry("FALSE"),), "*=FALSE ORCL=unset", "*=FALSE ORCL=TRUE"),
    ((entry("FALSE", "ORCL"),), "*=unset ORCL=FALSE", "*=unset ORCL=TRUE"),
)
def test_up_to_11_2_true_is_for_this_instance_alone(stored, before, after):
    """The pages of the database's other nodes are not known."""
    (change,) = plan(story("11.2.0.4.0", "huge", (*stored, ONLY)), value=True).changes
    assert (change.before, change.after) == (before, after)
    assert "sid='*'" not in change.make[0].stdin


@cases(
    "version stored wanted before after",
    ("19.0.0.0.0", (), False, "*=unset ORCL=unset", "*=FALSE ORCL=unset"),
    ("19.0.0.0.0", (entry("TRUE", "ORCL"),), False, "*=unset ORCL=TRUE", "*=FALSE ORCL=unset"),
    ("11.2.0.4.0", (entry("TRUE", "ORCL"),), False, "*=unset ORCL=TRUE", "*=unset ORCL=unset"),
    ("19.0.0.0.0", (entry("TRUE"),), False, "*=TRUE ORCL=unset", "*=FALSE ORCL=unset"),
)
def test_what_the_default_of_the_release_gives_needs_no_entry(
    version, stored, wanted, before, after
):
    (change,) = plan(story(version, "huge", (*stored, ONLY)), value=wanted).changes
    assert (change.before, change.after) == (before, after)


def test_since_12_1_true_needs_no_guard():
    planned = plan(story("12.1.0.2.0", "small", (entry("FALSE"),)), value=True)
    assert planned.refusals == [] and len(planned.changes) == 1


def test_a_text_file_is_for_its_administrator():
    machine = story("11.2.0.4.0", "small", (), spfile=None, pre_page_sga="TRUE").remove(SPFILE)
    machine.file(PFILE, "pre_page_sga=TRUE\n")
    planned = plan(machine)
    assert planned.changes == []
    (refusal,) = planned.refusals
    assert f"write '*.pre_page_sga=FALSE' into {PFILE} manually" in refusal.reason


def test_an_instance_that_is_down_waits():
    planned = plan(down("19.0.0.0.0", (entry("FALSE"), ONLY)), value=True)
    assert (planned.changes, planned.refusals) == ([], [])
    text = "ORCL is down, and only the running instance can change its spfile"
    assert planned.pending[0].startswith(text)


def test_true_for_one_that_is_down_is_refused_all_the_same():
    planned = plan(down("11.2.0.4.0", (entry("FALSE"), ONLY)), value=True)
    assert "its pages are not known" in planned.refusals[0].reason


# -- what is not known


def test_a_plan_never_guesses():
    machine = story().command(oracle_packs.QUERY, "ORA-01034: ORACLE not available\n", 1)
    with pytest.raises(Unanswered, match="ORA-01034"):
        plan(machine)
    machine = story("11.2.0.4.0", stored=(entry("TRUE"),)).deny("/proc/2101/maps")
    with pytest.raises(HostproofError, match="denied"):
        plan(machine)
    machine = story()
    machine.command(oracle_packs.QUERY, answer("19.0.0.0.0", defaults("19.0.0.0.0"), ())[:-15])
    with pytest.raises(HostproofError, match="ends before"):
        plan(machine)


def test_of_two_instances_with_one_sid_none_is_dropped():
    with pytest.raises(Unanswered, match="two running instances have one SID"):
        plan(story().instance("ORCL", *oracle_packs.PAGES["small"], pid=2102))


def test_unmanaged_plans_nothing():
    assert plan(story("11.2.0.4.0", "small", (entry("TRUE"),)), value="unmanaged").changes == []


def test_a_host_without_an_instance():
    planned = plan(packs.linux())
    assert planned.changes == [] and planned.pending == ["The host has no instance."]
