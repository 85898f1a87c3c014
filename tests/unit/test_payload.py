"""What travels: the same program on the same lines, small, whole, and only ours to write."""

import ast
import collections
import copy
import functools
import hashlib
import lzma
import marshal
import operator
import os
import re
import shutil
import subprocess
import sys
import types
import zlib
from collections.abc import Iterator
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible.module_utils.hostproof.controls.registry import CONTROLS, planner
from cases import cases
from hostproof_controller import cache, policies
from hostproof_controller.remote import payload, sources
from payload_sizes import largest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*ROOT.glob("module_utils/hostproof/**/*.py"), *ROOT.glob("library/*.py")])
BOOTSTRAP = ROOT / "plugin_utils/hostproof_controller/remote/bootstrap.py"
MODULES = sorted(
    path.stem for path in ROOT.glob("action_plugins/*.py") if "ModuleAction" not in path.read_text()
)
KIB = 1024


def without_texts(tree: ast.Module) -> str:
    """The program without docstrings, a module's documentation, references of checks, annotations
    outside of classes, and imported names that nothing else uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rules.check":
            for keyword in node.keywords:
                if keyword.arg == "reference":
                    keyword.value = ast.Constant(sources.REFERENCE)
    _Bare().visit(tree)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [alias for alias in node.names if (alias.asname or alias.name) in used]
    tree.body = [statement for statement in tree.body if getattr(statement, "names", True)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            if ast.get_docstring(node, clean=False) is not None:
                node.body[0] = ast.Pass()
            node.body = [statement for statement in node.body if not _says_nothing(statement)] or [
                ast.Pass()
            ]
    return ast.dump(tree)


class _Bare(ast.NodeTransformer):
    """What is left without annotations; those of classes are all int."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [self.local(statement) for statement in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                field.annotation = ast.Name("int", ast.Load())
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        arguments = node.args
        for argument in [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]:
            if argument is not None:
                argument.annotation = None
        node.returns = None
        node.body = [self.local(statement) for statement in node.body]
        return node

    def local(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.AnnAssign):
            bare = ast.Assign([node.target], node.value) if node.value else ast.Pass()
            return ast.parse(ast.unparse(ast.fix_missing_locations(bare))).body[0]
        if isinstance(node, ast.FunctionDef):
            return self.visit_FunctionDef(node)
        if isinstance(node, ast.ClassDef):
            return self.visit_ClassDef(node)
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers"):
                setattr(node, name, [self.local(statement) for statement in value])
        return node


def _says_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in (
        *("DOCUMENTATION", "EXAMPLES", "RETURN"),
    ):
        return True
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def lines_of_calls(text: str) -> list[tuple[str, int]]:
    return [
        (type(node).__name__, node.lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call | ast.Raise | ast.FunctionDef | ast.Return)
    ]


@pytest.mark.of_python
@cases("path", *FILES, BOOTSTRAP, ids=lambda path: str(path.relative_to(ROOT)))
def test_stripped_is_the_same_program_on_the_same_lines(path):
    text = path.read_text()
    stripped = sources.strip(text)
    assert without_texts(ast.parse(stripped)) == without_texts(ast.parse(text))
    assert lines_of_calls(stripped) == lines_of_calls(text)
    assert len(stripped) <= len(text)
    ast.parse(stripped, feature_version=(3, 6))


@cases(
    "text",
    'def f():\n    """Only this."""\n',
    'class A:\n    """Only\n    this."""\n\n    x = "# no comment"\n',
    'x = """\n# no comment\n"""  # one\n',
    'def f():\n    "ä"; return "ö"  # é\n',
    '"""D"""\nimport os  # why\n\nif os:\n    # only this\n    pass\n',
    "x = 1 \\\n    + 2  # continued\n",
    'def f(a,  # what\n      b):\n    # why\n    return "\\x0c#"\n',
    'def f(ä: "é", *b: int, c: Dict[str,\n    int] = {}, **d: A) -> "Ö":\n    return ä\n',
    "def f() -> (\n    int\n):\n    x: A[\n        str, int]\n    y: int = 1\n    return y\n",
    "def f():\n    if a:\n        x: int = 1\n    class A:\n        b: int = 2\n    return x\n",
    "class A:\n    b: int\n    c: str = 'x'\n",
    "x: Dict[str, int] = {}\nif x:\n    y: int = 1\nz: int\n",
    "def f(a: (\n    int\n)):\n    b: (int) = 1\n    return a, b\n",
    "y = 'a\\\n# within'\n",
    'x = f"""  \n{1}  \n  # within {2}  \n"""  # one\n',
    "if a:  # one\n\tx = (1,  # two\n\n  # three\n 2)\n",
)
def test_strange_sources_stay_what_they_are(text):
    stripped = sources.strip(text)
    assert without_texts(ast.parse(stripped)) == without_texts(ast.parse(text))
    assert lines_of_calls(stripped) == lines_of_calls(text)
    assert stripped.count("\n") == text.count("\n")


