# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of windows against the limits of the policy, and the verdicts that follow."""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.measured import ENOUGH_FOR_P99, Window
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Verdict, undetermined
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN, Check
from . import figures
from .thresholds import FIGURES, Subject, Threshold, choose, grade


class Graded(NamedTuple):
    """One figure: ``figure_text`` is its text, ``limit`` its limit or None.

    ``status`` is SKIP if there is no limit or the window does not have the figure. It is ERROR if
    there are too few samples, or if all requests ended within one tick and a tick is longer than
    the limit. FAIL or WARN without a limit reports lost responses. ``label`` names the window.
    ``value`` is the figure by its name, where it was compared with the limit.
    """

    status: str
    label: str
    figure_text: str
    limit: Optional[Threshold]
    value: Optional[Tuple[str, float]] = None


def grade_window(
    window: Window, subject: Subject, thresholds: Sequence[Threshold], label: str
) -> List[Graded]:
    """Each figure of a window that has a limit. Without limits, its median or mean, not graded.

    ``label`` names the window ("read", "8 KiB").
    """
    graded: List[Graded] = []
    for name in FIGURES:
        threshold = choose(thresholds, subject, name)
        if threshold is None:
            continue
        figure = figures.figure_of(window, name)
        if figure is None:
            sure = _surely_above(window, name, threshold, label)
            if sure is not None:
                graded.append(sure)
                continue
            why = f"{label} {name} is unknown{_needs(window, name)}"
            graded.append(Graded(SKIP, label, why.strip(), threshold))
        elif window.bins is not None and "layout" in window.bins and window.n < _FEWEST:
            why = f"{label} {name} of only {window.n} samples"
            graded.append(Graded(ERROR, label, why.strip(), threshold))
        else:
            text = f"{label} {figures.text(figure)} of {figures.count(window)}"
            tick = figures.tick_of(window)
            if tick is None:
                status = grade(figure, threshold)
            else:
                text += f", in ticks of {figures.milliseconds(tick)}"
                # Each request started and ended in the same tick, which is longer than the limit.
                hidden = figure.value == 0 and tick > threshold.warn_ms * 1000.0
                status = ERROR if hidden else grade(figure, threshold)
            value = (f"{label} {name}_ms".strip(), round(figure.value / 1000.0, 4))
            graded.append(Graded(status, label, text.strip(), threshold, value))
    return graded or [_ungraded(window, label)]


_FEWEST = figures.FEWEST_SAMPLES


def _surely_above(window: Window, name: str, threshold: Threshold, label: str) -> Optional[Graded]:
    """The limit that the p99 certainly exceeds, although there are too few samples for its value.

    A slow disk has fewer samples. Without this rule, its p99 would never be graded.
    """
    if name != "p99":
        return None
    for status, limit in ((FAIL, threshold.fail_ms), (WARN, threshold.warn_ms)):
        share = 0.0 if limit is None else figures.certain_share(window, limit * 1000.0)
        if limit is not None and share > 0.01:
            text = (
                f"{label} p99 beyond {figures.milliseconds(limit * 1000.0)} (at least "
                f"{share * 100:.1f} % of {window.n} took longer)"
            )
            return Graded(status, label, text.strip(), threshold)
    return None


def _needs(window: Window, name: str) -> str:
    if name == "p99" and window.n < ENOUGH_FOR_P99 and window.bins is not None:
        return f" with {window.n} samples ({ENOUGH_FOR_P99} required)"
    return ""


def _ungraded(window: Window, label: str) -> Graded:
    for name in ("p50", "mean"):
        figure = figures.figure_of(window, name)
        if figure is not None:
            text = f"{label} {figures.text(figure)} of {figures.count(window)}, no limit"
            return Graded(SKIP, label, text.strip(), None)
    return Graded(SKIP, label, f"{label} not told".strip(), None)


