# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's lsattr prints: the attributes of a device, and the values that one may take.

-E tells what the configuration database (ODM) holds; whether the device uses it, lsattr does not
know after chdev -P or -T. Source: AIX Commands Reference, lsattr."""

import re
from typing import List, NamedTuple, Tuple

from ...errors import ParseError, kind_of
from ..number import NumberError, integer

_WHAT = "lsattr"
_NAME = re.compile(r"[A-Za-z0-9_.%-]+$")
_SETTABLE = {"True": (True, False), "True+": (True, True), "False": (False, False)}
_SETTABLE["False+"] = (False, True)
_RANGE = re.compile(r"^(-?\d+)\s*\.\.\.\s*(-?\d+)\s*(?:\(\s*\+\s*(\d+)\s*\))?$")


class Row(NamedTuple):
    """A row of -E: ``rest`` is the value and its description, which blanks alone divide.

    ``settable`` is whether a user may change it, ``dynamic`` whether chdev -U may ("True+").
    """

    name: str
    rest: str
    settable: bool
    dynamic: bool

    @property
    def first_word(self) -> str:
        """The value of an attribute whose values hold no blank and are never empty."""
        return self.rest.split(" ", 1)[0]

    def has(self, value: str) -> bool:
        """Whether ``rest`` begins with this value, with a description behind it or not."""
        squeezed = " ".join(value.split())
        return not squeezed or (self.rest + " ").startswith(squeezed + " ")


class Range(NamedTuple):
    """Every ``step``-th number from ``low`` to ``high``."""

    low: int
    high: int
    step: int

    def __str__(self) -> str:
        return "{0} to {1} in steps of {2}".format(*self)


class Legal(NamedTuple):
    """Permitted values of an attribute: single values, and ranges of numbers."""

    values: Tuple[str, ...]
    ranges: Tuple[Range, ...]

    def allows(self, value: str) -> bool:
        if value in self.values:
            return True
        if not re.match(r"^-?\d+$", value):
            return False
        try:
            number = integer(value)
        except NumberError:
            return False
        return any(
            interval.low <= number <= interval.high and (number - interval.low) % interval.step == 0
            for interval in self.ranges
        )

    def __str__(self) -> str:
        return " or ".join([str(interval) for interval in self.ranges] + list(self.values))


def parse(text: str) -> List[Row]:
    """The rows of lsattr -E -l DEVICE; runs of blanks count as one. ParseError for any other."""
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        words = line.split()
        settable = _SETTABLE.get(words[-1])
        if len(words) < 2 or line[0].isspace() or not _NAME.match(words[0]) or settable is None:
            raise ParseError(_WHAT, f"{kind_of(line)} is not an attribute", number)
        rows.append(Row(words[0], " ".join(words[1:-1]), settable[0], settable[1]))
    return rows


def parse_legal(text: str) -> Legal:
    """What lsattr -R prints: a value per line, or LOW...HIGH (+STEP)."""
    values: List[str] = []
    ranges: List[Range] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line:
            continue
        match = _RANGE.match(line)
        if match is None:
            if "..." in line:
                raise ParseError(_WHAT, f"{kind_of(line)} is not a range", number)
            values.append(line)
            continue
        interval = Range(
            integer(match.group(1)), integer(match.group(2)), integer(match.group(3) or "1")
        )
        if interval.step < 1:
            raise ParseError(_WHAT, f"{kind_of(line)} is not a range", number)
        ranges.append(interval)
    if not values and not ranges:
        raise ParseError(_WHAT, "tells no legal value")
    return Legal(tuple(values), tuple(ranges))
