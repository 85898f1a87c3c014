# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait events of AWR and Statspack reports as windows."""

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ....collect.measured import Window
from ....probes.oracle.next_start import PREFETCH_PARAMETERS
from ..parsers import awr, awr_global, awr_layouts, report_parameters, statspack
from ..parsers.event_histogram import EventHistogram
from ..parsers.wait_events import CONTRADICTORY, NO_WAITS, WaitEvent
from . import lobs, work
from .report import LOG_WRITE, Report, octaves, window

_NOT_IO = (
    "'log file parallel write' is not an I/O latency here: since 12.2 a multitenant database "
    "records it only for writes that were incomplete at its check, and measures only the rest "
    "alone; take 'log file sync', V$IOSTAT_FUNCTION for LGWR, or the operating system's await"
)
_PERHAPS_NOT_IO = (
    "'log file parallel write' may not be an I/O latency: since 12.2 it is not one in a "
    "multitenant "
    "database, and the report does not show whether this is one; set release and "
    "multitenant"
)
_PIECE = (
    "the text is a piece of a report: events may be missing, and the interval is not known unless "
    "its first page is there"
)

_LEAST = (
    "the text does not tell the release: the form of its tables begins with {0}, so the release is "
    "at least that"
)

_TOO_SHORT = "the time is too short for the digits printed"
_ALIKE = (
    "a table has the name more than once, as its column cuts several off alike or the text is of "
    "two reports"
)

_OVERFLOWED = "left out, as the number did not fit its column: "

#: Put to the name of an event that foreground sessions wait for as well.
_BACKGROUND = " (background)"

#: Characters of the narrowest column of events.
_NARROWEST = 26

#: Where most of an event's waits must be for the histogram of all sessions to describe them.
_NEARLY_ALL = 0.9

_SESSIONS = {
    awr_layouts.TOP: "all",
    awr_layouts.TOP_FOREGROUND: "foreground",
    awr_layouts.FOREGROUND: "foreground",
    awr_layouts.BACKGROUND: "background",
    awr_layouts.ALL: "all",
}


def from_awr(
    text: str, release: Optional[str] = None, multitenant: Optional[bool] = None
) -> Report:
    """``release`` and ``multitenant`` are for a text that does not tell them itself."""
    source = awr.parse(text)
    head = source.head
    known = head.release or release
    report = _report("awr", source, known, _first(head.multitenant, multitenant))
    report.figures["statistics"] = {
        name: {"total": statistic.total, "per_second": statistic.per_second}
        for name, statistic in source.statistics.items()
    }
    if source.overflowed:
        report.remarks.append(_OVERFLOWED + _some(source.overflowed))
    if source.shortened:
        report.remarks.append("lines were removed at a mark like [..]")
    return report


def from_statspack(
    text: str, release: Optional[str] = None, multitenant: Optional[bool] = None
) -> Report:
    """As from_awr."""
    source = statspack.parse(text)
    head = source.head
    known = head.release or release
    return _report("statspack", source, known, _first(head.multitenant, multitenant))


def from_awr_global(
    text: str, release: Optional[str] = None, multitenant: Optional[bool] = None
) -> Report:
    """The events of the cluster as a whole; single instances are in the figures."""
    source = awr_global.parse(text)
    windows = []
    remarks = [] if source.whole else [_PIECE]
    # The snapshots of a cluster are taken together.
    begin, end = (
        (source.instances[0].begin, source.instances[0].end) if source.instances else (None, None)
    )
    base = {
        "database": source.database,
        "begin": begin,
        "end": end,
        "sessions": "all instances",
    }
    cluster = [entry for entry in source.events if entry.instance == awr_global.ALL_INSTANCES]
    alike = [entry.name for entry in cluster]
    for event in cluster:
        if event.average is None or alike.count(event.name) > 1:
            continue
        spread = None if event.instances is None else dict(event.instances._asdict())
        special = {"averages_of_instances_us": spread}
        windows.append(_window(event, event.name, base, special, source.seconds))
    windows = _log_write_marked(windows, source.release or release, multitenant, remarks)
    twice = sorted({name for name in alike if alike.count(name) > 1})
    if twice:
        remarks.append(_without_window(_ALIKE, twice))
    if source.overflowed:
        remarks.append(_OVERFLOWED + _some(source.overflowed))
    return Report("awr_global", windows, _figures_of_cluster(source, release), remarks)


