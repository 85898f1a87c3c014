# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ss -ltn``: listening TCP sockets, with the length and the limit of their queue.

For a listening socket, Recv-Q is the number of connections that the program has not yet accepted,
and Send-Q is the limit of that queue (ss(8); kernel net/ipv4/tcp_diag.c, tcp_diag_get_info()). A
connection is dropped when the queue is longer than its limit.
"""

from typing import List, NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

ARGV = ["ss", "-ltn"]

_WHAT = "ss -ltn"


class Listening(NamedTuple):
    """One socket. ``address`` is as ss shows it: "0.0.0.0", "*", "[::]", "127.0.0.1"."""

    address: str
    port: int
    queued: int
    backlog: int


def parse(text: str) -> List[Listening]:
    lines = text.split("\n")
    if lines[0].split()[:3] != ["State", "Recv-Q", "Send-Q"]:
        raise ParseError(_WHAT, "there is no head line", 1)
    sockets = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split()
        if not fields:
            continue
        try:
            address, _, port = fields[3].rpartition(":")
            sockets.append(
                Listening(address, integer(port), integer(fields[1]), integer(fields[2]))
            )
        except (IndexError, ValueError) as problem:
            raise ParseError(_WHAT, f"no socket: {kind_of(line)}", number) from problem
    return sockets
