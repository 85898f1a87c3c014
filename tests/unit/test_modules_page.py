"""docs/modules.md has every tool, and its examples are tasks with options that exist."""

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jmespath
import pytest
import yaml
from ansible.module_utils.hostproof.parsers.oracle import oracle_net, oracle_net_data

ROOT = Path(__file__).resolve().parents[2]
# What a page says.
pytestmark = pytest.mark.one_core
PAGE = ROOT / "docs/modules.md"
SECTIONS = re.findall(r"^## (\w+)$", PAGE.read_text(), re.MULTILINE)
MODULES = [name for name in SECTIONS if (ROOT / "library" / f"{name}.py").exists()]
FILTERS = [name for name in SECTIONS if (ROOT / "filter_plugins" / f"{name}.py").exists()]

#: The modules that the roles and playbooks call: not for a task of one's own.
INNER = {
    *("apply_control", "change_journal", "compare_latency", "latency_baseline", "latency_gate"),
    *("record_evidence", "render_report", "revert_control", "show_findings", "verify_controls"),
}


def examples() -> list[dict[str, Any]]:
    """Every task of the page's plays."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    plays = [play for block in blocks for play in yaml.safe_load(block)]
    return [task for play in plays for task in play["tasks"]]


def test_every_tool_has_its_section():
    assert set(MODULES) == {path.stem for path in ROOT.glob("library/*.py")} - INNER
    assert set(FILTERS) == {path.stem for path in ROOT.glob("filter_plugins/*.py")}
    assert SECTIONS == MODULES + FILTERS


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_a_module_have_options_that_exist(module):
    result = subprocess.run(
        [Path(sys.executable).with_name("ansible-doc"), "--type=module", "--json", module],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
        check=True,
    )
    known = set(json.loads(result.stdout)[module]["doc"]["options"])
    name = f"hostproof.hostproof.{module}"
    tasks = [task[name] for task in examples() if name in task]
    assert tasks
    for task in tasks:
        assert set(task) <= known


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_has_an_example(name):
    assert [
        task
        for task in examples()
        if re.search(rf"\|\s*hostproof\.hostproof\.{name}\b", json.dumps(task))
    ]


LISTENER = """\
LISTENER =
  (DESCRIPTION_LIST =
    (DESCRIPTION =
      (ADDRESS = (PROTOCOL = TCP)(HOST = db01)(PORT = 1521))
      (ADDRESS = (PROTOCOL = IPC)(KEY = EXTPROC1521))
    )
  )
"""


def test_both_examples_of_the_filter_work_with_an_address_of_ipc(tmp_path):
    (message,) = (
        task["ansible.builtin.debug"]["msg"]
        for task in examples()
        if "from_oracle_net" in json.dumps(task)
    )
    (query,) = re.findall(r"`(addresses\[.*?)`", PAGE.read_text())
    data = oracle_net_data.as_data(oracle_net.parse(LISTENER))
    assert jmespath.search(query, data) == ["1521"]
    content = base64.b64encode(LISTENER.encode()).decode()
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("ansible"), "localhost", "-m", "debug"),
            # A checkout has short names.
            *("-a", json.dumps({"msg": message.replace("hostproof.hostproof.", "")})),
            *("-e", json.dumps({"listener_ora": {"content": content}})),
        ],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
    )
    assert re.search(r'"msg": \[\s*"1521"\s*\]', done.stdout), done.stdout + done.stderr
