# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Baselines before and after a change, figure by figure: host by host, and all hosts together.

A series is what one probe measured of one subject, layer and size; its figures are compared by
verdict.py. A series that has figures on one side alone is a problem, never "unchanged".
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.errors import PolicyError
from ansible.module_utils.hostproof.latency.probe_list import TCP, check_probes

from . import fleet, verdict
from .baseline import Baseline
from .missing_series import Loss, losses
from .probe_request import COARSE, asked_of, because, names_of, serves, without_answer
from .series import (
    FEWER,
    FEWEST_WINDOWS,
    LEAST,
    Series,
    is_cached,
    is_coarse,
    series_of,
    told_windows,
    unit_of,
    values_of,
)

#: Layers that are a part of ``user`` where a probe has that.
PARTS = ("host", "kernel", "device")

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

#: A tail that fewer windows told than this share comes and goes with the number of samples.
_NEARLY_ALL = 0.8

#: Beyond these a window tells of the host's load rather than of what was changed.
_MOST_STEAL = 2.0
_MUCH_LOAD = 2.0


class Figure(NamedTuple):
    """One figure of a series (p50, p99, mean) and its four-way verdict."""

    name: str
    comparison: verdict.Comparison

    @property
    def is_central(self) -> bool:
        """Whether it is about the middle, which is steady enough to be demanded."""
        return self.name != "p99"


class SeriesVerdict(NamedTuple):
    """``problem`` is the reason for a missing figure; ``idle``: no load on either side.

    ``path`` lists differences of the network path between before and after, ``remarks`` lists other
    differences. ``asked``: the user requested this series. ``gone`` names a figure that existed
    before and is now missing.
    """

    series: Series
    before: list[Window]
    after: list[Window]
    figures: list[Figure]
    problem: str | None
    idle: str | None
    path: list[str]
    remarks: list[str]
    asked: bool = True
    gone: str | None = None


class HostVerdict(NamedTuple):
    """``problems`` concern the whole host: a missing side, or a probe without a window.

    ``remarks`` are the remarks of the measurements, with the side. ``lost`` are requests without an
    answer after the change.
    """

    host: str
    series: list[SeriesVerdict]
    problems: list[str]
    remarks: list[str]
    lost: Sequence[Loss] = ()

    @property
    def measured(self) -> bool:
        """Whether anything at all was compared."""
        return any(series.figures for series in self.series)

    @property
    def other_paths(self) -> list[str]:
        """A sentence for each subject that was reached by another path than before."""
        texts: list[str] = []
        for series in self.series:
            text = f"{series.series.probe} {series.series.subject}: {another_path(series.path)}"
            if series.path and text not in texts:
                texts.append(text)
        return texts

    def whole_of(self, part: SeriesVerdict) -> SeriesVerdict | None:
        """The compared ``user`` series, if ``part`` is a part of it.

        It has the latency that a process experiences, and covers figures that a part lacks.
        """
        if part.series.layer not in PARTS:
            return None
        whole = part.series._replace(layer="user")
        matches = [other for other in self.series if other.series == whole and other.figures]
        return matches[0] if matches else None


class FleetVerdict(NamedTuple):
    """One figure of one kind of series over all hosts, ``hosts`` those that have it.

    ``figures`` is the number of figures that share the error, ``whole`` the name of the whole.
    """

    name: str
    hosts: list[str]
    unchanged: list[str]
    comparison: fleet.FleetComparison
    figures: int = 1
    whole: str | None = None

    @property
    def bounded(self) -> bool:
        """Whether there were hosts enough for an interval."""
        return self.comparison.interval.low > 0.0


def another_path(differences: Sequence[str]) -> str:
    """Sentence about the differences of a path."""
    return "another path than before ({0})".format("; ".join(differences))


class _Pair(NamedTuple):
    series: Series
    before: list[Window]
    after: list[Window]
    rounds: int
    asked: bool

    @property
    def coarse(self) -> bool:
        return is_coarse(self.before + self.after)


