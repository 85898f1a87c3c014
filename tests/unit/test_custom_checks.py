"""The files checks.d/*.yml: where they are found, what is wrong in them, and their schema."""

import json
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.hostproof.controls.custom.policy import CustomCheck
from ansible.module_utils.hostproof.errors import HostproofError
from cases import cases
from hostproof_controller import custom_checks

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
- id: swappiness
  title: Swappiness is at most 10
  problem: Swappiness is above 10
  severity: medium
  why: The kernel swaps parts of the PGA out.
  reference: house standard 4.2
  sysctl: vm.swappiness
  at_most: 10
"""


@pytest.fixture
def inventory(tmp_path):
    """write(name, text) puts a file into checks.d; the inventory is hosts.yml."""
    (tmp_path / "hosts.yml").write_text("all: {hosts: {db01: {}}}\n")
    (tmp_path / "checks.d").mkdir()

    def write(name, text):
        (tmp_path / "checks.d" / name).write_text(text)
        return [str(tmp_path / "hosts.yml")]

    return write


def test_files_of_an_inventory_and_of_its_folder(inventory, tmp_path):
    sources = inventory("house.yml", GOOD)
    inventory("more.yaml", GOOD.replace("swappiness\n", "other\n", 1))
    inventory("notes.txt", "no YAML: [")
    for paths in (sources, [str(tmp_path)], [*sources, str(tmp_path), "db01,db02", "/no/such"]):
        loaded = custom_checks.load(paths)
        assert [each.check.id for each in loaded] == ["custom.swappiness", "custom.other"]
    assert loaded[0].values == yaml.safe_load(GOOD)[0]
    assert loaded[0].place == f"{tmp_path}/checks.d/house.yml:1"


@cases(
    "text words",
    (GOOD + GOOD, "house.yml:9: the id swappiness is used twice, first in"),
    (
        "# a comment\n" + GOOD.replace("at_most", "atmost"),
        "house.yml:2: swappiness has an unknown key",
    ),
    ("- id: swap\n", "house.yml:1: swap lacks title, problem, severity, why, reference"),
    (GOOD.replace("medium", "huge"), "house.yml:1: swappiness: severity must be one of"),
    ("checks:\n" + GOOD, "house.yml"),
    ("a: 1\n", "house.yml:1: must be a list"),
    ("- 7\n", "house.yml:1: an entry must be a dictionary"),
    ("- [a, b\n", "house.yml: "),
    ("x: &a [1]\ny: " + "[" * 20 + "]" * 20, "nested deeper than 10 levels"),
)
def test_an_entry_that_cannot_be_used_is_named_by_file_and_line(inventory, text, words):
    with pytest.raises(HostproofError) as problem:
        custom_checks.load(inventory("house.yml", text))
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_command_of_ones_own_is_no_matter_of_the_file(inventory):
    """Which hosts may run it is known with their variables."""
    text = GOOD.replace("sysctl: vm.swappiness", "command: [/opt/site/measure]")
    (loaded,) = custom_checks.load(inventory("house.yml", text))
    assert loaded.values["command"] == ["/opt/site/measure"]


def test_an_empty_file_and_no_folder(inventory, tmp_path):
    assert custom_checks.load(inventory("house.yml", "# nothing yet\n")) == []
    assert custom_checks.load(["localhost,"]) == []


def test_the_published_schema_has_every_key(inventory):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs/custom_checks.schema.json").read_text())
    item = schema["items"]
    assert set(item["properties"]) == set(CustomCheck._fields)
    assert set(item["required"]) == {
        name for name, field in CustomCheck._field_defaults.items() if field.is_required
    }
    entry = yaml.safe_load(GOOD)[0]
    examples = [
        block
        for block in (ROOT / "docs/controls/custom.md").read_text().split("```")
        if block.startswith("yaml\n")
    ]
    assert examples
    for text in [GOOD, *(block.removeprefix("yaml\n") for block in examples)]:
        jsonschema.validate(yaml.safe_load(text), schema)
        assert custom_checks.load(inventory("house.yml", text))
        custom_checks._load.cache_clear()
    for bad in ({"file": "/x"}, {"equals": 1}, {"titel": "x"}, {"title": ""}, {"option": "x"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([{**entry, **bad}], schema)
