# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps files from being corrupted: a safe transport, and locks that reach the server."""

from typing import List, Optional

from ...collect.answer import known, unless_absent
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import AIX, LINUX
from . import options_table
from .agreement import (
    TRANSPORT,
    capital,
    contradictions,
    disagreement,
    names_of,
    running_or,
    wrong_of,
)
from .facts import Facts
from .mount_fixes import corrected, verdict_by_layers, verdict_on, without_overrides
from .mount_layers import Layers, required, source_parts, spelling_of
from .options_table import EXACTLY, NOT, Requirement
from .policy import NAME, Policy, WantedMount
from .subjects import MOUNTS, MOUNTS_AND_UNLISTED, NETAPP, NFS_5

rules: Rules[Facts, Policy] = Rules(NAME)

#: Files whose locks keep a database from being opened twice.
_LOCKED_CLASSES = ("datafiles", "redo", "crs_voting")


@rules.check(
    "nfs_mounts.safe_transport",
    "Mount is hard and uses TCP",
    "Mount is soft or uses UDP",
    severity="critical",
    takes_effect="remount",
    why="Files can be corrupted silently. A soft mount returns an error in the middle of a "
    "write, and UDP fragments can be reassembled incorrectly.",
    reference=NFS_5 + ", soft/hard and Using NFS over UDP on high-speed links",
    each=MOUNTS_AND_UNLISTED,
    because_of=(
        "nfs_mounts.mounted_as_persisted",
        "nfs_mounts.shared_superblock",
        "nfs_mounts.options_persisted",
    ),
)
def safe_transport(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    safe = [
        Requirement("recovery", "hard", EXACTLY, "nfs(5)"),
        Requirement("proto", "udp", NOT, "nfs(5)"),
    ]
    running, requested = wrong_of(safe, layers)
    wrong = running + requested
    # Where the policy requires it: no contradiction, and dangerous anyway.
    is_required = all(requirement.name in layers.wanted.overrides for requirement in wrong)
    why = disagreement(safe, layers)
    return verdict_by_layers(
        layers,
        WARN if is_required else FAIL,
        safe,
        TRANSPORT,
        Advice(without_overrides(layers, wrong)) if is_required else corrected(layers),
        why=why and f"{capital(why)} {safe_transport.check.why}",
        desired="hard,proto=tcp",
    )


# -- locks ----------------------------------------------------------------------------------------

#: What a verdict says whose values the report compares.
_LATER = "The report compares all hosts that mount this export."


@rules.check(
    "nfs_mounts.server_locks",
    "Files shared by several hosts use locks on the server",
    "Files shared by several hosts use local locks or nocto",
    severity="critical",
    takes_effect="remount",
    why="A second host can open the same database and corrupt it.",
    reference=NFS_5 + ", lock/nolock, local_lock, cto/nocto; " + NETAPP,
    each=MOUNTS_AND_UNLISTED,
    because_of=(
        "nfs_mounts.mounted_as_persisted",
        "nfs_mounts.shared_superblock",
        "nfs_mounts.options_persisted",
    ),
)
def server_locks(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    if options_table.is_shared(layers.wanted):
        return _judge_locks(layers, layers.wanted, FAIL, corrected(layers))
    if layers.judged.sharing_stated:
        raise Skip("Only one host uses these files (sharing: single).")
    # Local locks are correct if only this host opens the files, but the policy does not state that.
    verdict = _judge_locks(
        layers,
        layers.wanted._replace(sharing="failover"),
        WARN,
        Advice(
            [
                Ask(
                    "set sharing (single, failover or rac) in nfs_mounts_mounts, or "
                    "nfs_mounts_sharing"
                )
            ]
        ),
    )
    if verdict.status == PASS:
        raise Skip("The policy does not state whether other hosts use these files.")
    return verdict._replace(
        why=f"{verdict.why} The policy does not state whether other hosts use these files."
    )


def _judge_locks(layers: Layers, mount: WantedMount, status: str, advice: Advice) -> Verdict:
    """Whether locks reach the server; ``status`` is what it is where they do not."""
    requirements = options_table.lock_requirements(layers.system, mount)
    why = disagreement(requirements, layers)
    desired = f"{required(requirements)}, for sharing {mount.sharing}"
    return verdict_by_layers(
        layers,
        status,
        requirements,
        names_of(requirements),
        advice,
        running_or(desired, requirements, layers),
        why=why and f"{capital(why)} {server_locks.check.why}",
        desired=desired,
    )


@rules.check(
    "nfs_mounts.shared_export",
    "Hosts that share an export use server locks and noac",
    "Hosts share an export with local locks or cached attributes",
    severity="critical",
    takes_effect="remount",
    why="Two hosts can open the same database and corrupt it.",
    reference=NFS_5 + ", lock/nolock, local_lock, ac/noac; " + NETAPP,
    each=MOUNTS_AND_UNLISTED,
    because_of=("nfs_mounts.server_locks", "nfs_mounts.options_in_force"),
)
def shared_export(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    """What the report compares with the hosts that mount the same export."""
    mount, running = layers.mount, layers.granted
    if layers.wanted.file_class not in _LOCKED_CLASSES:
        raise Skip("It holds no datafiles, redo logs or voting files.")
    shared = layers.wanted._replace(sharing="failover")
    local = contradictions(options_table.lock_requirements(layers.system, shared), running)
    uncached = running.get("noac") == "yes" or all(
        running.get(name) == "0" for name in options_table.CACHE_TIMES
    )
    server, export = source_parts(mount.source)
    words = {name: value for name, value in running.items() if name in nfs_options.GRANTED}
    return Verdict(
        SKIP,
        why=_LATER,
        running=f"{mount.source} ({mount.fstype})",
        evidence=layers.evidence(),
        values={
            "server": server,
            "address": spelling_of(running.get("addr", "").lower()) or None,
            "export": export,
            "use": layers.wanted.sharing if layers.judged.sharing_stated else "not stated",
            "locks": "local" if local else "server",
            "attributes": "not cached" if uncached else "cached",
            "options": ",".join(nfs_options.words(words)),
        },
    )


@rules.check(
    "nfs_mounts.local_locks_advice",
    "Local locks are sufficient for a single host (advice)",
    "Local locks would be sufficient for these files (advice)",
    severity="low",
    takes_effect="remount",
    why="Files that only one host uses need no lock manager and no close-to-open check.",
    reference="M. Dawson, Performance Tuning: A Case Study, Sys Admin 2002; " + NFS_5,
    each=MOUNTS,
)
def local_locks_advice(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    """Never more than advice: only who runs the site knows that no other host opens the files."""
    mount = layers.wanted
    if options_table.is_shared(mount):
        raise Skip("More than one host uses these files: their locks stay.")
    if mount.file_class not in ("datafiles", "redo"):
        raise Skip("A database locks and opens little here.")
    if not layers.judged.sharing_stated:
        raise Skip("No policy states that only one host uses these files (sharing: single).")
    running = layers.granted
    if layers.system == LINUX and running.get("vers", "").startswith("4"):
        raise Skip("NFSv4 has its locks in the protocol: nolock has no effect.")
    words = {"lock": "no"} if layers.system == LINUX else {"llock": "yes"}
    if layers.system != AIX:
        words["cto"] = "no"
    missing = [name for name, value in words.items() if running.get(name) != value]
    if not missing:
        return verdict_on(layers, PASS, words, persisted=None)
    advice = ",".join(nfs_options.words({name: words[name] for name in missing}))
    return verdict_on(
        layers,
        SKIP,
        words,
        fix=f"options: {advice} for this mount in nfs_mounts_mounts",
        why=f"Advice: as long as no other host opens these files, {advice} spares requests to the "
        "lock manager and at each open.",
        desired=advice,
    )


# -- leases ---------------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.v4_lease",
    "NFSv4 is named in the policy and its lease is valid",
    "NFSv4 is not named in the policy, or its lease expired",
    severity="medium",
    takes_effect="remount",
    why="A server outage longer than the lease loses the locks (ORA-27072, Lock reclaim "
    "failed) and ends the instance. NFSv3 waits.",
    reference=NETAPP + ", NFSv4 leases and grace periods",
    each=MOUNTS,
)
def v4_lease(layers: Layers, facts: Facts, _policy: Policy) -> Verdict:
    version = _version(layers)
    if not version.startswith("4"):
        raise Skip(f"NFSv{version} has no leases.")
    if layers.wanted.file_class not in _LOCKED_CLASSES:
        raise Skip("No lock of a running database is here.")
    traffic = unless_absent(facts.traffic, None)
    mount = traffic.mounts.get(layers.path) if traffic else None
    lease, expired = (mount.lease_time, mount.lease_expired) if mount else (None, None)
    status, why = PASS, ""
    steps: List[Step] = []
    if expired:
        status = FAIL
        why = f"The lease ran out {expired} s ago: the server may have given the locks away."
        steps = [
            Ask("check at once whether the server answers and the path to it works"),
            Ask("read the alert log of the instances there (ORA-27072, Lock reclaim failed)"),
        ]
    elif layers.wanted.version != version:
        status = WARN
        why = "{0} {1} NFSv{2}{3}.".format(
            v4_lease.check.why,
            "The next reboot mounts it with" if layers.running is None else "Mounted with",
            version,
            f" and a lease of {lease} s" if lease else "",
        )
        steps = [
            Ask(
                f"decide: version: {version} of this mount in nfs_mounts_mounts (or "
                "nfs_mounts_version) accepts the risk, version: 3 there and vers=3 where it is "
                "persisted make the next mount wait instead"
            )
        ]
    return verdict_on(
        layers,
        status,
        ("vers",),
        steps,
        why=why,
        desired="NFSv3, or NFSv4 by decision (nfs_mounts_version)",
        in_use=_lease(version, lease, expired),
        evidence=layers.evidence() + (tuple(traffic.evidence) if traffic else ()),
    )


def _version(layers: Layers) -> str:
    """The version of the mount; where nothing is mounted, that of the next mount."""
    settings = layers.running
    if settings is None:
        settings = known(layers.requested) or {}
    version = settings.get("vers") or layers.wanted.version
    if version is None:
        raise Skip("Which version it would be mounted with is not said.")
    return version


def _lease(version: str, lease: Optional[int], expired: Optional[int]) -> Optional[str]:
    if lease is None:
        return None
    state = f"run out {expired} s ago" if expired else "not run out"
    return f"NFSv{version} with a lease of {lease} s, {state}"
