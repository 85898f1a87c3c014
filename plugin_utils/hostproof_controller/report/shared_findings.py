# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Equal findings of several hosts as one object, so that each is validated and formatted once.

In a fleet nearly all findings of a host are equal to those of another host.
"""

import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any, TypeVar

from .findings import SCHEMA

#: So many findings are shared; some tens of megabytes. The others belong to one host each.
_MOST_SHARED = 10_000
#: Bytes of the text of a finding that can be shared.
_MOST_BYTES = 8_192

#: Bytes before and after the findings in a line of a run, and the first bytes of each finding: the
#: keys of a line are sorted. A text in JSON cannot contain these bytes: its quotation marks are
#: escaped.
_BEFORE, _BEHIND = b'"findings": [', b'}], "'
_FIRST = b'{"because_of": '
#: Takes the place of the findings when the rest of a line is decoded. No line can contain it.
_PLACE = secrets.token_hex(16)

Answer = TypeVar("Answer")


class SharedFinding(dict[str, Any]):
    """A finding of several hosts. Nothing changes it, so it is hashed by its identity."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]


class SharedFindings:
    """The findings that were read and are valid, by their text."""

    def __init__(self) -> None:
        self._known: dict[bytes, SharedFinding] = {}

    def loads(self, raw: bytes) -> tuple[Any, list[bytes]]:
        """A line in which known findings replace those with the same text, and the texts of its
        findings.

        There are no texts if the line is not as a run writes it; nothing of it is shared then.
        Raises what ``loads`` raises. No shared finding is in the list twice, because reports index
        the findings of a host by their identity.
        """
        begin = raw.find(_BEFORE + _FIRST) + len(_BEFORE)
        end = raw.rfind(_BEHIND)
        if len(_BEFORE) <= begin < end:
            texts = raw[begin + len(_FIRST) : end].split(b"}, " + _FIRST)
            with suppress(ValueError, RecursionError):
                # If the rest and each text are valid alone, so is the line made of them.
                line = loads(b'%b"%b"%b' % (raw[:begin], _PLACE.encode(), raw[end + 1 :]))
                if _has_place(line):
                    line["findings"] = self._findings(texts)
                    return line, texts
        return loads(raw), []

    def _findings(self, texts: list[bytes]) -> list[Any]:
        findings = [self._known.get(text) or loads(b"%b%b}" % (_FIRST, text)) for text in texts]
        if len({*texts}) < len(texts):
            seen: set[bytes] = set()
            for place, text in enumerate(texts):
                if text in seen:
                    findings[place] = dict(findings[place])
                seen.add(text)
        return findings

    def unshared_bytes(self, raw: bytes, findings: list[Any], texts: list[bytes]) -> int:
        """Number of bytes of a line without the findings that it shares."""
        pairs = zip(findings, texts, strict=False)
        return len(raw) - sum(len(text) for one, text in pairs if isinstance(one, SharedFinding))

    def add(self, findings: list[Any], texts: list[bytes]) -> list[Any]:
        """The list of a host's valid findings; the next host that has an equal one shares it."""
        answer = list(findings)
        for place, text in enumerate(texts):
            if (
                text not in self._known
                and len(text) <= _MOST_BYTES
                and len(self._known) < _MOST_SHARED
            ):
                answer[place] = self._known[text] = SharedFinding(findings[place])
        return answer


def _has_place(line: Any) -> bool:
    return (
        isinstance(line, dict) and line.get("findings") == [_PLACE] and line.get("schema") == SCHEMA
    )


def loads(raw: bytes) -> Any:
    """What is written as JSON. ValueError: it is none."""
    return json.loads(raw.decode("utf-8"), parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


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