def test_annotations_stay_here_and_fields_of_classes_keep_one():
    text = (
        "class A(NamedTuple):\n b: str\n def c(self, d: int = 1) -> str:\n  e: int = d\nf: A = 1\n"
    )
    assert sources.strip(text) == (
        "class A(NamedTuple):\n b: int\n def c(self, d = 1):\n  e = d\nf = 1\n"
    )


def test_references_of_checks_stay_here():
    text = (
        "from .books import BOOK, BLOCK\n@rules.check(\n    'a.b',\n    reference=BOOK\n"
        "    + 'p. 1',\n    each=BLOCK,\n)\n"
        "def b(facts):\n    return Check('a.c', reference='this one')\n"
    )
    assert sources.strip(text) == (
        "from .books import BLOCK\n@rules.check(\n'a.b',\nreference='@',\n\neach=BLOCK,\n)\n"
        "def b(facts):\n return Check('a.c', reference='this one')\n"
    )


def test_references_are_complete_again_on_the_controller():
    known = payload.references()
    assert known.keys() == {check.id for one in CONTROLS.values() for check in one.checks}
    check = "hugepages.reserved"
    answers = {
        "@": known[check],
        "@; limit: 5": f"{known[check]}; limit: 5",
        # Of the custom controls of a user, and of a host that is not as it should be.
        "a book": "a book",
        "page 5@": "page 5@",
    }
    findings = [{"check": check, "reference": text} for text in answers]
    full = [finding["reference"] for finding in payload.with_references(findings)]
    assert full == list(answers.values())
    unknown = {"check": "hugepages.other", "reference": "@"}
    assert payload.with_references([dict(unknown)]) == [unknown]


def test_a_level_of_indentation_is_one_space():
    text = "if a:\n    if b:\n        c(\n            1,\n        )\n    d = '''\n    x\n    '''\n"
    assert sources.strip(text) == "if a:\n if b:\n  c(\n1,\n)\n d = '''\n    x\n    '''\n"


def test_what_nothing_uses_does_not_travel():
    one = (
        "from typing import Tuple\nfrom re import sub, M\nA = Tuple[int]\ndef used(): return B\n"
        "def unused():\n return helper()\ndef helper():\n return sub('a', 'b', 'c')\n@mark\n"
        "def marked():\n 0\nB = 1\nclass C:\n 0\nD = used()\n"
    )
    other = "from .one import used\nused()\nNAMES = 'by_string'\ndef by_string(): return NAMES\n"
    texts = [sources.Source(name, text, ()) for name, text in (("one", one), ("other", other))]
    first, second = sources.without_unused(texts, "rest")
    assert first.text == (
        "\nfrom re import M\n\ndef used(): return B\n\n\n\n\n@mark\n"
        "def marked():\n 0\nB = 1\n\n\nD = used()\n"
    )
    assert second.text == other
    # The bootstrap calls it.
    assert "def unused()" in sources.without_unused(texts, "unused()")[0].text


def test_the_same_name_in_a_source_that_does_not_know_the_module_is_no_use():
    texts = {
        "p/one.py": "def read():\n 0\ndef parse():\n 0\n",
        "p/two.py": "from . import one\none.parse()\n",
        "p/three.py": "stream.read()\n",
        # The name of a package is not in the imports of its own sources.
        "q/__init__.py": "VERSION = 1\n",
        "q/four.py": "from . import VERSION\nprint(VERSION)\n",
    }
    given = [sources.Source(path, text, ()) for path, text in texts.items()]
    short = {source.path: source.text for source in sources.without_unused(given, "")}
    assert short == {**texts, "p/one.py": "\n\ndef parse():\n 0\n"}


