"""What every family of attacks shares: its outcomes, its random numbers and its printed counts.

A family ends with ``family.main(attempts)``; tests/attack/run describes the interface.
"""

import os
import random
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

#: The attack had its effect: a canary ran, was read or reached the output.
WON = "won"
#: The product said no: an error, a refusal, or an answer that says so.
REFUSED = "refused"
#: The product went on, and the attack had no effect.
CONTAINED = "contained"

#: Exit status of a family that this machine cannot run; its last line says why.
SKIPPED = 77
#: Inputs of won attacks that are printed for each attack.
MOST_SHOWN = 3

ATTEMPTS = int(os.environ.get("HOSTPROOF_ATTACK_ATTEMPTS", "200"))
SEED = int(os.environ.get("HOSTPROOF_ATTACK_SEED", "1"))


class Outcome(NamedTuple):
    """One attempt. ``attack`` names its row of the table; ``shown`` is the input, to repeat it."""

    attack: str
    result: str
    shown: object = ""


class Count(NamedTuple):
    attempts: int
    won: int
    refused: int


Attempts = Callable[[random.Random, int], Iterator[Outcome]]


def main(attempts: Attempts) -> NoReturn:
    """Make the attempts, print a line for each attack, and exit with 1 if one was won."""
    name = Path(sys.argv[0]).stem
    counts: dict[str, Count] = {}
    for outcome in islice(attempts(random.Random(f"{SEED} {name}"), ATTEMPTS), ATTEMPTS):
        if outcome.result not in (WON, REFUSED, CONTAINED):
            raise ValueError(f"{outcome.attack}: {outcome.result!r} is no result")
        old = counts.get(outcome.attack, Count(0, 0, 0))
        won = old.won + (outcome.result == WON)
        counts[outcome.attack] = Count(
            old.attempts + 1, won, old.refused + (outcome.result == REFUSED)
        )
        if outcome.result == WON and won <= MOST_SHOWN:
            print(f"WON {outcome.attack}: {outcome.shown!r:.2000}", flush=True)
    for attack, count in counts.items():
        print(line(attack, count), flush=True)
    sys.exit(1 if any(count.won for count in counts.values()) else 0)


def line(attack: str, count: Count) -> str:
    """The line that tests/attack/run reads."""
    text = f"{attack}: {count.attempts} tries, {count.won} wins"
    return f"{text}, {count.refused} refused" if count.refused else text


def skip(reason: str) -> NoReturn:
    """End a family that cannot be tried here."""
    print(reason)
    sys.exit(SKIPPED)
