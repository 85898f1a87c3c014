"""What runs on the controller alone, as Ansible runs it: in its own process, with nothing packed.

One play runs every case with an interpreter that does not exist, so that no module could answer.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in ROOT.glob("action_plugins/*.py"))
#: Those whose module only says that the action plugin was not found.
ALONE = [
    name
    for name in NAMES
    if "only runs on the controller" in (ROOT / f"library/{name}.py").read_text()
]
#: What every action plugin begins with, so that it finds the rest in a checkout.
HEADER = """
STAYS = str(Path(__file__).resolve().parents[1] / "plugin_utils")
if STAYS not in sys.path:
    sys.path.append(STAYS)
import_module("hostproof_controller")  # It locates the other modules.

"""
TEMPLATE = "{{ lookup('ansible.builtin.pipe', 'touch PROOF') }}{{ 6 * 7 }}"


@pytest.mark.parametrize("name", NAMES)
def test_every_action_plugin_finds_the_rest_in_one_way(name):
    text = (ROOT / f"action_plugins/{name}.py").read_text()
    assert HEADER in text
    assert text.count("sys.path") == 2 and "__path__" not in text


def line(proof: Path) -> dict[str, Any]:
    """A line of a host whose every text is a template."""
    text = TEMPLATE.replace("PROOF", str(proof))
    finding = {
        "control": "hugepages",
        "check": "hugepages.pool_covers_sga",
        "title": text,
        "status": "fail",
        "severity": "critical",
        "takes_effect": "now",
        "evidence": [],
        "waiver": None,
    }
    finding.update(dict.fromkeys(("desired", "persisted", "running", "in_use"), text))
    finding.update(dict.fromkeys(("why", "fix", "reference"), text))
    return {
        "schema": 1,
        "run": {"id": "r", "started": "2026-11-21T03:15:00Z", "hosts": 1},
        "host": "db01",
        "at": "2026-11-21T03:15:20Z",
        "outcome": "judged",
        "message": text,
        "findings": [finding],
        "evidence": None,
    }


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    report, gate = str(folder / "report"), str(folder / "gate")
    remark = f"{{{{ lookup('ansible.builtin.file', '{folder}/remark') }}}}"
    measured = {"probes": [], "rounds": 3, "seconds": 1, "pause": "0.5", "windows": []}
    kept = {"folder": str(folder / "kept"), "host": "db01"}
    return {
        "report": {"render_report": {"folder": report, "strict": "yes"}},
        "no_report": {"render_report": {"folder": str(folder / "none")}},
        "no_arguments": {"compare_latency": {}},
        "bad_argument": {"render_report": {"folder": report, "folders": 2}},
        "baseline": {"latency_baseline": {**kept, **measured, "remarks": [remark]}},
        "baseline_unmeasured": {"latency_baseline": kept},
        "read": {"latency_baseline": {**kept, "state": "read"}},
        "plan": {"latency_gate": {"state": "planned", "folder": gate, "hosts": ["db01", "db02"]}},
        "no_batch": {"latency_gate": {"state": "measuring", "folder": gate}},
        "no_gate": {"latency_gate": {"state": "open", "folder": str(folder / "none")}},
        "compare": {"compare_latency": {"before": gate, "after": gate, "hosts": ["db01"]}},
    }


def play_of(tasks: list[dict[str, Any]], folder: Path, *options: str, **environment: str) -> str:
    play = {"hosts": "localhost", "gather_facts": False, "connection": "local", "tasks": tasks}
    (folder / "play.yml").write_text(yaml.safe_dump([play], sort_keys=False))
    ran = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            "localhost,",
            "play.yml",
            *options,
        ],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "default",
            "ANSIBLE_HOME": str(folder / "home"),
            "HOSTPROOF_REPORTS": str(folder / "reports"),
            "HOSTPROOF_RECORDS": str(folder / "records"),
            "HOSTPROOF_BASELINES": str(folder / "baselines"),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("actions")
    (made / "report").mkdir()
    (made / "report/findings.jsonl").write_text(json.dumps(line(made / "proof")) + "\n")
    (made / "remark").write_text(TEMPLATE.replace("PROOF", str(made / "proof")))
    return made


@pytest.fixture(scope="module")
def answers(folder) -> dict[str, dict[str, Any]]:
    none = {"ansible_python_interpreter": "/nonexistent/python"}
    tasks: list[dict[str, Any]] = [
        {"register": name, "ignore_errors": True, "vars": none, **task}
        for name, task in cases(folder).items()
    ]
    pairs = ", ".join(f"'{name}': {name}" for name in cases(folder))
    keep = {"content": f"{{{{ {{{pairs}}} | to_json }}}}", "dest": str(folder / "answers.json")}
    own = {"ansible_python_interpreter": sys.executable}
    printed = play_of([*tasks, {"ansible.builtin.copy": keep, "vars": own}], folder)
    assert (folder / "answers.json").exists(), printed
    return json.loads((folder / "answers.json").read_text())


def test_nothing_is_packed_and_every_case_is_answered(answers, folder):
    assert answers["report"]["exit_code"] == 2
    assert "not ready" in answers["report"]["failing"].values()
    assert Path(answers["report"]["report"]).exists()
    assert answers["baseline"]["changed"]
    assert answers["baseline"]["pause"] == answers["read"]["pause"] == 0.5
    assert [batch["hosts"] for batch in answers["plan"]["batches"]] == [["db01"], ["db02"]]
    assert answers["compare"]["judged"][0]["host"] == "db01"
    for answer in answers.values():
        assert "Traceback" not in str(answer)
        assert "module_stderr" not in answer


def test_a_text_from_a_host_is_no_template(answers, folder):
    assert "6 * 7" in answers["report"]["summary"]
    assert "6 * 7" in " ".join(answers["baseline"]["lines"])
    assert not (folder / "proof").exists()
    assert not [name for name, answer in answers.items() if "ansible_facts" in answer]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_report", "there is no report directory '"),
        ("no_arguments", "missing required arguments: after, before, hosts"),
        (
            "bad_argument",
            "Unsupported parameters for (render_report) module: folders. Supported parameters",
        ),
        ("baseline_unmeasured", "state is present but all of the following are missing: probes"),
        ("no_batch", "state is measuring but all of the following are missing: batch"),
        ("no_gate", "gate: "),
    ],
)
def test_what_is_wrong_is_one_sentence(answers, name, message):
    assert answers[name]["failed"]
    assert message in answers[name]["msg"]


FACTS = """
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule({"waivers": {}})
told = {"hostproof_waivers": module.params["waivers"], "hostproof_strict": True}
module.exit_json(ansible_facts=told)
"""
WAIVERS = """
- {check: hugepages.pool_covers_sga, hosts: "*", owner: me, reason: mine, expires: 2099-01-01}
"""


@pytest.mark.parametrize(("options", "status"), [([], "fail"), (["waivers"], "waived")])
def test_what_a_host_says_is_no_setting_of_the_report(tmp_path, options, status):
    """With Ansible's own default, which makes variables of facts."""
    for name in ("report", "library"):
        (tmp_path / name).mkdir()
    (tmp_path / "report/findings.jsonl").write_text(json.dumps(line(tmp_path / "proof")) + "\n")
    (tmp_path / "library/facts.py").write_text(FACTS)
    waivers = tmp_path / "waivers.yml"
    waivers.write_text(WAIVERS)
    own = {"ansible_python_interpreter": sys.executable}
    tasks = [
        {"facts": {"waivers": str(waivers)}, "vars": own},
        {"ansible.builtin.import_tasks": str(ROOT / "playbooks/tasks/report.yml")},
    ]
    more = [word for name in options for word in ("-e", f"hostproof_{name}={tmp_path}/{name}.yml")]
    play_of(
        tasks,
        tmp_path,
        *more,
        ANSIBLE_LIBRARY=f"{tmp_path}/library",
        ANSIBLE_INJECT_FACT_VARS="1",
        HOSTPROOF_REPORT=str(tmp_path / "report"),
    )
    report = json.loads((tmp_path / "report/report.json").read_text())
    assert [finding["status"] for finding in report["findings"] if finding["host"] == "db01"] == [
        status
    ]
    assert not report["strict"]


def test_without_the_action_plugins_the_module_says_what_is_missing(tmp_path):
    own = {"ansible_python_interpreter": sys.executable}
    tasks = [{"render_report": {"folder": "."}, "vars": own}]
    printed = play_of(tasks, tmp_path, ANSIBLE_ACTION_PLUGINS=str(tmp_path / "none"))
    match = re.search(
        r"(\w+) only runs on the controller: name Hostproof's action_plugins", printed
    )
    assert match is not None, printed


def test_there_are_some():
    assert {"compare_latency", "latency_baseline", "latency_gate", "render_report"} <= set(ALONE)
