"""sudo that asks for a password, and one that wants a terminal: the same findings either way.

The sudo is a stand-in that says and asks what sudo 1.9.13 does; the real one is in the container of
tests/containers/hugepages.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import cases
from hostproof_controller.remote.access import no_access

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "tiger2"
SUDO = r"""#!/bin/sh
if [ -e "$0.requiretty" ] && ! [ -t 0 ]; then
  echo "sudo: sorry, you must have a tty to run sudo" >&2
  exit 1
fi
echo "terminal: $(tty)" >>"$0.log"
while [ $# -gt 0 ]; do
  case $1 in
    -p) printf '%s' "$2" >&2; IFS= read -r given; shift 2 ;;
    -u) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
if [ "$given" != PASSWORD ]; then
  echo "sudo: a password is required" >&2
  exit 1
fi
exec "$@"
""".replace("PASSWORD", PASSWORD)
PACK = str(ROOT / "docs/examples/evidence/db01.example.com.json")
PLAY = [
    {
        "hosts": "all",
        "gather_facts": False,
        "become": True,
        # A recording: other tests start instances on this machine meanwhile.
        "tasks": [
            {
                "verify_controls": {
                    "controls": ["hugepages"],
                    "evidence_pack": PACK,
                    "result": "counts",
                }
            }
        ],
    }
]


def judged(folder: Path, *, requiretty: bool, password: str = PASSWORD) -> dict:
    """The report's line of a host behind that sudo, and what the sudo was started with."""
    folder.mkdir()
    sudo = folder / "sudo"
    sudo.write_text(SUDO)
    sudo.chmod(0o755)
    if requiretty:
        (folder / "sudo.requiretty").touch()
    (folder / "play.json").write_text(json.dumps(PLAY))
    variables = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "ansible_become_exe": str(sudo),
        "ansible_become_password": password,
    }
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("ansible-playbook")), str(folder / "play.json")),
            *("-i", "box,", "-e", json.dumps(variables)),
        ],
        env={
            **{name: value for name, value in os.environ.items() if "HOSTPROOF" not in name},
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_PIPELINING": "True",
            # Where the tests run as root too.
            "ANSIBLE_BECOME_ALLOW_SAME_USER": "True",
            "HOSTPROOF_REPORTS": str(folder / "reports"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    (report,) = folder.glob("reports/*/findings.jsonl")
    (line,) = map(json.loads, report.read_text().splitlines())
    log = folder / "sudo.log"
    return {**line, "log": log.read_text() if log.exists() else "", "output": done.stdout}


def verdicts(line: dict) -> list[tuple[str, str]]:
    return [(finding["check"], finding["status"]) for finding in line["findings"]]


@pytest.fixture(scope="module")
def by_payload(tmp_path_factory):
    return judged(tmp_path_factory.mktemp("sudo") / "a", requiretty=False)


def test_a_password_is_given_and_the_payload_runs(by_payload):
    assert by_payload["outcome"] == "judged"
    # One execution, fed through a pipe.
    assert by_payload["log"].count("terminal: not a tty") == 1
    assert by_payload["log"].count("terminal: ") == 1


@pytest.mark.long
def test_where_a_terminal_is_wanted_the_module_is_sent(by_payload, tmp_path):
    line = judged(tmp_path / "a", requiretty=True)
    assert line["outcome"] == "judged", (line["message"], line["log"])
    assert "terminal: /dev/pts/" in line["log"]
    assert verdicts(line) == verdicts(by_payload)


def test_a_wrong_password_is_said(tmp_path):
    line = judged(tmp_path / "a", requiretty=False, password="scott")
    assert line["outcome"] == "unreachable"
    assert line["message"].startswith("sudo requires a password: enter it with --ask-become-pass")
    # The report has it, and no trace or result of Ansible is printed before.
    assert "fatal:" not in line["output"] and "FAILED!" not in line["output"]


@cases("said begin",

        ("Incorrect sudo password", "sudo rejected the password"),
        ("sudo: 3 incorrect password attempts (exit code 1)", "sudo rejected the password"),
        ("Missing sudo password", "sudo requires a password"),
        ("sudo: a password is required", "sudo requires a password"),
        ("dba is not in the sudoers file. (exit code 1)", "the login account is not permitted"),
        ("Sorry, user dba is not allowed to execute '/bin/sh' as root", "the login account"),
        ("sh: python3: not found; is ansible_python_interpreter a Python 3.6 or newer there?",
         "no usable Python was found"),
    )  # fmt: skip
def test_each_reason_has_its_sentence(said, begin):
    assert str(no_access(said)).startswith(begin)


def test_any_other_error_is_not_taken_for_one_of_them():
    assert no_access("Traceback (most recent call last)") is None
