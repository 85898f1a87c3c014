"""Mutated texts to every parser: a value or a ParseError, within a second."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.errors import ParseError

from fuzz import Hung, cut_off
from fuzz.mutation import mutated
from fuzz.targets import FIXTURES, PARSERS

#: Seconds of processor time that one input may take.
MOST_SECONDS = 1.0


class Target(NamedTuple):
    name: str
    parse: Callable[[str], Any]
    good: str


class Fault(NamedTuple):
    """An input and what is wrong with what came of it."""

    target: str
    text: str
    why: str


def targets() -> list[Target]:
    """Every parser by a name that does not change when others are added."""
    parsers = []
    counts: dict[str, int] = {}
    for parse, good in PARSERS:
        path = FIXTURES / good.strip()
        is_file = "\n" not in good.strip() and len(good) < 200 and path.is_file()
        name = name_of(parse, good if is_file else "")
        counts[name] = counts.get(name, 0) + 1
        name += f"#{counts[name]}" if counts[name] > 1 else ""
        parsers.append(Target(name, parse, path.read_text() if is_file else good))
    return parsers


def name_of(parse: Any, fixture: str) -> str:
    parse = getattr(parse, "func", parse)
    names = getattr(parse, "__code__").co_names  # noqa: B009 (callables have none for mypy)
    if parse.__name__ == "<lambda>":
        base = ".".join(names[:2])
    else:
        base = f"{parse.__module__.rpartition('.')[2]}.{parse.__name__}"
    return f"{base}:{fixture.rpartition('/')[2]}" if fixture else base


def tried(target: Target, text: str) -> Fault | None:
    """What is wrong with what the parser makes of this text."""
    began = time.process_time()
    try:
        with cut_off():
            target.parse(text)
    except ParseError as problem:
        if not str(problem).isprintable() and len(str(problem)) > 5000:
            return Fault(target.name, text, "its error is longer than anyone reads")
    except (Exception, Hung) as problem:
        return Fault(target.name, text, f"{type(problem).__name__}: {str(problem)[:200]}")
    took = time.process_time() - began
    return Fault(target.name, text, f"took {took:.1f} s") if took > MOST_SECONDS else None


def faults(inputs: int, seed: int | str) -> Iterator[Fault]:
    """Whatever ``inputs`` texts find, as it is found; the same for the same seed.

    Turns are given by what a parser takes, so that a long report does not use up the time of all.
    """
    chance = random.Random(seed)
    every = targets()
    weights = [1 / (200 + len(target.good)) for target in every]
    for target in chance.choices(every, weights, k=inputs):
        fault = tried(target, mutated(target.good, chance))
        if fault is not None:
            yield fault
