# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The physical ports below an interface of another machine: PAUSE works between cable ends.

A subinterface, a VLAN or an aggregate has no PAUSE. IEEE8023-LAG-MIB (IEEE 802.1AX) and the
interface stack (RFC 2863) list the ports below it.
"""

from typing import List, NamedTuple, Optional

from ....collect.answer import attempt
from ....errors import HostproofError
from ....parsers.number import clipped
from . import ethernet_port
from .agent_talk import Talk
from .ethernet_port import Port, number_in

#: ifStackStatus, by the higher and the lower interface.
_STACK = "1.3.6.1.2.1.31.1.2.1.3"
#: dot3adAggPortAttachedAggID and dot3adAggPortPartnerOperPort.
_ATTACHED, _PARTNER = "1.2.840.10006.300.43.1.2.1.1.13", "1.2.840.10006.300.43.1.2.1.1.17"
#: Layers of an interface: subinterface, aggregate, port.
_MOST_LAYERS = 3
#: Ports of one aggregate (IEEE 802.1AX has at most 8 in use, some vendors 32).
_MOST_MEMBERS = 32


class Cable(NamedTuple):
    """A physical port.

    ``aggregate`` is the name of its aggregate, ``partner`` the LACP port number of the other end.
    """

    port: Port
    aggregate: str
    partner: Optional[int]


def cables(talk: Talk, number: int, layers: int = _MOST_LAYERS) -> List[Cable]:
    """The ports below an interface. Without a layer below, the interface itself."""
    port = attempt(ethernet_port.read_port, talk.host, talk.target, number)
    if isinstance(port, HostproofError):
        talk.fail(f"port {number}", str(port))
        return []
    talk.evidence.extend(port.evidence)
    if (port.etherlike and not port.aggregate) or not layers:
        return [Cable(port, "", None)]
    lower = _members(talk, number) if port.aggregate else []
    lower = lower or _stacked(talk, number)
    result = [cable for below in lower for cable in cables(talk, below, layers - 1)]
    if not result:
        return [Cable(port, "", None)]
    return _of_aggregate(talk, port, result) if port.aggregate else result


def _of_aggregate(talk: Talk, aggregate: Port, ports: List[Cable]) -> List[Cable]:
    """The ports with the name of their aggregate and their partners."""
    partners = talk.get(
        f"partners of {aggregate.number}",
        [f"{_PARTNER}.{cable.port.number}" for cable in ports],
    )
    return [
        cable._replace(
            aggregate=aggregate.name,
            partner=number_in(partners.get(f"{_PARTNER}.{cable.port.number}")) or None,
        )
        for cable in ports
    ]


def _members(talk: Talk, number: int) -> List[int]:
    """The ports that are attached to an aggregate."""
    attached = talk.walk("members", _ATTACHED)
    rows = (
        clipped(oid.rpartition(".")[2]) for oid, at in attached.items() if number_in(at) == number
    )
    return sorted(row for row in rows if row != number)[:_MOST_MEMBERS]


def _stacked(talk: Talk, number: int) -> List[int]:
    """The interfaces directly below an interface; 0 in the table means none."""
    column = f"{_STACK}.{number}"
    rows = talk.walk(f"below {number}", column)
    lower = (oid[len(column) + 1 :] for oid in rows)
    return sorted(clipped(digits) for digits in lower if digits.isdecimal() and clipped(digits))[
        :_MOST_MEMBERS
    ]
