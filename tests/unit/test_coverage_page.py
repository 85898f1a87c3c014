"""docs/coverage.md is written from its table, and the table names checks that exist."""

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from cases import cases

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
_LOADER = SourceFileLoader("coverage_page", str(ROOT / "tools/coverage_page"))
_SPEC = importlib.util.spec_from_loader("coverage_page", _LOADER)
coverage_page = importlib.util.module_from_spec(_SPEC)
_LOADER.exec_module(coverage_page)

TEXT = coverage_page.TABLE.read_text()
HEAD = TEXT.splitlines()[0]


def row(*cells: str) -> str:
    return HEAD + "\n" + "\t".join(cells) + "\n"


def test_the_page_is_current():
    expected = coverage_page.page(coverage_page.rows(TEXT))
    assert coverage_page.PAGE.read_text() == expected, "run tools/coverage_page"


def test_every_requirement_once():
    rows = coverage_page.rows(TEXT)
    assert len(rows) == len(TEXT.splitlines()) - 1 >= 146
    assert len({(row.reference, row.requirement) for row in rows}) == len(rows)


@cases(
    "cells",
    ("CVU", "x", "y", "covered", "platform.nothing", ""),
    ("CVU", "x", "y", "covered", "", ""),
    ("CVU", "x", "y", "partly", "platform.kernel", ""),
    ("CVU", "x", "y", "not covered", "", ""),
    ("CVU", "x", "y", "not covered", "platform.kernel", "z"),
    ("CVU", "x", "y", "not applicable", "", ""),
    ("CVU", "x", "y", "done", "platform.kernel", ""),
    ("both", "x", "y", "covered", "platform.kernel", ""),
)
def test_a_row_that_states_nothing(cells):
    with pytest.raises(ValueError, match="^y: "):
        coverage_page.rows(row(*cells))


def test_counts():
    lines = "".join(
        row("CVU, ORAchk", "x", f"y{number}", state, checks, reason).partition("\n")[2]
        for number, (state, checks, reason) in enumerate(
            [
                ("covered", "platform.kernel", ""),
                ("partly", "platform.kernel", "z"),
                ("not covered", "", "z"),
                ("covered", "platform.kernel", ""),
                ("not applicable", "", "z"),
            ]
        )
    )
    counts = coverage_page.counts(coverage_page.rows(f"{HEAD}\n{lines}"))
    assert "| CVU | 4 | 2 (50%) | 1 | 1 |" in counts
