# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""oradism, sockets of Oracle processes that have ended, and what starts Clusterware at boot."""

from typing import List

from ...collect.answer import Answer, if_known, known
from ...collect.host import Stat
from ...collect.shell import line
from ...errors import Absent
from ...evaluate.checking import (
    Judged,
    Rules,
    Skip,
    Subjects,
    Verdict,
    by_layers,
    verdict_or_error,
)
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import processes
from ...probes.oracle.oracle_homes import OracleHome
from .facts import BOOT_LINKS, INIT_SCRIPTS, SOCKETS, Existing, Facts
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

#: The permissions that are checked (setuid, group x, group w, others w), and those that are set.
_MODE, _AS_SHIPPED = 0o4032, 0o4010
_EXECUTABLE = 0o100
_OTHERS_WRITE = 0o022
_OWNER_WRITES, _GROUP_WRITES = 0o200, 0o020
_PUBLIC, _PUBLIC_WRITE = 0o007, 0o002

HOMES: Subjects[Facts, Policy, OracleHome] = Subjects(
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
        PASS if program.uid == 0 and program.mode & _MODE == _AS_SHIPPED else FAIL,
        f"bin/oradism has {state}.",
        fix="run root.sh of the home as root, or set owner root and mode 4750",
        desired="uid 0, mode 4750",
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


@rules.check(
    "space.grid_startup",
    "Startup files of Clusterware are intact",
    "Startup files of Clusterware are missing or changed",
    severity="high",
    takes_effect="reboot",
    why="After a reboot Clusterware and its databases do not start. A file that others can write "
    "runs their commands as root.",
    reference="Cluster Verification Utility, integrity of key GI startup files; PRVE-10373",
)
def grid_startup(facts: Facts, _policy: Policy) -> Verdict:
    startup = known(facts.startup)
    if startup is None:
        raise Skip("Clusterware is not configured here.")
    problems = []
    for path, answer in startup.scripts.items():
        absent = f"{path} does not exist"
        problems += [absent] if isinstance(answer, Absent) else _wrong(path, answer, _EXECUTABLE)
    if startup.links is not None:
        links = {p: link for p, link in startup.links.items() if not isinstance(link, Absent)}
        if not links:
            problems.append("no target of systemd starts oracle-ohasd.service")
        for path, answer in links.items():
            problems += _wrong(path, answer, 0)
    changed = if_known(startup.changed, [])
    problems += [f"{path} differs from the script in the Grid home" for path in changed]
    verdict = Verdict(
        FAIL if problems else PASS,
        f"{'; '.join(problems)}.",
        fix="as root run rootcrs.sh -updateosfiles of the Grid home (Restart: roothas.sh), and "
        "enable oracle-ohasd.service",
        desired="owner root, scripts executable and as in the Grid home, unit started at boot",
        persisted="; ".join(problems) or "intact",
        evidence=["stat:" + path for path in (*INIT_SCRIPTS, *BOOT_LINKS)],
    )
    return by_layers(verdict, [("the content of the scripts", startup.changed)])


def _wrong(path: str, answer: Answer[Stat], needed: int) -> List[str]:
    stat = known(answer)
    if stat.uid == 0 and stat.mode & needed == needed and not stat.mode & _OTHERS_WRITE:
        return []
    return [f"{path} has uid {stat.uid} and mode {stat.mode:04o}"]


@rules.check(
    "space.grid_files",
    "Files of Grid Infrastructure have a safe owner and mode",
    "Files of Grid Infrastructure have a wrong owner or mode",
    severity="high",
    takes_effect="now",
    why="A wallet that others can read gives them the keys of the cluster. Clusterware does not "
    "start if it cannot write to its diagnostic directories.",
    reference='Cluster Verification Utility, Path "<path>"',
)
def grid_files(facts: Facts, _policy: Policy) -> Verdict:
    grid = known(facts.grid)
    if grid is None:
        raise Skip("Clusterware is not configured here.")
    if not grid.files:
        raise Skip("The Grid home has neither wallets nor diagnostic directories yet.")
    wrong, readable = [], []
    for path, answer in grid.files.items():
        stat = if_known(answer, None)
        if stat is None:
            continue
        state = f"{path} has uid {stat.uid} and mode {stat.mode & 0o7777:04o}"
        if stat.uid not in (0, grid.uid) or stat.mode & _PUBLIC_WRITE:
            wrong.append(state)
        elif "/wallets/" in path and stat.mode & _PUBLIC:
            readable.append(state)
    problems = wrong + readable
    verdict = Verdict(
        FAIL if wrong else WARN if readable else PASS,
        f"{'; '.join(problems)}.",
        fix="set the owner of the Grid home or root, and remove the rights of others; as root "
        "rootcrs.sh -init of the Grid home (Restart: roothas.sh) sets what Oracle ships",
        desired=f"uid {grid.uid} or 0, not writable by others, wallets not readable by others",
        persisted="; ".join(problems) or f"{len(grid.files)} files and directories",
        evidence=["stat:" + path for path in grid.files],
    )
    return by_layers(verdict, list(grid.files.items()))


@rules.check(
    "space.planned",
    "Planned paths exist or can be created, and are writable",
    "Planned path cannot be created or written by its owner",
    severity="medium",
    takes_effect="now",
    why="The installer runs as the owner of the software, who cannot create a directory below one "
    "of root.",
    reference="Cluster Verification Utility, PRVG-1013, PRVG-00100, PRVG-00101",
)
def planned(facts: Facts, policy: Policy) -> Judged:
    if not policy.planned:
        raise Skip("space_planned lists no path.")
    return [
        verdict_or_error(
            _planned, entry.path or "/", facts.planned[entry.path], of=entry.path or "/"
        )
        for entry in policy.planned
    ]


def _planned(path: str, answer: Answer[Existing]) -> Verdict:
    existing = known(answer)
    stat, is_there = existing.stat, existing.path == path
    by_owner = stat.uid != 0 and stat.mode & _OWNER_WRITES
    # Such as root:oinstall with mode 0775.
    by_group = stat.gid != 0 and stat.mode & _GROUP_WRITES
    is_usable = bool(by_owner or by_group)
    state = f"{existing.path} has uid {stat.uid}, gid {stat.gid} and mode {stat.mode & 0o7777:04o}"
    return Verdict(
        PASS if is_usable else FAIL if is_there else WARN,
        f"{state}{'' if is_there else f', and {path} does not exist'}.",
        fix="create it as root, and make the owner of the software its owner",
        commands=[] if is_there else [line("mkdir", "-p", path)],
        desired="an owner or a group other than root can write",
        persisted=state,
        evidence=["stat:" + existing.path],
    )
