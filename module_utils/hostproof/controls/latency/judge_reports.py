# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the reports that the policy names: AWR, Statspack and what tools print."""

from typing import List, Optional, Tuple

from ...errors import HostproofError, Unanswered
from ...finding import ERROR, PASS, SKIP, WARN, Check, Finding, found
from ...latency.probe_list import REPORT, Probe
from ...latency.report import LOG_WRITE
from ...latency.window import Measured, Window
from . import checks, figures
from .facts import EVIDENCE, Facts
from .grading import Graded, finding_of, grade_window, unknown
from .policy import Policy
from .thresholds import Subject

#: How windows mark the waits of background processes, where both wait for an event.
_BACKGROUND = " (background)"


def judge_database(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each report: its wait events that have a limit, or that were asked for."""
    check = checks.DATABASE
    probes = _probes(policy)
    if not probes:
        return [found(check, SKIP, why="latency_probes names no report.")]
    findings = []
    for probe in probes:
        measured = facts.reports[probe.name]
        key, path = EVIDENCE + probe.name, probe.options["path"]
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, path, (key,)))
        else:
            findings.append(_judge_report(check, probe, measured, policy))
    return findings


def _judge_report(check, probe, measured, policy):
    # type: (Check, Probe, Measured, Policy) -> Finding
    key, path = EVIDENCE + probe.name, probe.options["path"]
    graded = []  # type: List[Graded]
    asked = probe.options["events"]
    for window in _events(measured):
        name = window.subject
        wanted = asked is None or name.startswith(tuple(asked))
        if not wanted or window.conditions.get("io_latency", "yes") != "yes":
            continue
        event = _event(window, policy)
        subject = Subject(REPORT, "any", "database", None, event)
        ones = grade_window(window, subject, policy.thresholds, name)
        graded += [one for one in ones if one.limit is not None or asked is not None]
    for event in asked or ():
        if not any(window.subject.startswith(event) for window in _events(measured)):
            graded.append(Graded(ERROR, event, "the report has no event {0!r}".format(event), None))
    if not graded:
        told = [window.subject for window in _events(measured)][:5]
        why = "It has no wait event with a limit{0}.".format(
            "" if not told else " (it has {0})".format(", ".join(told))
        )
        if not measured.windows:
            return unknown(check, Unanswered(key, "the report tells no latency"), path, (key,))
        return found(
            check,
            SKIP,
            why=why,
            title="{0}: {1}".format(path, check.title),
            in_use=_others(measured),
            evidence=(key,),
        )
    return finding_of(
        check,
        graded,
        path,
        "find who is late: storage (latency.disk), the log (redo on its own disk, fewer commits), "
        "the network to a standby (latency.tcp) or CPUs",
        (key,),
        [remark for remark in measured.remarks if not _is_of_log_write(remark)],
    )


def _event(window, policy):
    # type: (Window, Policy) -> str
    """The event as limits name it: reports cut long names, and mark those of the background."""
    name = window.subject
    plain = name[: -len(_BACKGROUND)] if name.endswith(_BACKGROUND) else name
    if window.conditions.get("name_may_go_on"):
        known = sorted({one.event for one in policy.thresholds if one.event is not None})
        return next((event for event in known if event.startswith(plain)), plain)
    return plain


def _events(measured):
    # type: (Measured) -> List[Window]
    return [window for window in measured.windows if window.layer == "database"]


def _others(measured):
    # type: (Measured) -> Optional[str]
    """What a tool's report tells, whose windows are no wait events."""
    told = []  # type: List[str]
    for window in measured.windows:
        for name in ("p50", "mean"):
            figure = figures.figure_of(window, name)
            if figure is not None:
                told.append("{0} {1}".format(window.subject, figures.text(figure)))
                break
    return "; ".join(told[:10]) or None


def judge_log_write(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each report that has the event."""
    check = checks.LOG_WRITE
    probes = _probes(policy)
    if not probes:
        return [found(check, SKIP, why="latency_probes names no report.")]
    findings = []
    for probe in probes:
        measured = facts.reports[probe.name]
        key, path = EVIDENCE + probe.name, probe.options["path"]
        title = "{0}: {1}".format(path, check.title)
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, path, (key,)))
            continue
        windows = [window for window in measured.windows if window.subject.startswith(LOG_WRITE)]
        if not windows:
            why = "The report has no '{0}'.".format(LOG_WRITE)
            findings.append(found(check, SKIP, why=why, title=title, evidence=(key,)))
            continue
        status, why_told = _is_io(windows, measured)
        findings.append(
            found(
                check,
                status,
                why=why_told,
                fix="take 'log file sync', V$IOSTAT_FUNCTION for LGWR or latency.disk; where the "
                "report does not tell, set latency_release and latency_multitenant",
                title=title,
                desired="an I/O latency",
                in_use="; ".join(_log_write_text(window) for window in windows),
                evidence=(key,),
            )
        )
    return findings


def _is_io(windows, measured):
    # type: (List[Window], Measured) -> Tuple[str, Optional[str]]
    told = {str(window.conditions.get("io_latency", "unknown")) for window in windows}
    if told == {"yes"}:
        return PASS, None
    remarks = [remark for remark in measured.remarks if _is_of_log_write(remark)]
    why = remarks[0] if remarks else "'{0}' may not be an I/O latency".format(LOG_WRITE)
    return WARN, why[:1].upper() + why[1:] + "."


def _is_of_log_write(remark):
    # type: (str) -> bool
    """Whether it is the remark on what the event is; others may only name it."""
    return remark.startswith("'{0}'".format(LOG_WRITE))


def _log_write_text(window):
    # type: (Window) -> str
    figure = figures.figure_of(window, "mean")
    value = "not told" if figure is None else figures.text(figure)
    return "{0} of {1} waits, I/O latency: {2}".format(
        value, figures.count(window), window.conditions.get("io_latency", "unknown")
    )


def _probes(policy):
    # type: (Policy) -> List[Probe]
    return [probe for probe in policy.probes if probe.kind == REPORT]
