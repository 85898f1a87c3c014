"""docs/seeds.md: every row names a check and a test that exist."""

import ast
import re

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from packs import FIXTURES

ROOT = FIXTURES.parents[1]
ROWS = re.findall(
    r"^\| (00\d) \| (.+?) \| `([a-z_.]+)` \| `(\S+?)::(\w+)` \|$",
    (ROOT / "docs/seeds.md").read_text(),
    re.MULTILINE,
)


def test_all_five_articles_have_rows():
    assert {row[0] for row in ROWS} == {"000", "001", "002", "003", "004"}
    assert len(ROWS) >= 26


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]} {row[4]}")
def test_check_and_test_exist(row):
    _article, _words, check, path, name = row
    assert check in {known.id for control in CONTROLS.values() for known in control.checks}
    tree = ast.parse((ROOT / path).read_text())
    assert name in {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
