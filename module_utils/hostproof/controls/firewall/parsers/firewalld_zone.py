# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Zones and services of firewalld as their XML files hold them (firewalld.zone(5))."""

from typing import Dict, List, NamedTuple, Tuple

from ....errors import ParseError
from ....parsers import xml_events
from .packets import port_ranges


class Opened(NamedTuple):
    """Ports that an element opens, as (protocol, lowest, highest)."""

    ports: Tuple[Tuple[str, int, int], ...]
    services: Tuple[str, ...]


class RichRule(NamedTuple):
    """``action`` is accept, drop, reject, mark, or "" for a rule without one."""

    opened: Opened
    action: str
    has_source: bool
    limit: str


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
        one.given.get("name") or one.given.get("address") or one.given.get("ipset") or "?"
        for one in root.children
        if one.name in ("interface", "source")
    ]
    rich = [_rich(one) for one in root.children if one.name == "rule"]
    return Zone(root.given.get("target", "default"), tuple(bound), _opened(root), tuple(rich))


def parse_service(text: str) -> Opened:
    return _opened(_root(text, "service"))


def _rich(element: _Element) -> RichRule:
    names = {one.name: one for one in element.children}
    action = next((one for one in ("accept", "drop", "reject", "mark") if one in names), "")
    limits = [one for one in names[action].children if one.name == "limit"] if action else []
    limit = "limit " + limits[0].given.get("value", "")[:40] if limits else ""
    return RichRule(_opened(element), action, "source" in names or "destination" in names, limit)


def _opened(element: _Element) -> Opened:
    ports, services = [], []
    for one in element.children:
        if one.name == "port" and one.given.get("port"):
            ranges = port_ranges([one.given["port"]])
            if ranges is None:
                raise ParseError("firewalld", "a port is not a number or a range")
            ports.append((one.given.get("protocol", ""), *ranges[0]))
        elif one.name in ("service", "include"):
            services.append(one.given.get("name") or one.given.get("service") or "")
    return Opened(tuple(ports), tuple(services))


def _root(text: str, name: str) -> _Element:
    top = _Element("", {}, [])
    open_ones = [top]

    def begin(tag: str, given: Dict[str, str]) -> None:
        element = _Element(tag, given, [])
        open_ones[-1].children.append(element)
        open_ones.append(element)

    def end(_tag: str) -> None:
        open_ones.pop()

    xml_events.read("firewalld", text, begin, end, lambda _text: None)
    if len(top.children) != 1 or top.children[0].name != name:
        raise ParseError("firewalld", f"the document is not a {name}")
    return top.children[0]
