# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares values that are one or several numbers, and chooses the value to write.

The value to write never lowers a number above a minimum and never raises a number below a maximum:
a host may need more than Oracle's documents require ("if the current value is greater, do not
change it").
"""

from typing import Iterable, List, Optional, Sequence, Tuple

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
    found = tuple(int(word) for word in words if word.lstrip("-").isdecimal() and len(word) < 22)
    return found if words and len(found) == len(words) else None


def text_of(value: Numbers) -> str:
    return " ".join(str(one) for one in value)


def is_met(compare: str, wanted: Numbers, value: Optional[Numbers], room: int = 0) -> bool:
    """Compare number by number. The two limits of ``within`` are for all numbers.

    ``room`` is the least size of a range.
    """
    if not value:
        return False
    if compare == WITHIN:
        is_wide = value[-1] - value[0] + 1 >= room
        return is_wide and all(wanted[0] <= one <= wanted[1] for one in value)
    if len(value) < len(wanted):
        return False
    pairs = list(zip(value, wanted))
    if compare == AT_LEAST:
        return all(one >= least for one, least in pairs)
    if compare == AT_MOST:
        return all(one <= most for one, most in pairs)
    if compare == OTHER_THAN:
        return all(one != bad for one, bad in pairs)
    return all(one == exact for one, exact in pairs)


def to_write(
    compare: str,
    wanted: Numbers,
    good: Numbers,
    values: Sequence[Optional[Numbers]],
    room: int = 0,
) -> Numbers:
    """The value to set. ``good`` replaces a number that does not comply; ``values`` are the running
    and the persisted value."""
    there = [one for one in values if one and len(one) >= len(wanted)]
    if compare == AT_LEAST:
        raised = []
        for place, (least, one) in enumerate(zip(wanted, good)):
            highest = max([value[place] for value in there] or [least - 1])
            raised.append(highest if highest >= least else one)
        return tuple(raised)
    if compare == AT_MOST:
        return tuple(
            min([one] + [value[place] for value in there]) for place, one in enumerate(good)
        )
    if compare == WITHIN:
        return _within(wanted, good, [one for one in values if one], room)
    return good


def _within(wanted: Numbers, good: Numbers, values: List[Numbers], room: int) -> Numbers:
    """The first value within the limits, else the nearest limit for one number, else ``good``."""
    for one in values:
        if is_met(WITHIN, wanted, one, room):
            return one
    if values and len(values[0]) == 1:
        return (min(max(values[0][0], wanted[0]), wanted[1]),)
    return good


def strictest(compare: str, several: Iterable[Numbers]) -> Numbers:
    """The value that satisfies several requirements of one parameter, number by number."""
    columns = zip(*several)
    return tuple((min if compare == AT_MOST else max)(column) for column in columns)


def words(compare: str, wanted: Numbers, room: int = 0) -> str:
    """ "at least 250 32000 100 128", "from 9000 to 65535, at least 28232 numbers"."""
    if compare == WITHIN:
        least = f", at least {room} numbers" if room else ""
        return "from {0} to {1}".format(*wanted) + least
    return "{0} {1}".format(compare.replace("_", " "), text_of(wanted))
