"""--target-release and --target-os: whether a host is ready for an upgrade."""

import json
import subprocess

import packs
import platform_packs
import pytest
import wrapper
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.profiles import PROFILES, TARGET_SYSTEMS
from ansible.module_utils.hostproof.parsers.unix.distribution import NAMES
from cases import cases
from default_policies import default_policy
from hostproof_controller import policies, targets
from hostproof_controller.cli import command

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

#: An Oracle Linux 8 host with UEK6, which 19c accepts.
KERNEL = "5.4.17-2136.335.4.el8uek.x86_64"


def ol8() -> packs.Machine:
    return platform_packs.host("rhel-9.4", KERNEL).file(
        "/etc/os-release", platform_packs.ol("8.10")
    )


def judged(**changes):
    return platform_packs.judged(ol8(), **changes)


@cases(
    "release system status words",
    ("26ai", "ol10", "pass", ""),
    ("26ai", "ol9", "pass", ""),
    ("26ai", "rhel10", "pass", ""),
    ("19c", "ol10", "warn", "no row for 19c on OL 10"),
    ("23ai", "ol9", "pass", ""),
    ("21c", "sles15", "pass", ""),
)
def test_the_distribution_is_that_of_the_target(validate_finding, release, system, status, words):
    findings = judged(release=release, target_os=system)
    validate_finding(findings["distribution"].as_dict())
    assert findings["distribution"].status == status
    assert words in findings["distribution"].why
    assert findings["distribution"].running is None


def test_the_kernel_of_the_target_is_not_installed():
    findings = judged(release="26ai", target_os="ol10")
    assert findings["kernel"].status == "skip"
    assert "UEK8 6.12.0-104.43.4.2.el10uek" in findings["kernel"].why
    assert "23.26" in findings["release_update"].why


def test_the_present_distribution_as_a_target_changes_nothing():
    for release in ("19c", "23ai"):
        assert judged(release=release, target_os="ol8") == judged(release=release)
    assert judged(release="19c", target_os="ol8")["kernel"].status == "pass"


def test_a_rebuild_is_not_the_distribution_of_the_books():
    centos = platform_packs.host("centos-7", "3.10.0-957.1.3.el7.x86_64")
    findings = platform_packs.judged(centos, release="19c", target_os="rhel9")
    assert (findings["distribution"].status, findings["kernel"].status) == ("pass", "skip")


def test_the_table_names_every_target_system():
    assert {name.rstrip("0123456789") for name in TARGET_SYSTEMS} <= set(NAMES)


@cases(
    "profile expected",
    ("none", "oracle_26ai_single"),
    ("oracle_19c_single", "oracle_26ai_single"),
    ("oracle_19c_rac", "oracle_26ai_rac"),
    ("oracle_23ai_restart", "oracle_26ai_restart"),
    ("rac_asm", "oracle_26ai_rac"),
)
def test_the_profile_keeps_its_kind(profile, expected):
    shown = policies.policies_of(
        ["accounts", "platform"],
        {"hostproof_profile": profile, **targets.variables_of("26ai", "ol10")},
        lambda value, _variables: value,
    ).shown
    assert shown["accounts"]["profile"] == shown["platform"]["profile"] == expected
    assert (shown["platform"]["release"], shown["platform"]["target_os"]) == ("26ai", "ol10")


def test_every_release_has_each_kind():
    for release in targets.RELEASES:
        for profile in PROFILES:
            assert targets.profile_of(profile, release) in PROFILES


@cases("option", "--target-release=27ai", "--target-os=ol6")
def test_an_unknown_target_is_a_usage_error(capsys, option):
    assert command.main(["audit", option]) == 1
    assert "is not one of" in capsys.readouterr().err


def test_the_report_names_the_target():
    assert targets.notice(None, "none") is None
    notice = targets.notice("26ai", "ol10")
    assert (notice["check"], notice["status"]) == ("host.target", "skip")
    assert "The target is 26ai on ol10." in notice["why"]


def test_an_evidence_pack_is_judged_for_the_target(tmp_path):
    """The command as a DBA types it."""
    folder = tmp_path / "evidence"
    folder.mkdir()
    machine = ol8()
    audit.read_host(machine, {"platform": default_policy("platform")})
    content = {"schema": 1, "host": "db01", "recorded_at": packs.RECORDED_AT}
    pack = {**content, "readings": machine.evidence}
    (folder / "db01.json").write_text(json.dumps(pack))
    typed = ["--target-release", "26ai", "--target-os", "ol10", "--checks", "platform"]
    ran = subprocess.run(
        [wrapper.HOSTPROOF, "audit", "--evidence", str(folder), *typed],
        env={**wrapper.environment(tmp_path), "HOSTPROOF_REPORTS": str(tmp_path / "reports")},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert "Target: The target is 26ai on ol10." in ran.stdout
    (report,) = (tmp_path / "reports").glob("*/findings.jsonl")
    (line,) = [json.loads(line) for line in report.read_text().splitlines()]
    statuses = {finding["check"]: finding["status"] for finding in line["findings"]}
    assert statuses["host.target"] == "skip"
    assert statuses["platform.distribution"] == "pass"
    assert statuses["platform.kernel"] == "skip"
