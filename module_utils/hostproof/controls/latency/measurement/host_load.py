# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs about the load of a host and its connections: mpstat, sar, vmstat, ss and others."""

import re
from typing import Dict, List, Optional

from ....collect.measured import Window
from ....errors import ParseError
from ....parsers.net import socket_info
from ..parsers import charbench, cpu_tables, iostat, ontap_sysconfig, sadf, stack_trace, vmstat
from .host_tool_windows import of_disks
from .median import median
from .readings import Reading, kept, share
from .report import Report, window

_ENTITLED = "of the entitled capacity in use"
#: Peers of which ss shows connections, CPUs, and devices that are told one by one.
_MOST_PEERS = 50


def cpu_readings(subject: str, idle: float, of: str) -> Reading:
    """CPU time in use. The wait for I/O is idle time."""
    return Reading("cpu", subject, "in use", round(100.0 - idle, 2), "%", of)


# -- mpstat and sar -------------------------------------------------------------------------------


def from_cpu_tables(text: str) -> Report:
    """CPUs, swap and lost frames of mpstat and sar; disks of sar -d as windows."""
    rows = cpu_tables.parse(text)
    disks = [row for row in rows if row.table == cpu_tables.DISK]
    report = _of_disks(disks) if disks else None
    return _of_rows("sysstat", rows, report)


def from_sadf(text: str) -> Report:
    """The same figures of sar's JSON."""
    disks, rows = sadf.parse(text)
    report = of_disks("sadf", disks, []) if disks else None
    return _of_rows("sadf", rows, report)


def _of_rows(kind: str, rows: List[cpu_tables.Row], disks: Optional[Report]) -> Report:
    readings = _of_cpus([row for row in rows if row.table == cpu_tables.CPU])
    readings += _of_partition([row.columns for row in rows if row.table == cpu_tables.PARTITION])
    readings += _of_interfaces([row for row in rows if row.table == cpu_tables.INTERFACE])
    readings += _of_swap([row for row in rows if row.table == cpu_tables.SWAP])
    queues = [row.columns["runq-sz"] for row in rows if row.table == cpu_tables.QUEUE]
    if queues:
        of = f"(most of {_intervals(len(queues))})"
        readings.append(Reading("", "host", "runnable processes", max(queues), "", of))
    if not readings and disks is None:
        raise ParseError(
            "output of mpstat or sar",
            "it has no CPUs, disks, swap or lost frames: write it with sadf -j FILE -- -d -u ALL "
            "-W -q -n EDEV",
        )
    figures = dict(disks.figures if disks else {}, readings=kept(readings))
    return Report(kind, disks.windows if disks else [], figures, disks.remarks if disks else [])


def _intervals(count: int) -> str:
    return f"{count} interval{'' if count == 1 else 's'}"


def _by_name(rows: List[cpu_tables.Row]) -> Dict[str, List[Dict[str, float]]]:
    found: Dict[str, List[Dict[str, float]]] = {}
    for row in rows:
        found.setdefault(row.name, []).append(row.columns)
    return found


def _mean(columns: List[Dict[str, float]], *names: str) -> Optional[float]:
    """The mean of the sum of the columns that the table has; None if it has none of them."""
    present = [[each[name] for name in names if name in each] for each in columns]
    sums = [sum(values) for values in present if values]
    return sum(sums) / len(sums) if sums else None


def _of_cpus(rows: List[cpu_tables.Row]) -> List[Reading]:
    cpus = _by_name(rows)
    if not rows:
        return []
    count = max(map(len, cpus.values()))
    of = f"(mean of {_intervals(count)})"
    together = next((cpus.pop(name) for name in ("all", "ALL") if name in cpus), None)
    ones = [columns for each in cpus.values() for columns in each]
    # Solaris and AIX print no row of all CPUs.
    whole = together or ones
    readings: List[Reading] = []
    waits = ("%iowait", "wt", "wa")
    idle = _mean(whole, "%idle", "idl", "id", *waits)
    if any("%ec" in columns for columns in whole):
        # In a shared partition, the times of a logical CPU are shares of what it was granted.
        used = sum(columns.get("%ec", 0.0) for columns in ones) / max(count, 1)
        readings.append(Reading("cpu", "CPUs", _ENTITLED, round(used, 2), "%", of))
    elif idle is not None:
        readings.append(cpu_readings("CPUs", idle, of))
    for words, limit, names in (
        ("waiting for I/O", "", waits),
        ("stolen by the hypervisor", "cpu_stolen", ("%steal",)),
    ):
        value = _mean(whole, *names)
        if value is not None:
            readings.append(Reading(limit, "CPUs", words, round(value, 2), "%", of))
    return readings + _busiest(cpus)


