# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What halevel -s of PowerHA prints: its release and service pack, "7.2.3 GA" or "7.1.3 SP5"."""

import re
from typing import NamedTuple, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_LEVEL = re.compile(r"^(\d+(?:\.\d+){1,3})\s+(GA|SP\d+)$")


class Level(NamedTuple):
    """``service_pack`` is "GA" where there is none."""

    version: Tuple[int, ...]
    service_pack: str


def parse(text: str) -> Level:
    """Raises ParseError for anything else."""
    match = _LEVEL.match(text.strip())
    if match is None:
        raise ParseError("halevel", f"{kind_of(text)} is not a level such as 7.2.3 SP1")
    return Level(tuple(integer(part) for part in match.group(1).split(".")), match.group(2))