def _figures_of_cluster(source: awr_global.Report, release: Optional[str]) -> Dict[str, Any]:
    return {
        "database": source.database,
        "release": source.release or release,
        "seconds": source.seconds,
        "instances": [dict(instance._asdict()) for instance in source.instances],
        "rates": source.rates,
        "events": [
            {
                "instance": event.instance,
                "name": event.name,
                "waits": event.waits,
                "seconds": event.seconds,
                "average_us": event.average,
                "percent_of_db_time": event.percent,
            }
            for event in source.events
        ],
    }


def _report(kind: str, source: Any, release: Optional[str], multitenant: Optional[bool]) -> Report:
    head = source.head
    remarks = [] if source.whole else [_PIECE]
    base = {
        "database": head.database,
        "instance": head.instance,
        "begin": head.begin,
        "end": head.end,
    }
    windows, unknown = _windows(source.events, source.histograms, base, head.seconds)
    least, tells = (None, False) if release else _GENERATIONS.get(source.generation, (None, False))
    windows = _log_write_marked(
        windows, release or (least if tells else None), multitenant, remarks
    )
    if least is not None:
        remarks.append(_LEAST.format(least))
    for reason, names in unknown.items():
        remarks.append(_without_window(reason, names))
    remarks += _problems(source.events)
    figures: Dict[str, Any] = {
        "generation": source.generation,
        "database": head.database,
        "instance": head.instance,
        "host": head.host,
        # A piece tells no release, and the form of its tables only where they began.
        "release": release if least is None else "at least " + least,
        "rac": head.rac,
        "multitenant": multitenant,
        "begin": head.begin,
        "end": head.end,
        "seconds": head.seconds,
        "db_seconds": head.db_seconds,
        "load_per_second": head.load,
        "whole": source.whole,
        "parameters": _parameters(source.parameters),
        "events": [
            {
                "sessions": _SESSIONS[event.section],
                "table": "top" if event.section.startswith(awr_layouts.TOP) else "waits",
                "name": event.name,
                "wait_class": event.wait_class,
                "waits": event.waits,
                "seconds": event.seconds,
                "average_us": event.average,
                "percent_of_db_time": event.percent,
            }
            for event in source.events
        ],
    }
    return Report(kind, windows, figures, remarks)


def _parameters(
    parameters: Optional[Dict[str, report_parameters.Parameter]],
) -> Optional[Dict[str, Any]]:
    """Those that state how LOBs are made; None where the report has no table of parameters."""
    if parameters is None:
        return None
    values: Dict[str, Any] = {lobs.PARAMETERS: 1.0}
    for name in (lobs.SECUREFILE, lobs.COMPATIBLE):
        if name in parameters:
            values[name] = parameters[name].text
    for hidden in PREFETCH_PARAMETERS:
        # The column of names is as narrow as 29 characters.
        for name in parameters:
            if len(name) >= 20 and hidden.startswith(name):
                values[work.PARAMETER + hidden] = parameters[name].text
    event = report_parameters.reclaim_event(parameters.get("event"))
    if event is not None:
        values[lobs.EVENT] = lobs.NOT_SHOWN if event.level is None else float(event.level)
    return values


