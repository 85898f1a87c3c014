"""Modules that are sent as Ansible sends any: what a hostile host answers is bounded too."""

import ast
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import hostile_python
import pytest
import yaml
from cases import cases
from hostproof_controller.remote import response_validation

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in ROOT.glob("library/*.py"))
SENT = [
    name for name in MODULES if "ModuleAction" in (ROOT / f"action_plugins/{name}.py").read_text()
]
TASKS = {
    "flood": {"storage_type": {"addresses": ["192.0.2.1"]}},
    "flood_errors": {"latency_tcp": {"host": "192.0.2.1", "port": 1521}},
    "hangs_ssh": {"sga_cost": {"size": "1G"}, "vars": {"hostproof_host_timeout": 2}},
    "facts": {"sga_cost": {"size": "1G"}},
    "junk_after": {"sga_cost": {"size": "1G"}},
    "cut": {"listener_probe": {"host": "192.0.2.1"}},
    "real": {"latency_tcp": {"host": "127.0.0.1", "port": 1}, "check_mode": True},
    "real_bad": {"latency_report": {"path": "/nonexistent"}},
}


@pytest.mark.parametrize("module", SENT)
def test_what_passes_is_what_the_module_documents(module):
    tree = ast.parse((ROOT / f"library/{module}.py").read_text())
    texts = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    documented = yaml.safe_load(ast.literal_eval(texts["RETURN"]))
    assert set(response_validation.KEYS[module]) - {"changed", "diff"} == set(documented)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[dict[str, dict], str]:
    folder = tmp_path_factory.mktemp("sent")
    tasks = []
    for name, task in TASKS.items():
        program = folder / f"plays_{name}"
        argv = [sys.executable, hostile_python.__file__, name, str(folder / "proof")]
        program.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
        program.chmod(0o755)
        python = sys.executable if name.startswith("real") else str(program)
        variables = {"ansible_python_interpreter": python, **task.get("vars", {})}
        # Without pipelining Ansible sends the module.
        variables["ansible_pipelining"] = name == "real"
        tasks.append({**task, "vars": variables, "register": name, "ignore_errors": True})
    seen = {name: f"{{{{ {name} }}}}" for name in TASKS}
    tasks.append(
        {
            "copy": {"content": seen, "dest": str(folder / "seen.json")},
            "vars": {"ansible_python_interpreter": sys.executable},
        }
    )
    play = [{"hosts": "all", "gather_facts": False, "tasks": tasks}]
    (folder / "play.json").write_text(json.dumps(play))
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("ansible-playbook")), str(folder / "play.json")),
            *("-i", "box,", "-e", json.dumps({"ansible_connection": "local"})),
        ],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert (folder / "seen.json").exists(), done.stdout[-4000:]
    return json.loads((folder / "seen.json").read_text()), done.stdout


def test_every_module_has_an_action_plugin_that_bounds_its_answer():
    assert [name for name in MODULES if not (ROOT / f"action_plugins/{name}.py").exists()] == []
    assert len(SENT) == 11


@cases(
    "name says",
    ("flood", "storage_type: the host printed more than 64 MiB"),
    ("flood_errors", "latency_tcp: the host printed more than 64 MiB"),
    ("hangs_ssh", "sga_cost: the host gave no answer within 2 s"),
    ("cut", "listener_probe: the answer cannot be read"),
    ("real_bad", "latency_report: /nonexistent"),
)
def test_a_host_that_misbehaves_is_an_error_in_a_sentence(run, name, says):
    answer = run[0][name]
    assert answer["failed"] and answer["msg"].startswith(says), answer


@cases("name", "facts", "junk_after")
def test_nothing_but_what_the_module_documents_comes_to_ansible(run, name):
    answer = run[0][name]
    assert not answer["failed"], answer
    assert set(answer) <= {"changed", "failed", "skipped"}, answer
    assert "evil" not in run[1] and "\x1b" not in run[1]


def test_a_sound_one_answers_as_before(run):
    answer = run[0]["real"]
    assert answer["msg"] == "would measure 1 windows of 50 samples to 127.0.0.1 port 1"
    assert (answer["windows"], answer["table"], answer["changed"]) == ([], [], False)