def _of_partition(columns: List[Dict[str, float]]) -> List[Reading]:
    """The CPUs together, as sar -u of AIX, Solaris and HP-UX prints them."""
    of = f"(mean of {_intervals(len(columns))})"
    entitled, idle = _mean(columns, "%entc"), _mean(columns, "%idle", "%wio")
    if entitled is not None:
        return [Reading("cpu", "CPUs", _ENTITLED, round(entitled, 2), "%", of)]
    return [] if idle is None else [cpu_readings("CPUs", idle, of)]


def _busiest(cpus: Dict[str, List[Dict[str, float]]]) -> List[Reading]:
    """The CPU that spends most of its time with interrupts."""
    times = {name: _mean(columns, "%irq", "%soft") for name, columns in cpus.items()}
    present = {name: value for name, value in times.items() if value is not None}
    if not present:
        return []
    name = max(present, key=lambda each: present[each])
    words, value = "in interrupts", round(present[name], 2)
    return [Reading("cpu_interrupts", f"CPU {name}", words, value, "%", "(most of all)")]


def _of_interfaces(rows: List[cpu_tables.Row]) -> List[Reading]:
    readings = []
    for name, columns in _by_name(rows).items():
        lost = _mean(columns, "rxerr/s", "txerr/s", "rxdrop/s", "txdrop/s", "rxfifo/s", "txfifo/s")
        if lost is not None:
            limit, of = "frames_lost_meanwhile", f"(mean of {_intervals(len(columns))})"
            readings.append(Reading(limit, name, "frames lost", round(lost, 3), "a second", of))
    return readings


def _of_swap(rows: List[cpu_tables.Row]) -> List[Reading]:
    if not rows:
        return []
    of = f"(mean of {_intervals(len(rows))})"
    columns = [row.columns for row in rows]
    readings = []
    for words, name in (("pages swapped in", "pswpin/s"), ("pages swapped out", "pswpout/s")):
        value = _mean(columns, name)
        if value is not None:
            readings.append(Reading("swapped", "host", words, round(value, 2), "a second", of))
    return readings


def _of_disks(rows: List[cpu_tables.Row]) -> Report:
    reports: List[List[iostat.Disk]] = [[]]
    for row in rows:
        if any(disk.name == row.name for disk in reports[-1]):
            reports.append([])
        requests = row.columns["tps"]
        latency = row.columns.get("await") if requests else None
        utilisation = row.columns.get("%util")
        reports[-1].append(iostat.Disk(row.name, requests, latency, utilisation))
    return of_disks("sadf", reports, [])


# -- vmstat ---------------------------------------------------------------------------------------


def from_vmstat(text: str) -> Report:
    """CPUs and swap: the mean of the intervals."""
    found = vmstat.parse(text)
    intervals = found.intervals
    remarks = []
    if len(intervals) > 1:
        intervals = intervals[1:]
        remarks.append("the first row, of the time since the last reboot, is left out")
    else:
        remarks.append("a single row may be of the whole time since the last reboot")
    of = f"(mean of {_intervals(len(intervals))})"
    columns = [
        {name: value for name, value in each._asdict().items() if value is not None}
        for each in intervals
    ]
    idle = (_mean(columns, "idle") or 0.0) + (_mean(columns, "wait") or 0.0)
    entitled = _mean(columns, "entitled")
    readings = [cpu_readings("CPUs", idle, of)]
    if entitled is not None:
        readings = [Reading("cpu", "CPUs", _ENTITLED, round(entitled, 2), "%", of)]
    for words, limit, name, unit in (
        ("waiting for I/O", "", "wait", "%"),
        ("stolen by the hypervisor", "cpu_stolen", "stolen", "%"),
        ("swapped in", "swapped", "swapped_in", "pages or KiB a second"),
        ("swapped out", "swapped", "swapped_out", "pages or KiB a second"),
        ("pages scanned", "scanned", "scanned", "a second"),
    ):
        value = _mean(columns, name)
        if value is not None:
            subject = "CPUs" if unit == "%" else "host"
            readings.append(Reading(limit, subject, words, round(value, 2), unit, of))
    most = max(each.runnable for each in intervals)
    cpus = "" if found.cpus is None else f"on {found.cpus} CPUs "
    readings.append(Reading("", "host", "runnable processes", most, "", f"{cpus}(most)"))
    return Report("vmstat", [], {"readings": kept(readings)}, remarks)


# -- ss -------------------------------------------------------------------------------------------

_PORT_NAME = re.compile(r"(?<=\S):([A-Za-z*][\w+*-]{0,40})(?=\s|$)")
#: The states that ss prints: "ESTAB", "FIN-WAIT-1".
_STATE = re.compile(r"^[A-Z]{4,6}(?:-[A-Z0-9]{1,4}){0,2}\s")


