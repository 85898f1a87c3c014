"""systemd units: names as systemd-escape 252 gives them, settings as systemd reads them."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.parsers.mounts import fstab
from ansible.module_utils.hostproof.parsers.systemd import systemd_unit
from cases import cases

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "systemd_unit"
ESCAPED = json.loads((FIXTURES / "systemd-escape-252.json").read_text())


@pytest.mark.parametrize("case", ESCAPED, ids=lambda case: case["path"])
def test_names_are_those_of_systemd_escape(case):
    assert systemd_unit.unit_name(case["path"]) == case["unit"]
    assert systemd_unit.unit_path(case["unit"]) == fstab.clean_path(case["path"])


def test_bytes_that_are_not_utf_8_survive():
    assert systemd_unit.unit_name("/u\udcff") == "u\\xff.mount"
    assert systemd_unit.unit_path("u\\xff.mount") == "/u\udcff"


def value(text, key="Options", *drop_ins):
    units = [
        systemd_unit.parse(content, str(number)) for number, content in enumerate((text, *drop_ins))
    ]
    setting = systemd_unit.last(units, "Mount", key)
    return setting and setting.value


@cases(
    "text options",
    ("[Mount]\nOptions=hard\n", "hard"),
    ("[Mount]\n Options = hard \r\n", "hard"),
    ("[Mount]\nOptions=hard,\\\n  bg\n", "hard,   bg"),
    ("[Mount]\nOptions=hard,\\\n# comment\nbg\n", "hard, bg"),
    ("[Mount]\nOptions=hard\\", "hard"),
    ("[Mount]\nOptions=soft\n[Unit]\nOptions=x\n[Mount]\nOptions=hard", "hard"),
    ("[Mount]\nOptions=hard\nOptions=\n", None),
    ("[Mount]\n;Options=hard\n", None),
    ("[Mount]\noptions=hard\n", None),
    ("", None),
)
def test_the_last_setting_counts(text, options):
    assert value(text) == options


def test_drop_ins_come_after_the_unit():
    unit = "[Mount]\nWhat=a:/b\nOptions=soft\n"
    assert value(unit, "Options", "[Mount]\nOptions=hard\n") == "hard"
    assert value(unit, "What", "[Mount]\nOptions=hard\n") == "a:/b"


def test_settings_say_where_they_stand():
    unit = systemd_unit.parse("# x\n[Mount]\nOptions=hard,\\\nbg\nWhat=a\n", "/x.mount")
    assert [
        (assignment.key, assignment.path, assignment.line) for assignment in unit.assignments
    ] == [("Options", "/x.mount", 3), ("What", "/x.mount", 5)]


def test_lines_that_systemd_ignores_are_named():
    unit = systemd_unit.parse("What=early\n[Mount]\nnonsense\n=x\nWhat=a\n", "x")
    assert (unit.bad_lines, len(unit.assignments)) == ([1, 3, 4], 1)


def test_a_broken_section_is_no_unit():
    with pytest.raises(ParseError, match="line 2"):
        systemd_unit.parse("# x\n[Mount\nWhat=a\n", "x")
