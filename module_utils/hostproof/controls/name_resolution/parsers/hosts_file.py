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
        return name.lower() in (one.lower() for one in self.names)


def parse(text: str) -> List[Entry]:
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if len(words) > 1:
            try:
                address = str(ipaddress.ip_address(words[0].partition("%")[0]))
            except ValueError:
                continue
            found.append(Entry(address, tuple(words[1:]), number))
    return found
