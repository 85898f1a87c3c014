# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required rate limits of listeners: validated role variables."""

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

#: Place of the rate: RATE_LIMIT at each endpoint, or one CONNECTION_RATE_<listener> for all.
SCOPES = ("endpoint", "listener")

#: Protocols of endpoints that can be limited.
PROTOCOLS = ("tcp", "tcps", "sdp", "exadirect")
#: Protocols whose endpoints are TCP sockets.
OVER_TCP = PROTOCOLS[:2]

_TWICE = "lists {0[0]} twice: give each of them its home"


def _name(values: PolicyValues, name: str) -> str:
    text = str(values[name])
    if not re.match(r"^[A-Za-z][A-Za-z0-9_.$#-]*\Z", text):
        raise values.error(name, f"{text!r} is not the name of a listener")
    return text.upper()


def _home(values: PolicyValues, name: str) -> str:
    home = str(values[name])
    if not home.startswith("/"):
        raise values.error(name, f"must be absolute, not {values[name]!r}")
    return home.rstrip("/") or "/"


def _ports(values: PolicyValues, name: str) -> Tuple[int, ...]:
    value = values[name]
    if not isinstance(value, (list, tuple)) or not value:
        raise values.error(name, f"must be a list of ports, not {value!r}")
    for port in value:
        if not is_whole(port) or not 1 <= int(port) <= 65535:
            raise values.error(name, f"must be whole numbers from 1 to 65535, not {port!r}")
    return tuple(sorted({int(port) for port in value}))


class Pool(NamedTuple):
    """Clients that connect at the same time: their number, and their timeout for a connection."""

    name: str = checked_by(lambda values, name: str(values[name]), "str")
    connections: int = whole_number(1, 1000000)
    timeout_seconds: int = whole_number(1, 86400)


class WantedListener(NamedTuple):
    """Required settings of a listener.

    ``name`` is in upper case. ``home`` is required if listeners have the same name. ``rate`` is in
    connections per second, 0 for no limit, None if it is not managed. ``ports`` are the limited
    ports, None for all. ``queuesize`` is None if it is not managed.
    """

    name: str = checked_by(_name, "str")
    home: Optional[str] = checked_by(_home, "path").optional()
    rate: Optional[int] = whole_number(0, 100000).optional()
    scope: str = one_of(*SCOPES).optional(SCOPES[0])
    ports: Optional[Tuple[int, ...]] = checked_by(_ports, "list").optional()
    queuesize: Optional[int] = whole_number(1, 65535).optional()
    pools: Tuple[Pool, ...] = entries(Pool).optional(())


def _homes(values: PolicyValues, name: str) -> Tuple[str, ...]:
    return values.entries(name, lambda home: values.absolute(name, home).rstrip("/") or "/")


def _cheap(values: PolicyValues, name: str, size_of_tail: int) -> int:
    if size_of_tail > 8 << 20:
        raise values.error(name, "must be at most 8M: an audit must stay cheap")
    return size_of_tail


class Policy(NamedTuple):
    """The role's variables.

    ``listeners`` is None for "auto": running listeners are checked, and nothing is changed.
    """

    listeners: Optional[Tuple[WantedListener, ...]] = entries(
        WantedListener, key=lambda entry: (entry.name, entry.home), twice=_TWICE, empty=False
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
    """Additional Oracle homes, besides those in C(oratab) and the inventory. Definitions of
    listeners that are not running are searched there.

    Default: []
    """
    window_seconds: float = window()
    """Time to measure the kernel counters of dropped connections on a host where a listener
    runs. All controls share one sampling window of 1 to 600 seconds. C(0) disables it.

    Default: 10
    """
    log_tail: int = size().then(_cheap)
    """Size of the part at the end of each listener log that is searched for delayed connections, at
    most C(8M).

    Default: 1M
    """
    delayed_warn_percent: float = decimal(0, 100)
    """Tolerated share of delayed connections in the log, in percent; more is a warning.

    Default: 5
    """
    allow_reload: bool = flag()
    """Apply may reload a listener (C(lsnrctl reload)) if it may not restart it. Endpoints and rates
    still take effect only at the next start. Services with dynamic registration are unavailable
    until they register again, up to one minute.

    Default: false
    """
    allow_restart: bool = flag()
    """Apply may stop and start a listener. Sessions remain. New connections fail until the listener
    is up again, and for services with dynamic registration up to one minute longer. A listener
    that is a systemd unit is not restarted.

    Default: false
    """
    allow_drain_beyond_timeout: bool = flag()
    """Accept a rate at which clients of a pool time out before they are served. They connect again,
    and the queue never empties.

    Default: false
    """
    allow_leaking_version: bool = flag()
    """Accept a limit on a release whose listener leaks memory if the limit is reached (before
    11.2.0.4), or in a cluster of 11gR2.

    Default: false
    """


def _one_of_a_name(policy: Policy, values: PolicyValues) -> Policy:
    """Raise if names are ambiguous. An entry without a home matches all listeners of its name."""
    listeners = policy.listeners or ()
    of_all_homes = {entry.name for entry in listeners if entry.home is None}
    for name in sorted(
        {entry.name for entry in listeners if entry.home is not None} & of_all_homes
    ):
        items = values.places("listeners")
        places = [place for place, item in items if str(item["name"]).upper() == name]
        raise BadEntry(str(values.error("listeners", _TWICE.format([name]))), "listeners", places)
    return policy


policy_from = reader(NAME, Policy, _one_of_a_name)
