# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether frames of a device's whole MTU arrive at another machine: a few pings that nobody on the
way may cut into pieces ("do not fragment").

What agents state of MTUs is a claim; this is the proof, in both directions, for the reply is as
long. Sources: ping(8) of iputils, -M do; RFC 1191, RFC 4443 for the overhead of the headers.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....collect.host import Host, Output
from ....errors import Unanswered
from ....parsers.number import clipped

#: Bytes of an IP header and an ICMP header.
_HEADERS_4, _HEADERS_6 = 20 + 8, 40 + 8
#: What passes everywhere.
_SMALL = 56

_RECEIVED = re.compile(r"\b([0-9]+) (?:packets )?received\b")
_SMALLER = re.compile(r"(?:mtu ?= ?)([0-9]+)")


class LargeFrames(NamedTuple):
    """``passed``: they came back. ``limit`` is what a machine on the way (or this one) says that it
    takes, None where it was lost silently."""

    passed: bool
    limit: Optional[int]
    evidence: Tuple[str, ...]


def argv(address: str, size: int) -> List[str]:
    return ["ping", "-n", "-q", "-c", "2", "-i", "0.2", "-W", "1", "-M", "do"] + [
        "-s",
        str(size),
        address,
    ]


def look(host: Host, address: str, mtu: int) -> LargeFrames:
    """Unanswered where the other machine answers no ping at all: then nothing is known."""
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
