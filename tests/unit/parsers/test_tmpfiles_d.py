"""tmpfiles.d: our answers against those that systemd-tmpfiles 252 gave."""

import json
from pathlib import Path

import pytest
from ansible.module_utils.hostproof.parsers.systemd import conf_d, tmpfiles_d

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "tmpfiles_d"
CASES = json.loads((FIXTURES / "systemd-252.json").read_text())


def content_after(entries: list[tmpfiles_d.Entry]) -> str:
    """What an empty file holds then: ``w`` writes over, ``f+`` cuts first, ``w+`` appends."""
    content = ""
    for entry in entries:
        if entry.type[0] == "f":
            content = entry.argument
        elif "+" in entry.type:
            content += entry.argument
        else:
            content = entry.argument + content[len(entry.argument) :]
    return content


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_writes_as_systemd_does(case):
    entries = [
        entry
        for number, text in enumerate(case["files"], 1)
        for entry in tmpfiles_d.parse(text, f"{number}0.conf")
    ]
    assert content_after(tmpfiles_d.writes(entries, case["target"])) == case["content"]


def test_an_entry_knows_its_place():
    text = "# thp\nw! /sys/kernel/mm/transparent_hugepage/enabled - - - - never\n"
    assert tmpfiles_d.parse(text, "/etc/tmpfiles.d/thp.conf") == [
        (
            "w!",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "never",
            "/etc/tmpfiles.d/thp.conf",
            2,
            "",
        )
    ]


def test_the_shortest_line_has_a_type_and_a_target():
    entries = tmpfiles_d.parse("R! /tmp/x\nR!\n", "x.conf")
    assert entries == [("R!", "/tmp/x", "", "x.conf", 1, "")]


def test_an_age_is_the_last_field_before_the_argument():
    text = "q /tmp 1777 root root 10d\nd /a 0755 - - -\nC /b - - - 5d /usr/b\n"
    assert [rule.age for rule in tmpfiles_d.parse(text, "x.conf")] == ["10d", "", "5d"]


def test_only_lines_for_the_target_write_to_it():
    entries = tmpfiles_d.parse("w /a - - - - 1\nd /b - - - -\nw /b - - - - 2\n", "x.conf")
    assert [entry.line for entry in tmpfiles_d.writes(entries, "/b")] == [3]


def test_a_file_that_is_written_is_a_duplicate_of_one_that_is_created():
    """As systemd 252 does: it logs "Duplicate line for path"."""
    entries = tmpfiles_d.parse("f /a - - - - 1\nf+ /a - - - - 2\n", "x.conf")
    assert tmpfiles_d.writes(entries, "/a") == []


def test_the_old_name_of_a_file_that_is_emptied_and_written():
    entries = tmpfiles_d.parse("F /a - - - - 1\nF! /b - - - - 2\nf /c - - - - 3\n", "x.conf")
    assert [entry.line for path in "abc" for entry in tmpfiles_d.writes(entries, "/" + path)] == [
        1,
        2,
    ]


def test_a_distribution_s_file(fixture_text):
    entries = tmpfiles_d.parse(fixture_text("tmpfiles_d/debian-12-systemd.conf"), "systemd.conf")
    assert {entry.type for entry in entries} == {"C", "Z", "a+", "d", "f+!", "z"}
    assert all(entry.target.startswith("/") for entry in entries)


def test_files_are_masked_as_in_sysctl_d():
    paths = ["/usr/lib/tmpfiles.d/a.conf", "/etc/tmpfiles.d/a.conf", "/run/tmpfiles.d/0.conf"]
    assert conf_d.effective_files(tmpfiles_d.DIRECTORIES, paths) == [
        "/run/tmpfiles.d/0.conf",
        "/etc/tmpfiles.d/a.conf",
    ]
