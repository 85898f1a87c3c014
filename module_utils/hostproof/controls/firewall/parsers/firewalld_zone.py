# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones, services, policies, ipsets and direct rules of firewalld as their XML files hold them.

Sources: firewalld.zone(5), firewalld.richlanguage(5), firewalld.policy(5), firewalld.direct(5).
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError
from ....parsers import xml_events
from ....parsers.number import integer
from .packets import FROM, LIMIT, PORT, PROTOCOL, SOURCE_PORT, TO, Test, port_ranges


class Opened(NamedTuple):
    """What an element opens: ``tests`` of ports and protocols, and names of services."""

    tests: Tuple[Test, ...]
    services: Tuple[str, ...]


class RichRule(NamedTuple):
    """``action`` is accept, drop, reject, mark, or "" for a rule without one, or
    for packets that are not checked. ``tests`` are those of addresses and of a limit; one with the
    name of an ipset has the text "ipset:NAME" and no values."""

    opened: Opened
    action: str
    tests: Tuple[Test, ...]
    priority: int


class Zone(NamedTuple):
    """``target`` is ACCEPT, DROP, %%REJECT%%, REJECT, CONTINUE or "default".

    ``sources`` are addresses, and "ipset:NAME". ``ingress`` and ``egress`` are the zones of a
    policy; ``is_disabled`` is one that is there and does not apply."""

    target: str
    interfaces: Tuple[str, ...]
    sources: Tuple[str, ...]
    opened: Opened
    rich: Tuple[RichRule, ...]
    priority: int
    ingress: Tuple[str, ...] = ()
    egress: Tuple[str, ...] = ()
    is_disabled: bool = False

    @property
    def bound(self) -> Tuple[str, ...]:
        return self.interfaces + self.sources


class _Element(NamedTuple):
    name: str
    given: Dict[str, str]
    children: List["_Element"]
    pieces: List[str]

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def parse_zone(text: str) -> Zone:
    return _zone(_root(text, "zone"), "default", 0)


def parse_policy(text: str) -> Zone:
    """firewalld.policy(5): a policy without a priority has -1."""
    return _zone(_root(text, "policy"), "CONTINUE", -1)


def _zone(root: _Element, target: str, priority: int) -> Zone:
    def given(name: str, *keys: str) -> Tuple[str, ...]:
        return tuple(
            word
            for child in root.children
            if child.name == name
            for word in [next((child.given[key] for key in keys if key in child.given), "")]
            if word
        )

    sets = tuple("ipset:" + name for name in given("source", "ipset"))
    priority = integer(
        root.given.get("ingress-priority", root.given.get("priority", str(priority)))
    )
    return Zone(
        root.given.get("target", target),
        given("interface", "name"),
        given("source", "address", "mac") + sets,
        _opened(root),
        tuple(_rich(child) for child in root.children if child.name == "rule"),
        priority,
        given("ingress-zone", "name"),
        given("egress-zone", "name"),
        any(child.name == "disable" for child in root.children),
    )


def parse_service(text: str) -> Opened:
    return _opened(_root(text, "service"))


def parse_ipset(text: str) -> Optional[List[str]]:
    """The addresses of a set; None for one of anything else, and for one that others fill."""
    root = _root(text, "ipset")
    options = [child.given.get("name") for child in root.children if child.name == "option"]
    if root.given.get("type") not in ("hash:ip", "hash:net") or "timeout" in options:
        return None
    return [child.text.strip() for child in root.children if child.name == "entry"]


class Direct(NamedTuple):
    """A direct rule, or a passthrough, whose ``chain`` is "". ``words`` are those of iptables."""

    family: str
    table: str
    chain: str
    priority: int
    words: str


def parse_direct(text: str) -> List[Direct]:
    """firewalld.direct(5)"""
    return [
        Direct(
            child.given.get("ipv", ""),
            child.given.get("table", ""),
            child.given.get("chain", ""),
            integer(child.given.get("priority", "0")),
            " ".join(child.text.split()),
        )
        for child in _root(text, "direct").children
        if child.name in ("rule", "passthrough")
    ]


def _rich(element: _Element) -> RichRule:
    names = {child.name: child for child in element.children}
    action = next(
        (verdict for verdict in ("accept", "drop", "reject", "mark") if verdict in names), ""
    )
    if element.given.get("family") == "ipv6" or {"icmp-type", "icmp-block"} & set(names):
        action = ""
    tests = []
    for name, kind in (("source", FROM), ("destination", TO)):
        if name in names:
            given = names[name].given
            negated = given.get("invert", "").lower() in ("yes", "true")
            if "address" in given:
                tests.append(Test(kind, frozenset({given["address"]}), negated=negated))
            elif "ipset" in given:
                tests.append(Test(kind, negated=negated, text="ipset:" + given["ipset"]))
            else:
                # The address of a card.
                tests.append(Test(kind, negated=negated, text=given.get("mac", name)[:40]))
    limits = [child for child in names[action].children if child.name == "limit"] if action else []
    if limits:
        tests.append(Test(LIMIT, text="limit " + limits[0].given.get("value", "")[:40]))
    priority = integer(element.given.get("priority", "0"))
    return RichRule(_opened(element), action, tuple(tests), priority)


def _opened(element: _Element) -> Opened:
    tests, services = [], []
    for child in element.children:
        protocol = child.given.get("protocol", "")
        if child.name in ("port", "source-port") and child.given.get("port"):
            ranges = port_ranges([child.given["port"]])
            if ranges is None:
                raise ParseError("firewalld", "a port is not a number or a range")
            kind = PORT if child.name == "port" else SOURCE_PORT
            tests.append(Test(kind, frozenset({protocol}), ranges))
        elif child.name == "protocol" and child.given.get("value"):
            tests.append(Test(PROTOCOL, frozenset({child.given["value"]})))
        elif child.name in ("service", "include"):
            services.append(child.given.get("name") or child.given.get("service") or "")
    return Opened(tuple(tests), tuple(services))


def _root(text: str, name: str) -> _Element:
    top = _Element("", {}, [], [])
    open_ones = [top]

    def begin(tag: str, attributes: Dict[str, str]) -> None:
        element = _Element(tag, attributes, [], [])
        open_ones[-1].children.append(element)
        open_ones.append(element)

    def end(_tag: str) -> None:
        open_ones.pop()

    xml_events.read("firewalld", text, begin, end, lambda piece: open_ones[-1].pieces.append(piece))
    if len(top.children) != 1 or top.children[0].name != name:
        raise ParseError("firewalld", f"the document is not a {name}")
    return top.children[0]
