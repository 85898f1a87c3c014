# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""nft -j list ruleset (libnftables-json(5))."""

import json
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from ....errors import ParseError
from .nft_text import ended_by
from .packets import (
    ACCEPT,
    DROP,
    FROM,
    INTERFACE,
    LIMIT,
    NEVER,
    NOT_READ,
    OVER_LIMIT,
    PORT,
    PROTOCOL,
    SOURCE_PORT,
    STATE,
    TO,
    TO_KIND,
    Chain,
    Rule,
    Tables,
    Test,
)

_WHAT = "nft -j list ruleset"
#: Families that IPv4 packets of a host pass.
_FAMILIES = ("ip", "inet", "netdev")
_VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": "return"}
_PASSIVE = ("counter", "log", "comment", "mangle", "ct helper", "ct timeout")
#: More elements of several fields are not read.
_MOST = 2000
_ADDRESSES = {"saddr": FROM, "daddr": TO}
_PORTS = {"dport": PORT, "sport": SOURCE_PORT}
#: Named sets and verdict maps of a table, by name with "@": their elements.
_Sets = Dict[str, List[Any]]


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
    sets = _sets_of(objects)
    foreign = False
    for entry in objects:
        chain, rule = entry.get("chain"), entry.get("rule")
        if chain is not None and chain["family"] in _FAMILIES:
            heads.setdefault((chain["family"], str(chain["table"])), {})[str(chain["name"])] = chain
        if rule is not None and rule["family"] in _FAMILIES:
            table = (rule["family"], str(rule["table"]))
            more = _rules(rule["expr"], sets.get(table, {}))
            rules.setdefault((*table, str(rule["chain"])), []).extend(more)
            foreign = foreign or any("xt" in expression for expression in rule["expr"])
    return {
        table: {
            name: _chain(name, head, rules.get((*table, name), [])) for name, head in chains.items()
        }
        for table, chains in heads.items()
    }, foreign


def _sets_of(objects: List[Dict[str, Any]]) -> Dict[Tuple[str, str], _Sets]:
    sets: Dict[Tuple[str, str], _Sets] = {}
    for entry in objects:
        named = entry.get("set") or entry.get("map")
        # nft prints no "elem" for an empty set.
        if named is not None:
            place = (named["family"], str(named["table"]))
            sets.setdefault(place, {})[f"@{named['name']}"] = named.get("elem", [])
    return sets


def _chain(name: str, head: Dict[str, Any], rules: List[Rule]) -> Chain:
    # Chains of the type nat change addresses. They do not filter packets.
    hook = str(head.get("hook") or "") if head.get("type") != "nat" else ""
    devices = head.get("dev")
    return Chain(
        name,
        hook,
        DROP if head.get("policy") == "drop" else ACCEPT,
        tuple(rules),
        (devices,) if isinstance(devices, str) else tuple(map(str, devices or ())),
    )


def _rules(expressions: List[Dict[str, Any]], sets: _Sets) -> List[Rule]:
    """One rule; several for a verdict map, and for a set whose elements have several fields."""
    tests: List[Test] = []
    for place, expression in enumerate(expressions):
        (name, value), *_more = expression.items()
        target = str(value["target"]) if name in ("jump", "goto") else None
        ended = ended_by(name, target, tests)
        if ended is not None:
            return [ended]
        if name == "vmap":
            return [
                Rule((*tests, *more), verdict, target)
                for more, verdict, target in _verdicts(value, sets)
            ]
        if name == "match" and "concat" in value["left"]:
            elements = _joined(value, sets)
            if elements is not None:
                return [
                    rule._replace(
                        tests=(*tests, *_tests(value["left"], element, sets), *rule.tests)
                    )
                    for element in elements
                    for rule in _rules(expressions[place + 1 :], sets)
                ]
            tests.append(Test(NOT_READ, text="concat"))
        else:
            tests += _conditions(name, value, sets)
    return [Rule(tuple(tests), "")]


