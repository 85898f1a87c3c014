# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of a database: logical reads and read requests per second, by run or by instance.

They are kept as figures by name: "run 3 logical", "before run 3 logical", "instance 2 logical".
"""

import math
from collections import Counter
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from . import readings
from .report import DATABASE_KINDS, Report

Figures = Dict[str, Union[str, float]]

RUN, INSTANCE, BEFORE, SETTING = "run ", "instance ", "before ", "slob.conf "

#: Maximum number of runs of a series, and of instances of a cluster.
MOST = 500

#: Minimum number of runs on each side to detect a change of a few percent: equal runs differed by
#: 2 to 3% (SLOB, 11.2.0.2, 40 runs).
FEWEST_RUNS = 5

_LOGICAL = ("Logical reads", "Logical read")
_READS = ("Read IO requests", "Physical reads", "Physical read")

#: Student's t for 97.5%, by degrees of freedom since 1; above, that of the last one.
_T = """12.71 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131
2.120 2.110 2.101 2.093 2.086"""


#: Stands behind an instance for its name, and before hidden parameters and figures of tools.
KNOWN_AS, PARAMETER, TOOL, TRAFFIC = "name", "parameter ", "tool ", "traffic "
FLASH_HITS, ALL_READS = "cell flash cache read hits", "physical read total IO requests"
#: Suffix of the names of figures for which a lower value is better.
LESS_IS_BETTER = "ms"
#: Stands before the unit of a figure that shows load, which is neither better nor worse.
NEUTRAL = "~"
#: Tools that show the load of the host: their figures depend on it.
WATCHING = ("iostat", "sadf", "sysstat", "vmstat", "nfsiostat", "ss", *DATABASE_KINDS)
#: Tools whose windows are compared by their subjects.
COMPARED = (*WATCHING, "ping", "fio", "tcpdump")
#: Percentiles that ApacheBench prints in whole milliseconds: less than two apart can be rounding.
IN_WHOLE_MS = " % served within ms"
#: The wait events by which two reports of a database are compared.
_TIMED_EVENTS = (
    *("db file sequential read", "cell single block physical rea"),
    *("log file sync", "log file parallel write"),
)
_SERVED = ("50", "90", "95", "98", "99")


class Run(NamedTuple):
    """Work per second. None: not in the report. ``sessions`` is None if the report has no count.

    ``cpus`` is the number of CPUs that the database used, ``wait_us`` the time of a single-block
    read.
    """

    name: str
    sessions: Optional[float]
    logical: Optional[float]
    reads: Optional[float]
    cpus: Optional[float] = None
    wait_us: Optional[float] = None


#: The events that a single-block read waits for; reports cut them off.
_SINGLE_READS = ("db file sequential read", "cell single block physical rea")


class Change(NamedTuple):
    """The change in percent of the value before, with its 95% interval."""

    percent: float
    low: float
    high: float


def figures(report: Report, prefix: str = "") -> Figures:
    """What a report shows of the work done; nothing where it shows none."""
    values: Figures = {}
    for run in list(_runs(report))[:MOST]:
        for name in _KEPT:
            value = getattr(run, name)
            if value is not None:
                values[f"{prefix}{run.name} {name}"] = float(value)
    for instance in report.figures.get("instances", [])[:MOST]:
        values["{0}{1}{2} {3}".format(prefix, INSTANCE, instance["number"], KNOWN_AS)] = instance[
            "name"
        ]
    for name, value in report.figures.get("traffic", {}).items():
        values[f"{prefix}{TRAFFIC}{name}"] = value
    for name, value in _of_tools(report):
        values[f"{prefix}{TOOL}{name}"] = value
    return values


_KEPT = ("sessions", "logical", "reads", "cpus", "wait_us")


def _of_tools(report: Report) -> Iterator[Tuple[str, float]]:
    """The figures of a tool by which two outputs of it are compared."""
    if report.kind == "orion":
        yield from _of_orion(report.figures["runs"])
    elif report.kind == "apachebench":
        yield from _of_apachebench(report)
    elif report.kind == "oratcptest":
        yield from _of_oratcptest(report.figures["tests"])
    elif report.kind == "charbench":
        yield from report.figures["work"].items()
    elif report.kind in COMPARED:
        yield from _of_windows(report)


def _of_orion(runs: List[Dict[str, Any]]) -> Iterator[Tuple[str, float]]:
    for run in runs[:1]:
        for name, words, scale in (
            ("large_mbps", "large MB/s", 1.0),
            ("small_iops", "small IOPS", 1.0),
            ("small_latency_us", "small latency ms", 1e-3),
        ):
            if run[name] is not None:
                yield words, run[name]["value"] * scale


def _of_apachebench(report: Report) -> Iterator[Tuple[str, float]]:
    if report.figures["requests_per_second"] is not None:
        yield "requests/s", float(report.figures["requests_per_second"])
    for window in report.windows:
        if window.mean is not None:
            yield "time per request ms", window.mean / 1000.0
    for share in _SERVED:
        if share in report.figures["served_us"]:
            yield f"{share}{IN_WHOLE_MS}", report.figures["served_us"][share] / 1000.0


def _of_windows(report: Report) -> Iterator[Tuple[str, float]]:
    """The durations and readings of a tool that is no benchmark, and the main wait events."""
    for entry in report.windows[:MOST]:
        value = entry.mean if entry.p50 is None else entry.p50
        if report.kind in DATABASE_KINDS and not entry.subject.startswith(_TIMED_EVENTS):
            continue
        if value is not None:
            # The target of one ping may have another name after the change.
            name = entry.subject
            if report.kind == "ping" and len(report.windows) == 1:
                name = "round trip"
            words = " in the queue" if entry.layer == "host" else ""
            yield f"{name}{words} {LESS_IS_BETTER}", value / 1000.0
    for reading in readings.readings_in(report.figures)[:MOST]:
        yield f"{reading.subject} {reading.words} {NEUTRAL}{reading.unit}", reading.value


def _of_oratcptest(tests: List[Dict[str, Any]]) -> Iterator[Tuple[str, float]]:
    """The mean of the tests of one mode, payload and number of connections."""
    several: Dict[str, List[float]] = {}
    for test in tests:
        words = "({payload_bytes} bytes, connections: {connections})".format(**test)
        if test["mode"] == "SYNC" and test["latency_us"] is not None:
            several.setdefault(f"round trip {words} ms", []).append(test["latency_us"] / 1000.0)
        elif test["mode"] != "SYNC":
            rate = test["throughput_bytes_per_second"] / 1024.0 / 1024.0
            several.setdefault(f"throughput {words} Mbytes/s", []).append(rate)
    for name, values in several.items():
        yield name, sum(values) / len(values)


def tool_figures(values: Figures, prefix: str = "") -> Dict[str, float]:
    """The figures of a tool by name."""
    begin = prefix + TOOL
    return {
        name[len(begin) :]: value
        for name, value in values.items()
        if name.startswith(begin) and isinstance(value, (int, float))
    }


def _runs(report: Report) -> Iterator[Run]:
    reported = report.figures
    if report.kind == "slob_awr_info":
        yield from _runs_of_info(reported["reports"])
    elif report.kind == "slob_grep":
        waits = [
            {"file": window.conditions["file"], "name": window.subject, "per_second": window.mean}
            for window in report.windows
            if window.subject.startswith(_SINGLE_READS)
        ]
        yield from _runs_of_grep(reported["rates"], waits)
    elif report.kind == "awr_global":
        for name, rates in sorted(reported["rates"].items()):
            if str(name).isdecimal():
                logical, reads = rates.get("Logical Reads/s"), rates.get("Physical Reads/s")
                yield Run(f"{INSTANCE}{name}", None, logical, reads)
    else:
        loads = reported.get("loads_per_second") or [reported.get("load_per_second") or {}]
        for number, load in enumerate(loads, 1):
            if any(name in load for name in _LOGICAL):
                yield _run(number, None, _first(load, _LOGICAL), _first(load, _READS))


def _run(number: int, sessions: Any, logical: Any, reads: Any) -> Run:
    return Run(f"{RUN}{number}", sessions, logical, reads)


def _runs_of_info(reports: List[Dict[str, Any]]) -> Iterator[Run]:
    for number, entry in enumerate(reports, 1):
        counted = entry["figures"]
        run = _run(number, entry["slob_sessions"], counted.get("LIO"), counted.get("PREADS"))
        # DB CPU is a rate of the load profile: seconds of CPU a second.
        yield run._replace(
            cpus=counted.get("DB CPU"), wait_us=entry["latencies_us"].get(_SINGLE_READS[0])
        )


def _runs_of_grep(rates: List[Dict[str, Any]], waits: List[Dict[str, Any]]) -> Iterator[Run]:
    by_report: Dict[_Report, Dict[str, Any]] = {}
    for key, rate in _by_report(rates):
        of_report = by_report.setdefault(key, {"sessions": rate["slob_sessions"]})
        of_report[rate["name"]] = rate["per_second"]
    wait_of = {key: wait["per_second"] for key, wait in _by_report(waits)}
    different: List[Tuple[str, Dict[str, Any]]] = []
    for key, of_report in by_report.items():
        if (key[0], of_report) in different:
            # grep read the same report twice.
            continue
        different.append((key[0], of_report))
        logical, reads = _first(of_report, _LOGICAL), _first(of_report, _READS)
        if logical is not None or reads is not None:
            run = _run(len(different), of_report["sessions"], logical, reads)
            yield run._replace(wait_us=wait_of.get(key))


#: The file name of a report, and its number among the reports with this name.
_Report = Tuple[str, int]


def _by_report(lines: List[Dict[str, Any]]) -> Iterator[Tuple[_Report, Dict[str, Any]]]:
    """Each line with its report. Reports of several directories can have the same file name: a
    line that repeats is of the next report."""
    counts: Dict[Tuple[str, str], int] = Counter()
    for row in lines:
        place = (str(row["file"]), str(row["name"]))
        counts[place] += 1
        yield (place[0], counts[place]), row


def _first(values: Dict[str, Any], names: Tuple[str, ...]) -> Optional[float]:
    return next((values[name] for name in names if name in values), None)


def runs_of(values: Figures, kind: str, prefix: str = "") -> List[Run]:
    """The runs, or the instances, that ``figures`` kept, in their order."""
    by_number: Dict[int, Dict[str, float]] = {}
    for name, value in values.items():
        if name.startswith(prefix + kind) and isinstance(value, (int, float)):
            number, _, what = name[len(prefix + kind) :].partition(" ")
            if number.isdecimal():
                by_number.setdefault(int(number), {})[what] = value
    return [
        Run(f"{kind}{number}", *(counts.get(name) for name in _KEPT))
        for number, counts in sorted(by_number.items())
    ]


def change(before: List[float], after: List[float]) -> Change:
    """By Welch's interval, relative to the mean before; both sides have FEWEST_RUNS or more."""
    means = [sum(side) / len(side) for side in (before, after)]
    errors = [
        sum((value - mean) ** 2 for value in side) / (len(side) - 1) / len(side)
        for side, mean in zip((before, after), means)
    ]
    total = sum(errors)
    freedom = 1.0
    if total:
        # Welch and Satterthwaite; rounded down, which makes the interval wider.
        sizes = (len(before), len(after))
        freedom = total**2 / sum(error**2 / (size - 1) for error, size in zip(errors, sizes))
    quantiles = [float(word) for word in _T.split()]
    t = quantiles[min(int(freedom), len(quantiles)) - 1]
    half = t * math.sqrt(total)
    differs = means[1] - means[0]
    shares = [
        round(100.0 * value / means[0], 3) for value in (differs, differs - half, differs + half)
    ]
    return Change(*shares)