def test_names_travel_where_more_than_annotations_use_them():
    text = (
        "from typing import (\n    Any,\n    Dict,\n)\nfrom .x import B  # why\nimport re\n"
        "A = Dict[str, int]\ndef f(a: Any, b: B, c: re.Pattern[str]):\n    0\n"
    )
    stripped = sources.strip(text)
    assert stripped == (
        "from typing import Dict\n\n\n\n\n\nA = Dict[str, int]\ndef f(a, b, c):\n 0\n"
    )
    # Another module can import them from here.
    text = "from .x import A, B as b\nimport c; d = 1\n"
    assert sources.strip(text) == text


#: Modules that take controls; what others send has none.
OF_CONTROLS = ("apply_control", "record_evidence", "verify_controls")


def payload_of(module: str) -> dict[str, sources.Source]:
    """What a payload holds, for all controls if it takes some, by the names of the modules."""
    every = payload.all_sources()
    by_path = {source.path: name for name, source in every.items()}
    used = payload._used(every, module, policies.controls() if module in OF_CONTROLS else [])
    return {by_path[source.path]: source for source in used}


class Uses(NamedTuple):
    """The names that a module binds, takes from other modules, and uses as attributes of a name."""

    bound: frozenset[str]
    #: Level of the import, module, and pairs of name and alias.
    imports: list[tuple[int, str | None, list[tuple[str, str]]]]
    #: Names that a function assigns. They hide a module of the same name.
    hidden: frozenset[str]
    attributes: frozenset[tuple[str, str]]


@functools.cache
def uses_of(text: str) -> Uses:
    """Most modules have the same text in each payload."""
    tree = ast.parse(text)
    imports, hidden, attributes = [], set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom():
                names = [(alias.name, alias.asname or alias.name) for alias in node.names]
                imports.append((node.level, node.module, names))
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                hidden.add(name)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                attributes.add((name, attribute))
    return Uses(frozenset(_bound(tree)), imports, frozenset(hidden), frozenset(attributes))


@cases("module", None, *MODULES)
def test_what_a_module_uses_of_another_is_still_there(module):
    """An import that only annotations use does not travel, also where another module needs it. What
    no module uses does not travel either."""
    every = payload_of(module) if module else payload.all_sources()
    uses = {name: uses_of(source.text) for name, source in every.items()}
    missing = []
    for name, used in uses.items():
        package = name if every[name].path.endswith("/__init__.py") else name.rpartition(".")[0]
        modules = {}
        for level, imported, names in used.imports:
            above = package.split(".")[: len(package.split(".")) - level + 1]
            base = ".".join([*(above if level else []), *filter(None, [imported])])
            for inner, alias in names:
                if f"{base}.{inner}" in every:
                    modules[alias] = f"{base}.{inner}"
                elif base in every and inner not in uses[base].bound:
                    missing.append((name, base, inner))
        for value, attribute in used.attributes:
            other = modules.get(value)
            if other and value not in used.hidden and attribute not in uses[other].bound:
                missing.append((name, other, attribute))
    assert len(every) > (600 if module in (None, *OF_CONTROLS) else 0)
    assert missing == []


