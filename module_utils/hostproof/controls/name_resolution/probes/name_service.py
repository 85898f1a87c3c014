# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of each name server of a host.

Name servers are queried directly by datagram, because a line of /etc/hosts hides their answers.
"""

from functools import partial
from typing import Dict, List, Sequence, Tuple

from ....collect.answer import Answer
from ....collect.host import Host
from ....errors import Absent, ParseError, Unanswered, kind_of
from ....probes.net.host_names import is_name, side_by_side
from ..parsers import dns_message

#: Seconds that a name server may take; each is queried twice.
PATIENCE = 1.5


def ask_servers(
    host: Host, servers: Sequence[str], names: Sequence[str]
) -> Dict[Tuple[str, str], Answer[dns_message.Reply]]:
    """What each server states of each name: Absent where no server is there, or it is silent."""
    return side_by_side(
        partial(_ask_server, host), [(server, name) for server in servers for name in names]
    )


def key_of(server: str, name: str) -> str:
    return f"udp:{server} {name}"


def _ask_server(host: Host, query: Tuple[str, str]) -> dns_message.Reply:
    server, name = query
    if not is_name(name):
        raise ParseError("name", f"{kind_of(name)} is not a name, and no server is queried for it")
    try:
        question = dns_message.query(name)
    except ValueError as problem:
        raise ParseError("name", str(problem)) from problem
    key = key_of(server, name)
    problems: List[Unanswered] = []
    for label in (key, key + " again"):
        try:
            reply = host.ask_udp(label, server, 53, question, PATIENCE)
            return dns_message.parse(reply, name)
        except Unanswered as problem:
            problems.append(problem)
    if all("timed out" in str(error) for error in problems):
        raise Absent(key, f"no answer in {PATIENCE:g} seconds, queried twice")
    raise problems[0]
