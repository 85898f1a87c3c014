"""Stored outcomes as JSON with one case a line, so that a change of a case is one line."""

import json
from typing import Any


def text_of(value: Any, depth: int) -> str:
    """JSON, sorted. ``depth``: levels of objects and lists that have a line for each entry."""
    return f"{_level(value, depth)}\n"


def _level(value: Any, depth: int) -> str:
    if not depth or not isinstance(value, dict | list) or not value:
        return json.dumps(value, sort_keys=True)
    if isinstance(value, list):
        return "[\n" + ",\n".join(_level(one, depth - 1) for one in value) + "\n]"
    lines = (f"{json.dumps(key)}: {_level(one, depth - 1)}" for key, one in sorted(value.items()))
    return "{\n" + ",\n".join(lines) + "\n}"
