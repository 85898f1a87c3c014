# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools in property files: HikariCP's own, and Spring Boot's application.properties.

Sources: java.util.Properties.load (lines, escapes, separators); HikariCP README; Spring Boot
reference, Externalized Configuration (relaxed binding, profiles, imports) and Configuring a Custom
DataSource; org.springframework.core.convert.support.StringToBooleanConverter.
"""

import re
from typing import Dict, List, Match, Optional, Tuple

from ....errors import ParseError, kind_of
from .pools import (
    DATABASE,
    DBCP2,
    DEFAULTS,
    HIKARICP,
    LONGEST,
    MOST,
    TOMCAT_JDBC,
    UCP,
    PoolSource,
    database_of,
)

_WHAT = "property file"

_SPRING = "spring.datasource."
#: Where these stand, in Spring's own form, another file or a profile may have the last word.
_ELSEWHERE = ("spring.config.activate.", "spring.config.import", "spring.profiles")
#: What Spring takes for a boolean; with anything else it does not start.
_BOOLEANS = {
    **dict.fromkeys(("true", "on", "yes", "1"), "true"),
    **dict.fromkeys(("false", "off", "no", "0"), "false"),
}

#: Kind of pool by the next part of the name, without dashes.
_KINDS = {"hikari": HIKARICP, "tomcat": TOMCAT_JDBC, "dbcp2": DBCP2, "oracleucp": UCP}

#: The last part of a key with the address of a database.
_ADDRESSES = ("jdbcurl", "driverclassname")

#: Classes that state the kind of database where no URL does.
_CLASSES = ("dataSourceClassName", "driverClassName")

_TYPES = {
    "com.zaxxer.hikari.HikariDataSource": HIKARICP,
    "org.apache.tomcat.jdbc.pool.DataSource": TOMCAT_JDBC,
    "org.apache.commons.dbcp2.BasicDataSource": DBCP2,
    "oracle.ucp.jdbc.PoolDataSource": UCP,
    "oracle.ucp.jdbc.PoolDataSourceImpl": UCP,
}

#: A key ends at the first of = : or a blank that no backslash precedes.
_LINE = re.compile(r"((?:[^\\=:\s]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_SIGNS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse(text: str) -> List[PoolSource]:
    """Its pools: the settings of a HikariCP file, or one pool for each kind that Spring configures.

    The kind is unknown in these cases: Spring without an explicit kind (its release and the class
    path decide), a JNDI name (the server decides), and a prefix that the application defines (its
    code decides).
    """
    pairs = _pairs(text)
    spring = [(_relaxed(key), value) for key, value in pairs]
    spring = [(key, value) for key, value in spring if key.startswith("spring.")]
    others = _own_prefixes(pairs)
    if not spring and not others:
        return _of_hikaricp(pairs)
    return _of_spring(spring) + others


def _of_hikaricp(pairs: List[Tuple[str, str]]) -> List[PoolSource]:
    own = {key: value for key, value in pairs if key in DEFAULTS[HIKARICP]}
    is_one = own or any(key.startswith(("dataSource", "jdbcUrl")) for key, _value in pairs)
    named = dict(pairs)
    url = named.get("jdbcUrl") or named.get("dataSource.url") or named.get("dataSource.URL", "")
    own.update(database_of(url, *(named.get(name, "") for name in _CLASSES)))
    return [PoolSource(HIKARICP, HIKARICP, own)] if is_one else []


def _of_spring(pairs: List[Tuple[str, str]]) -> List[PoolSource]:
    """The pool of spring.datasource; none without such a setting."""
    settings = {key[len(_SPRING) :]: value for key, value in pairs if key.startswith(_SPRING)}
    values: Dict[str, Dict[str, str]] = {}
    for key, value in settings.items():
        kind, name = _attribute(key)
        if name is not None:
            values.setdefault(kind, {})[name] = _value(kind, name, value)
    if not settings:
        return []
    if any(key.startswith(_ELSEWHERE) for key, _value in pairs):
        return [PoolSource(_SPRING[:-1], "Spring with profiles or imports", {})]
    if "jndiname" in settings:
        return [PoolSource(_SPRING + "jndi-name", "a JNDI name", {})]
    if "type" in settings:
        kind = _TYPES.get(settings["type"], settings["type"])
        own = values.get(kind, {})
        if kind in DEFAULTS:
            own.update(_of_all_kinds(kind, settings, own))
        return [PoolSource(_SPRING + _shown(kind), kind, own)]
    return [PoolSource(_SPRING[:-1], "Spring without spring.datasource.type", {})]


def _of_all_kinds(kind: str, settings: Dict[str, str], own: Dict[str, str]) -> Dict[str, str]:
    """What Spring gives to a pool of any kind: the driver, and the kind of database.

    For UCP the driver is the class of the connection factory; without one, Spring takes that of the
    URL (DataSourceBuilder, OraclePoolDataSourceProperties).
    """
    driver = settings.get("driverclassname")
    values = database_of(settings.get("url", ""), driver or "")
    if kind == UCP and "connectionFactoryClassName" not in own:
        of_url = "oracle.jdbc.OracleDriver" if values.get(DATABASE) == "jdbc:oracle" else ""
        if driver or of_url:
            values["connectionFactoryClassName"] = driver or of_url
    if driver is not None and "driverClassName" in DEFAULTS[kind] and "driverClassName" not in own:
        values["driverClassName"] = driver
    return values


def _own_prefixes(pairs: List[Tuple[str, str]]) -> List[PoolSource]:
    """What an application binds to a pool by a separate prefix (app.datasource.hikari.*)."""
    prefixes = []
    for key, _value in pairs:
        parts = _relaxed(key).split(".")
        ends = [place for place, part in enumerate(parts) if place and part in _KINDS]
        if parts[-1] in _ADDRESSES:
            ends.append(len(parts) - 1)
        prefix = ".".join(key.split(".")[: min(ends)]) if ends else ""
        if prefix and _relaxed(prefix) != _SPRING[:-1] and prefix not in prefixes:
            prefixes.append(prefix)
    return [PoolSource(prefix, f"the application's own prefix {prefix}", {}) for prefix in prefixes]


def _shown(kind: str) -> str:
    return kind if kind in DEFAULTS else "type"


def _attribute(key: str) -> Tuple[str, Optional[str]]:
    """The kind of what follows spring.datasource., and the name that its pool has for it."""
    group, _dot, bare = key.partition(".")
    kind = _KINDS.get(group)
    if kind is None or not bare:
        return "", None
    return kind, {name.lower(): name for name in DEFAULTS[kind]}.get(bare)


def _value(kind: str, name: str, text: str) -> str:
    """As the pool would have it in a separate file."""
    if DEFAULTS[kind][name] not in ("true", "false") or "${" in text:
        return text
    if text.lower() not in _BOOLEANS:
        raise ParseError(_WHAT, f"{name} of {kind} is not a boolean: {kind_of(text)}")
    return _BOOLEANS[text.lower()]


def _relaxed(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def _pairs(text: str) -> List[Tuple[str, str]]:
    pairs: List[Tuple[str, str]] = []
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
            pairs.append((_plain(match.group(1)), _plain(match.group(2)).strip()[:LONGEST]))
        whole = ""
        if len(pairs) > 10 * MOST:
            raise ParseError(_WHAT, f"it has more than {10 * MOST} properties")
    return pairs


def _plain(text: str) -> str:
    return _ESCAPE.sub(_sign, text)


def _sign(match: Match[str]) -> str:
    sign = match.group(1)
    if len(sign) < 5:
        return _SIGNS.get(sign, sign)
    # Half of a pair is not a character.
    return re.sub("[\ud800-\udfff]", "?", chr(int(sign[1:], 16)))
