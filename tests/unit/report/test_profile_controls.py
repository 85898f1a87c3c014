"""Controls that a profile requires and that checked nothing: the host is not ready."""

import aix_packs
import example_packs
import pytest
from ansible.module_utils.hostproof.evaluate import audit
from cases import cases
from hostproof_controller import profile_controls
from hostproof_controller.report.store import merge
from hostproof_controller.report.summary import Summary
from hostproof_controller.report.verdict import host_verdict
from report_samples import finding, make_line

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core


def of(*checks: str, why: str = "It does not apply.") -> list[dict[str, object]]:
    """Findings by "control status"."""
    pairs = [check.split() for check in checks]
    return [
        finding(control=control, check=f"{control}.a", status=status, why=why)
        for control, status in pairs
    ]


def policies(profile: object, *controls: str) -> dict[str, dict[str, object]]:
    return {control: {"profile": profile} for control in controls}


def idle(profile: object, *checks: str, **more: str) -> str | None:
    findings = of(*checks, **more)
    controls = {str(entry["control"]) for entry in findings}
    found = profile_controls.notice(policies(profile, *controls), findings)
    return found and found["why"].removeprefix("hostproof_profile requires checks of ")


@cases(
    "profile checks sentence",
    ("rac_asm", ("interconnect skip", "space pass"), "interconnect"),
    (
        "oracle_19c_rac",
        ("space skip", "space skip", "interconnect skip"),
        "interconnect, space",
    ),
    ("oracle_19c_single", ("interconnect skip", "space pass"), None),
    ("rac_nfs", ("nfs_mounts skip",), "nfs_mounts"),
    ("rac_asm", ("nfs_mounts skip",), None),
    ("oracle_19c_single", ("space skip", "space warn"), None),
    ("oracle_19c_single", ("latency skip",), None),
    ("none", ("space skip",), None),
    ("intermediate", ("space skip",), None),
    (None, ("space skip",), None),
    (["rac_asm"], ("space skip",), None),
)
def test_controls_that_checked_nothing(profile, checks, sentence):
    rest = ", and all of them were skipped. Nothing shows that the host is ready."
    assert idle(profile, *checks) == (sentence and sentence + rest)


def test_a_control_of_linux_is_not_required_elsewhere():
    why = "Not a Linux host: it has no /proc/self/mountinfo."
    assert idle("rac_asm", "space skip", why=why) is None


@cases("profile", "oracle_19c_single", "rac_asm")
def test_an_aix_host_is_judged_by_its_own_controls(profile):
    chosen = {
        control: {**policy, "profile": profile} if policy.get("profile") == "none" else policy
        for control, policy in example_packs.policies().items()
    }
    findings = [one.as_dict() for one in audit.judge_host(aix_packs.aix().marks(33, 24), chosen)]
    assert {one["status"] for one in findings if one["control"] == "space"} == {"skip"}
    assert profile_controls.notice(chosen, findings) is None


def test_such_a_host_is_not_ready(validate_finding):
    findings = of("kernel_parameters pass", "time_sync pass", "space skip")
    assert host_verdict(findings) == "ready"
    unchecked = profile_controls.notice(policies("rac_asm", "space"), findings)
    validate_finding(unchecked)
    assert host_verdict([*findings, unchecked]) == "not a database host"
    assert host_verdict([*findings, unchecked, *of("space fail")]) == "not ready"


def test_the_summary_names_the_hosts_and_the_controls():
    findings = of("kernel_parameters pass", "time_sync pass", "space skip")
    unchecked = profile_controls.notice(policies("rac_asm", "space"), findings)
    lines = [make_line(f"db{number}", [*findings, unchecked]) for number in range(5)]
    results = merge(lines)
    summary = Summary(results)
    results.show(summary)
    text = " ".join(summary.text(width=200).split())
    assert (
        "db0, db1, db2 and 2 more: hostproof_profile requires checks of space, and all of them "
        "were skipped."
    ) in text
    assert "No Oracle software" not in text
