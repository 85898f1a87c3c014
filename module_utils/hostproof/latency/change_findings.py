# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a comparison of latency before and after a change amounts to, as findings.

``latency.change`` is one series of one host, ``latency.fleet_change`` one figure over all changed
hosts, ``latency.gate`` what became of a change that ran through the gate.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from ..finding import ERROR, FAIL, PASS, SKIP, WARN, Finding, found, worst
from . import fleet, verdict
from .change_checks import CHANGE, FLEET_CHANGE
from .comparing import Figure, FleetVerdict, HostVerdict, SeriesVerdict, another_path
from .losses import Loss
from .verdict import BETTER, INCONCLUSIVE, NO_DIFFERENT, WORSE
from .window import Window

#: A host that the change did not touch tells of the surroundings; it fails nobody's change.
_UNCHANGED = "left unchanged: what happened to it is not the change's doing, but may be the reason"


class Judged(NamedTuple):
    """The findings on one host, and the evidence that they cite (key to reading)."""

    host: str
    findings: List[Finding]
    evidence: Dict[str, Dict[str, Any]]


def judge_host(one, at_before, at_after, unchanged=False, undo=None):
    # type: (HostVerdict, Optional[str], Optional[str], bool, Optional[str]) -> Judged
    """Findings on each series. ``at_before`` and ``at_after`` (UTC) date the evidence.

    ``undo`` is the command that puts the change back, where there is a better one than revert.
    """
    command = undo or "./hostproof revert --limit {0}".format(one.host)
    findings = [
        found(
            CHANGE,
            ERROR,
            why="Whether the change made this host slower is not known.",
            fix="measure again: ./hostproof compare --limit {0}".format(one.host),
            desired="latency before and after the change",
            running="not compared: {0}".format(problem),
        )
        for problem in one.problems
    ]
    findings += [_judge_loss(loss, unchanged, command) for loss in one.lost]
    evidence = {}  # type: Dict[str, Dict[str, Any]]
    for series in one.series:
        keys = _keep(evidence, series, one.remarks, (at_before, at_after))
        findings.append(_judge_series(series, one, keys, unchanged, command))
    if not findings:
        findings.append(
            found(
                CHANGE,
                ERROR,
                why="Whether the change made this host slower is not known.",
                fix="name probes that measure something here: latency_probes",
                desired="latency before and after the change",
                running="no probe gave a window",
            )
        )
    elif not one.problems and not one.measured:
        findings.append(
            found(
                CHANGE,
                ERROR,
                why="Nothing on this host was busy enough to be measured by looking on.",
                fix="name probes that ask by themselves (tcp, disk_read): latency_probes",
                desired="latency before and after the change",
                running="not a single figure could be compared",
            )
        )
    return Judged(one.host, findings, evidence)


def judge_fleet(verdicts, undo=None):
    # type: (Sequence[FleetVerdict], Optional[str]) -> List[Finding]
    """A finding for each figure over all changed hosts."""
    findings = []
    for one in verdicts:
        title = "{0}: {1}".format(one.name, FLEET_CHANGE.title)
        hosts = "{0} changed hosts, less {1} unchanged ones".format(
            one.comparison.hosts, one.comparison.controls or "no"
        )
        interval = one.comparison.interval
        if not one.bounded:
            findings.append(
                found(
                    FLEET_CHANGE,
                    SKIP,
                    title=title,
                    why="Too few hosts for a verdict on all of them: with {0} to be told at once "
                    "it takes {1}{2}.".format(
                        "1 figure" if one.figures == 1 else "{0} figures".format(one.figures),
                        fleet.fewest_hosts(one.comparison.controls, one.figures),
                        _beside(one.comparison.controls),
                    ),
                    running="{0} ({1})".format(percent(interval.ratio), hosts),
                )
            )
            continue
        statuses = {WORSE: FAIL, INCONCLUSIVE: WARN, BETTER: PASS, NO_DIFFERENT: PASS}
        status = statuses[one.comparison.verdict]
        if one.whole is not None and status == FAIL:
            status = WARN
        findings.append(
            found(
                FLEET_CHANGE,
                status,
                title=title,
                why=_part_of(one.whole) if status == WARN else None,
                fix=undo or "./hostproof revert --limit HOSTS",
                desired="not worse",
                running="{0} (95 % interval {1} to {2}) over {3}: {4}".format(
                    percent(interval.ratio),
                    percent(interval.low),
                    percent(interval.high),
                    hosts,
                    one.comparison.verdict,
                ),
            )
        )
    return findings


def _beside(controls):
    # type: (int) -> str
    enough = fleet.ENOUGH_CONTROLS
    if controls:
        return " beside these {0} unchanged ones".format(controls)
    return ", or fewer beside {0} and more that are left unchanged".format(enough)


def _part_of(whole):
    # type: (Optional[str]) -> Optional[str]
    return None if whole is None else "This is a part of {0}, which decides.".format(whole)


