# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a set of rules handles the packets of a new connection: the first one and the replies.

What is not known of a packet (its interface, its addresses) decides nothing: a rule that depends on
it applies to some packets only. A rule with a condition that is not understood makes the result
unknown if it can change it.
"""

import fnmatch
import ipaddress
from functools import lru_cache
from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Set, Tuple, Union

ACCEPT, DROP, NOTRACK = "accept", "drop", "notrack"
#: Marks a result that depends on a condition that is not understood.
_UNKNOWN = "?"
_DEEPEST = 32
#: Results of a test.
YES, NO, SOME, UNREAD = "yes", "no", "some", "unread"
OPEN, PARTLY, BLOCKED, UNCLEAR = "open", "partly", "blocked", "unclear"

#: Kinds of tests. FROM and TO are addresses, TO_KIND is "local", "multicast" or "broadcast".
PROTOCOL, PORT, SOURCE_PORT, INTERFACE = "protocol", "port", "source_port", "interface"
FROM, TO, TO_KIND, STATE = "from", "to", "to_kind", "state"
LIMIT, OVER_LIMIT, NOT_READ, NEVER = "limit", "over_limit", "not_read", "never"

#: Ports of clients: net.ipv4.ip_local_port_range by default, and those of an NFS client.
_CLIENTS = ((32768, 60999),)
_NFS_CLIENTS = ((665, 1023), (32768, 60999))
NFS_PORT = 2049
LAST_PORT = 65535

Ranges = Tuple[Tuple[int, int], ...]
Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
#: Where Clusterware sends packets to a group (Grid Infrastructure Installation Guide, multicast).
GROUP = ipaddress.ip_network("224.0.0.251/32")


class Test(NamedTuple):
    """One condition. ``values`` are names, for a port its protocols. ``text`` is for display.

    A set of addresses whose elements are not known has no ``values``.
    """

    kind: str
    values: FrozenSet[str] = frozenset()
    ranges: Ranges = ()
    negated: bool = False
    text: str = ""


class Rule(NamedTuple):
    """``verdict`` is accept, drop, jump, goto, return, notrack for packets whose connection the
    kernel does not track, or "" for a rule that decides nothing."""

    tests: Tuple[Test, ...]
    verdict: str
    target: str = ""


class Chain(NamedTuple):
    """``hook`` is "" for a chain that is reached only by jumps. ``devices`` are those of ingress
    and egress."""

    name: str
    hook: str
    policy: str
    rules: Tuple[Rule, ...]
    devices: Tuple[str, ...] = ()


#: Chains by family and table.
Tables = Dict[Tuple[str, str], Dict[str, Chain]]


#: Names of ports that files of rules have (/etc/services).
_SERVICES = {
    **{"ssh": "22", "smtp": "25", "domain": "53", "http": "80", "sunrpc": "111", "ntp": "123"},
    **{"snmp": "161", "ldap": "389", "https": "443", "ldaps": "636", "ncube-lm": "1521"},
    **{"nfs": "2049", "mysql": "3306", "postgresql": "5432", "http-alt": "8080"},
}


def port_ranges(words: Iterable[str], dash: str = "-") -> Optional[Ranges]:
    """The lowest and the highest port of each word. None if one is not a number or a range."""
    ranges = []
    for word in words:
        word = _SERVICES.get(word, word)
        low, is_range, high = word.partition(dash)
        # iptables takes 1500: and :1521.
        low, high = (low or "0", high or "65535") if is_range else (low, low)
        if not (low + high).isdecimal() or len(word) > 11 or word == dash:
            return None
        ranges.append((int(low), int(high)))
    return tuple(ranges)


class Packet(NamedTuple):
    """The first packet of a connection, or with ``is_reply`` one that answers it.

    ``port`` is that of the server, None for any. ``direction`` is "in" for a server on this host.
    ``remote`` and ``local`` are the networks of the other end and the addresses of this host; they
    are (), and ``interface`` is "", if they are not known. ``is_flood``: it is above every limit.
    """

    protocol: str
    port: Optional[int]
    direction: str = "in"
    interface: str = ""
    remote: Tuple[Network, ...] = ()
    local: Tuple[Network, ...] = ()
    is_reply: bool = False
    is_flood: bool = False
    is_untracked: bool = False

    @property
    def comes_in(self) -> bool:
        return (self.direction == "in") != self.is_reply

    @property
    def clients(self) -> Ranges:
        is_nfs = self.direction == "out" and self.port == NFS_PORT
        return _NFS_CLIENTS if is_nfs else _CLIENTS


class Reach(NamedTuple):
    """``limits`` are the conditions that drop packets above a rate, ``conditions`` those that only
    some packets meet, by kind and text. ``is_reply``: the first packet passes, and replies do not.
    """

    state: str
    limits: Tuple[str, ...] = ()
    conditions: Tuple[Tuple[str, str], ...] = ()
    is_reply: bool = False


_NUMBERS = {"tcp": "6", "udp": "17"}
_OF_DEVICE = ("ingress", "egress")
_IN = ("ingress", "prerouting", "input")
_OUT = ("output", "egress", "postrouting")


class _Notes(NamedTuple):
    """What a walk meets."""

    limits: Set[str]
    conditions: Set[Tuple[str, str]]
    untracked: Set[str]


def reach(tables: Tables, packet: Packet) -> Reach:
    notes = _Notes(set(), set(), set())
    first = _state(tables, packet, notes)
    reply = _state(tables, packet._replace(is_reply=True), notes)
    state = next(each for each in (BLOCKED, UNCLEAR, PARTLY, OPEN) if each in (first, reply))
    conditions = tuple(sorted(notes.conditions)) if state == PARTLY else ()
    limits: Set[str] = set()
    if state in (OPEN, PARTLY):
        above = _Notes(limits, set(), set())
        if _state(tables, packet._replace(is_flood=True), above) == first:
            limits.clear()
    return Reach(state, tuple(sorted(limits)), conditions, first == OPEN != reply)


def _state(tables: Tables, packet: Packet, notes: _Notes) -> str:
    notes.untracked.clear()
    states = _states(tables, packet, notes)
    answers = set(notes.untracked)
    if answers:
        other = _states(tables, packet._replace(is_untracked=True), notes)
        # Where it is not known whether the rule meets the packet, both results are possible.
        states = (
            other if YES in answers else {*states, *other, *([UNCLEAR] if other != states else [])}
        )
    return next((state for state in (BLOCKED, UNCLEAR, PARTLY) if state in states), OPEN)


def _states(tables: Tables, packet: Packet, notes: _Notes) -> Set[str]:
    hooks = _IN if packet.comes_in else _OUT
    return {
        # A chain of a device drops only some of the packets, if the device is not known.
        PARTLY if state == BLOCKED and chain.hook in _OF_DEVICE and not packet.interface else state
        for chains in tables.values()
        for chain in chains.values()
        if chain.hook in hooks and _is_of_device(chain, packet.interface)
        for state in [_result_of(_walk(_Walk(chains, packet, notes, {}), chain, ())[0])]
    }


def _is_of_device(chain: Chain, interface: str) -> bool:
    names = chain.devices if interface else ()
    return not names or any(fnmatch.fnmatchcase(interface, name) for name in names)


def _result_of(outcomes: Set[str]) -> str:
    verdicts = {outcome.rstrip(_UNKNOWN) for outcome in outcomes}
    if len(verdicts) == 1:
        return OPEN if verdicts == {ACCEPT} else BLOCKED
    return UNCLEAR if any(outcome.endswith(_UNKNOWN) for outcome in outcomes) else PARTLY


class _Walk(NamedTuple):
    """A packet on its way through the chains of a table. ``ends`` are the results of _walk for the
    chains that it was led to: each chain is walked once, however many rules jump to it."""

    chains: Dict[str, Chain]
    packet: Packet
    notes: _Notes
    ends: Dict[str, Tuple[Set[str], bool]]


def _walk(walk: _Walk, chain: Chain, way: Tuple[str, ...]) -> Tuple[Set[str], bool]:
    """The results, and whether a packet can reach the end of the chain.

    ``way`` are the names of the chains that led to it.
    """
    outcomes: Set[str] = set()
    returns = False
    for rule in chain.rules:
        answer = _answer(rule, walk.packet, walk.notes)
        if answer == NO or not rule.verdict:
            continue
        if rule.verdict == NOTRACK:
            walk.notes.untracked.add(answer)
            continue
        results, leaves, falls = _results(walk, rule, way)
        if answer == UNREAD:
            results = {result.rstrip(_UNKNOWN) + _UNKNOWN for result in results}
        outcomes |= results
        returns = returns or leaves
        if answer == YES and not falls:
            break
    else:
        returns = True
    if chain.hook and returns:
        outcomes.add(chain.policy)
    return outcomes, returns


def _results(walk: _Walk, rule: Rule, way: Tuple[str, ...]) -> Tuple[Set[str], bool, bool]:
    """The results of a rule that meets the packet, whether the packet can leave the chain without
    one, and whether it can go on to the next rule."""
    if rule.verdict in (ACCEPT, DROP):
        return {rule.verdict}, False, False
    if rule.verdict == "return":
        return set(), True, False
    target = walk.chains.get(rule.target)
    # The kernel rejects a chain that leads to itself, but a file can hold one.
    if target is None or rule.target in way or len(way) > _DEEPEST:
        return {ACCEPT + _UNKNOWN, DROP + _UNKNOWN}, False, True
    if rule.target not in walk.ends:
        walk.ends[rule.target] = _walk(walk, target, (*way, rule.target))
    inside, returns = walk.ends[rule.target]
    return (inside, returns, False) if rule.verdict == "goto" else (inside, False, returns)


def _answer(rule: Rule, packet: Packet, notes: _Notes) -> str:
    answers: List[str] = []
    limits, conditions = [], []
    for test in rule.tests:
        answers.append(_of_test(test, packet))
        is_limit = test.kind in (LIMIT, OVER_LIMIT)
        if answers[-1] == NO and not is_limit:
            return NO
        if is_limit:
            limits.append(test.text)
        elif answers[-1] == SOME:
            sign = "not " if test.negated else ""
            text = test.text or ", ".join(sorted(test.values)[:5])
            conditions.append((test.kind, sign + text))
    if rule.verdict:
        notes.limits.update(limits)
        notes.conditions.update(conditions)
    for answer in (NO, UNREAD, SOME):
        if answer in answers:
            return answer
    return YES


def _of_test(test: Test, packet: Packet) -> str:
    kind = test.kind
    if kind in (PORT, SOURCE_PORT):
        if test.values and packet.protocol not in test.values:
            return NO
        return _of_port(test, packet, (kind == PORT) != packet.is_reply)
    if kind == INTERFACE:
        return _of_interface(test, packet.interface)
    if kind in (FROM, TO):
        return _of_address(
            test, packet.remote if (kind == FROM) == packet.comes_in else packet.local
        )
    if kind in (LIMIT, OVER_LIMIT):
        return YES if packet.is_flood == (kind == OVER_LIMIT) else NO
    if kind in (PROTOCOL, STATE, TO_KIND):
        return _truth(bool(_names(kind, packet) & test.values), test)
    return NO if kind == NEVER else UNREAD


def _names(kind: str, packet: Packet) -> Set[str]:
    """The names in rules for the protocol, the state or the kind of destination of the packet."""
    if kind == PROTOCOL:
        return {packet.protocol, _NUMBERS.get(packet.protocol, packet.protocol)}
    if kind == STATE:
        state = "established" if packet.is_reply else "new"
        return {"untracked" if packet.is_untracked else state}
    if not packet.comes_in:
        return {"unicast"}
    return {"multicast" if GROUP in packet.local else "local"}


def _of_port(test: Test, packet: Packet, is_of_server: bool) -> str:
    if not is_of_server:
        covered = [covers(test.ranges, low, high) for low, high in packet.clients]
        answer = covered[0] if len(set(covered)) == 1 else SOME
        # A rule for a few ports is not one for the ports of clients.
        answer = NO if answer == SOME and _size(test.ranges) < 100 else answer
    elif packet.port is None:
        answer = covers(test.ranges, 1, LAST_PORT)
    else:
        answer = covers(test.ranges, packet.port, packet.port)
    return _negated(answer, test)


def _size(ranges: Ranges) -> int:
    return sum(high - low + 1 for low, high in ranges)


def covers(ranges: Ranges, low: int, high: int) -> str:
    """Whether all, some or none of the ports are in the ranges."""
    place = low
    is_met = False
    for first, last in sorted(ranges):
        if last < low or first > high:
            continue
        is_met = True
        if first <= place:
            place = max(place, last + 1)
    return YES if place > high else SOME if is_met else NO


def _of_interface(test: Test, interface: str) -> str:
    if not test.values:
        return SOME
    if not interface:
        return _truth(False, test) if test.values == {"lo"} else SOME
    # "eth*" in nft, "eth+" in iptables.
    names = [name[:-1] + "*" if name.endswith("+") else name for name in test.values]
    return _truth(any(fnmatch.fnmatchcase(interface, name) for name in names), test)


def _of_address(test: Test, networks: Tuple[Network, ...]) -> str:
    values, is_whole = _values_of(test.values)
    if not values or not is_whole:
        # The elements of the set are not known.
        return UNREAD if networks else SOME
    if all(value.is_loopback for value in values):
        return _truth(False, test)
    if not networks:
        return _truth(True, test) if any(not value.prefixlen for value in values) else SOME
    answers = {_share_in(values, network) for network in networks}
    return _negated(answers.pop() if len(answers) == 1 else SOME, test)


def _share_in(values: Tuple[Network, ...], network: Network) -> str:
    """Whether all, some or none of the network is in the values."""
    if is_inside(network, values):
        return YES
    return SOME if any(value.overlaps(network) for value in values) else NO


def is_inside(network: Network, others: Iterable[Network]) -> bool:
    """Whether one of the others has the whole network."""
    return any(
        network.network_address in other and network.broadcast_address in other for other in others
    )


@lru_cache(maxsize=1024)
def _values_of(texts: FrozenSet[str]) -> Tuple[Tuple[Network, ...], bool]:
    """The networks of the texts, and whether each text is one: rules are walked many times."""
    found = [networks_of(text) for text in texts]
    return tuple(value for values in found for value in values), all(found)


def networks_of(text: str) -> List[Network]:
    """The networks of an address, a network or a range; none for anything else."""
    first, is_range, last = text.partition("-")
    try:
        if is_range:
            begin, end = ipaddress.ip_address(first), ipaddress.ip_address(last)
            return list(ipaddress.summarize_address_range(begin, end))
        return [ipaddress.ip_network(text, strict=False)]
    except (ValueError, TypeError):
        return []


def ports_of(tables: Tables, packet: Packet) -> List[int]:
    """The ports where the result can change: the first of each range that a rule names."""
    found = {1}
    for chains in tables.values():
        for chain in chains.values():
            for rule in chain.rules:
                for test in rule.tests:
                    if test.kind == PORT and packet.protocol in (test.values or {packet.protocol}):
                        for low, high in test.ranges:
                            found |= {low, high + 1}
    return sorted(port for port in found if 0 < port <= LAST_PORT)


def _truth(value: bool, test: Test) -> str:
    return YES if value != test.negated else NO


def _negated(answer: str, test: Test) -> str:
    return {YES: NO, NO: YES}.get(answer, answer) if test.negated else answer
