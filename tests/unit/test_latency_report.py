"""The module latency_report as Ansible runs it: one play on this host."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency.measurement import reports
from ansible.modules import latency_report

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests/fixtures/latency"
AWR = str(FIXTURES / "awr-19c-made-up.txt")


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """Name to arguments; those that end in _check run in check mode."""
    return {
        "whole": {"path": AWR},
        "whole_check": {"path": AWR},
        "two_events": {"path": AWR, "events": ["log file", "direct path read"]},
        "another_kind": {"path": AWR, "kind": "statspack"},
        "told": {
            "path": str(FIXTURES / "statspack-made-up.txt"),
            "release": "19.0.0.0.0",
            "multitenant": True,
        },
        "latin": {"path": str(folder / "latin.txt")},
        "cut_off": {"path": str(folder / "cut.txt")},
        "foreign": {"path": "/etc/hostname"},
        "missing": {"path": str(folder / "none.txt")},
        "folder": {"path": str(folder)},
        "pipe": {"path": str(folder / "pipe")},
        "too_long": {"path": AWR, "most_bytes": 100},
    }


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("report")
    text = Path(AWR).read_text()
    (folder / "latin.txt").write_bytes(text.replace("03-Mar-24", "03-Mär-24").encode("latin-1"))
    (folder / "cut.txt").write_text(text[: len(text) // 2])
    os.mkfifo(folder / "pipe")
    names = cases(folder)
    tasks: list[dict[str, Any]] = [
        {
            "register": name,
            "ignore_errors": True,
            "check_mode": name.endswith("_check"),
            "latency_report": arguments,
        }
        for name, arguments in names.items()
    ]
    pairs = ", ".join(f"'{name}': {name}" for name in names)
    keep = {"content": f"{{{{ {{{pairs}}} | to_json }}}}", "dest": str(folder / "answers.json")}
    tasks.append({"ansible.builtin.copy": keep})
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    (folder / "play.yml").write_text(yaml.safe_dump(play))
    run = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "localhost,",
            "-c",
            "local",
            "-e",
            f"ansible_python_interpreter={sys.executable}",
            str(folder / "play.yml"),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_HOME": str(folder / "home"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (folder / "answers.json").exists(), run.stdout + run.stderr
    return json.loads((folder / "answers.json").read_text())


def test_windows_are_what_the_probes_give_too(answers):
    answer = answers["whole"]
    assert (answer["kind"], answer["changed"]) == ("awr", False)
    windows = [Window.from_json(window) for window in answer["windows"]]
    assert windows == reports.read(Path(AWR).read_text()).windows
    assert len(answer["table"]) == 1 + len(windows)
    assert "log file parallel write" in answer["table"][1]
    assert answer["figures"]["release"] == "19.0.0.0.0"


def test_check_mode_tells_the_same(answers):
    assert answers["whole_check"]["windows"] == answers["whole"]["windows"]


def test_events_can_be_chosen(answers):
    answer = answers["two_events"]
    assert [window["subject"] for window in answer["windows"]] == ["log file parallel write"]
    assert answer["remarks"][-1] == "the report has no event 'direct path read'"


def test_what_the_report_does_not_tell_can_be_given(answers):
    marked = [window["conditions"].get("io_latency") for window in answers["told"]["windows"]]
    assert "no" in marked and "unknown" not in marked


def test_a_report_in_another_encoding(answers):
    assert answers["latin"]["figures"]["begin"] == "03-Mär-24 09:00:04"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("another_kind", "no release is known to print these headings"),
        ("cut_off", "it has no line 'End of Report': it is cut off"),
        ("foreign", "it is none of AWR"),
        ("missing", "No such file or directory"),
        ("folder", "Is a directory"),
        ("pipe", "is not a regular file"),
        ("too_long", "it has more than 100 bytes: see most_bytes"),
    ],
)
def test_one_sentence_says_what_is_wrong(answers, name, problem):
    answer = answers[name]
    assert answer["failed"]
    assert answer["msg"].startswith("latency_report: /")
    assert problem in answer["msg"]
    assert "\n" not in answer["msg"]


def test_the_kinds_of_the_documentation_are_those_there_are():
    options = yaml.safe_load(latency_report.DOCUMENTATION)["options"]
    assert options["kind"]["choices"] == sorted(reports.KINDS)
