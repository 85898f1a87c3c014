# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ss -lntup: listening TCP and UDP sockets, and their programs."""

import re
from typing import List, NamedTuple, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

ARGV = ["ss", "-lntup"]
_WHAT = " ".join(ARGV)
_PROGRAM = re.compile(r'\("((?:[^"\\]|\\.)*)",pid=\d+')


class Socket(NamedTuple):
    """``programs`` are names of at most 15 characters, () if the user may not see them."""

    protocol: str
    address: str
    port: int
    programs: Tuple[str, ...]


def parse(text: str) -> List[Socket]:
    lines = text.split("\n")
    if lines[0].split()[:2] != ["Netid", "State"]:
        raise ParseError(_WHAT, "there is no head line", 1)
    sockets = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split()
        if not fields:
            continue
        try:
            address, _, port = fields[4].rpartition(":")
            names = dict.fromkeys(_PROGRAM.findall(line))
            sockets.append(Socket(fields[0], address, integer(port), tuple(names)))
        except (IndexError, ValueError) as problem:
            raise ParseError(_WHAT, f"not a socket: {kind_of(line)}", number) from problem
    return sockets
