# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Splits hosts into slices: the same way in every run, with the hosts of a cluster in one slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..report.store import natural


def split(hosts: Sequence[str], groups: Mapping[str, Iterable[str]], count: int) -> list[list[str]]:
    """At most ``count`` slices of about the same size; none is empty.

    Hosts stay together with their smallest inventory group of two or more hosts, if it fits into a
    slice. The group of a cluster fits, a group of all databases does not.
    """
    fitting = -(-len(hosts) // count)
    units: dict[tuple[str, str], list[str]] = {}
    together = _smallest_groups(set(hosts), groups, fitting)
    for host in sorted(hosts, key=natural):
        unit = ("group", together[host]) if host in together else ("host", host)
        units.setdefault(unit, []).append(host)
    slices: list[list[str]] = [[] for _ in range(min(count, len(hosts)))]
    # The largest unit first, each into the smallest slice: all slices get about the same size.
    for unit_hosts in sorted(units.values(), key=lambda group: (-len(group), natural(group[0]))):
        min(slices, key=len).extend(unit_hosts)
    return [sorted(group, key=natural) for group in slices if group]


def _smallest_groups(
    hosts: set[str], groups: Mapping[str, Iterable[str]], most: int
) -> dict[str, str]:
    """Host to group, for groups of two to ``most`` of these hosts."""
    members = {name: hosts.intersection(group) for name, group in groups.items()}
    by_host: dict[str, str] = {}
    for name in sorted(members, key=lambda name: (len(members[name]), name)):
        if 2 <= len(members[name]) <= most:
            for host in members[name]:
                by_host.setdefault(host, name)
    return by_host
