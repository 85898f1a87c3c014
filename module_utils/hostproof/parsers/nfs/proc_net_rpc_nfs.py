# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/net/rpc/nfs: the requests of the whole NFS client since its module was loaded.

Source: kernel net/sunrpc/stats.c, rpc_proc_show(). The counters have 32 bits and wrap.
"""

from typing import NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "/proc/net/rpc/nfs"
_WRAP = 1 << 32


class Calls(NamedTuple):
    """The line "rpc": number of requests and of retransmissions."""

    calls: int
    retransmissions: int


def parse(text: str) -> Calls:
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words[:1] == ["rpc"]:
            if len(words) < 3 or not all(word.isdecimal() for word in words[1:3]):
                raise ParseError(_WHAT, f"{kind_of(line)} holds no counters", number)
            return Calls(integer(words[1]), integer(words[2]))
    raise ParseError(_WHAT, "has no line of rpc")


def difference(first: Calls, second: Calls) -> Calls:
    """What was counted between two readings; ParseError where the counters began again."""
    calls, retransmissions = [(after - before) % _WRAP for before, after in zip(first, second)]
    if max(calls, retransmissions) >= _WRAP // 2:
        raise ParseError(_WHAT, "went back: the NFS client was loaded again between two readings")
    return Calls(calls, retransmissions)
