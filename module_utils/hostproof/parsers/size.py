# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of memory as people write them in a policy and read them in a finding."""

import re
from decimal import Decimal
from typing import Union

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGTP])(?:iB)?|B)?$", re.IGNORECASE)
_UNITS = "KMGTP"
_LONGEST = 25
#: Bytes. More has no machine, and what is much more no float holds.
_MOST = 2**64


def parse_size(value: Union[int, str]) -> int:
    """Bytes from a number or from text such as ``60G``, ``512M``, ``1.5T``, ``2048 KiB``.

    Units count in 1024, as Oracle's do. Raises ValueError with words for the person who wrote it;
    ``GB`` is rejected because it means two sizes."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError(f"{value!r} is not a size; write bytes or a size such as 60G")
    match = _SIZE.match(str(value).strip())
    if match is None:
        raise ValueError(
            f"{value!r} is not a size; write bytes or a number with K, M, G, T or P, such as 60G"
        )
    if len(match.group(1)) > _LONGEST:
        raise ValueError(f"{str(value)[:20]!r}... is more bytes than any machine has")
    unit = (match.group(2) or "").upper()
    size = Decimal(match.group(1)) * (1024 ** (_UNITS.index(unit) + 1) if unit else 1)
    if size != int(size):
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def human(size: int) -> str:
    """Bytes for people, in the largest unit of 1024 that leaves at least one: ``60.0 GiB``."""
    if abs(size) > _MOST:
        return "more than 16384.0 PiB"
    power = 0
    while power < len(_UNITS) and abs(size) >= 1024 ** (power + 1):
        power += 1
    if power == 0:
        return f"{size} B"
    return f"{size / float(1024**power):.1f} {_UNITS[power - 1]}iB"
