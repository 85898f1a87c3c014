# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nft -j list ruleset (libnftables-json(5))."""

import json
from typing import Any, Dict, List, Optional, Tuple

from ....errors import ParseError
from .packets import (
    ACCEPT,
    ADDRESS,
    DROP,
    INTERFACE,
    LIMIT,
    NEVER,
    NOT_READ,
    OVER_LIMIT,
    PORT,
    PROTOCOL,
    STATE,
    Chain,
    Rule,
    Tables,
    Test,
)

_WHAT = "nft -j list ruleset"
#: Families that IPv4 packets of a host pass.
_FAMILIES = ("ip", "inet", "netdev")
_VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": "return"}
_PASSIVE = ("counter", "log", "comment", "mangle", "notrack", "ct helper", "ct timeout")


def parse(text: str) -> Tuple[Tables, bool]:
    """The tables, and whether iptables-nft wrote conditions that only iptables-save shows."""
    try:
        objects = json.loads(text)["nftables"]
        return _tables(objects)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise ParseError(_WHAT, "not the JSON of a set of rules") from problem


def _tables(objects: List[Dict[str, Any]]) -> Tuple[Tables, bool]:
    heads: Dict[Tuple[str, str], Dict[str, Dict[str, Any]]] = {}
    rules: Dict[Tuple[str, str, str], List[Rule]] = {}
    foreign = False
    for entry in objects:
        chain, rule = entry.get("chain"), entry.get("rule")
        if chain is not None and chain["family"] in _FAMILIES:
            heads.setdefault((chain["family"], str(chain["table"])), {})[str(chain["name"])] = chain
        if rule is not None and rule["family"] in _FAMILIES:
            place = (rule["family"], str(rule["table"]), str(rule["chain"]))
            rules.setdefault(place, []).extend(_rules(rule["expr"]))
            foreign = foreign or any("xt" in expression for expression in rule["expr"])
    return {
        table: {
            name: _chain(name, head, rules.get((*table, name), [])) for name, head in chains.items()
        }
        for table, chains in heads.items()
    }, foreign


def _chain(name: str, head: Dict[str, Any], rules: List[Rule]) -> Chain:
    # Chains of the type nat change addresses. They do not filter packets.
    hook = str(head.get("hook") or "") if head.get("type") != "nat" else ""
    return Chain(name, hook, DROP if head.get("policy") == "drop" else ACCEPT, tuple(rules))


def _rules(expressions: List[Dict[str, Any]]) -> List[Rule]:
    """One rule; several for a verdict map."""
    tests: List[Test] = []
    for expression in expressions:
        (name, value), *_more = expression.items()
        if name in _VERDICTS:
            return [Rule(tuple(tests), _VERDICTS[name])]
        if name == "queue":
            # A program decides. If none runs, the packet is dropped.
            return [Rule((*tests, Test(NOT_READ, text=name)), "jump", "")]
        if name in ("jump", "goto"):
            return [Rule(tuple(tests), name, str(value["target"]))]
        if name == "vmap":
            return [
                Rule((*tests, *more), verdict, target) for more, verdict, target in _verdicts(value)
            ]
        if name == "match":
            test = _match(value)
            if test is not None:
                tests.append(test)
        elif name == "limit":
            text = f"limit rate {value.get('rate')}/{value.get('per')}"[:60]
            tests.append(Test(OVER_LIMIT if value.get("inv") else LIMIT, text=text))
        elif name == "ct count":
            text = f"ct count {value.get('val')}"[:60]
            tests.append(Test(OVER_LIMIT if value.get("inv") else LIMIT, text=text))
        elif name == "xt" or name not in _PASSIVE:
            tests.append(Test(NOT_READ, text=str(name)[:40]))
    return [Rule(tuple(tests), "")]


def _verdicts(value: Dict[str, Any]) -> List[Tuple[List[Test], str, str]]:
    data = value["data"]
    if not isinstance(data, dict) or "set" not in data:
        unread = [Test(NOT_READ, text="verdict map")]
        return [(unread, ACCEPT, ""), (unread, DROP, "")]
    verdicts = []
    for key, verdict in data["set"]:
        test = _match({"op": "==", "left": value["key"], "right": key})
        (name, inside), *_more = verdict.items()
        target = str(inside["target"]) if name in ("jump", "goto") else ""
        if name != "continue":
            verdicts.append(([] if test is None else [test], _VERDICTS.get(name, name), target))
    return verdicts


def _match(value: Dict[str, Any]) -> Optional[Test]:
    (kind, left), *_more = value["left"].items()
    if not isinstance(left, dict):
        return Test(NOT_READ, text=str(kind)[:40])
    negated = value["op"] == "!="
    items = _items(value["right"])
    unread = Test(NOT_READ, text=str(left)[:40])
    if value["op"] not in ("==", "!=", "in") or items is None:
        known = kind == "payload" and left.get("field") in ("saddr", "daddr")
        return Test(ADDRESS, frozenset({"a set"}), negated=negated) if known else unread
    words = frozenset(str(item) for item in items)
    field = left.get("field" if kind == "payload" else "key")
    if kind == "payload" and left.get("protocol") == "ip6":
        return Test(NEVER)
    if kind == "payload" and field == "dport":
        ranges = _ranges(items)
        protocols = frozenset({str(left.get("protocol"))} - {"th"})
        if ranges is None or (negated and protocols):
            return unread
        return Test(PORT, protocols, ranges, negated)
    if kind == "payload" and field in ("saddr", "daddr"):
        return Test(ADDRESS, words, negated=negated)
    if (kind, field) in (("payload", "protocol"), ("meta", "l4proto")):
        return Test(PROTOCOL, words, negated=negated)
    if kind == "meta" and field in ("iif", "iifname", "oif", "oifname"):
        return Test(INTERFACE, words, negated=negated)
    if kind == "meta" and field in ("nfproto", "protocol"):
        return None if bool(words & {"ipv4", "ip"}) != negated else Test(NEVER)
    if kind == "ct" and field in ("state", "status"):
        # A first packet is new, and has no status; firewalld accepts "dnat".
        return Test(STATE, words, negated=negated)
    if kind == "payload" and str(left.get("protocol")).startswith("icmp"):
        return Test(PROTOCOL, frozenset({"icmp"}))
    if kind == "payload" and field == "flags":
        return Test(STATE, frozenset({"new"}) if words == {"syn"} else frozenset(), negated=negated)
    return unread


def _items(right: Any) -> Optional[List[Any]]:
    """The values. None for a named set, because its elements are not in the rule."""
    if isinstance(right, dict) and "set" in right:
        right = right["set"]
    if isinstance(right, str) and right.startswith("@"):
        return None
    items = right if isinstance(right, list) else [right]
    return [
        item["prefix"]["addr"] if isinstance(item, dict) and "prefix" in item else item
        for item in items
    ]


def _ranges(items: List[Any]) -> Optional[Tuple[Tuple[int, int], ...]]:
    ranges = []
    for item in items:
        pair = item["range"] if isinstance(item, dict) and "range" in item else [item, item]
        if not all(type(number) is int for number in pair) or len(pair) != 2:
            return None
        ranges.append((pair[0], pair[1]))
    return tuple(ranges)
