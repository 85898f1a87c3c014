"""Controls keep to their form: a check stands above its rule, a variable is declared once.

The role's specification (``argument_specs.yml``) says the same of a variable as its declaration.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate.control import Control
from ansible.module_utils.hostproof.evaluate.fields import fields_of

ROOT = Path(__file__).resolve().parents[2]
CONTROLS_FOLDER = ROOT / "module_utils/hostproof/controls"

DECLARED = [(name, field) for name in CONTROLS for field in fields_of(CONTROLS[name].policy)]

#: Fields that several controls share, so that no role has a default for them.
SHARED = {"window_seconds": 10, "profile": "none", "own_commands": False, "target_os": "none"}


def test_every_control_has_rules():
    assert all(isinstance(control, Control) for control in CONTROLS.values())
    # The rules of custom come with its policy.
    assert [name for name, control in CONTROLS.items() if not control.rules] == ["custom"]


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text()) or {}


def options(control: str) -> dict[str, dict[str, Any]]:
    """The options of the role by the names of the policy's fields."""
    specs = load(ROOT / "roles" / control / "meta/argument_specs.yml")["argument_specs"]
    return {
        re.sub(f"^({control}|hostproof)_", "", name): option
        for name, option in specs["verify"]["options"].items()
    }


@pytest.mark.parametrize(("control", "name"), DECLARED)
class TestVariable:
    def test_fields_of_its_entries_are_in_the_description(self, control, name):
        field = fields_of(CONTROLS[control].policy)[name]
        text = str(options(control)[name]["description"])
        missing = [key for key in getattr(field, "fields", {}) if f"C({key})" not in text]
        assert not missing


@pytest.mark.parametrize("control", sorted(CONTROLS))
class TestControl:
    def test_the_defaults_of_its_role_are_a_policy(self, control):
        defaults = {
            name.removeprefix(f"{control}_"): value
            for name, value in load(ROOT / "roles" / control / "defaults/main.yml").items()
        }
        fields = fields_of(CONTROLS[control].policy)
        values = {name: defaults[name] if name in defaults else SHARED[name] for name in fields}
        assert CONTROLS[control].policy_from(values)

    def test_from_the_id_of_a_check_to_its_rule_is_one_search(self, control):
        files = [CONTROLS_FOLDER / f"{control}.py", *(CONTROLS_FOLDER / control).glob("*.py")]
        text = "".join(path.read_text() for path in files if path.exists())
        ids = re.findall(rf'^@?rules\.check\(\n\s+"({control}\.\w+)",\n', text, re.MULTILINE)
        assert sorted(ids) == sorted(check.id for check in CONTROLS[control].checks)

    def test_a_rule_has_the_name_of_its_check(self, control):
        files = [CONTROLS_FOLDER / f"{control}.py", *(CONTROLS_FOLDER / control).glob("*.py")]
        for path in files:
            if path.exists():
                rules = re.findall(
                    r'@rules\.check\(\n\s+"\w+\.(\w+)",\n.*?\n\)\ndef (\w+)\(',
                    path.read_text(),
                    re.DOTALL,
                )
                assert [check for check, _ in rules] == [rule for _, rule in rules]

    def test_its_files_have_the_names_of_the_form(self, control):
        """No part of a control is called after how it came about."""
        names = {path.stem for path in (CONTROLS_FOLDER / control).glob("*.py")}
        assert not names & {"asked", "checks", "judge", "judging", "shortened", "waiting"}
