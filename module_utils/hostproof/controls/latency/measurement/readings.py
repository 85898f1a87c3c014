# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of tools that are no durations: shares, rates and counts, with the limits of each kind.

They are kept in the figures of a report as JSON texts, one each ("reading 3").
"""

import json
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Union

Figures = Dict[str, Union[str, float]]

READING = "reading "
#: Readings of one file that are kept; a filer has some hundred interfaces.
MOST = 1000
#: Fewer requests or frames do not tell a share.
FEWEST_FOR_SHARE = 100


class Reading(NamedTuple):
    """``limit`` is a key of LIMITS, "" for a figure that is only shown.

    ``of`` is the text of what a share is of, or of where the value is from; "" for none.
    """

    limit: str
    subject: str
    words: str
    value: float
    unit: str
    of: str = ""

    def text(self) -> str:
        """The figure with its unit, "eth0 frames lost 3 of 1,234,567"."""
        shown = f"{self.value:,.4g}" if self.value < 1e4 else f"{self.value:,.0f}"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.subject} {self.words} {shown}{unit} {self.of}".strip()


class Limit(NamedTuple):
    """Above ``warn`` is a warning, above ``fail`` a failure; None: nothing fails."""

    warn: float
    fail: Optional[float]
    source: str
    fix: str


_DAWSON = "M. Dawson, Performance Tuning: A Case Study (2% bad, 0.01% good)"
_FRAMES_FIX = (
    "compare speed and flow control of both ends (flow_control.link), receive rings "
    "(flow_control.receive_ring) and the buffers of the switch port"
)
LIMITS: Dict[str, Limit] = {
    "requests_sent_again": Limit(
        0.5,
        2.0,
        "as nfs_mounts_retransmission_warn_percent and nfs_mounts_retransmission_fail_percent; "
        + _DAWSON,
        "read nfs_mounts.retransmissions, which shows whether the network or the server loses them",
    ),
    "segments_sent_again": Limit(
        0.1,
        1.0,
        "as nfs_mounts_tcp_retransmission_warn_percent and "
        "nfs_mounts_tcp_retransmission_fail_percent",
        "check the path to this peer: flow_control.drops of both ends and of the switch",
    ),
    "requests_rejected": Limit(
        0.01,
        None,
        "nfsstat(8), badcalls; limit: Hostproof's own",
        "check security flavours and versions that the clients use (nfsstat -s, badauth, badfmt)",
    ),
    "frames_lost": Limit(0.01, 2.0, _DAWSON, _FRAMES_FIX),
    "frames_lost_meanwhile": Limit(0.0, None, "as flow_control_drops_limit", _FRAMES_FIX),
    "pause_meanwhile": Limit(
        0.0,
        None,
        "as flow_control_pause_frames_limit",
        "reduce the load of the end that sends PAUSE: tx is this host, rx the switch or a device "
        "behind it",
    ),
    "cpu": Limit(
        80.0,
        None,
        "J. Wartak, AIX disk I/O pacing vs PowerHA, 2011 (more than 80%)",
        "give the host more CPUs or less to do (io_pacing.cpu_headroom)",
    ),
    "cpu_interrupts": Limit(
        80.0,
        None,
        "kernel Documentation/networking/scaling.rst; limit: as the CPUs together",
        "divide the interrupts of the network adapter between several CPUs (irqbalance, RSS)",
    ),
    "cpu_stolen": Limit(
        2.0,
        None,
        "proc(5), steal; limit: Hostproof's own",
        "give the virtual machine its own CPUs, or move it",
    ),
    "swapped": Limit(
        0.0,
        None,
        "vmstat(8), si and so; Oracle Database Installation Guide, memory requirements",
        "reduce SGA, PGA or other processes until they fit in memory (memory_pressure.swapped)",
    ),
    "scanned": Limit(
        200.0,
        None,
        "A. Cockcroft, Sun Performance and Tuning, scan rate",
        "reduce SGA, PGA or other processes until they fit in memory",
    ),
    "failed": Limit(
        0.0,
        None,
        "swingbench, failed transactions",
        "find the errors of the sessions in the alert log and in debug.log of swingbench",
    ),
    "filer_configuration": Limit(
        0.0,
        None,
        "na_sysconfig(1); M. Dawson, Performance Tuning: A Case Study (unsupported slots)",
        "move the card to a slot that NetApp's System Configuration Guide lists, in a maintenance "
        "window",
    ),
    "walks_sga": Limit(
        0.0,
        None,
        "M. Przepiorowski, Oracle and HugePages, 2012 (ksmprepage in a logon)",
        "set pre_page_sga to false, or the SGA into huge pages (pre_page_sga.value, "
        "pre_page_sga.logon_time)",
    ),
}


def share(limit: str, subject: str, words: str, lost: float, count: float, what: str) -> Reading:
    """A share in percent; only shown where ``count`` is too small for one."""
    percent = 100.0 * lost / count if count else 0.0
    few = "" if count >= FEWEST_FOR_SHARE else ", too few to tell"
    of = f"({lost:,.0f} of {count:,.0f} {what}{few})"
    return Reading("" if few else limit, subject, words, round(percent, 4), "%", of)


def kept(readings: Iterable[Reading]) -> List[List[Union[str, float]]]:
    """The readings as figures of a report, which are JSON."""
    return [list(reading) for reading in list(readings)[:MOST]]


def readings_in(report_figures: Dict[str, Any]) -> List[Reading]:
    """The readings that ``kept`` put into the figures of a report."""
    return [Reading(*reading) for reading in report_figures.get("readings", [])]


def figures(report_figures: Dict[str, Any]) -> Figures:
    """The readings as figures of a measurement, a text each."""
    return {
        f"{READING}{number}": json.dumps(list(reading))
        for number, reading in enumerate(readings_in(report_figures), 1)
    }


def readings_of(values: Optional[Figures]) -> List[Reading]:
    """What ``figures`` kept. A damaged one is left out, as the text of a host may be."""
    found: List[Reading] = []
    for name, value in (values or {}).items():
        if name.startswith(READING) and isinstance(value, str):
            limit, subject, words, number, unit, of = json.loads(value)
            found.append(Reading(limit, subject, words, float(number), unit, of))
    return found
