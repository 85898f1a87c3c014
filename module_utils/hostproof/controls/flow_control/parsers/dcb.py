# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Priority flow control from ``dcb pfc show dev X prio-pfc`` and ``lldptool -t -i X -V PFC``.

Sources: dcb-pfc(8); lldptool-pfc(8). Each parser returns the set of priorities with PAUSE.
"""

import re
from typing import Set

from ....errors import ParseError
from ....parsers.number import integer


def parse_dcb(text: str) -> Set[int]:
    """ "prio-pfc 0:off 1:off … 3:on …"."""
    match = re.search(r"prio-pfc((?:\s+[0-7]:(?:on|off))+)", text)
    if match is None:
        raise ParseError("dcb pfc", "there is no prio-pfc")
    pairs = [pair.split(":") for pair in match.group(1).split()]
    return {integer(priority) for priority, state in pairs if state == "on"}


def parse_lldptool(text: str) -> Set[int]:
    """ "PFC enabled: 3" or "PFC enabled: none", of IEEE 802.1Qaz."""
    match = re.search(r"PFC enabled:\s*(none|[0-7](?:[ ,]+[0-7])*)\s*$", text, re.MULTILINE)
    if match is None:
        raise ParseError("lldptool PFC", 'there is no "PFC enabled"')
    return {integer(digit) for digit in re.findall(r"[0-7]", match.group(1))}
