# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools in property files: HikariCP's own, and Spring Boot's application.properties.

Sources: java.util.Properties.load (lines, escapes, separators); HikariCP README; Spring Boot
reference, Externalized Configuration (relaxed binding) and Configuring a Custom DataSource.
"""

import re
from typing import Dict, List, Match, Optional, Tuple

from ...errors import ParseError
from .pools import DBCP2, DEFAULTS, HIKARICP, LONGEST, MOST, TOMCAT_JDBC, UCP, PoolSource

_WHAT = "property file"

_SPRING = "spring.datasource."
#: What follows it, without dashes.
_KINDS = {"hikari": HIKARICP, "tomcat": TOMCAT_JDBC, "dbcp2": DBCP2, "oracleucp": UCP}

#: A key ends at the first of = : or a blank that no backslash precedes.
_LINE = re.compile(r"((?:[^\\=:\s]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_SIGNS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse(text: str) -> List[PoolSource]:
    """Its pool: what HikariCP's file sets, or one for each kind of pool that Spring is told of.

    A file of Spring that names no kind has HikariCP's defaults, which Boot takes from 2.0 on.
    """
    values: Dict[str, Dict[str, str]] = {}
    has_source = is_spring = False
    for key, value in _pairs(text):
        is_spring = is_spring or key.startswith("spring.")
        has_source = has_source or key.startswith((_SPRING, "dataSource", "jdbcUrl"))
        kind, name = _attribute(key)
        if name is not None:
            values.setdefault(kind, {})[name] = value
    if is_spring:
        # In such a file the bare names are those of somebody else.
        values = {kind: one for kind, one in values.items() if kind.startswith(_SPRING)}
    if not values and has_source:
        values[_SPRING + HIKARICP if is_spring else HIKARICP] = {}
    return [PoolSource(kind, kind.rpartition(".")[2], one) for kind, one in sorted(values.items())]


def _attribute(key: str) -> Tuple[str, Optional[str]]:
    """Where it belongs (a kind, behind Spring's prefix if it is one of Spring's), and its name."""
    if not key.startswith(_SPRING):
        return HIKARICP, key if key in DEFAULTS[HIKARICP] else None
    group, _dot, bare = key[len(_SPRING) :].partition(".")
    kind = _KINDS.get(_relaxed(group))
    if kind is None or not bare:
        return "", None
    names = {name.lower(): name for name in DEFAULTS[kind]}
    return _SPRING + kind, names.get(_relaxed(bare))


def _relaxed(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _pairs(text: str) -> List[Tuple[str, str]]:
    found: List[Tuple[str, str]] = []
    whole = ""
    for line in re.split(r"\r\n|\n|\r", text):
        line = line.lstrip(" \t\f")
        if not whole and line.startswith(("#", "!")):
            continue
        whole += line
        if len(whole) > 16 * LONGEST:
            raise ParseError(_WHAT, "a line with those that continue it is too long")
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        match = _LINE.match(whole)
        if whole and match is not None:
            found.append((_plain(match.group(1)), _plain(match.group(2)).strip()[:LONGEST]))
        whole = ""
        if len(found) > 10 * MOST:
            raise ParseError(_WHAT, f"it has more than {10 * MOST} properties")
    return found


def _plain(text: str) -> str:
    return _ESCAPE.sub(_sign, text)


def _sign(match: Match[str]) -> str:
    sign = match.group(1)
    if len(sign) < 5:
        return _SIGNS.get(sign, sign)
    # Half of a pair is no character.
    return re.sub("[\ud800-\udfff]", "?", chr(int(sign[1:], 16)))
