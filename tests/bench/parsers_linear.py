#!/usr/bin/env python3
"""What a longer input costs every parser: the time must grow with the input, not with its square.

Usage: tests/bench/parsers_linear.py [NAME...]   (parts of parsers' names; all unless told)

Each parser gets its good text with a long run of one piece put in at several places, the whole text
many times over, each of its lines many times over, and each of them many times with other numbers
and names; masking gets the same. The length is doubled, and doubled again, up to 49,152 characters
or until one input takes a second. A table has the steepest growth of each parser. Expected: no
doubling costs more than three times as much.
"""

import contextlib
import importlib
import math
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit")]

importlib.import_module("conftest")  # puts the code where Ansible puts it

from ansible.module_utils.hostproof.collect.masking import masked  # noqa: E402
from ansible.module_utils.hostproof.errors import ParseError  # noqa: E402
from fuzz.parsing import targets  # noqa: E402

#: Blanks, words, digits, separators, openings without end, and lines.
PIECES = (
    *(" ", "\t", "\n", "a", "1", "a ", "a\n", "a=1\n", "- ", ".", ":", "=", "(", "[", "<", '"'),
    *("'", "\\", "\\\n", "#", "a=1,", "(a=1)"),
)
#: Characters at first: what is cubic takes a second with so many. Then each twice as many.
FIRST = 1536
DOUBLINGS = 5
#: A parser that is this fast is not given every length.
FAST = 0.002
#: Seconds from which on a time can be told from noise, and after which nothing longer is tried.
MEASURABLE = 0.004
LONG = 1.0
MOST_GROWTH = 3.0
#: Places in a text where a run is put in, and lines of it that are repeated.
PLACES = 2
LINES = 4


class Case(NamedTuple):
    name: str
    what: str
    parse: Callable[[str], Any]
    make: Callable[[int], str]


class Growth(NamedTuple):
    """What the doubling cost that ended with these seconds and this length."""

    times: float = 0.0
    seconds: float = 0.0
    length: int = 0
    what: str = ""


def main() -> int:
    parts = sys.argv[1:]
    worst: dict[str, Growth] = {}
    tried: dict[str, int] = {}
    longest: dict[str, float] = {}
    names = [name for name, _, _ in subjects() if not parts or any(part in name for part in parts)]
    # What is measured is processor time: another process costs the caches only.
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for name, count, seconds, growth in pool.imap_unordered(measured, names):
            tried[name], longest[name], worst[name] = count, seconds, growth
            if growth.times > MOST_GROWTH:
                print(f"{name}: x {growth.times:.1f} of {growth.what}", flush=True)
    print(f"{'inputs':>6} {'longest':>9} {'growth':>7} {'at characters':>13}  parser, input")
    for name, result in sorted(worst.items(), key=lambda pair: -pair[1].times):
        steepest = (
            f"x {result.times:5.2f} {result.length:13}" if result.times else f"{'-':>7} {'-':>13}"
        )
        what = f": {result.what}" if result.times else ", too fast to measure"
        print(f"{tried[name]:6} {longest[name]:7.3f} s {steepest}  {name}{what}")
    over = [name for name, result in worst.items() if result.times > MOST_GROWTH]
    print(f"{sum(tried.values())} kinds of input to {len(tried)} parsers")
    word = f"NOT MET: {', '.join(sorted(over))}" if over else "met"
    print(f"Expected: no doubling costs more than x {MOST_GROWTH:g}: {word}")
    print(f"{len(worst) - len(over)} passed, {len(over)} failed, 0 skipped")
    return 1 if over else 0


def measured(name: str) -> tuple[str, int, float, Growth]:
    """How many inputs a parser got, how long the longest took, and its steepest growth."""
    count, longest, worst = 0, 0.0, Growth()
    for case in cases(name):
        growth, seconds = grown(case)
        count, longest, worst = count + 1, max(longest, seconds), max(worst, growth)
    return name, count, longest, worst


def subjects() -> list[tuple[str, Callable[[str], Any], str]]:
    """Every parser, and the masking, with a text that it takes."""
    every = [(target.name, target.parse, target.good) for target in targets()]
    net = "LISTENER = (ADDRESS = (HOST = a))\nPASSWORDS_LISTENER = (a,\n b)\n# PASSWORD x\n"
    every.append(("masking.masked:listener.ora", lambda text: masked("listener.ora", text), net))
    options = "//a:b@n/a /a cifs username=a%b,password=c 0 0\nsqlplus a/b@c\ncurl -u a:b x\n"
    every.append(("masking.masked:fstab", lambda text: masked("/etc/fstab", text), options))
    script = "x | mysql -u a -pb\nldapsearch -w c \\\n -x\npassword: |\n  a\nuserid=a/b@c\n"
    every.append(("masking.masked:script", lambda text: masked("/etc/rc.local", text), script))
    form = '<a password="b"><name>secret</name><value>c</value>\n{"value": "c", "name": "token"}\n'
    every.append(("masking.masked:form", lambda text: masked("/etc/a.xml", text), form))
    return every


