# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a waiver file: YAML within bounds, for a few lines can stand for more than memory holds."""

from typing import Any

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError

from .text import one_line, shorten
from .waivers import Waiver, parse_waivers

#: Bytes. A thousand waivers have a fifth of it.
MOST_BYTES = 1024 * 1024
#: A waiver file has three levels: the list, its entries, and a list of hosts.
MOST_DEPTH = 10
#: Values, those that an alias stands for counted wherever it stands.
MOST_VALUES = 50_000


def load_waivers(path: str) -> list[Waiver]:
    """The waivers of a YAML file; a HostproofError names the file and what is wrong in it."""
    import yaml

    try:
        data = yaml.load(_read(path), _loader())  # noqa: S506 - a safe loader with bounds
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as problem:
        raise HostproofError(f"{path}: {_said(problem)}") from problem
    try:
        return parse_waivers(data)
    except (HostproofError, RecursionError) as problem:
        raise HostproofError(f"{path}: {_said(problem)}") from problem


def _said(problem: Exception) -> str:
    text = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
    return shorten(one_line(text), 500)


def _read(path: str) -> str:
    """The text of a regular file; a FIFO or a device would never end."""
    with open_regular(path) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES} bytes, which are not read")
    return content.decode("utf-8")


def _loader() -> Any:
    """PyYAML's safe loader, which counts what it composes and how deep it is."""
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
                    # Within itself it has no weight yet: it would stand for itself without end.
                    self.count(self.weights.get(anchor, MOST_VALUES))
                return super().compose_node(parent, index)
            self.depth += 1
            if self.depth > MOST_DEPTH:
                raise ValueError(
                    f"it is nested deeper than {MOST_DEPTH} levels, and waivers have 3"
                )
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
                raise ValueError(f"its aliases and values stand for more than {MOST_VALUES} values")

    return Bounded
