# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TCP and TCPS endpoints of a listener, and their effective rate limits."""

from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import known
from ...errors import Unanswered, kind_of
from ...parsers.number import clipped
from ...parsers.oracle import oracle_net
from ...probes.oracle.listeners import Listener
from .policy import PROTOCOLS, WantedListener

#: Default of INBOUND_CONNECT_TIMEOUT in seconds.
INBOUND_TIMEOUT = 60

TRUE = ("yes", "on", "true")
FALSE = ("no", "off", "false")


class Endpoint(NamedTuple):
    """An ADDRESS for clients. ``limit`` is the text of its RATE_LIMIT, ``rate`` the effective limit
    in connections per second, None for no limit."""

    protocol: str
    host: str
    port: Optional[int]
    limit: Optional[str]
    rate: Optional[int]
    queuesize: Optional[int]
    pair: oracle_net.Pair

    def name(self) -> str:
        return "{0}:{1}".format(self.protocol, "?" if self.port is None else self.port)


def global_rate(listener: Listener) -> Optional[int]:
    """CONNECTION_RATE of the listener. The last one in the file applies. None if it is not set."""
    parameters = listener.parameters("CONNECTION_RATE_" + listener.name)
    if not parameters:
        return None
    rate = _number(parameters[-1], listener)
    if not rate:
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            f"{parameters[-1].name} is 0, and Oracle does not document that: set it to 1 or more, "
            "or remove it",
        )
    return rate


def endpoints(listener: Listener) -> List[Endpoint]:
    """The endpoints of the listener with their effective rates."""
    result = []
    for parameter in listener.parameters(listener.name):
        for address in parameter.inside("ADDRESS"):
            protocol = (address.text("PROTOCOL") or "").lower()
            if protocol in PROTOCOLS:
                result.append(endpoint_of(address, protocol, global_rate(listener), listener))
    return result


def endpoint_of(
    address: oracle_net.Pair, protocol: str, total: Optional[int], listener: Listener
) -> Endpoint:
    port = address.text("PORT") or ""
    limits = _alike(address.all("RATE_LIMIT"), listener)
    sizes = _alike(address.all("QUEUESIZE"), listener)
    # A value in parentheses is not one that Oracle documents.
    limit = limits[0].value or "" if limits else None
    return Endpoint(
        protocol=protocol,
        host=address.text("HOST") or "",
        port=clipped(port) if port.isdecimal() else None,
        limit=limit,
        rate=_rate(limit, total, listener),
        queuesize=_number(sizes[0], listener) if sizes else None,
        pair=address,
    )


def _alike(pairs: List[oracle_net.Pair], listener: Listener) -> List[oracle_net.Pair]:
    """Raise if an address has a keyword more than once with different values."""
    values = [(pair.value or "").lower() for pair in pairs]
    if len(set(values)) > 1:
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            "an address has {0} {1} times ({2}), and Oracle does not document which one applies: "
            "keep one of them".format(pairs[0].name, len(pairs), ", ".join(values)),
        )
    return pairs


def twice_in_an_address(listener: Listener) -> List[str]:
    """RATE_LIMIT and QUEUESIZE, if an address of the listener has it more than once."""
    return [
        f"{name} in one address"
        for parameter in listener.parameters(listener.name)
        for address in parameter.inside("ADDRESS")
        for name in ("RATE_LIMIT", "QUEUESIZE")
        if len(address.all(name)) > 1
    ]


def _rate(limit: Optional[str], total: Optional[int], listener: Listener) -> Optional[int]:
    """Effective rate of an endpoint. CONNECTION_RATE (``total``) overrides its RATE_LIMIT."""
    if limit is None or limit.lower() in FALSE:
        return None
    if limit.lower() in TRUE:
        return total
    if not limit.isdecimal():
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            f"RATE_LIMIT is {kind_of(limit)}, which is not yes, no or a number",
        )
    if not clipped(limit):
        # "Greater than 0, it is enforced at that endpoint" (Net Services Reference, RATE_LIMIT).
        if total is not None:
            raise Unanswered(
                "command:cat " + known(listener.main).path,
                f"RATE_LIMIT is 0 with CONNECTION_RATE_{listener.name}={total}, and Oracle does "
                "not document which one applies: set RATE_LIMIT to yes or no",
            )
        return None
    return clipped(limit) if total is None else total


def _number(pair: oracle_net.Pair, listener: Listener) -> int:
    if pair.value is None or not pair.value.isdecimal():
        raise Unanswered(
            "command:cat " + known(listener.main).path,
            f"{pair.name} is {kind_of(pair.value or '')}, which is not a number",
        )
    return clipped(pair.value)


def inbound_timeout(listener: Listener) -> int:
    parameters = listener.parameters("INBOUND_CONNECT_TIMEOUT_" + listener.name)
    return _number(parameters[-1], listener) if parameters else INBOUND_TIMEOUT


def may_be_limited(endpoint: Endpoint, required: WantedListener) -> bool:
    return required.ports is None or endpoint.port in required.ports


def missing_ports(ones: List[Endpoint], required: WantedListener) -> List[int]:
    """The ports that must be limited and that no endpoint has."""
    return sorted(set(required.ports or ()) - {endpoint.port for endpoint in ones})


def wanted_rate(endpoint: Endpoint, required: WantedListener) -> Optional[int]:
    """The required rate, None for no limit. Call it only if the policy manages the rate."""
    return (required.rate or None) if may_be_limited(endpoint, required) else None


def drain_seconds(rate: int, pools: Tuple[int, ...]) -> float:
    return float(sum(pools)) / rate
