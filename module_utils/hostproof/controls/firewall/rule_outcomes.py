# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How rules handle a port on the interfaces of the host, and all traffic of the interconnect."""

import ipaddress
from typing import Dict, List, NamedTuple, Sequence, Set, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import HostproofError, NotRecorded, Unanswered
from ...parsers.net.ip_addr import Address
from ...probes.oracle.clusterware import NETWORKS_KEY
from .facts import NFT, Facts, Persisted
from .parsers.packets import (
    BLOCKED,
    FROM,
    GROUP,
    INTERFACE,
    LAST_PORT,
    OPEN,
    PARTLY,
    UNCLEAR,
    Network,
    Packet,
    Reach,
    Tables,
    is_inside,
    networks_of,
    ports_of,
    reach,
)
from .policy import PRIVATE, Port

#: An address that no rule names: those that are accepted are on a list if it is not.
_ANYBODY = ipaddress.ip_network("240.0.0.1/32")
#: Protocols and directions of the packets between the nodes.
ALL_PACKETS = (("udp", "in"), ("udp", "out"), ("tcp", "in"), ("tcp", "out"))
#: Ports that are tried one by one on the interconnect.
_MOST_PORTS = 64
_RUNNING = "command:" + " ".join(NFT)


class Interface(NamedTuple):
    """An interface with the networks of the other ends and the addresses of this host.

    ``name`` is "" and the others are () if the interfaces are not known."""

    name: str
    networks: Tuple[Network, ...] = ()
    own: Tuple[Network, ...] = ()


class Outcome(NamedTuple):
    """``state`` as Reach has it. ``is_list``: only what is on a list is accepted. ``conditions``
    are the sources and interfaces that the rules name."""

    state: str
    is_list: bool
    text: str
    conditions: Tuple[str, ...]
    limits: Tuple[str, ...]
    is_reply: bool


def ways(port: Port, facts: Facts) -> List[Interface]:
    """The interfaces through which the port must be reached."""
    private = if_known(facts.private, [])
    by_name = _by_name(if_known(facts.addresses, []))
    inside = [way for way in by_name if way.name in private]
    if port in PRIVATE and inside:
        return inside
    outside = [way for way in by_name if way.name not in private]
    return outside or [Interface("")]


def private_interfaces(facts: Facts) -> List[Interface]:
    """The interfaces of the interconnect; none if they are not known."""
    addresses = if_known(facts.addresses, [])
    found = {way.name: way for way in _by_name(addresses, is_private=True)}
    return [found.get(name, Interface(name)) for name in if_known(facts.private, [])]


def _by_name(addresses: Sequence[Address], is_private: bool = False) -> List[Interface]:
    """IPv4 only. Clusterware sends between link-local addresses too (HAIP)."""
    ways: Dict[str, Interface] = {}
    for address in addresses:
        name = address.interface.partition("@")[0]
        network = address.network
        skipped = network.is_loopback or (network.is_link_local and not is_private)
        if network.version == 4 and not skipped:
            way = ways.setdefault(name, Interface(name))
            own = ipaddress.ip_network(address.address)
            ways[name] = way._replace(
                networks=tuple(dict.fromkeys((*way.networks, network))), own=(*way.own, own)
            )
    return list(ways.values())


def outcome_of(port: Port, facts: Facts, tables: Tables, what: str) -> Outcome:
    """Raises Unanswered if a condition that is not read decides."""
    inside = [network for way in private_interfaces(facts) for network in way.networks]
    found = [
        (way, _without_nodes(_reach(port, way, tables), way, inside)) for way in ways(port, facts)
    ]
    states = {result.state for _way, result in found}
    _require_clear(found, states, facts, what)
    state = next((each for each in (OPEN, BLOCKED) if states == {each}), PARTLY)
    conditions = _conditions(found, state)
    anybody = [_reach(port, way, tables, (_ANYBODY,)).state for way, _result in found]
    # True if every interface that drops the port drops only the replies.
    is_reply = BLOCKED in states and all(
        result.is_reply for _way, result in found if result.state == BLOCKED
    )
    return Outcome(
        state,
        state == PARTLY and OPEN not in anybody,
        _text(state, found, conditions, is_reply),
        conditions,
        tuple(sorted({limit for _way, result in found for limit in result.limits})),
        is_reply,
    )


