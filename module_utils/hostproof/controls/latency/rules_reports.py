# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reports that the policy names: AWR, Statspack and what tools print."""

from typing import List, Optional, Sequence, Tuple

from ...collect.answer import known
from ...collect.measured import Measured, Window
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from ...latency.probe_list import REPORT
from . import figures
from .facts import Facts
from .grading import Graded, grade_window, verdict_of
from .measurement.report import DATABASE_KINDS, LOG_WRITE
from .policy import NAME, Policy
from .redo_advice import fix_of_redo, log_write_us
from .subjects import REPORTS, Probed
from .thresholds import Subject

rules: Rules[Facts, Policy] = Rules(NAME)

#: How windows mark the waits of background processes, where both wait for an event.
_BACKGROUND = " (background)"


@rules.check(
    "latency.database",
    "Database wait events are within the limits",
    "Database wait events exceed the limits",
    severity="high",
    takes_effect="now",
    why="Sessions wait this long for storage, network and host together.",
    reference="Oracle Database Reference, Oracle Wait Events; My Oracle Support 1376916.1",
    each=REPORTS,
    # Short reads may come from the page cache if data files are not opened for direct I/O.
    because_of=("async_io.direct_files",),
)
def database(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """The wait events that have a limit, or that were requested."""
    measured = known(subject.answer)
    graded = _graded(_events(measured), subject.probe.options["events"], policy)
    if not graded:
        why = _why_no_event(measured)
        if why is None:
            raise Unanswered(subject.key, "the report has no latency")
        return Verdict(SKIP, why, in_use=_others(measured), evidence=(subject.key,))
    return verdict_of(
        database.check,
        graded,
        subject.path,
        _what_to_do(graded, measured),
        (subject.key,),
        [remark for remark in measured.remarks if not _is_of_log_write(remark)],
    )


def _graded(
    windows: List[Window], requested: Optional[Sequence[str]], policy: Policy
) -> List[Graded]:
    graded: List[Graded] = []
    for window in windows:
        name = window.subject
        relevant = requested is None or name.startswith(tuple(requested))
        if not relevant or window.conditions.get("io_latency", "yes") != "yes":
            continue
        limited = Subject(REPORT, "any", "database", None, _event(window, policy))
        ones = grade_window(window, limited, policy.thresholds, name)
        graded += [item for item in ones if item.limit is not None or requested is not None]
    for event in requested or ():
        if not any(window.subject.startswith(event) for window in windows):
            graded.append(Graded(ERROR, event, f"the report has no event {event!r}", None))
    return graded


def _why_no_event(measured: Measured) -> Optional[str]:
    """Why nothing is checked; None where the report of a database has no latency at all."""
    if (measured.figures or {}).get("kind", DATABASE_KINDS[0]) not in DATABASE_KINDS:
        return "It is the output of a tool, which has no wait events."
    if not measured.windows:
        return None
    names = [window.subject for window in _events(measured)][:5]
    shown = " (it has {0})".format(", ".join(names)) if names else ""
    return f"It has no wait event with a limit{shown}."


def _what_to_do(graded: List[Graded], measured: Measured) -> str:
    """The fix follows the events that exceed their limits."""
    names = [item.label for item in graded if item.status in (FAIL, WARN)]
    redo = [name for name in names if name.startswith("log ")]
    fixes = [fix_of_redo(redo, log_write_us(measured))] if redo else []
    if any(name.startswith(_OF_STORAGE) for name in names):
        fixes.append(
            "compare the reads with latency.disk and latency.nfs of the same hours, then with the "
            "figures of the array"
        )
    if len(names) > len(redo) and len(fixes) == bool(redo):
        fixes.append(f"find the part that is slow in {', '.join(names)}: storage, network or CPUs")
    return "; ".join(fixes)


#: Beginnings of events that wait for data files.
_OF_STORAGE = ("db file ", "direct path ", "cell ", "control file ")


def _event(window: Window, policy: Policy) -> str:
    """The event as limits name it: reports cut long names, and mark those of the background."""
    name = window.subject
    plain = name[: -len(_BACKGROUND)] if name.endswith(_BACKGROUND) else name
    if window.conditions.get("name_may_go_on"):
        known = sorted(
            {threshold.event for threshold in policy.thresholds if threshold.event is not None}
        )
        return next((event for event in known if event.startswith(plain)), plain)
    return plain


def _events(measured: Measured) -> List[Window]:
    return [window for window in measured.windows if window.layer == "database"]


def _others(measured: Measured) -> Optional[str]:
    """The figures of a tool's report without wait events."""
    texts: List[str] = []
    for window in measured.windows:
        for name in ("p50", "mean"):
            figure = figures.figure_of(window, name)
            if figure is not None:
                texts.append(f"{window.subject} {figures.text(figure)}")
                break
    return "; ".join(texts[:10]) or None


@rules.check(
    "latency.log_file_parallel_write",
    "'log file parallel write' shows I/O latency",
    "'log file parallel write' does not show I/O latency here",
    severity="medium",
    takes_effect="now",
    why="A low average hides a slow redo log. Since 12.2, a multitenant database times only "
    "the part of a log write that remains when it checks.",
    reference="F. Hoogland, Oracle wait event 'log file parallel write' change; Oracle Database "
    "Reference, log file parallel write",
    each=REPORTS,
)
def log_file_parallel_write(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    measured = known(subject.answer)
    windows = [window for window in measured.windows if window.subject.startswith(LOG_WRITE)]
    if not windows:
        raise Skip(f"The report has no '{LOG_WRITE}'.", (subject.key,))
    status, why = _is_io(windows, measured)
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                Ask(
                    "use 'log file sync', V$IOSTAT_FUNCTION for LGWR or latency.disk; if the "
                    "report does not contain them, set latency_release and latency_multitenant"
                )
            ]
        ),
        desired="an I/O latency",
        in_use="; ".join(_log_write_text(window) for window in windows),
        evidence=(subject.key,),
    )


def _is_io(windows: List[Window], measured: Measured) -> Tuple[str, Optional[str]]:
    states = {str(window.conditions.get("io_latency", "unknown")) for window in windows}
    if states == {"yes"}:
        return PASS, None
    remarks = [remark for remark in measured.remarks if _is_of_log_write(remark)]
    why = remarks[0] if remarks else f"'{LOG_WRITE}' may not be an I/O latency"
    return WARN, why[:1].upper() + why[1:] + "."


def _is_of_log_write(remark: str) -> bool:
    """Whether it is the remark on what the event is; others may only name it."""
    return remark.startswith(f"'{LOG_WRITE}'")


def _log_write_text(window: Window) -> str:
    figure = figures.figure_of(window, "mean")
    value = "not told" if figure is None else figures.text(figure)
    return "{0} of {1} waits, I/O latency: {2}".format(
        value, figures.count(window), window.conditions.get("io_latency", "unknown")
    )