def cases(wanted: str) -> Iterator[Case]:
    for name, parse, whole in subjects():
        if name != wanted:
            continue
        good = whole[:4000]
        for place in places(good):
            for piece in PIECES:
                yield Case(name, f"{piece!r} at {place}", parse, run_at(good, place, piece))
        yield Case(name, "the text", parse, lambda length, good=good: many(good, length))  # type: ignore[misc]
        for at, line in lines_of(good):
            yield Case(name, f"line {line[:20]!r}", parse, lines_at(good, at, line, same=True))
            yield Case(name, f"lines as {line[:20]!r}", parse, lines_at(good, at, line, same=False))


def many(good: str, length: int) -> str:
    return good * (length // len(good) + 1)


def lines_of(good: str) -> list[tuple[int, str]]:
    """Lines and where they begin, spread over the text."""
    lines = []
    at = 0
    for line in good.splitlines(keepends=True):
        if line.strip():
            lines.append((at, line if line.endswith("\n") else line + "\n"))
        at += len(line)
    return lines[:: max(1, len(lines) // LINES)]


def lines_at(good: str, at: int, line: str, *, same: bool) -> Callable[[int], str]:
    """A line many times: the same, or each with a first word and a first number of its own."""

    def make(length: int) -> str:
        count = length // len(line) + 1
        if same:
            return good[:at] + line * count + good[at:]
        return good[:at] + "".join(other(line, number) for number in range(count)) + good[at:]

    return make


def other(line: str, number: int) -> str:
    line = re.sub(r"\d+", lambda match: str(number)[-len(match.group()) :], line, count=1)
    return re.sub(r"[A-Za-z_]\w*", lambda match: f"{match.group()}{number}", line, count=1)


def run_at(good: str, place: int, piece: str) -> Callable[[int], str]:
    return lambda length: good[:place] + piece * (length // len(piece)) + good[place:]


def places(text: str) -> list[int]:
    """Ends and beginnings of words of different lines, spread over the text."""
    positions = [0, len(text)]
    positions += [
        match.start() for match in re.finditer(r"(?<=\w)\b|\b(?=\w)|$|^", text, re.MULTILINE)
    ]
    positions = sorted(set(positions))
    step = max(1, len(positions) // PLACES)
    return positions[::step]


def grown(case: Case) -> tuple[Growth, float]:
    """The steepest doubling that could be measured, and the longest time."""
    steepest = Growth()
    times: dict[int, float] = {}

    def took(doubling: int) -> float:
        if doubling not in times:
            times[doubling] = seconds_for(case.parse, case.make(FIRST << doubling))
        return times[doubling]

    doubling = 0
    while doubling <= DOUBLINGS:
        if doubling and took(doubling) > MEASURABLE:
            # Where lengths were left out: what is steep takes no time, and then all of it.
            steepest = max(steepest, growth(case, doubling, took(doubling - 1), took(doubling)))
        if took(doubling) > LONG or steepest.times > MOST_GROWTH:
            break
        # The last two lengths are always measured.
        is_fast = took(doubling) < FAST and doubling < DOUBLINGS - 3
        doubling += 3 if is_fast else 1
    return steepest, max(times.values())


def growth(case: Case, doubling: int, before: float, after: float) -> Growth:
    """What the doubling cost; nothing, where the shorter input took too little to be measured and
    the longer one no more than the clock's step would explain."""
    length, shorter = len(case.make(FIRST << doubling)), len(case.make(FIRST << doubling - 1))
    doublings = math.log2(length / shorter)
    times = (after / max(before, MEASURABLE)) ** (1 / doublings)
    if times > MOST_GROWTH:
        # Twice more, both: a busy machine must not be a verdict.
        for _ in range(2):
            seconds = [
                seconds_for(case.parse, case.make(FIRST << shift))
                for shift in (doubling - 1, doubling)
            ]
            times = min(times, (seconds[1] / max(seconds[0], MEASURABLE)) ** (1 / doublings))
    return Growth(times, after, length, case.what)


def seconds_for(parse: Callable[[str], Any], text: str) -> float:
    began = time.process_time()
    with contextlib.suppress(ParseError):
        parse(text)
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
