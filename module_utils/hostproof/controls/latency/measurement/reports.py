# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which report a text is, and what it shows of latency."""

import re
from typing import List, Optional, Pattern, Tuple

from ....errors import ParseError
from ..parsers import report_html
from . import counted, database_windows, host_load, host_tool_windows, tool_windows
from .report import Report

_WHAT = "latency report"

#: The table of several instances, whose title alone a piece may begin with.
_AWR_GLOBAL = re.compile(
    r"^[ \t]*WORKLOAD REPOSITORY REPORT \(RAC\)|^\f?Top Timed Events\b"
    r"|^\f?System Statistics - Per Second\b",
    re.MULTILINE,
)
_STATSPACK = re.compile(
    r"^\f?STATSPACK |^\f?Wait Events \(fg and bg\)|^Event +Waits +Time \(s\) +\(ms\) +Time$"
    r"|^Event +Waits +Time \(s\) +Ela Time$|^\f?(?:Background )?Wait Events for DB:"
    r"|^Event +Waits +Timeouts +Time \(s\) +\(ms\) +/txn$",
    re.MULTILINE,
)
_AWR = re.compile(
    r"^[ \t]*WORKLOAD REPOSITORY |^\f?Top \d+ (?:Timed|Foreground) "
    r"|^\f?(?:Fore|Back)ground Wait Events|^\f?Wait Events? |^Event +Waits +Time"
    r"|^Statistic +Total +per Second|<title>AWR",
    re.MULTILINE | re.IGNORECASE,
)

#: Name, pattern and title of each kind of report. Unambiguous patterns are first.
_SIGNS: Tuple[Tuple[str, Pattern[str]], ...] = (
    (
        "iolstats",
        re.compile(r"^[ \t]*IO length \(bytes\):|iosize-latency distribution", re.MULTILINE),
    ),
    ("devio_stats", re.compile(r"^[ \t]*\[IOSTAT\] (?:Dump|Device) ", re.MULTILINE)),
    ("oratcptest", re.compile(r"^[ \t]*\[Requesting a test\]|Mbytes/s\s+[\d.]+ ms$", re.MULTILINE)),
    (
        "orion",
        re.compile(r"(?:^|:)M(?:axi|ini)mum (?:Large|Small) (?:MBPS|IOPS|Latency)=", re.MULTILINE),
    ),
    ("tcpdump", re.compile(r"^\d\d:\d\d:\d\d\.\d{6} IP6? \S+ > \S+: Flags \[", re.MULTILINE)),
    (
        "tcpstat",
        re.compile(r"^Packet/s=[\d.]+\s+min size: |^Time:\d+\s+n=\d+\s+avg=", re.MULTILINE),
    ),
    ("apachebench", re.compile(r"^Time per request:", re.MULTILINE)),
    (
        "ping",
        re.compile(
            r"^\d+ packets tra(?:ns)?mitted, \d+ (?:packets )?received|^H?PING \S", re.MULTILINE
        ),
    ),
    ("nfsiostat", re.compile(r"^(?:read|write):\s+ops/s\b.*\bavg RTT \(ms\)", re.MULTILINE)),
    (
        "iostat",
        re.compile(
            r"^Device:?\s.*\br/s\s|^[ \t]*(?:device[ \t]+)?r/s[ \t]+w/s[ \t]+kr/s[ \t].*svc_t",
            re.MULTILINE,
        ),
    ),
    ("nfsstat", re.compile(r"^[ \t]*(?:Client|Server) rpc(?: stats)?:?\s*$", re.MULTILINE)),
    (
        "mountstats",
        re.compile(r"^device \S{1,1000} mounted on /\S{0,1000} with fstype nfs", re.MULTILINE),
    ),
    ("ifstat", re.compile(r"^-- interface[ \t]+\S", re.MULTILINE)),
    ("sysconfig", re.compile(r"^sysconfig: ", re.MULTILINE)),
    (
        "switch_counters",
        re.compile(
            r"^(?:Port|MAC)[ \t].{0,200}[ \t]"
            r"(?:Rcv-Unicast|In-Discards?|Out-Discards?|OutDiscards|Xmit-Err)\b",
            re.MULTILINE,
        ),
    ),
    (
        "ethtool_statistics",
        re.compile(
            r"^(?:NIC statistics|Standard stats for \S+):|^\[ *\{\s*\"ifname\"", re.MULTILINE
        ),
    ),
    (
        "vmstat",
        re.compile(r"^[ \t]*r[ \t]+b[ \t].{0,200}[ \t]us[ \t]+sy[ \t]+(?:id|wa)\b", re.MULTILINE),
    ),
    (
        "sysstat",
        re.compile(
            r"(?:^|[ \t])(?:CPU[ \t].{0,200}(?:%idle|[ \t]idl)\b|cpu[ \t]+min[ \t].{0,99}[ \t]id\b"
            r"|IFACE[ \t].{0,200}rxdrop/s|DEV[ \t]+tps\b|pswpin/s\b|runq-sz\b"
            r"|%usr[ \t]{1,9}%sys[ \t]{1,9}%wio\b)",
            re.MULTILINE,
        ),
    ),
    (
        "charbench",
        re.compile(
            r"^(?:Author[ \t]*:[ \t]*Dominic Giles|Time[ \t].{0,99}[ \t]TP[SM]\b)"
            r"|Results of Charbench Run|<AverageTransactionsPerSecond>",
            re.MULTILINE,
        ),
    ),
    ("ss", re.compile(r"[ \t]rto:[\d.]{1,12} .{0,40}\brtt:[\d.]{1,12}/[\d.]{1,12}", re.MULTILINE)),
    (
        "stack",
        re.compile(r"^#0[ \t]+\S|^[ \t]{0,8}[0-9a-f]{8,16}[ \t]+\w{1,200} ?[(+]", re.MULTILINE),
    ),
    ("sadf", re.compile(r"\A\s*\{\s*\"sysstat\"\s*:")),
    ("fio", re.compile(r"^[ \t]*\"fio version\"[ \t]*:", re.MULTILINE)),
    ("slob_awr_info", re.compile(r"\A\s*FILE\|SESSIONS\|")),
    ("slob_db_stats", re.compile(r"\A\s*\d+\|\d+\|\d+\|[\d.]+\|\s*$", re.MULTILINE)),
    ("slob_grep", re.compile(r"\A\s*[^\s:]*awr[^\s:]*:.")),
    ("awr_global", _AWR_GLOBAL),
    ("statspack", _STATSPACK),
    ("awr", _AWR),
)

