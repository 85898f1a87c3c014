# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of a host, one a line with tabs between name, version, architecture and state.

Sources: rpm(8) with --queryformat, dpkg-query(1) with --showformat.
"""

from typing import List, NamedTuple

from ....errors import ParseError, kind_of

#: What rpm and dpkg-query are asked to print. rpm has no state: what it lists is installed.
RPM = "%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\tinstalled\\n"
DPKG = "${Package}\\t${Version}\\t${Architecture}\\t${db:Status-Status}\\n"


class Package(NamedTuple):
    """``version`` is without the epoch. ``state`` is as dpkg names it."""

    name: str
    version: str
    architecture: str
    state: str


def parse(text: str) -> List[Package]:
    """Every package, in the order of the list."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("\t")
        if len(fields) != 4:
            raise ParseError("package list", f"{kind_of(line)} is no package", number)
        name, version, architecture, state = fields
        found.append(Package(name, version.rpartition(":")[2], architecture, state))
    return found
