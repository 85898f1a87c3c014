#!/usr/bin/env python3
"""What the parser of Oracle Net files does with 100,000 inputs that nobody would write.

Usage: tests/bench/oracle_net.py [INPUTS [SEED]]   (100000 inputs, seed 1 unless told)

Three kinds: files of tests/fixtures/oracle_net cut and scrambled, tokens of the grammar in any
order, and random characters. Each must be read or refused with line and column,
within a limit of CPU time. What is read must come back byte for byte, and an edit of it must read
as planned. At last, long inputs: twice the length must not take much more than twice the CPU time.
"""

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "module_utils"))

from hostproof.errors import ParseError  # noqa: E402
from hostproof.parsers.oracle import oracle_net, oracle_net_data  # noqa: E402

FIXTURES = sorted((ROOT / "tests/fixtures/oracle_net").glob("*/*.ora"))
TOKENS = ["(", ")", "=", "\n", " ", "\t", "#", '"', "'", "\\", ",", "\r\n", "A", "LISTENER", "1521"]
TOKENS += [
    *("(A=", "\n  ", "x y", "IFILE=", "\udcff", "\0", "\ufeff", "\xa0", "é", "(ADDRESS=(PORT=1)"),
]
#: CPU seconds for one input: a busy machine is no hang.
LIMIT = 1.0
ROW = "{:<12} {:>8} {:>8} {:>8} {:>10} {:>12}"


def main() -> int:
    arguments = [int(argument) for argument in sys.argv[1:3]]
    inputs, seed = arguments + [100000, 1][len(arguments) :]
    chance = random.Random(seed)
    texts = [path.read_bytes().decode("utf-8", "surrogateescape") for path in FIXTURES]
    kinds: dict[str, Callable[[], str]] = {
        "scrambled": lambda: scramble(chance.choice(texts), chance),
        "tokens": lambda: "".join(chance.choices(TOKENS, k=chance.randint(1, 60))),
        "characters": lambda: "".join(map(chr, chance.choices(range(1, 256), k=40))),
    }
    print(f"{inputs} inputs, seed {seed}")
    print(ROW.format("kind", "inputs", "read", "refused", "inputs/s", "slowest ms"))
    total, used = 0, 0.0
    for number, (kind, make) in enumerate(kinds.items()):
        count = (inputs + 2 - number) // 3
        made = [make() for _ in range(count)]
        started = time.perf_counter()
        read, slowest = feed(made)
        seconds = time.perf_counter() - started
        total, used = total + count, used + seconds
        rate = f"{count / seconds:.0f}"
        print(ROW.format(kind, count, read, count - read, rate, f"{slowest * 1000:.1f}"))
    print(f"No crash, no hang: {total} inputs, {total / used:.0f} inputs/s")
    return check_growth()


def feed(texts: list[str]) -> tuple[int, float]:
    """How many were read, and the CPU seconds of the slowest."""
    read, slowest = 0, 0.0
    for text in texts:
        started = time.process_time()
        read += try_one(text)
        seconds = time.process_time() - started
        slowest = max(slowest, seconds)
        if seconds > LIMIT:
            raise SystemExit(f"{seconds:.1f} s for {text[:200]!r}")
    return read, slowest


def try_one(text: str) -> bool:
    """Whether it was read; anything but a value or a ParseError with its place ends the run."""
    net = parsed(text)
    if net is not None:
        oracle_net_data.as_data(net)
        if oracle_net.edited(net, []).text != text:
            raise SystemExit(f"not written back as it was: {text!r}")
    if net is not None and net.parameters:
        check_edit(net)
    return net is not None


def parsed(text: str) -> Any:
    try:
        return oracle_net.parse(text)
    except ParseError as problem:
        lines = text.split("\n")
        if not (1 <= problem.line <= len(lines) and problem.column >= 1):
            raise SystemExit(f"{problem}: no place in {text!r}") from problem
        if problem.column > len(lines[problem.line - 1]) + 1:
            raise SystemExit(f"{problem}: no such column in {text!r}") from problem
        return None


def check_edit(net: Any) -> None:
    new = oracle_net.edited(
        net, [oracle_net.add_parameter(net, "HOSTPROOF", "1", net.parameters[0])]
    )
    names = [parameter.name for parameter in net.parameters]
    if [parameter.name for parameter in new.parameters] != [names[0], "HOSTPROOF", *names[1:]]:
        raise SystemExit(f"an edit that did something else: {net.text!r}")


def scramble(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.choices(range(len(text) + 1), k=2))
        to = min(to, at + 30)
        text = chance.choice(
            [
                text[:at] + chance.choice(TOKENS) + text[at:],
                text[:at] + text[to:],
                text[:to] + text[at:],
                text[:at],
            ]
        )
    return text


def check_growth() -> int:
    """CPU time for long inputs against their half."""
    print(ROW.format("long", "MB", "s", "MB", "s", "growth"))
    met = True
    entry = "N{0}=(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=h)(PORT=1521)))\n"
    makes: dict[str, Callable[[int], str]] = {
        "tnsnames": lambda size: "".join(entry.format(n) for n in range(size // 64)),
        "words": lambda size: "A=(" + "b " * (size // 2),
        "comments": lambda size: "#\n" * (size // 2),
        "blanks": lambda size: "A=" + "\n " * (size // 2) + "1",
        "quotes": lambda size: "A=" + "'" * size,
        "open": lambda size: "A=(" + "=(" * (size // 2),
    }
    for kind, make in makes.items():
        half, whole = make(500000), make(1000000)
        seconds = [min(timed(text) for _ in range(3)) for text in (half, whole)]
        growth = seconds[1] / max(seconds[0], 0.02)
        met = met and growth < 3.5
        sizes = [f"{len(text) / 1e6:.1f}" for text in (half, whole)]
        times = [f"{duration:.3f}" for duration in seconds]
        print(ROW.format(kind, sizes[0], times[0], sizes[1], times[1], f"{growth:.1f}"))
    print(f"Expected: time grows as the length does: {'met' if met else 'NOT MET'}")
    return 0 if met else 1


def timed(text: str) -> float:
    started = time.process_time()
    net = parsed(text)
    if net is not None:
        oracle_net_data.as_data(net)
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
