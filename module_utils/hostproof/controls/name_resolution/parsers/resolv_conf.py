# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""resolv.conf: which name servers are queried, for how long, and what is put behind short names.

Source: resolv.conf(5); glibc, resolv/res_init.c and resolv.h: three servers, a keyword in the
first column, timeout 5 and at most 30, attempts 2 and at most 5; of "search" and "domain" the
last counts.
"""

import re
from typing import List, NamedTuple, Tuple

from ....parsers.net.address import is_address
from ....parsers.number import integer

#: MAXNS of resolv.h.
SERVERS = 3
_KEYWORDS = ("nameserver", "search", "domain", "options", "sortlist")
_OPTION = re.compile(r"(timeout|attempts|ndots):([0-9]{1,9})")
_MOST = {"timeout": 30, "attempts": 5, "ndots": 15}


class Resolver(NamedTuple):
    """``passed_over`` are lines that count for nothing. ``timeout`` is in seconds."""

    servers: Tuple[str, ...]
    search: Tuple[str, ...]
    timeout: int
    attempts: int
    rotate: bool
    passed_over: Tuple[int, ...]

    @property
    def longest(self) -> int:
        """Seconds that a name may take at most where no server answers."""
        return self.timeout * self.attempts * max(1, len(self.servers))


def parse(text: str) -> Resolver:
    servers: List[str] = []
    search: Tuple[str, ...] = ()
    passed_over: List[int] = []
    numbers = {"timeout": 5, "attempts": 2}
    rotate = False
    for number, line in enumerate(text.split("\n"), 1):
        keyword, *words = line.split() or [""]
        if keyword not in _KEYWORDS:
            continue
        if not _counts(line, keyword, words, len(servers)):
            passed_over.append(number)
        elif keyword == "nameserver":
            servers.append(words[0])
        elif keyword in ("search", "domain"):
            search = tuple(words if keyword == "search" else words[:1])
        elif keyword == "options":
            rotate = rotate or "rotate" in words
            numbers.update(
                (match.group(1), min(integer(match.group(2)), _MOST[match.group(1)]))
                for match in map(_OPTION.match, words)
                if match
            )
    # With 0 seconds the resolver takes one.
    timeout = max(1, numbers["timeout"])
    return Resolver(
        tuple(servers), search, timeout, numbers["attempts"], rotate, tuple(passed_over)
    )


def _counts(line: str, keyword: str, words: List[str], servers: int) -> bool:
    """Whether the resolver uses a line that begins with ``keyword``.

    ``servers`` is the number of servers before it.
    """
    # A carriage return becomes a part of the address or of the domain.
    if line[0].isspace() or (line[-1] == "\r" and keyword != "options"):
        return False
    if keyword != "nameserver":
        return True
    return bool(words) and servers < SERVERS and is_address(words[0].partition("%")[0])