def _conditions(found: List[Tuple[Interface, Reach]], state: str) -> Tuple[str, ...]:
    """The sources and interfaces that are accepted."""
    texts = {_plain(text) for _way, result in found for _kind, text in result.conditions}
    if state == PARTLY:
        texts |= {way.name for way, result in found if result.state == OPEN}
    return tuple(sorted(texts))


def _require_clear(
    found: List[Tuple[Interface, Reach]], states: Set[str], facts: Facts, what: str
) -> None:
    """Raise where something that is not known decides."""
    if UNCLEAR in states and not states & {OPEN, PARTLY}:
        raise Unanswered(_RUNNING, f"{what} have a condition that is not read, and it decides")
    kinds = {kind for way, result in found if not way.name for kind, _text in result.conditions}
    is_private_known = bool(if_known(facts.private, []))
    if len(states) > 1 and BLOCKED in states and known_cluster(facts) and not is_private_known:
        # The interface that is accepted can be that of the interconnect.
        known(facts.private)
        why = f"{what} accept some interfaces, and Clusterware does not name the private ones"
        raise Unanswered(NETWORKS_KEY, why)
    if INTERFACE in kinds and known_cluster(facts):
        # The interface that is accepted can be that of the interconnect.
        known(facts.addresses)


def _without_nodes(result: Reach, way: Interface, inside: List[Network]) -> Reach:
    """Blocked, if only sources of the interconnect are accepted: they come on no other interface.

    ``inside`` are the networks of the interconnect."""
    texts = [text for kind, text in result.conditions if kind == FROM]
    if result.state != PARTLY or not texts or len(texts) < len(result.conditions):
        return result
    networks = [
        network for text in texts for each in text.split(", ") for network in networks_of(each)
    ]
    is_own = set(way.networks) <= set(inside)
    are_nodes = networks and all(is_inside(network, inside) for network in networks)
    return Reach(BLOCKED, result.limits) if are_nodes and not is_own else result


def known_cluster(facts: Facts) -> bool:
    """Whether to treat the host as a node of a cluster, by the first sign that is known. CSS
    without a sign whether it is Oracle Restart counts as a cluster."""
    if isinstance(facts.cluster, bool):
        return facts.cluster
    if not isinstance(facts.css, HostproofError):
        return facts.css
    programs = {name for socket in if_known(facts.sockets, []) for name in socket.programs}
    return bool(programs & {"ocssd.bin", "crsd.bin", "octssd.bin"})


def _plain(condition: str) -> str:
    """10.0.0.7 for 10.0.0.7/32: tools write an address in both forms."""
    networks = networks_of(condition)
    if len(networks) != 1:
        return condition
    whole = networks[0].prefixlen == networks[0].max_prefixlen
    return str(networks[0].network_address if whole else networks[0])


def _text(
    state: str, found: List[Tuple[Interface, Reach]], conditions: Tuple[str, ...], is_reply: bool
) -> str:
    if state == BLOCKED:
        return "replies are dropped" if is_reply else "dropped or rejected"
    if state == OPEN:
        return "accepted"
    closed = [way.name for way, result in found if result.state == BLOCKED]
    text = "accepted for some sources or interfaces"
    text += f" ({', '.join(conditions[:5])})" if conditions else ""
    return text + (f", not on {', '.join(closed)}" if closed else "")


def _reach(port: Port, way: Interface, tables: Tables, remote: Tuple[Network, ...] = ()) -> Reach:
    sources = tuple(ipaddress.ip_network(text) for text in port.sources)
    packet = Packet(port.protocol, port.port, port.direction, way.name, remote or sources, way.own)
    return reach(tables, packet)


# -- the interconnect ------------------------------------------------------------------------------


class Traffic(NamedTuple):
    """How rules handle packets between the nodes on an interface. ``dropped`` are texts.

    ``sources`` are those that are accepted, if that depends on them."""

    dropped: Tuple[str, ...]
    sources: Tuple[str, ...]


