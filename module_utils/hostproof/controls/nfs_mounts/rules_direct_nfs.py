# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Direct NFS: is its library linked in, and is it used."""

from typing import Dict, List, Optional, Set

from ...collect.answer import attempt, if_known, known
from ...collect.shell import line
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Wait
from ...evaluate.checking import Judged, Layer, Rules, Skip, Verdict, layered, verdict_or_error
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, WARN
from ...probes.nfs import direct_nfs_processes
from .facts import Facts, is_beneath
from .homes import (
    DESIRED,
    FORBIDDEN,
    REQUIRED,
    channels,
    copies_of_library,
    database_homes,
    first_file,
    no_home,
    skip_unless_judged,
)
from .policy import NAME, Policy
from .probes.direct_nfs import HomeDirectNfs, Library
from .subjects import INSTALLATION

rules: Rules[Facts, Policy] = Rules(NAME)

ASK_THE_DATABASE = "select * from v$dnfs_servers; select * from v$dnfs_channels;"


@rules.check(
    "nfs_mounts.direct_nfs_library",
    "Direct NFS library matches the policy",
    "Direct NFS library differs from the policy",
    severity="medium",
    takes_effect="instance_restart",
    why="Direct NFS is off if its ODM library is not linked in, whatever oranfstab contains.",
    reference=INSTALLATION + ", Enabling Direct NFS Client",
)
def direct_nfs_library(facts: Facts, policy: Policy) -> Judged:
    """A verdict for each Oracle home with a database."""
    skip_unless_judged(facts, policy)
    homes = database_homes(facts)
    if not homes:
        return no_home(policy)
    return [
        verdict_or_error(_judge_library, home, facts, policy, of=home.home.path) for home in homes
    ]


def _judge_library(home: HomeDirectNfs, facts: Facts, policy: Policy) -> Verdict:
    library = known(home.library)
    running = attempt(_instances_of, home, facts)
    states = if_known(running, {})
    required = _REQUIRED.get(policy.direct_nfs)
    goal = library.linked if required is None else required
    unread_tab = first_file(home, facts) if required is None and not goal else None
    older, replaced = _names(states, not goal), _names(states, None)
    why = _why_of_library(library, goal, older, replaced, unread_tab)
    if why is None and required is None and not library.linked:
        known(running)
        raise Skip("Direct NFS is not linked in, and no oranfstab requires it.")
    bad = FAIL if required is not None else WARN
    relink = relinked(home.home.path, goal or unread_tab is not None)
    other = f", or remove {unread_tab}" if unread_tab else ""
    now = bad if older else WARN if replaced else PASS
    shown = running if isinstance(running, HostproofError) else _show_states(states)
    return layered(
        persisted=_layer_at_start(library, goal, unread_tab),
        running=Layer(shown, now, "running instances"),
        advice=Advice(
            both=[Ask(relink.text + other)],
            running=[Wait("instance_restart", older or replaced)],
        ),
        why=why,
        desired=DESIRED.get(policy.direct_nfs),
        evidence=home.evidence() + (direct_nfs_processes.PROCESSES_KEY,),
    )


def _layer_at_start(library: Library, goal: bool, unread_tab: Optional[str]) -> Layer:
    """The library that the next start of an instance loads."""
    linked = "linked in" if library.linked else "off"
    status = FAIL if library.linked != goal else WARN if unread_tab else PASS
    return Layer(f"{linked} ({library.proof})", status)


def _why_of_library(
    library: Library, goal: bool, older: str, replaced: str, unread_tab: Optional[str]
) -> Optional[str]:
    if library.linked != goal:
        return "The policy requires it {0}: {1}.".format("on" if goal else "off", library.proof)
    if older:
        how = "without" if goal else "with"
        return f"{older} started before the library was changed and runs {how} Direct NFS."
    if replaced:
        return f"The ODM library that {replaced} has mapped was replaced since it started."
    if unread_tab:
        return f"{unread_tab} is there, but without its library Direct NFS reads no oranfstab."
    return None


#: Instances of a home, and whether each has Direct NFS loaded: None if its library was removed.
_States = Dict[str, Optional[bool]]
_REQUIRED = {REQUIRED: True, FORBIDDEN: False}
#: The target of ins_rdbms.mk that links the library, and the one that takes it out.
_TARGETS = {True: "dnfs_on", False: "dnfs_off"}


def relinked(home: str, on: bool) -> Ask:
    """There is no command: the owner of a home can change its makefile, so root must not run it."""
    return Ask(
        "stop every instance of the home, then link its ODM library {0} as its owner, with this "
        "ORACLE_HOME: {1}, then start the instances".format(
            "again" if on else "without Direct NFS",
            line("make", "-C", home + "/rdbms/lib", "-f", "ins_rdbms.mk", _TARGETS[on]),
        )
    )


def _switched(sid: str, facts: Facts, on: bool) -> Advice:
    """The steps after which an instance runs with Direct NFS, or without it."""
    homes = _homes_of(sid, facts)
    libraries = [if_known(home.library, None) for home in homes]
    if homes and all(library is not None and library.linked == on for library in libraries):
        # The library was changed after the instance started.
        return Advice([Wait("instance_restart", sid)])
    return Advice([relinked(home.home.path, on) for home in homes] or [relinked("ORACLE_HOME", on)])


def _instances_of(home: HomeDirectNfs, facts: Facts) -> _States:
    """The running instances of a home, and whether each has Direct NFS loaded."""
    states: _States = {}
    for process in known(facts.direct_nfs.processes):
        if process.home == home.path or (process.libraries and process.sid in home.home.sids):
            state = process.has_direct_nfs(copies_of_library(facts))
            if process.sid not in states or state:
                states[process.sid] = state
            elif state is None and not states[process.sid]:
                states[process.sid] = None
    return states


