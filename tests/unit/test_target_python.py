"""Target code keeps to Python 3.6 and the standard library, wherever the tests run.

A real Python 3.6 runs it in `./hostproof test matrix`; this is what can be said without one.
"""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*ROOT.glob("module_utils/hostproof/**/*.py"), *ROOT.glob("library/*.py")])

#: In today's standard library, but not in that of 3.6.
NEWER = {"_colorize", "contextvars", "dataclasses", "graphlib", "tomllib", "zoneinfo"}
STANDARD_LIBRARY = sys.stdlib_module_names - NEWER

#: The report runs on the controller, where requirements.txt has put this.
CONTROLLER_ONLY = {"report": {"jmespath", "yaml"}}


def allowed(path: Path) -> set[str]:
    extra = CONTROLLER_ONLY.get(path.parent.name, set())
    return {*STANDARD_LIBRARY, "ansible.module_utils", *extra}


def imported_modules(tree: ast.AST) -> list[str]:
    """Absolute imports; relative ones stay inside the package."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.append(node.module or "")
    return names


def test_there_is_target_code():
    assert len(SOURCES) > 10


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
class TestTargetCode:
    def test_syntax_is_that_of_python_36(self, path):
        tree = ast.parse(path.read_text(), str(path), feature_version=(3, 6))
        # Not a syntax error to feature_version, yet 3.6 refuses it.
        assert not [name for name in imported_modules(tree) if name == "__future__"]

    def test_imports_only_the_standard_library_and_ansible(self, path):
        names = allowed(path)
        foreign = [
            name
            for name in imported_modules(ast.parse(path.read_text()))
            if name.split(".")[0] not in names and ".".join(name.split(".")[:2]) not in names
        ]
        assert not foreign

    def test_says_who_may_copy_it(self, path):
        text = path.read_text()
        assert not text or "# SPDX-License-Identifier: GPL-3.0-or-later" in text[:300]
