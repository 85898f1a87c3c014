# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of a host: lines with name, version, architecture and state, separated by tabs.

Sources: rpm(8) with --queryformat, dpkg-query(1) with --showformat.
"""

from typing import List, NamedTuple

from ...errors import ParseError, kind_of

#: Output formats of rpm and dpkg-query. rpm has no state: it lists installed packages. It prints
#: "(none)" for a package without an epoch.
RPM = "%{NAME}\\t%{EPOCH}:%{VERSION}-%{RELEASE}\\t%{ARCH}\\tinstalled\\n"
DPKG = "${Package}\\t${Version}\\t${Architecture}\\t${db:Status-Status}\\n"

_NO_EPOCH = "(none):"


class Package(NamedTuple):
    """``version`` has the epoch ("0:" for none) unless a recording does not have it. ``text`` is
    how programs show it. ``state`` is as dpkg names it."""

    name: str
    version: str
    architecture: str
    state: str

    @property
    def text(self) -> str:
        return self.version[2:] if self.version.startswith("0:") else self.version

    @property
    def is_installed(self) -> bool:
        """Also if only triggers have still to run (dpkg(1), PACKAGE STATES)."""
        return self.state in ("installed", "triggers-pending", "triggers-awaited")


def parse(text: str) -> List[Package]:
    """Every package, in the order of the list."""
    packages = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split("\t")
        if len(fields) != 4:
            raise ParseError("package list", f"{kind_of(line)} does not name a package", number)
        name, version, architecture, state = fields
        if version.startswith(_NO_EPOCH):
            version = "0:" + version[len(_NO_EPOCH) :]
        packages.append(Package(name, version, architecture, state))
    return packages
