"""docs/seeds.md: every row names a check and a test that exist. Every printed output is read by the
command, with the status that the row names."""

import ast
import re

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS
from hostproof_controller import measured_file
from packs import FIXTURES

ROOT = FIXTURES.parents[1]
ROWS = re.findall(
    r"^\| (00\d) \| (.+?) \| `([a-z_.]+)` \| `(\S+?)::(\w+)` \|$",
    (ROOT / "docs/seeds.md").read_text(),
    re.MULTILINE,
)
PRINTED = re.findall(
    r"^\| (00\d) \| (.+?) \| `(--before \S+ )?(\S+)` \| `([a-z_.]+)` \| (\w+) \|$",
    (ROOT / "docs/seeds.md").read_text(),
    re.MULTILINE,
)


def test_all_five_articles_have_rows():
    assert {row[0] for row in ROWS} == {"000", "001", "002", "003", "004"}
    assert len(ROWS) + len(PRINTED) >= 75


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[2]} {row[4]}")
def test_check_and_test_exist(row):
    _article, _words, check, path, name = row
    assert check in {known.id for control in CONTROLS.values() for known in control.checks}
    tree = ast.parse((ROOT / path).read_text())
    assert name in {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row[0]} {row[3]} {row[4]}")
def test_a_printed_output_has_the_status(row):
    _article, _statement, before, name, check, status = row
    path = FIXTURES / "latency" / name
    earlier = str(path.with_name(before.split()[1])) if before else None
    findings = measured_file.read(str(path), earlier).findings
    assert {finding["status"] for finding in findings if finding["check"] == check} == {status}