def compare_hosts(pairs: dict[str, tuple[Any, Any]]) -> dict[str, HostVerdict]:
    """Host to its verdict. A pair is a Baseline before and one after, or a text that states why
    there is none. The error is shared by all figures of all hosts (Bonferroni)."""
    problems = {host: _problems(*pairs[host]) for host in pairs}
    host_pairs = {host: [] if problems[host] else _pairs(*pairs[host]) for host in pairs}
    figures = {
        (host, pair.series): _ready(pair) for host in host_pairs for pair in host_pairs[host]
    }
    comparisons = max(1, sum(len(ready) for ready in figures.values()))
    verdicts = {}
    for host in pairs:
        judged = [
            _judge(pair, figures[host, pair.series], comparisons) for pair in host_pairs[host]
        ]
        missing = [] if problems[host] else _missing_probes(*pairs[host], judged)
        remarks = [] if problems[host] else _remarks(*pairs[host])
        lost = [] if problems[host] else losses(*pairs[host])
        verdicts[host] = HostVerdict(host, judged, problems[host] + missing, remarks, lost)
    return verdicts


class Stability(NamedTuple):
    """``unstable`` names central figures that varied without a change; ``figures`` were checked."""

    unstable: list[str]
    figures: int


def stability(baseline: Baseline) -> Stability:
    """Whether the second half of a baseline is like its first, figure by figure."""
    names = []
    figures = 0
    for series, windows in series_of(baseline.windows).items():
        if series.layer == "host" or is_coarse(windows):
            continue
        for figure, values in values_of(windows):
            if figure == "p99" or not values:
                continue
            steady = verdict.is_stable(values, verdict.MARGINS[figure])
            figures += steady is not None
            if steady is False:
                names.append(f"{series.name} {figure}")
    return Stability(names, figures)


def unmeasured(baseline: Baseline) -> list[str]:
    """Why this baseline is none to compare with: no figure at all, or a probe without one."""
    every = series_of(baseline.windows)
    coarse = [series for series, windows in every.items() if is_coarse(windows, FEWER)]
    counts = {
        series: 0 if series in coarse else told_windows(windows)
        for series, windows in every.items()
    }
    problems = []
    if not any(count >= FEWEST_WINDOWS for count in counts.values()):
        problems.append(
            f"no figure was measured in {FEWEST_WINDOWS} windows or more{because(baseline.remarks)}"
        )
    measured = [series for series, count in counts.items() if count >= FEWEST_WINDOWS]
    return problems or without_answer(baseline, measured, names_of(baseline.windows), coarse)


def windows_needed(baselines: Sequence[Baseline]) -> tuple[int, int]:
    """Number of windows per side that bound an interval of each figure, and number of figures that
    share the error if they are compared together."""
    figures = sum(
        len(values) >= FEWEST_WINDOWS
        for baseline in baselines
        for windows in series_of(baseline.windows).values()
        for _, values in values_of(windows)
    )
    return verdict.fewest_windows(verdict.ALPHA / max(1, figures)), figures


def _ratios_of(
    verdicts: dict[str, HostVerdict], hosts: Sequence[str]
) -> dict[tuple[Series, str], dict[str, list[float]]]:
    """The ratios by kind of series and figure, then by host.

    All subjects of a host are one observation of it.
    """
    ratios: dict[tuple[Series, str], dict[str, list[float]]] = {}
    for host in hosts:
        for series in verdicts[host].series if host in verdicts else []:
            if is_coarse(series.before + series.after):
                continue  # of such only harm is told: they would speak for the others
            for figure in series.figures:
                kind = (series.series._replace(subject=""), figure.name)
                by_host = ratios.setdefault(kind, {})
                by_host.setdefault(host, []).append(figure.comparison.interval.ratio)
    return ratios


def compare_fleet(
    verdicts: dict[str, HostVerdict], changed: Sequence[str], unchanged: Sequence[str]
) -> list[FleetVerdict]:
    """Each figure of each kind of series over the changed hosts, less what the others saw.

    A host is one observation: the median of the ratios of its subjects (its disks, its mounts).
    """
    ratios = _ratios_of(verdicts, [*changed, *unchanged])
    ours = {kind: [host for host in changed if host in ratios[kind]] for kind in ratios}
    kinds = [kind for kind in sorted(ratios, key=str) if ours[kind]]
    wholes = {kind: _whole_of(kind, kinds) for kind in kinds}
    results = []
    for kind in kinds:
        by_host = ratios[kind]
        others = [host for host in unchanged if host in by_host]
        comparison = fleet.compare_fleet(
            [verdict.median(by_host[host]) for host in ours[kind]],
            [verdict.median(by_host[host]) for host in others],
            verdict.MARGINS[kind[1]],
            _sharing(kind, wholes),
        )
        whole = wholes[kind]
        results.append(
            FleetVerdict(
                _fleet_name(kind),
                ours[kind],
                others,
                comparison,
                _sharing(kind, wholes),
                None if whole is None else _fleet_name(whole),
            )
        )
    return results


