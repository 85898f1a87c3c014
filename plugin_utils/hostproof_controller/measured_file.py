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
from ansible.module_utils.hostproof.controls.latency.measurement import readings, reports, work
from ansible.module_utils.hostproof.controls.latency.measurement.report import Report
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
    "sadf": "figures of sar (sadf -j)",
    "sysstat": "output of mpstat or sar",
    "vmstat": "output of vmstat",
    "nfsstat": "output of nfsstat",
    "mountstats": "counters of NFS mounts (/proc/self/mountstats)",
    "ss": "output of ss -ti",
    "ethtool_statistics": "output of ethtool -S",
    "switch_counters": "counters of switch ports",
    "ifstat": "output of ifstat of a filer",
    "sysconfig": "output of sysconfig -c of a filer",
    "filer": "output of a filer",
    "charbench": "output of charbench (Swingbench)",
    "stack": "stack of a process (pstack)",
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
_FILER = re.compile(
    r"^(?:\S{0,80}> ?(?:vol options|df|volume show|storage aggregate show)\b"
    r"|(?:Aggregate|Filesystem)[ \t]+(?:total|kbytes)[ \t]+used[ \t]+avail[ \t]+capacity"
    r"|Vserver[ \t]+Volume[ \t]+Aggregate[ \t])",
    re.MULTILINE,
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
    if not reports.recognised(text):
        for kind, sign in (("cvu", _CVU), ("orachk", _ORACHK), ("filer", _FILER)):
            if sign.search(text):
                if before is not None:
                    raise HostproofError(
                        f"it is {TITLES[kind]}, which is not compared: leave out --before"
                    )
                return _of_filer(path) if kind == "filer" else _foreign(path, kind, text)
    try:
        report = reports.read(text, before=None if before is None else _earlier(before, text))
    except ParseError as problem:
        if reports.KNOWN not in str(problem):
            raise
        hint = next((words for sign, words in _HINTS if sign.search(text)), None)
        if hint is not None:
            raise UnknownFormat(hint) from None
        known = f"{reports.KNOWN}; df and vol options of a filer, CVU, ORAchk"
        raise UnknownFormat(f"its format is not known; known are {known}") from None
    return MeasuredFile(
        path, report.kind, figures_of(report), report.remarks, _findings(path, before)
    )


#: Outputs in another form than the one that is read, and what to do.
_HINTS = (
    (
        re.compile(r"^fio-\d|^ +(?:lat|clat) \((?:nsec|usec|msec)\):", re.MULTILINE),
        "it is the text of fio: run fio with --output-format=json",
    ),
    (
        re.compile(r"^Device:?\s+tps\s", re.MULTILINE),
        "it is iostat without the time of requests: run iostat -x",
    ),
    (
        re.compile(r"^(?:Netid|State)\s.{0,80}Recv-Q\s+Send-Q\s", re.MULTILINE),
        "it is ss without round trips: run ss -tin",
    ),
    (
        re.compile(r"\btps\s+rtps\s+wtps\b"),
        "it is sar -b, which has no times of requests: run sar -d",
    ),
    (
        re.compile(r"^disk-? -+reads-+ ", re.MULTILINE),
        "it is vmstat -d, which has no CPUs: run vmstat 5 3 or iostat -x",
    ),
)


def _earlier(before: str, text: str) -> str:
    """The text of the file before; HostproofError if it is of another kind."""
    earlier = _text(before)
    kinds = [reports.recognised(each)[:1] for each in (earlier, text)]
    if kinds[0] != kinds[1]:
        first = TITLES[kinds[0][0]] if kinds[0] else "of an unknown format"
        raise HostproofError(f"the file before is another kind: it is {first}")
    return earlier


def kind_of(path: str) -> str | None:
    """The format of a latency report or of the output of a tool; None for all others."""
    kinds = reports.recognised(_text(path)) if path.isprintable() else []
    return kinds[0] if kinds else None


def figures_of(report: Report) -> list[str]:
    """The figures of a report as lines."""
    lines = [_line(window) for window in report.windows]
    lines += [reading.text() for reading in readings.readings_in(report.figures)]
    if lines:
        return lines
    lines = [
        f"{name.removeprefix(prefix)} {value if isinstance(value, str) else f'{value:,.6g}'}"
        for prefix in (work.TOOL, work.TRAFFIC, "")
        for name, value in work.figures(report).items()
        if name.startswith(prefix or (work.RUN, work.INSTANCE))
    ]
    return lines + [
        f"schema {entry['schema']}: {entry['elapsed_seconds']:g} s, {entry['cpu_percent']:g}% CPU"
        for entry in report.figures.get("schemas", [])
    ]


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


def _of_filer(path: str) -> MeasuredFile:
    """The findings of storage_type that come from this file."""
    values = {
        name: value for name, value in constants_of("storage_type").items() if name not in OF_TASKS
    }
    output = {"file": path, "address": "filer"}
    values.update(console_files=[output], query_nfs_servers=False, window_seconds=0)
    findings = [
        finding.as_dict()
        for finding in audit.judge_host(LiveHost(), {"storage_type": values})
        if finding.status != SKIP and any(path in key for key in finding.evidence)
    ]
    lines = [f"{each['check']}: {each['running']}" for each in findings if each["running"]]
    return MeasuredFile(path, "filer", lines, [], findings)


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