def _bound(tree: ast.AST) -> Iterator[str]:
    """The names of a module outside its functions and classes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        else:
            yield from _bound(node)


class TestClosure:
    def test_all_that_is_imported_is_there_and_nothing_of_other_controls(self):
        every = payload.all_sources()
        root = f"{sources.PACKAGE}.controls.io_pacing.control"
        closure = sources.closure(every, [root])
        for name in closure:
            assert {imported for imported in every[name].imports if imported in every} <= set(
                closure
            )
        assert f"{sources.PACKAGE}.errors" in closure
        assert not [name for name in closure if ".controls.hugepages" in name]

    @pytest.mark.parametrize("control", policies.controls())
    @cases("module", "verify_controls", "record_evidence")
    def test_what_only_looks_holds_nothing_that_writes(self, module, control):
        closure = payload.what_travels(payload.all_sources(), module, [control])
        names = {name.removeprefix(f"{sources.PACKAGE}.") for name in closure}
        modules = ("transaction", "difference", "journal", "mounting", "writer")
        changing = {f"apply.{module}" for module in modules}
        assert not names & changing

    @pytest.mark.parametrize("control", policies.controls())
    def test_an_apply_holds_the_plan(self, control):
        closure = payload.what_travels(payload.all_sources(), "apply_control", [control])
        assert planner(control).__module__ in closure

    @pytest.mark.parametrize("module", MODULES)
    def test_a_module_needs_of_ansible_what_the_bootstrap_has(self, module):
        text = (ROOT / f"library/{module}.py").read_text()
        foreign = re.findall(r"from (ansible\.(?!module_utils\.hostproof)\S+) import (.+)", text)
        assert set(foreign) <= {("ansible.module_utils.basic", "AnsibleModule")}


@pytest.mark.of_python
class TestSize:
    def test_of_an_audit(self):
        every = policies.controls()
        for module in ("verify_controls", "record_evidence"):
            assert len(payload.payload_for(module, every)) <= 640 * KIB

    def test_of_an_apply(self):
        """test_bench_run.py has the audit of one control."""
        changing = [name for name, control in CONTROLS.items() if control.plan is not None]
        for name in largest("apply_control", changing, 2):
            assert len(payload.payload_for("apply_control", [name])) <= 192 * KIB, name


VERSIONS = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
PYTHON_2 = [str(path) for path in VERSIONS.glob("2.*/bin/python2")]


def pythons() -> list[str]:
    paths = {sys.executable}
    for folder in sorted(VERSIONS.glob("3.*")):
        if (folder / "bin/python3").exists():
            paths.add(str(folder / "bin/python3"))
    return sorted(paths)


def ask(
    python: str,
    module: str,
    params: dict,
    compression: str = "lzma",
    prelude: str = "",
    compiled: tuple[str, str, str] | None = None,
    **options,
):
    """What a host does with what goes down the connection."""
    controls = params.get("controls") or []
    code = payload.payload_for(module, controls, compression)
    request, mark = payload.request(module, params, check_mode=True, diff=True, compiled=compiled)
    command = payload.command(python, code, compression)
    if prelude:
        command = command.replace("import sys\n", f"import sys\n{prelude}\n", 1)
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=code + request,
        capture_output=True,
        timeout=600,
        **options,
    )
    return done, mark


def judged(python: str, **options):
    pack = str(ROOT / "docs/examples/evidence/db01.example.com.json")
    result = policies.policies_of(["io_pacing"], {}, lambda value, _: value)
    params = {"controls": result.shown, "secrets": {}, "evidence_pack": pack}
    params |= {"evidence": "none", "fail_on": "never", "result": "findings"}
    return ask(python, "verify_controls", params, **options)


def named_tuple():
    """The NamedTuple of the bootstrap."""
    tree = ast.parse(BOOTSTRAP.read_text())
    names = {"Tuple", "maker", "Fields", "NamedTuple", "getter"}
    tree.body = [
        node
        for node in tree.body
        if getattr(node, "name", None) in names
        or ast.unparse(node).startswith(("getter =", "MAKERS ="))
    ]
    values: dict = {"collections": collections, "itemgetter": operator.itemgetter, "types": types}
    exec(compile(tree, str(BOOTSTRAP), "exec"), values)
    return values["NamedTuple"]


def raised(function, **values) -> Exception:
    with pytest.raises((TypeError, ValueError)) as problem:
        function(**values)
    return problem.value


def uses_of_a_tuple(base) -> list[object]:
    """What classes of a NamedTuple do: results, and the types of exceptions."""
    source = """
class None_(NamedTuple):
    pass
class Point(NamedTuple):
    \"\"\"Text.\"\"\"
    x: int
    y: object = "d"
    z: int = 3
    LIMIT = 5
    @property
    def sum(self): return self.x + self.z + self.LIMIT
    @classmethod
    def origin(cls): return cls(0)
    def __str__(self): return "point"
class Special(Point):
    def __new__(cls, x): return super().__new__(cls, x, x, x)
