# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RPC counters of nfsstat: ``nfsstat -rc`` and ``-rs`` of Linux, Solaris, HP-UX and AIX.

The numbers are in the line below their names. Source: nfsstat(8) of nfs-utils, nfsstat(1M) of
Solaris.
"""

import re
from typing import Dict, List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import integer

_WHAT = "nfsstat output"
_SIDE = re.compile(r"^(Client|Server) rpc(?: stats)?:?\s*$", re.IGNORECASE)
_TRANSPORT = re.compile(r"^(Connection[ -]oriented|Connectionless):?\s*$", re.IGNORECASE)
_NAMES = re.compile(r"^[a-z]+(?:\s+[a-z]+)+\s*$")
_NUMBERS = re.compile(r"^\d{1,20}(?:\s+\d{1,20})*\s*$")


class Calls(NamedTuple):
    """``side`` is client or server, ``transport`` as Solaris names it, "" elsewhere."""

    side: str
    transport: str
    counts: Dict[str, int]


def parse(text: str) -> List[Calls]:
    """The tables of RPC calls in order. ParseError if there is none, or one is cut off."""
    tables: List[Calls] = []
    side: Optional[str] = None
    transport = ""
    names: List[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        begins, medium = _SIDE.match(line), _TRANSPORT.match(line)
        if begins is not None:
            side, transport, names = begins.group(1).lower(), "", []
        elif side is None or not line:
            continue
        elif medium is not None:
            transport, names = medium.group(1).lower(), []
        elif _NAMES.match(line):
            names = line.split()
        elif _NUMBERS.match(line) and names:
            values = line.split()
            if len(values) != len(names):
                raise ParseError(_WHAT, f"{len(names)} names have {len(values)} numbers", number)
            if "calls" in names:
                tables.append(Calls(side, transport, {}))
            if tables:
                tables[-1].counts.update(zip(names, map(integer, values)))
            names = []
        else:
            # Another table follows, such as the operations of a version of NFS.
            side = None
    if not tables:
        raise ParseError(_WHAT, "it has no table of RPC calls: run nfsstat -rc or nfsstat -rs")
    return tables