#: The known formats, for the message about another one.
KNOWN = (
    "AWR, Statspack, SLOB, Orion, oratcptest, ApacheBench, charbench, tcpdump, tcpstat, iolstats, "
    "devio_stats, pstack; iostat -x, mpstat, vmstat, sar, sadf -j, nfsstat, nfsiostat, "
    "/proc/self/mountstats, ss -ti, ethtool -S, ping, hping, fio (JSON); ifstat -a and "
    "sysconfig -c of a filer, counters of switch ports"
)

KINDS = tuple(kind for kind, _ in _SIGNS)

_TOOLS = {
    "iolstats": tool_windows.from_iolstats,
    "devio_stats": tool_windows.from_devio_stats,
    "oratcptest": tool_windows.from_oratcptest,
    "orion": tool_windows.from_orion,
    "apachebench": tool_windows.from_apachebench,
    "tcpdump": tool_windows.from_tcpdump,
    "tcpstat": tool_windows.from_tcpstat,
    "ping": host_tool_windows.from_ping,
    "nfsiostat": host_tool_windows.from_nfsiostat,
    "iostat": host_tool_windows.from_iostat,
    "sadf": host_load.from_sadf,
    "fio": host_tool_windows.from_fio,
    "sysstat": host_load.from_cpu_tables,
    "vmstat": host_load.from_vmstat,
    "ss": host_load.from_sockets,
    "charbench": host_load.from_charbench,
    "sysconfig": host_load.from_sysconfig,
    "stack": host_load.from_stack,
    "slob_awr_info": tool_windows.from_slob_info,
    "slob_db_stats": tool_windows.from_slob_db_stats,
    "slob_grep": tool_windows.from_slob_grep,
}
_DATABASES = {
    "awr": database_windows.from_awr,
    "awr_global": database_windows.from_awr_global,
    "statspack": database_windows.from_statspack,
}


