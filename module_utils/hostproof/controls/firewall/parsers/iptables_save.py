# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of iptables-save, also in /etc/sysconfig/iptables and /etc/iptables/rules.v4."""

import re
import shlex
from typing import Dict, List, Optional, Tuple

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

_WHAT = "iptables-save"
_TARGETS = {"ACCEPT": ACCEPT, "DROP": DROP, "REJECT": DROP, "RETURN": "return"}
#: Targets without a verdict.
_PASSIVE = (
    *("LOG", "NFLOG", "ULOG", "MARK", "CONNMARK", "TRACE", "AUDIT", "SECMARK", "CONNSECMARK"),
    *("TCPMSS", "CT", "SET", "CHECKSUM", "CLASSIFY", "DSCP", "ECN", "TOS", "TTL", "TEE", "HMARK"),
    *("RATEEST", "IDLETIMER", "LED", "TCPOPTSTRIP"),
)
#: Tables whose rules can drop a packet.
_FILTERS = ("filter", "raw", "mangle", "security")
_ANY = re.compile(r"(0|0\.0\.0\.0|::)/(0|0\.0\.0\.0)$")
_PORTS = ("--dport", "--destination-port", "--dports", "--destination-ports", "--ports")
_SOURCE_PORTS = ("--sport", "--source-port", "--sports", "--source-ports")
#: Kinds of tests by the option, whose values are in the next word.
_KINDS = {
    **dict.fromkeys(_PORTS, PORT),
    **dict.fromkeys(_SOURCE_PORTS, SOURCE_PORT),
    **{"-p": PROTOCOL, "-i": INTERFACE, "-o": INTERFACE, "--state": STATE, "--ctstate": STATE},
    **{"-s": FROM, "--src-range": FROM, "-d": TO, "--dst-range": TO},
    **{"--dst-type": TO_KIND, "--pkt-type": TO_KIND},
}
#: Long options in files that a person wrote.
_SHORT = {
    **{"--jump": "-j", "--goto": "-g", "--in-interface": "-i", "--out-interface": "-o"},
    **{"--source": "-s", "--src": "-s", "--destination": "-d", "--dst": "-d"},
    **{"--proto": "-p", "--protocol": "-p", "--match": "-m"},
}
#: Options that are not conditions.
_IGNORED = {"-m": 1, "--comment": 1, "--limit-burst": 1, "--hashlimit-burst": 1, "-c": 2}
_IGNORED.update(dict.fromkeys(("--hashlimit-mode", "--hashlimit-name", "--hashlimit-srcmask"), 1))
_IGNORED.update(dict.fromkeys(("--hashlimit-htable-expire", "--hashlimit-htable-size"), 1))
_IGNORED.update(dict.fromkeys(("--hashlimit-htable-max", "--hashlimit-dstmask"), 1))
_IGNORED.update(dict.fromkeys(("--hashlimit-htable-gcinterval", "--connlimit-mask"), 1))
_IGNORED.update(dict.fromkeys(("--hitcount", "--seconds", "--name", "--mask"), 1))
_IGNORED.update(dict.fromkeys(("--set", "--rsource", "--rdest"), 0))
_IGNORED.update(dict.fromkeys(("--connlimit-saddr", "--connlimit-daddr"), 0))


def parse(text: str, family: str = "ip") -> Tables:
    tables: Tables = {}
    heads: Dict[str, str] = {}
    rules: Dict[str, List[Rule]] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line[:1] in ("", "#"):
            continue
        if line[0] == "*":
            table, heads, rules = line[1:], {}, {}
        elif line == "COMMIT":
            if table in _FILTERS:
                tables[family, table] = _chains(heads, rules)
            table = ""
        elif line[0] == ":" and table and len(line.split()) >= 2:
            name, policy = line[1:].split()[:2]
            heads[name] = policy
        elif table and re.match(r"(\[\d+:\d+\] )?-A \S+", line):
            name, rule = rule_of(line, number)
            rules.setdefault(name, []).append(rule)
        else:
            raise ParseError(_WHAT, f"not a rule: {kind_of(line)}", number)
    if table:
        raise ParseError(_WHAT, f"the table {kind_of(table)} has no COMMIT")
    return tables


def _chains(heads: Dict[str, str], rules: Dict[str, List[Rule]]) -> Dict[str, Chain]:
    # A built-in chain without a head line keeps its policy, which is ACCEPT at boot.
    for name in rules:
        heads.setdefault(name, "ACCEPT")
    return {name: _chain(name, policy, rules.get(name, [])) for name, policy in heads.items()}


def _chain(name: str, policy: str, rules: List[Rule]) -> Chain:
    return Chain(
        name,
        "" if policy == "-" else name.lower(),
        DROP if policy == "DROP" else ACCEPT,
        tuple(rules),
    )


