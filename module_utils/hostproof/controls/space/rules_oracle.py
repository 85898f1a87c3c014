# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owner and mode of oradism, and the sockets of Oracle processes that have ended."""

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Rules, Skip, Subjects, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import processes
from ...probes.oracle.oracle_homes import OracleHome
from .facts import SOCKETS, Facts
from .policy import NAME, Policy

rules = Rules(NAME)

_SETUID = 0o4000

HOMES = Subjects(
    lambda facts, _policy: known(facts.homes),
    name=lambda home: home.path,
    none="No Oracle home is here.",
)


@rules.check(
    "space.oradism",
    "oradism belongs to root and is setuid",
    "oradism does not belong to root or is not setuid",
    severity="high",
    takes_effect="instance_restart",
    why="An instance gives LMS and VKTM real-time priority through oradism, which needs the rights "
    "of root.",
    reference="ORAchk, oradism executable ownership and permission; Database Installation Guide "
    "for Linux, root.sh",
    each=HOMES,
)
def oradism(home: OracleHome, facts: Facts, _policy: Policy) -> Verdict:
    answer = facts.oradism[home.path]
    if isinstance(answer, Absent):
        raise Skip("The home has no oradism.", [answer.key])
    program = known(answer)
    state = f"uid {program.uid}, mode {program.mode:04o}"
    return Verdict(
        PASS if program.uid == 0 and program.mode & _SETUID else FAIL,
        f"bin/oradism has {state}.",
        fix="run root.sh of the home as root, or set owner root and mode 4750",
        desired="uid 0, setuid",
        persisted=state,
        evidence=[program.key],
    )


@rules.check(
    "space.sockets",
    "No sockets of ended Oracle processes are left",
    "Sockets of ended Oracle processes are left",
    severity="medium",
    takes_effect="now",
    why="Clusterware and listeners do not start if a socket of the same name belongs to another "
    "account.",
    reference="Cluster Verification Utility, Domain Sockets",
)
def sockets(facts: Facts, _policy: Policy) -> Verdict:
    left = known(facts.sockets)
    if left is None:
        raise Skip("Oracle processes run and use their sockets.", [processes.KEY])
    return Verdict(
        WARN if left else PASS,
        f"{left} entries are in {' and '.join(SOCKETS)}, and no Oracle process runs.",
        fix="remove them as root while no Oracle process runs",
        desired="none",
        running=f"{left} entries",
        evidence=["dir:" + path for path in SOCKETS] + [processes.KEY],
    )
