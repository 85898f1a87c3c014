# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency that other tools measured, against the limits of the probes of the same kind."""

from typing import Dict, List, Optional

from ...collect.answer import known
from ...collect.measured import Window
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, WARN
from ...latency.probe_list import DISK, NFS, TCP
from . import figures
from .facts import Facts
from .grading import Graded, grade_window, verdict_of
from .policy import NAME, Policy
from .subjects import REPORTS, Probed
from .thresholds import Subject, choose, grade

rules: Rules[Facts, Policy] = Rules(NAME)

#: Tools whose latency has the limit of the probe of the same kind.
_TOOLS = (
    *("oratcptest", "orion", "tcpdump", "ping", "iostat", "sadf", "nfsiostat", "fio"),
    *("mountstats", "ss"),
)
#: A tool does not show the kind of storage.
_ANY_STORAGE = "any"

_FIXES: Dict[str, str] = {
    DISK: "compare with the figures of the array and its paths; a utilisation near 100% is load",
    NFS: "high at the server: check the filer and the network; high in the queue of the host: "
    "check nfs_mounts.slot_tables and the CPUs",
    TCP: "measure again between two hosts of one network segment to find the slow part of the "
    "path; check retransmissions (nstat -az TcpRetransSegs), flow_control, and the load of both "
    "hosts",
}


@rules.check(
    "latency.tool",
    "Latency that a tool measured is within the limits",
    "Latency that a tool measured exceeds the limits",
    severity="high",
    takes_effect="now",
    why="The database waits this long for each block, each redo write or each round trip.",
    reference="iostat(1), sadf(1), nfsiostat(8), ping(8), fio(1), Orion, oratcptest (My Oracle "
    "Support 2064368.1): their figures",
    each=REPORTS,
)
def tool(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """Each device, mount and target of the output."""
    measured = known(subject.answer)
    windows = [window for window in measured.windows if _tool(window) in _TOOLS]
    if not windows:
        raise Skip("It is not the output of a tool whose latency has a limit.", (subject.key,))
    windows = _least_loaded(windows)
    graded: List[Graded] = []
    for window in windows:
        graded += _grade(window, policy)
    probes = {window.probe for window in windows}
    return verdict_of(
        tool.check,
        graded,
        subject.path,
        "; ".join(text for probe, text in _FIXES.items() if probe in probes),
        (subject.key,),
        [remark[:1].upper() + remark[1:] + "." for remark in measured.remarks],
    )


def _tool(window: Window) -> Optional[str]:
    return window.conditions.get("tool")


def _least_loaded(windows: List[Window]) -> List[Window]:
    """Without the points of Orion under more load: they show the load, not the storage."""
    loads = [
        window.conditions.get("small_in_flight") or 0
        for window in windows
        if _tool(window) == "orion" and not window.conditions.get("large_in_flight")
    ]
    return [
        window
        for window in windows
        if _tool(window) != "orion"
        or (
            not window.conditions.get("large_in_flight")
            and (window.conditions.get("small_in_flight") or 0) == min(loads)
        )
    ]


def _grade(window: Window, policy: Policy) -> List[Graded]:
    label = window.subject + (" in the queue" if window.layer == "host" else "")
    label += f" {window.size} bytes" if window.probe == TCP and window.size else ""
    bad = _failed(window, label)
    if window.p50 is None and window.mean is None:
        return bad
    subject = Subject(window.probe, _ANY_STORAGE, window.layer, window.size)
    if window.p50 is not None:
        return bad + grade_window(window, subject, policy.thresholds, label)
    # Only a mean is printed. The limit of the median is its limit, too.
    limit = choose(policy.thresholds, subject, "p50")
    figure = figures.figure_of(window, "mean")
    if limit is None or figure is None:
        return bad + grade_window(window, subject, policy.thresholds, label)
    text = f"{label} {figures.text(figure)} of {figures.count(window)}"
    value = (f"{label} mean_ms", round(figure.value / 1000.0, 4))
    graded = Graded(grade(figure, limit), label, text, limit._replace(figure="mean"), value)
    return [*bad, graded]


def _failed(window: Window, label: str) -> List[Graded]:
    """Requests that got no answer or failed."""
    lost, failed = window.conditions.get("lost"), window.conditions.get("errors")
    graded = []
    if lost:
        status = WARN if window.n else FAIL
        text = "{0} {1} of {2} packets without an answer".format(
            label, lost, window.conditions.get("sent")
        )
        graded.append(Graded(status, label, text, None))
    if failed:
        graded.append(Graded(FAIL, label, f"{label} {failed} requests failed", None))
    return graded
