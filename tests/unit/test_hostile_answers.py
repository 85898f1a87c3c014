"""A play with many hosts that lie: each bad answer is that host's error, and nobody else's.

Every host is hostile_python.py on this machine, as its "interpreter". What they try to make the
controller do would leave a file, which must not be there.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import hostile_python
import pytest
import yaml
from cases import cases
from hostile_python import FINE_THOUGH_ODD, MENDED, ODD, REFUSED, TAKEN

ROOT = Path(__file__).resolve().parents[2]
NAMES = (*REFUSED, *MENDED, *TAKEN, *ODD)
PYTHON = str(Path(hostile_python.__file__))


class Run(NamedTuple):
    folder: Path
    output: str
    lines: dict[str, dict[str, Any]]
    seen: dict[str, Any]
    report: dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("hostile")
    proof = folder / "proof"
    hosts: dict[str, Any] = {
        name: {"ansible_python_interpreter": f"{sys.executable} {PYTHON} {name} {proof}"}
        for name in NAMES
    }
    hosts["missing"] = {"ansible_python_interpreter": "/nonexistent/python3"}
    hosts["template"]["python"] = hosts["template"]["ansible_python_interpreter"]
    hosts["template"]["ansible_python_interpreter"] = "{{ python }}"
    hosts["no_become"] = {**hosts["noise"], "ansible_become": True, "ansible_become_method": "nope"}
    hosts["refused"] = {
        "ansible_connection": "ssh",
        "ansible_host": "127.0.0.1",
        "ansible_port": 1,
        "ansible_ssh_retries": 0,
    }
    # As ssh does where nobody listens, on a busy machine: it takes no input, and tells why later.
    deaf = folder / "deaf"
    deaf.write_text(
        "#!/bin/sh\nexec 0<&-\nsleep 1\n"
        "echo 'ssh: connect to host 127.0.0.1 port 1: Connection refused' >&2\nexit 255\n"
    )
    deaf.chmod(0o755)
    hosts["deaf"] = {**hosts["refused"], "ansible_ssh_executable": str(deaf)}
    for host in hosts.values():
        host.setdefault("ansible_connection", "local")
    (folder / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
    seen = "{{ dict(ansible_play_hosts_all | zip(ansible_play_hosts_all | map('extract', hostvars)"
    play = {
        "hosts": "all",
        "gather_facts": False,
        "ignore_unreachable": True,
        "tasks": [
            {
                "verify_controls": {"controls": ["hugepages"]},
                "register": "judged",
                "ignore_errors": True,
            },
            {
                "ansible.builtin.copy": {
                    "content": seen + " | map(attribute='judged'))) | to_json }}",
                    "dest": str(folder / "seen.json"),
                },
                "delegate_to": "localhost",
                "connection": "local",
                "run_once": True,
                "vars": {"ansible_python_interpreter": sys.executable, "ansible_become": False},
            },
            {
                "render_report": {
                    "hosts": "{{ ansible_play_hosts_all }}",
                    "waivers": "{{ hostproof_waivers | default(omit) }}",
                },
                "delegate_to": "localhost",
                "connection": "local",
                "run_once": True,
                "vars": {"ansible_python_interpreter": sys.executable, "ansible_become": False},
            },
        ],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play], sort_keys=False))
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
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=600,
    )
    output = ran.stdout + ran.stderr
    (kept,) = folder.glob("reports/*/findings.jsonl")
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert kept.with_name("report.json").exists(), output
    return Run(
        folder,
        output,
        {line["host"]: line for line in lines},
        json.loads((folder / "seen.json").read_text()),
        json.loads(kept.with_name("report.json").read_text()),
    )


def test_every_host_has_its_line_and_its_place_in_the_report(run):
    expected = {*NAMES, "missing", "no_become", "refused", "deaf"}
    assert set(run.lines) == expected
    assert {host["host"] for host in run.report["hosts"]} >= expected


@cases("name", *REFUSED, *(name for name in ODD if name not in FINE_THOUGH_ODD))
def test_a_bad_answer_is_an_error_of_its_host(run, name):
    line = run.lines[name]
    outcome = "unreachable" if name == "sudo_says" else "failed"
    assert (line["outcome"], line["findings"]) == (outcome, [])
    assert line["message"] and line["message"].isprintable()
    assert run.seen[name]["failed"]


@cases(
    "name says",
    ("silent", "the host gave no answer: exit code 0, and nothing was printed"),
    ("closed", "the host gave no answer"),
    ("one_mark", "the host gave no answer"),
    ("sudo_says", "sudo: a password is required (exit code 1)"),
    ("bomb", "inflates to more than 96 MiB"),
    ("long", "longer than 48 MiB"),
    ("values_many", "holds more than 1000000 values"),
    ("deep", "nested too deep"),
    ("digits", "cannot be read"),
    ("findings_dict", "findings is not a list"),
    ("missing", "is ansible_python_interpreter a Python 3.6 or newer there?"),
)
def test_says_what_is_wrong_with_it(run, name, says):
    assert says in run.lines[name]["message"]


@pytest.mark.parametrize("name", MENDED)
def test_a_field_that_is_wrong_costs_that_field_alone(run, name):
    left_out = MENDED[name][1]
    line = run.lines[name]
    assert line["outcome"] == "judged"
    if left_out == "check":
        assert {item["status"] for item in line["findings"]} == {"error"}
        return
    (finding,) = line["findings"]
    assert finding["check"] == "hugepages.pool_covers_sga"
    assert finding["why"].endswith(f"what no control sends: {left_out}.")
    expected = {**hostile_python.FINDING, "why": finding["why"]}
    for field in left_out.split(", "):
        if field in expected and field != "why":
            assert finding[field] in ("error", "critical", None, [])
            expected[field] = finding[field]
    assert finding == expected


def test_a_command_that_names_a_file_of_hostproof_s_is_kept(run):
    (finding,) = run.lines["own_drop_in"]["findings"]
    assert finding["commands"] == [
        "grep -n nr_hugepages /etc/sysctl.d/99-zz-hostproof-hugepages.conf"
    ]


@cases("name", *TAKEN, *FINE_THOUGH_ODD)
def test_a_sound_finding_is_taken_whatever_stands_around_it(run, name):
    line = run.lines[name]
    assert line["outcome"] == "judged"
    (finding,) = line["findings"]
    assert finding["check"] == "hugepages.pool_covers_sga"
    assert all(
        value is None or not isinstance(value, str) or value.isprintable() or "\n" in value
        for value in finding.values()
    )
    assert not run.seen[name].get("failed")


def test_nothing_but_what_is_known_comes_to_ansible(run):
    assert set(run.seen["facts"]) <= {
        *("changed", "counts", "reported", "findings", "failed", "evidence"),
        *("status", "failing", "msg", "lines"),
        *("failed_when_result", "unreachable"),
    }
    assert not run.seen["facts"].get("unreachable")
    assert "evil" not in run.output
    assert "evil" not in json.dumps(run.lines["facts"])


def test_no_answer_is_a_template(run):
    assert not (run.folder / "proof").exists()
    assert "{{ 6 * 7 }}" in run.lines["template"]["findings"][0]["why"]
    assert "{{ 6 * 7 }}" in run.lines["failed"]["message"]
    assert "{{ 6 * 7 }}" in run.seen["template"]["findings"][0]["why"]


def test_no_character_reaches_the_terminal_that_it_obeys(run):
    assert not {character for character in run.output if character in "\x1b\x07\x9b\u202e"}


def test_become_and_connections_that_fail_are_said(run):
    assert run.lines["no_become"]["outcome"] == "failed"
    # Ansible looks for the method before it asks us: the report tells that there is no result.
    assert "nope" in run.output
    for name in ("refused", "deaf"):
        assert run.lines[name]["outcome"] == "unreachable"
        assert "Connection refused" in run.lines[name]["message"]
