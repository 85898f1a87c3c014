# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The addresses of a listener over which clients come, and the rate that counts at each."""

from typing import List, NamedTuple, Optional, Tuple

from ...answer import known
from ...errors import Unanswered
from ...parsers import oracle_net
from ...probes.listeners import Listener
from .policy import PROTOCOLS, WantedListener

#: Seconds until a client that says nothing is dropped, unless INBOUND_CONNECT_TIMEOUT says so.
INBOUND_TIMEOUT = 60

_TRUE = ("yes", "on", "true")
_FALSE = ("no", "off", "false")


class Endpoint(NamedTuple):
    """An ADDRESS over which clients come. ``limit`` is the text of its RATE_LIMIT, ``rate`` what
    counts: connections a second, None for no limit."""

    protocol: str
    host: str
    port: Optional[int]
    limit: Optional[str]
    rate: Optional[int]
    queuesize: Optional[int]
    pair: oracle_net.Pair

    def name(self):
        # type: () -> str
        return "{0}:{1}".format(self.protocol, "?" if self.port is None else self.port)


def global_rate(listener):
    # type: (Listener) -> Optional[int]
    """CONNECTION_RATE of the listener: the last one that stands, None if there is none."""
    found = listener.parameters("CONNECTION_RATE_" + listener.name)
    if not found:
        return None
    return _number(found[-1], listener)


def endpoints(listener):
    # type: (Listener) -> List[Endpoint]
    """The addresses of the listener over which clients come, with the rate that counts."""
    found = []
    for parameter in listener.parameters(listener.name):
        for address in parameter.inside("ADDRESS"):
            protocol = (address.text("PROTOCOL") or "").lower()
            if protocol in PROTOCOLS:
                found.append(endpoint_of(address, protocol, global_rate(listener), listener))
    return found


def endpoint_of(address, protocol, total, listener):
    # type: (oracle_net.Pair, str, Optional[int], Listener) -> Endpoint
    port = address.text("PORT") or ""
    limits = address.all("RATE_LIMIT")
    sizes = address.all("QUEUESIZE")
    limit = limits[0].value if limits else None
    return Endpoint(
        protocol=protocol,
        host=address.text("HOST") or "",
        port=int(port) if port.isdecimal() else None,
        limit=limit,
        rate=_rate(limit, total, listener),
        queuesize=_number(sizes[0], listener) if sizes else None,
        pair=address,
    )


def _rate(limit, total, listener):
    # type: (Optional[str], Optional[int], Listener) -> Optional[int]
    """What one endpoint takes in a second: the total beats its own number."""
    if limit is None or limit.lower() in _FALSE:
        return None
    if limit.lower() in _TRUE:
        return total
    if not limit.isdecimal():
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            "RATE_LIMIT is {0!r}, neither yes or no nor a number".format(limit),
        )
    return int(limit) if total is None else total


def _number(pair, listener):
    # type: (oracle_net.Pair, Listener) -> int
    if pair.value is None or not pair.value.isdecimal():
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            "{0} is {1!r}, no number".format(pair.name, pair.value),
        )
    return int(pair.value)


def inbound_timeout(listener):
    # type: (Listener) -> int
    found = listener.parameters("INBOUND_CONNECT_TIMEOUT_" + listener.name)
    return _number(found[-1], listener) if found else INBOUND_TIMEOUT


def may_be_limited(endpoint, wanted):
    # type: (Endpoint, WantedListener) -> bool
    return wanted.ports is None or endpoint.port in wanted.ports


def wanted_rate(endpoint, wanted):
    # type: (Endpoint, WantedListener) -> Optional[int]
    """The rate that the policy wants here; None for no limit. Only where it manages the rate."""
    return (wanted.rate or None) if may_be_limited(endpoint, wanted) else None


def drain_seconds(rate, pools):
    # type: (int, Tuple[int, ...]) -> float
    return float(sum(pools)) / rate
