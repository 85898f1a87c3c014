"""The count of lines: what is code, and what only explains it."""

from pathlib import Path

from ansible.module_utils.hostproof.controls import registry as controls
from programs import imported_program

ROOT = Path(__file__).resolve().parents[2]
lines = imported_program("lines")

MODULE = '''# A comment
"""Two lines
of docstring."""

DOCUMENTATION = r"""
short: yes
"""
x = 1  # code with a comment


def f():
    """One."""
    # Another
    return """a text
    that is code"""
'''


def test_each_line_is_of_one_kind():
    counted = lines.kinds(MODULE)
    assert counted == {"comments": 2, "docstrings": 3, "documentation": 3, "code": 4, "blank": 3}
    assert counted.total() == len(MODULE.splitlines())


def test_figures_are_of_folders_and_of_each_check():
    figures = lines.figures(
        {
            "module_utils/hostproof/controls/a.py": "x = 1\ny = 2\n",
            "library/b.py": "z = 1\n",
            "docs/controls/a.md": "### a.one\n\n### a.two\n\n### Traps\n",
        }
    )
    assert (figures["module_utils"], figures["library"], figures["all"]) == (2, 1, 3)
    assert (figures["files"], figures["checks"], figures["lines a check"]) == (2, 2, 1)


def test_the_checkout_has_the_checks_that_its_controls_have():
    figures = lines.figures(lines.files_of(None))
    assert figures["checks"] == sum(len(control.checks) for control in controls.CONTROLS.values())