def percent(ratio):
    # type: (float) -> str
    """A ratio after / before as people read it: +4.6 %."""
    return "{0:+.1f} %".format((ratio - 1.0) * 100)


def _judge_loss(loss, unchanged, undo):
    # type: (Loss, bool, str) -> Finding
    status = FAIL if loss.worse and not unchanged else WARN
    why = "An answer that never comes is in no figure of those that do."
    if not loss.worse:
        why += " So few may be chance."
    if unchanged:
        why += " This host was {0}.".format(_UNCHANGED)
    return found(
        CHANGE,
        status,
        title="{0}: {1}".format(loss.name, CHANGE.title),
        why=why,
        fix=_fix(status, undo, unchanged),
        desired="no more lost than before",
        running=loss.text,
    )


def _judge_series(one, host, keys, unchanged, undo):
    # type: (SeriesVerdict, HostVerdict, List[str], bool, str) -> Finding
    title = "{0}: {1}".format(one.series.name, CHANGE.title)
    remarks = "; ".join(one.remarks)
    # Said first: it may be all of the difference, or the very change that is tested.
    path = [another_path(one.path)] if one.path else []
    if not one.figures:
        whole = host.whole_of(one)
        if one.problem and whole is None:
            return found(
                CHANGE,
                ERROR,
                title=title,
                why="Whether the change made this slower is not known: {0}.".format(one.problem),
                fix="measure longer, or while there is load: latency_gate_windows, "
                "latency_gate_seconds",
                evidence=keys,
                desired="a figure before and after",
                running="; ".join(path + ["not compared"])
                + (" ({0})".format(remarks) if remarks else ""),
            )
        return found(
            CHANGE,
            SKIP,
            title=title,
            why="Nothing to compare: {0}{1}.".format(
                one.idle or one.problem,
                "" if whole is None else "; {0} tells".format(whole.series.name),
            ),
            evidence=keys,
        )
    part = host.whole_of(one) if one.series.layer == "host" else None
    gone = one.gone if host.whole_of(one) is None else None
    status = worst([_status(figure) for figure in one.figures] + [ERROR] * bool(gone))
    why = None
    if status == FAIL and (unchanged or part is not None):
        status = WARN
        why = _part_of(part.series.name if part else None)
    if unchanged and status != PASS:
        why = "This host was {0}.".format(_UNCHANGED)
    if why is None and status == ERROR:
        why = "Whether the change made this slower is not known: {0}.".format(gone)
    if why is None and status == WARN:
        why = "That the change made this slower can be neither shown nor ruled out."
    sentences = path + [
        "{0} {1}".format(figure.name, verdict.sentence(figure.comparison)) for figure in one.figures
    ]
    if gone:
        sentences.append(gone)
    if remarks:
        sentences.append("to mind: " + remarks)
    return found(
        CHANGE,
        status,
        title=title,
        why=why,
        fix=_fix(status, undo, unchanged),
        evidence=keys,
        desired="not more than {0}".format(
            ", ".join(
                "{0} {1}".format(
                    figure.name, _figure(figure.comparison.before * (1 + figure.comparison.margin))
                )
                for figure in one.figures
            )
        ),
        running="; ".join(sentences),
    )


def _status(figure):
    # type: (Figure) -> str
    if figure.comparison.stable is False or figure.comparison.suspect:
        return WARN
    return {WORSE: FAIL, INCONCLUSIVE: WARN}.get(figure.comparison.verdict, PASS)


def _fix(status, undo, unchanged):
    # type: (str, str, bool) -> str
    if status == FAIL:
        return undo
    if unchanged:
        return "find out what else changed, and compare again"
    if status == ERROR:
        return "measure longer (latency_gate_seconds), or take more samples (latency_probes)"
    return "compare again with more windows (latency_gate_windows), or at a quieter time"


def _figure(microseconds):
    # type: (float) -> str
    return (
        "{0:.0f} us".format(microseconds)
        if microseconds >= 100
        else "{0:.3g} us".format(microseconds)
    )


def _keep(evidence, one, remarks, dates):
    # type: (Dict[str, Dict[str, Any]], SeriesVerdict, List[str], Any) -> List[str]
    """Put the windows of both sides into the evidence; the keys, of those sides that have any."""
    keys = []
    for side, windows, at in (
        ("before", one.before, dates[0]),
        ("after", one.after, dates[1]),
    ):
        if windows:
            key = "windows:{0}:{1}".format(side, one.series.name)
            mine = [remark for remark in remarks if remark.startswith(side + ": ")]
            evidence[key] = reading(windows, mine, at)
            keys.append(key)
    return keys


def reading(windows, remarks, at):
    # type: (Sequence[Window], Sequence[str], Optional[str]) -> Dict[str, Any]
    """A reading of evidence as Host.windows keeps it."""
    return {
        "kind": "windows",
        "at": at,
        "windows": [window.to_json() for window in windows],
        "remarks": list(remarks),
    }
