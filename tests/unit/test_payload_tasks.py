"""How tasks of the payload behave in a play: loops, delegation, timeouts, environment, folders.

One run; each task's answer is looked at by its test. The "hosts" are this machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hostile_python
import pytest
import yaml
from cases import cases

ROOT = Path(__file__).resolve().parents[2]
PACK = str(ROOT / "docs/examples/evidence/db01.example.com.json")
HANGS = f"{sys.executable} {hostile_python.__file__} hangs x"
ONE = {"controls": ["io_pacing"], "evidence_pack": PACK}

OTHER_EVIDENCE = {"hostproof_evidence": "all", "hostproof_evidence_folder": "/nonexistent"}

#: Host to the tasks that it runs.
TASKS: dict[str, dict[str, Any]] = {
    "plain": {"verify_controls": ONE},
    "asynchronous": {"verify_controls": ONE, "async": 30, "poll": 1},
    "late": {"verify_controls": ONE, "timeout": 6, "vars": {"ansible_python_interpreter": HANGS}},
    "silent": {
        "verify_controls": ONE,
        "vars": {"ansible_python_interpreter": HANGS, "hostproof_host_timeout": "{{ 1 + 1 }}"},
    },
    "late_and_silent": {
        "verify_controls": ONE,
        "timeout": 6,
        "vars": {"ansible_python_interpreter": HANGS, "hostproof_host_timeout": 300},
    },
    "impatient": {"verify_controls": ONE, "vars": {"hostproof_host_timeout": "soon"}},
    "impatient_by_far": {"verify_controls": ONE, "vars": {"hostproof_host_timeout": 0.5}},
    "in_time": {"verify_controls": ONE, "timeout": 300, "vars": {"hostproof_host_timeout": 300}},
    "looped": {
        "verify_controls": {**ONE, "controls": ["{{ item }}"]},
        "loop": ["io_pacing", "storage_type"],
    },
    "delegated": {"verify_controls": ONE, "delegate_to": "other"},
    "environment": {
        "verify_controls": ONE,
        "environment": {"PYTHONPATH": "{{ evil }}", "PYTHONHOME": "/nonexistent", "A": "b c'd"},
    },
    "unpiped": {"verify_controls": ONE, "vars": {"ansible_pipelining": False}},
    "discovered": {"verify_controls": ONE, "vars": {"ansible_python_interpreter": "auto_silent"}},
    "templated": {
        "verify_controls": ONE,
        "vars": {"ansible_python_interpreter": "{{ the }}", "the": "{{ python }}"},
    },
    "badly_templated": {
        "verify_controls": ONE,
        "vars": {"ansible_python_interpreter": "{{ nothing_of_that_name }}"},
    },
    "no_control": {"verify_controls": {**ONE, "controls": []}},
    "bad_apply": {"apply_control": {"control": "io-pacing"}},
    "apply_without": {"apply_control": {}},
    "misspelt": {
        "verify_controls": {**ONE, "controls": {"io_pacing": {}}},
        "vars": {"io_pacing_profil": 1},
    },
    "misspelt_record": {
        "record_evidence": {"controls": {"io_pacing": {}}},
        "vars": {"io_pacing_profil": 1},
    },
    "misspelt_apply": {
        "apply_control": {"control": "io_pacing", "policy": {}},
        "vars": {"io_pacing_profil": 1},
    },
    "not_by_variables": {"verify_controls": {**ONE, "evidence": "none"}, "vars": OTHER_EVIDENCE},
    "own_options": {
        "verify_controls": {**ONE, "evidence": "none", "by_variables": True},
        "vars": OTHER_EVIDENCE,
    },
    "by_variables": {
        "verify_controls": {"controls": ["io_pacing"], "by_variables": True},
        "vars": {"hostproof_evidence_folder": "{{ packs }}"},
    },
}
SAME = ("in_time", "looped", "delegated", "environment", "unpiped", "discovered", "templated")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[dict[str, list[dict]], str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    evil = folder / "evil"
    evil.mkdir()
    for name in ("json", "lzma", "zlib", "types"):
        (evil / f"{name}.py").write_text(f"open({str(folder / 'proof')!r}, 'w')\n")
    (folder / "by_variables.json").write_text(Path(PACK).read_text())
    common = {"ansible_connection": "local", "python": sys.executable, "evil": str(evil)}
    common["packs"] = str(folder)
    hosts: dict[str, Any] = {name: {} for name in TASKS}
    hosts["other"] = {"ansible_python_interpreter": sys.executable}
    # Only the host that it is delegated to has a Python.
    hosts["delegated"] = {"ansible_python_interpreter": "/nonexistent/python"}
    variables = {**common, "ansible_python_interpreter": sys.executable}
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts, "vars": variables}}))
    # A play for each host: in one play Ansible starts a process to skip each task of the others.
    plays = [
        {"hosts": name, "gather_facts": False, "tasks": [{**task, "ignore_errors": True}]}
        for name, task in TASKS.items()
    ]
    (folder / "play.yml").write_text(yaml.safe_dump(plays, sort_keys=False))
    ran = subprocess.run(
        [
            *(Path(sys.executable).with_name("ansible-playbook"), folder / "play.yml"),
            *("-i", folder / "hosts.yml"),
        ],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_FORKS": "4",
            # Discovery finds pyenv's shims, which start nothing, where they are in it.
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    (kept,) = folder.glob("reports/*/findings.jsonl")
    by_host: dict[str, list[dict]] = {}
    for line in map(json.loads, kept.read_text().splitlines()):
        by_host.setdefault(line["host"], []).append(line)
    return by_host, ran.stdout + ran.stderr, folder


@pytest.mark.parametrize("name", SAME)
def test_the_same_findings_in_every_way(run, name):
    by_host, output, _ = run
    (plain,) = by_host["plain"]
    assert plain["outcome"] == "judged", output
    assert by_host[name][0]["outcome"] == "judged", by_host[name][0]["message"]
    assert by_host[name][0]["findings"] == [
        {**finding, "commands": [line.replace("plain", name) for line in finding["commands"]]}
        for finding in plain["findings"]
    ]


def test_a_loop_has_a_line_for_each_turn(run):
    controls = [{finding["control"] for finding in line["findings"]} for line in run[0]["looped"]]
    assert controls == [{"io_pacing"}, {"storage_type"}]


@cases(
    "name says",
    ("asynchronous", "async"),
    ("late", "longer than its timeout of 6 s"),
    ("silent", "the host gave no answer within 2 s; hostproof_host_timeout is"),
    ("late_and_silent", "longer than its timeout of 6 s"),
    ("impatient", "hostproof_host_timeout must be from 1 to 604800, not 'soon'"),
    ("impatient_by_far", "hostproof_host_timeout must be from 1 to 604800, not 0.5"),
    ("badly_templated", "nothing_of_that_name"),
    ("no_control", "no control is named: name at least one of"),
    ("bad_apply", "there is no control io-pacing: did you mean io_pacing?"),
    ("apply_without", "missing required arguments: control"),
    ("misspelt", "no control takes the variable io_pacing_profil"),
    ("misspelt_record", "no control takes the variable io_pacing_profil"),
)
def test_what_cannot_be_is_an_error_of_the_host(run, name, says):
    by_host, output, _ = run
    assert name in by_host, output
    (line,) = by_host[name]
    assert (line["outcome"], line["findings"]) == ("failed", [])
    assert says in line["message"]


def test_a_misspelt_variable_beside_a_given_policy_refuses_the_change(run):
    by_host, output, _ = run
    assert "misspelt_apply" in by_host, output
    (finding,) = by_host["misspelt_apply"][0]["findings"]
    assert finding["check"] == "io_pacing.applied"
    assert "no control takes the variable io_pacing_profil" in finding["why"]


@cases("name", "not_by_variables", "own_options")
def test_a_task_s_own_options_go_before_variables(run, name):
    (line,) = run[0][name]
    assert (line["outcome"], line["evidence"]) == ("judged", None), line["message"]


def test_variables_say_what_evidence_where_the_task_asks_for_that(run):
    (line,) = run[0]["by_variables"]
    (plain,) = run[0]["plain"]
    assert line["outcome"] == "judged", line["message"]
    assert line["recorded_at"] == plain["recorded_at"] != line["at"]
    assert line["evidence"] and plain["evidence"] is None


def test_no_module_is_imported_that_the_environment_names(run):
    assert not (run[2] / "proof").exists()