def _windows(
    events: Sequence[WaitEvent],
    histograms: Sequence[EventHistogram],
    base: Dict[str, Any],
    seconds: Optional[float],
) -> Tuple[List[Window], Dict[str, List[str]]]:
    """A window for each event that is not idle; why to the names of those that have none."""
    chosen = _chosen([entry for entry in events if not entry.idle])
    by_name: Dict[str, List[WaitEvent]] = {}
    for event in chosen:
        by_name.setdefault(event.name, []).append(event)
    distributions = {histogram.name: histogram for histogram in histograms if histogram.counts}
    windows = []
    unknown: Dict[str, List[str]] = {}
    for event in chosen:
        if event.waits == 0 or event.name in NO_WAITS:
            continue
        same = by_name[event.name]
        bins = _bins(event, same, distributions.get(event.name))
        reason = _why_no_window(event, same, bins)
        if reason is not None:
            names = unknown.setdefault(reason, [])
            if event.name not in names:
                names.append(event.name)
            continue
        subject = event.name
        if len(same) > 1 and event.section == awr_layouts.BACKGROUND:
            subject += _BACKGROUND
        of_sessions = dict(base, sessions=_SESSIONS[event.section])
        special = {"bins_of": None if bins is None else "all sessions"}
        windows.append(_window(event, subject, of_sessions, special, seconds, bins))
    if not events:
        windows = _of_histograms(histograms, base, seconds)
    return windows, unknown


def _window(
    event: Union[WaitEvent, awr_global.ClusterEvent],
    subject: str,
    base: Dict[str, Any],
    special: Dict[str, Any],
    seconds: Optional[float],
    bins: Optional[Dict[str, Any]] = None,
) -> Window:
    """``special`` are the conditions that only this kind of report has."""
    conditions = dict(
        base,
        wait_class=event.wait_class,
        average_from=event.by,
        uncertainty_us=_rounded(event.uncertainty),
        name_may_go_on=event.cut or None,
        **special,
        n_from="not told" if event.waits is None else None,
    )
    return window(
        "database",
        subject,
        "database",
        event.waits or 0,
        event.average,
        conditions,
        seconds=seconds,
        bins=bins,
    )


def _bins(
    event: WaitEvent, same: List[WaitEvent], distribution: Optional[EventHistogram]
) -> Optional[Dict[str, Any]]:
    """The event's histogram, where nearly all of what it counts are waits of this event."""
    if distribution is None or event.waits is None:
        return None
    if event.waits < _NEARLY_ALL * max(_waits_of_all(same), distribution.waits or 0):
        return None
    return octaves(distribution.counts, distribution.wide, distribution.open)


def _why_no_window(
    event: WaitEvent, same: List[WaitEvent], bins: Optional[Dict[str, Any]]
) -> Optional[str]:
    if [entry.section for entry in same].count(event.section) > 1:
        return _ALIKE
    if event.problem == CONTRADICTORY:
        return CONTRADICTORY
    if event.average is None and bins is None:
        return event.problem or _TOO_SHORT
    return None


def _of_histograms(
    histograms: Sequence[EventHistogram], base: Dict[str, Any], seconds: Optional[float]
) -> List[Window]:
    """The windows of a partial report that has only histograms."""
    windows = []
    for histogram in histograms:
        bins = octaves(histogram.counts, histogram.wide, histogram.open)
        if bins is not None and histogram.waits:
            conditions = dict(base, sessions="all", name_may_go_on=histogram.cut or None)
            windows.append(
                window(
                    "database",
                    histogram.name,
                    "database",
                    histogram.waits,
                    None,
                    conditions,
                    seconds=seconds,
                    bins=bins,
                )
            )
    return windows


def _chosen(events: Sequence[WaitEvent]) -> List[WaitEvent]:
    """The full tables where there are some, else the table at the head; each wait once.

    The waits of foreground sessions come from their own table or, up to 10g and in a piece, from
    one that counts all sessions.
    """
    by_section: Dict[str, List[WaitEvent]] = {}
    for current in events:
        by_section.setdefault(current.section, []).append(current)
    background = by_section.get(awr_layouts.BACKGROUND, [])
    of_all = by_section.get(awr_layouts.ALL, []) or by_section.get(awr_layouts.TOP, [])
    foreground = by_section.get(awr_layouts.FOREGROUND, [])
    if foreground and not background:
        # A piece: what only background processes wait for is in the tables of all, if anywhere.
        known = [event.name for event in foreground]
        return foreground + [event for event in of_all if not _is_among(event.name, known)]
    foreground = foreground or by_section.get(awr_layouts.TOP_FOREGROUND, [])
    if foreground:
        return foreground + background
    # If only background processes waited, both tables have the same waits.
    pairs = {(event.name, event.waits) for event in of_all}
    return of_all + [event for event in background if (event.name, event.waits) not in pairs]