"""
    values = {"NamedTuple": base}
    exec(source, values)
    point = values["Point"]
    actions = (
        lambda: [values["None_"](), values["None_"]._fields],
        lambda: [point(1), point(1, z=2), point._fields, dict(point._field_defaults)],
        lambda: [repr(point(1)), str(point(1)), point(1).sum, point.origin(), point.__doc__],
        lambda: [point(1) == (1, "d", 3), hash(point(1)), sorted([point(2), point(1)])],
        lambda: [dict(point(1)._asdict()), point(1)._replace(y=2), type(point(1)._replace(y=2))],
        lambda: [copy.deepcopy(point(1, [])), vars(values["Special"](1)), values["Special"](1)],
        lambda: values["Special"](1)._replace(x=5),
        lambda: isinstance(point(1), tuple) and type(point),
        point,
        lambda: point(1, 2, 3, 4),
        lambda: point(1, w=2),
        lambda: str(raised(point(1)._replace, w=2)),
        lambda: setattr(point(1), "x", 2),
        lambda: setattr(point(1), "other", 2),
    )
    results: list[object] = []
    for action in actions:
        try:
            results.append(repr(action()))
        except Exception as problem:
            results.append(type(problem))
    return results


def test_named_tuples_are_those_of_python():
    base = named_tuple()
    # The second time, the code for each number of fields is known.
    for _ in range(2):
        assert uses_of_a_tuple(base) == uses_of_a_tuple(NamedTuple)


def test_patterns_are_compiled_when_they_are_used(tmp_path):
    module = """
import re
FIRST, SECOND = re.compile("(?P<a>x)+"), re.compile("y(", flags=re.I)
assert SECOND.pattern == "y("
assert FIRST.match("xx").group("a") == "x" and FIRST.sub("-", "axx") == "a-"
assert FIRST.groups == 1 and FIRST.flags == re.compile("").flags
def main():
    assert type(re.compile("x")) is type(re.compile(re.compile("x"))) is not type(FIRST)
    assert re.compile("x", re.I).match("X") and re.compile("x", flags=re.I).match("X")
    SECOND.match("y")
