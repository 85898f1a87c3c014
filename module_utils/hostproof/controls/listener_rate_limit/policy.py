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
PROTOCOLS = ("tcp", "tcps")

_TWICE = "lists {0[0]} twice: give each of them its home"


def _name(given: PolicyValues, name: str) -> str:
    text = str(given[name])
    if not re.match(r"^[A-Za-z][A-Za-z0-9_.$#-]*\Z", text):
        raise given.error(name, f"{text!r} is no name of a listener")
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
    """The role's variables (roles/listener_rate_limit/meta/argument_specs.yml).

    ``wanted`` is None for "auto": what runs is judged by itself, and nothing is changed.
    """

    wanted: Optional[Tuple[WantedListener, ...]] = entries(
        WantedListener, key=lambda one: (one.name, one.home), twice=_TWICE, empty=False
    ).none_for("auto")
    oracle_homes: Tuple[str, ...] = checked_by(_homes, "list")
    window_seconds: float = window()
    log_tail: int = size().then(_cheap)
    delayed_warn_percent: float = decimal(0, 100)
    reload_ok: bool = flag()
    restart_ok: bool = flag()
    allow_drain_beyond_timeout: bool = flag()
    allow_leaking_version: bool = flag()


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
