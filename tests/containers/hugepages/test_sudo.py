"""A real sudo that wants a password and a terminal (``Defaults requiretty``), in a container of its
own, where an account may become root.

What stands in is ssh: a program that runs what it is given in the container, with a terminal where
ssh would have asked for one (-tt). The account, its password, sudo and sudoers are real.
"""

import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from machines import container
from machines.needs import ROOT

PASSWORD = "tiger2"
#: The connections of Ansible's collections, which never have a terminal.
CONNECTIONS = {"podman": "containers.podman.podman", "docker": "community.docker.docker"}
PREPARE = f"""
useradd --create-home --shell /bin/bash admin
echo admin:{PASSWORD} | chpasswd
echo 'admin ALL=(ALL) ALL' > /etc/sudoers.d/admin
"""
SSH = """#!/bin/sh
run='sh -c "$1"'
for last do [ "$last" = -tt ] && run='script -qec "$1" /dev/null'; done
exec {executable} exec -i -u admin -w /home/admin {name} sh -c "$run" sh "$last"
"""
PLAY = [
    {
        "hosts": "all",
        "gather_facts": False,
        "become": True,
        "tasks": [{"verify_controls": {"controls": ["hugepages"]}}],
    }
]


@pytest.fixture(scope="module")
def name(box) -> Iterator[str]:
    """A container in which programs may gain privileges."""
    noted = container.state("hugepages")
    name = f"hostproof-sudo-{uuid.uuid4().hex[:8]}"
    options = ["--rm", "--detach", "--network=none", "--stop-signal=KILL", "--name", name]
    command = [noted.executable, "run", *options, noted.image, "sleep", "infinity"]
    subprocess.run(command, check=True, capture_output=True)
    try:
        inside(name, PREPARE)
        yield name
    finally:
        subprocess.run([noted.executable, "rm", "--force", name], capture_output=True)


def inside(name: str, shell: str, user: str = "root") -> str:
    executable = container.state("hugepages").executable
    command = [executable, "exec", "--user", user, name, "sh", "-euc", shell]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def judged(folder: Path, name: str, *, connection: str = "ssh", **more: Any) -> dict[str, Any]:
    """The report's line of the container behind its sudo."""
    folder.mkdir()
    noted = container.state("hugepages")
    ssh = folder / "ssh"
    ssh.write_text(SSH.format(executable=shlex.quote(noted.executable), name=name))
    ssh.chmod(0o755)
    (folder / "play.json").write_text(json.dumps(PLAY))
    variables = {
        "ansible_connection": connection,
        "ansible_host": name,
        "ansible_user": "admin",
        "ansible_ssh_executable": str(ssh),
        "ansible_ssh_transfer_method": "piped",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_become_password": PASSWORD,
        "ansible_podman_executable": noted.executable,
        **more,
    }
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("ansible-playbook")), str(folder / "play.json")),
            *("-i", "box,", "-e", json.dumps(variables)),
        ],
        env={
            **{key: value for key, value in os.environ.items() if "HOSTPROOF" not in key},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    reports = [path.read_text() for path in folder.glob("reports/*/findings.jsonl")]
    assert len(reports) == 1, done.stdout[-4000:]
    return json.loads(reports[0])


def verdicts(line: dict[str, Any]) -> list[tuple[str, str]]:
    return [(finding["check"], finding["status"]) for finding in line["findings"]]


@pytest.fixture(scope="module")
def by_payload(name, tmp_path_factory) -> dict[str, Any]:
    """Judged on the fast path: sudo asks for a password, and for no terminal."""
    return judged(tmp_path_factory.mktemp("sudo") / "a", name)


@pytest.fixture(scope="module")
def requiretty(name, by_payload) -> str:
    """The container, whose sudo wants a terminal from now on, and says so."""
    inside(name, "echo 'Defaults requiretty' > /etc/sudoers.d/terminal")
    refused = inside(name, f"echo {PASSWORD} | sudo -S true 2>&1 || true", "admin")
    assert "you must have a tty" in refused
    return name


def test_a_password_is_given_and_the_payload_runs(by_payload):
    assert by_payload["outcome"] == "judged", by_payload["message"]
    assert by_payload["findings"]


def test_where_a_terminal_is_wanted_the_same_is_found(requiretty, by_payload, tmp_path):
    line = judged(tmp_path / "a", requiretty)
    assert line["outcome"] == "judged", line["message"]
    assert verdicts(line) == verdicts(by_payload)


def test_where_there_is_no_terminal_to_be_had_one_sentence_says_so(requiretty, tmp_path):
    engine = CONNECTIONS[container.state("hugepages").engine]
    line = judged(tmp_path / "a", requiretty, connection=engine)
    assert line["outcome"] in ("failed", "unreachable")
    assert "you must have a tty to run sudo" in line["message"]
    assert "requiretty" in line["message"]
    assert "\n" not in line["message"] and len(line["message"]) < 400


def test_a_wrong_password_is_said(requiretty, tmp_path):
    line = judged(tmp_path / "a", requiretty, ansible_become_password="scott")
    assert line["outcome"] in ("failed", "unreachable")
    assert "password" in line["message"].lower()
