# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Baselines before and after a change, figure by figure: host by host, and all hosts together.

A series is what one probe measured of one subject, layer and size; its figures are compared by
verdict.py. A series that has figures on one side alone is a problem, never "no different".
"""

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from . import fleet, verdict
from .baseline import Baseline
from .probe_list import ACTIVE, DISK, DISK_READ, IN_TICKS, NFS, TCP, Probe, check_probes
from .window import Window

#: Figures of a distribution, and of a series that has nothing but means.
_FIGURES = ("p50", "p99")
_MEAN = "mean"

#: Layers that are a part of ``user`` where a probe has that.
_PARTS = ("host", "kernel", "device")

#: Fewer windows than this on a side bound no interval at all, whatever they say.
FEWEST_WINDOWS = 4

#: What should be the same before and after; a difference is said, for it may be the reason.
_SAME = (
    ("cpus", "CPUs"),
    ("kernel", "kernel"),
    ("clocksource", "clock source"),
    ("governor", "CPU frequency governor"),
    ("interval_us", "interval between samples (us)"),
)

#: The way to the other side: what else changed may be all of a difference, or the change itself.
_PATH = (
    ("peer", "address of the other side"),
    ("interface", "network interface"),
    ("route", "route"),
    ("source_address", "own address"),
    ("mtu", "MTU"),
    ("mss", "largest segment"),
    ("source", "export"),
    ("version", "NFS version"),
    ("proto", "transport"),
    ("connections", "connections"),
)

#: Beyond these a window tells of the host's load rather than of what was changed.
_MOST_STEAL = 2.0
_MUCH_LOAD = 2.0


class Series(NamedTuple):
    """``size`` is bytes of a request, None where a probe has no such thing."""

    probe: str
    subject: str
    layer: str
    size: Optional[int]

    @property
    def name(self):
        # type: () -> str
        size = "" if self.size is None else " {0} B".format(self.size)
        return "{0} {1} {2}{3}".format(self.probe, self.subject, self.layer, size)


class Figure(NamedTuple):
    """One figure of a series (p50, p99, mean) and its four-way verdict."""

    name: str
    comparison: verdict.Comparison

    @property
    def is_central(self):
        # type: () -> bool
        """Whether it is about the middle, which is steady enough to be demanded."""
        return self.name != "p99"


class SeriesVerdict(NamedTuple):
    """``problem`` says why there is no figure; ``idle`` that there was nothing on either side.

    ``path`` is what differs of the way to the other side between before and after, ``remarks`` what
    else does.
    """

    series: Series
    before: List[Window]
    after: List[Window]
    figures: List[Figure]
    problem: Optional[str]
    idle: Optional[str]
    path: List[str]
    remarks: List[str]


class HostVerdict(NamedTuple):
    """``problems`` are about the host as a whole: a side that is missing, a probe without a window.

    ``remarks`` are what the measurements themselves remarked, with the side.
    """

    host: str
    series: List[SeriesVerdict]
    problems: List[str]
    remarks: List[str]

    @property
    def measured(self):
        # type: () -> bool
        """Whether anything at all was compared."""
        return any(one.figures for one in self.series)

    @property
    def other_paths(self):
        # type: () -> List[str]
        """A sentence for each subject that was reached by another path than before."""
        found = []  # type: List[str]
        for one in self.series:
            text = "{0} {1}: {2}".format(
                one.series.probe, one.series.subject, another_path(one.path)
            )
            if one.path and text not in found:
                found.append(text)
        return found

    def whole_of(self, one):
        # type: (SeriesVerdict) -> Optional[SeriesVerdict]
        """What a process felt, which was compared, where ``one`` is a part of it: its ``user``
        series. What a part lacks, the whole tells."""
        if one.series.layer not in _PARTS:
            return None
        whole = one.series._replace(layer="user")
        found = [other for other in self.series if other.series == whole and other.figures]
        return found[0] if found else None


class FleetVerdict(NamedTuple):
    """One figure of one kind of series over all hosts. ``hosts`` are those that have it."""

    probe: str
    layer: str
    size: Optional[int]
    figure: str
    hosts: List[str]
    unchanged: List[str]
    comparison: fleet.FleetComparison

    @property
    def name(self):
        # type: () -> str
        size = "" if self.size is None else " {0} B".format(self.size)
        return "{0} {1}{2} {3}".format(self.probe, self.layer, size, self.figure)

    @property
    def bounded(self):
        # type: () -> bool
        """Whether there were hosts enough for an interval."""
        return self.comparison.interval.low > 0.0


def another_path(differences):
    # type: (Sequence[str]) -> str
    """What differs of a path, in words."""
    return "another path than before ({0})".format("; ".join(differences))


class _Pair(NamedTuple):
    series: Series
    before: List[Window]
    after: List[Window]


def compare_hosts(pairs):
    # type: (Dict[str, Tuple[Any, Any]]) -> Dict[str, HostVerdict]
    """Host to its verdict. A pair is a Baseline before and one after, or a text that says why
    there is none. The error is shared by all figures of all hosts (Bonferroni)."""
    problems = {host: _problems(*pairs[host]) for host in pairs}
    found = {host: [] if problems[host] else _pairs(*pairs[host]) for host in pairs}
    figures = {(host, pair.series): _figures_of(pair) for host in found for pair in found[host]}
    comparisons = max(1, sum(len(ready) for ready, _ in figures.values()))
    verdicts = {}
    for host in pairs:
        judged = [_judge(pair, figures[host, pair.series], comparisons) for pair in found[host]]
        missing = [] if problems[host] else _missing_probes(pairs[host][0], judged)
        remarks = [] if problems[host] else _remarks(*pairs[host])
        verdicts[host] = HostVerdict(host, judged, problems[host] + missing, remarks)
    return verdicts


class Stability(NamedTuple):
    """``unstable`` names central figures that moved by themselves, of ``figures`` looked at."""

    unstable: List[str]
    figures: int


def stability(baseline):
    # type: (Baseline) -> Stability
    """Whether the second half of a baseline is like its first, figure by figure."""
    names = []
    figures = 0
    for series, windows in series_of(baseline.windows).items():
        for figure, values in _values(windows):
            if figure == "p99" or series.layer == "host" or not values:
                continue
            steady = verdict.is_stable(values, verdict.MARGINS[figure])
            figures += steady is not None
            if steady is False:
                names.append("{0} {1}".format(series.name, figure))
    return Stability(names, figures)


def unmeasured(baseline):
    # type: (Baseline) -> List[str]
    """Why this baseline is none to compare with: no figure at all, or a probe without one."""
    counts = {
        series: _told_windows(windows) for series, windows in series_of(baseline.windows).items()
    }
    found = []
    if not any(count >= FEWEST_WINDOWS for count in counts.values()):
        found.append(
            "no figure was measured in {0} windows or more{1}".format(
                FEWEST_WINDOWS, _because(baseline.remarks)
            )
        )
    measured = [series for series, count in counts.items() if count >= FEWEST_WINDOWS]
    return found or _without_series(baseline, measured)


def series_of(windows):
    # type: (Iterable[Window]) -> Dict[Series, List[Window]]
    """The windows by what they are of, each list in order of time."""
    found = {}  # type: Dict[Series, List[Window]]
    for window in windows:
        key = Series(window.probe, window.subject, window.layer, window.size)
        found.setdefault(key, []).append(window)
    return found


def compare_fleet(verdicts, changed, unchanged):
    # type: (Dict[str, HostVerdict], Sequence[str], Sequence[str]) -> List[FleetVerdict]
    """Each figure of each kind of series over the changed hosts, less what the others saw.

    A host is one observation: the median of the ratios of its subjects (its disks, its mounts).
    """
    ratios = {}  # type: Dict[Tuple[str, str, Optional[int], str], Dict[str, List[float]]]
    for host in list(changed) + list(unchanged):
        for one in verdicts[host].series if host in verdicts else []:
            for figure in one.figures:
                kind = (one.series.probe, one.series.layer, one.series.size, figure.name)
                by_host = ratios.setdefault(kind, {})
                by_host.setdefault(host, []).append(figure.comparison.interval.ratio)
    found = []
    for kind in sorted(ratios, key=str):
        by_host = ratios[kind]
        ours = [host for host in changed if host in by_host]
        others = [host for host in unchanged if host in by_host]
        if not ours:
            continue
        comparison = fleet.compare_fleet(
            [verdict.median(by_host[host]) for host in ours],
            [verdict.median(by_host[host]) for host in others],
            verdict.MARGINS[kind[3]],
        )
        found.append(FleetVerdict(*kind + (ours, others, comparison)))
    return found


# -- one host -------------------------------------------------------------------------------------


def _problems(before, after):
    # type: (Any, Any) -> List[str]
    """Why the two sides are not compared: one is missing, or they were measured differently."""
    sides = (("before", before), ("after", after))
    missing = ["{0}: {1}".format(name, side) for name, side in sides if isinstance(side, str)]
    if missing:
        return missing
    asked = [(_by_name(side.probes), float(side.seconds)) for side in (before, after)]  # type: List[Tuple[Dict[str, Any], float]]
    if asked[0] != asked[1]:
        return [
            "before and after were not measured alike ({0}): measure both with the same probes "
            "and seconds".format(_difference(asked[0], asked[1]))
        ]
    return []


def _by_name(probes):
    # type: (List[Dict[str, Any]]) -> Dict[str, Any]
    return {probe.name: probe.options for probe in check_probes(probes)}


def _difference(before, after):
    # type: (Tuple[Dict[str, Any], float], Tuple[Dict[str, Any], float]) -> str
    if before[1] != after[1]:
        return "windows of {0:g} s and of {1:g} s".format(before[1], after[1])
    names = sorted(
        name for name in set(before[0]) | set(after[0]) if before[0].get(name) != after[0].get(name)
    )
    return "probe {0}".format(", ".join(names))


def _pairs(before, after):
    # type: (Baseline, Baseline) -> List[_Pair]
    first, second = series_of(before.windows), series_of(after.windows)
    keys = list(first) + [series for series in second if series not in first]
    return [_Pair(series, first.get(series, []), second.get(series, [])) for series in keys]


_Ready = List[Tuple[str, List[float], List[float]]]


def _figures_of(pair):
    # type: (_Pair) -> Tuple[_Ready, Optional[str]]
    """The figures that both sides have, or what is in the way."""
    before, after = dict(_values(pair.before)), dict(_values(pair.after))
    ready = []
    for name in list(before) + [name for name in after if name not in before]:
        sides = (before.get(name, []), after.get(name, []))
        if min(len(side) for side in sides) >= FEWEST_WINDOWS:
            ready.append((name,) + sides)
    if ready:
        return ready, None
    return [], "it has a figure in {0} windows before and in {1} after, and {2} are needed".format(
        _told_windows(pair.before), _told_windows(pair.after), FEWEST_WINDOWS
    )


def _told_windows(windows):
    # type: (Sequence[Window]) -> int
    """In how many windows there is any figure."""
    return max(len(values) for _, values in _values(windows))


def _values(windows):
    # type: (Sequence[Window]) -> List[Tuple[str, List[float]]]
    """Figure to its values in order of time, of the windows that have it and are above 0."""
    has_middle = any(window.p50 is not None for window in windows)
    names = _FIGURES if has_middle else (_MEAN,)
    found = []
    for name in names:
        values = [getattr(window, name) for window in windows]
        found.append((name, [value for value in values if value is not None and value > 0]))
    return found


def _judge(pair, figures, comparisons):
    # type: (_Pair, Tuple[_Ready, Optional[str]], int) -> SeriesVerdict
    ready, short = figures
    compared = [
        Figure(name, verdict.compare(before, after, verdict.MARGINS[name], comparisons))
        for name, before, after in ready
    ]
    told = max(_told_windows(pair.before), _told_windows(pair.after))
    nothing = told < FEWEST_WINDOWS
    problem = None if nothing else short
    idle = short if nothing else None
    path = _differences(pair, _PATH)
    remarks = _changed_conditions(pair)
    return SeriesVerdict(
        pair.series, pair.before, pair.after, compared, problem, idle, path, remarks
    )


def _differences(pair, conditions):
    # type: (_Pair, Sequence[Tuple[str, str]]) -> List[str]
    """Of the conditions that both sides tell those that differ. What one side does not tell, as a
    baseline of an older Hostproof, is not known to differ."""
    found = []
    for name, words in conditions:
        sides = [_told(side, name) for side in (pair.before, pair.after)]
        if all(sides) and sides[0] != sides[1]:
            texts = ["/".join(side) for side in sides]
            found.append("{0}: {1} before, {2} after".format(words, *texts))
    return found


def _changed_conditions(pair):
    # type: (_Pair) -> List[str]
    if not pair.before or not pair.after:
        return []
    found = _differences(pair, _SAME)
    rates = [_numbers(side, "per_second") for side in (pair.before, pair.after)]
    if all(rates):
        first, second = [verdict.median(rate) for rate in rates]
        if max(first, second) > _MUCH_LOAD * max(min(first, second), 0.1):
            found.append("{0:.0f} requests a second before, {1:.0f} after".format(first, second))
    for words, side in (("before", pair.before), ("after", pair.after)):
        steal = _numbers(side, "steal_percent")
        if steal and max(steal) > _MOST_STEAL:
            found.append(
                "{0}, the hypervisor took up to {1:.0f} % of the CPUs".format(words, max(steal))
            )
        loads = [
            (load, window.conditions.get("cpus"))
            for window in side
            for load in _numbers([window], "load")
        ]
        over = [load for load, cpus in loads if isinstance(cpus, int) and load > cpus]
        if over:
            found.append("{0}, the load was up to {1:.1f}, above the CPUs".format(words, max(over)))
    return found


def _told(windows, name):
    # type: (Sequence[Window], str) -> List[str]
    values = {window.conditions.get(name) for window in windows}
    return sorted(str(value) for value in values if value is not None)


def _numbers(windows, name):
    # type: (Sequence[Window], str) -> List[float]
    values = [window.conditions.get(name) for window in windows]
    return [value for value in values if isinstance(value, (int, float))]


# -- probes that gave nothing ---------------------------------------------------------------------


def _missing_probes(before, judged):
    # type: (Baseline, List[SeriesVerdict]) -> List[str]
    """What was asked for by name and has no series that was compared, or a problem of its own."""
    told = [one.series for one in judged if one.figures or one.problem]
    return _without_series(before, told)


def _without_series(baseline, measured):
    # type: (Baseline, Sequence[Series]) -> List[str]
    found = []
    for probe in check_probes(baseline.probes):
        for wanted in _wanted(probe):
            if not any(_serves(series, probe, wanted) for series in measured):
                found.append("{0} was not measured{1}".format(wanted, _because(baseline.remarks)))
    return found


def _wanted(probe):
    # type: (Probe) -> List[str]
    """The names of what the user asked for; what happens to be there is not asked for."""
    if probe.kind in ACTIVE:
        return [probe.name]
    named = probe.options.get("devices") or probe.options.get("mounts") or []
    return ["{0} {1}".format(probe.kind, name) for name in named]


def _serves(series, probe, wanted):
    # type: (Series, Probe, str) -> bool
    if probe.kind == TCP:
        return series.probe == TCP and probe.name.split(" ")[1] == series.subject
    if probe.kind == DISK_READ:
        return series.size is not None and series.subject == probe.options["path"]
    name = wanted.split(" ", 1)[1]
    if probe.kind == NFS:
        return series.probe == NFS and (series.subject + " ").startswith(name + " ")
    # A device that was named by a link has the kernel's name in its windows: any disk serves.
    return series.probe == DISK and (series.subject == name or "/" in name)


def _remarks(before, after):
    # type: (Baseline, Baseline) -> List[str]
    return [
        "{0}: {1}".format(name, remark)
        for name, side in (("before", before), ("after", after))
        for remark in side.remarks
    ]


def _because(remarks):
    # type: (Sequence[str]) -> str
    # That a figure is inexact is no reason for its absence.
    reasons = [remark for remark in remarks if IN_TICKS not in remark]
    return " ({0})".format("; ".join(reasons)) if reasons else ""
