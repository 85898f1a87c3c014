# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings about latency before and after a change.

``latency.change`` covers one series of one host, ``latency.fleet_change`` one figure over all
changed hosts, and ``latency.gate`` the result of a change that ran through the gate.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.evidence import encode
from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.controls.latency.rules_change import change, fleet_change
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SKIP,
    WARN,
    Finding,
    make_finding,
    worst,
)

from . import fleet, verdict
from .comparing import Figure, FleetVerdict, HostVerdict, SeriesVerdict, another_path
from .missing_series import Loss
from .verdict import FASTER, INCONCLUSIVE, SLOWER, UNCHANGED, percent

CHANGE, FLEET_CHANGE = change.check, fleet_change.check

#: An unchanged host shows the effect of the environment; it never fails a change.
_UNCHANGED = "left unchanged: what happened to it is not the change's doing, but may be the reason"


class Judged(NamedTuple):
    """The findings on one host, and the evidence that they cite (key to reading)."""

    host: str
    findings: list[Finding]
    evidence: dict[str, dict[str, Any]]

    def answer(self) -> dict[str, Any]:
        """As a task answers it."""
        return {
            "host": self.host,
            "findings": [finding.as_dict() for finding in self.findings],
            "evidence": encode(self.evidence),
        }


def judge_host(
    host: HostVerdict,
    at_before: str | None,
    at_after: str | None,
    unchanged: bool = False,
    undo: str | None = None,
) -> Judged:
    """Findings on each series. ``at_before`` and ``at_after`` (UTC) date the evidence.

    ``undo`` is the command that puts the change back, where there is a better one than revert.
    """
    command = undo or f"./hostproof revert --limit {host.host}"
    findings = [
        make_finding(
            CHANGE,
            ERROR,
            why="Whether the change made this host slower is not known.",
            fix=f"measure again: ./hostproof latency compare --limit {host.host}",
            desired="latency before and after the change",
            running=f"not compared: {problem}",
        )
        for problem in host.problems
    ]
    findings += [_judge_loss(loss, unchanged, command) for loss in host.lost]
    evidence: dict[str, dict[str, Any]] = {}
    for series in host.series:
        keys = _keep(evidence, series, host.remarks, (at_before, at_after))
        findings.append(_judge_series(series, host, keys, unchanged, command))
    if not findings:
        findings.append(
            make_finding(
                CHANGE,
                ERROR,
                why="Whether the change made this host slower is not known.",
                fix="name probes that measure something here: latency_probes",
                desired="latency before and after the change",
                running="no probe gave a window",
            )
        )
    elif not host.problems and not host.measured:
        findings.append(
            make_finding(
                CHANGE,
                ERROR,
                why="Nothing on this host was busy enough to be measured by looking on.",
                fix="name probes that ask by themselves (tcp, disk_read): latency_probes",
                desired="latency before and after the change",
                running="not a single figure could be compared",
            )
        )
    return Judged(host.host, findings, evidence)


def judge_fleet(verdicts: Sequence[FleetVerdict], undo: str | None = None) -> list[Finding]:
    """A finding for each figure over all changed hosts."""
    findings = []
    for result in verdicts:
        title = f"{result.name}: {FLEET_CHANGE.title}"
        hosts = "{0} changed hosts, less {1} unchanged ones".format(
            result.comparison.hosts, result.comparison.controls or "no"
        )
        interval = result.comparison.interval
        if not result.bounded:
            findings.append(
                make_finding(
                    FLEET_CHANGE,
                    SKIP,
                    title=title,
                    why="Too few hosts for a verdict on all of them: with {0} to be told at once "
                    "it takes {1}{2}.".format(
                        "1 figure" if result.figures == 1 else f"{result.figures} figures",
                        fleet.fewest_hosts(result.comparison.controls, result.figures),
                        _beside(result.comparison.controls),
                    ),
                    running=f"{percent(interval.ratio)} ({hosts})",
                )
            )
            continue
        statuses = {SLOWER: FAIL, INCONCLUSIVE: WARN, FASTER: PASS, UNCHANGED: PASS}
        status = statuses[result.comparison.verdict]
        if result.whole is not None and status == FAIL:
            status = WARN
        findings.append(
            make_finding(
                FLEET_CHANGE,
                status,
                title=title,
                why=_part_of(result.whole) if status == WARN else None,
                fix=undo or "./hostproof revert --limit HOSTS",
                desired="not slower",
                running=f"{percent(interval.ratio)} (95% interval {percent(interval.low)} to "
                f"{percent(interval.high)}) over {hosts}: {result.comparison.verdict}",
            )
        )
    return findings


def _beside(controls: int) -> str:
    enough = fleet.ENOUGH_CONTROLS
    if controls:
        return f" with these {controls} unchanged ones"
    return f", or fewer with {enough} or more unchanged hosts"


def _part_of(whole: str | None) -> str | None:
    return None if whole is None else f"This is a part of {whole}, which decides."