def rule_of(line: str, number: int = 0) -> Tuple[str, Rule]:
    """The chain and the rule of a line "-A CHAIN CONDITIONS -j TARGET"."""
    try:
        words = shlex.split(line)
    except ValueError as problem:
        raise ParseError(_WHAT, f"quotes do not match: {kind_of(line)}", number) from problem
    if words[0].startswith("["):
        del words[0]
    name, rest = words[1], words[2:]
    tests: List[Test] = []
    verdict, target = "", ""
    negated = has_target = False
    while rest:
        option, is_joined, value = rest.pop(0).partition("=")
        option = _SHORT.get(option, option)
        rest[:0] = [value] if is_joined else []
        if option == "!":
            negated = True
            continue
        if option == "--notrack":
            verdict = NOTRACK
            continue
        if option in ("-j", "-g"):
            verdict, target = _target(option, rest.pop(0) if rest else "")
            has_target = True
            continue
        test, taken = _test(option, rest, negated)
        del rest[:taken]
        # Behind the target stand its own options; conditions may follow them.
        if test is not None and not (has_target and test.kind == NOT_READ):
            tests.append(test)
        negated = False
    return name, Rule(tuple(tests), verdict, target)


def _target(option: str, word: str) -> Tuple[str, str]:
    if word in _TARGETS:
        return _TARGETS[word], ""
    if word in _PASSIVE:
        return "", ""
    if word == "NOTRACK":
        return NOTRACK, ""
    return ("goto" if option == "-g" else "jump"), word


def _test(option: str, rest: List[str], negated: bool) -> Tuple[Optional[Test], int]:
    """A condition, None for one that always holds, and the number of words that it takes."""
    if option in _IGNORED:
        return None, _IGNORED[option]
    if option in _KINDS:
        return _of_word(_KINDS[option], rest[0] if rest else "", negated), 1
    if option in ("--syn", "--tcp-flags"):
        taken = 2 if option == "--tcp-flags" else 0
        flags = "".join(rest[1:2]) if taken else "SYN"
        return Test(STATE, frozenset({"new" if flags == "SYN" else flags}), negated=negated), taken
    if option in ("-f", "--fragment"):
        # The first packet is whole.
        return (None if negated else Test(NEVER)), 0
    if option == "--icmp-type":
        return Test(PROTOCOL, frozenset({"icmp"})), 1
    return _rate(option, rest, negated) or _unread(option, rest)


def _of_word(kind: str, word: str, negated: bool) -> Optional[Test]:
    """The condition with the values in the word. None for one that always holds."""
    if kind in (PORT, SOURCE_PORT):
        return _ports(kind, word, negated)
    if kind in (FROM, TO) and _ANY.match(word):
        return Test(NEVER) if negated else None
    if kind == PROTOCOL and word in ("all", "0"):
        return None
    if kind in (PROTOCOL, STATE, TO_KIND):
        word = word.lower()
    if kind == TO_KIND:
        word = word.replace("host", "local")
    values = [word] if kind in (PROTOCOL, INTERFACE) else word.split(",")
    return Test(kind, frozenset(values), negated=negated)


def _unread(option: str, rest: List[str]) -> Tuple[Test, int]:
    """A condition that is not read takes the words up to the next option."""
    taken = 0
    while taken < len(rest) and not rest[taken].startswith("-") and rest[taken] != "!":
        taken += 1
    return Test(NOT_READ, text=option[:40]), taken


def _rate(option: str, rest: List[str], negated: bool) -> Optional[Tuple[Test, int]]:
    word = rest[0] if rest else ""
    if option in ("--limit", "--hashlimit-upto", "--hashlimit", "--connlimit-upto"):
        return Test(OVER_LIMIT if negated else LIMIT, text=_limit(option, word)), 1
    if option in ("--hashlimit-above", "--connlimit-above"):
        return Test(LIMIT if negated else OVER_LIMIT, text=_limit(option, word)), 1
    if option in ("--update", "--rcheck") and "--hitcount" in rest[:-1]:
        # The connections of a source in a time (ufw limit).
        count = rest[rest.index("--hitcount") + 1]
        return Test(LIMIT if negated else OVER_LIMIT, text=f"recent hitcount {count}"[:60]), 0
    return None


def _limit(option: str, word: str) -> str:
    return f"{option[2:]} {word}"[:60]


def _ports(kind: str, word: str, negated: bool) -> Test:
    ranges = port_ranges(word.split(","), ":")
    if ranges is None:
        return Test(NOT_READ, text=f"port {word[:30]}")
    return Test(kind, ranges=ranges, negated=negated)
