# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What rate limits the listeners of a host should have: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...errors import BadEntry
from ...evaluate.fields import (
    checked_by,
    decimal,
    entries,
    flag,
    one_of,
    reader,
    size,
    whole_number,
    window,
)
from ...evaluate.policy import PolicyValues, is_whole

NAME = "listener_rate_limit"

#: Where the rate stands: an integer at each endpoint, or one CONNECTION_RATE_<listener> for all.
SCOPES = ("endpoint", "listener")

#: The endpoints that can be limited: those over which clients come.
PROTOCOLS = ("tcp", "tcps", "sdp", "exadirect")
#: Those of them that the kernel shows as sockets of TCP.
OVER_TCP = PROTOCOLS[:2]

_TWICE = "lists {0[0]} twice: give each of them its home"


def _name(given: PolicyValues, name: str) -> str:
    text = str(given[name])
    if not re.match(r"^[A-Za-z][A-Za-z0-9_.$#-]*\Z", text):
        raise given.error(name, f"{text!r} is not the name of a listener")
    return text.upper()


def _home(given: PolicyValues, name: str) -> str:
    home = str(given[name])
    if not home.startswith("/"):
        raise given.error(name, f"must be absolute, not {given[name]!r}")
    return home.rstrip("/") or "/"


def _ports(given: PolicyValues, name: str) -> Tuple[int, ...]:
    value = given[name]
    if not isinstance(value, (list, tuple)) or not value:
        raise given.error(name, f"must be a list of ports, not {value!r}")
    for port in value:
        if not is_whole(port) or not 1 <= int(port) <= 65535:
            raise given.error(name, f"must be whole numbers from 1 to 65535, not {port!r}")
    return tuple(sorted({int(port) for port in value}))


class Pool(NamedTuple):
    """Clients that connect all at once: how many, and how long each waits for its connection."""

    name: str = checked_by(lambda given, name: str(given[name]), "str")
    connections: int = whole_number(1, 1000000)
    timeout_seconds: int = whole_number(1, 86400)


class WantedListener(NamedTuple):
    """What one listener should be.

    ``name`` is in capitals. ``home`` tells listeners of one name apart. ``rate`` is connections
    a second, None where it is not managed, 0 for no limit. ``ports`` are those that may be limited,
    None for all. ``queuesize`` is None where it is not managed.
    """

    name: str = checked_by(_name, "str")
    home: Optional[str] = checked_by(_home, "path").optional()
    rate: Optional[int] = whole_number(0, 100000).optional()
    scope: str = one_of(*SCOPES).optional(SCOPES[0])
    ports: Optional[Tuple[int, ...]] = checked_by(_ports, "list").optional()
    queuesize: Optional[int] = whole_number(1, 65535).optional()
    pools: Tuple[Pool, ...] = entries(Pool).optional(())


def _homes(given: PolicyValues, name: str) -> Tuple[str, ...]:
    return given.entries(name, lambda home: given.absolute(name, home).rstrip("/") or "/")


def _cheap(given: PolicyValues, name: str, size_of_tail: int) -> int:
    if size_of_tail > 8 << 20:
        raise given.error(name, "must be at most 8M: an audit must stay cheap")
    return size_of_tail


class Policy(NamedTuple):
    """The role's variables.

    ``wanted`` is None for "auto": what runs is checked by itself, and nothing is changed.
    """

    wanted: Optional[Tuple[WantedListener, ...]] = entries(
        WantedListener, key=lambda one: (one.name, one.home), twice=_TWICE, empty=False
    ).none_for("auto")
    """The listeners of the host, each with C(name). Optional keys are C(home) (for several
    listeners with the same name), C(rate) (connections per second, C(0) for no limit), C(scope)
    and C(ports) (the limited ports; default: all TCP and TCPS endpoints), C(queuesize) and
    C(pools).

    With C(scope: endpoint) the limit is written at each address, with C(listener) as one
    C(CONNECTION_RATE_) for all. C(pools) are clients that connect at the same time, each with
    C(name), C(connections) and C(timeout_seconds).

    C(auto) checks the running listeners against their files, and apply has no effect.

    Default: auto
    """
    oracle_homes: Tuple[str, ...] = checked_by(_homes, "list", elements="path")
    """Oracle homes beyond those that C(oratab) and the inventory name, to look in for a listener
    that does not run.

    Default: []
    """
    window_seconds: float = window()
    """Time to measure the kernel counters of dropped connections on a host where a listener
    runs. One window of 1 to 600 seconds serves every control that needs rates; C(0) does not
    watch them.

    Default: 10
    """
    log_tail: int = size().then(_cheap)
    """Size of the end of each listener log that is read for connections that the limit delayed, up
    to C(8M).

    Default: 1M
    """
    delayed_warn_percent: float = decimal(0, 100)
    """Tolerated share of delayed connections in the log, in percent; more is a warning.

    Default: 5
    """
    reload_ok: bool = flag()
    """Whether apply may have a listener read its file again (C(lsnrctl reload)) where it may not
    restart it. Endpoints and their rate still wait for the next start, and services that
    registered themselves are unknown until they do so again, up to a minute.

    Default: false
    """
    restart_ok: bool = flag()
    """Whether apply may stop and start a listener. Sessions stay; new logins are rejected until it
    is back, and for services that register themselves up to a minute longer. One that systemd
    keeps is left to systemd.

    Default: false
    """
    allow_drain_beyond_timeout: bool = flag()
    """Accept a rate at which clients of a pool give up before it is their turn (they come again,
    and the queue never ends).

    Default: false
    """
    allow_leaking_version: bool = flag()
    """Accept a limit on a release whose listener leaks memory when it limits (before 11.2.0.4), or
    in a cluster of 11gR2.

    Default: false
    """


def _one_of_a_name(policy: Policy, given: PolicyValues) -> Policy:
    """Without a home it is every listener of the name, so no other may have the name."""
    listeners = policy.wanted or ()
    of_all_homes = {one.name for one in listeners if one.home is None}
    for name in sorted({one.name for one in listeners if one.home is not None} & of_all_homes):
        items = given.places("wanted")
        places = [place for place, item in items if str(item["name"]).upper() == name]
        raise BadEntry(str(given.error("wanted", _TWICE.format([name]))), "wanted", places)
    return policy


policy_from = reader(NAME, Policy, _one_of_a_name)
