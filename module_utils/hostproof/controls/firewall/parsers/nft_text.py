# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/nftables.conf and similar files (nft(8)). Only common parts of the language are parsed.

Other conditions become tests that are not read. The caller reads the files that it includes."""

import re
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from .packets import (
    ACCEPT,
    DROP,
    FROM,
    INTERFACE,
    LIMIT,
    NEVER,
    NOT_READ,
    NOTRACK,
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
    port_ranges,
)

_WHAT = "nftables.conf"
_FAMILIES = ("ip", "inet", "netdev")
_OTHERS = ("ip6", "arp", "bridge")
_TOKEN = re.compile(r'"[^"\n]*"|\\\n|[{};\n]|#[^\n]*|[^\s{};"#\\]+|[ \t]+|\\')
#: Options of log, each with a value.
_LOG = ("prefix", "level", "group", "snaplen", "queue-threshold", "flags")
_VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": "return"}
_INTERFACES = ("iif", "iifname", "oif", "oifname")
#: More elements of several fields are not read.
_MOST_ELEMENTS = 2000
#: Kinds of tests by the two words before the values.
_KINDS = {
    **{(name, name): INTERFACE for name in _INTERFACES},
    ("l4proto", "l4proto"): PROTOCOL,
    ("ip", "protocol"): PROTOCOL,
    ("ip", "saddr"): FROM,
    ("ip", "daddr"): TO,
    ("ct", "state"): STATE,
    ("ct", "status"): STATE,
    ("pkttype", "pkttype"): TO_KIND,
}
_PORTS = {"dport": PORT, "sport": SOURCE_PORT}
#: Keys of meta for the family of a packet.
_OF_FAMILY = ("nfproto", "protocol")
_ONE_WORD = (*_INTERFACES, "l4proto", "pkttype", "nfproto")
#: Statements without a verdict, with the words that may follow.
_PASSIVE = {
    "counter": r"packets|bytes|name|\d+|\".*\"",
    "comment": r"\".*\"",
}
_INCLUDE = re.compile(
    r"^[ \t]*include[ \t]+(?:\"([^\"\n]*)\"|'([^'\n]*)'|(\S+))[ \t;]*$", re.MULTILINE
)
_VARIABLE = re.compile(r"(\$[A-Za-z][A-Za-z0-9_./\\-]*)")
#: Words of a file. A value of a value of define repeats itself.
_MOST_WORDS = 200000
#: Characters of a file with everything that it includes and defines.
_LONGEST = 1000000
#: Includes within includes, as nft allows them.
_MOST_DEEP = 16
#: Other objects of a table, which decide nothing alone.
_OBJECTS = ("counter", "limit", "flowtable", "quota", "ct", "secmark", "synproxy")


#: Statements of a chain that are no rules.
_OF_CHAIN = ("type", "policy", "comment")


class _Sets(NamedTuple):
    """Elements of the named sets and maps of a table, by name."""

    sets: Dict[str, str]
    maps: Dict[str, str]

    def of(self, kind: str) -> Dict[str, str]:
        return self.maps if kind == "map" else self.sets


def with_includes(text: str, read: Callable[[str], List[str]], depth: int = 0) -> str:
    """The text with that of the files in the place of each include.

    ``read`` takes their path, which can have wildcards, and gives their texts in order."""
    if depth > _MOST_DEEP:
        raise ParseError(_WHAT, "includes are too deep")

    def insert(match: "re.Match[str]") -> str:
        texts = read(next(path for path in match.groups() if path is not None))
        return "\n".join(with_includes(each, read, depth + 1) for each in texts)

    whole = _INCLUDE.sub(insert, text)
    if len(whole) > _LONGEST:
        raise ParseError(_WHAT, "it is too long")
    return whole


#: The statements of each chain of a table, in order.
_Chains = Dict[str, List[List[str]]]


class _Table(NamedTuple):
    chains: _Chains
    named: _Sets


def parse(text: str) -> Tables:
    tokens = _defined(_tokens(text))
    tables: Dict[Tuple[str, str], _Table] = {}
    while tokens:
        word = tokens.pop(0)
        if word in (";", "\n"):
            continue
        if word in ("flush", "delete", "destroy"):
            _remove(tables, word, _statement(tokens))
            continue
        is_first = word == "insert"
        if word in ("add", "create", "insert") and tokens:
            word = tokens.pop(0)
        if word not in ("table", "chain", "rule", "set", "map", "element", *_OBJECTS):
            raise ParseError(_WHAT, f"a statement that is not read: {kind_of(word)}")
        table = tables.setdefault(_place(tokens), _Table({}, _Sets({}, {})))
        if word != "table":
            _read_object(word, tokens, table, is_first)
        elif _opens(tokens):
            _read_table(_block(tokens), table)
    return {
        place: {name: _chain(name, rows, table.named) for name, rows in table.chains.items()}
        for place, table in tables.items()
        if place[0] in _FAMILIES
    }


def _remove(tables: Dict[Tuple[str, str], _Table], verb: str, words: List[str]) -> None:
    """A statement that removes statements above it. Flush keeps chains and their policies."""
    kind, rest = words[0] if words else "", words[1:]
    if kind == "ruleset":
        tables.clear()
        return
    place = _place(rest)
    table = tables.get(place)
    if kind not in ("table", "chain") or table is None:
        return
    names = rest[:1] if kind == "chain" else list(table.chains)
    for name in names:
        if verb == "flush":
            rows = table.chains.get(name, [])
            rows[:] = [row for row in rows if row[0] in _OF_CHAIN]
        else:
            table.chains.pop(name, None)
    if kind == "table" and verb != "flush":
        del tables[place]


def _place_of_rule(rows: List[List[str]], words: List[str], is_first: bool) -> int:
    """Where a rule is added; "index N" counts the rules of the chain from 0."""
    rules = [number for number, row in enumerate(rows) if row[0] not in _OF_CHAIN]
    if words[:1] == ["index"] and words[1:2] and words[1].isdecimal() and len(words[1]) < 6:
        index = int(words[1])
        del words[:2]
        if index < len(rules):
            return rules[index] + (0 if is_first else 1)
    return 0 if is_first else len(rows)


def _read_object(word: str, tokens: List[str], table: _Table, is_first: bool) -> None:
    """A statement with the name of its table: add rule inet filter input tcp dport 22 accept."""
    name = tokens.pop(0) if tokens else ""
    if word == "chain":
        rows = table.chains.setdefault(name, [])
        rows += _statements(_block(tokens)) if _opens(tokens) else []
    elif word == "rule":
        rows = table.chains.setdefault(name, [])
        words = _statement(tokens)
        rows.insert(_place_of_rule(rows, words, is_first), words)
    elif word in ("set", "map"):
        _read_set(table.named.of(word), name, _block(tokens))
    elif word == "element":
        known = table.named.of("map" if name in table.named.maps else "set")
        known[name] = ", ".join(filter(None, (known.get(name), *_statement(tokens)[-1:])))
    else:
        _statement(tokens)


def _defined(tokens: List[str]) -> List[str]:
    """The tokens with the value of each "define NAME = VALUE" of the file in the place of $NAME."""
    values: Dict[str, List[str]] = {}
    result: List[str] = []
    depth = 0
    while tokens:
        word = tokens.pop(0)
        if word in ("define", "redefine") and not depth and tokens[1:2] == ["="]:
            name = tokens[0]
            del tokens[:2]
            is_set = tokens[:1] == ["{"]
            value = _block(tokens) if is_set else _statement(tokens)
            value = [part for token in value if token != "\n" for part in _replaced(token, values)]
            values[name] = ["{", *value, "}"] if is_set else value
            if len(value) > _MOST_WORDS:
                raise ParseError(_WHAT, f"a set of more than {_MOST_WORDS} words")
            continue
        depth += {"{": 1, "}": -1}.get(word, 0)
        result += _replaced(word, values)
        if len(result) > _MOST_WORDS:
            raise ParseError(_WHAT, f"more than {_MOST_WORDS} words")
    return result


def _replaced(word: str, values: Dict[str, List[str]]) -> List[str]:
    if "$" not in word or word[0] == '"':
        return [word]
    parts: List[str] = []
    for part in _VARIABLE.split(word):
        parts += values.get(part[1:], [part]) if part[:1] == "$" else [part] if part else []
    return parts


def _place(tokens: List[str]) -> Tuple[str, str]:
    family = tokens.pop(0) if tokens and tokens[0] in (*_FAMILIES, *_OTHERS) else "ip"
    return family, tokens.pop(0) if tokens else ""


def _opens(tokens: List[str]) -> bool:
    """Whether a block follows, also on the next line."""
    rest = [token for token in tokens[:8] if token != "\n"]
    return rest[:1] == ["{"]


def _tokens(text: str) -> List[str]:
    tokens = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ParseError(_WHAT, "a quote without an end")
        word = match.group(0)
        position = match.end()
        if word.strip(" \t") and word[0] != "#" and word != "\\\n":
            tokens.append(word)
    return tokens


def _block(tokens: List[str]) -> List[str]:
    """Remove and return the tokens between a pair of braces."""
    while tokens and tokens[0] == "\n":
        tokens.pop(0)
    if not tokens or tokens.pop(0) != "{":
        raise ParseError(_WHAT, "an opening brace is missing")
    depth = 1
    for number, word in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(word, 0)
        if not depth:
            body = tokens[:number]
            del tokens[: number + 1]
            return body
    raise ParseError(_WHAT, "a closing brace is missing")


def _statement(tokens: List[str]) -> List[str]:
    """The words up to the end of a statement; a set in braces is one word."""
    words: List[str] = []
    while tokens:
        if tokens[0] == "{":
            words.append(" ".join(token for token in _block(tokens) if token not in "\n{}"))
            continue
        word = tokens.pop(0)
        if word in (";", "\n"):
            break
        words.append(word)
    return words


def _statements(tokens: List[str]) -> List[List[str]]:
    statements = []
    while tokens:
        words = _statement(tokens)
        if words:
            statements.append(words)
    return statements


def _read_table(tokens: List[str], table: _Table) -> None:
    while tokens:
        word = tokens.pop(0)
        if word in ("chain", "set", "map") and tokens:
            name = tokens.pop(0)
            if word == "chain":
                table.chains.setdefault(name, []).extend(_statements(_block(tokens)))
            else:
                _read_set(table.named.of(word), name, _block(tokens))
        elif word in _OBJECTS and tokens:
            while tokens and tokens[0] != "{":
                tokens.pop(0)
            _block(tokens)
        elif word in ("comment", "flags"):
            _statement(tokens)
        elif word not in (";", "\n"):
            raise ParseError(_WHAT, f"a statement that is not read: {kind_of(word)}")


def _read_set(known: Dict[str, str], name: str, tokens: List[str]) -> None:
    """The elements that the file gives it; those that rules add are not there at boot."""
    elements = [known[name]] if known.get(name) else []
    for words in _statements(tokens):
        if words[:2] == ["elements", "="]:
            elements += words[2:]
    known[name] = ", ".join(elements)


def _chain(name: str, rows: List[List[str]], named: _Sets) -> Chain:
    hook, policy, rules = "", ACCEPT, []
    devices: List[str] = []
    for words in rows:
        if words[:1] == ["type"]:
            if words[1:2] != ["nat"] and "hook" in words[:-1]:
                hook = words[words.index("hook") + 1]
            if "device" in words[:-1]:
                devices = [words[words.index("device") + 1].strip('"')]
            if "devices" in words[:-2]:
                devices = words[words.index("devices") + 2].replace(",", " ").split()
                devices = [name.strip('"') for name in devices]
        elif words[:1] == ["policy"]:
            policy = DROP if words[1:] == ["drop"] else ACCEPT
        elif words[:1] == ["comment"]:
            continue
        else:
            rules += _rules(list(words), named)
    return Chain(name, hook, policy, tuple(rules), tuple(devices))


def _rules(words: List[str], named: _Sets) -> List[Rule]:
    """One rule; several for a verdict map ("tcp dport vmap { 22 : accept, 23 : drop }") and for
    elements of several fields ("ip saddr . tcp dport { 10.1.0.0/16 . 1521 }")."""
    if "." in words and "fib" not in words:
        return _joined(words, named)
    place = words.index("vmap") if "vmap" in words else 0
    if not place or len(words) < place + 2:
        return [_rule(words, named)]
    rules = []
    for pair in _elements(words[place + 1], named.maps):
        key, _colon, verdict = pair.rpartition(":")
        inside = _rule([*words[:place], key.strip(), *verdict.split()], named)
        rules.append(inside if verdict else _rule(words, named))
    return rules


def _elements(word: str, known: Dict[str, str]) -> List[str]:
    text = known.get(word[1:], "?") if word.startswith("@") else word
    return [element for element in text.split(",") if element.strip()]


def _joined(words: List[str], named: _Sets) -> List[Rule]:
    """A rule for each element, with a test for each field of it."""
    begin, end = _place_of_fields(words)
    fields = " ".join(words[begin:end]).split(" . ")
    is_map = words[end : end + 1] == ["vmap"]
    values = words[end + is_map : end + is_map + 1]
    elements = _elements(values[0], named.maps if is_map else named.sets) if values else []
    unread = Rule((Test(NOT_READ, text=words[begin]),), "jump", "")
    if not values or values[0] in ("!=", "==") or len(elements) > _MOST_ELEMENTS:
        return [unread]
    rules = []
    for element in elements:
        key, _colon, verdict = element.rpartition(":") if is_map else (element, "", "")
        parts = key.split(" . ")
        if len(parts) != len(fields):
            return [unread]
        tests = [f"{field} {part.split()[0]}" for field, part in zip(fields, parts)]
        rest = verdict.split() if is_map else words[end + 1 :]
        rules.append(_rule([*words[:begin], *" ".join(tests).split(), *rest], named))
    return rules


def _place_of_fields(words: List[str]) -> Tuple[int, int]:
    """Where the words of "FIELD . FIELD" begin and end. A field has two words, or the name of an
    interface."""
    dots = [place for place, word in enumerate(words) if word == "."]
    first, last = words[dots[0] - 1], " ".join(words[dots[-1] + 1 : dots[-1] + 2])
    begin = dots[0] - (1 if first in _INTERFACES else 2)
    return max(begin, 0), dots[-1] + (2 if last in _INTERFACES else 3)


def ended_by(word: str, target: Optional[str], tests: List[Test]) -> Optional[Rule]:
    """The rule with these conditions. None if the statement does not end a rule."""
    if word in _VERDICTS:
        return Rule(tuple(tests), _VERDICTS[word])
    if word in ("jump", "goto") and target is not None:
        return Rule(tuple(tests), word, target)
    if word == "notrack":
        return Rule(tuple(tests), NOTRACK)
    if word == "queue":
        # A program decides. If none runs, the packet is dropped.
        return Rule((*tests, Test(NOT_READ, text=word)), "jump", "")
    return None


def _rule(words: List[str], named: _Sets) -> Rule:
    tests: List[Test] = []
    while words:
        word = words.pop(0)
        ended = ended_by(word, words[0] if words else None, tests)
        if ended is not None:
            return ended
        if _is_passive(word, words):
            continue
        if word in ("add", "update", "delete") and words[:1] and words[0][0] == "@":
            tests += _limit_of_set(words)
            continue
        test = _test(word, words, named)
        if test.kind == NOT_READ:
            return _unread(tests, test, words)
        tests.append(test)
    return Rule(tuple(tests), "")


def _is_passive(word: str, words: List[str]) -> bool:
    """Whether the statement decides nothing. The words that belong to it are removed."""
    if word == "log":
        while len(words) > 1 and words[0] in _LOG:
            has_family = words[0] == "flags" and words[1] in ("tcp", "ip")
            del words[: 3 if has_family else 2]
        return True
    if word in ("meta", "ct") and words[1:2] == ["set"]:
        # It marks the packet.
        del words[:3]
        return True
    if word not in _PASSIVE:
        return False
    while words and words[0] not in _VERDICTS and re.fullmatch(_PASSIVE[word], words[0]):
        words.pop(0)
    return True


def _limit_of_set(words: List[str]) -> List[Test]:
    """A packet makes an element of a set; one above the limit of the element is met by the rule."""
    limit = " ".join(words[1:2])
    del words[:2]
    if "limit" not in limit and "ct count" not in limit:
        return []
    return [Test(OVER_LIMIT if "over" in limit else LIMIT, text=limit[:60])]


def _unread(tests: List[Test], test: Test, words: List[str]) -> Rule:
    """A rule with a condition that is not read. Its verdict is the last one of its words."""
    for number in range(len(words) - 1, -1, -1):
        if words[number] in _VERDICTS:
            return Rule((*tests, test), _VERDICTS[words[number]])
        if words[number] in ("jump", "goto") and number + 1 < len(words):
            return Rule((*tests, test), words[number], words[number + 1])
    # A verdict map: the chain that it leads to is not known.
    return Rule((*tests, test), "jump", "") if "vmap" in words else Rule((*tests, test), "")


def _test(word: str, words: List[str], named: _Sets) -> Test:
    unread = Test(NOT_READ, text=word[:40])
    is_meta = word == "meta" and bool(words)
    if is_meta:
        word = words.pop(0)
    test = _special(word, words)
    if test is not None:
        return test
    word, field = _field(word, words, is_meta)
    negated = words[:1] == ["!="]
    if negated or words[:1] == ["=="]:
        words.pop(0)
    kind = _kind(word, field)
    if not words or words[0] == "vmap" or kind is None:
        return unread
    return _compared(word, kind, words, negated, named) or unread


def _field(word: str, words: List[str], is_meta: bool) -> Tuple[str, str]:
    """Both words of the field. The second one is removed."""
    if word == "fib" and words[:2] == ["daddr", "type"]:
        del words[:2]
        word = "pkttype"
    # The key of "meta" is one word.
    if is_meta or word in _ONE_WORD:
        return word, word
    return word, words.pop(0) if words else ""


def _compared(
    word: str, kind: str, words: List[str], negated: bool, named: _Sets
) -> Optional[Test]:
    """The test with the values of the next word, which is removed. None if it is not read."""
    values = _values(words[0], named)
    if values is not None:
        test = _of_values(word, kind, values, negated)
    else:
        is_address = kind in (FROM, TO)
        test = Test(kind, negated=negated, text=words[0][:40]) if is_address else None
    if test is not None:
        words.pop(0)
    return test


def _special(word: str, words: List[str]) -> Optional[Test]:
    """A condition that is no comparison of a field with values. None for another one."""
    read = {("limit", "rate"): _limit, ("ct", "count"): _count, ("tcp", "flags"): _of_flags}.get(
        (word, " ".join(words[:1]))
    )
    if read is not None:
        return read(words)
    if word == "ip" and words[:2] == ["frag-off", "&"] and words[3:5] == ["!=", "0"]:
        # The first packet is whole.
        del words[:5]
        return Test(NEVER)
    if word == "fib" and words[:1] == ["saddr"] and "missing" in words:
        # The packets of a client come on the interface that leads to it.
        del words[: words.index("missing") + 1]
        return Test(NEVER)
    return None


def _count(words: List[str]) -> Test:
    is_over = words[1:2] == ["over"]
    count = "".join(words[1 + is_over : 2 + is_over])
    del words[: 2 + is_over]
    return Test(OVER_LIMIT if is_over else LIMIT, text=f"ct count {count}"[:60])


def _of_values(word: str, kind: str, values: List[str], negated: bool) -> Optional[Test]:
    """The test of values that are known. None for one that is not read."""
    if not values:
        # Nothing is in an empty set.
        return Test(PROTOCOL, frozenset({"nothing"}), negated=negated)
    names = frozenset(values)
    if kind in (PORT, SOURCE_PORT):
        ranges = port_ranges(values)
        if ranges is None:
            return None
        return Test(kind, frozenset({word} - {"th"}), ranges, negated)
    if word in _OF_FAMILY:
        # IPv4 is what the rules are read for.
        is_here = bool({"ip", "ipv4"} & names) != negated
        return Test(PROTOCOL, frozenset({"nothing"}), negated=is_here)
    if word in ("icmp", "icmpv6"):
        return Test(PROTOCOL, frozenset({word}))
    if kind == TO_KIND:
        names = frozenset(name.replace("host", "local") for name in names)
    return Test(kind, names, negated=negated)


def _kind(word: str, field: str) -> Optional[str]:
    if word in ("tcp", "udp", "th") and field in _PORTS:
        return _PORTS[field]
    if word in ("icmp", "icmpv6", *_OF_FAMILY):
        return PROTOCOL
    return NEVER if word == "ip6" else _KINDS.get((word, field))


def _of_flags(words: List[str]) -> Test:
    """tcp flags syn; tcp flags & (fin | syn | rst | ack) == syn"""
    del words[0]
    compared = [place for place, word in enumerate(words) if word in ("==", "!=")]
    place = compared[0] if words[:1] == ["&"] and compared else 0
    negated = words[place : place + 1] == ["!="]
    place += words[place : place + 1] in (["=="], ["!="])
    value = words[place : place + 1]
    # fin,syn / fin,syn,rst,ack: the values before the mask.
    has_mask = words[place + 1 : place + 2] == ["/"]
    del words[: place + (3 if has_mask else 1)]
    return Test(STATE, frozenset({"new"} if value == ["syn"] else ()), negated=negated)


def _values(word: str, named: _Sets) -> Optional[List[str]]:
    """The values of a condition; None if they are in a set that is not known."""
    if word.startswith("@"):
        if word[1:] not in named.sets:
            return None
        word = named.sets[word[1:]]
    # "192.0.2.1 timeout 1h": an element with its options.
    parts = [part.split()[:1] for part in word.replace('"', "").split(",")]
    if " " in word.strip() and "," not in word:
        parts = [[value] for value in word.replace('"', "").split()[:1]]
    values = [value for part in parts for value in part]
    return None if any(value[0] in "@$" for value in values) else values


def _limit(words: List[str]) -> Test:
    words.pop(0)
    over = words[:1] == ["over"]
    rate = words[1:2] if over else words[:1]
    del words[: 2 if over else 1]
    if words[:1] == ["burst"]:
        del words[:3]
    return Test(OVER_LIMIT if over else LIMIT, text=f"limit rate {''.join(rate)}"[:60])
