# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which hosts the rules of names are, and what they say of addresses and files."""

import ipaddress
from typing import Iterable, List, Sequence

from ...answer import if_known, known
from ...checking import Rules, Skip
from ...errors import Absent
from .facts import HOSTS, Facts
from .policy import NAME, Policy

GUIDE = "Oracle Grid Infrastructure Installation Guide, "


def _applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.wanted, Absent) and facts.wanted.key.startswith("file:"):
        raise Skip("Not a Linux host: it has no /proc/sys/kernel/hostname.")
    if not known(facts.wanted):
        raise Skip(
            "No Oracle software is on this host, and neither hostproof_profile nor names_scan nor "
            "names_cluster announces any."
        )


rules = Rules(NAME, applies=_applies)


def skip_unmanaged(name: str, policy: Policy) -> None:
    if name in policy.unmanaged:
        raise Skip(f"names_unmanaged names {name}.")


def strays(addresses: Iterable[str]) -> List[str]:
    """Those by which no other machine finds a host: of the loopback, of one link, or none."""
    parsed = [(one, ipaddress.ip_address(one)) for one in addresses]
    return [
        text
        for text, one in parsed
        if one.is_loopback or one.is_link_local or one.is_unspecified or one.is_multicast
    ]


def in_hosts(facts: Facts, names: Sequence[str]) -> str:
    """The lines of /etc/hosts that have one of the names."""
    lines = [
        f"{HOSTS}:{one.line}: {one.address} {' '.join(one.names[:4])}"
        for one in known(facts.hosts)
        if any(one.has(name) for name in names)
    ]
    return "; ".join(lines[:5]) or f"not in {HOSTS}"


def listed(words: Sequence[str], otherwise: str = "nothing") -> str:
    return ", ".join(words[:12]) or otherwise


def short(name: str) -> str:
    return name.partition(".")[0].lower()


def asks_dns(facts: Facts) -> bool:
    return any(one.name in ("dns", "resolve") for one in if_known(facts.order, []))