def _joined(value: Dict[str, Any], sets: _Sets) -> Optional[List[object]]:
    """The elements of several fields that one packet can meet. None if they are not read."""
    elements = _items(value["right"], sets)
    is_equal = value["op"] in ("==", "in")
    return elements if is_equal and elements is not None and len(elements) <= _MOST else None


def _conditions(name: str, value: Any, sets: _Sets) -> List[Test]:
    if name == "match":
        test = _match(value, sets)
        return [] if test is None else [test]
    if name in ("set", "limit", "ct count"):
        return _limits(name, value)
    return [] if name in _PASSIVE else [Test(NOT_READ, text=str(name)[:40])]


def _limits(name: str, value: Dict[str, Any]) -> List[Test]:
    if name == "set":
        # A packet that makes an element of a set; the rule is for one above its limit.
        limits = [each["limit"] for each in value.get("stmt") or () if "limit" in each]
        shown = [(limit, f"limit rate {limit.get('rate')}") for limit in limits]
    elif name == "limit":
        shown = [(value, f"limit rate {value.get('rate')}/{value.get('per')}")]
    else:
        shown = [(value, f"ct count {value.get('val')}")]
    return [
        Test(OVER_LIMIT if limit.get("inv") else LIMIT, text=text[:60]) for limit, text in shown
    ]


def _verdicts(value: Dict[str, Any], sets: _Sets) -> List[Tuple[List[Test], str, str]]:
    data = value["data"]
    pairs = sets.get(data) if isinstance(data, str) else data.get("set")
    if pairs is None:
        unread = [Test(NOT_READ, text="verdict map")]
        return [(unread, ACCEPT, ""), (unread, DROP, "")]
    verdicts = []
    for key, verdict in pairs:
        tests = _tests(value["key"], _value(key), sets)
        (name, inside), *_more = verdict.items()
        target = str(inside["target"]) if name in ("jump", "goto") else ""
        if name != "continue":
            verdicts.append((tests, _VERDICTS.get(name, name), target))
    return verdicts


def _tests(left: Dict[str, Any], right: object, sets: _Sets) -> List[Test]:
    """The conditions of a key, which can have several fields, and of one element."""
    fields = left.get("concat") or [left]
    parts = right["concat"] if isinstance(right, dict) and "concat" in right else [right]
    if len(parts) != len(fields):
        return [Test(NOT_READ, text="concat")]
    tests = [
        _match({"op": "==", "left": field, "right": _value(part)}, sets)
        for field, part in zip(fields, parts)
    ]
    return [test for test in tests if test is not None]


def _match(value: Dict[str, Any], sets: _Sets) -> Optional[Test]:
    (kind, left), *_more = value["left"].items()
    negated = value["op"] == "!="
    if not isinstance(left, dict):
        masked = _of_mask(str(left), value["right"], negated) if kind == "&" else None
        return masked or Test(NOT_READ, text=str(kind)[:40])
    items = _items(value["right"], sets)
    if left.get("result") == "oif" and value["right"] is False:
        # fib saddr . iif oif missing: packets of a client come on the interface that leads to it.
        return _constant(negated)
    if value["op"] not in ("==", "!=", "in") or items is None:
        field = left.get("field") if kind == "payload" else None
        if field not in _ADDRESSES:
            return Test(NOT_READ, text=str(left)[:40])
        return Test(_ADDRESSES[str(field)], negated=negated, text=str(value["right"])[:40])
    return _compared(kind, left, items, negated)


def _of_mask(left: str, right: object, negated: bool) -> Optional[Test]:
    """The condition of some bits of a field. None for one that is not read."""
    if "flags" in left:
        # tcp flags & (fin|syn|rst|ack) == syn
        return Test(STATE, frozenset({"new"} if right == "syn" else ()), negated=negated)
    # The first packet is whole.
    return Test(NEVER) if "frag-off" in left and negated and right == 0 else None


def _constant(holds: bool) -> Optional[Test]:
    """A condition with the same result for each packet: None for one that always holds."""
    return None if holds else Test(NEVER)


