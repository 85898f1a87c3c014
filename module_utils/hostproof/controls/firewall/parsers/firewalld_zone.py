# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones and services of firewalld as their XML files hold them (firewalld.zone(5))."""

from typing import Dict, List, NamedTuple, Tuple

from ....errors import ParseError
from ....parsers import xml_events
from ....parsers.number import integer
from .packets import port_ranges


class Opened(NamedTuple):
    """Ports that an element opens, as (protocol, lowest, highest)."""

    ports: Tuple[Tuple[str, int, int], ...]
    services: Tuple[str, ...]


class RichRule(NamedTuple):
    """``action`` is accept, drop, reject, mark, or "" for a rule without one, or
    for packets that are not checked."""

    opened: Opened
    action: str
    has_source: bool
    limit: str
    priority: int


class Zone(NamedTuple):
    """``target`` is ACCEPT, DROP, %%REJECT%% or "default". ``bound``: interfaces and sources."""

    target: str
    bound: Tuple[str, ...]
    opened: Opened
    rich: Tuple[RichRule, ...]


class _Element(NamedTuple):
    name: str
    given: Dict[str, str]
    children: List["_Element"]


def parse_zone(text: str) -> Zone:
    root = _root(text, "zone")
    bound = [
        child.given.get("name") or child.given.get("address") or child.given.get("ipset") or "?"
        for child in root.children
        if child.name in ("interface", "source")
    ]
    rich = [_rich(child) for child in root.children if child.name == "rule"]
    return Zone(root.given.get("target", "default"), tuple(bound), _opened(root), tuple(rich))


def parse_service(text: str) -> Opened:
    return _opened(_root(text, "service"))


def _rich(element: _Element) -> RichRule:
    names = {child.name: child for child in element.children}
    action = next(
        (verdict for verdict in ("accept", "drop", "reject", "mark") if verdict in names), ""
    )
    protocol = names["protocol"].given.get("value") if "protocol" in names else "tcp"
    if (
        element.given.get("family") == "ipv6"
        or "icmp-type" in names
        or protocol not in ("tcp", "udp")
    ):
        action = ""
    has_source = "source" in names or "destination" in names
    # The ports of a client, and all of a protocol, are not read.
    has_source = has_source and not {"source-port", "protocol"} & set(names)
    limits = [child for child in names[action].children if child.name == "limit"] if action else []
    limit = "limit " + limits[0].given.get("value", "")[:40] if limits else ""
    priority = integer(element.given.get("priority", "0"))
    return RichRule(_opened(element), action, has_source, limit, priority)


def _opened(element: _Element) -> Opened:
    ports, services = [], []
    for child in element.children:
        if child.name == "port" and child.given.get("port"):
            ranges = port_ranges([child.given["port"]])
            if ranges is None:
                raise ParseError("firewalld", "a port is not a number or a range")
            ports.append((child.given.get("protocol", ""), *ranges[0]))
        elif child.name in ("service", "include"):
            services.append(child.given.get("name") or child.given.get("service") or "")
    return Opened(tuple(ports), tuple(services))


def _root(text: str, name: str) -> _Element:
    top = _Element("", {}, [])
    open_ones = [top]

    def begin(tag: str, attributes: Dict[str, str]) -> None:
        element = _Element(tag, attributes, [])
        open_ones[-1].children.append(element)
        open_ones.append(element)

    def end(_tag: str) -> None:
        open_ones.pop()

    xml_events.read("firewalld", text, begin, end, lambda _text: None)
    if len(top.children) != 1 or top.children[0].name != name:
        raise ParseError("firewalld", f"the document is not a {name}")
    return top.children[0]
