# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares values that are one or several numbers, and chooses the value to write.

The value to write never lowers a number above a minimum and never raises a number below a maximum:
a host may need more than Oracle's documents require ("if the current value is greater, do not
change it").
"""

import operator
from typing import Iterable, Iterator, List, Optional, Sequence, Tuple

Numbers = Tuple[int, ...]

AT_LEAST = "at_least"
AT_MOST = "at_most"
EXACTLY = "exactly"
WITHIN = "within"
OTHER_THAN = "other_than"

#: Comparisons that a policy can choose.
COMPARISONS = (AT_LEAST, AT_MOST, EXACTLY, WITHIN)


def numbers(text: str) -> Optional[Numbers]:
    """The numbers of a value; None for other text."""
    words = text.split()
    result = tuple(int(word) for word in words if word.lstrip("-").isdecimal() and len(word) < 22)
    return result if words and len(result) == len(words) else None


def text_of(value: Numbers) -> str:
    return " ".join(str(number) for number in value)


_HOLDS = {AT_LEAST: operator.ge, AT_MOST: operator.le, OTHER_THAN: operator.ne}


def is_met(compare: str, required: Numbers, value: Optional[Numbers], room: int = 0) -> bool:
    """Compare number by number. The two limits of ``within`` are for all numbers.

    ``room`` is the least size of a range.
    """
    if not value:
        return False
    if compare == WITHIN:
        is_wide = value[-1] - value[0] + 1 >= room
        return is_wide and all(required[0] <= number <= required[1] for number in value)
    if len(value) < len(required):
        return False
    return all(map(_HOLDS.get(compare, operator.eq), value, required))


def _raised(required: Numbers, good: Numbers, there: List[Numbers]) -> Iterator[int]:
    """For each number the highest that exists if it is enough, else the good one."""
    for place, (least, number) in enumerate(zip(required, good)):
        highest = max([value[place] for value in there] or [least - 1])
        yield highest if highest >= least else number


def to_write(
    compare: str,
    required: Numbers,
    good: Numbers,
    values: Sequence[Optional[Numbers]],
    room: int = 0,
) -> Numbers:
    """The value to set. ``good`` replaces a number that does not comply; ``values`` are the running
    and the persisted value."""
    there = [value for value in values if value and len(value) >= len(required)]
    if compare == AT_LEAST:
        return tuple(_raised(required, good, there))
    if compare == AT_MOST:
        return tuple(
            min([number] + [value[place] for value in there]) for place, number in enumerate(good)
        )
    if compare == WITHIN:
        return _within(required, good, [value for value in values if value], room)
    return good


def _within(required: Numbers, good: Numbers, values: List[Numbers], room: int) -> Numbers:
    """The first value within the limits, else the nearest limit for one number, else ``good``."""
    for value in values:
        if is_met(WITHIN, required, value, room):
            return value
    if values and len(values[0]) == 1:
        return (min(max(values[0][0], required[0]), required[1]),)
    return good


def strictest(compare: str, several: Iterable[Numbers]) -> Numbers:
    """The value that satisfies several requirements of one parameter, number by number."""
    columns = zip(*several)
    return tuple((min if compare == AT_MOST else max)(column) for column in columns)


def words(compare: str, required: Numbers, room: int = 0) -> str:
    """ "at least 250 32000 100 128", "from 9000 to 65535, at least 28232 numbers"."""
    if compare == WITHIN:
        least = f", at least {room} numbers" if room else ""
        return "from {0} to {1}".format(*required) + least
    return "{0} {1}".format(compare.replace("_", " "), text_of(required))
