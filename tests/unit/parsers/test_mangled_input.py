"""Whatever stands in a file, a parser gives a value or a ParseError, and nothing else."""

import random

import pytest
from ansible.module_utils.hostproof.errors import ParseError
from fuzz.targets import FIXTURES, PARSERS

ROUNDS = 60
PIECES = [
    "\n",
    " ",
    "\t",
    "\0",
    "=",
    ":",
    "-",
    "0",
    "9" * 30,
    "[",
    "]",
    '"',
    "\\",
    "%",
    "\udcff",
    "é",
]


def mangle(text: str, chance: random.Random) -> str:
    """The text cut off, with pieces put in, or with a stretch taken out or doubled."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(text))
        to = min(len(text), at + chance.randint(0, 20))
        text = chance.choice(
            [
                text[:at],
                text[:at] + chance.choice(PIECES) + text[at:],
                text[:at] + text[to:],
                text[:to] + text[at:],
            ]
        )
    return text


@pytest.mark.parametrize(("parser", "good"), PARSERS)
def test_a_value_or_a_parse_error(parser, good):
    if (FIXTURES / good.strip()).is_file():
        good = (FIXTURES / good).read_text()
    parser(good)
    chance = random.Random(20240229)
    for text in ["", "\n", "\0", "\udcff" * 9, *(mangle(good, chance) for _ in range(ROUNDS))]:
        try:
            parser(text)
        except ParseError as problem:
            assert str(problem)
