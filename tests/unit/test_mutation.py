"""The mutator (tests/mutation), on a package of two modules in a checkout of its own."""

import subprocess
from pathlib import Path

import pytest
from mutation import running
from mutation.changes import changes, is_python
from mutation.selecting import Code, Selection

LIMITS = """\
START = 3


def is_low(value):
    if value < START:
        return True
    return False


def never_called(value):
    return value + 1


def worst(values):
    return max(values)
"""
TESTS = """\
from limits import is_low, worst


def test_is_low():
    assert is_low(2)
    assert not is_low(3)


def test_worst():
    assert worst([1, 1])


def test_that_fails_without_a_change():
    assert worst([1]) == 2
"""


@pytest.fixture
def code(tmp_path: Path) -> Code:
    files = {
        "code/limits.py": LIMITS,
        "code/user.py": "import limits\n",
        "tests/test_limits.py": TESTS,
        "tests/test_user.py": "import user\n\n\ndef test_user():\n    assert user\n",
        "tests/test_other.py": "def test_other():\n    assert True\n",
        "conftest.py": "import sys\nsys.path.insert(0, __file__.rpartition('/')[0] + '/code')\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return Code(tmp_path, ("code",), "tests")


def changed(text: str) -> set[tuple[str, str]]:
    source = text.encode()
    return {(change.name, change.applied(source).decode()) for change in changes(source)}


@pytest.mark.parametrize(
    ("text", "name", "new"),
    [
        ("a == b", "comparison", "a != b"),
        ("a < b <= c", "comparison", "a < b < c"),
        ("a not in b", "comparison", "a in b"),
        ("x = 1", "constant+1", "x = (2)"),
        ("x = 1", "constant-1", "x = (0)"),
        ("x = True", "boolean", "x = False"),
        ("x = a and b", "and-or", "x = (a) or (b)"),
        ("x = a and b", "drop-operand0", "x = (b)"),
        ("x = not a", "drop-not", "x = a"),
        ("x = any(a)", "swap-name", "x = all(a)"),
        ("x = min(a)", "swap-name", "x = max(a)"),
        ("x = ERROR", "swap-name", "x = WARN"),
        ("x = a if b else c", "swap-branches", "x = (c) if (b) else (a)"),
        ("x = [a for a in b if a]", "drop-filter", "x = [a for a in b if True]"),
        ("def f(a):\n    a = g(a)", "delete-statement", "def f(a):\n    pass"),
        ("a.b = c", "delete-statement", "pass"),
        ("raise a", "delete-statement", "pass"),
        ("def f():\n    return a", "return-none", "def f():\n    return None"),
        ("if a:\n    b", "negate", "if not (a):\n    b"),
        ("x = 'ä' == b", "comparison", "x = 'ä' != b"),
    ],
)
def test_changes(text: str, name: str, new: str):
    assert (name, new) in changed(text)


def test_nothing_else_is_changed():
    text = (
        '"""A text 1."""\nimport a\n\n\ndef f(a: 1 < 2) -> 3:\n    b = zip(f"{a}", strict=True)\n'
    )
    assert changed(text) == set()
    assert not is_python(b"x = (")


def test_test_files_by_name_and_by_import(code: Code):
    paths = Selection(code).test_files(code.root / "code/limits.py", 5)
    assert [path.name for path in paths] == ["test_limits.py", "test_user.py"]
    assert len(Selection(code).test_files(code.root / "code/limits.py", None)) == 3


def test_a_test_file_named_after_a_module_and_its_folder(code: Code):
    module = code.root / "code/cluster/pools.py"
    module.parent.mkdir()
    module.write_text("SIZE = 1\n")
    (code.root / "tests/test_cluster_pools.py").write_text("")
    (code.root / "tests/test_cluster.py").write_text("")
    paths = Selection(code).test_files(module, 5)
    assert [path.name for path in paths] == ["test_cluster_pools.py"]


def test_of_many_test_files_those_first_that_name_what_is_in_the_module(code: Code):
    (code.root / "code/limits.py").write_text('def is_low():\n    return "space.low_disk"\n')
    for name, text in {
        "test_a": "import limits",
        "test_b": "import limits\nlimits.is_low",
        "test_c": "import limits\n'low_disk', 'is_low', 'is_lower'",
    }.items():
        (code.root / f"tests/{name}.py").write_text(f"{text}\n")
    paths = Selection(code).test_files(code.root / "code/limits.py", 4)
    assert [path.stem for path in paths] == ["test_limits", "test_c", "test_b", "test_a"]


def test_each_test_file_of_a_control_and_of_those_that_use_a_probe(code: Code):
    for name, text in {
        "probes/disks.py": "SIZE = 1\n",
        "controls/space/facts.py": "import probes.disks\n",
        "controls/space/rules.py": "import controls.space.facts\n",
        "controls/other/facts.py": "",
    }.items():
        (code.root / f"code/{name}").parent.mkdir(parents=True, exist_ok=True)
        (code.root / f"code/{name}").write_text(text)
    for name in ("test_space", "test_space_grid", "test_spaces", "test_disks"):
        (code.root / f"tests/{name}.py").write_text("")
    (code.root / "tests/test_by_name.py").write_text('CONTROLS["space"]\n')
    selection = Selection(code)
    found = [
        {path.stem for path in selection.test_files(code.root / "code" / name, 9)}
        for name in ("controls/space/rules.py", "probes/disks.py")
    ]
    assert found == [
        {"test_space", "test_space_grid", "test_by_name"},
        {"test_space", "test_space_grid", "test_by_name", "test_disks"},
    ]


def test_an_import_of_a_helper_stands_for_those_in_it(code: Code):
    for name, text in {
        "tests/fuzz/__init__.py": "",
        "tests/fuzz/targets.py": "import limits\n",
        "tests/fuzz/parsing.py": "from fuzz.targets import limits\n",
        "tests/unit/test_fuzz.py": "from fuzz.parsing import limits\n",
        "tests/unit/test_x.py": "import user\n",
    }.items():
        (code.root / name).parent.mkdir(exist_ok=True)
        (code.root / name).write_text(text)
    selection = Selection(code._replace(tests="tests/unit"))
    paths = selection.test_files(code.root / "code/limits.py", 5)
    assert [path.stem for path in paths] == ["test_fuzz", "test_x"]


def test_a_draw_is_repeated_by_its_seed(code: Code):
    assert running.draw(code, [], 4, 7) == running.draw(code, [], 4, 7)
    assert {str(mutant.path) for mutant in running.draw(code, ["code"], 9, 7)} == {"code/limits.py"}


def test_outcome_of_each_change(code: Code):
    source = LIMITS.encode()
    path = Path("code/limits.py")
    expected = {
        (1, "constant+1"): running.NOTICED,
        (5, "comparison"): running.NOTICED,
        (7, "return-none"): running.SURVIVED,
        (11, "constant+1"): running.SURVIVED,
        (15, "swap-name"): running.SURVIVED,
    }
    mutants = [
        running.Mutant(path, change) for change in changes(source) if change[0::4] in expected
    ]
    results = list(running.results(code, mutants, limit=5, jobs=2))
    assert {result.mutant.change[0::4]: result.outcome for result in results} == expected
    assert (code.root / path).read_bytes() == source
    assert "-    return max(values)\n+    return min(values)" in results[-1].mutant.diff(code.root)


def test_broad_tests_notice_by_their_names(code: Code):
    text = "import user\n\n\ndef test_limits():\n    assert user.limits.worst([1, 2]) == 2\n"
    (code.root / "tests/test_broad.py").write_text(text)
    (mutant,) = [
        running.Mutant(Path("code/limits.py"), change)
        for change in changes(LIMITS.encode())
        if change.name == "swap-name"
    ]
    for broad, outcome in ((), running.SURVIVED), (("tests/test_broad.py",), running.NOTICED):
        results = running.results(code._replace(broad=broad), [mutant], limit=1)
        assert [result.outcome for result in results] == [outcome]


def test_a_change_without_an_end_is_a_timeout(code: Code, monkeypatch: pytest.MonkeyPatch):
    (code.root / "code/limits.py").write_text(
        "def count():\n    n = 0\n    while n < 3:\n        n += 1\n"
    )
    (code.root / "tests/test_limits.py").write_text(
        "import limits\n\n\ndef test_count():\n    limits.count()\n"
    )
    monkeypatch.setattr(running, "LONGEST", 5)
    (mutant,) = [
        running.Mutant(Path("code/limits.py"), change)
        for change in changes((code.root / "code/limits.py").read_bytes())
        if change.name == "delete-statement" and change.line == 4
    ]
    results = running.results(code, [mutant], limit=5)
    assert [result.outcome for result in results] == [running.TIMEOUT]
