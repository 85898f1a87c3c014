# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a set of rules handles the first packet of a connection from another host.

The address and the interface of the packet are not known. A rule that depends on them applies to
some packets only. A rule with a condition that is not understood makes the result unknown if it
can change it.
"""

from typing import Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Set, Tuple

ACCEPT, DROP = "accept", "drop"
#: Marks a result that depends on a condition that is not understood.
_UNKNOWN = "?"
_DEEPEST = 32
#: Results of a test.
YES, NO, SOME, UNREAD = "yes", "no", "some", "unread"
OPEN, PARTLY, BLOCKED, UNCLEAR = "open", "partly", "blocked", "unclear"

#: Kinds of tests.
PROTOCOL, PORT, INTERFACE, ADDRESS, STATE = "protocol", "port", "interface", "address", "state"
LIMIT, OVER_LIMIT, NOT_READ, NEVER = "limit", "over_limit", "not_read", "never"


class Test(NamedTuple):
    """One condition. ``values`` are names, for a port its protocols. ``text`` is for display."""

    kind: str
    values: FrozenSet[str] = frozenset()
    ranges: Tuple[Tuple[int, int], ...] = ()
    negated: bool = False
    text: str = ""


class Rule(NamedTuple):
    """``verdict`` is accept, drop, jump, goto, return, or "" for a rule that decides nothing."""

    tests: Tuple[Test, ...]
    verdict: str
    target: str = ""


class Chain(NamedTuple):
    """``hook`` is "" for a chain that is reached only by jumps."""

    name: str
    hook: str
    policy: str
    rules: Tuple[Rule, ...]


#: Chains by family and table.
Tables = Dict[Tuple[str, str], Dict[str, Chain]]


def port_ranges(words: Iterable[str], dash: str = "-") -> Optional[Tuple[Tuple[int, int], ...]]:
    """The lowest and the highest port of each word. None if one is not a number or a range."""
    ranges = []
    for word in words:
        low, is_range, high = word.partition(dash)
        # iptables takes 1500: and :1521.
        low, high = (low or "0", high or "65535") if is_range else (low, low)
        if not (low + high).isdecimal() or len(word) > 11 or word == dash:
            return None
        ranges.append((int(low), int(high)))
    return tuple(ranges)


class Reach(NamedTuple):
    """``limits`` are the conditions that drop packets above a rate."""

    state: str
    limits: Tuple[str, ...]


class _Packet(NamedTuple):
    protocol: str
    port: int
    hooks: Tuple[str, ...]
    #: Whether it is one above every limit.
    flood: bool


_NUMBERS = {"tcp": "6", "udp": "17"}
_OF_DEVICE = ("ingress", "egress")
_HOOKS = {
    "in": ("ingress", "prerouting", "input"),
    "out": ("output", "egress", "postrouting"),
}


def reach(tables: Tables, protocol: str, port: int, direction: str) -> Reach:
    packet = _Packet(protocol, port, _HOOKS[direction], False)
    state = _state(tables, packet)
    limits: Set[str] = set()
    if state in (OPEN, PARTLY):
        flood = _state(tables, packet._replace(flood=True), limits)
        if flood == state:
            limits = set()
    return Reach(state, tuple(sorted(limits)))


def _state(tables: Tables, packet: _Packet, limits: Optional[Set[str]] = None) -> str:
    states = {
        # A chain of a device drops only some of the packets.
        PARTLY if state == BLOCKED and chain.hook in _OF_DEVICE else state
        for chains in tables.values()
        for chain in chains.values()
        if chain.hook in packet.hooks
        for state in [_result_of(_walk(chains, chain, packet, limits, 0)[0])]
    }
    return next((state for state in (BLOCKED, UNCLEAR, PARTLY) if state in states), OPEN)


def _result_of(outcomes: Set[str]) -> str:
    verdicts = {outcome.rstrip(_UNKNOWN) for outcome in outcomes}
    if len(verdicts) == 1:
        return OPEN if verdicts == {ACCEPT} else BLOCKED
    return UNCLEAR if any(outcome.endswith(_UNKNOWN) for outcome in outcomes) else PARTLY


def _walk(
    chains: Dict[str, Chain], chain: Chain, packet: _Packet, limits: Optional[Set[str]], depth: int
) -> Tuple[Set[str], bool]:
    """The results, and whether a packet can reach the end of the chain."""
    outcomes: Set[str] = set()
    returns = False
    for rule in chain.rules:
        answer = _answer(rule, packet, limits)
        if answer == NO or not rule.verdict:
            continue
        mark = _UNKNOWN if answer == UNREAD else ""
        falls = False
        if rule.verdict in (ACCEPT, DROP):
            outcomes.add(rule.verdict + mark)
        elif rule.verdict == "return":
            falls, returns = False, True
        else:
            target = chains.get(rule.target)
            if target is None or depth > _DEEPEST:
                outcomes |= {ACCEPT + _UNKNOWN, DROP + _UNKNOWN}
                continue
            inside, falls = _walk(chains, target, packet, limits, depth + 1)
            outcomes |= {outcome.rstrip(_UNKNOWN) + mark if mark else outcome for outcome in inside}
            if rule.verdict == "goto":
                returns, falls = returns or falls, False
        if answer == YES and not falls:
            break
    else:
        returns = True
    if chain.hook and returns:
        outcomes.add(chain.policy)
    return outcomes, returns


def _answer(rule: Rule, packet: _Packet, limits: Optional[Set[str]]) -> str:
    answers: List[str] = []
    texts = []
    for test in rule.tests:
        answers.append(_of_test(test, packet))
        if answers[-1] == NO and test.kind not in (LIMIT, OVER_LIMIT):
            return NO
        if test.kind in (LIMIT, OVER_LIMIT):
            texts.append(test.text)
    if limits is not None:
        limits.update(texts)
    for answer in (NO, UNREAD, SOME):
        if answer in answers:
            return answer
    return YES


def _of_test(test: Test, packet: _Packet) -> str:
    kind = test.kind
    if kind == PROTOCOL:
        names = {packet.protocol, _NUMBERS.get(packet.protocol)}
        return _truth(bool(names & test.values), test)
    if kind == PORT:
        if test.values and packet.protocol not in test.values:
            return NO
        return _truth(any(low <= packet.port <= high for low, high in test.ranges), test)
    if kind == STATE:
        return _truth("new" in test.values, test)
    if kind == INTERFACE:
        return _truth(False, test) if test.values == {"lo"} else SOME
    if kind == ADDRESS:
        local = all(
            value.startswith("127.") or value.split("/")[0] == "::1" for value in test.values
        )
        return _truth(False, test) if local and test.values else SOME
    if kind == LIMIT:
        return NO if packet.flood else YES
    if kind == OVER_LIMIT:
        return YES if packet.flood else NO
    return NO if kind == NEVER else UNREAD


def _truth(value: bool, test: Test) -> str:
    return YES if value != test.negated else NO
