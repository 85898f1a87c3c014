"""The pages of the controls are as their code says; what writes them writes a new check too."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from ansible.module_utils.hostproof.evaluate.fields import entries, one_of, size, whole_number
from ansible.module_utils.hostproof.evaluate.finding import Check
from cases import cases
from programs import imported_program

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tools/control_pages"
control_pages = imported_program("control_pages", "tools")

HUGEPAGES = ROOT / "docs/controls/hugepages.md"


class Entry(NamedTuple):
    sid: str = one_of("a")


FIRST, SECOND, THIRD = CONTROLS["hugepages"].checks[:3]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param(page, text, id=str(page.relative_to(ROOT)))
        for page, text in control_pages.pages()
    ],
)
def test_a_page_is_not_stale(page, text):
    assert page.read_text() == text, f"{page.relative_to(ROOT)}: run tools/control_pages"


def test_what_somebody_changed_by_hand_is_written_again():
    text = HUGEPAGES.read_text()
    changed = text.replace(f"| {FIRST.title} |", "| Wrong |").replace(
        f"{SECOND.title}. Severity", "Wrong. Severity"
    )
    changed = changed.replace("| `hugepages_spare_pages` | `0` |", "| `hugepages_spare_pages` |")
    assert changed.count("Wrong") == 2
    assert control_pages.page_of("hugepages", changed) == text


def test_a_check_without_a_section_gets_one_behind_the_check_before_it():
    text = HUGEPAGES.read_text()
    begin = text.index(f"### {SECOND.id}\n")
    third = text.index(f"### {THIRD.id}\n")
    written = control_pages.page_of("hugepages", text[:begin] + text[third:])
    section = written[written.index(f"### {SECOND.id}\n") : written.index(f"### {THIRD.id}\n")]
    assert section == f"### {SECOND.id}\n\n{control_pages.sentence_of(SECOND)}\n\n"
    assert written.index(f"### {FIRST.id}\n") < written.index(section)


def test_a_page_without_tables_gets_them_below_their_headings():
    text = HUGEPAGES.read_text()
    for name in ("checks", "variables"):
        begin, end = control_pages.BEGIN.format(name), control_pages.END.format(name)
        text = text.partition(begin)[0].rstrip() + "\n" + text.partition(end)[2]
    text = text.partition("\n## Variables\n")[0] + "\n"
    assert "| `hugepages_spare_pages` |" not in text
    assert control_pages.page_of("hugepages", text) == HUGEPAGES.read_text()


def test_a_page_that_has_no_place_for_a_table_is_refused():
    with pytest.raises(SystemExit, match="'## Checks'"):
        control_pages.with_block("# A page\n", "checks", "", "\n## Checks\n")
    with pytest.raises(SystemExit, match="'## Variables'"):
        control_pages.with_table("# A page\n", "", "\n## Variables\n")


def test_the_fixes_are_by_check_and_wrong_layer():
    table = control_pages.table_of_fixes(
        {
            "a.x fail in_use": {("restart it",)},
            "a.x warn in_use": {("restart it",)},
            "a.x fail persisted": {("-", "$ apply | tee")},
            "a.y error -": {("query it",)},
        }
    )
    assert table.splitlines()[2:] == [
        "| [`x`](#ax) | in use | fail, warn | restart it |",
        r"| [`x`](#ax) | persisted | fail | `apply \| tee` |",
        "| [`y`](#ay) | not one layer | error | query it |",
    ]


def test_a_sentence_says_when_it_takes_effect():
    check = Check("x.y", "It is so", "low", "instance_restart", "why", "where")
    assert control_pages.sentence_of(check) == (
        "It is so. Severity low, takes effect at instance restart."
    )


@cases(
    "field default takes",
    (whole_number(), 0, "a whole number"),
    (whole_number(1), 1, "1 or more"),
    (whole_number(1, 100), 70, "1 to 100"),
    (whole_number(0, 100).none_for("auto"), "auto", "auto or 0 to 100"),
    (size(), "2M", "bytes, or a size such as 60G"),
    (entries(Entry).none_for("auto"), "auto", "auto or a list of {sid}"),
    (one_of("now", "reboot"), "now", "one of now, reboot"),
)
def test_a_field_says_itself_what_it_takes(field, default, takes):
    assert control_pages.takes_of("x", "y", {"y": field}, default) == takes


def test_every_control_that_writes_names_its_files_and_its_permissions():
    """The README names each file and each permission of a role that changes hosts."""
    assert any(control.plan for control in CONTROLS.values())
    for name, control in CONTROLS.items():
        if not control.plan:
            assert "main" not in control_pages.specification(name), name
            continue
        named = control_pages.role_text(name, "main", control_pages.CHANGES)
        for variable, option in control_pages.options_of(name, "main").items():
            is_permission = re.search(r"_(bounce|reboot|reload|remount|restart)_ok$", variable)
            if is_permission:
                assert f"`{variable}`" in named and option["default"] is False, variable
            elif str(option.get("default")).startswith("/etc/"):
                assert f"`{option['default']}`" in named, variable
