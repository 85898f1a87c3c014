# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a YAML file within bounds, because a few lines can expand to more than memory holds."""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError

from .report.text import one_line, shorten

#: Bytes of a file, levels of its values, and values. Each occurrence of an alias counts.
MOST_BYTES = 1024 * 1024
MOST_DEPTH = 10
MOST_VALUES = 50_000


class Entry(NamedTuple):
    """One entry of a list. ``line`` counts from 1."""

    line: int
    value: object


def load(path: str) -> Any:
    """The content of the file; a HostproofError names the file and the problem."""
    try:
        return _loader()(_read(path)).get_single_data()
    except _problems() as problem:
        raise HostproofError(f"{path}: {describe_problem(problem)}") from problem


def load_list(path: str) -> list[Entry]:
    """The entries of a file that holds a list, [] where it is empty."""
    try:
        loader = _loader()(_read(path))
        node = loader.get_single_node()
        value = None if node is None else loader.construct_document(node)
    except _problems() as problem:
        raise HostproofError(f"{path}: {describe_problem(problem)}") from problem
    if value is None:
        return []
    if not isinstance(value, list):
        raise HostproofError(f"{path}:{node.start_mark.line + 1}: must be a list")
    lines = [child.start_mark.line + 1 for child in node.value]
    return [Entry(line, item) for line, item in zip(lines, value, strict=True)]


def describe_problem(problem: Exception) -> str:
    """The problem on one line."""
    text = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
    return shorten(one_line(text), 500)


def _problems() -> tuple[type[Exception], ...]:
    import yaml

    return OSError, RecursionError, ValueError, yaml.YAMLError


def _read(path: str) -> str:
    """The text of a regular file; a FIFO or a device would never end."""
    with open_regular(path) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes, which are not read")
    return content.decode("utf-8")


def _loader() -> Any:
    """PyYAML's safe loader, which counts values and levels while it composes them."""
    import yaml

    class Bounded(yaml.SafeLoader):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            self.depth = 0
            self.values = 0
            self.weights: dict[str, int] = {}

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            anchor = str(event.anchor or "")
            if isinstance(event, yaml.AliasEvent):
                if anchor in self.anchors:
                    # An alias inside its own anchor has no weight yet and would expand endlessly.
                    self.count(self.weights.get(anchor, MOST_VALUES))
                return super().compose_node(parent, index)
            self.depth += 1
            if self.depth > MOST_DEPTH:
                raise ValueError(f"it is nested deeper than {MOST_DEPTH} levels")
            before = self.values
            self.count(1)
            node = super().compose_node(parent, index)
            if anchor:
                self.weights[anchor] = self.values - before
            self.depth -= 1
            return node

        def count(self, values: int) -> None:
            self.values += values
            if self.values > MOST_VALUES:
                raise ValueError(f"it expands to more than {MOST_VALUES} values")

    return Bounded