#: The title of a report; several in one file are several runs.
_TITLE = re.compile(r"^[ \t]*WORKLOAD REPOSITORY (?:PDB )?report for\b", re.MULTILINE)


def _runs(text: str) -> List[str]:
    """The whole reports of a file that holds several, each from its title on; else [].

    A report that is cut off or there twice is left to the parser, which reports it.
    """
    begins = [match.start() for match in _TITLE.finditer(text)]
    if len(begins) < 2:
        return []
    runs = [text[begin:end] for begin, end in zip(begins, begins[1:] + [len(text)])]
    whole = all("End of Report" in run for run in runs)
    return runs if whole and len({run.strip() for run in runs}) == len(runs) else []


def _together(runs: List[Report]) -> Report:
    """Several reports of one kind as one: each run has its windows, and its load."""
    windows = [
        window._replace(conditions=dict(window.conditions, run=number))
        for number, run in enumerate(runs, 1)
        for window in run.windows
    ]
    figures = dict(runs[-1].figures)
    figures["loads_per_second"] = [run.figures.get("load_per_second") or {} for run in runs]
    figures["events"] = [event for run in runs for event in run.figures["events"]]
    remarks = [
        f"run {number}: {remark}" for number, run in enumerate(runs, 1) for remark in run.remarks
    ]
    return Report(runs[0].kind, windows, figures, remarks)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").lstrip("\ufeff")


def _as_text(text: str) -> str:
    """The lines of the report. ParseError without lines, or if it is not a text."""
    text = _lines(text)
    if not text.strip():
        raise ParseError(_WHAT, "it is empty")
    if "\0" in text:
        raise ParseError(_WHAT, "it is not text: write it as plain text in UTF-8")
    if not report_html.is_html(text):
        return text
    text = report_html.as_text(text)
    if not text.strip():
        raise ParseError(_WHAT, "it is HTML without a table of an AWR report")
    return text


def recognised(text: str) -> List[str]:
    """Every kind whose signs the text has, the surest first; none for a foreign text."""
    return [kind for kind, sign in _SIGNS if sign.search(text)]


def _earlier(kind: str, before: Optional[str]) -> Optional[str]:
    """The lines of the earlier output; None without one. ParseError if it is of another kind."""
    earlier = None if before is None else _lines(before)
    if earlier is not None and kind not in recognised(earlier):
        raise ParseError(_WHAT, f"what was before is not an output of the same kind ({kind})")
    return earlier


def read(
    text: str,
    kind: Optional[str] = None,
    release: Optional[str] = None,
    multitenant: Optional[bool] = None,
    before: Optional[str] = None,
) -> Report:
    """The report as windows. ParseError for a foreign, scrambled or cut off one.

    ``kind`` is one of KINDS, or None to find out. ``release`` ("19.0.0.0.0") and ``multitenant``
    count where the text does not tell them. ``before`` is an earlier output of the same tool: of a
    tool that counts, the report is what was counted since.
    """
    text = _as_text(text)
    kinds = recognised(text) if kind is None else [kind]
    if not kinds:
        raise ParseError(_WHAT, f"it is none of {KNOWN}")
    chosen = kinds[0]
    pieces = _runs(text) if chosen == "awr" else []
    if len(pieces) > 1:
        report = _together([read(piece, chosen, release, multitenant) for piece in pieces])
    elif chosen in counted.KINDS:
        report = counted.read(chosen, text, _earlier(chosen, before))
    elif chosen in _TOOLS:
        report = _TOOLS[chosen](text)
    else:
        report = _DATABASES[chosen](text, release, multitenant)
    for other in kinds[1:]:
        if other in ("iolstats", "devio_stats"):
            # A cell writes its dumps into one trace file.
            report.remarks.append(f"the text also holds {other}: select it with kind")
    return report
