# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The line ``hosts:`` of nsswitch.conf: who is requested the addresses of a name, in which order.

Source: nsswitch.conf(5). Behind a source may stand what to do with what it answers,
``[NOTFOUND=return]``; ``!`` turns a status into all the others.
"""

import re
from typing import List, NamedTuple, Optional

from ....errors import ParseError, kind_of

_WHAT = "nsswitch.conf"
_TOKEN = re.compile(r"\[([^\[\]]*)\]|([^\s\[\]]+)|\S")
_ACTION = re.compile(r"(!?)(success|notfound|unavail|tryagain)=(return|continue|merge)\Z")


class Source(NamedTuple):
    """``ends``: no other source is queried for a name that this source does not know."""

    name: str
    ends: bool


def parse_hosts(text: str) -> Optional[List[Source]]:
    """None if there is no such line. glibc then uses a built-in default, which changed with 2.35
    (sourceware bug 28700: "files dns", before "dns [!UNAVAIL=return] files")."""
    lines = []
    for number, line in enumerate(text.split("\n"), 1):
        database, colon, rest = line.partition("#")[0].partition(":")
        if colon and database.strip() == "hosts":
            lines.append((number, rest))
    if len(lines) > 1:
        raise ParseError(_WHAT, "a second line hosts:", lines[1][0])
    if not lines:
        return None
    number, rest = lines[0]
    sources: List[Source] = []
    for token in _TOKEN.finditer(rest):
        if token.group(2):
            sources.append(Source(token.group(2).lower(), False))
        elif token.group(1) is not None and sources:
            sources[-1] = sources[-1]._replace(ends=_ends(token.group(1), number))
        else:
            raise ParseError(_WHAT, f"not understood: {kind_of(rest.strip())}", number)
    return sources


def _ends(actions: str, number: int) -> bool:
    ends = False
    for word in actions.lower().split():
        action = _ACTION.match(word)
        if action is None:
            raise ParseError(_WHAT, f"no action: {kind_of(word)}", number)
        if (action.group(2) == "notfound") != bool(action.group(1)):
            ends = action.group(3) == "return"
    return ends
