# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report folder from its findings.jsonl: applies the waivers, writes every form of the report."""

import datetime
import json
import os
import tempfile
import time
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional

from ..errors import HostproofError
from ..waivers import WAIVERS_HOST, Waiver, apply_waivers
from .document import render_document
from .html import render_html
from .junit import render_junit
from .prometheus import render_prometheus
from .store import (
    FINDINGS_FILE,
    HostState,
    Part,
    Results,
    merge,
    merged_lines,
    pseudo_line,
    read_lines,
    with_parts,
)
from .summary import render_summary
from .verdict import exit_code, verdicts


class Rendered(NamedTuple):
    """What rendering a folder gave. ``paths`` are the files written, by name."""

    exit_code: int
    summary: str
    verdicts: Dict[str, str]
    paths: Dict[str, str]


def render_folder(
    folder,  # type: str
    *,
    today,  # type: datetime.date
    known_checks,  # type: Callable[[], Iterable[str]]
    waivers=None,  # type: Optional[List[Waiver]]
    strict=False,  # type: bool
    generated=None,  # type: Optional[str]
    color=False,  # type: bool
    width=100,  # type: int
):
    # type: (...) -> Rendered
    """Write report.json, report.xml, report.prom and report.html into ``folder``.

    With ``waivers`` (an empty list too) the waived state of every finding is decided afresh as of
    ``today`` and findings.jsonl is rewritten to agree; without, it stays as the run recorded it.
    ``known_checks`` is asked with waivers alone: every control must be imported to tell them.
    Every file is replaced atomically. A folder without findings.jsonl is a run without results.
    """
    notes = []  # type: List[str]
    source = os.path.join(folder, FINDINGS_FILE)
    lines = read_lines([source], notes) if os.path.exists(source) else []
    results = merge(lines, notes)
    contents = {}  # type: Dict[str, str]
    if waivers is not None:
        before = list(merged_lines(results))
        results = with_waivers(results, waivers, today, known_checks())
        after = list(merged_lines(results))
        if after != before:
            contents[FINDINGS_FILE] = render_lines(after)
    instant = generated or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    contents["report.json"] = render_document(results, instant, strict)
    contents["report.xml"] = render_junit(results)
    contents["report.prom"] = render_prometheus(results, instant, strict)
    contents["report.html"] = render_html(results, instant, strict)
    paths = {name: _write(folder, name, text) for name, text in contents.items()}
    return Rendered(
        exit_code(results, strict),
        render_summary(results, color, width, paths["report.html"]),
        verdicts(results),
        paths,
    )


def with_waivers(results, waivers, today, known_checks):
    # type: (Results, List[Waiver], datetime.date, Iterable[str]) -> Results
    """The results with the waivers applied, and what is to be said about the waivers added."""
    by_host = {state.name: state.findings for state in results.hosts}
    waived, about = apply_waivers(by_host, waivers, today, known_checks)
    hosts = [
        _with_findings(state, waived[state.name], about.get(state.name, []))
        for state in results.hosts
    ]
    others = [state for state in results.about if state.name != WAIVERS_HOST]
    lines = [line for line in results.lines if line["host"] != WAIVERS_HOST]
    results = results._replace(hosts=hosts, about=others, lines=lines)
    if WAIVERS_HOST in about:
        part = Part(pseudo_line(results, WAIVERS_HOST), about[WAIVERS_HOST])
        results = with_parts(results, WAIVERS_HOST, [part])
    return results


def render_lines(lines):
    # type: (Iterable[Dict[str, Any]]) -> str
    """The text of a findings.jsonl, pure ASCII."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def write_private(path, text):
    # type: (str, str) -> None
    """Replace a file atomically, readable by its owner only. Lone surrogates are written out."""
    folder, name = os.path.split(path)
    try:
        # mkstemp makes the file with mode 0600.
        handle, draft = tempfile.mkstemp(prefix="." + name + ".", dir=folder or ".")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(text.encode("utf-8", "backslashreplace"))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as problem:
        raise HostproofError("{0}: {1}".format(path, problem.strerror or problem)) from problem


def _write(folder, name, text):
    # type: (str, str, str) -> str
    path = os.path.join(folder, name)
    write_private(path, text)
    return path


def _with_findings(state, findings, added):
    # type: (HostState, List[Dict[str, Any]], List[Dict[str, Any]]) -> HostState
    """The host with its findings replaced one for one (old findings about waivers have gone)."""
    replacement = iter(findings)
    parts = [
        Part(part.line, [next(replacement) for f in part.findings if f["control"] != "waiver"])
        for part in state.parts
    ]
    last = parts[-1]
    parts[-1] = Part(last.line, last.findings + added)
    return state._replace(parts=parts)
