"""What each parser makes of texts with one damaged line: the values, the errors and their lines.

The outcomes are in damaged_lines.json. A parser that was changed on purpose has others; review the
difference after HOSTPROOF_WRITE_FIXTURES=1 pytest -k damaged_lines tests/unit
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from fuzz.parsing import Target, targets
from matrix.replay import plain
from stored import text_of

EXPECTED = Path(__file__).with_name("damaged_lines.json")
#: Lines of a text that are damaged, at equal distances.
MOST = 40
TARGETS = targets()


def damaged(line: str) -> Iterator[str]:
    words = line.split()
    yield "@@@ garbage"
    yield line[: len(line) // 2]
    yield line + " 1x"
    yield " ".join(words[:-1])
    yield "-".join(words)
    yield re.sub(r"\d", lambda digit: "9x7y5"[int(digit[0]) % 5], line)


def texts(good: str) -> Iterator[tuple[int, str]]:
    """(number of the line that is damaged, the text)"""
    lines = good.split("\n")
    for place in range(0, len(lines), len(lines) // MOST + 1):
        for line in damaged(lines[place]):
            if line != lines[place]:
                yield place + 1, "\n".join([*lines[:place], line, *lines[place + 1 :]])


def outcomes(target: Target) -> dict[str, Any]:
    """The lines that errors name, the errors with their frequency, and a digest of the values."""
    lines: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    values = hashlib.sha256(described(target.parse(target.good)))
    for number, text in texts(target.good):
        try:
            values.update(described(target.parse(text)))
            lines["accepted"] += 1
        except ParseError as problem:
            named = {number: "right", 0: "none"}.get(problem.line, "another")
            lines[f"{named} line"] += 1
            errors[re.sub(r"\d+", "0", str(problem))] += 1
    return {
        "lines": dict(sorted(lines.items())),
        "errors": dict(sorted(errors.items())),
        "values": values.hexdigest()[:16],
    }


def described(value: Any) -> bytes:
    return json.dumps(plain(value), sort_keys=True).encode() + b"\n"


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        found = {target.name: outcomes(target) for target in TARGETS}
        EXPECTED.write_text(text_of(found, 1))
    return dict(json.loads(EXPECTED.read_text()))


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_what_damaged_lines_lead_to(target: Target, expected: dict[str, Any]):
    """If another outcome is meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k damaged_lines tests/unit"""
    assert outcomes(target) == expected[target.name]


def test_no_outcome_of_a_parser_that_is_gone(expected: dict[str, Any]):
    assert set(expected) == {target.name for target in TARGETS}
