"""What `ansible-doc` tells about each module is what the module takes and gives."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.hostproof.collect import host_module
from hostproof_controller.remote import response_validation

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(path.stem for path in ROOT.glob("library/*.py"))

#: Keys of an option that both sides state, with what leaving one out means.
COMPARED = {"type": "str", "required": False, "default": None, "choices": None, "elements": None}

#: Their actions make the result from the answer.
OWN_RESULT = {"record_evidence", "verify_controls"}


class _Asked(Exception):
    """Ends main() where it builds its AnsibleModule."""


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    """ansible-doc's answer on every module of library/."""
    answer = subprocess.run(
        [Path(sys.executable).with_name("ansible-doc"), "--type=module", "--json", *MODULES],
        cwd=ROOT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(answer.stdout)


@pytest.fixture
def accepted(monkeypatch):
    """A function: module name to the arguments with which it makes its AnsibleModule."""

    def ask(name: str) -> dict[str, Any]:
        module = importlib.import_module(f"ansible.modules.{name}")
        spec: dict[str, Any] = {}

        def remember(**arguments: Any) -> None:
            spec.update(arguments)
            raise _Asked

        # The latency modules build theirs in host_module.
        builder = module if hasattr(module, "AnsibleModule") else host_module
        monkeypatch.setattr(builder, "AnsibleModule", remember)
        with pytest.raises(_Asked):
            module.main()
        return spec

    return ask


def essence(options: dict[str, Any]) -> dict[str, Any]:
    """Options with what both the documentation and the argument spec must say alike."""
    return {
        name: {
            **{key: option.get(key, fallback) for key, fallback in COMPARED.items()},
            "inside": essence(option.get("suboptions", option.get("options")) or {}),
        }
        for name, option in options.items()
    }


def test_there_are_modules():
    assert MODULES


@pytest.mark.parametrize("name", MODULES)
class TestModule:
    def test_is_documented(self, documented, name):
        document = documented[name]["doc"]
        assert document["short_description"]
        assert all(option["description"] for option in (document.get("options") or {}).values())

    def test_options_are_those_of_the_argument_spec(self, documented, accepted, name):
        options = essence(documented[name]["doc"].get("options") or {})
        assert options == essence(accepted(name)["argument_spec"])

    def test_check_mode_is_as_documented(self, documented, accepted, name):
        support = documented[name]["doc"]["attributes"]["check_mode"]["support"]
        assert support == ("full" if accepted(name).get("supports_check_mode") else "none")

    def test_examples_are_tasks_with_options_that_exist(self, documented, name):
        known = set(documented[name]["doc"].get("options") or {})
        text = documented[name]["examples"].replace("hostproof.hostproof.", "")
        tasks = [task for task in yaml.safe_load(text) if name in task]
        assert tasks
        for task in tasks:
            assert set(task[name] or {}) <= known

    def test_says_what_it_returns(self, documented, name):
        returned = documented[name]["return"]
        assert returned
        assert all(value["description"] and value["type"] for value in returned.values())
        # The controller passes only these keys of what a host answers.
        passed = set(response_validation.KEYS.get(name, returned)) - {"changed", "diff"}
        if name not in OWN_RESULT:
            assert set(returned) == passed

    def test_says_since_when_and_by_whom(self, documented, name):
        document = documented[name]["doc"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", document["version_added"])
        assert document["author"]
