"""docs/modules.md has every tool, and its examples are tasks with options that exist."""

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
# What a page says.
pytestmark = pytest.mark.one_core
PAGE = ROOT / "docs/modules.md"
SECTIONS = re.findall(r"^## (\w+)$", PAGE.read_text(), re.MULTILINE)
MODULES = [name for name in SECTIONS if (ROOT / "library" / f"{name}.py").exists()]
FILTERS = [name for name in SECTIONS if (ROOT / "filter_plugins" / f"{name}.py").exists()]

#: The modules that the roles and playbooks call: not for a task of one's own.
INNER = {
    "apply_control",
    "change_journal",
    "compare_latency",
    "latency_baseline",
    "latency_gate",
    "record_evidence",
    "render_report",
    "revert_control",
    "show_findings",
    "verify_controls",
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
    tasks = [task[module] for task in examples() if module in task]
    assert tasks
    for task in tasks:
        assert set(task) <= known


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_has_an_example(name):
    assert [task for task in examples() if re.search(rf"\|\s*{name}\b", json.dumps(task))]
