"""Which checks a run contains: options, variables and sets."""

import packs
import pytest
from ansible.module_utils.hostproof.controls.registry import NAMES, check_ids
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.profiles import PROFILES
from cases import cases
from default_policies import default_policy
from hostproof_controller import selection
from hostproof_controller.policies import BadPolicy
from hostproof_controller.profile_controls import required
from hostproof_controller.variable_names import known_variables


def selected(**variables):
    named = {f"hostproof_{name}": value for name, value in variables.items()}
    return selection.selection_of(named, lambda value: value)


def test_without_a_variable_everything_runs():
    assert selected() is None
    assert selected(checks=[], skip_checks="", set=None, sets={"x": {"checks": ["*"]}}) is None


@cases(
    "variables has lacks",
    ({"checks": ["hugepages"]}, "hugepages.pool_covers_sga", "nfs_mounts.options"),
    ({"checks": "hugepages.pool_covers_sga"}, "hugepages.pool_covers_sga", "hugepages.memlock"),
    ({"checks": ["time_*"]}, "time_sync.ctss", "hugepages.memlock"),
    ({"skip_checks": ["hugepages"]}, "time_sync.ctss", "hugepages.memlock"),
    (
        {"checks": "hugepages,time_sync", "skip_checks": "*.ctss"},
        "hugepages.x",
        "time_sync.ctss",
    ),
    ({"set": "preinstall"}, "platform.kernel", "latency.disk_read"),
    ({"set": ["upgrade"]}, "pre_page_sga.x", "latency.disk_read"),
    ({"set": "preinstall", "skip_checks": "platform"}, "hugepages.x", "platform.kernel"),
    ({"checks": ["custom.house"]}, "custom.house", "custom.other"),
    (
        {"set": "night", "sets": {"night": {"checks": ["time_sync"], "skip": ["*.ctss"]}}},
        "time_sync.clock_source",
        "time_sync.ctss",
    ),
)
def test_what_is_selected(variables, has, lacks):
    chosen = selected(**variables)
    assert (chosen.has(has), chosen.has(lacks)) == (True, False)


@cases(
    "variables words",
    ({"checks": ["hugepage"]}, "hostproof_checks: there is no check 'hugepage'; did you mean"),
    ({"skip_checks": ["hugepages.nothing"]}, "hostproof_skip_checks: there is no check"),
    ({"set": "nightly"}, "there is no set 'nightly'; there are preinstall, prepatch"),
    ({"checks": {"a": 1}}, "hostproof_checks must be a list of names"),
    ({"set": "x", "sets": ["x"]}, "hostproof_sets must be a dictionary"),
    ({"set": "x", "sets": {"x": {"check": []}}}, "hostproof_sets: x must have checks"),
    ({"set": "x", "sets": {"x": {"checks": ["nope"]}}}, "the set x: there is no check 'nope'"),
)
def test_what_cannot_be_selected(variables, words):
    with pytest.raises(BadPolicy) as problem:
        selected(**variables)
    assert words in str(problem.value)


def test_only_controls_with_a_selected_check_are_sent():
    chosen = selected(checks=["hugepages.pool_covers_sga", "time_sync"])
    assert selection.controls_of(chosen, NAMES) == ["hugepages", "time_sync"]
    assert selection.controls_of(selected(checks=["custom.house"]), NAMES) == ["custom"]


@pytest.mark.parametrize("name", sorted(selection.built_in_sets()))
def test_every_set_selects_checks(name):
    chosen = selected(set=name)
    assert len([check for check in check_ids() if chosen.has(check)]) > 20
    assert selection.built_in_sets()[name]["title"]


@pytest.mark.parametrize("name", list(selection.built_in_sets()))
def test_a_set_has_every_check_of_the_controls_that_a_profile_requires(name):
    chosen = selected(set=name)
    needed = {control for profile in PROFILES.values() if profile for control in required(profile)}
    missing = {
        check
        for check in check_ids()
        if check.partition(".")[0] in needed and not chosen.has(check)
    }
    assert needed and missing == set()


def test_only_findings_of_selected_checks_stay():
    findings = audit.judge_host(packs.linux(), {"time_sync": default_policy("time_sync")})
    records = [finding.as_dict() for finding in findings]
    broken = {**records[0], "check": "time_sync.audited"}
    kept = selection.selected_findings(selected(checks=["time_sync.ctss"]), [*records, broken])
    assert [record["check"] for record in kept] == ["time_sync.ctss", "time_sync.audited"]


def test_a_verdict_does_not_hide_the_selection():
    notice = selection.notice(selected(checks=["hugepages"], skip_checks=["time_sync"]))
    assert (notice["check"], notice["status"]) == ("host.selection", "skip")
    assert "hugepages.* without time_sync.*" in notice["why"]


def test_the_variables_are_known():
    names = {selection.CHECKS, selection.SKIPPED, selection.SET, selection.SETS}
    assert names <= known_variables()


@cases(
    "raw is_selecting",
    ('{"hostproof_checks": "a"}', True),
    ("hostproof_set=rac", True),
    ("x=1", False),
)
def test_the_ids_are_imported_before_workers_are_forked(monkeypatch, raw, is_selecting):
    """Otherwise each worker imports all controls, and --checks takes longer than --tags."""
    calls = []
    monkeypatch.setattr(selection, "_ids", lambda: calls.append(1))
    selection.prime([raw])
    assert bool(calls) is is_selecting
