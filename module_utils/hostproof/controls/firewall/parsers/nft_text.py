# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/nftables.conf and similar files (nft(8)). Only common parts of the language are parsed.

Other conditions become tests that are not read. A file with an include is rejected."""

import re
from typing import Dict, List, Tuple

from ....errors import ParseError, kind_of
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
    port_ranges,
)

_WHAT = "nftables.conf"
_FAMILIES = ("ip", "inet", "netdev")
_TOKEN = re.compile(r'"[^"\n]*"|\\\n|[{};\n]|#[^\n]*|[^\s{};"#\\]+|[ \t]+|\\')
_VARIABLE = re.compile(r"(\$[A-Za-z][A-Za-z0-9_./\\-]*)")
#: Words of a file. A value of a value of define repeats itself.
_MOST_WORDS = 200000
#: Options of log, each with a value.
_LOG = ("prefix", "level", "group", "snaplen", "queue-threshold", "flags")
_VERDICTS = {"accept": ACCEPT, "drop": DROP, "reject": DROP, "return": "return"}
_INTERFACES = ("iif", "iifname", "oif", "oifname")
#: Kinds of tests by the two words before the values.
_KINDS = {
    **{(name, name): INTERFACE for name in _INTERFACES},
    ("l4proto", "l4proto"): PROTOCOL,
    ("ip", "protocol"): PROTOCOL,
    ("ip", "saddr"): ADDRESS,
    ("ip", "daddr"): ADDRESS,
    ("ct", "state"): STATE,
    ("ct", "status"): STATE,
}
#: Statements without a verdict, with the words that may follow.
_PASSIVE = {
    "counter": r"packets|bytes|\d+",
    "comment": r"\".*\"",
    "notrack": r"(?!)",
}


def parse(text: str) -> Tables:
    tokens = _defined(_tokens(text))
    tables: Tables = {}
    while tokens:
        word = tokens.pop(0)
        if word in (";", "\n"):
            continue
        if word == "table":
            family = tokens.pop(0) if tokens and tokens[0] in (*_FAMILIES, *_OTHERS) else "ip"
            name = tokens.pop(0) if tokens else ""
            body = _block(tokens)
            if family in _FAMILIES:
                chains, more = tables.setdefault((family, name), {}), _chains(body)
                if set(chains) & set(more):
                    raise ParseError(_WHAT, "a chain is in the file twice")
                chains.update(more)
        elif word in ("flush", "delete", "destroy"):
            _statement(tokens)
        else:
            raise ParseError(_WHAT, f"a statement that is not read: {kind_of(word)}")
    return tables


_OTHERS = ("ip6", "arp", "bridge")


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
            words.append(" ".join(token for token in _block(tokens) if token != "\n"))
            continue
        word = tokens.pop(0)
        if word in (";", "\n"):
            break
        words.append(word)
    return words


def _chains(tokens: List[str]) -> Dict[str, Chain]:
    chains: Dict[str, Chain] = {}
    while tokens:
        word = tokens.pop(0)
        if word == "chain" and tokens:
            name = tokens.pop(0)
            if name in chains:
                raise ParseError(_WHAT, "a chain is in the file twice")
            chains[name] = _chain(name, _block(tokens))
        elif word in ("set", "map", "counter", "limit", "flowtable", "quota", "ct") and tokens:
            while tokens and tokens[0] != "{":
                tokens.pop(0)
            _block(tokens)
        elif word not in (";", "\n"):
            raise ParseError(_WHAT, f"a statement that is not read: {kind_of(word)}")
    return chains


def _chain(name: str, tokens: List[str]) -> Chain:
    hook, policy, rules = "", ACCEPT, []
    while tokens:
        words = _statement(tokens)
        if words[:1] == ["type"]:
            if words[1:2] != ["nat"] and "hook" in words[:-1]:
                hook = words[words.index("hook") + 1]
        elif words[:1] == ["policy"]:
            policy = DROP if words[1:] == ["drop"] else ACCEPT
        elif words[2:3] == ["vmap"] and len(words) == 4 and tuple(words[:2]) in _MAPPED:
            rules += _of_map(words[1], words[3])
        elif words:
            rules.append(_rule(words))
    return Chain(name, hook, policy, tuple(rules))


#: Verdict maps that are read, by the words before "vmap".
_MAPPED = (("ct", "state"), ("meta", "protocol"), ("meta", "nfproto"))


def _of_map(field: str, text: str) -> List[Rule]:
    """The rules of a verdict map, such as "established : accept , invalid : drop"."""
    rules = []
    for pair in filter(str.strip, text.split(",")):
        keys, _colon, verdict = pair.partition(":")
        tests: Tuple[Test, ...] = (Test(STATE, frozenset(keys.split())),)
        if field != "state":
            # IPv4 is what the rules are read for.
            tests = () if keys.strip() in ("ip", "ipv4") else (Test(NEVER, text=keys.strip()[:40]),)
        rules.append(_rule(verdict.split())._replace(tests=tests))
    return rules


def _rule(words: List[str]) -> Rule:
    tests: List[Test] = []
    while words:
        word = words.pop(0)
        if word in _VERDICTS:
            return Rule(tuple(tests), _VERDICTS[word])
        if word in ("jump", "goto") and words:
            return Rule(tuple(tests), word, words[0])
        if word == "queue":
            # A program decides. If none runs, the packet is dropped.
            return Rule((*tests, Test(NOT_READ, text=word)), "jump", "")
        if word == "log":
            while len(words) > 1 and words[0] in _LOG:
                has_family = words[0] == "flags" and words[1] in ("tcp", "ip")
                del words[: 3 if has_family else 2]
            continue
        if word in _PASSIVE:
            while words and words[0] not in _VERDICTS and re.fullmatch(_PASSIVE[word], words[0]):
                words.pop(0)
            continue
        test = _test(word, words)
        if test.kind == NOT_READ:
            return _unread(tests, test, words)
        tests.append(test)
    return Rule(tuple(tests), "")


def _unread(tests: List[Test], test: Test, words: List[str]) -> Rule:
    """A rule with a condition that is not read. Its verdict is the last one of its words."""
    for number in range(len(words) - 1, -1, -1):
        if words[number] in _VERDICTS:
            return Rule((*tests, test), _VERDICTS[words[number]])
        if words[number] in ("jump", "goto") and number + 1 < len(words):
            return Rule((*tests, test), words[number], words[number + 1])
    # A verdict map: the chain that it leads to is not known.
    return Rule((*tests, test), "jump", "") if "vmap" in words else Rule((*tests, test), "")


def _test(word: str, words: List[str]) -> Test:
    unread = Test(NOT_READ, text=word[:40])
    # The key of "meta" is one word.
    is_meta = word == "meta" and bool(words)
    if is_meta:
        word = words.pop(0)
    if word == "limit" and words[:1] == ["rate"]:
        return _limit(words)
    is_one_word = is_meta or word in (*_INTERFACES, "l4proto")
    field = word if is_one_word else words.pop(0) if words else ""
    negated = words[:1] == ["!="]
    if negated or words[:1] == ["=="]:
        words.pop(0)
    if not words or words[0] == "vmap":
        return unread
    # A set of a set has braces.
    values = [value for value in re.split(r"[,\s{}]+", words[0].replace('"', "")) if value]
    if any(value[0] in "@$" for value in values):
        if field not in ("saddr", "daddr"):
            return unread
        words.pop(0)
        return Test(ADDRESS, frozenset(values))
    names = frozenset(values)
    if word in ("tcp", "udp", "th") and field == "dport":
        ranges = port_ranges(values)
        # The rule is for one protocol: the other one has no such ports.
        if ranges is None or (negated and word != "th"):
            return unread
        words.pop(0)
        if word == "th":
            return Test(PORT, ranges=ranges, negated=negated)
        return Test(PORT, frozenset({word}), ranges)
    if word in ("icmp", "icmpv6"):
        words.pop(0)
        return Test(PROTOCOL, frozenset({word}))
    kind = NEVER if word == "ip6" else _KINDS.get((word, field))
    if kind is None:
        return unread
    words.pop(0)
    return Test(kind, names, negated=negated)


def _limit(words: List[str]) -> Test:
    words.pop(0)
    over = words[:1] == ["over"]
    rate = words[1:2] if over else words[:1]
    del words[: 2 if over else 1]
    if words[:1] == ["burst"]:
        del words[:3]
    return Test(OVER_LIMIT if over else LIMIT, text=f"limit rate {''.join(rate)}"[:60])
