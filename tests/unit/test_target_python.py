"""Target code keeps to Python 3.6 and the standard library, wherever the tests run.

A real Python 3.6 runs it in `./hostproof test matrix`; this is what can be said without one.
"""

import ast
import sys
from pathlib import Path

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


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# One test looks at all files and names those that fail: a test for each file costs every worker of
# pytest more than what it shows.
class TestTargetCode:
    def test_syntax_is_that_of_python_36(self):
        refused = {}
        for path in SOURCES:
            try:
                tree = ast.parse(path.read_text(), str(path), feature_version=(3, 6))
            except SyntaxError as problem:
                refused[name_of(path)] = str(problem)
                continue
            # Not a syntax error to feature_version, yet 3.6 refuses it.
            if "__future__" in imported_modules(tree):
                refused[name_of(path)] = "from __future__"
        assert refused == {}

    def test_imports_only_the_standard_library_and_ansible(self):
        foreign = [
            (name_of(path), name)
            for path in SOURCES
            for name in imported_modules(ast.parse(path.read_text()))
            if name.split(".")[0] not in allowed(path)
            and ".".join(name.split(".")[:2]) not in allowed(path)
        ]
        assert foreign == []

    def test_says_who_may_copy_it(self):
        texts = {name_of(path): path.read_text() for path in SOURCES}
        licence = "# SPDX-License-Identifier: GPL-3.0-or-later"
        assert [name for name, text in texts.items() if text and licence not in text[:300]] == []
