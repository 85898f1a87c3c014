"""The registry imports a control when it is asked for, and Ansible packs every control."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

from ansible.module_utils.hostproof.controls import registry
from hostproof_controller.cli.explain import all_checks

ROOT = Path(__file__).resolve().parents[2]

LOADED = """
import sys
from hostproof.controls.registry import CONTROLS
from hostproof.evaluate import audit
assert CONTROLS["hugepages"].name == "hugepages"
print(*sorted(name for name in CONTROLS if "hostproof.controls." + name in sys.modules))
"""


def test_one_control_imports_no_other():
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={"PYTHONPATH": str(ROOT / "module_utils")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["hugepages"]


def test_every_control_is_named_once_and_packed_by_ansible():
    function = ast.parse(inspect.getsource(registry._imports_for_ansible)).body[0]
    packed = {
        node.module: [alias.name for alias in node.names]
        for node in function.body
        if isinstance(node, ast.ImportFrom)
    }
    assert packed == {name: ["control"] for name in registry.NAMES}
    assert sorted(packed) == list(registry.NAMES)


def test_every_control_has_its_own_name_and_its_plan_is_importable():
    for name in registry.NAMES:
        assert name == registry.CONTROLS[name].name
        assert callable(registry.planner(name))


def test_the_plan_of_a_control_that_only_audits_changes_nothing():
    audits = [name for name, control in registry.CONTROLS.items() if control.plan is None]
    assert audits
    for name in audits:
        assert not any(registry.planner(name)(None, None))


def test_what_is_no_control():
    assert "nosuch" not in registry.CONTROLS
    assert registry.CONTROLS.get("nosuch") is None


def test_no_title_of_a_check_reads_as_a_subject_and_a_title():
    """The report splits "eth0: The title" at the first colon."""
    titles = [check.title for check in all_checks()]
    assert len(titles) > 100
    assert not [title for title in titles if ": " in title]


def test_titles_and_problems_fit_a_line():
    """A problem stands in the place of the title: it says what is wrong and nothing else."""
    for check in all_checks():
        assert len(check.title) <= 60, check.id
        assert 0 < len(check.problem) <= 70, check.id
        assert ": " not in check.problem, check.id
