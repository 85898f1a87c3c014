# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements of paths for their file systems."""

import re
from typing import FrozenSet, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import Unanswered
from ...parsers.oracle import pfile
from ...parsers.size import human
from ...probes.oracle.next_start import Database
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

#: The parameters that name a directory, by what is written there.
_DESTINATIONS = {
    "diagnostic_dest": "diagnostic destination",
    "audit_file_dest": "audit destination",
    "db_recovery_file_dest": "recovery area",
    "log_archive_dest": "archive destination",
    "log_archive_dest_n": "archive destination",
    "log_archive_duplex_dest": "archive destination",
}
_LOCATION = re.compile(r"(?i)location[ \t]*=[ \t]*[\"']?([^\s\"']*)")
_OF_RECOVERY_AREA = "USE_DB_RECOVERY_FILE_DEST"
_LONGEST = 1024


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


def destinations(database: Database) -> List[Demand]:
    """The directories in file systems that the parameters of the next start name; ASM has others.

    Raises what is unknown. Sources: Oracle Database Reference, DIAGNOSTIC_DEST, AUDIT_FILE_DEST,
    DB_RECOVERY_FILE_DEST, LOG_ARCHIVE_DEST_n and LOG_ARCHIVE_DEST_STATE_n."""
    entries = list(known(database.file).entries)
    found: List[Demand] = []
    for name in sorted({entry.name for entry in entries}):
        what = _DESTINATIONS.get(re.sub(r"_\d{1,2}\Z", "_n", name))
        entry = pfile.effective(entries, name, database.sid) if what is not None else None
        if entry is None or not _is_in_use(entries, name, database.sid):
            continue
        path = _directory(entry, database)
        below = "/diag" if name == "diagnostic_dest" else ""
        if path:
            found.append(Demand(path + below, f"{what} of {database.sid}", 0, _READ_ONLY))
    return list(dict.fromkeys(found))


def _directory(entry: pfile.Entry, database: Database) -> str:
    """The directory that a parameter names; "" for ASM, the recovery area and a service."""
    path = entry.value.strip(" \t\"'()")
    if entry.name.startswith("log_archive_dest_"):
        location = _LOCATION.match(path)
        path = location.group(1) if location else ""
    path = path.replace("?", known(database.home)).replace("@", database.sid).rstrip("/")
    if not path or path.startswith("+") or path.upper() == _OF_RECOVERY_AREA:
        return ""
    if not re.match(r"(?:/[^/\s]+)+\Z", path) or "/.." in path or len(path) > _LONGEST:
        key = "command:cat " + known(database.file).source
        raise Unanswered(key, f"{entry.name} of {database.sid} names no directory")
    return path


def _is_in_use(entries: List[pfile.Entry], name: str, sid: str) -> bool:
    state = name.replace("_dest_", "_dest_state_")
    entry = pfile.effective(entries, state, sid) if state != name else None
    return entry is None or entry.value.upper() in ("ENABLE", "ALTERNATE")


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
