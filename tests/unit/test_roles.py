"""Each role keeps to the shape that docs/adding-a-control.md describes."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from hostproof_controller import policies

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) or {}


def specs(role: str) -> dict[str, Any]:
    """Entry point to its specification."""
    return load(ROOT / "roles" / role / "meta/argument_specs.yml")["argument_specs"]


def defaults(role: str) -> dict[str, Any]:
    return load(ROOT / "roles" / role / "defaults/main.yml")


def tasks(role: str) -> list[Path]:
    return sorted((ROOT / "roles" / role / "tasks").glob("*.yml"))


def test_every_control_has_a_role():
    assert set(CONTROLS) <= set(ROLES)


def test_playbooks_call_every_control_that_changes_hosts():
    calls = load(ROOT / "playbooks/tasks/controls.yml")
    names = [call["ansible.builtin.import_role"]["name"] for call in calls]
    assert sorted(names) == sorted(name for name, control in CONTROLS.items() if control.plan)
    for call in calls:
        assert call["tags"] == [call["ansible.builtin.import_role"]["name"]]


@pytest.mark.parametrize("role", ROLES)
class TestRole:
    def test_every_variable_is_named_for_the_role(self, role):
        assert not [name for name in defaults(role) if not name.startswith(role + "_")]

    def test_every_option_is_explained(self, role):
        for entry in specs(role).values():
            assert entry["short_description"]
            assert all(option["description"] for option in (entry.get("options") or {}).values())

    def test_no_word_of_the_specification_is_a_template(self, role):
        """Ansible would take a description for one, on a host of no group of that name too."""
        text = (ROOT / "roles" / role / "meta/argument_specs.yml").read_text()
        assert "{{" not in text
        assert "{%" not in text

    def test_every_entry_point_with_a_task_is_specified(self, role):
        """Ansible looks the specification up by name, and skips it silently where there is none.

        Without tasks there is nothing to protect, and validating costs each host a task.
        """
        assert set(specs(role)) == {path.stem for path in tasks(role) if load(path)}

    def test_policy_is_made_of_the_variables_of_the_same_name(self, role):
        assert set(policies.controls()[role].fields) == set(CONTROLS[role].policy._fields)

    def test_playbooks_name_entry_points_as_the_specification_does(self, role):
        """`tasks_from: verify.yml` would skip the validation that `tasks_from: verify` gets."""
        for playbook in (ROOT / "playbooks").glob("*.yml"):
            named = re.findall(r"tasks_from:\s*(\S+)", playbook.read_text())
            assert not [name for name in named if name.endswith(".yml")]

    def test_readme_names_every_variable(self, role):
        readme = (ROOT / "roles" / role / "README.md").read_text()
        assert not [name for name in specs(role)["verify"]["options"] if name not in readme]

    def test_private_names_start_with_two_underscores(self, role):
        for path in tasks(role):
            registered = re.findall(r"register:\s*(\S+)", path.read_text())
            private = [name for name in registered if name != f"hostproof_{role}"]
            assert not [name for name in private if not name.startswith(f"__{role}_")]

    def test_each_entry_point_returns_the_documented_result(self, role):
        for path in tasks(role):
            # Without tasks it only loads the defaults.
            assert not load(path) or f"register: hostproof_{role} " in path.read_text()

    def test_verify_judges_its_control_and_a_play_may_say_what_fails(self, role):
        """A verify that fails by its own rule would keep the next controls from being judged."""
        task, shown = load(ROOT / "roles" / role / "tasks/verify.yml")
        assert task["verify_controls"] == {
            "controls": [role],
            "evidence": "cited",
            "result": "listed",
            "fail_on": f"{{{{ hostproof_fail_on | default({role}_verify_fail_on) }}}}",
        }
        assert shown["show_findings"]["control"] == role
        assert "notify" not in task
