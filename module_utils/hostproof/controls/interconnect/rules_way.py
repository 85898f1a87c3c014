# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the paths to other nodes, by packets that arrive, not by the settings of devices."""

from typing import List

from ...collect.answer import known
from ...errors import HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.net.whole_packets import KEY, ProbeRoute
from .facts import Facts, Route, wanted_mtu
from .policy import NAME, Peer, Policy
from .probes import group_packets
from .subjects import BOOK, PEERS

rules: Rules[Facts, Policy] = Rules(NAME)

#: What Clusterware needs, and what it is called.
_REQUIRED = {
    group_packets.MULTICAST: group_packets.MULTICAST,
    group_packets.BROADCAST: "the broadcast address",
}
#: A second of packets. A switch can lose the first packets to a group after a node has joined it.
_ENOUGH = 5


@rules.check(
    "interconnect.end_to_end",
    "Packets of full MTU reach the other nodes and return",
    "Packets of full MTU do not reach a node or do not return",
    severity="critical",
    takes_effect="now",
    why="Small messages succeed but database blocks are lost: the database stalls, and a node "
    "is evicted.",
    reference="RFC 4821, section 1; " + BOOK + "network interface hardware requirements",
    each=PEERS,
    because_of=("interconnect.mtu",),
)
def end_to_end(peer: Peer, facts: Facts, policy: Policy) -> Verdict:
    route: Route = known(facts.routes[peer.address])
    if route.own:
        raise Skip("It is an address of this host.", [route.key])
    required = wanted_mtu(peer, policy, facts.public_peers) or route.mtu
    if route.mtu < required and isinstance(facts.ways[peer.address], HostproofError):
        return _too_small(route, required)
    way: ProbeRoute = known(facts.ways[peer.address])
    problems = _problems(route, way, required)
    status = FAIL if problems else PASS
    private = [device.name for device in known(facts.devices)]
    is_public = peer.address in facts.public_peers
    if route.device not in private and not problems and not is_public:
        status = WARN
        problems.append(
            f"the route uses {route.device}, which is not an interconnect device "
            f"({', '.join(private)})"
        )
    if way.passed and way.pieces is None and status != FAIL:
        raise Unanswered(
            KEY,
            "this kernel does not show whether answers were fragmented: test the path back from "
            "there",
        )
    why = "; ".join(problems)
    return Verdict(
        status,
        f"{why[:1].upper()}{why[1:]}.",
        advice=Advice([Ask(_remedy(peer, way, route, required, private, status))]),
        desired=f"{required} bytes without fragmentation in both directions",
        running=f"{route.device} {route.mtu}",
        values={"mtu": route.mtu},
        in_use=f"{way.size if way.passed else way.arrives} bytes and their answer arrive",
        evidence=[KEY, route.key],
    )


def _problems(route: Route, way: ProbeRoute, required: int) -> List[str]:
    problems = []
    if route.mtu < required:
        problems.append(_small(route, required))
    if not way.passed:
        problems.append(_where(way))
    elif way.pieces:
        problems.append(
            f"the answer to {way.size} bytes came in fragments of {way.pieces}: the other node or "
            "the path back has a smaller MTU"
        )
    return problems


def _small(route: Route, required: int) -> str:
    return f"{route.device} of this host has MTU {route.mtu}, required is {required}"


def _raise_mtu(route: Route, required: int) -> str:
    return (
        f"set MTU {required} on all switch ports of the path, and then on {route.device} while "
        "Clusterware is down on this host; or lower the required MTU for all nodes"
    )


def _too_small(route: Route, required: int) -> Verdict:
    """Whatever happens to packets on the path: this host cannot send them whole."""
    return Verdict(
        FAIL,
        f"{_small(route, required)}.",
        advice=Advice([Ask(_raise_mtu(route, required))]),
        desired=f"{required} bytes without fragmentation in both directions",
        running=f"{route.device} {route.mtu}",
        values={"mtu": route.mtu},
        unknown="Not known: the path.",
        evidence=[route.key],
    )


def _remedy(
    peer: Peer, way: ProbeRoute, route: Route, required: int, private: List[str], status: str
) -> str:
    if status == WARN:
        return f"route {peer.address} over {' or '.join(private)}"
    if route.mtu < required:
        return _raise_mtu(route, required)
    if way.hop:
        return f"correct the MTU of {way.hop} to {required}, or use a smaller MTU on all nodes"
    where = "the other node and of the path back" if way.passed else "the path and the other node"
    return (
        f"compare the MTU of every switch port of {where} with {required}, and correct the "
        "smaller one; or use a smaller MTU on all nodes"
    )


def _where(way: ProbeRoute) -> str:
    """For example "packets of 9000 bytes are rejected by 192.0.2.1 (MTU 1500)"."""
    lost = f"packets of {way.size} bytes are"
    rest = f"those of {way.arrives} arrive"
    if way.hop:
        limit = f" (MTU {way.limit})" if way.limit else ""
        return f"{lost} rejected by {way.hop}{limit}; {rest}"
    return (
        f"{lost} lost silently, {rest}: a switch port on the path or the other node's "
        "interface has a smaller MTU"
    )


@rules.check(
    "interconnect.multicast",
    "Multicast and broadcast packets of the other nodes arrive",
    "Multicast or broadcast packets of a node do not arrive",
    severity="critical",
    takes_effect="now",
    why="Clusterware finds the other nodes by multicast. A switch that filters the group keeps the "
    "second node out of the cluster.",
    reference=BOOK + "Broadcast Requirements for Networks, Multicast Requirements for Networks; "
    "CVU, Multicast or broadcast check",
    each=PEERS,
    because_of=("interconnect.arp",),
)
def multicast(peer: Peer, facts: Facts, policy: Policy) -> Verdict:
    if not policy.multicast_seconds:
        raise Skip("interconnect_multicast_seconds is 0: no packets are sent.")
    route: Route = known(facts.routes[peer.address])
    if route.own:
        raise Skip("It is an address of this host.", [route.key])
    known(facts.addresses)
    if peer.address not in facts.heard:
        raise Skip("It is not in a private IPv4 network of this host.", [route.key])
    heard = known(facts.heard[peer.address])
    unicast = heard[group_packets.UNICAST]
    if unicast < _ENOUGH:
        raise Unanswered(
            group_packets.KEY,
            f"only {unicast} packets of {peer.address} came: audit all nodes in one run with "
            f"enough --forks, and open UDP port {group_packets.PORT}",
        )
    lost = [kind for kind in _REQUIRED if heard[kind] * 2 < unicast]
    arrived = [f"{heard[kind]} packets to {_REQUIRED[kind]}" for kind in lost]
    return Verdict(
        FAIL if not all(heard[kind] for kind in lost) else WARN if lost else PASS,
        f"{' and '.join(arrived)} arrived, but {unicast} unicast packets.",
        advice=Advice(
            [
                Ask(
                    f"permit packets to {' and '.join(_REQUIRED[kind] for kind in lost)} on the "
                    "switch (IGMP snooping needs a querier) and in the packet filters of both "
                    "nodes (firewall.interconnect)"
                )
            ]
        ),
        desired=f"packets to {' and '.join(_REQUIRED.values())}",
        in_use=", ".join(f"{kind}: {count}" for kind, count in heard.items()),
        evidence=[group_packets.KEY, route.key],
    )
