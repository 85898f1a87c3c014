# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which hosts the rules of names are, and what they state of addresses and files."""

import ipaddress
from typing import Iterable, List, Sequence

from ...collect.answer import if_known, known
from ...errors import Absent
from ...evaluate.checking import Skip
from .facts import HOSTS, Facts
from .parsers.hosts_file import Entry
from .policy import Policy

GUIDE = "Oracle Grid Infrastructure Installation Guide, "


def applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.wanted, Absent) and facts.wanted.key.startswith("file:"):
        raise Skip("Not a Linux host: it has no /proc/sys/kernel/hostname.")
    if not known(facts.wanted):
        raise Skip(
            "No Oracle software was found on this host, and neither hostproof_profile nor "
            "name_resolution_scan_names nor name_resolution_cluster_names announces any."
        )


def skip_unmanaged(name: str, policy: Policy) -> None:
    if name in policy.skip_checks:
        raise Skip(f"name_resolution_skip_checks names {name}.")


def strays(addresses: Iterable[str]) -> List[str]:
    """Those by which no other machine finds a host: of the loopback, of one link, or none."""
    parsed = [(address, ipaddress.ip_address(address)) for address in addresses]
    return [
        text
        for text, address in parsed
        if address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or address.is_multicast
    ]


def in_hosts(facts: Facts, *names: str) -> List[Entry]:
    """The lines of /etc/hosts that have one of the names."""
    return [entry for entry in known(facts.hosts).entries if any(entry.has(name) for name in names)]


def persisted(entries: Sequence[Entry]) -> str:
    """Without what differs between nodes that are alike, for layers are compared: names, lines."""
    addresses = sorted({entry.address for entry in entries})
    return f"{HOSTS}: {listed(addresses)}" if addresses else f"not in {HOSTS}"


def places(entries: Sequence[Entry]) -> str:
    """ " (/etc/hosts:3)", or nothing."""
    return f" ({listed([f'{HOSTS}:{entry.line}' for entry in entries])})" if entries else ""


def listed(words: Sequence[str], otherwise: str = "nothing") -> str:
    return ", ".join(words[:12]) or otherwise


def short(name: str) -> str:
    return name.partition(".")[0].lower()


def asks_dns(facts: Facts) -> bool:
    sources = if_known(facts.order, [])
    return sources is None or any(source.name in ("dns", "resolve") for source in sources)
