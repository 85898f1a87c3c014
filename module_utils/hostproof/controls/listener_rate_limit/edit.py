# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Minimal edit of listener.ora that sets the limits of the policy, and tests whether the running
listener read the current file."""

from typing import List

from ...collect.answer import known
from ...errors import HostproofError
from ...parsers.number import clipped
from ...parsers.oracle import oracle_net
from ...parsers.oracle.oracle_net import Edit
from ...probes.oracle.listeners import Listener, NetFile
from .endpoints import (
    FALSE,
    Endpoint,
    endpoint_of,
    endpoints,
    may_be_limited,
    missing_ports,
    wanted_rate,
)
from .policy import PROTOCOLS, WantedListener

#: Tolerance in seconds between the start time of a process and the time of a file.
_CLOCK = 1.0


def is_as_wanted(listener: Listener, required: WantedListener) -> bool:
    ones = endpoints(listener)
    if (required.rate or required.queuesize) and not ones or missing_ports(ones, required):
        return False
    return all(
        (required.rate is None or endpoint.rate == wanted_rate(endpoint, required))
        and (
            required.queuesize is None
            or not may_be_limited(endpoint, required)
            or (endpoint.queuesize or 0) >= required.queuesize
        )
        for endpoint in ones
    )


def may_be_replaced(listener: Listener) -> List[str]:
    """Files whose inode changed after the start of the listener (mv, cp -p, chmod)."""
    begun = known(listener.started) + _CLOCK
    moments = [(net_file.path, known(net_file.replaced)) for net_file in listener.files()]
    return [path for path, moment in moments if moment is not None and moment > begun]


def is_stale(listener: Listener) -> bool:
    newest = max(known(net_file.changed) for net_file in listener.files())
    return bool(newest > known(listener.started) + _CLOCK)


def edited(
    listener: Listener, required: WantedListener, net: oracle_net.NetFile, main: NetFile
) -> oracle_net.NetFile:
    """The file with the required settings. Settings that already match are not rewritten."""
    edits: List[Edit] = []
    for endpoint in _endpoints_of(listener, net):
        if may_be_limited(endpoint, required) or endpoint.limit is not None:
            edits.extend(_rate_edits(endpoint, required, net))
            edits.extend(_queue_edits(endpoint, required, net))
    if required.rate is not None:
        edits.extend(_global_edits(listener, required, net))
    new = oracle_net.edited(net, edits, what=main.path)
    _check(listener, required, new, main)
    return new


def _endpoints_of(listener: Listener, net: oracle_net.NetFile) -> List[Endpoint]:
    totals = [
        parameter.value
        for parameter in net.all("CONNECTION_RATE_" + listener.name)
        if parameter.value
    ]
    total = clipped(totals[-1]) if totals and totals[-1].isdecimal() else None
    return [
        endpoint_of(address, (address.text("PROTOCOL") or "").lower(), total, listener)
        for parameter in net.all(listener.name)
        for address in parameter.inside("ADDRESS")
        if (address.text("PROTOCOL") or "").lower() in PROTOCOLS
    ]


def _rate_edits(
    endpoint: Endpoint, required: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    if required.rate is None:
        return []
    limits, sizes = endpoint.pair.all("RATE_LIMIT"), endpoint.pair.all("QUEUESIZE")
    rate = wanted_rate(endpoint, required)
    if rate is None:
        return [oracle_net.remove(net, limit) for limit in limits if _limits(limit)]
    text = str(rate) if required.scope == "endpoint" else "yes"
    if not limits:
        before = sizes[0] if sizes else None
        return [oracle_net.add_pair(net, endpoint.pair, "RATE_LIMIT", text, before)]
    if (limits[0].value or "").lower() == text:
        return []
    others = [oracle_net.remove(net, limit) for limit in limits[1:]]
    return [oracle_net.set_value(limits[0], text), *others]


def _queue_edits(
    endpoint: Endpoint, required: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    """At most one edit. A new QUEUESIZE is added at the end."""
    sizes, size = endpoint.pair.all("QUEUESIZE"), required.queuesize
    if size is None or not may_be_limited(endpoint, required):
        return []
    if not sizes:
        return [oracle_net.add_pair(net, endpoint.pair, "QUEUESIZE", str(size))]
    return [oracle_net.set_value(sizes[0], str(size))] if (endpoint.queuesize or 0) < size else []


def _limits(pair: oracle_net.Pair) -> bool:
    value = (pair.value or "").lower()
    return value not in FALSE and not (value.isdecimal() and not clipped(value))


def _global_edits(
    listener: Listener, required: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    name = "CONNECTION_RATE_" + listener.name
    ones = net.all(name)
    if required.scope == "endpoint" or not required.rate:
        return [oracle_net.remove(net, parameter) for parameter in ones]
    if not ones:
        own = net.all(listener.name)
        after = own[-1] if own else None
        return [oracle_net.add_parameter(net, name, str(required.rate), after)]
    last = ones[-1]
    return (
        [] if last.value == str(required.rate) else [oracle_net.set_value(last, str(required.rate))]
    )


def _check(
    listener: Listener, required: WantedListener, net: oracle_net.NetFile, main: NetFile
) -> None:
    """Raise if the edited file does not give the required rate."""
    for endpoint in _endpoints_of(listener, net):
        if required.rate is not None and endpoint.rate != wanted_rate(endpoint, required):
            raise HostproofError(
                f"{main.path}: after the edit {endpoint.name()} would have the rate "
                f"{endpoint.rate}, not "
                f"{wanted_rate(endpoint, required)}. The file was not changed."
            )
