# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes of Oracle that tell how all of a host were started: those that others come from.

Of an instance pmon and lgwr, listeners, and the daemons of Clusterware. What only has the name of
one does not count (Process.runs).
"""

from typing import List, NamedTuple

from ...collect import identity
from ...collect.answer import attempt, unless_absent
from ...collect.host import Host, Process

KEY = "processes:oracle"
_PATTERN = (
    r"^((ora|db|asm|mdb|apx)_(pmon|lgwr)_\S+"
    r"|(\S*/)?tnslsnr|/\S+/bin/(ohasd|crsd|ocssd)\.bin)$"
)


class Named(NamedTuple):
    """A process, as people call it: "ora_pmon_ORCL", "tnslsnr LISTENER", "crsd.bin"."""

    name: str
    process: Process


def read(host: Host) -> List[Named]:
    """By their names."""
    found = []
    for process in host.processes("oracle", _PATTERN, identity.ORACLE):
        program = process.argv0.rpartition("/")[2]
        if process.runs("oracle" if "_" in program else program) is False:
            continue
        name = program
        if program == "tnslsnr":
            name += f" {unless_absent(attempt(host.argument, process.pid, 1), 'LISTENER')}"
        found.append(Named(name, process))
    return sorted(found, key=lambda one: (one.name, one.process.pid))
