"""Verdicts, totals and exit codes."""

import packs
from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate.audit import judge_host
from cases import cases
from default_policies import default_policy
from hostproof_controller.report.store import merge
from hostproof_controller.report.verdict import (
    DATABASE_CONTROLS,
    EXIT_FAILED,
    EXIT_OK,
    actual_layer,
    controls_of,
    exit_code,
    failing_hosts,
    host_verdict,
    status_totals,
    verdict_totals,
    when_of_layer,
    worst_by_control,
)
from report_samples import finding, fleet, make_line
from whole_reports import render_summary


def findings(*statuses):
    return [finding(status=status) for status in statuses]


@cases(
    "statuses verdict",
    (("pass", "skip", "waived"), "ready"),
    (("pass", "warn"), "ready with warnings"),
    (("warn", "error"), "undetermined"),
    ((), "undetermined"),
    (("skip", "skip"), "undetermined"),
    (("error", "warn", "fail"), "not ready"),
)
def test_verdict_of_a_host(statuses, verdict):
    assert host_verdict(findings(*statuses)) == verdict


def of_control(control, status):
    return finding(control=control, check=f"{control}.x", status=status)


@cases(
    "statuses verdict code",
    ({"hugepages": "pass", "time_sync": "skip", "platform": "skip"}, "not a database host", 5),
    ({"hugepages": "warn", "time_sync": "skip"}, "not a database host", 5),
    ({"hugepages": "pass", "time_sync": "skip", "platform": "pass"}, "ready", 0),
    ({"hugepages": "pass", "time_sync": "waived"}, "ready", 0),
    ({"hugepages": "fail", "time_sync": "skip"}, "not ready", 2),
    ({"hugepages": "error", "time_sync": "skip"}, "undetermined", 3),
    # A run of one control that judges any host says nothing about a database.
    ({"hugepages": "pass"}, "ready", 0),
    # A host with a database can skip all checks of these.
    ({"nfs_mounts": "skip"}, "undetermined", 3),
    ({"pool_validation": "skip"}, "undetermined", 3),
    ({"pool_validation": "skip", "hugepages": "pass"}, "ready", 0),
    ({"time_sync": "skip"}, "not a database host", 5),
)
def test_a_host_on_which_no_check_of_a_database_applies(statuses, verdict, code):
    results = merge([make_line("db01", [of_control(*pair) for pair in statuses.items()])])
    assert results.tally.hosts[0].verdict == verdict
    assert exit_code(results) == code
    assert verdict_totals(results)[verdict] == 1


@cases(
    "severity fail_on strict code",
    ("high", "low", False, 2),
    ("high", "high", False, 2),
    ("high", "critical", False, 0),
    ("critical", "critical", False, 2),
    ("medium", "high", True, 0),
)
def test_failures_of_a_lesser_severity_do_not_decide_the_exit_code(severity, fail_on, strict, code):
    status = "warn" if strict else "fail"
    results = merge([make_line("db01", [finding(status=status, severity=severity)])])
    results.fail_on = fail_on
    assert exit_code(results, strict) == code


def test_an_unreachable_host_has_a_verdict_of_its_own():
    results = merge([LOST, BROKEN])
    assert verdict_totals(results)["unreachable"] == 1
    assert verdict_totals(results)["undetermined"] == 1


@cases("profile without", ("none", True), ("oracle_19c_single", False), ("rac_nfs", False))
def test_a_linux_host_without_oracle_is_one_only_with_a_profile(profile, without):
    host = packs.linux().command("uname -s", "Linux\n")
    policies = {name: default_policy(name, secrets=True) for name in NAMES}
    for name in DATABASE_CONTROLS:
        if "profile" in policies[name]:
            policies[name]["profile"] = profile
    entries = [item.as_dict() for item in judge_host(host, policies)]
    skipped = {
        name for name in NAMES if {f["status"] for f in entries if f["control"] == name} == {"skip"}
    }
    assert (skipped >= set(DATABASE_CONTROLS)) is without
    # Faults of what this test leaves out are not what is judged here.
    entries = [item for item in entries if item["status"] not in ("error", "fail")]
    assert (host_verdict(entries) == "not a database host") is without


LOST = make_line("db09", [], outcome="unreachable")
BROKEN = make_line("db08", [], outcome="failed")


@cases(
    "statuses others strict code",
    (("pass", "skip", "waived", "warn"), [], False, 0),
    (("pass", "warn"), [], True, 2),
    (("pass",), [], True, 0),
    (("fail", "error"), [LOST, BROKEN], False, 2),
    (("pass", "error"), [LOST], False, 4),
    (("pass",), [BROKEN, LOST], False, 4),
    (("warn",), [LOST], True, 2),
    (("pass", "error"), [], False, 3),
    (("pass",), [BROKEN], False, 3),
)
def test_exit_code(statuses, others, strict, code):
    results = merge([make_line("db01", findings(*statuses)), *others])
    assert exit_code(results, strict) == code


def test_a_run_that_was_cut_short_or_empty_is_never_zero():
    line = make_line("db01", findings("pass"))
    line["run"]["hosts"] = 2
    assert exit_code(merge([line])) == 3
    assert exit_code(merge([])) == 3