"""
    code = compile(module, "library/verify_controls.py", "exec")
    content = marshal.dumps({"library/verify_controls.py": marshal.dumps(code)})
    cache.write(tmp_path / "x", content)
    named = (str(tmp_path / "x"), MAGIC_NUMBER.hex(), hashlib.sha256(content).hexdigest())
    assert answered(sys.executable, named)["crashed"].split(": ")[1].startswith("missing )")


def test_no_function_of_re_gets_a_compiled_pattern():
    """On a host it is no compiled pattern before it is used."""
    trees = {path: ast.parse(path.read_text()) for path in FILES}
    compiled = {
        name.id
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.Assign) and "re.compile(" in ast.unparse(node.value)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and re.match(r"re\.\w+$", ast.unparse(node.func)):
                first = ast.unparse(node.args[0] if node.args else node).rpartition(".")[2]
                assert first not in compiled, f"{path}:{node.lineno}: call the method of {first}"


@functools.cache
def reference() -> dict:
    """What the Python of the tests answers."""
    done, mark = judged(sys.executable)
    return payload.answer_in(done.stdout.decode(), mark)


@pytest.mark.of_python
@pytest.mark.parametrize("python", pythons())
@pytest.mark.parametrize("compression", payload.COMPRESSIONS)
def test_every_python_answers_the_same(python, compression):
    done, mark = judged(python, compression=compression)
    answer = payload.answer_in(done.stdout.decode(), mark)
    assert {finding["control"] for finding in answer["findings"]} == {"io_pacing"}
    assert answer == reference()


@pytest.fixture
def compiled(tmp_path):
    """A copy of what is kept compiled, and what names it."""
    cached = payload.compiled_for("verify_controls", ["io_pacing"])
    assert cached is not None
    path = tmp_path / "compiled"
    shutil.copy(cached[0], path)
    return str(path), *cached[1:]


def answered(python: str, compiled) -> dict:
    done, mark = judged(python, compiled=compiled)
    return payload.answer_in(done.stdout.decode(), mark)


@pytest.mark.of_python
@pytest.mark.parametrize("python", pythons())
def test_every_python_answers_the_same_beside_what_this_one_compiled(python, compiled):
    assert answered(python, compiled) == answered(python, None)


def test_what_is_compiled_is_run_in_place_of_what_is_sent(tmp_path):
    code = compile("def main(): raise ValueError('compiled')", "library/verify_controls.py", "exec")
    content = marshal.dumps({"library/verify_controls.py": marshal.dumps(code)})
    cache.write(tmp_path / "x", content)
    named = (str(tmp_path / "x"), MAGIC_NUMBER.hex(), hashlib.sha256(content).hexdigest())
    assert answered(sys.executable, named)["crashed"] == "ValueError: compiled"
    # Bytecode of another Python is not even looked at.
    assert "findings" in answered(sys.executable, (named[0], "00000000", named[2]))


@cases("harm", "gone", "cut", "changed", "fifo", "link", "folder")
def test_what_is_not_what_was_compiled_is_not_run(compiled, harm):
    path = Path(compiled[0])
    content = path.read_bytes()
    path.unlink()
    if harm == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif harm == "changed":
        path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    elif harm == "fifo":
        os.mkfifo(path)
    elif harm == "link":
        path.with_name("elsewhere").write_bytes(content)
        path.symlink_to(path.with_name("elsewhere"))
    elif harm == "folder":
        path.mkdir()
    assert answered(sys.executable, compiled) == answered(sys.executable, None)


@pytest.mark.of_python
def test_paths_alone_are_enough_beside_what_was_compiled(compiled):
    done, mark = judged(sys.executable, compiled=compiled, compression=payload.COMPILED)
    answer = payload.answer_in(done.stdout.decode(), mark)
    assert answer == answered(sys.executable, None)


@pytest.mark.of_python
@cases("harm", "gone", "changed", "other Python", "not named")
def test_paths_alone_are_unusable_where_nothing_is_compiled(compiled, harm):
    path, magic, digest = compiled
    if harm == "gone":
        Path(path).unlink()
    elif harm == "changed":
        Path(path).write_bytes(b"x")
    named = (path, "00000000" if harm == "other Python" else magic, digest)
    done, mark = judged(
        sys.executable,
        compiled=None if harm == "not named" else named,
        compression=payload.COMPILED,
    )
    assert done.returncode == payload.UNUSABLE
    assert mark.encode() not in done.stdout


def test_a_traceback_of_what_is_compiled_leads_to_the_source():
    cached = payload.compiled_for("verify_controls", [])
    done, mark = ask(sys.executable, "verify_controls", {"controls": {}}, compiled=cached)
    answer = payload.answer_in(done.stdout.decode(), mark)
    assert answer["crashed"] == "KeyError: 'evidence_pack'"
    assert re.search(r'File "library/verify_controls\.py", line \d+, in main', answer["exception"])


def test_a_python_without_lzma_says_so_and_takes_all_that_is_sent():
    done, mark = judged(sys.executable, prelude='sys.modules["lzma"]=None')
    assert done.returncode == payload.UNUSABLE
    assert mark.encode() not in done.stdout
    done, mark = judged(
        sys.executable, prelude='sys.modules["lzma"]=None', compression=payload.COMPRESSIONS[1]
    )
    assert payload.answer_in(done.stdout.decode(), mark)["findings"]


def test_a_python_that_is_too_old_is_told_in_a_sentence():
    done, _ = judged(sys.executable, prelude="sys.version_info=(3,5,2)")
    assert done.returncode == 1
    assert done.stderr.decode().startswith("Hostproof needs Python 3.6 or newer: set ")
    assert len(done.stderr.decode().splitlines()) == 1


@pytest.mark.skipif(not PYTHON_2, reason="there is no Python 2 here")
def test_python_2_is_told_too():
    done, _ = judged(PYTHON_2[-1])
    assert "Hostproof needs Python 3.6 or newer" in done.stderr.decode()


def test_what_lies_in_the_working_folder_is_not_imported(tmp_path):
    for name in ("json", "lzma", "zlib", "types", "base64", "os", "traceback", "re", "struct"):
        (tmp_path / f"{name}.py").write_text("open('proof', 'w'); raise SystemExit('evil')\n")
    done, mark = judged(sys.executable, cwd=tmp_path)
    assert payload.answer_in(done.stdout.decode(), mark)["findings"]
    assert not (tmp_path / "proof").exists()


def test_a_traceback_leads_to_the_source():
    done, mark = ask(sys.executable, "verify_controls", {"controls": {}})
    answer = payload.answer_in(done.stdout.decode(), mark)
    assert answer["crashed"] == "KeyError: 'evidence_pack'"
    trace = payload.with_lines_of_source(answer["exception"], "verify_controls", [])
    place = re.findall(r'File "(library/verify_controls\.py)", line (\d+), in main', trace)
    (path, line) = place[-1]
    assert "evidence_pack" in (ROOT / path).read_text().splitlines()[int(line) - 1]


def test_a_place_that_no_source_has_stays():
    trace = 'File "<string>", line 7, in x\nFile "library/verify_controls.py", line 99999, in y'
    assert payload.with_lines_of_source(trace, "verify_controls", []) == trace


def test_without_empty_lines_each_source_is_the_same_program():
    texts = [source.text for source in payload.all_sources().values()]
    # An empty line means something only within a string or after a backslash.
    chosen = [text for text in texts if '"""' in text or "'''" in text or "\\\n" in text]
    assert len(chosen) > 5
    for text in chosen:
        short = sources.without_empty_lines(text)
        assert ast.dump(ast.parse(short)) == ast.dump(ast.parse(text)), text[:200]


