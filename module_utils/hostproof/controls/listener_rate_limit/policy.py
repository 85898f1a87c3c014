# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rate limits the listeners of a host should have: the role's variables, checked."""

import re
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ...policy import PolicyValues

NAME = "listener_rate_limit"

#: Where the rate stands: an integer at each endpoint, or one CONNECTION_RATE_<listener> for all.
SCOPES = ("endpoint", "listener")

#: The endpoints that can be limited: those over which clients come.
PROTOCOLS = ("tcp", "tcps")

_NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_.$#-]*$")


class Pool(NamedTuple):
    """Clients that connect all at once: how many, and how long each waits for its connection."""

    name: str
    connections: int
    timeout_seconds: int


class WantedListener(NamedTuple):
    """What one listener should be.

    ``name`` is in capitals. ``home`` tells listeners of one name apart. ``rate`` is connections
    a second, None where it is not managed, 0 for no limit. ``ports`` are those that may be limited,
    None for all. ``queuesize`` is None where it is not managed.
    """

    name: str
    home: Optional[str]
    rate: Optional[int]
    scope: str
    ports: Optional[Tuple[int, ...]]
    queuesize: Optional[int]
    pools: Tuple[Pool, ...]


class Policy(NamedTuple):
    """The role's variables (roles/listener_rate_limit/meta/argument_specs.yml), checked.

    ``wanted`` is None for "auto": what runs is judged by itself, and nothing is changed.
    """

    wanted: Optional[Tuple[WantedListener, ...]]
    oracle_homes: Tuple[str, ...]
    sample_seconds: int
    log_tail: int
    delayed_warn_percent: float
    reload_ok: bool
    restart_ok: bool
    allow_drain_beyond_timeout: bool
    allow_leaking_version: bool


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    return Policy(
        wanted=_wanted(given),
        oracle_homes=_homes(given),
        sample_seconds=given.whole_number("sample_seconds", 0, 600),
        log_tail=_log_tail(given),
        delayed_warn_percent=given.decimal("delayed_warn_percent", 0, 100),
        reload_ok=given.flag("reload_ok"),
        restart_ok=given.flag("restart_ok"),
        allow_drain_beyond_timeout=given.flag("allow_drain_beyond_timeout"),
        allow_leaking_version=given.flag("allow_leaking_version"),
    )


def _homes(given):
    # type: (PolicyValues) -> Tuple[str, ...]
    homes = given.names("oracle_homes")
    for home in homes:
        if not home.startswith("/"):
            raise given.error("oracle_homes", "must hold absolute paths, not {0!r}".format(home))
    return tuple(home.rstrip("/") or "/" for home in homes)


def _log_tail(given):
    # type: (PolicyValues) -> int
    size = given.size("log_tail")
    if size > 8 << 20:
        raise given.error("log_tail", "must be at most 8M: an audit must stay cheap")
    return size


def _wanted(given):
    # type: (PolicyValues) -> Optional[Tuple[WantedListener, ...]]
    value = given["wanted"]
    if value == "auto":
        return None
    if not isinstance(value, (list, tuple)):
        raise given.error("wanted", "must be auto or a list of {name, rate, ...}")
    listeners = tuple(_wanted_listener(given, item) for item in value)
    keys = [(one.name, one.home) for one in listeners]
    for name, home in keys:
        if keys.count((name, home)) > 1 or (home is not None and (name, None) in keys):
            raise given.error("wanted", "lists {0} twice: give each of them its home".format(name))
    return listeners


def _wanted_listener(given, item):
    # type: (PolicyValues, Any) -> WantedListener
    if not isinstance(item, dict) or not item.get("name"):
        raise given.error("wanted", "has {0!r}, which needs a name".format(item))
    name = str(item["name"])
    if not _NAME.match(name):
        raise given.error("wanted", "{0!r} is no name of a listener".format(name))
    unknown = sorted(set(item) - {"name", "home", "rate", "scope", "ports", "queuesize", "pools"})
    if unknown:
        raise given.error("wanted", "{0} has unknown {1}".format(name, ", ".join(unknown)))
    home = item.get("home")
    if home is not None and not str(home).startswith("/"):
        raise given.error("wanted", "{0}: home {1!r} must be absolute".format(name, home))
    scope = item.get("scope", SCOPES[0])
    if scope not in SCOPES:
        raise given.error(
            "wanted",
            "{0}: scope must be one of {1}, not {2!r}".format(name, ", ".join(SCOPES), scope),
        )
    queuesize = _number(given, name, item, "queuesize", 1, 65535)
    return WantedListener(
        name=name.upper(),
        home=None if home is None else str(home).rstrip("/") or "/",
        rate=_number(given, name, item, "rate", 0, 100000),
        scope=scope,
        ports=_ports(given, name, item.get("ports")),
        queuesize=queuesize,
        pools=_pools(given, name, item.get("pools", [])),
    )


def _number(given, listener, item, name, low, high):
    # type: (PolicyValues, str, Dict[str, Any], str, int, int) -> Optional[int]
    value = item.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not str(value).isdecimal() or not low <= int(value) <= high:
        raise given.error(
            "wanted",
            "{0}: {1} must be a whole number from {2} to {3}, not {4!r}".format(
                listener, name, low, high, value
            ),
        )
    return int(value)


def _ports(given, listener, value):
    # type: (PolicyValues, str, Any) -> Optional[Tuple[int, ...]]
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or not value:
        raise given.error("wanted", "{0}: ports must be a list of ports".format(listener))
    return tuple(
        sorted(
            {_number(given, listener, {"ports": port}, "ports", 1, 65535) or 0 for port in value}
        )
    )


def _pools(given, listener, value):
    # type: (PolicyValues, str, Any) -> Tuple[Pool, ...]
    if not isinstance(value, (list, tuple)):
        raise given.error("wanted", "{0}: pools must be a list".format(listener))
    pools = []
    for item in value:
        needed = {"name", "connections", "timeout_seconds"}
        if not isinstance(item, dict) or set(item) != needed:
            raise given.error(
                "wanted",
                "{0}: a pool needs {1}, and has {2!r}".format(
                    listener, ", ".join(sorted(needed)), item
                ),
            )
        pools.append(
            Pool(
                str(item["name"]),
                _number(given, listener, item, "connections", 1, 1000000) or 0,
                _number(given, listener, item, "timeout_seconds", 1, 86400) or 0,
            )
        )
    return tuple(pools)
