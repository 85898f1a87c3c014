# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -g DEVICE``: the number of descriptors in the receive ring, and the maximum.

Source: ethtool.c, dump_ring(); netlink/rings.c.
"""

import re
from typing import NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import integer

_RX = re.compile(r"^RX:\s+(\d{1,9})\s*$", re.MULTILINE)


class Rings(NamedTuple):
    """Number of descriptors; None if ethtool does not show it."""

    rx: Optional[int]
    max_rx: Optional[int]


def parse(text: str) -> Rings:
    """The receive ring of the one interface that was queried."""
    most, mark, now = text.partition("\nCurrent hardware settings:")
    if not mark:
        raise ParseError("ethtool -g", "there are no current settings")
    matches = [_RX.search(part) for part in (now, most)]
    return Rings(*(None if match is None else integer(match.group(1)) for match in matches))
