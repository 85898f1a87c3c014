#!/usr/bin/env python3
"""How often the verdict on a change is wrong: when nothing changed, and when something did.

Usage: tests/bench/latency_verdict.py [--page]   (--page: write the tables into the docs page)

Each comparison is ten windows before and ten after, the default. Simulated windows have a spread,
and neighbours that resemble each other (a first-order autoregression). Recorded ones are of a real
machine on which nothing was changed (tests/fixtures/latency/SOURCES.md): twenty windows in a row
give one comparison, and no window is in two. A change is put into the after side as a factor, and
one was really there, where a server worked longer.

All draws have fixed seeds, so that each run prints the same. Exits with 1 where a rate is out of
its bounds, or where the page docs/latency_rates.md has other rates.
"""

import json
import math
import random
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugin_utils"))

from hostproof_controller.latency.fleet import compare_fleet  # noqa: E402
from hostproof_controller.latency.verdict import (  # noqa: E402
    FASTER,
    MARGINS,
    SLOWER,
    UNCHANGED,
    compare,
    ratio_interval,
)

FIXTURES = ROOT / "tests/fixtures/latency"
PAGE = ROOT / "docs/latency_rates.md"
MARKS = ("<!-- rates: begin -->\n", "<!-- rates: end -->\n")

SIMULATIONS = 400
#: Windows on each side of a comparison.
WINDOWS = 10
#: Standard deviation of a window's logarithm, and correlation of neighbours.
SPREADS = (0.02, 0.05, 0.10)
NEIGHBOURS = (0.0, 0.3, 0.6, 0.9)
CHANGES = (1.1, 1.2, 1.5)
#: So many figures share the error where a host has a network and disks.
AMONG = 10
#: Upper ends of the spreads that recorded comparisons are told by.
BUCKETS = (0.05, 0.10, 0.15, 0.25, math.inf)
SIMULATED, RECORDED, DISTURBED = "simulated", "recorded", "load came and went"
#: A server that works longer, and the one that it is like before.
CHANGED = {"slower": "tcp", "farther": "far"}
#: "host" is the part of this host itself: the difference of what a process felt and of the rest.
WHAT = {
    "disk": "reads",
    "far": "requests 0.4 ms away",
    "farther": "requests 0.4 ms away",
    "responder": "requests over loopback",
    "slower": "requests over loopback",
    "tcp": "requests over loopback",
}
HOW = {"first": "before other processes", "beside": "with other load"}
#: The recorded windows that are as steady as a network's are, so that a change must be found.
STEADY = f"{WHAT['far']}, {HOW['first']}, p50"
HOSTS = 20
FLEETS = 1000
#: A rate near its bound needs more draws: of 1000, 5% is known to 1.4% alone.
UNCHANGED_FLEETS = 10_000
FLEET_CHANGES = (1.03, 1.05, 1.1)
FLEETS_OF = ("spread 5%, neighbours 0.3", "spread 10%, neighbours 0.3")
#: Standard deviation of a host's log ratio up to which twenty hosts show 5%.
MOST_FLEET_SPREAD = 0.07

#: The bounds. Those of what is found hold where windows spread no more than MOST_SPREAD.
MOST_FALSE = 0.05
LEAST_FOUND = 0.75
LEAST_FLEET = 0.80
MOST_SPREAD = 0.05
MOST_NEIGHBOURS = 0.6
FEWEST = 200

#: Before and after, in order of time.
Pair = tuple[list[float], list[float]]
Recording = dict[str, list[float | None]]


class Group(NamedTuple):
    """Comparisons of one kind in which nothing changed.

    ``bound``: a change must be found here. ``drifts``: windows follow each other so closely that
    ten of them are not told from a change; the rate is printed, and no bound of its own.
    """

    source: str
    name: str
    margin: float
    pairs: Sequence[Pair]
    bound: bool = False
    drifts: bool = False


