# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal findings of several hosts as one object, so that each is validated and formatted once.

In a fleet nearly all findings of a host are equal to those of another host.
"""

import marshal
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

#: So many findings are shared; some tens of megabytes. The others belong to one host each.
_MOST_SHARED = 10_000
#: Bytes of a finding that can be shared.
_MOST_BYTES = 8_192
#: The last format of marshal in which equal values have equal bytes.
_FORMAT = 2

Answer = TypeVar("Answer")


class SharedFinding(dict[str, Any]):
    """A finding of several hosts. Nothing changes it, so it is hashed by its identity."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]


class SharedFindings:
    """The findings that were read and are valid, by their content."""

    def __init__(self) -> None:
        self._known: dict[bytes, SharedFinding] = {}

    def known(self, findings: list[object]) -> list[Any]:
        """The list with known findings in place of equal ones.

        No shared finding is in the list twice, because reports index the findings of a host by
        their identity.
        """
        if not self._known:
            return findings
        used: set[int] = set()
        answer = []
        for finding in findings:
            shared = self._known.get(_content(finding))
            if shared is None or id(shared) in used:
                answer.append(finding)
            else:
                used.add(id(shared))
                answer.append(shared)
        return answer

    def add(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The list of a host's valid findings; the next host that has an equal one shares it."""
        answer: list[dict[str, Any]] = []
        for finding in findings:
            if not isinstance(finding, SharedFinding) and len(self._known) < _MOST_SHARED:
                content = _content(finding)
                if content and content not in self._known:
                    finding = self._known[content] = SharedFinding(finding)
            answer.append(finding)
        return answer


def unshared(findings: list[object]) -> list[Any]:
    """Those of the findings that are not shared."""
    return [finding for finding in findings if not isinstance(finding, SharedFinding)]


def once(function: Callable[[dict[str, Any]], Answer]) -> Callable[[dict[str, Any]], Answer]:
    """The same function, whose answer about a shared finding is remembered."""
    remembered = lru_cache(maxsize=_MOST_SHARED)(function)

    @wraps(function)
    def answer(finding: dict[str, Any]) -> Answer:
        # A dictionary cannot be hashed, which is what mypy objects to.
        return remembered(finding) if isinstance(finding, SharedFinding) else function(finding)

    return answer


def _content(finding: Any) -> bytes:
    """Bytes that equal findings have; none of a finding that is not shared."""
    try:
        content = marshal.dumps(finding, _FORMAT)
    except ValueError:  # Nested too deeply. problem_of_finding rejects it.
        return b""
    return content if len(content) <= _MOST_BYTES else b""
