# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The process monitors of the Oracle instances that run on a host.

An instance is known by its process monitor (``ora_pmon_SID``, since 23ai ``db_pmon_SID``;
``asm_pmon_+ASM``, ``mdb_pmon_-MGMTDB``, ``apx_pmon_+APX``), which runs as long as the instance.
Any account can start a process with that name. It counts only if its program is the ``oracle``
of its account (Process.runs).
"""

from typing import List

from ...collect import identity
from ...collect.host import Host, Process

PMON = r"^(ora|db|asm|mdb|apx)_pmon_\S+$"

#: The evidence key of the search for them.
PMON_KEY = "processes:pmon"

PROGRAM = "oracle"


def monitors(host: Host) -> List[Process]:
    """The process monitors, without processes that only have the name of one."""
    processes = host.processes("pmon", PMON, identity.ORACLE)
    return [process for process in processes if process.runs(PROGRAM) is not False]