class Tables:
    """What is printed, and what is out of bounds."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.wrong: list[str] = []

    def head(self, *titles: str) -> None:
        self.lines += ["", row(titles), row(["---"] + ["---:"] * (len(titles) - 1))]

    def row(self, *cells: str) -> None:
        self.lines.append(row(cells))

    def bound(self, what: str, holds: bool) -> None:
        if not holds:
            self.wrong.append(what)


def main() -> int:
    if set(sys.argv[1:]) - {"--page"}:
        print(__doc__, file=sys.stderr)
        return 2
    tables = Tables()
    groups = [*simulated(), *recorded()]
    hosts(tables, groups)
    by_spread(tables, groups)
    really_changed(tables)
    fleets(tables, groups)
    text = "\n".join(tables.lines).strip("\n") + "\n"
    print(text)
    if "--page" in sys.argv:
        PAGE.write_text(with_tables(PAGE.read_text(), text))
    elif text not in (PAGE.read_text() if PAGE.exists() else ""):
        tables.wrong.append(f"{PAGE.relative_to(ROOT)} has other rates: run this with --page")
    for problem in tables.wrong:
        print(f"OUT OF BOUNDS: {problem}")
    print(f"Expected: all rates within their bounds: {'NOT MET' if tables.wrong else 'met'}")
    return 1 if tables.wrong else 0


# -- where comparisons come from ------------------------------------------------------------------


def simulated() -> Iterator[Group]:
    for spread in SPREADS:
        for neighbours in NEIGHBOURS:
            pairs = []
            for seed in range(SIMULATIONS):
                drawn = windows(2 * WINDOWS, spread, neighbours, seed)
                pairs.append((drawn[:WINDOWS], drawn[WINDOWS:]))
            name = f"spread {spread:.0%}, neighbours {neighbours:g}"
            steady = spread <= MOST_SPREAD
            drifts = neighbours > MOST_NEIGHBOURS
            yield Group(SIMULATED, name, MARGINS["p50"], pairs, steady, drifts)


def windows(number: int, spread: float, neighbours: float, seed: int) -> list[float]:
    chance = random.Random(seed)
    own = spread * math.sqrt(1 - neighbours**2)
    value = chance.gauss(0, spread)
    values = []
    for _ in range(number):
        values.append(400 * math.exp(value))
        value = neighbours * value + chance.gauss(0, own)
    return values


def recorded() -> list[Group]:
    """A group for each kind of figure, of all recordings in which nothing changed."""
    return [*groups_of(RECORDED, "aa-*.json"), *groups_of(DISTURBED, "disturbed-*.json")]


def groups_of(source: str, pattern: str) -> Iterator[Group]:
    kinds: dict[tuple[str, str], list[Pair]] = {}
    for series in recordings(pattern):
        for name, values in sorted(series.items()):
            words = name.split()
            if words[-1] not in MARGINS:
                continue
            what = WHAT[words[1]] + (", host" if words[-2] == "host" else "")
            pairs = kinds.setdefault((f"{what}, {HOW[words[0]]}", words[-1]), [])
            pairs += blocks(values, values)
    for (kind, figure), pairs in sorted(kinds.items()):
        if pairs:
            name = f"{kind}, {figure}"
            yield Group(source, name, MARGINS[figure], pairs, name == STEADY)


def recordings(pattern: str = "aa-*.json") -> list[Recording]:
    """What each figure was, a window after the other."""
    return [json.loads(path.read_text())["series"] for path in sorted(FIXTURES.glob(pattern))]


def blocks(first: Sequence[float | None], second: Sequence[float | None]) -> list[Pair]:
    """Ten windows of the first series and the ten that followed of the second, none used twice.

    Blocks in which a window is missing are left out.
    """
    pairs = []
    for begin in range(0, len(first) - 2 * WINDOWS + 1, 2 * WINDOWS):
        middle, end = begin + WINDOWS, begin + 2 * WINDOWS
        before = [value for value in first[begin:middle] if value]
        after = [value for value in second[middle:end] if value]
        if len(before) == len(after) == WINDOWS:
            pairs.append((before, after))
    return pairs


# -- how often the verdict is what -----------------------------------------------------------------


def hosts(tables: Tables, groups: list[Group]) -> None:
    """One host: a verdict for each comparison."""
    tables.lines += [
        "One host, ten windows before and ten after. *False*, *suspect*, *unchanged* and *not "
        "stable*: nothing had changed. *Found*: it was slower by that share, and was called slower."
    ]
    titles = ["windows", "n", "spread", "false", "suspect", "unchanged", "not stable"]
    tables.head(*titles, *found_titles())
    totals: dict[str, list[int]] = {}
    for group in groups:
        comparisons = [compare(before, after, group.margin) for before, after in group.pairs]
        number = len(comparisons)
        false = sum(comparison.verdict in (SLOWER, FASTER) for comparison in comparisons)
        shares = found_shares([(*pair, group.margin) for pair in group.pairs])
        name = f"{group.source}: {group.name}"
        tables.row(
            name,
            str(number),
            percent(statistics.median(spread_of(side) for pair in group.pairs for side in pair)),
            percent(false / number),
            percent(sum(comparison.suspect for comparison in comparisons) / number),
            percent(sum(comparison.verdict == UNCHANGED for comparison in comparisons) / number),
            percent(sum(comparison.stable is False for comparison in comparisons) / number),
            *map(percent, shares),
        )
        total = totals.setdefault(group.source, [0, 0])
        total[0] += false
        total[1] += number
        if group.source == SIMULATED and not group.drifts:
            tables.bound(f"{name}: {false} of {number} false", false <= MOST_FALSE * number)
        if group.bound:
            share = shares[CHANGES.index(1.2)]
            tables.bound(f"{name}: +20% found {percent(share)}", share >= LEAST_FOUND)
    tables.head("all comparisons", "n", "false")
    for source, (false, number) in totals.items():
        tables.row(source, str(number), percent(false / number))
        if source != DISTURBED:
            tables.bound(f"{source}: {false} of {number} false", false <= MOST_FALSE * number)
            tables.bound(f"only {number} comparisons are {source}", number >= FEWEST)


def found_titles() -> list[str]:
    titles = [f"{change - 1:+.0%} found" for change in CHANGES]
    return [*titles, f"{CHANGES[1] - 1:+.0%} among {AMONG}"]


def found_shares(pairs: Sequence[tuple[list[float], list[float], float]]) -> list[float]:
    """Of each change the share that was called slower; the last is judged among other figures."""
    shares = []
    for change, comparisons in [*((change, 1) for change in CHANGES), (CHANGES[1], AMONG)]:
        verdicts = [
            compare(before, [value * change for value in after], margin, comparisons).verdict
            for before, after, margin in pairs
        ]
        shares.append(verdicts.count(SLOWER) / len(verdicts))
    return shares


def by_spread(tables: Tables, groups: list[Group]) -> None:
    """What a spread of the baseline's own windows promises."""
    tables.lines += ["", "The recorded comparisons by the spread of the ten windows before."]
    titles = ("spread of the windows before", "n", "false")
    tables.head(*titles, *found_titles())
    real = [
        (before, after, group.margin)
        for group in groups
        if group.source == RECORDED
        for before, after in group.pairs
    ]
    low = 0.0
    for high in BUCKETS:
        pairs = [pair for pair in real if low <= spread_of(pair[0]) < high]
        name = f"{low:.0%} to {high:.0%}" if high < math.inf else f"{low:.0%} and more"
        low = high
        if not pairs:
            tables.row(name, "0", *["-"] * (len(CHANGES) + 2))
            continue
        words = [compare(*pair).verdict for pair in pairs]
        shares = found_shares(pairs)
        false = sum(word in (SLOWER, FASTER) for word in words)
        tables.row(name, str(len(pairs)), percent(false / len(pairs)), *map(percent, shares))
        if high <= MOST_SPREAD:
            share = shares[CHANGES.index(1.2)]
            tables.bound(f"recorded, {name}: +20% found {percent(share)}", share >= LEAST_FOUND)


