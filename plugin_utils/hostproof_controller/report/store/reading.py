# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads findings.jsonl. A line that is no host result becomes an error."""

import json
import mmap
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import HostproofError

from ...host_names import is_host_name
from ..findings import SCHEMA
from ..shared_findings import SharedFindings
from ..text import shorten
from .entries import Entry, OpenFile
from .host_result import MOST_NAME, as_schema_3, problem_of_result, problem_of_run
from .instants import NEVER, is_future, is_instant
from .pseudo_hosts import RUN_HOST
from .run_findings import AUDITED, READABLE, error_finding

#: The file of a report directory that everything else is rendered from.
FINDINGS_FILE = "findings.jsonl"

#: Maximum bytes of one line, many times the size of 20,000 findings with evidence.
MOST_LINE = 256 * 1024 * 1024

#: Bytes of decoded lines that stay in memory, without the findings that they share. The lines after
#: that are decoded again for each step, so that a larger fleet needs no more memory.
HELD_BYTES = 64 * 1024 * 1024

#: Marks that show where a key is in a line: a text, or the begin or end of an object or a list.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
_VALUE_FOLLOWS = re.compile(rb"\s*:\s*")
_INSTANT_IN = re.compile(rb'"at"\s*:\s*"([0-9T:-]{19}Z)"')

#: Where an instant must be: no line of a run is so long before its ``at``.
_HEAD = 1024


def read_entries(paths: Iterable[str], notes: list[str] | None = None) -> list[Entry]:
    """The host results in report directories (or findings.jsonl files), in the order given.

    A killed run can leave its last line cut: that line is left out and ``notes`` says so.
    Anything else that is not a host result becomes the error of its host, or of the run, and
    ``notes`` say so. A file that cannot be read raises HostproofError.
    """
    entries: list[Entry] = []
    for path in paths:
        name = os.path.join(path, FINDINGS_FILE) if os.path.isdir(path) else path
        entries.extend(_read_file(name, [] if notes is None else notes))
    return entries


class _Bad(NamedTuple):
    """A line that is no host result: what is wrong with it, and what of it can be known."""

    problem: str
    host: str | None
    at: str | None
    run: dict[str, Any] | None


def _read_file(path: str, notes: list[str]) -> list[Entry]:
    read: list[Entry | _Bad | None] = []
    shared: dict[Any, Any] = {}
    try:
        kept = OpenFile(path)
        stream = kept.stream
        number = start = held = 0
        while True:
            number += 1
            raw = stream.readline(MOST_LINE + 1)
            if not raw:
                break
            result, size = (
                (_too_long(stream, start), 0)
                if len(raw) > MOST_LINE
                else _read_line(raw, kept.findings)
            )
            if isinstance(result, _Bad):
                read.append(_bad_with_place(result, f"{path}, line {number}", notes))
            else:
                held += size
                place = None if held <= HELD_BYTES else (kept, start, len(raw))
                read.append(Entry(result, place, shared))
            start = stream.tell()
    except OSError as problem:
        raise HostproofError(f"{path}: {problem.strerror or problem}") from problem
    newest = next((item for item in read if isinstance(item, Entry)), None)
    entries = []
    for entry in read:
        if entry is not None:
            newest = (
                Entry(_as_error(entry, newest), shared=shared) if isinstance(entry, _Bad) else entry
            )
            entries.append(newest)
    return entries


def _read_line(raw: bytes, shared: SharedFindings) -> tuple[Any, int]:
    """The host result and the bytes that it does not share, or what is wrong with it; a cut line
    has no problem but to be cut."""
    try:
        line, texts = shared.loads(raw)
    except RecursionError:
        return _Bad("it is nested deeper than any result", *_known_of(raw)), 0
    except ValueError as problem:
        if not raw.endswith(b"\n"):
            return _Bad("", None, None, None), 0
        return _Bad(f"not JSON ({problem})", *_known_of(raw)), 0
    bad = _bad_of(line)
    if bad is not None:
        return bad, 0
    line = as_schema_3(line)
    line["findings"] = shared.add(line["findings"], texts)
    return line, shared.unshared_bytes(raw, line["findings"], texts)


