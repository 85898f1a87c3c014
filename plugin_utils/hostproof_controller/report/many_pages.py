# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of many hosts: an index, a page for each host, and a page for old links.

``index.html`` has the verdicts, what to do first, the matrix, and all findings that need attention,
by cause and with their hosts. ``hosts/NAME.html`` is a host. ``report.html`` leads an address like
``report.html#h:NAME`` to the page of the host.
"""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType

from ansible.module_utils.hostproof.errors import HostproofError

from .anchors import HOSTS_FOLDER, host_anchor
from .host_section import host_section, when_recorded
from .host_state import HostState
from .html import Report, filters, headline, page_end, page_head, summary
from .templating import moment, parts
from .text import one_line
from .totals import Causes
from .verdict import STATUS_CLASSES, STATUS_GLYPHS, count_statuses, host_verdict

#: How a page of Hostproof begins: only such a file is removed.
_BEGINNING = b'<!doctype html><html lang="en">'
_TITLE = b"<title>Hostproof: "

#: More processes would wait for the disk.
_MOST_PROCESSES = 8


def index_page(report: Report, causes: Causes, names: dict[str, str]) -> Iterator[str]:
    """The text of index.html, in pieces; ``names`` are the files of the hosts' pages."""
    yield page_head(headline(report.results), report.results, "index.js")
    yield from summary(
        report, lambda host: f"{_path(names, host)}#{host_anchor(host)}", single_page=False
    )
    worst_first = causes.worst_first()
    yield parts().causes_begin(sum(cause.findings for cause in worst_first))
    for number, cause in enumerate(worst_first, 1):
        rows = [
            {
                "kind": STATUS_CLASSES[row.status],
                "glyph": STATUS_GLYPHS[row.status],
                "row": row,
                "links": [
                    (f"{_path(names, link.host)}#{link.anchor}", one_line(link.host), link.subject)
                    for link in row.links
                ],
            }
            for row in cause.ordered()
        ]
        kind, glyph = STATUS_CLASSES[cause.status], STATUS_GLYPHS[cause.status]
        yield parts().cause(number, kind, glyph, cause, rows)
    yield "</section></main>"
    yield page_end("index.js")


def links_page(report: Report, names: dict[str, str]) -> Iterator[str]:
    """The text of report.html: a list of the hosts' pages, to which its script leads at once."""
    results = report.results
    yield page_head(headline(results), results, "links.js")
    yield parts().links_begin(headline(results), len(names))
    for host in results.hosts.names:
        yield parts().host_link(host_anchor(host), _path(names, host), one_line(host))
    yield "</ul></main>"
    yield page_end("links.js")


def host_page(report: Report, state: HostState) -> Iterator[str]:
    """The text of a host's page, in pieces."""
    results = report.results
    name = one_line(state.name)
    title = f"{name}: {host_verdict(state.findings)}"
    severities = {finding["severity"] for finding in state.findings}
    controls = sorted({finding["control"] for finding in state.findings})
    counts = count_statuses(state.findings)
    at = moment(state.at) + when_recorded(state)
    run = state.parts[-1].line["run"]["id"]
    yield page_head(title, results, "report.js")
    yield parts().host_header(title, run, at, moment(report.generated))
    yield filters(counts, severities, controls, None)
    yield "<section id=findings><h2>Findings</h2>"
    yield host_section(state, len(results.runs) > 1)
    yield "</section></main>"
    yield page_end("report.js")


def _path(names: dict[str, str], host: str) -> str:
    return f"{HOSTS_FOLDER}/{names[host]}"


class HostPages:
    """The pages of the hosts as drafts, until ``replace`` puts them in place.

    They are readable by their owner only. They are not forced to the disk one by one: whatever a
    crash damages can be rendered again from findings.jsonl.
    """

    def __init__(self, report_folder: str, report: Report, names: dict[str, str]) -> None:
        self._above = report_folder
        self._folder = os.path.join(report_folder, HOSTS_FOLDER)
        self._report = report
        self._names = names
        self._processes: list[int] = []

    def __enter__(self) -> "HostPages":
        try:
            if os.path.lexists(self._folder) and (
                os.path.islink(self._folder) or not os.path.isdir(self._folder)
            ):
                raise HostproofError(
                    f"{self._folder} is not a directory: move it, then render again"
                )
            # mkdtemp makes the directory with mode 0700.
            self._drafts = tempfile.mkdtemp(prefix=f".{HOSTS_FOLDER}.", dir=self._above or ".")
        except OSError as problem:
            raise self._failed(problem) from problem
        return self

    def start(self) -> None:
        """Write the pages in separate processes, while the caller writes the other files."""
        count = min(os.cpu_count() or 1, _MOST_PROCESSES)
        for first in range(count):
            try:
                process = os.fork()
            except OSError:
                # Too many processes here: finish() writes what is missing.
                return
            if process:
                self._processes.append(process)
                continue
            code = 1
            try:
                for place in range(first, len(self._report.results.hosts), count):
                    self._add(self._report.results.hosts[place])
                code = 0
            finally:
                os._exit(code)

    def finish(self) -> None:
        """Wait for the pages, and write those here that a process did not write."""
        while self._processes:
            os.waitpid(self._processes.pop(), 0)
        for place, name in enumerate(self._report.results.hosts.names):
            if not os.path.exists(os.path.join(self._drafts, self._names[name])):
                self._add(self._report.results.hosts[place])

    def _add(self, state: HostState) -> None:
        """Write the page of a host. The file has its name once it is complete."""
        text = "".join(map(str, host_page(self._report, state)))
        path = os.path.join(self._drafts, self._names[state.name])
        draft = f"{path}.{os.getpid()}"
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as page:
                page.write(text.encode("utf-8", "backslashreplace"))
            os.rename(draft, path)
        except OSError as problem:
            raise self._failed(problem) from problem

    def replace(self) -> None:
        """Move the pages to the directory that the index links to."""
        try:
            with suppress(FileExistsError):
                os.mkdir(self._folder, 0o700)
            for name in self._names.values():
                os.replace(os.path.join(self._drafts, name), os.path.join(self._folder, name))
        except OSError as problem:
            raise self._failed(problem) from problem

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
        shutil.rmtree(self._drafts, ignore_errors=True)

    def _failed(self, problem: OSError) -> HostproofError:
        return HostproofError(f"{self._folder}: {problem.strerror or problem}")


def remove_other_pages(report_folder: str, names: set[str]) -> None:
    """Remove what an earlier report left: pages of other hosts, and the index where none is due."""
    folder = os.path.join(report_folder, HOSTS_FOLDER)
    if not names:
        _remove_page(os.path.join(report_folder, "index.html"))
    if os.path.islink(folder):
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(".html") and name not in names:
                _remove_page(os.path.join(folder, name))
        os.rmdir(folder)


def _remove_page(path: str) -> None:
    """Remove a file if it is a page that Hostproof wrote."""
    with suppress(OSError):
        if os.path.islink(path):
            return
        with open(path, "rb") as page:
            beginning = page.read(2000)
        if beginning.startswith(_BEGINNING) and _TITLE in beginning:
            os.unlink(path)