def spread_of(side: Sequence[float]) -> float:
    return statistics.stdev(math.log(value) for value in side)


def really_changed(tables: Tables) -> None:
    """Before with the one server, after with the slower one, recorded in turn."""
    tables.lines += ["", "Recorded with a real change: a server that takes longer to answer."]
    tables.head("figure", "true change", "n", "slower", "faster", "suspect")
    for series in recordings():
        for name in sorted(name for name in series if len(name.split()) == 4):
            how, probe, *rest = name.split()
            other = " ".join([how, CHANGED.get(probe, ""), *rest])
            if other not in series or rest not in (["kernel", "p50"], ["user", "p50"]):
                continue
            both = [(a, b) for a, b in zip(series[other], series[name], strict=True) if a and b]
            change = statistics.median(after / before for before, after in both)
            pairs = blocks(series[other], series[name])
            comparisons = [compare(before, after, MARGINS["p50"]) for before, after in pairs]
            words = [comparison.verdict for comparison in comparisons]
            tables.row(
                f"requests {HOW[how]}, {probe}, {rest[0]} {rest[1]}",
                f"{change - 1:+.0%}",
                str(len(comparisons)),
                percent(words.count(SLOWER) / len(comparisons)),
                percent(words.count(FASTER) / len(comparisons)),
                percent(sum(comparison.suspect for comparison in comparisons) / len(comparisons)),
            )
            tables.bound(f"{name}: called faster though slower", FASTER not in words)