def test_empty_lines_in_a_string_stay():
    text = 'a = 1\n\nb = """x\n\n  y"""\n\n'
    assert sources.without_empty_lines(text) == 'a = 1\nb = """x\n\n  y"""'
    assert sources.kept_lines(text) == [1, 3, 4, 5]


def test_what_the_code_prints_is_not_in_the_answer(tmp_path):
    done, mark = judged(sys.executable)
    before, packed, after = done.stdout.decode().split(mark)
    assert (before, after) == ("\n", "\n")
    assert payload.unpack(packed)["findings"]


@cases(
    "packed says", ("", "its end is missing"), ("????", "cannot be read"), ("ä", "cannot be read")
)
def test_what_is_no_answer(packed, says):
    with pytest.raises(payload.NoAnswer, match=says):
        payload.unpack(packed)


def test_payload_is_what_it_says():
    text = lzma.decompress(payload.payload_for("change_journal", [])).decode()
    bootstrap, *rest = text.split("\0")
    assert bootstrap == sources.without_empty_lines(sources.strip(BOOTSTRAP.read_text()))
    every = payload.all_sources()
    names = payload.what_travels(every, "change_journal", [])
    used = sources.without_unused([every[name] for name in names], bootstrap)
    assert sorted(part.partition("\n")[::2] for part in rest) == sorted(
        (source.path, sources.without_empty_lines(source.text)) for source in used
    )
    again = zlib.decompress(payload.payload_for("change_journal", [], "zlib")).decode()
    assert again == text


def test_a_worker_that_looks_for_garbage_writes_to_nothing_that_was_there_before_the_fork():
    """Else each would get a copy of the inventory."""
    code = (
        "import gc, sys; sys.path.insert(0, 'plugin_utils')\n"
        "from hostproof_controller.remote import host_action\n"
        "before = len(gc.get_objects()); host_action.prepare()\n"
        "print(gc.get_freeze_count() >= before)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "True\n"


def test_a_worker_reads_no_payload_that_was_there_before_the_fork():
    """Without own checks an audit sends every control but ``custom``."""
    names = [control for control in policies.controls() if control != "custom"]
    payload.payload_for("verify_controls", names)
    code = (
        "import sys; sys.path.insert(0, 'plugin_utils')\n"
        "from hostproof_controller import cache\n"
        "from hostproof_controller.remote import host_action, payload\n"
        "host_action.prepare('verify_controls')\n"
        "cache.read_verified = lambda path: sys.exit(f'read again: {path}')\n"
        f"print(len(payload.payload_for('verify_controls', {names!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    size = len(payload.payload_for("verify_controls", names))
    assert (done.stderr, done.stdout) == ("", f"{size}\n")
