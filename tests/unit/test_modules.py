"""The modules as Ansible runs them: processes of their own, with arguments and check mode.

One play runs every case; each test looks at the answer to its own. Nothing is changed here: what
could change something runs in check mode.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import packs
import pytest
import yaml
from ansible.module_utils.hostproof.collect import evidence
from ansible.module_utils.hostproof.controls.registry import CONTROLS

ROOT = Path(__file__).resolve().parents[2]
SEED = str(packs.FIXTURES / "hugepages/packs/seed-1000-pages.json")
LAPTOP = str(packs.FIXTURES / "hugepages/laptop/laptop.json")

#: On this very machine: five pages, and nothing that needs an account or a group.
SMALL = {
    "instances": [{"sid": "X", "sga": "2M"}],
    "group": "",
    "memlock": "unmanaged",
    "transparent": "unmanaged",
    "allow_over_memory_limit": True,
    "allow_low_memory": True,
    "allow_compaction": True,
    "allow_shrink_below_use": True,
}


def page_size() -> str:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Hugepagesize:"):
            return line.split()[1] + "K"
    pytest.skip("this kernel has no huge pages")


def judged(**arguments: Any) -> dict[str, Any]:
    policy = packs.hugepages_policy(**arguments.pop("policy", {}))
    return {"verify_controls": {"controls": {"hugepages": policy}, **arguments}}


def applied(**policy: Any) -> dict[str, Any]:
    values = packs.hugepages_policy(**policy)
    return {"apply_control": {"control": "hugepages", "policy": values}}


def cases() -> dict[str, dict[str, Any]]:
    """Name to module and arguments of a task, which runs in check mode and shows its diff."""
    return {
        "live": judged(),
        "all": judged(evidence="all"),
        "cited": judged(evidence="cited"),
        "fail": judged(evidence_pack=SEED, fail_on="fail"),
        "warnings": judged(evidence_pack=LAPTOP, fail_on="fail"),
        "warn": judged(evidence_pack=LAPTOP, fail_on="warn"),
        "no_pack": judged(evidence_pack="/nonexistent/pack.json"),
        "bad_policy": judged(policy={"memlock": "lots"}),
        "bad_choice": judged(fail_on="sometimes"),
        "no_controls": {"verify_controls": {"controls": []}},
        "unknown_control": {"verify_controls": {"controls": ["hugepage"]}},
        "record": {"record_evidence": {"controls": {"hugepages": packs.hugepages_policy()}}},
        "apply": applied(**SMALL, page_size=page_size()),
        "apply_refused": applied(**{**SMALL, "group": "hostproof-no-such-group"}),
        "revert": {"revert_control": {"control": "hugepages"}},
    }


def played(folder: Path, names: Iterable[str], pipelining: bool) -> dict[str, dict[str, Any]]:
    """The answers to the tasks of these cases, in one play."""
    tasks: list[dict[str, Any]] = [
        {"register": name, "ignore_errors": True, "check_mode": True, "diff": True, **cases()[name]}
        for name in names
    ]
    answers = ", ".join(f"'{name}': {name}" for name in names)
    kept = folder / "answers.json"
    keep = {"content": f"{{{{ {{{answers}}} | to_json }}}}", "dest": str(kept)}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": sys.executable},
        "tasks": [*tasks, {"ansible.builtin.copy": keep}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play], sort_keys=False))
    program = Path(sys.executable).with_name("ansible-playbook")
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_STDOUT_CALLBACK": "default",
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_PIPELINING": str(pipelining),
        "HOSTPROOF_REPORTS": str(folder / "reports"),
        "HOSTPROOF_RECORDS": str(folder / "records"),
    }
    for name in ("HOSTPROOF_REPORT", "HOSTPROOF_RECORD"):
        environment.pop(name, None)
    ran = subprocess.run(
        [str(program), "-i", "localhost,", str(folder / "play.yml")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert kept.exists(), ran.stdout + ran.stderr
    return json.loads(kept.read_text())


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, dict[str, Any]]:
    """As one payload."""
    return played(tmp_path_factory.mktemp("modules"), cases(), pipelining=True)


#: Ansible packs each module and the host compiles all of it for each task: seconds for each case.
SENT = ("fail", "apply_refused")


@pytest.mark.long
@pytest.mark.two_cores
def test_as_modules_where_ansible_may_not_pipe_they_answer_the_same(answers, tmp_path):
    for name, answer in played(tmp_path, SENT, pipelining=False).items():
        for field in ("changed", "failed", "msg", "failing", "findings", "diff", "pending"):
            assert answer.get(field) == answers[name].get(field), (name, field)


def statuses(answer: dict[str, Any]) -> dict[str, str]:
    return {finding["check"]: finding["status"] for finding in answer["findings"]}


class TestVerifyControls:
    def test_findings_are_what_the_schema_says(self, answers, validate_finding):
        assert len(answers["live"]["findings"]) >= 8
        for finding in answers["live"]["findings"]:
            validate_finding(finding)

    def test_never_changes_and_never_fails_unasked(self, answers):
        for name in ("live", "warnings"):
            assert not answers[name]["changed"]
            assert not answers[name]["failed"]

    def test_evidence_as_asked(self, answers):
        assert "evidence" not in answers["live"]
        everything = evidence.decode(answers["all"]["evidence"])
        cited = evidence.decode(answers["cited"]["evidence"])
        assert set(cited) < set(everything)
        named = {key for finding in answers["cited"]["findings"] for key in finding["evidence"]}
        assert set(cited) == named & set(everything)

    def test_pack_instead_of_the_host(self, answers):
        assert statuses(answers["fail"])["hugepages.sga_in_huge_pages"] == "fail"
        assert statuses(answers["warnings"])["hugepages.sga_in_huge_pages"] == "skip"

    def test_fails_on_a_failure_and_shows_the_findings_all_the_same(self, answers):
        answer = answers["fail"]
        assert answer["failed"]
        assert len(answer["findings"]) >= 8
        bad = [s for s in statuses(answer).values() if s in ("fail", "error")]
        assert bad
        assert answer["msg"].startswith("hugepages: ")
        assert "hugepages.sga_in_huge_pages" in answer["failing"]
        assert any("(hugepages.sga_in_huge_pages, " in line for line in answer["lines"])

    def test_warning_fails_only_where_asked(self, answers):
        assert not answers["warnings"]["failed"]
        assert answers["warn"]["failed"]
        assert "hugepages.transparent_hugepages" in answers["warn"]["failing"]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("no_pack", "there is no evidence pack /nonexistent/pack.json: record the host first"),
            ("bad_policy", "hugepages_memlock must be auto, unlimited, unmanaged or a number of"),
            ("bad_choice", "value of fail_on must be one of: never, fail, warn, got: sometimes"),
            ("no_controls", f"no control is named: name at least one of {min(CONTROLS)}, "),
            ("unknown_control", "there is no control hugepage: did you mean hugepages?"),
        ],
    )
    def test_wrong_arguments_are_told_in_words(self, answers, name, message):
        assert answers[name]["failed"]
        assert message in answers[name]["msg"]
        assert "Traceback" not in str(answers[name])


class TestRecordEvidence:
    def test_holds_what_judging_reads(self, answers):
        recorded = evidence.open_pack(answers["record"]["path"])[0]
        judged = evidence.decode(answers["all"]["evidence"])
        # Instances may come and go on this machine between the two.
        passing = re.compile(r"^file:/proc/\d+/|^command:getent passwd \d+$")
        assert {key for key in set(recorded) ^ set(judged) if not passing.match(key)} == set()
        assert answers["record"]["readings"] == len(recorded)
        assert not answers["record"]["changed"]


class TestApplyControl:
    def test_check_mode_shows_the_plan_and_changes_nothing(self, answers):
        answer = answers["apply"]
        assert not answer["failed"], answer
        diffs = {diff["after_header"]: diff["after"] for diff in answer["diff"]}
        assert answer["changed"]
        assert "vm.nr_hugepages = 5\n" in diffs[packs.SYSCTL_FILE]
        assert not Path(packs.SYSCTL_FILE).exists()
        assert not answer["reboot_pending"]

    def test_a_rejected_part_is_named_and_the_rest_is_planned(self, answers):
        answer = answers["apply_refused"]
        assert not answer["failed"]
        assert answer["changed"]
        assert "the host has no group hostproof-no-such-group" in " ".join(answer["pending"])
        assert "Traceback" not in str(answer)


class TestRevertControl:
    def test_check_mode_tells_what_there_is(self, answers):
        answer = answers["revert"]
        assert not answer["failed"]
        assert answer["changed"] == bool(answer["reverted"])
