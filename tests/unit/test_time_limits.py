"""docs/testing.md lists each limit of time that a busy machine could miss, with its reason.

A limit is a comparison with the time that passed, or a time to wait that is shorter than a minute.
A longer wait only ends a test that hangs.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import cases

#: The rules under test are ours; other files show how each ansible-core runs them.
pytestmark = pytest.mark.one_core

ROOT = Path(__file__).resolve().parents[2]
#: Benchmarks measure times and run alone; the others are not tests.
NO_TESTS = ("bench", "fixtures", "machines", "runner", "standins")
CLOCKS = {f"time.{name}" for name in ("monotonic", "perf_counter", "process_time")}
LONG_WAIT = 60
ROW = re.compile(r"^\| `(?P<path>\S+)` `(?P<function>\w+)` \| [^|]+ \| (?P<why>[^|]+) \|$")


def reads_clock(node: ast.AST) -> bool:
    calls = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(ast.unparse(call.func) in CLOCKS for call in calls)


def passed_time(node: ast.AST) -> bool:
    """Whether the expression has the difference of a clock and an earlier look at it."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.BinOp))
    return any(isinstance(part.op, ast.Sub) and reads_clock(part) for part in parts)


def is_short(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and node.value < LONG_WAIT
    )


def has_limit(function: ast.AST) -> bool:
    """Whether the function compares the time that passed with an upper limit, or waits shortly."""
    taken: set[str] = set()
    for part in ast.walk(function):
        if isinstance(part, ast.Assign) and passed_time(part.value):
            taken |= {name.id for name in part.targets if isinstance(name, ast.Name)}
    for part in ast.walk(function):
        if isinstance(part, ast.Compare):
            sides = [part.left, *part.comparators]
            for left, operator, right in zip(sides, part.ops, sides[1:], strict=False):
                low = left if isinstance(operator, ast.Lt | ast.LtE) else right
                # "late = ... > BOUND" states the limit the other way round.
                high_is_number = isinstance(right, ast.Constant)
                if isinstance(operator, ast.Gt) and high_is_number:
                    continue
                both = (left, right) if isinstance(operator, ast.Gt) else (low,)
                if any(passed_time(one) or is_name(one, taken) for one in both):
                    return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add) and reads_clock(part):
            short = is_short(part.left) or is_short(part.right)
            if short:
                return True
        if isinstance(part, ast.keyword) and part.arg == "timeout" and is_short(part.value):
            return True
    return False


def is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def sources() -> Iterator[Path]:
    for path in sorted([*ROOT.glob("tests/*/**/*"), *ROOT.glob("molecule/**/*.py")]):
        parts = path.relative_to(ROOT).parts
        if not path.is_file() or parts[1] in NO_TESTS or "__pycache__" in parts:
            continue
        if path.suffix == ".py" or (path.suffix == "" and is_python(path)):
            yield path


def is_python(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.readline(80).startswith(b"#!/usr/bin/env python3")


def found() -> set[tuple[str, str]]:
    return {
        (path.relative_to(ROOT).as_posix(), node.name)
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and has_limit(node)
    }


def listed() -> dict[tuple[str, str], str]:
    lines = (ROOT / "docs/testing.md").read_text().splitlines()
    rows = (ROW.match(line) for line in lines)
    return {(row["path"], row["function"]): row["why"] for row in rows if row}


def test_every_limit_is_listed_with_its_reason():
    assert found() == set(listed())
    assert all(len(why.split()) > 3 for why in listed().values())


@cases(
    "body expected",
    ("assert time.monotonic() - began < 5", True),
    ("took = time.monotonic() - began\n assert took < limit", True),
    ("return time.monotonic() - began > BOUND", True),
    ("assert time.monotonic() - began > 0.2", False),
    ("until = time.monotonic() + 30", True),
    ("until = time.monotonic() + 60", False),
    ("run(timeout=1)", True),
    ("run(timeout=120)", False),
)
def test_what_is_a_limit(body, expected):
    assert has_limit(ast.parse(f"def test():\n {body}")) == expected