def _judge_loss(loss: Loss, unchanged: bool, undo: str) -> Finding:
    status = FAIL if loss.worse and not unchanged else WARN
    why = "An answer that never comes is in no figure of those that do."
    if not loss.worse:
        why += " So few may be chance."
    if unchanged:
        why += f" This host was {_UNCHANGED}."
    return make_finding(
        CHANGE,
        status,
        title=f"{loss.name}: {CHANGE.title}",
        why=why,
        fix=_fix(status, undo, unchanged),
        desired="no more lost than before",
        running=loss.text,
    )


def _without_figures(
    series: SeriesVerdict, host: HostVerdict, keys: list[str], title: str, path: list[str]
) -> Finding:
    """Nothing was compared: an error, unless it was idle or another series tells."""
    whole = host.whole_of(series)
    remarks = "; ".join(series.remarks)
    if series.problem and whole is None:
        return make_finding(
            CHANGE,
            ERROR,
            title=title,
            why=f"Whether the change made this slower is not known: {series.problem}.",
            fix="measure longer, or while there is load: latency_gate_windows, "
            "latency_gate_seconds",
            evidence=keys,
            desired="a figure before and after",
            running="; ".join([*path, "not compared"]) + (f" ({remarks})" if remarks else ""),
        )
    tells = "" if whole is None else f"; {whole.series.name} tells"
    return make_finding(
        CHANGE,
        SKIP,
        title=title,
        why=f"Nothing to compare: {series.idle or series.problem}{tells}.",
        evidence=keys,
    )


def _why(shown: str, part: SeriesVerdict | None, gone: str | None, unchanged: bool) -> str | None:
    """The reason for the status; None where what the figures show is the reason."""
    if unchanged and shown != PASS:
        return f"This host was {_UNCHANGED}."
    if shown == FAIL and part is not None:
        return _part_of(part.series.name)
    if shown == ERROR:
        return f"It is unknown whether the change made this slower: {gone}."
    if shown == WARN:
        return "The measurements neither prove nor exclude that the change made this slower."
    return None


def _judge_series(
    series: SeriesVerdict, host: HostVerdict, keys: list[str], unchanged: bool, undo: str
) -> Finding:
    title = f"{series.series.name}: {CHANGE.title}"
    remarks = "; ".join(series.remarks)
    # The path is first: it may explain the whole difference, or be the tested change itself.
    path = [another_path(series.path)] if series.path else []
    if not series.figures:
        return _without_figures(series, host, keys, title, path)
    part = host.whole_of(series) if series.series.layer == "host" else None
    gone = series.gone if host.whole_of(series) is None else None
    shown = worst([_status(figure) for figure in series.figures] + [ERROR] * bool(gone))
    status = WARN if shown == FAIL and (unchanged or part is not None) else shown
    sentences = path + [
        f"{figure.name} {verdict.sentence(figure.comparison)}" for figure in series.figures
    ]
    if gone:
        sentences.append(gone)
    if remarks:
        sentences.append("note: " + remarks)
    return make_finding(
        CHANGE,
        status,
        title=title,
        why=_why(shown, part, gone, unchanged),
        fix=_fix(status, undo, unchanged),
        evidence=keys,
        desired="not more than {0}".format(
            ", ".join(
                f"{figure.name} "
                f"{_figure(figure.comparison.before * (1 + figure.comparison.margin))}"
                for figure in series.figures
            )
        ),
        running="; ".join(sentences),
    )


def _status(figure: Figure) -> str:
    if figure.comparison.stable is False or figure.comparison.suspect:
        return WARN
    return {SLOWER: FAIL, INCONCLUSIVE: WARN}.get(figure.comparison.verdict, PASS)


def _fix(status: str, undo: str, unchanged: bool) -> str:
    if status == FAIL:
        return undo
    if unchanged:
        return "find out what else changed, and compare again"
    if status == ERROR:
        return "measure longer (latency_gate_seconds), or take more samples (latency_probes)"
    return "compare again with more windows (latency_gate_windows), or at a quieter time"


def _figure(microseconds: float) -> str:
    return f"{microseconds:.0f} us" if microseconds >= 100 else f"{microseconds:.3g} us"


def _keep(
    evidence: dict[str, dict[str, Any]], series: SeriesVerdict, remarks: list[str], dates: Any
) -> list[str]:
    """Put the windows of both sides into the evidence; the keys, of those sides that have any."""
    keys = []
    for side, windows, at in (
        ("before", series.before, dates[0]),
        ("after", series.after, dates[1]),
    ):
        if windows:
            key = f"windows:{side}:{series.series.name}"
            mine = [remark for remark in remarks if remark.startswith(side + ": ")]
            evidence[key] = reading(windows, mine, at)
            keys.append(key)
    return keys


def reading(windows: Sequence[Window], remarks: Sequence[str], at: str | None) -> dict[str, Any]:
    """A reading of evidence as Host.windows keeps it."""
    return {
        "kind": "windows",
        "at": at,
        "windows": [window.to_json() for window in windows],
        "remarks": list(remarks),
    }