def _names(states: _States, state: Optional[bool]) -> str:
    return ", ".join(sorted(sid for sid in states if states[sid] is state))


def _show_states(states: _States) -> Optional[str]:
    words = {True: "with Direct NFS", False: "without Direct NFS", None: "library replaced"}
    shown = [f"{sid} {words[states[sid]]}" for sid in sorted(states)]
    return ", ".join(shown) or None


# -- in use ---------------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.direct_nfs_in_use",
    "Instance uses Direct NFS as the policy requires",
    "Instance does not use Direct NFS as the policy requires",
    severity="medium",
    takes_effect="instance_restart",
    why="Direct NFS falls back to kernel NFS silently.",
    reference="Oracle Database Reference, V$DNFS_SERVERS and V$DNFS_CHANNELS",
    because_of=(
        "nfs_mounts.direct_nfs_library",
        "nfs_mounts.oranfstab",
        "nfs_mounts.oranfstab_order",
    ),
)
def direct_nfs_in_use(facts: Facts, policy: Policy) -> Judged:
    """A verdict for each running instance: only its connections prove Direct NFS."""
    skip_unless_judged(facts, policy)
    connected = channels(facts)
    on_nfs = _instances_on_nfs(facts)
    sids = sorted({process.sid for process in known(facts.direct_nfs.processes)} | set(on_nfs))
    if not sids:
        # A process of an unknown home may still run.
        raise Skip("No database process has a known home, a connection or a file on NFS open.")
    return [
        _judge_instance(sid, connected.get(sid, []), on_nfs.get(sid, []), facts, policy)
        for sid in sids
    ]


def _instances_on_nfs(facts: Facts) -> Dict[str, List[str]]:
    """The NFS mounts on which each database has files open through the kernel, homes aside."""
    mounts = [mount.path for mount in known(facts.mounted)]
    homes = [if_known(home.path, home.home.path) for home in facts.direct_nfs.homes]
    used: Dict[str, Set[str]] = {}
    for process in known(facts.database_files):
        kind, _, rest = process.argv0.partition("_")
        if kind not in ("ora", "db"):
            continue
        sid = rest.partition("_")[2]
        for path in process.paths:
            if any(is_beneath(path, home) for home in homes):
                continue
            above = [mount for mount in mounts if is_beneath(path, mount)]
            if above:
                used.setdefault(sid, set()).add(max(above, key=len))
    return {sid: sorted(paths) for sid, paths in used.items()}


def _judge_instance(
    sid: str, connected: List[str], on_nfs: List[str], facts: Facts, policy: Policy
) -> Verdict:
    state = _runs_with_direct_nfs(sid, facts)
    status, why = PASS, ""
    advice: Optional[Advice] = None
    in_use: Optional[str] = None
    if connected:
        in_use = "{0} connections to {1}".format(len(connected), ", ".join(sorted(set(connected))))
        if policy.direct_nfs == FORBIDDEN:
            status = FAIL
            why = f"{sid} has {in_use}: it uses Direct NFS."
            advice = _switched(sid, facts, False)
    elif not on_nfs:
        status = SKIP
        why = f"{sid} has no file open on NFS and no connection to a server of NFS."
    elif state is False:
        in_use = "the kernel's NFS for " + ", ".join(on_nfs)
        if policy.direct_nfs == REQUIRED:
            status = FAIL
            why = f"{sid} runs without the library of Direct NFS."
            advice = _switched(sid, facts, True)
        elif policy.direct_nfs != FORBIDDEN:
            status = SKIP
            why = "Direct NFS is not linked in, and the policy does not require it."
    elif state is None and policy.direct_nfs == "auto" and not _homes_of(sid, facts):
        status = SKIP
        in_use = "files open on {0}".format(", ".join(on_nfs))
        why = f"{sid} runs from no known Oracle home, and the policy requires nothing."
    else:
        status = ERROR
        in_use = "files open on {0}, no own connection".format(", ".join(on_nfs))
        why = (
            "{0} {1}, has files open on NFS and no own connection to a server: only the "
            "database shows whether it fell back to the kernel's NFS.".format(
                sid,
                "runs with Direct NFS" if state else "may run with Direct NFS or not",
            )
        )
        advice = Advice([Ask("query the database: " + ASK_THE_DATABASE)])
    return Verdict(
        status,
        of=sid,
        why=why,
        advice=advice,
        desired=DESIRED.get(policy.direct_nfs),
        in_use=in_use,
        evidence=[direct_nfs_processes.PROCESSES_KEY, "open_files:database", "file:/proc/net/tcp"],
    )


def _runs_with_direct_nfs(sid: str, facts: Facts) -> Optional[bool]:
    """Determined by the mapped files of an instance; if none are visible, by its home."""
    states = {
        process.has_direct_nfs(copies_of_library(facts))
        for process in known(facts.direct_nfs.processes)
        if process.sid == sid and process.libraries
    }
    if states:
        return True if True in states else None if None in states else False
    libraries = [if_known(home.library, None) for home in _homes_of(sid, facts)]
    if len(libraries) != 1 or libraries[0] is None:
        return None
    return bool(libraries[0].linked)


def _homes_of(sid: str, facts: Facts) -> List[HomeDirectNfs]:
    """The homes that an instance may run from."""
    seen = {process.home for process in known(facts.direct_nfs.processes) if process.sid == sid}
    return [home for home in database_homes(facts) if sid in home.home.sids or home.path in seen]
