# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report folder from its findings.jsonl: applies the waivers, writes every form of the report."""

import datetime
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from ansible.module_utils.hostproof.errors import HostproofError

from ..cluster.nodes import COMPLETE, SESSIONS, clusters_of
from .beside import Beside
from .document import Document
from .host_state import HostState, Part
from .html import Survey, html_pieces
from .junit import JUnit
from .prometheus import Prometheus
from .store import (
    FINDINGS_FILE,
    Hosts,
    Results,
    cluster_host,
    is_cluster,
    merge,
    merged_lines,
    pseudo_line,
    read_entries,
    with_parts,
)
from .summary import Summary
from .verdict import exit_code, verdicts
from .waivers import WAIVERS_HOST, Applied, Waiver


class Rendered(NamedTuple):
    """What rendering a folder gave. ``paths`` are the files written, by name."""

    exit_code: int
    summary: str
    verdicts: dict[str, str]
    paths: dict[str, str]


#: From as many hosts on the page is written by a process of its own, beside the other forms.
MANY_HOSTS = 30


class Form(Protocol):
    """A form of the report that is written state by state."""

    def begin(self) -> str: ...
    def add(self, state: HostState) -> str: ...
    def end(self) -> str: ...


def render_folder(
    folder: str,
    *,
    today: datetime.date,
    known_checks: Callable[[], Iterable[str]],
    waivers: list[Waiver] | None = None,
    strict: bool = False,
    generated: str | None = None,
    color: bool = False,
    width: int = 100,
    one_page: bool = False,
) -> Rendered:
    """Write report.json, report.xml, report.prom and report.html into ``folder``.

    What a page of many hosts loads when it is unfolded stands in report.d beside it; with
    ``one_page`` the page is all there is.

    With ``waivers`` (an empty list too) the waived state of every finding is decided afresh as of
    ``today``. Nodes of clusters are always compared afresh. findings.jsonl is rewritten where it
    does not agree; without either it stays as the run recorded it.
    ``known_checks`` is asked with waivers alone: every control must be imported to tell them.
    Every file is replaced atomically. A folder without findings.jsonl is a run without results.

    However many hosts there are, one of them is held at a time.
    """
    notes: list[str] = []
    source = os.path.join(folder, FINDINGS_FILE)
    results = merge(read_entries([source], notes) if os.path.exists(source) else [], notes)
    instant = generated or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    recorded = results
    results = with_clusters(results)
    with ExitStack() as files:
        drafts: dict[str, Draft] = {}

        def draft(name: str) -> Draft:
            drafts[name] = files.enter_context(Draft(os.path.join(folder, name)))
            return drafts[name]

        if waivers is not None:
            results = with_waivers(results, waivers, today, known_checks())
        if results is not recorded and _differ(recorded, results):
            lines = draft(FINDINGS_FILE)
            for line in render_lines(merged_lines(results)):
                lines.write(line)
        beside = files.enter_context(Beside(folder))
        loaded = None if one_page else beside
        summary = _write_forms(results, instant, strict, draft, files, loaded)
        # All of them are written: now each takes its place, the page after what it loads.
        beside.replace()
        for one in drafts.values():
            one.replace()
        beside.forget_others()
    paths = {name: one.path for name, one in drafts.items()}
    return Rendered(
        exit_code(results, strict),
        summary.text(color, width, paths["report.html"]),
        verdicts(results),
        paths,
    )


def _write_forms(
    results: Results,
    instant: str,
    strict: bool,
    draft: Callable[[str], "Draft"],
    files: ExitStack,
    beside: Beside | None,
) -> Summary:
    """Write every form of the report into a draft of its own; the summary has seen all states."""
    drawn = draft("report.html")

    def write_page() -> None:
        survey = Survey()
        results.show(survey)
        for piece in html_pieces(results, instant, strict, survey, beside):
            drawn.write(piece)
        drawn.flush()

    page = files.enter_context(Aside(write_page, alone=len(results.hosts) < MANY_HOSTS))
    summary = Summary(results)
    results.show(summary)
    forms: dict[str, Form] = {
        "report.json": Document(results, instant, strict),
        "report.xml": JUnit(results),
        "report.prom": Prometheus(results, instant, strict),
    }
    drafts = {name: draft(name) for name in forms}
    for name, form in forms.items():
        drafts[name].write(form.begin())
    for state in results.states:
        for name, form in forms.items():
            drafts[name].write(form.add(state))
    for name, form in forms.items():
        drafts[name].write(form.end())
    page.wait()
    return summary


def with_clusters(results: Results) -> Results:
    """The results with the nodes of every cluster compared anew."""
    about = [state for state in results.about if not is_cluster(state.name)]
    entries = [entry for entry in results.entries if not is_cluster(entry.host)]
    compared = results
    if len(entries) < len(results.entries):
        compared = Results(results.hosts, about, results.runs, entries, results.notes)
    told: dict[str, list[dict[str, Any]]] = {}
    clusters = clusters_of(results.hosts.grouped_by(COMPLETE))
    if clusters:
        # It imports a control, which few reports need; so do the pools.
        from ..cluster.comparison import findings_on

        told = {one.name: findings_on(one) for one in clusters}
    users = list(results.hosts.grouped_by(SESSIONS))
    if users:
        from ..cluster import pools

        told |= {
            f"pools of {one.name}": pools.findings_on(one, results.hosts.called)
            for one in pools.databases_of(users)
        }
    for name, findings in told.items():
        host = cluster_host(name)
        compared = with_parts(compared, host, [Part(pseudo_line(results, host), findings)])
    return compared