def traffic_of(way: Interface, facts: Facts, tables: Tables) -> Traffic:
    """As ``traffic``; without the name of the interconnect, of all interfaces that it may be.

    Before Clusterware is installed one interface that accepts all packets is enough."""
    candidates = [] if way.name else _by_name(if_known(facts.addresses, []))
    if not candidates:
        return traffic(way, tables)
    found = {each.name: traffic(each, tables) for each in candidates}
    closed = [name for name, result in found.items() if result.dropped]
    if len(closed) == len(found):
        shown = "; ".join(f"{name}: {found[name].dropped[0]}" for name in closed)
        return Traffic((f"no interface accepts all packets ({shown})",), ())
    if closed and isinstance(facts.private, HostproofError):
        raise facts.private
    return next(result for result in found.values() if not result.dropped)


def traffic(way: Interface, tables: Tables) -> Traffic:
    """Raises Unanswered if a condition that is not read, or the interface, decides."""
    dropped: List[str] = []
    sources: List[str] = []
    groups: List[Tuple[Tuple[Network, ...], Tuple[Network, ...]]] = [
        ((network,), tuple(own for own in way.own if network.overlaps(own)))
        for network in way.networks
    ]
    groups = groups or [((), ())]
    for remote, local in groups:
        for protocol, direction in ALL_PACKETS:
            packet = Packet(protocol, None, direction, way.name, remote, local)
            ports, some = _dropped_ports(tables, packet)
            sources += some
            if ports:
                words = "from" if direction == "in" else "to"
                other = f" {words} {remote[0]}" if remote else ""
                dropped.append(f"{protocol.upper()} {ports}{other}")
        group = Packet("udp", 42424, "in", way.name, remote, (GROUP,))
        if not dropped and remote and reach(tables, group).state == BLOCKED:
            dropped.append(f"packets to the multicast address {GROUP.network_address}")
    return Traffic(tuple(dict.fromkeys(dropped)), tuple(dict.fromkeys(sources)))


def _dropped_ports(tables: Tables, packet: Packet) -> Tuple[str, List[str]]:
    """(the ports that are dropped, the conditions on which the rest depends)"""
    whole = reach(tables, packet)
    if whole.state == OPEN and not whole.limits:
        return "", []
    begins = ports_of(tables, packet)
    if whole.state == BLOCKED or len(begins) > _MOST_PORTS:
        begins = [1]
    ranges: List[Tuple[int, int]] = []
    conditions: List[str] = []
    limits: Set[str] = set()
    for begin, following in zip(begins, [*begins[1:], LAST_PORT + 1]):
        result = reach(tables, packet._replace(port=begin))
        limits.update(result.limits)
        if result.state == UNCLEAR or (result.state == PARTLY and not packet.remote):
            raise Unanswered(
                _RUNNING, "the rules have a condition that is not known, and it decides"
            )
        if result.state == PARTLY:
            conditions += [text for _kind, text in result.conditions]
        if result.state == BLOCKED:
            _add(ranges, begin, following - 1)
    return _text_of_ports(ranges, limits), conditions


def _add(ranges: List[Tuple[int, int]], low: int, high: int) -> None:
    if ranges and ranges[-1][1] == low - 1:
        low = ranges.pop()[0]
    ranges.append((low, high))


def _text_of_ports(ranges: List[Tuple[int, int]], limits: Set[str]) -> str:
    if ranges == [(1, LAST_PORT)]:
        return "packets"
    shown = [str(low) if low == high else f"{low} to {high}" for low, high in ranges[:3]]
    more = f" and {len(ranges) - 3} other ranges" if len(ranges) > 3 else ""
    texts = [f"ports {', '.join(shown)}{more}"] if shown else []
    texts += [f"packets above {limit}" for limit in sorted(limits)[:3]]
    return ", ".join(texts)


def running_tables(facts: Facts) -> Tables:
    """Rules of the kernel that an old recording lacks are unknown, and not those of the files."""
    if isinstance(facts.running, NotRecorded):
        raise Unanswered(facts.running.key, str(facts.running))
    return known(facts.running)


def of_files(port: Port, facts: Facts, answer: Answer[Persisted]) -> Outcome:
    persisted = known(answer)
    outcome = None
    try:
        outcome = outcome_of(port, facts, persisted.tables, "the files")
    except Unanswered:
        if not persisted.gaps:
            raise
    # No service accepts a packet that another drops; a script can change rules of a service.
    if outcome is None or (persisted.gaps and (persisted.by_script or outcome.state != BLOCKED)):
        raise persisted.gaps[0]
    return outcome
