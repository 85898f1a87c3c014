"""What our own playbooks, roles and inventories name is never taken for a misspelt variable."""

import re
from pathlib import Path

import pytest
import yaml
from hostproof_controller import policies, variable_names

ROOT = Path(__file__).resolve().parents[2]
PLAYS = [path for top in ("playbooks", "roles", "molecule") for path in (ROOT / top).rglob("*.yml")]
INVENTORIES = [
    path
    for top in ("inventories", "molecule")
    for path in (ROOT / top).rglob("*.yml")
    if "group_vars" in path.parts or path.parent.name == "host_vars"
]


def assert_known(variables):
    assert variable_names.refuse_misspelt(variables, policies.controls()) == []


def names_in(value: object) -> set[str]:
    """Every variable that a play sets: under vars, registered, or the name of a loop's."""
    names: set[str] = set()
    if isinstance(value, dict):
        if isinstance(value.get("vars"), dict):
            names.update(value["vars"])
        names.update(str(value[key]) for key in ("register", "loop_var") if key in value)
        for item in value.values():
            names |= names_in(item)
    elif isinstance(value, list):
        for item in value:
            names |= names_in(item)
    return names


@pytest.mark.parametrize("path", PLAYS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_plays_set_is_known(path):
    assert_known(dict.fromkeys(names_in(yaml.safe_load(path.read_text()))))


@pytest.mark.parametrize("path", INVENTORIES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_inventories_set_is_known(path):
    assert_known(yaml.safe_load(path.read_text()) or {})


def test_variables_that_the_playbooks_read_are_known():
    used = set()
    for path in (ROOT / "playbooks").rglob("*.yml"):
        used |= set(re.findall(r"\b(?:hostproof|latency_gate)_[a-z_]+", path.read_text()))
    modules = {module.stem for module in (ROOT / "library").glob("*.py")}
    folders = {"hostproof_evidence"}
    callbacks = {callback.stem for callback in (ROOT / "callback_plugins").glob("*.py")}
    assert_known(dict.fromkeys(used - modules - folders - callbacks))


def test_a_private_name_of_a_play_is_nobodys_business():
    private = ("__latency_probes", "_hugepages_instance", "__nfs_mount_wanted")
    assert_known(dict.fromkeys(private))
