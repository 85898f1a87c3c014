# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--query: the bounded result of a JMESPath query on the findings.

An expression is a small program. A few characters can request more memory than the machine has, and
a few thousand brackets can overflow the interpreter's stack. Both are rejected with a message.
"""

import difflib
import json
from typing import Any

from ansible.module_utils.hostproof.errors import HostproofError

from .text import one_line, shorten

#: Characters of an expression. The longest of the docs has 90.
MOST_TEXT = 4096
#: Values that an expression may give or gather on its way, for each finding and at least: one
#: finding has thirty.
VALUES_OF_ONE = 100
LEAST_VALUES = 200_000


class Expression:
    """A JMESPath expression. HostproofError with its text and what is wrong with it."""

    def __init__(self, text: str) -> None:
        import jmespath  # type: ignore[import-untyped]

        self._text = text
        if len(text) > MOST_TEXT:
            raise self._refused(f"it has {len(text)} characters, and {MOST_TEXT} are the most")
        try:
            self._parsed = jmespath.compile(text).parsed
        except jmespath.exceptions.JMESPathError as problem:
            raise self._refused(problem) from problem
        except (RecursionError, ValueError) as problem:
            raise self._refused("it is nested deeper than can be read") from problem

    def search(self, findings: list[dict[str, Any]]) -> Any:
        """What it finds."""
        import jmespath

        most = max(LEAST_VALUES, VALUES_OF_ONE * len(findings))
        try:
            result = _interpreter(most).visit(self._parsed, findings)
            _count(result, {}, most)
        except jmespath.exceptions.JMESPathError as problem:
            raise self._refused(problem) from problem
        except RecursionError as problem:
            raise self._refused("it is nested deeper than can be read") from problem
        except TooMuch as problem:
            raise self._refused(f"it gives more than {most} values") from problem
        except (ArithmeticError, TypeError, ValueError) as problem:
            raise self._refused(problem) from problem
        return result

    def unknown_fields(self, findings: list[dict[str, Any]]) -> list[str]:
        """A sentence for each field that no finding has: misspelt, it finds nothing silently."""
        if not findings:
            return []
        known = _keys(findings)
        return [
            f"--query: no finding of this run has a field {shorten(one_line(name), 100)!r}"
            + "".join(
                f"; did you mean {one_line(near)}?"
                for near in difflib.get_close_matches(name, sorted(known), 1)
            )
            for name in sorted(_names(self._parsed) - known)
        ]

    def _refused(self, problem: object) -> HostproofError:
        message = shorten(" ".join(str(problem).split()), 500)
        return HostproofError(f"--query {shorten(self._text, 200)!r}: {message}")


class TooMuch(Exception):
    """There are more values than are given."""


def _names(parsed: dict[str, Any]) -> set[str]:
    """The fields that a parsed expression reads, without those that it makes itself."""
    read: set[str] = set()
    made: set[str] = set()
    left = [parsed]
    while left:
        node = left.pop()
        if node["type"] == "field":
            read.add(node["value"])
        elif node["type"] == "key_val_pair":
            made.add(node["value"])
        left.extend(child for child in node["children"] if isinstance(child, dict))
    return read - made


def _keys(findings: object) -> set[str]:
    """The keys of objects at any depth."""
    keys: set[str] = set()
    left = [findings]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            keys.update(node)
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
    return keys


def as_json(result: object) -> str:
    """What was found as JSON, pure ASCII without a control character."""
    return json.dumps(result, indent=2).replace("\x7f", "\\u007f")


def _interpreter(most: int) -> Any:
    """JMESPath's interpreter, which stops where what it gathers grows without end."""
    from jmespath import visitor

    class Bounded(visitor.TreeInterpreter):
        def visit(self, node: object, *arguments: object, **named: object) -> Any:
            result = super().visit(node, *arguments, **named)
            if isinstance(result, list | str) and len(result) > most:
                raise TooMuch
            return result

    return Bounded()


def _count(value: object, known: dict[int, int], most: int) -> int:
    """The number of values are in this one as JSON writes it; what is in many places counts often.

    ``known`` holds the counts of lists and objects by id(), since one can be in itself times and
    times again.
    """
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        inner = value.values() if isinstance(value, dict) else value
        total = 1
        for item in inner:
            total += _count(item, known, most)
            if total > most:
                raise TooMuch
        known[id(value)] = total
    return known[id(value)]