_Kind = tuple[Series, str]


def _whole_of(kind: _Kind, kinds: Sequence[_Kind]) -> _Kind | None:
    """A figure of what this is a part of."""
    if kind[0].layer not in PARTS:
        return None
    whole = kind[0]._replace(layer="user")
    matches = [other for other in kinds if other[0] == whole]
    return matches[0] if matches else None


def _sharing(kind: _Kind, wholes: dict[_Kind, _Kind | None]) -> int:
    """The number of figures share the error with this: those that decide, the tails apart from the
    middles, so that the noise of the ones costs nothing of the power of the others."""
    is_tail = kind[1] == "p99"
    return sum(whole is None for other, whole in wholes.items() if (other[1] == "p99") == is_tail)


def _fleet_name(kind: _Kind) -> str:
    return f"{kind[0].probe} {kind[0].kind} {kind[1]}"


# -- one host -------------------------------------------------------------------------------------


def _problems(before: Any, after: Any) -> list[str]:
    """Why the two sides are not compared: one is missing, or they were measured differently."""
    sides = (("before", before), ("after", after))
    missing = [f"{name}: {side}" for name, side in sides if isinstance(side, str)]
    if missing:
        return missing
    try:
        requests = [(_by_name(side.probes), float(side.seconds)) for side in (before, after)]
    except PolicyError as problem:
        return [f"the baseline requires a measurement that is not possible: {problem}"]
    if requests[0] != requests[1]:
        return [
            f"before and after were not measured alike ({_difference(requests[0], requests[1])}): "
            "measure both with the same probes and seconds"
        ]
    return []


def _by_name(probes: list[dict[str, Any]]) -> dict[str, Any]:
    return {probe.name: probe.options for probe in check_probes(probes)}


def _difference(before: tuple[dict[str, Any], float], after: tuple[dict[str, Any], float]) -> str:
    if before[1] != after[1]:
        return f"windows of {before[1]:g} s and of {after[1]:g} s"
    names = sorted(
        name for name in set(before[0]) | set(after[0]) if before[0].get(name) != after[0].get(name)
    )
    return "probe {0}".format(", ".join(names))


def _pairs(before: Baseline, after: Baseline) -> list[_Pair]:
    first, second = series_of(before.windows), series_of(after.windows)
    keys = list(first) + [series for series in second if series not in first]
    names, requests = names_of(before.windows + after.windows), asked_of(before)
    return [
        _Pair(
            series,
            first.get(series, []),
            second.get(series, []),
            before.rounds,
            any(serves(series, request, names) for request in requests),
        )
        for series in keys
    ]


_Ready = list[tuple[str, list[float], list[float]]]


def _ready(pair: _Pair) -> _Ready:
    """The figures that both sides tell in windows enough."""
    least = unit_of(pair.before + pair.after) if pair.coarse else LEAST
    before, after = dict(values_of(pair.before, least)), dict(values_of(pair.after, least))
    sides = [(name, before[name], after[name]) for name in before if name in after]
    return [side for side in sides if min(len(side[1]), len(side[2])) >= FEWEST_WINDOWS]


def _judge(pair: _Pair, ready: _Ready, comparisons: int) -> SeriesVerdict:
    compared = [
        Figure(name, verdict.compare(before, after, verdict.MARGINS[name], comparisons))
        for name, before, after in ready
    ]
    if pair.coarse:
        compared = [figure for figure in compared if _shows_harm(figure)]
    # A coarse counter does not excuse a disk without any figure after the change.
    coarse = pair.coarse and told_windows(pair.after) > 0
    why = None if compared else COARSE if coarse else _short(pair)
    idle = coarse or _is_idle(pair)
    return SeriesVerdict(
        pair.series,
        pair.before,
        pair.after,
        compared,
        None if idle else why,
        why if idle else None,
        _differences(pair, _PATH),
        _changed_conditions(pair),
        pair.asked,
        _gone(pair, ready) if compared and pair.asked else None,
    )