def _is_among(name: str, names: Sequence[str]) -> bool:
    """True if the name is in the list. A narrower column may have truncated the names."""
    return any(
        name == other or (len(other) >= _NARROWEST and name.startswith(other)) for other in names
    )


def _waits_of_all(same: Sequence[WaitEvent]) -> int:
    """The number of waits of all sessions, from the rows of one event."""
    of_all = [event.waits or 0 for event in same if _SESSIONS[event.section] == "all"]
    return max(of_all) if of_all else sum(event.waits or 0 for event in same)


def _problems(events: Sequence[WaitEvent]) -> List[str]:
    """Defects of rows that have a window nevertheless."""
    names: Dict[str, List[str]] = {}
    for event in events:
        if event.problem is None or event.problem == CONTRADICTORY or event.idle:
            continue
        known = names.setdefault(event.problem, [])
        if (event.average is not None or event.name in NO_WAITS) and event.name not in known:
            known.append(event.name)
    return [f"{what} and is left out: {_some(who)}" for what, who in names.items() if who]


def _without_window(reason: str, names: Sequence[str]) -> str:
    how_many = "1 event has" if len(names) == 1 else f"{len(names)} events have"
    return f"{how_many} no window, {reason}: {_some(names)}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if names[5:] else "")


def _log_write_marked(
    windows: List[Window], release: Optional[str], multitenant: Optional[bool], remarks: List[str]
) -> List[Window]:
    """Windows of log file parallel write say whether they are an I/O latency."""
    names = (LOG_WRITE, LOG_WRITE + _BACKGROUND)
    if not any(entry.subject in names for entry in windows):
        return windows
    is_io = log_write_is_io(release, multitenant)
    if is_io is not True:
        remarks.append(_NOT_IO if is_io is False else _PERHAPS_NOT_IO)
    state = {True: "yes", False: "no", None: "unknown"}[is_io]
    return [
        entry._replace(conditions=dict(entry.conditions, io_latency=state))
        if entry.subject in names
        else entry
        for entry in windows
    ]


_ALWAYS_MULTITENANT = 21


def log_write_is_io(release: Optional[str], multitenant: Optional[bool]) -> Optional[bool]:
    """Whether 'log file parallel write' spans the whole write; None where that is not known.

    In 21c and later every database is multitenant (Oracle Database Upgrade Guide 21c).
    """
    parts = [int(part) for part in (release or "").split(".") if part.isdigit()]
    if parts and parts[0] >= _ALWAYS_MULTITENANT:
        return False
    if multitenant is False:
        return True
    if parts and parts[:2] < [12, 2]:
        return True
    return False if parts and multitenant else None


#: The first release of each generation, and whether 12.2, which changed what the event of the log
#: means, is before it or behind it: in the midst of it a lower bound says nothing of that.
_GENERATIONS = {
    "9i": ("9.0", True),
    "10g": ("10.1", True),
    "10g-19c": ("10.1", False),
    "11g-19c": ("11.1", False),
    "11.1-11.2.0.3": ("11.1", True),
    "11.2.0.4-12.1": ("11.2.0.4", True),
    "11.1-12.1": ("11.1", True),
    "12.1": ("12.1", True),
    "12.2-19c": ("12.2", True),
}


def _first(reported: Optional[bool], option: Optional[bool]) -> Optional[bool]:
    return option if reported is None else reported


def _rounded(value: Optional[float]) -> Optional[float]:
    return None if value is None else round(value, 3)
