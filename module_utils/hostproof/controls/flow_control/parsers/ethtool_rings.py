# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -g DEVICE``: the number of descriptors in the rings of an interface, and the maximum.

Source: ethtool.c, dump_ring(); netlink/rings.c.
"""

import re
from typing import Dict, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import integer

_WHAT = "ethtool -g"
_LINE = re.compile(r"^(RX|TX):\s+(n/a|\d{1,9})\s*$")


class Rings(NamedTuple):
    """Descriptors; None is what ethtool does not show."""

    rx: Optional[int]
    tx: Optional[int]
    max_rx: Optional[int]
    max_tx: Optional[int]


def parse(text: str) -> Rings:
    """The rings of the one interface that was queried."""
    if not text.startswith("Ring parameters for "):
        raise ParseError(_WHAT, "there is no head line", 1)
    sections: Dict[str, Dict[str, Optional[int]]] = {}
    section = ""
    for line in text.split("\n")[1:]:
        if line.startswith("Pre-set maximums:"):
            section = "max"
        elif line.startswith("Current hardware settings:"):
            section = "now"
        match = _LINE.match(line)
        if match is not None and section:
            value = match.group(2)
            number = None if value == "n/a" else integer(value)
            sections.setdefault(section, {})[match.group(1)] = number
    if set(sections) != {"max", "now"}:
        raise ParseError(_WHAT, "maximums or current settings are missing")
    now, most = sections["now"], sections["max"]
    return Rings(now.get("RX"), now.get("TX"), most.get("RX"), most.get("TX"))
