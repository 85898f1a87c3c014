# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test whether frames of a device's full MTU reach another machine: a few pings with "do not
fragment".

SNMP agents only claim an MTU. The pings prove it in both directions, because the reply has the same
size. Sources: ping(8) of iputils, -M do; RFC 1191, RFC 4443 for the size of the headers.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....collect.host import Host, Output
from ....errors import Unanswered
from ....parsers.number import clipped

#: Bytes of an IP header and an ICMP header.
_HEADERS_4, _HEADERS_6 = 20 + 8, 40 + 8
#: Bytes of a ping that fits into every MTU.
_SMALL = 56

_RECEIVED = re.compile(r"\b([0-9]+) (?:packets )?received\b")
_SMALLER = re.compile(r"(?:mtu ?= ?)([0-9]+)")


class LargeFrames(NamedTuple):
    """``passed``: replies arrived. ``limit`` is the MTU that a router or this host reported, None
    if the pings were lost without a report."""

    passed: bool
    limit: Optional[int]
    evidence: Tuple[str, ...]


def argv(address: str, size: int) -> List[str]:
    return ["ping", "-n", "-q", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do"] + [
        "-s",
        str(size),
        address,
    ]


def ping_full_mtu(host: Host, address: str, mtu: int) -> LargeFrames:
    """Ping with the full MTU. Unanswered if the other machine answers no small ping either."""
    size = mtu - (_HEADERS_6 if ":" in address else _HEADERS_4)
    large = argv(address, size)
    key = "command:" + " ".join(large)
    output = host.run(large)
    if _came(output):
        return LargeFrames(True, None, (key,))
    smaller = _SMALLER.findall(output.stdout + output.stderr)
    limit = min(map(int, smaller)) if smaller else None
    if limit is not None and limit < mtu:
        return LargeFrames(False, limit, (key,))
    small = argv(address, _SMALL)
    if not _came(host.run(small)):
        raise Unanswered(key, f"{address} answers no ping")
    return LargeFrames(False, None, (key, "command:" + " ".join(small)))


def _came(output: Output) -> bool:
    match = _RECEIVED.search(output.stdout)
    return match is not None and clipped(match.group(1)) > 0
