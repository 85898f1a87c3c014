# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle software of a host, the release of each home as its own sqlplus tells it, and the
releases that a host is checked for."""

from typing import Dict, List, NamedTuple, Optional

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import Host, Process
from ...errors import Absent, HostproofError
from . import oracle_homes, oracle_parameters
from .monitors import monitors
from .oracle_parameters import Version
from .sqlplus import Target

#: The release for a host without software or an announced release: the one with long-term support.
LONG_TERM: Version = (19,)


class Release(NamedTuple):
    """An Oracle release by the name of the books, and the installed version where a home has it."""

    name: str
    installed: Optional[Version]

    @property
    def label(self) -> str:
        return self.name if self.installed is None else f"{self.name} ({dotted(self.installed)})"


class Software(NamedTuple):
    """``homes`` maps each home that has a sqlplus to its release: agents and the like have none.

    ``monitors`` are the process monitors of the instances that run.
    """

    homes: Answer[Dict[str, Answer[Version]]]
    monitors: Answer[List[Process]]

    def is_there(self) -> bool:
        """Whether the host has software of a database; raises where that is not known."""
        return bool(known(self.monitors)) or bool(known(self.homes))


def read_software(host: Host) -> Software:
    return Software(homes=attempt(_read_homes, host), monitors=attempt(monitors, host))


def _read_homes(host: Host) -> Dict[str, Answer[Version]]:
    versions = {
        home.path: attempt(_release_of, host, home.path)
        for home in oracle_homes.read_homes(host, ())
    }
    return {path: version for path, version in versions.items() if not isinstance(version, Absent)}


def _release_of(host: Host, home: str) -> Version:
    target = Target("", home, oracle_parameters.owner_of(host, home))
    return oracle_parameters.release_of_home(host, target)


def has_home(software: Software) -> bool:
    """Whether a host without an announced release has a home; raises where that is not known."""
    return not isinstance(software.homes, Absent) and bool(known(software.homes))


def dotted(version: Version) -> str:
    return ".".join(str(number) for number in version)


def name_of(version: Version) -> str:
    """The name that the books give a version; its number where they have no name for it."""
    if version[0] == 23:
        return "26ai" if len(version) > 1 and version[1] >= 26 else "23ai"
    return {19: "19c", 21: "21c"}.get(version[0], dotted(version))


def _announced(name: str, software: Software) -> List[Answer[Release]]:
    homes = if_known(software.homes, {}).values()
    versions = sorted({home for home in homes if isinstance(home, tuple) and name_of(home) == name})
    return [Release(name, version) for version in versions] or [Release(name, None)]


def wanted(
    announced: Optional[str], profile: Optional[Version], software: Software
) -> List[Answer[Release]]:
    """The release that is announced, else those of the homes, else the one of LONG_TERM.

    ``profile`` is the release of the profile: () where it names none, None without a profile."""
    if announced is None and profile:
        announced = name_of(profile)
    if announced is not None:
        return _announced(announced, software)
    releases: List[Answer[Release]] = []
    installed = software.homes
    if isinstance(installed, HostproofError) and profile is not None:
        # The profile announces a database, so the host is checked. The unknown homes are an error.
        return [Release(name_of(LONG_TERM), None), installed]
    for home in known(installed).values():
        release = Release(name_of(home), home) if isinstance(home, tuple) else home
        if release not in releases:
            releases.append(release)
    return releases or [Release(name_of(LONG_TERM), None)]
