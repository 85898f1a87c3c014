"""What travels is shortened, and stays the same program."""

import ast
from pathlib import Path

import pytest
from hostproof_controller import known_texts, payload, policies, sources
from hostproof_controller.short_names import keywords_of, shorten
from test_payload import FILES, ROOT, ask

KEYWORDS = set().union(*(keywords_of(path.read_text()) for path in FILES))
PACKS = sorted((ROOT / "docs/examples/evidence").glob("*.json"))


class _Places(ast.NodeTransformer):
    """Every local name by the order in which they come: what is left is the program's form."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        names: dict[str, str] = {}
        for one in ast.walk(node):
            if isinstance(one, ast.arg):
                one.arg = names.setdefault(one.arg, f"n{len(names)}")
            elif isinstance(one, ast.Name):
                one.id = names.setdefault(one.id, f"n{len(names)}")
            elif isinstance(one, ast.ExceptHandler) and one.name:
                one.name = names.setdefault(one.name, f"n{len(names)}")
        return node


def form(text: str) -> str:
    return ast.dump(_Places().visit(ast.parse(text)))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_source_keeps_its_form_and_its_lines(path: Path):
    text = sources.strip(path.read_text())
    found = shorten(sources.tighten(text), KEYWORDS)
    assert form(found) == form(text)
    assert found.count("\n") == text.count("\n")
    ast.parse(found, feature_version=(3, 6))
    assert len(found) <= len(text)


def test_most_sources_become_shorter():
    texts = [sources.tighten(sources.strip(path.read_text())) for path in FILES]
    assert sum(shorten(text) != text for text in texts) > len(texts) // 2


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("def f(x):\n value=x\n return value\n", "def f(x):\n a=x\n return a\n"),
        ("def f():\n for one in g():yield one\n", "def f():\n for a in g():yield a\n"),
        # Inside a function within: the same name, wherever it stands.
        (
            "def f():\n value=1\n def g():return value\n return g\n",
            "def f():\n a=1\n def g():return a\n return g\n",
        ),
        (
            "def f():\n try:pass\n except E as problem:raise G(problem)\n",
            "def f():\n try:pass\n except E as a:raise G(a)\n",
        ),
        (
            "def f(x):\n one=x\n return f'one {one!r:>{one}} {{one}} {x.one} {x[\"one\"]}'\n",
            "def f(x):\n a=x\n return f'one {a!r:>{a}} {{one}} {x.one} {x[\"one\"]}'\n",
        ),
        ("def f():\n size=1\n return g(size=size)\n", "def f():\n b=1\n return g(size=b)\n"),
        ("def f():\n 'ä';size=1;return 'ö',size\n", "def f():\n 'ä';a=1;return 'ö',a\n"),
    ],
)
def test_a_local_name_becomes_a_letter(text, short):
    assert form(shorten(text)) == form(short)
    assert len(shorten(text)) == len(short)


@pytest.mark.parametrize(
    "text",
    [
        # A parameter: whoever calls may name it.
        "def f(value):\n value=1\n return value\n",
        # A global of the module, a builtin, an import.
        "value=1\ndef f():\n return[value for value in ()],value\n",
        "def f():\n print=1\n return print\n",
        "import os.path as value\ndef f():\n value=1\n return value\n",
        "def f():\n import value\n return value\n",
        "def f():\n global value\n value=1\n",
        "def f():\n value=1\n return locals()\n",
        # What a parameter is by default, a class has.
        "class A:\n value=1\n def f(self,x=value):\n  value=x\n  return value\n",
        "def f():\n value=1\n class A:\n  value=value\n return A\n",
        "def f():\n def value():pass\n return value\n",
        "def f():\n return lambda value:value\n",
    ],
)
def test_what_could_be_seen_from_outside_keeps_its_name(text):
    assert shorten(text) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("def _f(value):\n return value\n", "def _f(a):\n return a\n"),
        ("def _f(value=1):\n return f'{value}'\n", "def _f(a=1):\n return f'{a}'\n"),
        # What a class has, none of its functions sees by itself.
        (
            "class A:\n value=1\n def f(self):\n  value=2\n  return value\n",
            "class A:\n value=1\n def f(self):\n  a=2\n  return a\n",
        ),
    ],
)
def test_a_parameter_that_nobody_gives_by_name_becomes_a_letter(text, short):
    assert shorten(text, set()) == short


@pytest.mark.parametrize(
    "text",
    [
        "def f(value):\n return value\n",
        "class A:\n def _f(self,value):\n  return value\n",
        "def _f(*,value):\n return value\n",
        "def _f(*value,**more):\n return value,more\n",
        "@known\ndef _f(value):\n return value\n",
        "def _f(value):\n return value\ndef g(x):\n return _f(**x)\n",
        "def _f(value):\n return lambda value:value\n",
        "def _f(value):\n def g(value):return value\n return g(value)\n",
    ],
)
def test_any_other_parameter_keeps_its_name(text):
    assert shorten(text, set()) == text


def test_a_parameter_that_any_call_gives_by_name_keeps_it():
    keywords = keywords_of("g(1, value=2)\nh(**more)\n")
    assert keywords == {"value"}
    text = "def _f(value):\n return value\n"
    assert shorten(text, keywords) == text
    assert shorten(text) == text


def test_a_short_name_is_never_one_that_is_there():
    found = shorten("def f(a):\n value=b(c)\n return value+a\n")
    assert form(found) == form("def f(a):\n d=b(c)\n return d+a\n")
    assert "d=b(c)" in found


def test_where_a_place_cannot_be_told_nothing_is_shortened():
    """A brace in a text in an f-string: what comes of it is another program, and is not taken."""
    text = "def f(x):\n value=x\n return f'{x[\"{\"]}{value}'\n"
    assert shorten(text) in (text, text.replace("value", "a"))


@pytest.mark.of_python
@pytest.mark.parametrize("pack", PACKS, ids=lambda path: path.stem)
def test_a_short_program_judges_as_the_long_one_does(pack, monkeypatch):
    def findings():
        found = policies.policies_of(policies.controls(), {}, lambda value, _: value)
        params = {"controls": found.shown, "secrets": found.secret, "evidence_pack": str(pack)}
        params |= {"evidence": "none", "fail_on": "never", "result": "findings"}
        done, mark = ask("python3", "verify_controls", params, "zlib")
        answer = payload.answer_in(done.stdout.decode(), mark)
        assert "findings" in answer, answer
        known_texts.restore(answer["findings"], payload.check_texts())
        return answer["findings"]

    short = findings()
    read = {
        name: sources.Source(str(path), content.decode(), payload.all_sources()[name].imports, {})
        for name, (path, content) in payload._read().items()
    }
    monkeypatch.setattr(payload, "all_sources", lambda: read)
    monkeypatch.setattr(
        payload, "payload_for", lambda *a: payload._build(read, a[0], tuple(sorted(a[1])), a[2])
    )
    assert findings() == short
    assert {one["control"] for one in short} == set(policies.controls())
