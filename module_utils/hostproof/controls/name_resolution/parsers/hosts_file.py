# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/hosts: addresses and their names.

Source: hosts(5); glibc, nss/nss_files/files-hosts.c: a line whose first word is not an address is
passed over, and a "#" ends a line wherever it stands.
"""

import ipaddress
from typing import List, NamedTuple, Tuple


class Entry(NamedTuple):
    """The names of an address, the canonical one first."""

    address: str
    names: Tuple[str, ...]
    line: int

    def has(self, name: str) -> bool:
        return name.lower() in (alias.lower() for alias in self.names)


class Hosts(NamedTuple):
    """``passed_over`` are the numbers of lines that count for nothing."""

    entries: List[Entry]
    passed_over: List[int]


def parse(text: str) -> Hosts:
    entries, passed_over = [], []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            address = str(ipaddress.ip_address(words[0].partition("%")[0]))
        except ValueError:
            address = ""
        if address and len(words) > 1:
            entries.append(Entry(address, tuple(words[1:]), number))
        else:
            passed_over.append(number)
    return Hosts(entries, passed_over)