def status_of(graded: Sequence[Graded]) -> str:
    """The worst status of the figures. SKIP if no figure has a status."""
    statuses = [item.status for item in graded]
    for status in (FAIL, ERROR, WARN, PASS):
        if status in statuses:
            return status
    return SKIP


def verdict_of(
    check: Check,
    graded: Sequence[Graded],
    name: str,
    fix: str,
    evidence: Sequence[str],
    remarks: Sequence[str] = (),
) -> Verdict:
    """The verdict on one subject: a disk, a mount, a target, a report."""
    status = status_of(graded)
    bad = [item.figure_text for item in graded if item.status == status]
    texts = bad + [item.figure_text for item in graded if item.status != status]
    why: Optional[str] = None
    if status == ERROR:
        why = undetermined(HostproofError("{0}: {1}".format(name, ", ".join(bad)))).why
    elif status == SKIP:
        why = "{0}: {1}.".format(name, ", ".join(bad))
    elif status != PASS:
        why = f"{name}: {_beyond(graded, status)}."
    if why is not None:
        why = " ".join([why, *[_sentence(remark) for remark in remarks]])
    return Verdict(
        status,
        why=why,
        advice=None if status in (SKIP, ERROR) else Advice([Ask(fix)]),
        of=name,
        desired=limits_of(graded),
        in_use="; ".join(texts),
        values=dict(item.value for item in graded if item.value) or None,
        evidence=evidence,
        reference=reference_of(check, graded),
    )


def _beyond(graded: Sequence[Graded], status: str) -> str:
    """The text of the defects: first figures above their limit, then lost responses."""
    above = [
        item.figure_text for item in graded if item.status == status and item.limit is not None
    ]
    wholly = "wholly above" if status == FAIL else "above"
    parts = ["{0}, {1} the limit".format(", ".join(above), wholly)] if above else []
    return "; ".join(
        parts
        + [item.figure_text for item in graded if item.status == status and item.limit is None]
    )


def values_of(name: str, windows: Sequence[Window]) -> Dict[str, float]:
    """The medians by name ("db02:1521 kernel p50_ms"), for the comparison of hosts."""
    values: Dict[str, float] = {}
    for window in windows:
        words = [name, window.conditions.get("operation"), window.layer, window.size, "p50_ms"]
        if window.p50 is not None:
            values[" ".join(str(word) for word in words if word)] = round(window.p50 / 1000.0, 4)
    return values


def limits_of(graded: Sequence[Graded]) -> Optional[str]:
    """The text of the limits, each once with the labels of its figures."""
    labels: Dict[str, List[str]] = {}
    for item in graded:
        if item.limit is not None and item.status != SKIP:
            names = labels.setdefault(item.limit.text(), [])
            if item.label and item.label not in names:
                names.append(item.label)
    texts = ["{0} {1}".format(", ".join(names), limit).strip() for limit, names in labels.items()]
    return "; ".join(texts) or None


def reference_of(check: Check, graded: Sequence[Graded]) -> str:
    """The reference of the check, and the sources of the limits."""
    sources: List[str] = []
    for item in graded:
        if item.limit is not None and item.status != SKIP and item.limit.source not in sources:
            sources.append(item.limit.source)
    return check.reference + "".join("; limit: " + source for source in sources)


def around(windows: Sequence[Window]) -> List[str]:
    """Conditions of the host that may be the cause: high load, or CPU steal."""
    for window in windows:
        load, cpus, steal = [
            _number(window.conditions.get(name)) for name in ("load", "cpus", "steal_percent")
        ]
        remarks = []
        if cpus and load > cpus:
            remarks.append(f"The host was busy: load {load:g} on {cpus:g} CPUs.")
        if steal > _MOST_STEAL:
            remarks.append(f"The hypervisor gave {steal:g} % of the CPU time to others.")
        if remarks:
            return remarks
    return []


#: CPU steal above this percentage is reported.
_MOST_STEAL = 2


def _number(value: object) -> float:
    """The value, 0 if it is not a number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number else 0.0  # type: ignore[arg-type]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
