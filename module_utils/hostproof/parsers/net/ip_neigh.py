# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ip neigh show``: the MAC addresses of neighbours. Source: ip-neighbour(8)."""

import re
from typing import List, NamedTuple

from ...errors import ParseError, kind_of

_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")


class Neighbour(NamedTuple):
    address: str
    device: str
    mac: str


def parse(text: str) -> List[Neighbour]:
    """The neighbours whose MAC is known and was not lost (FAILED, INCOMPLETE)."""
    neighbours = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if len(words) < 3 or words[1] != "dev":
            raise ParseError("ip neigh", f"no neighbour: {kind_of(line)}", number)
        if "lladdr" in words[:-1] and words[-1] not in ("FAILED", "INCOMPLETE"):
            mac = words[words.index("lladdr") + 1].lower()
            if not _MAC.match(mac):
                raise ParseError("ip neigh", f"no MAC address: {kind_of(mac)}", number)
            neighbours.append(Neighbour(words[0], words[2], mac))
    return neighbours
