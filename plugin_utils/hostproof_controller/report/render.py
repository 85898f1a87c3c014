# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report directory from its findings.jsonl: applies the waivers, writes every form of the
report."""

import datetime
import gc
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import SEVERITIES

from ..cluster.nodes import COMPLETE, SESSIONS, SHARED_EXPORT, clusters_of
from .anchors import page_names
from .document import Document
from .host_state import HostState, Part
from .html import ALL_IN_ONE, Report, one_page
from .junit import JUnit
from .many_pages import HostPages, index_page, links_page, remove_other_pages
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
from .totals import Causes, Totals
from .verdict import exit_code, failing_hosts, verdicts
from .waivers import WAIVERS_HOST, Applied, Waiver


class Rendered(NamedTuple):
    """What rendering a directory gave.

    ``paths`` are the files written, by name, but for the pages of single hosts; ``page`` is the
    path of the page to open. ``failing`` are the hosts that give the run its exit code.
    """

    exit_code: int
    summary: str
    verdicts: dict[str, str]
    paths: dict[str, str]
    page: str
    failing: list[str]


class Form(Protocol):
    """A form of the report that is written state by state."""

    def begin(self) -> str:
        """What is before the hosts."""

    def add(self, state: HostState) -> str:
        """What is written about a host."""

    def end(self) -> str:
        """What is after the hosts."""


@contextmanager
def _without_collector() -> Iterator[None]:
    """Rendering makes no cycles. The collector would visit every decoded finding many times."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


@_without_collector()
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
    as_one_page: bool = False,
    verbose: bool = False,
    severity: str = SEVERITIES[-1],
    fail_on: str = SEVERITIES[-1],
    waits: bool = False,
) -> Rendered:
    """Write report.json, report.xml, report.prom and report.html to the directory.

    Above ALL_IN_ONE hosts also index.html and a page for each host, unless ``as_one_page``.
    With ``waivers`` (an empty list too) the waived state of every finding is decided afresh as of
    ``today``. Nodes of clusters are always compared afresh. findings.jsonl is rewritten if it
    differs. ``known_checks`` is called with waivers only: it imports every control.
    Every file is replaced atomically. A directory without findings.jsonl is a run without results.
    Failures below ``fail_on`` do not decide the exit code, nor, with ``waits``, those that only
    wait for an event such as a reboot. One host is in memory at a time.
    """
    recorded = _read(folder)
    results = with_clusters(recorded)
    instant = generated or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with ExitStack() as files:
        drafts: dict[str, Draft] = {}

        def draft(name: str) -> Draft:
            drafts[name] = files.enter_context(Draft(os.path.join(folder, name)))
            return drafts[name]

        if waivers is not None:
            results = with_waivers(results, waivers, today, known_checks())
        if results is not recorded and _differ(recorded, results):
            _write_findings(draft(FINDINGS_FILE), results)
        results.fail_on = fail_on
        results.waits = waits
        many = len(results.hosts) > ALL_IN_ONE and not as_one_page
        names = page_names(results.hosts.names) if many else {}
        summary, pages = _write_forms(results, instant, strict, draft, files, folder, names)
        # An index takes its place after the pages that it links to.
        _replace(pages, drafts.values())
        remove_other_pages(folder, {*names.values()})
    paths = {name: item.path for name, item in drafts.items()}
    page = paths["index.html" if many else "report.html"]
    return Rendered(
        exit_code(results, strict),
        summary.text(color, width, page, verbose=verbose, severity=severity),
        verdicts(results),
        paths,
        page,
        failing_hosts(results, strict),
    )


def _replace(pages: HostPages | None, drafts: Iterable["Draft"]) -> None:
    if pages:
        pages.replace()
    for draft in drafts:
        draft.replace()


def _write_findings(draft: "Draft", results: Results) -> None:
    for line in render_lines(merged_lines(results)):
        draft.write(line)


def _read(folder: str) -> Results:
    """The results of a run; none without findings.jsonl."""
    notes: list[str] = []
    source = os.path.join(folder, FINDINGS_FILE)
    return merge(read_entries([source], notes) if os.path.exists(source) else [], notes)


def _write_forms(
    results: Results,
    instant: str,
    strict: bool,
    draft: Callable[[str], "Draft"],
    files: ExitStack,
    folder: str,
    names: dict[str, str],
) -> tuple[Summary, HostPages | None]:
    """Write every form of the report into a separate draft, and the pages of hosts with names."""
    totals, causes = Totals(), Causes()
    summary = Summary(results, totals.first)
    report = Report(results, totals, instant, strict)
    pages = files.enter_context(HostPages(folder, report, names)) if names else None
    if pages:
        # They need no totals.
        pages.start()
    results.show(summary, totals, *([causes] if names else []))
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
    whole = {"report.html": links_page(report, names) if names else one_page(report)}
    if names:
        whole["index.html"] = index_page(report, causes, names)
    for name, pieces in whole.items():
        page = draft(name)
        for piece in pieces:
            page.write(piece)
    if pages:
        pages.finish()
    return summary, pages


def with_clusters(results: Results) -> Results:
    """The results with the nodes of every cluster compared again."""
    about = [state for state in results.about if not is_cluster(state.name)]
    entries = [entry for entry in results.entries if not is_cluster(entry.host)]
    compared = results
    if len(entries) < len(results.entries):
        compared = Results(results.hosts, about, results.runs, entries, results.notes)
    by_name: dict[str, list[dict[str, Any]]] = {}
    clusters = clusters_of(results.hosts.grouped_by(COMPLETE))
    if clusters:
        # It imports a control, which few reports need; so do the pools.
        from ..cluster.comparison import findings_on

        by_name = {cluster.name: findings_on(cluster) for cluster in clusters}
    users = list(results.hosts.grouped_by(SESSIONS))
    if users:
        from ..cluster import pools

        by_name |= {
            f"pools of {database.name}": pools.findings_on(database, results.hosts.called)
            for database in pools.databases_of(users)
        }
    users = list(results.hosts.grouped_by(SHARED_EXPORT))
    if len(users) > 1:
        from ..cluster import exports

        by_name |= {
            f"export {export.name}": exports.findings_on(export)
            for export in exports.exports_of(users)
        }
    for name, findings in by_name.items():
        host = cluster_host(name)
        compared = with_parts(compared, host, [Part(pseudo_line(results, host), findings)])
    return compared


def with_waivers(
    results: Results, waivers: list[Waiver], today: datetime.date, known_checks: Iterable[str]
) -> Results:
    """The results with the waivers applied, and what must be said about the waivers added."""
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
        line, other = next(old, end), next(new, end)
        if line != other:
            return True
        if line is end:
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
            # mkstemp creates a file with mode 0600.
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
            # Discard the rest of a file that could not be written.
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


def _with_findings(
    state: HostState, findings: list[dict[str, Any]], added: list[dict[str, Any]]
) -> HostState:
    """The host with each finding replaced, without old findings about waivers."""
    replacement = iter(findings)
    parts = [
        Part(part.line, [next(replacement) for f in part.findings if f["control"] != "waiver"])
        for part in state.parts
    ]
    last = parts[-1]
    parts[-1] = Part(last.line, last.findings + added)
    return state._replace(parts=parts)
