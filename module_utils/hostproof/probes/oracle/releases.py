# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle software of a host, and the release of each home as its own sqlplus tells it."""

from typing import Dict, List, NamedTuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host, Process
from ...errors import Absent
from . import oracle_homes, oracle_parameters
from .monitors import monitors
from .oracle_parameters import Version
from .sqlplus import Target

#: The release for a host without software or an announced release: the one with long-term support.
LONG_TERM: Version = (19,)


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
    found = {
        home.path: attempt(_release_of, host, home.path)
        for home in oracle_homes.read_homes(host, ())
    }
    return {path: one for path, one in found.items() if not isinstance(one, Absent)}


def _release_of(host: Host, home: str) -> Version:
    target = Target("", home, oracle_parameters.owner_of(host, home))
    return oracle_parameters.release_of_home(host, target)
