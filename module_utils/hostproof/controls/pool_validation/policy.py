# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which application servers to look at, and what is slow: the role's variables and their checks."""

import re
from typing import NamedTuple, Optional, Tuple

from ...fields import checked_by, decimal, entries, one_of, reader, whole_number
from ...policy import PolicyValues

NAME = "pool_validation"

STANDALONE, DOMAIN = "standalone", "domain"


def _name(given: PolicyValues, name: str) -> str:
    text = str(given[name])
    if not re.match(r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$", text):
        raise given.error(name, f"must be a name of letters, digits, - _ and ., not {text[:80]!r}")
    return text


def _folder(given: PolicyValues, name: str) -> str:
    return given.absolute(name, given[name]).rstrip("/") or "/"


def _controller(given: PolicyValues, name: str) -> str:
    text = str(given[name])
    if not re.match(r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$", text):
        raise given.error(name, f"must be an address and a port, such as 127.0.0.1:9990: {text!r}")
    return text


class Server(NamedTuple):
    """An application server, or a domain's controller.

    ``base`` is jboss.server.base.dir or jboss.domain.base.dir; None for that below ``home``.
    ``user`` runs it, and is who may ask it.
    """

    name: str = checked_by(_name, "str")
    home: str = checked_by(_folder, "path")
    user: str = checked_by(_name, "str")
    mode: str = one_of(STANDALONE, DOMAIN).optional(STANDALONE)
    base: Optional[str] = checked_by(_folder, "path").optional()
    java: str = checked_by(_folder, "path").optional("/usr/bin/java")
    controller: str = checked_by(_controller, "str").optional("127.0.0.1:9990")

    @property
    def folder(self) -> str:
        return self.base or f"{self.home}/{self.mode}"


class Policy(NamedTuple):
    """The role's variables (roles/pool_validation/meta/argument_specs.yml).

    ``round_trip_ms`` and ``firewall_idle_minutes`` are None where they are not known.
    """

    servers: Tuple[Server, ...] = entries(Server)
    round_trip_ms: Optional[float] = decimal(0.001, 60000).none_for("unknown")
    round_trip_warn_ms: float = decimal(0, 60000)
    firewall_idle_minutes: Optional[int] = whole_number(1, 100000).none_for("unknown")
    answer_seconds: float = decimal(1, 600)


policy_from = reader(NAME, Policy)
