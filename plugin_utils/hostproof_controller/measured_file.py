# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file that a tool wrote: its format, its figures, and the findings of an audit that names it.

The readers and rules are those of an audit with ``latency_probes: [{probe: report, path: FILE}]``,
and those of ``import-results`` for CVU and ORAchk.
"""

import re
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency import figures
from ansible.module_utils.hostproof.controls.latency.measurement import reports
from ansible.module_utils.hostproof.controls.latency.probes import report_file
from ansible.module_utils.hostproof.errors import HostproofError, ParseError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import SKIP

from .other_tools import cvu, orachk
from .other_tools.foreign_finding import NotUnderstood, as_findings
from .policies import OF_TASKS, constants_of

#: How each format is called by the people who have it.
TITLES = {
    "awr": "AWR report",
    "awr_global": "AWR report of a cluster",
    "statspack": "Statspack report",
    "slob_awr_info": "awr_info of SLOB",
    "slob_db_stats": "db_stats.out of SLOB",
    "slob_grep": "lines of AWR reports found by grep",
    "oratcptest": "output of oratcptest",
    "orion": "output of Orion",
    "apachebench": "output of ApacheBench (ab)",
    "tcpdump": "output of tcpdump",
    "tcpstat": "output of tcpstat",
    "iolstats": "dump iolstats of an Exadata cell",
    "devio_stats": "dump devio_stats of an Exadata cell",
    "iostat": "output of iostat -x",
    "sadf": "disks of sar (sadf -j FILE -- -d)",
    "nfsiostat": "output of nfsiostat",
    "ping": "output of ping",
    "fio": "output of fio (JSON)",
    "cvu": "output of CVU",
    "orachk": "results of ORAchk",
}
_TOOLS = {"cvu": "CVU", "orachk": "ORAchk"}
#: What a file of these contains. The signs of the other formats are in ``reports``.
_CVU = re.compile(
    r"^\s*(?:INFO:.*)?(?:Verifying |Performing (?:pre|post)-checks|Starting to )", re.MULTILINE
)
_ORACHK = re.compile(r"\A\s*\[?\s*\{.*\"(?:Check Name|CheckName|check_name|Unique ID)\"", re.DOTALL)


class UnknownFormat(HostproofError):
    """No reader knows the file; the message lists the known formats."""


class MeasuredFile(NamedTuple):
    """``format`` is a key of TITLES. ``figures`` are lines of text.

    ``findings`` are as in findings.jsonl; skipped ones are left out.
    """

    path: str
    format: str
    figures: list[str]
    remarks: list[str]
    findings: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "title": TITLES[self.format]}


def read(path: str, before: str | None = None) -> MeasuredFile:
    """A file, and what is wrong by it. ``before`` is a file of the same kind from before a change.

    UnknownFormat or another HostproofError with one sentence where it cannot be read. ``path`` and
    ``before`` are absolute.
    """
    if not path.isprintable():
        raise HostproofError("its name has control characters: rename it")
    text = _text(path)
    if not reports.recognised(text) and _CVU.search(text):
        return _foreign(path, "cvu", text)
    if not reports.recognised(text) and _ORACHK.search(text):
        return _foreign(path, "orachk", text)
    try:
        report = reports.read(text)
    except ParseError as problem:
        if reports.KNOWN not in str(problem):
            raise
        known = f"{reports.KNOWN}, CVU, ORAchk"
        raise UnknownFormat(f"its format is not known; known are {known}") from None
    return MeasuredFile(
        path,
        report.kind,
        [_line(window) for window in report.windows],
        report.remarks,
        _findings(path, before),
    )


def _text(path: str) -> str:
    try:
        return report_file.read(path)
    except OSError as problem:
        raise HostproofError(problem.strerror or str(problem)) from None
    except ValueError as problem:
        raise HostproofError(str(problem)) from None


def _findings(path: str, before: str | None) -> list[dict[str, Any]]:
    """The findings about the file. Nothing is measured here, and no database is queried."""
    probe = {"probe": "report", "path": path, **({"before": before} if before else {})}
    values = {
        name: value for name, value in constants_of("latency").items() if name not in OF_TASKS
    }
    values.update(probes=[probe], query_instances=False, window_seconds=0)
    findings = audit.judge_host(LiveHost(), {"latency": values})
    return [finding.as_dict() for finding in findings if finding.status != SKIP]


def _line(window: Window) -> str:
    parts = [window.subject, window.layer]
    for name in ("p50", "p90", "p99", "mean"):
        figure = figures.figure_of(window, name)
        parts += [] if figure is None else [f"{name} {figures.milliseconds(figure.value)}"]
    return ", ".join([*parts, f"of {figures.count(window)}"])


def _foreign(path: str, tool: str, text: str) -> MeasuredFile:
    parse = {"cvu": cvu.parse, "orachk": orachk.parse}[tool]
    try:
        run = parse(text, None)
        nodes = as_findings(tool, f"Oracle {_TOOLS[tool]}", run.foreign)
    except NotUnderstood as problem:
        raise HostproofError(str(problem)) from None
    findings = [
        finding for node in sorted(nodes) for finding in nodes[node] if finding["status"] != SKIP
    ]
    return MeasuredFile(path, tool, [f"nodes: {', '.join(sorted(nodes))}"], [], findings)
