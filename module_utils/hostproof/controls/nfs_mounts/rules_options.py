# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that the kernel uses.

Each requirement of the options table belongs to one check: a soft mount is not a second finding
among the other options.
"""

from typing import List

from ...collect.answer import if_known, known, unless_absent
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.mounts import fstab
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...probes.kernel.mounts import MOUNTINFO
from ...probes.nfs import nfs_persisted
from ...probes.nfs.nfs_mounted import Mounted
from .agreement import (
    capital,
    contradictions,
    differences,
    disagreement,
    is_of_other_options,
    names_of,
    running_or,
    when_it_changes,
)
from .facts import Facts, is_beneath
from .mount_fixes import correct, corrected, verdict_by_layers, verdict_on
from .mount_layers import Layers, because, persisted_words, required, running_words, words_of
from .options_table import CACHING, NOT, Requirement, cached
from .policy import NAME, Policy
from .probes import persisted_options
from .subjects import MOUNTS, NETAPP, NFS_5

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "nfs_mounts.options_in_force",
    "Running mount options suit the files",
    "Running mount options do not suit the files",
    severity="high",
    takes_effect="remount",
    why="Only the options that the kernel granted apply, whatever fstab requests.",
    reference=NETAPP + ", NFS mount options; MOS 359515.1",
    each=MOUNTS,
    because_of=(
        "nfs_mounts.mounted_as_persisted",
        "nfs_mounts.shared_superblock",
        "nfs_mounts.options_persisted",
    ),
)
def options_in_force(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    running = layers.granted
    requirements = [
        requirement
        for requirement in layers.requirements
        if is_of_other_options(requirement, layers)
        and _is_shown(requirement, layers)
        and requirement.name != "nconnect"
    ]
    wrong = contradictions(requirements, running)
    status, why = PASS, ""
    if wrong:
        status = FAIL
        why = (
            f"Mounted with {running_words(layers, names_of(wrong))}, wanted is {required(wrong)} "
            f"({because(wrong)})."
        )
        persisted = if_known(layers.requested, None)
        if persisted is not None and not contradictions(wrong, persisted):
            why += " The persisted options are correct. " + when_it_changes(layers)
        if all(requirement.name not in running for requirement in wrong):
            # Other systems show what was requested, and not what holds where nothing was.
            status = WARN
            why = (
                f"mount does not show {required(wrong)} ({because(wrong)}); the system's defaults "
                "hold."
            )
    return verdict_on(
        layers,
        status,
        names_of(requirements),
        correct(layers),
        why=why,
        desired=required(requirements),
        failing_layer="running",
    )


def _is_shown(requirement: Requirement, layers: Layers) -> bool:
    """Whether the kernel shows such a setting of a mount at all."""
    if requirement.name in nfs_options.NEVER_GRANTED:
        return False
    return requirement.name in nfs_options.GRANTED or requirement.name in (layers.running or {})


# -- one superblock -------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.shared_superblock",
    "Mounts of one export use their own options",
    "Mount uses the options of another mount of the export",
    severity="high",
    takes_effect="remount",
    why="The requested options are ignored. The first mount of an export determines the "
    "options of all later mounts.",
    reference=NFS_5 + ", sharecache",
    each=MOUNTS,
)
def shared_superblock(layers: Layers, facts: Facts, _policy: Policy) -> Verdict:
    """Whether this mount got the options of another mount in place of those requested for it."""
    mounted, running = layers.mount, layers.granted
    if mounted.superblock is None:
        if facts.system == LINUX:
            raise Unanswered("file:" + MOUNTINFO, f"{mounted.evidence[0]} shows no superblocks")
        raise Skip("Only Linux shows which mounts share a superblock.")
    paths = ", ".join(layers.sharing)
    status, why = PASS, ""
    ignored = _ignored(layers, facts)
    if ignored:
        status, requested = FAIL, known(layers.requested)
        why = "Its superblock is that of {0}: it has {1}, though {2} requests {3}.".format(
            paths,
            words_of(running, ignored),
            layers.entry.place if layers.entry else "its entry",
            words_of(requested or {}, ignored),
        )
    also = "but not nosharecache, which nfs(5) calls a risk for data"
    if any(requirement.name == "sharecache" for requirement in layers.requirements):
        # Where Direct NFS needs it, it is the cure.
        also = "and nosharecache"
    written = known(layers.written)
    return Verdict(
        status,
        why=why,
        advice=Advice(
            [
                Ask(f"give {layers.path} and {paths} the same options, {also}"),
                Ask("stop what uses them, unmount all of them and mount them again"),
            ]
        ),
        desired="its own options",
        persisted=persisted_words(layers, sorted(written or {})),
        running=mounted.options,
        in_use="superblock {0}, shared with {1}".format(mounted.superblock, paths or "none"),
        evidence=layers.evidence(),
    )


def _ignored(layers: Layers, facts: Facts) -> List[str]:
    """The settings in which the options of another mount of the superblock apply to this one."""
    others = [mount for mount in known(facts.mounted) if mount.path in layers.sharing]
    persisted = known(layers.requested) if others else None
    if not persisted:
        return []
    requested = known(layers.written) or {}
    ignored = differences(requested, persisted, layers.granted, LINUX)
    is_cause = ignored and any(_requests_otherwise(mount, layers, facts) for mount in others)
    return ignored if is_cause else []


def _requests_otherwise(mount: Mounted, layers: Layers, facts: Facts) -> bool:
    """Whether another mount of the superblock is persisted with other options than this one.

    The options of a mount without an entry are unknown, because it was mounted manually. A bind
    mount requests none."""
    entries = nfs_persisted.of_path(facts.persisted, mount.path)
    if not entries:
        return not _is_bound(mount, layers, facts)
    requested = persisted_options.asked(facts.persisted, entries[0])
    own = known(layers.requested) or {}
    other = nfs_options.effective(requested, LINUX)
    return any(other.get(name) != own.get(name) for name in nfs_options.GRANTED)


def _is_bound(mount: Mounted, layers: Layers, facts: Facts) -> bool:
    """Whether a mount is one of a directory of this one, or fstab says that it is a bind
    mount."""
    own = layers.judged.mounted
    if own is not None and own.root != mount.root and is_beneath(mount.root, own.root):
        return True
    text = unless_absent(facts.persisted.fstab_text, "")
    return any(
        entry.path == mount.path and {"bind", "rbind"} & set(entry.options.split(","))
        for entry in fstab.parse(text)
    )


# -- caching --------------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.caching",
    "Attribute caching is on where coherence is not required",
    "Attribute caching is off where coherence is not required",
    severity="medium",
    takes_effect="remount",
    why="Backups, homes and diagnostics become slow. noac, sync and actimeo=0 make each write "
    "synchronous or query the server at each open.",
    reference="MOS 359515.1: not for RMAN and Data Pump; " + NETAPP + ", ADR",
    each=MOUNTS,
    because_of=("nfs_mounts.mounted_as_persisted", "nfs_mounts.shared_superblock"),
)
def caching(layers: Layers, _facts: Facts, _policy: Policy) -> Verdict:
    requirements = [
        requirement
        for requirement in layers.requirements
        if requirement.relation == NOT and requirement.name in CACHING
    ]
    if not requirements and not layers.judged.sharing_known:
        return _cache_of_unknown_use(layers)
    if not requirements:
        raise Skip(
            "Hosts that share these files, or the policy, require a query to the server each time."
        )
    why = disagreement(requirements, layers)
    wrong = FAIL if layers.wanted.file_class == "backup" else WARN
    return verdict_by_layers(
        layers,
        wrong,
        requirements,
        CACHING,
        corrected(layers),
        running_or(required(requirements), requirements, layers),
        why=why and f"{capital(why)} {caching.check.why}",
        desired=required(requirements),
    )


def _cache_of_unknown_use(layers: Layers) -> Verdict:
    """Without a cache other hosts see each write at once, so no option changes here."""
    requirements = cached(NFS_5 + ", ac/noac")
    why = disagreement(requirements, layers)
    if why is None:
        known(layers.requested)
        raise Skip("Whether other hosts share these files is not known, and they are cached.")
    return verdict_by_layers(
        layers,
        WARN,
        requirements,
        CACHING,
        Advice(
            [
                Ask(
                    "state who uses the files, and keep the options until then: sharing of the "
                    "mount in nfs_mounts_mounts, nfs_mounts_sharing or hostproof_profile"
                )
            ]
        ),
        why=f"{capital(why.partition('; wanted')[0])}. It is not known whether other hosts share "
        f"these files and need that. {caching.check.why}",
    )