def _shows_harm(figure: Figure) -> bool:
    comparison = figure.comparison
    suspect = comparison.suspect and comparison.interval.ratio > 1.0
    return comparison.verdict == verdict.SLOWER or suspect


def _is_idle(pair: _Pair) -> bool:
    """Whether low load explains the missing figures.

    An observed disk is busy in more or fewer windows by chance. But a disk that was busy in most
    windows before, and has no figure after, may hang. Requested series need figures anyway:
    _missing_probes() reports the others.
    """
    before, after = told_windows(pair.before), told_windows(pair.after)
    if pair.series.probe == TCP or pair.series.size is not None:
        return max(before, after) < FEWEST_WINDOWS
    return before < FEWEST_WINDOWS or after > 0 or 2 * before < pair.rounds


def _short(pair: _Pair) -> str:
    text = (
        f"it has a figure in {told_windows(pair.before)} windows before and in "
        f"{told_windows(pair.after)} after, and {FEWEST_WINDOWS} are needed"
    )
    cached = sum(is_cached(window) for window in pair.before + pair.after)
    return text + (f"; a cache answered {cached} windows" if cached else "")


def _gone(pair: _Pair, ready: _Ready) -> str | None:
    """A figure that nearly every window had before and that is now missing.

    Its value after the change is unknown, for example the tail of a window that was cut short.
    """
    after = dict(values_of(pair.after))
    names = [name for name, _, _ in ready]
    for name, values in values_of(pair.before):
        if name not in names and len(values) > _NEARLY_ALL * told_windows(pair.before):
            without = [window.n for window in pair.after if getattr(window, name) is None]
            return (
                f"{name} exists in {len(values)} windows before and in "
                f"{len(after.get(name, []))} after; other windows have too few samples for it "
                f"({max(without or [0])} at most)"
            )
    return None


def _differences(pair: _Pair, conditions: Sequence[tuple[str, str]]) -> list[str]:
    """Differences between conditions that both sides have.

    A condition that one side lacks, such as a baseline of an older release, is not a difference.
    """
    differences = []
    for name, words in conditions:
        sides = [_conditions(side, name) for side in (pair.before, pair.after)]
        if all(sides) and sides[0] != sides[1]:
            texts = ["/".join(side) for side in sides]
            differences.append("{0}: {1} before, {2} after".format(words, *texts))
    return differences


def _changed_conditions(pair: _Pair) -> list[str]:
    if not pair.before or not pair.after:
        return []
    differences = _differences(pair, _SAME)
    rates = [_numbers(side, "per_second") for side in (pair.before, pair.after)]
    if all(rates):
        first, second = [verdict.median(rate) for rate in rates]
        if max(first, second) > _MUCH_LOAD * max(min(first, second), 0.1):
            differences.append(f"{first:.0f} requests per second before, {second:.0f} after")
    for words, side in (("before", pair.before), ("after", pair.after)):
        steal = _numbers(side, "steal_percent")
        if steal and max(steal) > _MOST_STEAL:
            differences.append(f"{words}, the hypervisor took up to {max(steal):.0f}% of the CPUs")
        over = _loads_above_cpus(side)
        if over:
            differences.append(f"{words}, the load was up to {max(over):.1f}, above the CPUs")
    return differences


def _loads_above_cpus(side: Sequence[Window]) -> list[float]:
    loads = [
        (load, window.conditions.get("cpus"))
        for window in side
        for load in _numbers([window], "load")
    ]
    return [load for load, cpus in loads if isinstance(cpus, int) and load > cpus]


def _conditions(windows: Sequence[Window], name: str) -> list[str]:
    values = [window.conditions.get(name) for window in windows]
    return sorted({str(value) for value in values if value is not None})


def _numbers(windows: Sequence[Window], name: str) -> list[float]:
    values = [window.conditions.get(name) for window in windows]
    return [value for value in values if isinstance(value, (int, float))]


def _missing_probes(before: Baseline, after: Baseline, judged: list[SeriesVerdict]) -> list[str]:
    """Requested probes without a compared series and without a problem of their series."""
    series = [result.series for result in judged if result.figures or result.problem]
    coarse = [result.series for result in judged if result.idle == COARSE]
    return without_answer(before, series, names_of(before.windows + after.windows), coarse)


def _remarks(before: Baseline, after: Baseline) -> list[str]:
    return [
        f"{name}: {remark}"
        for name, side in (("before", before), ("after", after))
        for remark in side.remarks
    ]