def from_sockets(text: str) -> Report:
    """Round trips and retransmissions of connections, by their peer."""
    connections = [one for one in socket_info.parse(_plain(text)) if one.state != "LISTEN"]
    by_peer: Dict[str, List[socket_info.Connection]] = {}
    for connection in connections:
        if connection.rtt_ms is not None:
            by_peer.setdefault(connection.peer, []).append(connection)
    if not by_peer:
        raise ParseError("ss output", "it has no connection with rtt: run ss -tin")
    remarks = []
    peers = sorted(by_peer, key=lambda peer: -max(one.rtt_ms or 0.0 for one in by_peer[peer]))
    if len(peers) > _MOST_PEERS:
        remarks.append(
            f"{len(peers)} peers: the {_MOST_PEERS} with the longest round trip are told"
        )
    windows: List[Window] = []
    readings: List[Reading] = []
    for peer in peers[:_MOST_PEERS]:
        ones = by_peer[peer]
        times = sorted(1000.0 * (one.rtt_ms or 0.0) for one in ones)
        windows.append(
            window(
                "tcp",
                peer,
                "kernel",
                len(times),
                sum(times) / len(times),
                {"tool": "ss", "mode": "passive"},
                minimum=times[0],
                maximum=times[-1],
                p50=median(times),
            )
        )
        readings += _sent_again(peer, ones)
    return Report("ss", windows, {"readings": kept(readings)}, remarks)


def _sent_again(peer: str, ones: List[socket_info.Connection]) -> List[Reading]:
    sent = sum(one.segments_sent or 0 for one in ones)
    again = sum(one.retransmitted for one in ones)
    if not sent and not again:
        return []
    return [share("segments_sent_again", peer, "segments sent again", again, sent, "segments")]


def _plain(text: str) -> str:
    """As ss -tin prints it: without Netid, with State, and ports as numbers."""
    lines = []
    stateless = netid = False
    for line in text.split("\n"):
        if line.startswith(("State", "Netid", "Recv-Q")):
            stateless, netid = line.startswith("Recv-Q"), line.startswith("Netid")
        elif line[:1] in ("", " ", "\t"):
            lines.append(line)
        else:
            line = f"ESTAB {line}" if stateless else line
            if netid:
                line = line.partition(" ")[2].lstrip()
            if _STATE.match(line):
                head, tab, details = line.partition("\t")
                words = head.split(None, 5)
                words[3:5] = [_PORT_NAME.sub(":0", word) for word in words[3:5]]
                lines.append(" ".join(words) + tab + details)
    return "\n".join(lines)


# -- others ---------------------------------------------------------------------------------------


def from_charbench(text: str) -> Report:
    """Transactions of a run of swingbench."""
    run = charbench.parse(text)
    readings = []
    of = f"({run.lines} line{'' if run.lines == 1 else 's'} of the run)" if run.lines else ""
    for words, value, unit in (
        ("transactions", run.tps, "a second"),
        ("transactions", run.tpm, "a minute"),
        ("response time", run.response, "ms"),
        ("completed transactions", run.completed, ""),
    ):
        if value is not None:
            readings.append(Reading("", "charbench", words, round(value, 2), unit, of))
    if run.failed is not None:
        words = "failed transactions"
        readings.append(Reading("failed", "charbench", words, run.failed, ""))
    work = {"TPS": run.tps, "TPM": run.tpm, "response ms": run.response}
    present = {name: value for name, value in work.items() if value is not None}
    return Report("charbench", [], {"readings": kept(readings), "work": present}, [])


def from_sysconfig(text: str) -> Report:
    """The errors of a filer's configuration: one reading with their number."""
    errors = ontap_sysconfig.parse(text)
    of = "({0})".format("; ".join(errors[:5])) if errors else ""
    words = "configuration errors"
    reading = Reading("filer_configuration", "filer", words, float(len(errors)), "", of)
    return Report("sysconfig", [], {"readings": kept([reading])}, [])


#: The functions in which a session reads every page of the SGA.
_WALKS = ("ksmprepage", "ksmprepage_granule")


def from_stack(text: str) -> Report:
    """Whether a process walks the SGA. ParseError for a stack without a function that is known."""
    frames = stack_trace.parse(text)
    walks = [name for name in frames if name in _WALKS]
    oracle = [
        name for name in frames if name.startswith(("opi", "ksm", "ksl", "ksb", "sks", "ssth"))
    ]
    if not walks and not oracle:
        raise ParseError(
            "stack of a process", "it is none of an Oracle process: no function has a known name"
        )
    of = "({0})".format(" < ".join(frames[:6]))
    words = "calls that read every page of the SGA"
    reading = Reading("walks_sga", "stack", words, float(len(walks)), "", of)
    return Report("stack", [], {"readings": kept([reading])}, [])
