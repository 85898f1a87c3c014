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
from .endpoints import FALSE, Endpoint, endpoint_of, endpoints, may_be_limited, wanted_rate
from .policy import PROTOCOLS, WantedListener

#: Tolerance in seconds between the start time of a process and the time of a file.
_CLOCK = 1.0


def is_as_wanted(listener: Listener, required: WantedListener) -> bool:
    ones = endpoints(listener)
    ports = {endpoint.port for endpoint in ones}
    if (required.rate or required.queuesize) and not ones or set(required.ports or ()) - ports:
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
            edits.extend(_endpoint_edits(endpoint, required, net))
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


def _endpoint_edits(
    endpoint: Endpoint, required: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    """At most one edit of RATE_LIMIT and one of QUEUESIZE. A new QUEUESIZE is added at the end."""
    edits: List[Edit] = []
    limits, sizes = endpoint.pair.all("RATE_LIMIT"), endpoint.pair.all("QUEUESIZE")
    size = required.queuesize if may_be_limited(endpoint, required) else None
    new_size = size is not None and not sizes
    if required.rate is not None:
        rate = wanted_rate(endpoint, required)
        text = None if rate is None else str(rate) if required.scope == "endpoint" else "yes"
        if text is None:
            edits += [oracle_net.remove(net, limit) for limit in limits if _limits(limit)]
        elif not limits:
            before = sizes[0] if sizes else None
            edits.append(oracle_net.add_pair(net, endpoint.pair, "RATE_LIMIT", text, before))
        elif (limits[0].value or "").lower() != text:
            edits.append(oracle_net.set_value(limits[0], text))
            edits += [oracle_net.remove(net, limit) for limit in limits[1:]]
    if new_size:
        edits.append(oracle_net.add_pair(net, endpoint.pair, "QUEUESIZE", str(size)))
    elif size is not None and (endpoint.queuesize or 0) < size:
        edits.append(oracle_net.set_value(sizes[0], str(size)))
    return edits


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
