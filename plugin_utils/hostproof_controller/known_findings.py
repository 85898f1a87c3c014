# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings that a host of this run has sent before: parsed, validated and formatted once.

In a fleet most findings of a host have the text of another host's. A worker that receives new texts
hands them to the process that forks the workers, and the workers that are forked afterwards
recognise them. Nothing here outlives the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ansible.module_utils.hostproof.collect import bounded

#: Findings that are known at most and the bytes of their texts, findings that one host adds, and
#: the bytes of the text of one: some tens of megabytes.
_MOST_KNOWN = 3_000
_MOST_TEXT = 2 * 1024 * 1024
_MOST_NEW = 1_000
_MOST_BYTES = 8_192
#: New texts of a host that are worth handing over. Nearly every host has some that no other has.
_LEAST_NEW = 30

#: Bytes before and after the findings of an answer, and the first bytes of each. A text in JSON
#: cannot contain them: its quotation marks are escaped.
_BEFORE, _BEHIND, _FIRST = b'"findings": [', b"}]", b'{"control": '
_SEPARATOR = b"}, " + _FIRST
#: Takes the place of the findings when the rest of an answer is decoded. No host can know it.
_PLACE = secrets.token_hex(16)

_ENCODER = json.JSONEncoder(sort_keys=True)


class KnownFinding(dict[str, Any]):
    """A finding that was validated before. ``line`` is its text in findings.jsonl, so that nothing
    may change it."""

    __slots__ = ("line",)

    def __init__(self, finding: dict[str, Any]) -> None:
        super().__init__(finding)
        self.line = _ENCODER.encode(finding)


_known: dict[bytes, KnownFinding] = {}
#: The descriptor of a file without a name, by which a worker hands over new findings. It begins
#: with the generation, which is the number of times that the process has learned: a worker that was
#: forked before that does not know what is new.
_handed: list[int] = []
_generation = 0
#: Bytes of the texts that the process has learned.
_learned = 0
_HEAD = 8


def prime() -> None:
    """Prepare what the workers share, before they are forked. Without it nothing is known."""
    with contextlib.suppress(OSError):
        if not _handed:
            handle, path = tempfile.mkstemp()
            os.unlink(path)
            os.pwrite(handle, _head(), 0)
            _handed.append(handle)


def _head() -> bytes:
    return _generation.to_bytes(_HEAD, "big")


def loads(text: bytes) -> tuple[Any, list[bytes]]:
    """The value of a host's JSON with known findings, and the texts of its findings.

    There are no texts if the findings are not written as the payload writes them; nothing is
    recognised then. Raises what ``bounded.loads`` raises.
    """
    begin = text.find(_BEFORE + _FIRST) + len(_BEFORE)
    end = text.rfind(_BEHIND)
    # The number of values is bounded for the whole of a longer text.
    if len(_BEFORE) <= begin < end and len(text) <= bounded.MOST_VALUES:
        texts = text[begin + len(_FIRST) : end].split(_SEPARATOR)
        with contextlib.suppress(ValueError):
            # If the rest and each text are valid alone, so is the answer made of them.
            answer = bounded.loads(b'%b"%b"%b' % (text[:begin], _PLACE.encode(), text[end + 1 :]))
            if isinstance(answer, dict) and answer.get("findings") == [_PLACE]:
                answer["findings"] = [
                    _known.get(one) or bounded.loads(b"%b%b}" % (_FIRST, one)) for one in texts
                ]
                return answer, texts
    return bounded.loads(text), []


def hand_over(texts: Sequence[bytes], findings: Iterable[dict[str, Any]]) -> None:
    """From a worker: valid findings by their texts, unless another worker has done so since the
    process learned."""
    new = [
        (text, finding)
        for text, finding in zip(texts, findings, strict=True)
        if not isinstance(finding, KnownFinding)
    ]
    if len(_known) >= _MOST_KNOWN or len(new) < _LEAST_NEW:
        return
    with _locked() as handle:
        if handle is not None and os.pread(handle, _HEAD + 1, 0) == _head():
            shared = [(text.decode("ascii"), one) for text, one in new if _is_shared(text)]
            os.pwrite(handle, _ENCODER.encode(shared[:_MOST_NEW]).encode("ascii"), _HEAD)


def _is_shared(text: bytes) -> bool:
    """Whether the result of the validation depends on the text alone. Which commands a host may
    send depends on its variables too."""
    if len(text) > _MOST_BYTES:
        return False
    with contextlib.suppress(ValueError):
        return bounded.loads(b"%b%b}" % (_FIRST, text)).get("commands") in (None, [])
    # It was decoded before: only the depth of the calls differs.
    return False


def learn() -> bool:
    """In the process that forks the workers: take what a worker has handed over, if one has."""
    global _generation, _learned
    if not _handed or os.fstat(_handed[0]).st_size <= _HEAD:
        return False
    with _locked() as handle, contextlib.suppress(ValueError):
        if handle is None:
            return False
        content = os.pread(handle, os.fstat(handle).st_size, _HEAD)
        _generation += 1
        os.pwrite(handle, _head(), 0)
        os.ftruncate(handle, _HEAD)
        # ValueError: a worker was ended while it wrote.
        for text, finding in json.loads(content):
            _learned += len(text)
            if len(_known) < _MOST_KNOWN and _learned <= _MOST_TEXT:
                _known[text.encode("ascii")] = KnownFinding(finding)
    return True


@contextlib.contextmanager
def _locked() -> Iterator[int | None]:
    """The file, locked; None if there is none or another process uses it. On a full disk nothing is
    handed over."""
    handle = _handed[0] if _handed else None
    if handle is not None:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle = None
    try:
        with contextlib.suppress(OSError):
            yield handle
    finally:
        if handle is not None:
            fcntl.lockf(handle, fcntl.LOCK_UN)


def line_of(findings: Iterable[dict[str, Any]]) -> str:
    """The findings as JSON with sorted keys, as they are in findings.jsonl."""
    texts = (
        finding.line if isinstance(finding, KnownFinding) else _ENCODER.encode(finding)
        for finding in findings
    )
    return f"[{', '.join(texts)}]"
