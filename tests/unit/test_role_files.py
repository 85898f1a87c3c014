"""tools/role_files: the files of the roles follow from the policies of the controls."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate.fields import flag, names, one_of, size, window
from cases import cases
from programs import imported_program

ROOT = Path(__file__).resolve().parents[2]
role_files = imported_program("role_files", "tools")


def test_no_file_is_stale():
    assert role_files.stale() == [], "run tools/role_files"


def test_a_control_that_only_reads_has_no_tasks_that_change():
    for name, control in CONTROLS.items():
        entries = {path.stem for path in (ROOT / "roles" / name / "tasks").glob("*.yml")}
        assert entries - {"policy"} == set(role_files.entry_points(control))
        assert ("main" in entries) == bool(control.plan)


def test_a_text_has_paragraphs_and_a_default():
    text = role_files.documentation(
        "One line\n    and more.\n\n    Two.\n\n    Default: [a]\n    ", "p:1"
    )
    assert text == (["One line and more.", "Two."], ["a"], False, None)
    table = "T.\n\n    Default:\n      key: {port: 1}\n    Secret: true\n    "
    assert role_files.documentation(table, "p:1") == (["T."], {"key": {"port": 1}}, True, None)


@cases("text", "Text alone.", "Default: 1", "T.\n\nDefault: 1\nOther: 2", "T.\n\nDefaults: 1")
def test_a_text_without_a_usable_default_is_named(text):
    with pytest.raises(SystemExit, match=r"^policy.py:7: .* 'Default: VALUE'"):
        role_files.documentation(text, "policy.py:7")


@cases(
    "field default option",
    (flag(), "true", {"type": "bool", "default": True}),
    (size(), "2M", {"type": "str", "default": "2M"}),
    (names(), "[]", {"type": "list", "elements": "str", "default": []}),
    (names().none_for("auto"), "auto", {"type": "raw", "default": "auto"}),
    (one_of("a", "b"), "a", {"type": "str", "default": "a", "choices": ["a", "b"]}),
    (window(), "10", {"type": "float", "default": 10}),
)
def test_an_option_follows_from_the_field(field, default, option):
    text = role_files.documentation(f"What it is.\n\nDefault: {default}", "p:1")
    assert role_files.option_of(field, text) == option | {"description": "What it is."}


def test_a_secret_has_no_default_in_the_specification():
    """Ansible would mask each word of the default in all output."""
    text = role_files.documentation("T.\n\nDefault: {a: public}\nSecret: true", "p:1")
    option = role_files.option_of(role_files.Field(None, "dict"), text)
    assert option == {"type": "dict", "no_log": True, "description": "T."}


def test_texts_of_an_entry_point_are_written_by_hand_and_stay():
    specs = (ROOT / "roles/hugepages/meta/argument_specs.yml").read_text()
    changed = specs.replace("main:\n    short_description: ", "main:\n    short_description: X ")
    path = ROOT / "module_utils/hostproof/controls/hugepages/policy.py"
    text = role_files.specs_of(CONTROLS["hugepages"], path, changed)
    written = yaml.safe_load(text)["argument_specs"]
    assert written["main"]["short_description"].startswith("X ")
    assert written["main"]["options"] == yaml.safe_load(specs)["argument_specs"]["main"]["options"]


@cases("name", "control_pages", "coverage_page", "role_files")
def test_a_generator_without_its_packages_states_which_environment_it_needs(name):
    program = ROOT / "tools" / name
    done = subprocess.run(
        [sys.executable, "-I", "-S", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    advice = rf"run \.venv-dev/bin/python tools/{name}; \./hostproof test makes \.venv-dev"
    assert re.fullmatch(rf"No module named .*: {advice}\n", done.stderr)
