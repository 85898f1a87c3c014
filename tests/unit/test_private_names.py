"""What a module keeps to itself travels under a short name, and nothing else changes."""

import ast
import re
from pathlib import Path

import pytest
from hostproof_controller import sources
from hostproof_controller.private_names import shorten_private, told_names
from test_payload import FILES, ROOT

TOLD = set().union(*(told_names(path.read_text()) for path in FILES))


def form(text: str) -> str:
    """The program, its private names numbered by the order in which they come."""
    names: dict[str, str] = {}
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field in ("id", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                setattr(node, field, names.setdefault(name, f"n{len(names)}"))
    return ast.dump(tree)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_source_keeps_its_form_its_lines_and_what_others_reach(path: Path):
    text = sources.tighten(sources.strip(path.read_text()))
    found = shorten_private(text, TOLD)
    assert form(found) == form(text)
    assert found.count("\n") == text.count("\n")
    ast.parse(found, feature_version=(3, 6))
    assert _reached(found) == _reached(text)


def _reached(text: str) -> set[str]:
    """What a module has by a name that others could say."""
    names = compile(text, "source", "exec").co_names
    return {name for name in names if name in TOLD and not re.fullmatch("[A-Z][0-9]?", name)}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("def _of(x):pass\ndef f():return _of(1)\n", "def A(x):pass\ndef f():return A(1)\n"),
        ("_MOST=1\ndef f(x=_MOST):return _MOST+x\n", "A=1\ndef f(x=A):return A+x\n"),
        ("_ONE:int=1\nx=f'{_ONE!r} _ONE'\n", "A:int=1\nx=f'{A!r} _ONE'\n"),
        ("_ONE,_TWO=A,B\ndef f():return _TWO\n", "C,D=A,B\ndef f():return D\n"),
        ("@given\ndef _f():0\ndef g():return[_f]\n", "@given\ndef A():0\ndef g():return[A]\n"),
        ("'ä'\ndef _f():return'ö',_f\n", "'ä'\ndef A():return'ö',A\n"),
        # Twice: whoever reads it means the same place.
        ("_all=1\n_all=2\n", "A=1\nA=2\n"),
    ],
)
def test_what_a_module_keeps_to_itself_gets_a_capital(text, short):
    assert shorten_private(text, set()) == short


@pytest.mark.parametrize(
    "text",
    [
        "def public():return 1\nVALUE=2\n",
        # People read the name of an exception.
        "class _Error(ValueError):pass\n",
        "__all__=[]\n__version=1\n",
        # Another meaning of the name, somewhere.
        "_value=1\ndef f(_value):return _value\n",
        "_value=1\ndef f():\n _value=2\n return _value\n",
        "_value=1\ndef f():\n global _value\n _value=2\n",
        "_value=1\nclass A:\n _value=2\n def f(self):return _value\n",
        "_value=1\ndef f():\n import _value\n return _value\n",
        "if x:\n _value=1\n",
        "from x import y as _value\n",
        # Reached by other means.
        "_value=1\ndef f():return globals()\n",
    ],
)
def test_any_other_name_stays(text):
    assert shorten_private(text, set()) == text


@pytest.mark.parametrize(
    "elsewhere", ["from x import _value", "x._value", "getattr(x,'_value')", "import _value"]
)
def test_a_name_that_another_source_says_stays(elsewhere):
    text = "_value=1\n_other=_value\n"
    assert shorten_private(text, told_names(elsewhere)) == "_value=1\nA=_value\n"


def test_a_short_name_is_never_one_that_is_there():
    assert shorten_private("A=1\ndef _f(B):return A+C\n", set()) == "A=1\ndef D(B):return A+C\n"
