# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements of paths for their file systems."""

from typing import FrozenSet, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, if_known
from ...parsers.size import human
from ...probes.oracle.oracle_homes import OracleHome
from .policy import Policy

_MIB = 1 << 20
#: Requirements of CVU 19 to 26ai, from its output of releases 19.23, 19.27 and 23.26.1.
INSTALLER: Tuple[Tuple[str, int], ...] = (
    ("/usr", 25 * _MIB),
    ("/var", 5 * _MIB),
    ("/etc", 25 * _MIB),
    ("/sbin", 10 * _MIB),
    ("/tmp", 1024 * _MIB),
)
#: Mount options that keep the purpose of a path from working.
_READ_ONLY = frozenset({"ro"})
_NO_PROGRAMS = frozenset({"ro", "noexec"})
#: oracle, oradism and extjob are setuid.
_NO_HOME = frozenset({"ro", "noexec", "nosuid"})
_BLOCKING = {
    "/usr": frozenset({"noexec"}),
    "/var": _READ_ONLY,
    "/etc": _READ_ONLY,
    "/sbin": frozenset({"noexec"}),
    "/tmp": _NO_PROGRAMS,
}


class Demand(NamedTuple):
    """``free`` is in bytes; 0 where only ``space_oracle_free`` counts.

    ``what`` is the purpose of the path. ``blocking`` are mount options.
    """

    path: str
    what: str
    free: int
    blocking: FrozenSet[str]

    @property
    def text(self) -> str:
        return f"{self.path} ({self.what}{', ' + human(self.free) if self.free else ''})"

    @property
    def is_of_oracle(self) -> bool:
        return not self.free


def of_installer(policy: Policy) -> List[Demand]:
    if policy.profile is None:
        return []
    return [Demand(path, "installer", free, _BLOCKING[path]) for path, free in INSTALLER]


def planned(policy: Policy) -> List[Demand]:
    return [Demand(entry.path or "/", "planned", entry.free, _NO_HOME) for entry in policy.planned]


def installed(homes: Answer[List[OracleHome]], inventory: Answer[Optional[str]]) -> List[Demand]:
    """Requirements that are known. subjects.py reports unknown ones as errors."""
    demands: List[Demand] = []
    for home in if_known(homes, []):
        demands.append(Demand(home.path, "Oracle home", 0, _NO_HOME))
        base, has_base, _rest = home.path.partition("/product/")
        if has_base and base:
            demands.append(Demand(base + "/diag", "diagnostic destination", 0, _READ_ONLY))
    path = if_known(inventory, None)
    if path is not None:
        demands.append(Demand(path, "inventory", 0, _READ_ONLY))
    return list(dict.fromkeys(demands))