def with_waivers(
    results: Results, waivers: list[Waiver], today: datetime.date, known_checks: Iterable[str]
) -> Results:
    """The results with the waivers applied, and what is to be said about the waivers added."""
    applied = Applied(waivers, today, known_checks)
    clusters = [state for state in results.about if is_cluster(state.name)]
    for state in (*results.hosts, *clusters):
        applied.see(state.name, state.findings)
    about = applied.about()

    def change(state: HostState) -> HostState:
        findings = applied.waived(state.name, state.findings)
        return _with_findings(state, findings, about.get(state.name, []))

    hosts: Hosts = results.hosts.changed(change)
    others = [
        change(state) if is_cluster(state.name) else state
        for state in results.about
        if state.name != WAIVERS_HOST
    ]
    entries = [entry for entry in results.entries if entry.host != WAIVERS_HOST]
    changed = Results(hosts, others, results.runs, entries, results.notes)
    if WAIVERS_HOST in about:
        part = Part(pseudo_line(changed, WAIVERS_HOST), about[WAIVERS_HOST])
        changed = with_parts(changed, WAIVERS_HOST, [part])
    return changed


def _differ(before: Results, after: Results) -> bool:
    """Whether findings.jsonl of the one is not that of the other."""
    old, new = merged_lines(before), merged_lines(after)
    end = object()
    while True:
        one, other = next(old, end), next(new, end)
        if one != other:
            return True
        if one is end:
            return False


def render_lines(lines: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The lines of a findings.jsonl, pure ASCII."""
    return (json.dumps(line) + "\n" for line in lines)


class Draft:
    """A file that takes its place whole, or not at all; readable by its owner only.

    Lone surrogates are written out.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._replaced = False

    def __enter__(self) -> "Draft":
        folder, name = os.path.split(self.path)
        try:
            # mkstemp makes the file with mode 0600.
            handle, self._draft = tempfile.mkstemp(prefix="." + name + ".", dir=folder or ".")
        except OSError as problem:
            raise self._failed(problem) from problem
        self._stream = os.fdopen(handle, "wb")
        return self

    def write(self, text: str) -> None:
        try:
            self._stream.write(text.encode("utf-8", "backslashreplace"))
        except OSError as problem:
            raise self._failed(problem) from problem

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as problem:
            raise self._failed(problem) from problem

    def replace(self, mode: int = 0o600) -> None:
        """Take the place of the file."""
        try:
            self._stream.flush()
            os.fchmod(self._stream.fileno(), mode)
            os.fsync(self._stream.fileno())
            self._stream.close()
            os.replace(self._draft, self.path)
        except OSError as problem:
            raise self._failed(problem) from problem
        self._replaced = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._replaced:
            # What could not be written is thrown away here.
            with suppress(OSError):
                self._stream.close()
            os.unlink(self._draft)

    def _failed(self, problem: OSError) -> HostproofError:
        return HostproofError(f"{self.path}: {problem.strerror or problem}")


def write_private(path: str, text: str, mode: int = 0o600) -> None:
    """Replace a file atomically, readable by its owner only unless ``mode`` says otherwise."""
    with Draft(path) as draft:
        draft.write(text)
        draft.replace(mode)


class Aside:
    """Work that a process of its own does meanwhile; ``alone``: it is done at once, here.

    What goes wrong in it is said where it is waited for.
    """

    def __init__(self, work: Callable[[], None], *, alone: bool) -> None:
        self._work = work
        self._alone = alone
        self._child = 0

    def __enter__(self) -> "Aside":
        if self._alone:
            self._work()
            return self
        self._said, end = os.pipe()
        self._child = os.fork()
        if not self._child:
            os.close(self._said)
            problem = "the process that writes it was ended"
            try:
                self._work()
                problem = ""
            except BaseException as found:
                problem = str(found) or type(found).__name__
            finally:
                with suppress(OSError):
                    os.write(end, problem.encode("utf-8", "backslashreplace")[:4000])
                # Nothing that the parent has begun is ended here.
                os._exit(1 if problem else 0)
        os.close(end)
        return self

    def wait(self) -> None:
        if not self._child:
            return
        with os.fdopen(self._said, "rb") as stream:
            problem = stream.read().decode("utf-8", "replace")
        _, status = os.waitpid(self._child, 0)
        self._child = 0
        if problem or status:
            raise HostproofError(problem or "the process that writes report.html was ended")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child:
            # The others could not be written: nobody waits for this one any more.
            os.close(self._said)
            os.kill(self._child, signal.SIGKILL)
            os.waitpid(self._child, 0)


def _with_findings(
    state: HostState, findings: list[dict[str, Any]], added: list[dict[str, Any]]
) -> HostState:
    """The host with its findings replaced one for one (old findings about waivers have gone)."""
    replacement = iter(findings)
    parts = [
        Part(part.line, [next(replacement) for f in part.findings if f["control"] != "waiver"])
        for part in state.parts
    ]
    last = parts[-1]
    parts[-1] = Part(last.line, last.findings + added)
    return state._replace(parts=parts)
