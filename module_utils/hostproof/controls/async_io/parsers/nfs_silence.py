# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Periods without answer of NFS servers, from messages of the NFS client in the kernel log.

    nfs: server 192.0.2.1 not responding, still trying
    nfs: server 192.0.2.1 OK

The first line is printed after all retransmissions of a request (a major timeout, nfs(5), timeo and
retrans), so the server stopped answering earlier. "timed out" is from a soft mount, whose request
failed. Sources: Linux, net/sunrpc/clnt.c, call_timeout() and rpc_check_timeout(); Solaris prints
the same with "NFS server NAME ... ok".
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

_SILENT = re.compile(
    r"\bnfs:? server (\S+) (?:still )?not responding(?:,? still trying|(, timed out))?",
    re.IGNORECASE,
)
_ANSWERS = re.compile(r"\bnfs:? server (\S+) ok\b", re.IGNORECASE)


class Silence(NamedTuple):
    """A period without answer. ``ended`` is None if no line reports an answer. ``lines`` is the
    number of messages about missing answers.

    ``gave_up``: requests failed (soft mount).
    """

    server: str
    began: float
    ended: Optional[float]
    lines: int
    gave_up: bool


def silences(entries: Iterable[Tuple[float, str]]) -> List[Silence]:
    """The periods without answer of all servers, sorted by their start."""
    open_ones: Dict[str, Silence] = {}
    closed: List[Silence] = []
    for at, text in entries:
        silent = _SILENT.search(text)
        if silent is not None:
            server, gave_up = silent.group(1), silent.group(2) is not None
            before = open_ones.get(server, Silence(server, at, None, 0, False))
            open_ones[server] = before._replace(
                lines=before.lines + 1, gave_up=before.gave_up or gave_up
            )
            continue
        answers = _ANSWERS.search(text)
        if answers is not None and answers.group(1) in open_ones:
            closed.append(open_ones.pop(answers.group(1))._replace(ended=at))
    return sorted(closed + list(open_ones.values()), key=lambda silence: silence.began)
