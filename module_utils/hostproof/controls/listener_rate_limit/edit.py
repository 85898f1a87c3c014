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


def is_as_wanted(listener: Listener, wanted: WantedListener) -> bool:
    ones = endpoints(listener)
    ports = {one.port for one in ones}
    if (wanted.rate or wanted.queuesize) and not ones or set(wanted.ports or ()) - ports:
        return False
    return all(
        (wanted.rate is None or one.rate == wanted_rate(one, wanted))
        and (
            wanted.queuesize is None
            or not may_be_limited(one, wanted)
            or one.queuesize == wanted.queuesize
        )
        for one in ones
    )


def may_be_replaced(listener: Listener) -> List[str]:
    """Files whose inode changed after the start of the listener (mv, cp -p, chmod)."""
    begun = known(listener.started) + _CLOCK
    moments = [(one.path, known(one.replaced)) for one in listener.files()]
    return [path for path, moment in moments if moment is not None and moment > begun]


def is_stale(listener: Listener) -> bool:
    newest = max(known(one.changed) for one in listener.files())
    return bool(newest > known(listener.started) + _CLOCK)


def edited(
    listener: Listener, wanted: WantedListener, net: oracle_net.NetFile, main: NetFile
) -> oracle_net.NetFile:
    """The file with the required settings. Settings that already match are not rewritten."""
    edits: List[Edit] = []
    for one in _endpoints_of(listener, net):
        if may_be_limited(one, wanted) or one.limit is not None:
            edits.extend(_endpoint_edits(one, wanted, net))
    if wanted.rate is not None:
        edits.extend(_global_edits(listener, wanted, net))
    new = oracle_net.edited(net, edits, what=main.path)
    _check(listener, wanted, new, main)
    return new


def _endpoints_of(listener: Listener, net: oracle_net.NetFile) -> List[Endpoint]:
    totals = [one.value for one in net.all("CONNECTION_RATE_" + listener.name) if one.value]
    total = clipped(totals[-1]) if totals and totals[-1].isdecimal() else None
    return [
        endpoint_of(address, (address.text("PROTOCOL") or "").lower(), total, listener)
        for parameter in net.all(listener.name)
        for address in parameter.inside("ADDRESS")
        if (address.text("PROTOCOL") or "").lower() in PROTOCOLS
    ]


def _endpoint_edits(
    endpoint: Endpoint, wanted: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    """At most one edit of RATE_LIMIT and one of QUEUESIZE. A new QUEUESIZE is added at the end."""
    edits: List[Edit] = []
    limits, sizes = endpoint.pair.all("RATE_LIMIT"), endpoint.pair.all("QUEUESIZE")
    size = wanted.queuesize if may_be_limited(endpoint, wanted) else None
    new_size = size is not None and not sizes
    if wanted.rate is not None:
        rate = wanted_rate(endpoint, wanted)
        text = None if rate is None else str(rate) if wanted.scope == "endpoint" else "yes"
        if text is None:
            edits += [oracle_net.remove(net, one) for one in limits if _limits(one)]
        elif not limits:
            before = sizes[0] if sizes else None
            edits.append(oracle_net.add_pair(net, endpoint.pair, "RATE_LIMIT", text, before))
        elif (limits[0].value or "").lower() != text:
            edits.append(oracle_net.set_value(limits[0], text))
            edits += [oracle_net.remove(net, one) for one in limits[1:]]
    if new_size:
        edits.append(oracle_net.add_pair(net, endpoint.pair, "QUEUESIZE", str(size)))
    elif size is not None and sizes[0].value != str(size):
        edits.append(oracle_net.set_value(sizes[0], str(size)))
    return edits


def _limits(pair: oracle_net.Pair) -> bool:
    value = (pair.value or "").lower()
    return value not in FALSE and not (value.isdecimal() and not clipped(value))


def _global_edits(
    listener: Listener, wanted: WantedListener, net: oracle_net.NetFile
) -> List[Edit]:
    name = "CONNECTION_RATE_" + listener.name
    ones = net.all(name)
    if wanted.scope == "endpoint" or not wanted.rate:
        return [oracle_net.remove(net, one) for one in ones]
    if not ones:
        own = net.all(listener.name)
        after = own[-1] if own else None
        return [oracle_net.add_parameter(net, name, str(wanted.rate), after)]
    last = ones[-1]
    return [] if last.value == str(wanted.rate) else [oracle_net.set_value(last, str(wanted.rate))]


def _check(
    listener: Listener, wanted: WantedListener, net: oracle_net.NetFile, main: NetFile
) -> None:
    """Raise if the edited file does not give the required rate."""
    for one in _endpoints_of(listener, net):
        if wanted.rate is not None and one.rate != wanted_rate(one, wanted):
            raise HostproofError(
                f"{main.path}: after the edit {one.name()} would have the rate {one.rate}, not "
                f"{wanted_rate(one, wanted)}. The file was not changed."
            )
