"""The filters, as a playbook finds them through ansible.cfg, and what ansible-doc says of them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILTERS = sorted(path.stem for path in ROOT.glob("filter_plugins/*.py"))
LISTENER_ORA = ROOT / "tests/fixtures/oracle_net/good/03-rate-global.ora"
FIRST_COLUMN_ORA = ROOT / "tests/fixtures/oracle_net/good/31-parenthesis-in-first-column.ora"
BROKEN_ORA = ROOT / "tests/fixtures/oracle_net/broken/10-two-equals.ora"


def ansible(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name(program), *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_LOAD_CALLBACK_PLUGINS": "False",
        },
        capture_output=True,
        text=True,
        check=False,
    )


def evaluate(expression: str) -> Any:
    answer = ansible(
        "ansible",
        "localhost",
        "-i",
        "localhost,",
        "-c",
        "local",
        "-m",
        "debug",
        "-a",
        json.dumps({"msg": "{{ " + expression + " }}"}),
    )
    if answer.returncode != 0:
        return answer.stdout + answer.stderr
    return json.loads(answer.stdout.partition("=> ")[2])["msg"]


def test_jmespath_queries_work():
    ports = evaluate(
        f"(lookup('file', '{LISTENER_ORA}') | from_oracle_net).addresses "
        "| map(attribute='PORT') | list"
    )
    assert ports == ["1521", "1522", "1526"]


def test_error_names_line_and_column():
    message = evaluate(f"lookup('file', '{BROKEN_ORA}') | from_oracle_net")
    assert "line 3, column 39: expected a value" in message


def test_the_first_column_may_have_a_parenthesis():
    expression = f"(lookup('file', '{FIRST_COLUMN_ORA}') | from_oracle_net).by_name"
    assert list(evaluate(expression)) == ["LISTENER"]


@pytest.mark.parametrize("name", FILTERS)
def test_ansible_doc_knows_it(name):
    answer = ansible("ansible-doc", "--type=filter", "--json", name)
    doc = json.loads(answer.stdout)[name]
    assert doc["doc"]["short_description"]
    assert doc["examples"]
    assert doc["return"]["_value"]["description"]
