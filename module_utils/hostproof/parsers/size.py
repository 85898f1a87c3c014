# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of memory as people write them in a policy and read them in a finding."""

import re
from decimal import Decimal
from typing import Union

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGTP])(?:iB)?|B)?$", re.IGNORECASE)
_UNITS = "KMGTP"


def parse_size(value):
    # type: (Union[int, str]) -> int
    """Bytes from a number or from text such as ``60G``, ``512M``, ``1.5T``, ``2048 KiB``.

    Units count in 1024, as Oracle's do. Raises ValueError with words for the person who wrote
    it; ``GB`` is refused because it means two sizes.
    """
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("{0!r} is not a size; write bytes or a size such as 60G".format(value))
    match = _SIZE.match(str(value).strip())
    if match is None:
        raise ValueError(
            "{0!r} is not a size; write bytes or a number with K, M, G, T or P, such as 60G".format(
                value
            )
        )
    unit = (match.group(2) or "").upper()
    size = Decimal(match.group(1)) * (1024 ** (_UNITS.index(unit) + 1) if unit else 1)
    if size != int(size):
        raise ValueError("{0!r} is not a whole number of bytes".format(value))
    return int(size)


def human(size):
    # type: (int) -> str
    """Bytes for people, in the largest unit of 1024 that leaves at least one: ``60.0 GiB``."""
    power = 0
    while power < len(_UNITS) and abs(size) >= 1024 ** (power + 1):
        power += 1
    if power == 0:
        return "{0} B".format(size)
    return "{0:.1f} {1}iB".format(size / float(1024**power), _UNITS[power - 1])
