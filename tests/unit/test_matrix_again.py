"""What `tests/matrix/run --last-failed` repeats: never less than what did not pass."""

import sys
from pathlib import Path

import pytest
from cases import cases
from programs import imported_program

MATRIX = Path(__file__).resolve().parents[1] / "matrix"


@pytest.fixture(scope="module")
def program():
    sys.path.append(str(MATRIX))
    return imported_program("matrix/run")


@pytest.fixture
def matrix(program, tmp_path, monkeypatch):
    monkeypatch.setattr(program, "ROOT", tmp_path)
    for name in ("CACHE", "LOGS"):
        monkeypatch.setattr(program, name, tmp_path / name.lower())
    monkeypatch.setattr(program, "FAILED", tmp_path / "cache/failed.json")
    return program


def run(matrix, monkeypatch, rows, *options):
    monkeypatch.setattr(matrix, "rows", lambda **_: rows)
    monkeypatch.setattr(sys, "argv", ["run", *options])
    return matrix.main()


def row_of(matrix, target, ran, answer=None):
    def answers(row):
        ran.append((target, row.again))
        if answer is not None:
            raise answer

    return matrix.Row(None, target, "replay", answers)


def test_only_the_rows_that_failed_are_repeated(matrix, monkeypatch):
    ran = []
    rows = [
        row_of(matrix, "3.6", ran),
        row_of(matrix, "3.7", ran, matrix.Wrong("broken")),
        row_of(matrix, "3.8", ran, matrix.Missing("no python3.8")),
    ]
    assert run(matrix, monkeypatch, rows) == 1
    assert sorted(ran) == [("3.6", False), ("3.7", False), ("3.8", False)]
    ran.clear()
    assert run(matrix, monkeypatch, rows, "--last-failed") == 1
    assert ran == [("3.7", True)]


def test_after_a_run_that_was_stopped_every_row_is_repeated(matrix, monkeypatch):
    ran = []
    passes, fails = row_of(matrix, "3.6", ran), row_of(matrix, "3.7", ran, matrix.Wrong("broken"))
    assert run(matrix, monkeypatch, [fails]) == 1
    with pytest.raises(KeyboardInterrupt):
        run(matrix, monkeypatch, [passes, row_of(matrix, "3.8", ran, KeyboardInterrupt())])
    ran.clear()
    assert run(matrix, monkeypatch, [passes, fails], "--last-failed") == 1
    assert sorted(ran) == [("3.6", False), ("3.7", False)]


@cases(
    "controller left_out",
    ("OLDEST", "not (one_core or of_python)"),
    ("NEWEST", "not (one_core or two_cores)"),
)
def test_long_stories_run_with_the_oldest_core_and_not_with_the_newest(
    matrix, monkeypatch, controller, left_out
):
    commands = []
    monkeypatch.setattr(matrix, "execute", lambda _, argv: (commands.append(argv), (0, ""))[1])
    monkeypatch.setattr(matrix, "virtualenv", lambda _: Path("/nowhere"))
    monkeypatch.setattr(matrix.touching, "files", list)
    monkeypatch.setattr(matrix.touching, "files_of_python", list)
    core = getattr(matrix, controller)
    matrix.unit_tests(matrix.Row(core, core.python, "unit", matrix.unit_tests))
    assert commands[0][commands[0].index("-m", 3) + 1] == left_out


@cases("status remembers", (1, True), (2, False), (3, False))
def test_tests_of_a_row_that_did_not_all_run_are_repeated_as_a_whole(
    matrix, monkeypatch, status, remembers
):
    commands = []

    def execute(row, argv):
        commands.append(argv)
        return status, ""

    monkeypatch.setattr(matrix, "execute", execute)
    monkeypatch.setattr(matrix, "virtualenv", lambda _: Path("/nowhere"))
    monkeypatch.setattr(matrix.touching, "files", lambda: [matrix.ROOT / "test_x.py"])
    matrix.CACHE.mkdir()
    first = matrix.Row(matrix.PINNED, "3.11", "unit", matrix.unit_tests)
    for row in (first, first._replace(again=True)):
        with pytest.raises(matrix.Wrong, match=f"pytest ended with {status}"):
            matrix.unit_tests(row)
    assert ["--last-failed" in argv for argv in commands] == [False, remembers]


def test_the_processes_of_a_row_keep_their_bytecode(matrix, monkeypatch):
    """Else each of them compiles the project again."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert "PYTHONDONTWRITEBYTECODE" not in matrix.environment()
