# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary of Orion, Oracle's I/O calibration tool, or lines of several found with grep.

11.1 prints the latency without a unit: it is milliseconds (a run of the fixtures has 5 requests in
flight at 19,019 a second, which are 0.26 ms each, and prints 0.26). Later ones print "usecs".
Sources: tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import decimal_of_line, decimals_of_line, integer

_WHAT = "Orion summary"
_PREFIX = re.compile(r"^([^\s:]*_summary\.txt):(.*)$")
_AT = r" @ Small=(\d{1,9}) and Large=(\d{1,9})$"
_LARGE = re.compile(r"^Maximum Large MBPS=([\d.]+)" + _AT)
_SMALL = re.compile(r"^Maximum Small IOPS=([\d.]+)" + _AT)
_LATENCY = re.compile(r"^Minimum Small Latency=([\d.]+)( usecs)?" + _AT)
_DETAIL = re.compile(
    r"^(Small|Large) (Read|Write) Latency: avg=([\d.]+) us, min=([\d.]+) us, max=([\d.]+) us, "
    r"std dev=([\d.]+) us" + _AT
)
_BINS = re.compile(r"^(Small|Large) Read / Write Latency Histogram" + _AT)
_BIN = re.compile(r"^(\d+) - (\d+) +us: +(\d+) \([^)]*\) +(\d+) \([^)]*\)$")
_SMALL_SIZE = re.compile(r"^Small IO size: (\d{1,6}) KB$")
_LARGE_SIZE = re.compile(r"^Large IO size: (\d{1,6}) KB$")
_COMMAND = re.compile(r"(?:^|\s)-run (simple|normal|oltp|dss)(?:\s|$)")
_RUN_BEGINS = re.compile(r"^(?:ORION VERSION|ORION: ORacle IO Numbers)")


#: The figures that a summary ends with, by our names.
_LINES = {
    "large_mbps": "Maximum Large MBPS",
    "small_iops": "Maximum Small IOPS",
    "small_latency": "Minimum Small Latency",
}
#: Which of them a run of this kind has; others may have any.
_ENDS = {
    "simple": tuple(_LINES),
    "normal": tuple(_LINES),
    "oltp": ("small_iops", "small_latency"),
    "dss": ("large_mbps",),
}


class Best(NamedTuple):
    """``value``, with the number of small and large requests in flight."""

    value: float
    small: int
    large: int


class Latency(NamedTuple):
    """Microseconds, of "read" or "write", of "small" or "large" requests.

    ``bins``: k to the number of requests that took less than 2**k us; empty where there are none.
    """

    kind: str
    direction: str
    average: float
    minimum: float
    maximum: float
    deviation: float
    small: int
    large: int
    bins: Dict[int, int]


class Summary(NamedTuple):
    """One run. ``large_mbps``: megabytes per second; ``small_latency``: microseconds; sizes: bytes.

    ``file`` is the name before each line in the output of grep. None: not measured.
    ``missing``: parts that the header announces and that the text does not have, because the run
    was interrupted.
    """

    file: Optional[str]
    small_size: Optional[int]
    large_size: Optional[int]
    large_mbps: Optional[Best]
    small_iops: Optional[Best]
    small_latency: Optional[Best]
    latencies: List[Latency]
    line: int
    missing: List[str]


def parse(text: str) -> List[Summary]:
    """Every run in the text. ParseError where none has a figure, or a figure is scrambled.

    A run that has its head and no figure, as it was cut off, is among them.
    """
    candidates = [_summary(run) for run in _runs(text)]
    summaries = [summary for summary in candidates if summary is not None]
    if not any(
        summary.large_mbps or summary.small_iops or summary.small_latency for summary in summaries
    ):
        raise ParseError(_WHAT, "it has no line 'Maximum Large MBPS=' or 'Maximum Small IOPS='")
    return summaries


def _runs(text: str) -> List[List[tuple]]:
    """The lines of each run that are not blank: number, name of the file, text."""
    runs: List[List[tuple]] = [[]]
    file: Optional[str] = None
    for number, line in enumerate(text.split("\n"), 1):
        match = _PREFIX.match(line.strip())
        name, line = match.groups() if match else (None, line.strip())
        if _RUN_BEGINS.match(line) or name != file:
            runs.append([])
            file = name if line else file
        if line:
            runs[-1].append((number, name, line))
    return [run for run in runs if run]


def _last(pattern: Pattern[str], run: List[tuple]) -> Optional[str]:
    """What the last line that matches shows."""
    matches = [pattern.search(line) for _, _, line in run]
    shown = [match.group(1) for match in matches if match]
    return shown[-1] if shown else None


def _size(pattern: Pattern[str], run: List[tuple]) -> Optional[int]:
    kilobytes = _last(pattern, run)
    return None if kilobytes is None else integer(kilobytes) * 1024


