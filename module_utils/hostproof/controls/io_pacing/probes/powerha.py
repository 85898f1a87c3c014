# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which PowerHA (HACMP before 6.1) a host has, and whether its cluster manager runs.

Sources: AIX Commands Reference, lslpp and lssrc; the script halevel of PowerHA.
"""

from typing import NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ..parsers import halevel, lslpp, lssrc

FILESET = "cluster.es.server.rte"
LSLPP = ["lslpp", "-Lqc", FILESET]
HALEVEL = ["/usr/es/sbin/cluster/utilities/halevel", "-s"]
MANAGER = "clstrmgrES"
LSSRC = ["lssrc", "-s", MANAGER]

#: Since then the heartbeat is the kernel's (Cluster Aware AIX).
KERNEL_HEARTBEAT = (7, 1)


class PowerHa(NamedTuple):
    """``version`` is () where none is installed. ``level`` is for people: "7.2.3 SP1".

    ``active`` is None where it is not known whether the cluster manager runs.
    """

    version: Tuple[int, ...]
    level: str
    active: Optional[bool]
    evidence: Tuple[str, ...]


def read(host: Host) -> PowerHa:
    """The installed PowerHA according to lslpp; Unanswered if halevel contradicts it."""
    key = "command:" + " ".join(LSLPP)
    output = host.run(LSLPP)
    if output.rc != 0:
        if FILESET in output.stderr and "not installed" in output.stderr:
            return PowerHa((), "", None, (key,))
        raise Unanswered(
            key, "lslpp ended with {0}: {1}".format(output.rc, " ".join(output.stderr.split()))
        )
    levels = lslpp.parse(output.stdout)
    if FILESET not in levels:
        raise Unanswered(key, f"lslpp told nothing of {FILESET}")
    version = levels[FILESET]
    evidence = [key]
    level: Answer[halevel.Level] = attempt(_halevel, host)
    shown = ".".join(str(number) for number in version)
    if not isinstance(level, Absent):
        # Releases before 7 do not have it; where it is, it must say what lslpp says.
        installed: halevel.Level = known(level)
        other = installed.version
        evidence.append("command:" + " ".join(HALEVEL))
        if other[:2] != version[:2]:
            raise Unanswered(
                evidence[-1],
                "lslpp says PowerHA {0}, halevel says {1}".format(
                    shown, ".".join(str(number) for number in other)
                ),
            )
        shown = "{0} {1}".format(".".join(str(number) for number in other), installed.service_pack)
    active = attempt(_is_active, host)
    evidence.append("command:" + " ".join(LSSRC))
    return PowerHa(version, shown, active if isinstance(active, bool) else None, tuple(evidence))


def _halevel(host: Host) -> halevel.Level:
    return halevel.parse(host.read_output(HALEVEL))


def _is_active(host: Host) -> bool:
    output = host.run(LSSRC)
    states = lssrc.parse(output.stdout)
    if output.rc != 0 or MANAGER not in states:
        raise Unanswered("command:" + " ".join(LSSRC), "lssrc tells nothing of " + MANAGER)
    return states[MANAGER] == "active"