def _bad_of(line: Any) -> _Bad | None:
    """The problem of a decoded line, or None."""
    try:
        problem = problem_of_result(line)
    except RecursionError:
        problem = "it is nested deeper than any result"
    if problem:
        record = line if isinstance(line, dict) else {}
        return _Bad("not a host result: " + shorten(problem, 300), *_known_in(record))
    if is_future(max(line["at"], line["run"]["started"])):
        # It is an error of the run alone: who writes such a line takes no host's verdict.
        message = (
            f"{line['host']} was audited at {line['at']}, in the run of {line['run']['started']}"
        )
        advice = "that is in the future: correct the clock of the machine that wrote it"
        return _Bad(f"{message}, and {advice}", None, None, None)
    return None


def _too_long(stream: Any, start: int) -> _Bad:
    """A line that is too long: only its host is read, without the whole line in memory."""
    while True:
        piece = stream.readline(1 << 20)
        if not piece or piece.endswith(b"\n"):
            break
    end = stream.tell()
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        known = _known_of(mapped, start, end)
    problem = f"it has {end - start} bytes, and more than {MOST_LINE} are not read"
    return _Bad(problem, *known)


def _bad_with_place(bad: _Bad, where: str, notes: list[str]) -> _Bad | None:
    """The bad line and its place, which the notes state; None for a line that is cut off."""
    if not bad.problem:
        notes.append(f"{where} is truncated (the run was killed): one result is missing")
        return None
    whose = f" of {bad.host}" if bad.host else ""
    notes.append(f"{where}: unreadable result{whose}: {bad.problem}")
    return bad._replace(problem=f"{where}: {bad.problem}")


def _as_error(bad: _Bad, newest: Entry | None) -> dict[str, Any]:
    """A host result that states that this one could not be read; ``newest`` is before it."""
    run = bad.run or (newest.run if newest else {"id": "unknown", "started": NEVER, "hosts": 0})
    finding = error_finding(
        AUDITED if bad.host else READABLE,
        "a result that can be read",
        "one that cannot",
        "audit the host again and read the output of Ansible: ./hostproof audit -vvv",
        f"The result cannot be read, so nothing is known: {bad.problem}",
    )
    return {
        "schema": SCHEMA,
        "run": run,
        "host": bad.host or RUN_HOST,
        "at": bad.at or (newest.at if newest else NEVER),
        "recorded_at": None,
        "outcome": "failed" if bad.host else "judged",
        "message": bad.problem,
        "findings": [finding],
        "evidence": None,
    }


def _known_in(
    line: dict[str, Any],
) -> tuple[str | None, str | None, dict[str, Any] | None]:
    """Host, instant and run of an object that is no host result, where they are as they must be."""
    host, at, run = line.get("host"), line.get("at"), line.get("run")
    return (
        host if is_host_name(host) else None,
        at if is_instant(at) and not is_future(str(at)) else None,
        run if run and problem_of_run(run) is None and not is_future(run["started"]) else None,
    )


def _known_of(
    raw: Any, start: int = 0, end: int | None = None
) -> tuple[str | None, str | None, None]:
    """Host and instant of a line that cannot be loaded, by the keys of its outermost object."""
    end = len(raw) if end is None else end
    depth, host = 0, None
    for token in _TOKEN.finditer(raw, start, end):
        first = token[0][:1]
        if first in (b"{", b"["):
            depth += 1
        elif first in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token[0] == b'"host"':
            colon = _VALUE_FOLLOWS.match(raw, token.end(), end)
            value = _TOKEN.match(raw, colon.end(), end) if colon else None
            if value and value[0][:1] == b'"' and len(value[0]) < 6 * MOST_NAME:
                host = _text_of(value[0])
                break
    at = _INSTANT_IN.search(raw, start, min(end, start + _HEAD))
    record = {"host": host, "at": at[1].decode("ascii") if at else None}
    return _known_in(record)[:2] + (None,)


def _text_of(quoted: bytes) -> str | None:
    try:
        return str(json.loads(quoted.decode("utf-8")))
    except ValueError:
        return None
