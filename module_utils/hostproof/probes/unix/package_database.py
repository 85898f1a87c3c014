# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed packages of a host, by rpm or dpkg."""

from typing import List, NamedTuple, Tuple

from ...collect.answer import attempt, known
from ...collect.command import PATH
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.unix import package_list
from ...parsers.unix.package_list import Package

RPM = ["rpm", "-qa", "--queryformat", package_list.RPM]
DPKG = ["dpkg-query", "-W", "-f", package_list.DPKG]
PROGRAMS = (RPM, DPKG)
_SECONDS = 60.0
#: What rpm prints before a problem of its database; everything else on stderr is a remark.
_COMPLAINT = "error: "


class Database(NamedTuple):
    """``command`` is its evidence key, ``complaints`` are the damage that its program reports."""

    command: str
    packages: Tuple[Package, ...]
    complaints: Tuple[str, ...]

    @property
    def is_dpkg(self) -> bool:
        return self.command.startswith("command:" + DPKG[0])

    def intact(self) -> "Database":
        """Itself; Unanswered if it is damaged, since its list may then lack packages."""
        if self.complaints:
            raise Unanswered(self.command, "the package database is damaged")
        return self


def read(host: Host) -> Database:
    """That of rpm, else that of dpkg: the program of the other one can be installed too."""
    answers = [attempt(_read, host, argv) for argv in PROGRAMS]
    there = [answer for answer in answers if not isinstance(answer, Absent)]
    if not there:
        raise Unanswered(
            "command:" + " ".join(RPM), f"neither rpm nor dpkg-query was found in {PATH}"
        )
    full = [answer for answer in there if isinstance(answer, HostproofError) or answer.packages]
    return known((full or there)[0])


def _read(host: Host, argv: List[str]) -> Database:
    command = "command:" + " ".join(argv)
    output = host.run(argv, timeout=_SECONDS)
    complaints = [line for line in output.stderr.splitlines() if line.startswith(_COMPLAINT)]
    if output.rc != 0 and not complaints:
        raise Unanswered(command, f"{argv[0]} ended with {output.rc}")
    packages = package_list.parse(output.stdout)
    if argv is DPKG:
        # dpkg shows every epoch.
        packages = [
            package if ":" in package.version else package._replace(version="0:" + package.version)
            for package in packages
        ]
    return Database(command, tuple(packages), tuple(complaints))