def _summary(run: List[tuple]) -> Optional[Summary]:
    best, latencies = _figures(run)
    begun = _RUN_BEGINS.match(run[0][2]) is not None
    if not best and not begun:
        return None
    return Summary(
        file=run[0][1],
        small_size=_size(_SMALL_SIZE, run),
        large_size=_size(_LARGE_SIZE, run),
        large_mbps=best.get("large_mbps"),
        small_iops=best.get("small_iops"),
        small_latency=best.get("small_latency"),
        latencies=latencies,
        line=run[0][0],
        missing=_missing(_last(_COMMAND, run), best, begun),
    )


def _figures(run: List[tuple]) -> Tuple[Dict[str, Best], List[Latency]]:
    """The best figures of a run by our names, and the latencies with their histograms."""
    best: Dict[str, Best] = {}
    latencies: List[Latency] = []
    bins_of: Optional[tuple] = None
    bins_begun = 0
    for number, _, line in run:
        figure = _figure(line, number)
        if figure is not None:
            best[figure[0]] = figure[1]
            continue
        match = _DETAIL.match(line)
        if match:
            new = _detail(match, number)
            # The same point of the matrix is printed as the best of two figures.
            latencies = [latency for latency in latencies if _point(latency) != _point(new)]
            latencies.append(new)
            continue
        match = _BINS.match(line)
        if match:
            bins_of = (match.group(1).lower(), integer(match.group(2)), integer(match.group(3)))
            bins_begun = number
            continue
        match = _BIN.match(line)
        if match and bins_of is not None:
            if _add_bin(latencies, bins_of, match, number):
                bins_begun = 0
        elif line.startswith(("Maximum ", "Minimum ")) or " Latency: " in line:
            raise ParseError(_WHAT, f"it is not a line of figures: {kind_of(line)}", number)
    if bins_begun:
        raise ParseError(_WHAT, "the histogram has no last bin: it is cut off", bins_begun)
    return best, latencies


def _missing(command: Optional[str], best: Dict[str, Best], begun: bool) -> List[str]:
    """The lines that such a run ends with, and this one has not; all where it has none.

    Below a head the rate of small I/Os is never without their latency.
    """
    names = _ENDS.get(command or "", () if best else tuple(_LINES))
    if begun and "small_iops" in best:
        names += ("small_latency",) if "small_latency" not in names else ()
    return [_LINES[name] for name in names if name not in best]


def _point(latency: Latency) -> tuple:
    return latency.kind, latency.direction, latency.small, latency.large


def _figure(line: str, number: int) -> Optional[tuple]:
    for name, pattern in (("large_mbps", _LARGE), ("small_iops", _SMALL)):
        match = pattern.match(line)
        if match:
            value, small, large = match.groups()
            return name, Best(decimal_of_line(_WHAT, value, number), integer(small), integer(large))
    match = _LATENCY.match(line)
    if match:
        value, unit, small, large = match.groups()
        scale = 1.0 if unit else 1000.0
        return "small_latency", Best(
            decimal_of_line(_WHAT, value, number) * scale, integer(small), integer(large)
        )
    return None


def _detail(match: object, number: int) -> Latency:
    groups = match.groups()  # type: ignore[attr-defined]
    values = decimals_of_line(_WHAT, groups[2:6], number)
    if not values[1] <= values[0] <= values[2]:
        raise ParseError(_WHAT, "the average is not between minimum and maximum", number)
    return Latency(
        kind=groups[0].lower(),
        direction=groups[1].lower(),
        average=values[0],
        minimum=values[1],
        maximum=values[2],
        deviation=values[3],
        small=integer(groups[6]),
        large=integer(groups[7]),
        bins={},
    )


def _add_bin(latencies: List[Latency], bins_of: tuple, match: object, number: int) -> bool:
    """Add a line of the histogram, "64 - 128 us: 1112243 ( 91.12%) 0 ( 0.00%)".

    True for the last one, which holds all that took longer.
    """
    low, high, reads, writes = (integer(group) for group in match.groups())  # type: ignore[attr-defined]
    exponent = high.bit_length() - 1
    if high <= low or low & (low - 1):
        raise ParseError(_WHAT, f"the histogram has the bin {low} - {high}", number)
    is_last = low > 0 and high != 2 * low
    if is_last:
        exponent = low.bit_length()
    elif high != 1 << exponent:
        raise ParseError(_WHAT, f"the histogram has the bin {low} - {high}", number)
    for latency in latencies:
        if (latency.kind, latency.small, latency.large) == bins_of:
            count = reads if latency.direction == "read" else writes
            if count:
                latency.bins[exponent] = latency.bins.get(exponent, 0) + count
    return is_last