def _compared(
    kind: str, left: Dict[str, Any], items: List[object], negated: bool
) -> Optional[Test]:
    """The condition of a field and values that are known. None for one that always holds."""
    if not items:
        # Nothing is in an empty set.
        return _constant(negated)
    if kind == "meta" and left.get("key") in ("nfproto", "protocol"):
        return _constant(("ipv4" in items or "ip" in items) != negated)
    return _of_values(kind, left, items, negated) or Test(NOT_READ, text=str(left)[:40])


def _of_values(
    kind: str, left: Dict[str, Any], items: List[object], negated: bool
) -> Optional[Test]:
    """The test of values that are known. None for one that is not read."""
    words = frozenset(str(item) for item in items)
    if kind == "payload":
        return _of_payload(left, items, words, negated)
    if kind == "meta":
        return _of_meta(str(left.get("key")), words, negated)
    if kind == "fib" and _is_kind_of_address(left):
        return _to_kind(words, negated)
    if kind == "ct" and left.get("key") in ("state", "status"):
        # A first packet is new, and has no status; firewalld accepts "dnat".
        return Test(STATE, words, negated=negated)
    return None


def _of_meta(field: str, words: FrozenSet[str], negated: bool) -> Optional[Test]:
    """The test of what the kernel knows of a packet. None for one that is not read."""
    if field == "l4proto":
        return Test(PROTOCOL, words, negated=negated)
    if field in ("iif", "iifname", "oif", "oifname"):
        return Test(INTERFACE, words, negated=negated)
    return _to_kind(words, negated) if field == "pkttype" else None


def _to_kind(words: FrozenSet[str], negated: bool) -> Test:
    kinds = frozenset(word.replace("host", "local") for word in words)
    return Test(TO_KIND, kinds, negated=negated)


def _of_payload(
    left: Dict[str, Any], items: List[object], words: FrozenSet[str], negated: bool
) -> Optional[Test]:
    """The test of a field of a header. None for one that is not read."""
    field, header = left.get("field"), str(left.get("protocol"))
    if header == "ip6":
        return Test(NEVER)
    if field in _PORTS:
        ranges = _ranges(items)
        protocols = frozenset({header} - {"th"})
        if ranges is None:
            return None
        return Test(_PORTS[str(field)], protocols, ranges, negated)
    if field in _ADDRESSES:
        return Test(_ADDRESSES[str(field)], words, negated=negated)
    if field == "protocol":
        return Test(PROTOCOL, words, negated=negated)
    if header.startswith("icmp"):
        return Test(PROTOCOL, frozenset({"icmp"}))
    if field == "flags":
        return Test(STATE, frozenset({"new"} if words == {"syn"} else ()), negated=negated)
    return None


def _is_kind_of_address(fib: Dict[str, Any]) -> bool:
    """fib daddr type local"""
    return fib.get("result") == "type" and fib.get("flags") in ("daddr", ["daddr"])


def _items(right: object, sets: _Sets) -> Optional[List[object]]:
    """The values. None for a named set whose elements nft does not print."""
    if isinstance(right, dict) and "set" in right:
        right = right["set"]
    if isinstance(right, str) and right.startswith("@"):
        if right not in sets:
            return None
        right = sets[right]
    items = right if isinstance(right, list) else [right]
    return [_value(item) for item in items]


def _value(item: Any) -> object:
    """An element as a number, a text, or a range of numbers."""
    if not isinstance(item, dict):
        return item
    if "elem" in item:
        # One with a timeout or a counter.
        return _value(item["elem"]["val"])
    if "prefix" in item:
        return f"{item['prefix']['addr']}/{item['prefix']['len']}"
    if "range" in item and isinstance(item["range"][0], str):
        return "-".join(str(end) for end in item["range"])
    return item


def _ranges(items: List[Any]) -> Optional[Tuple[Tuple[int, int], ...]]:
    ranges = []
    for item in items:
        pair = item["range"] if isinstance(item, dict) and "range" in item else [item, item]
        if not all(type(number) is int for number in pair) or len(pair) != 2:
            return None
        ranges.append((pair[0], pair[1]))
    return tuple(ranges)
