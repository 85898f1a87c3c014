# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle processes that other processes inherit their limits from.

For an instance pmon and lgwr; also listeners and the Clusterware daemons. A process that only has
the name of one does not count (Process.runs).
"""

from typing import List, NamedTuple

from ...collect import identity
from ...collect.answer import attempt, unless_absent
from ...collect.host import Host, Process

KEY = "processes:oracle"
_PATTERN = (
    r"^((ora|db|asm|mdb|apx)_(pmon|lgwr{more})_\S+"
    r"|(\S*/)?tnslsnr|/\S+/bin/(ohasd|crsd|ocssd)\.bin)$"
)


class Named(NamedTuple):
    """A process, as people call it: "ora_pmon_ORCL", "tnslsnr LISTENER", "crsd.bin"."""

    name: str
    process: Process


#: All that a commit or a checkpoint waits for: log and database writers, their slaves, CKPT, LMS.
_WRITERS = r"|lg\d\d|dbw[0-9a-z]|bw\d\d|ckpt|lms[0-9a-z]"


def read(host: Host) -> List[Named]:
    """One or two processes of each instance, listeners and Clusterware, by their names."""
    return _read(host, "oracle", _PATTERN.format(more=""))


def read_with_writers(host: Host) -> List[Named]:
    """As ``read``, with every process of an instance that others wait for."""
    return _read(host, "oracle_writers", _PATTERN.format(more=_WRITERS))


def _read(host: Host, name: str, pattern: str) -> List[Named]:
    processes = []
    for process in host.processes(name, pattern, identity.ORACLE):
        program = process.argv0.rpartition("/")[2]
        if process.runs("oracle" if "_" in program else program) is False:
            continue
        name = program
        if program == "tnslsnr":
            name += f" {unless_absent(attempt(host.argument, process.pid, 1), 'LISTENER')}"
        processes.append(Named(name, process))
    return sorted(processes, key=lambda entry: (entry.name, entry.process.pid))