def fleets(tables: Tables, groups: list[Group]) -> None:
    """Twenty hosts, each with its own comparison, and one verdict on all."""
    tables.lines += [
        "",
        f"{HOSTS} hosts, one verdict on all of them; {UNCHANGED_FLEETS} fleets each in "
        f"which nothing changed, and {FLEETS} for each change. With controls, "
        f"{HOSTS} more are left unchanged, and all drift by 10%.",
    ]
    titles = [f"{change - 1:+.0%} found" for change in FLEET_CHANGES]
    tables.head("hosts", "spread of a host's ratio", "false", *titles)
    pools: dict[str, list[float]] = {}
    for group in groups:
        *_, how, figure = group.name.split(", ")
        if group.source == RECORDED and figure == "p50" and "host" not in group.name:
            pools.setdefault(f"recorded: requests and reads {how}", []).extend(ratios(group))
        elif group.source == SIMULATED and group.name in FLEETS_OF:
            pools[f"simulated: {group.name}"] = ratios(group)
    for name, pool in pools.items():
        for controls in (False, True):
            one_fleet(tables, name, pool, controls)


def one_fleet(tables: Tables, name: str, pool: list[float], controls: bool) -> None:
    margin = MARGINS["p50"]
    drift = 1.1 if controls else 1.0
    shares = {}
    for change in (1.0, *FLEET_CHANGES):
        called = 0
        number = UNCHANGED_FLEETS if change == 1.0 else FLEETS
        for seed in range(number):
            chance = random.Random(seed)
            # Which side is before is drawn, so that a pool's own drift is no change.
            drawn = [
                ratio ** chance.choice((-1, 1)) * drift
                for ratio in chance.sample(pool, 2 * HOSTS if controls else HOSTS)
            ]
            changed = [ratio * change for ratio in drawn[:HOSTS]]
            word = compare_fleet(changed, drawn[HOSTS:], margin).verdict
            called += word in (SLOWER, FASTER) if change == 1.0 else word == SLOWER
        shares[change] = called / number
    spread = statistics.stdev(math.log(ratio) for ratio in pool)
    name += ", with controls" if controls else ""
    tables.row(name, f"{spread:.3f}", *(percent(share) for share in shares.values()))
    tables.bound(f"{name}: {percent(shares[1.0])} of fleets false", shares[1.0] <= MOST_FALSE)
    if not controls and spread <= MOST_FLEET_SPREAD:
        share = shares[1.05]
        tables.bound(f"{name}: +5% found {percent(share)}", share >= LEAST_FLEET)


def ratios(group: Group) -> list[float]:
    return [ratio_interval(before, after, 0.05).ratio for before, after in group.pairs]


# -- printing -------------------------------------------------------------------------------------


def row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def with_tables(page: str, text: str) -> str:
    """The page with these tables between its marks."""
    begin, end = page.index(MARKS[0]) + len(MARKS[0]), page.index(MARKS[1])
    return page[:begin] + "\n" + text + "\n" + page[end:]


if __name__ == "__main__":
    sys.exit(main())