def test_totals_count_everything():
    results = merge(fleet(40, 11))
    counted = [f["status"] for state in results.states for f in state.findings]
    assert status_totals(results) == {
        status: counted.count(status)
        for status in ("fail", "error", "warn", "waived", "skip", "pass")
    }
    assert sum(verdict_totals(results).values()) == 40
    assert status_totals(results)["fail"] > 0


def test_worst_by_control_leaves_skip_for_controls_that_say_nothing_else():
    found = [
        ("hugepages", "pass"),
        ("hugepages", "skip"),
        ("io_pacing", "skip"),
        ("latency", "warn"),
        ("latency", "fail"),
    ]
    worst = worst_by_control(found)
    assert worst == {"hugepages": "pass", "io_pacing": "skip", "latency": "fail"}


def test_controls_about_the_host_come_last():
    entries = [
        finding(control=control, check=f"{control}.x")
        for control in ("waiver", "host", "nfs_mounts", "hugepages")
    ]
    order = controls_of(merge([make_line("db01", entries)]))
    assert order == ["hugepages", "nfs_mounts", "host", "waiver"]


@cases(
    "layers failing actual",
    # The text of a layer that is right may differ from the desired text.
    ({"persisted": "5", "running": "9 or so", "in_use": None}, "persisted", "persisted"),
    ({"persisted": "9", "running": "5", "in_use": "1"}, None, "in_use"),
    ({"persisted": "7", "running": None, "in_use": None}, None, "persisted"),
    ({"persisted": None, "running": None, "in_use": None}, None, None),
)
def test_the_failing_layer_is_the_one_that_the_rule_names(layers, failing, actual):
    item = finding(desired="at least 9", failing_layer=failing, **layers)
    assert actual_layer(item) == actual


def test_the_failing_layer_of_an_old_line_is_not_known():
    item = finding(persisted="5", running="9", in_use=None)
    del item["failing_layer"]
    assert actual_layer(item) == "running"


@cases(
    "control layer effect words",
    ("kernel_parameters", "persisted", "instance_restart", "after reboot"),
    ("async_io", "persisted", "now", "after reboot"),
    ("async_io", "persisted", "instance_restart", "at the next start"),
    ("async_io", "running", "instance_restart", "running"),
    ("async_io", "in_use", "instance_restart", "in use"),
    ("process_limits", "persisted", "login", "at the next login"),
    ("accounts", "persisted", "login", "persisted"),
    ("name_resolution", "persisted", "listener_restart", "persisted"),
)
def test_when_the_value_of_a_layer_applies(control, layer, effect, words):
    assert when_of_layer(finding(control=control, takes_effect=effect), layer) == words


@cases(
    "changes code",
    ({"fix": "reboot the host", "takes_effect": "reboot"}, EXIT_OK),
    ({"fix": "restart instance ORCL", "takes_effect": "instance_restart"}, EXIT_OK),
    ({"fix": "reboot the host; then restart it", "takes_effect": "reboot"}, EXIT_FAILED),
    ({"fix": "put 'a = 1' into /etc/x; then reboot the host", "takes_effect": "reboot"}, 2),
    ({"fix": "reboot the host", "takes_effect": "now"}, EXIT_FAILED),
    ({"fix": "reboot the host", "takes_effect": "reboot", "commands": ["umount /u"]}, 2),
    ({"fix": "reboot the host", "takes_effect": "reboot", "failing_layer": "persisted"}, 2),
)
def test_after_an_apply_what_only_waits_is_no_failure(changes, code):
    """An audit fails all the same: the host is not ready."""
    waiting = finding(status="fail", **{"commands": [], **changes})
    results = merge([make_line("db01", [waiting])])
    assert exit_code(results) == EXIT_FAILED
    results.waits = True
    assert exit_code(results) == code
    if code == EXIT_OK:
        other = finding(check="hugepages.single_source", status="fail", fix="remove it")
        results = merge([make_line("db01", [waiting, other])])
        results.waits = True
        assert exit_code(results) == EXIT_FAILED
        event = changes["takes_effect"].replace("_", " ")
        assert f"db01: waiting for: {event}" in render_summary(results)


def test_the_hosts_that_fail_are_those_of_the_exit_code():
    waiting = finding(status="fail", fix="reboot the host", takes_effect="reboot", commands=[])
    lines = [
        make_line("bad", [finding(status="fail", severity="high")]),
        make_line("lesser", [finding(status="fail", severity="low")]),
        make_line("unknown", [finding(status="error")]),
        make_line("warned", [finding(status="warn", severity="high")]),
        make_line("waiting", [waiting]),
        make_line("good", [finding(status="pass")]),
    ]
    results = merge(lines)
    assert failing_hosts(results) == ["bad", "lesser", "unknown", "waiting"]
    assert failing_hosts(results, strict=True) == ["bad", "lesser", "unknown", "waiting", "warned"]
    results.fail_on, results.waits = "high", True
    assert failing_hosts(results) == ["bad", "unknown"]
    assert failing_hosts(merge(lines[-1:])) == []
    # No other host fails: then a host without a database decides the exit code.
    skipped = [finding(control="kernel_parameters", status="skip")]
    lines = [make_line("empty", skipped), make_line("good", [finding(status="pass")])]
    assert failing_hosts(merge(lines)) == ["empty"]
    assert failing_hosts(merge([*lines, make_line("bad", [finding(status="fail")])])) == ["bad"]
