# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What apply does: fstab, then the RPC slots, then the mounts, and every reason not to.

A mount is never remounted in place, which would leave its NFS options as they are (nfs(5)): it is
unmounted and mounted, together with all that share a superblock with it, for these would keep
the old options alive.
"""

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...apply.change import (
    Change,
    FileChange,
    MountChange,
    MountState,
    Plan,
    Refusal,
    idle,
)
from ...apply.mount_state import state_of
from ...collect.answer import existing, if_known, known, unless_absent
from ...collect.host import OpenFiles
from ...collect.shell import line
from ...errors import Absent, HostproofError
from ...evaluate.checking import Skip
from ...evaluate.finding import PASS
from ...parsers.mounts import fstab
from ...parsers.nfs import nfs_options
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.systemd import systemd_unit
from ...probes.nfs import nfs_persisted
from ...probes.nfs.nfs_mounted import Mounted
from . import options_table
from .agreement import contradictions, names_of
from .checked_mounts import judged_mounts
from .facts import Facts, is_beneath
from .mount_fixes import new_options
from .mount_layers import Layers, layers_of, required, server_address, source_parts, words_of
from .options_table import AT_LEAST, Requirement
from .parsers import mount_refusals
from .plan_slots import plan_slots
from .policy import NAME, Policy
from .probes import persisted_options
from .servers import granted_by_server, lowered

FSTAB = nfs_persisted.FSTAB

_NFS_TYPES = ("nfs", "nfs4")


class Target(NamedTuple):
    """A listed mount as a reboot will make it.

    ``entry`` is what persists it now, None where fstab gets a new line. ``options`` are as they
    will be written, ``requested`` what they mean on this host.
    """

    layers: Layers
    entry: Optional[nfs_persisted.Entry]
    source: str
    fstype: str
    options: str
    requested: Dict[str, str]

    @property
    def path(self) -> str:
        return self.layers.path

    @property
    def mounted(self) -> Optional[Mounted]:
        return self.layers.judged.mounted

    @property
    def version_now(self) -> Optional[str]:
        return (self.layers.running or {}).get("vers")


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the host as the policy requires; raises what it would have to
    guess."""
    system = known(facts.system)
    if system != LINUX:
        reason = (
            f"apply changes the NFS mounts of Linux hosts only, this is {system}: verify says "
            "what to change manually"
        )
        return Plan([], [Refusal(reason, None)], [], [])
    pending = _not_listed(facts, policy)
    listed = [] if policy.mounts is None else judged_mounts(facts, policy)
    targets = [_target(layers_of(judged, facts, policy), facts) for judged in listed]
    refusals = _guards(targets, _groups(targets, facts, policy), facts, policy)
    refused = {refusal.part for refusal in refusals}
    # A mount that is rejected stays as it is; the others do not depend on it.
    targets = [target for target in targets if target.path not in refused]
    files = _plan_fstab(targets, facts)
    if not files:
        # Otherwise systemd reads fstab again after the change (apply.py).
        pending.extend(
            f"systemd still mounts {target.path} with an older line of {FSTAB}: systemctl "
            "daemon-reload."
            for target in targets
            if target.path in known(facts.persisted.differs_from_generator)
        )
    mounts = _plan_mounts(targets, facts, policy, refusals, pending)
    unmounted = {change.path for change in mounts if change.after is None}
    slots = plan_slots(facts, policy, unmounted)
    changes: List[Change] = [*files, *slots.files, *slots.values, *mounts]
    refusals += slots.refusals
    pending += slots.pending
    if not (listed or changes or refusals):
        return idle("; ".join(pending) or "nfs_mounts_mounts names no mount of this host.")
    return Plan(changes, refusals, pending, [])


def _not_listed(facts: Facts, policy: Policy) -> List[str]:
    """Why apply changes no mount of a host whose policy lists none."""
    mounted = known(facts.mounted) if policy.mounts is None else []
    if not mounted:
        return []
    return [
        "nfs_mounts_mounts is auto, so no mount is changed: list there what the host must "
        "have, of {0}.".format(", ".join(sorted(mount.path for mount in mounted)))
    ]


def _target(layers: Layers, facts: Facts) -> Target:
    entry, mount = layers.entry, layers.wanted
    if entry is None:
        options = new_options(layers)
        line = nfs_persisted.Entry(
            layers.path, mount.source, "nfs", options, "fstab", FSTAB, True, "", False, ()
        )
    else:
        written = _with_version(existing(layers.written), layers)
        corrections = options_table.corrections(layers.requirements, written, LINUX)
        source = entry.source if _is_source(entry.source, layers) else mount.source
        options = nfs_options.edit(entry.options, corrections)
        line = entry._replace(source=source, options=options)
    requested = _meaning(persisted_options.asked(facts.persisted, line), layers)
    return Target(layers, entry, line.source, line.fstype, options, requested)


def _with_version(settings: Dict[str, str], layers: Layers) -> Dict[str, str]:
    """Where none is required, the version of the mount is the one to expect again."""
    version = (layers.running or {}).get("vers")
    return settings if version is None or "vers" in settings else dict(settings, vers=version)


def _meaning(requested: Dict[str, str], layers: Layers) -> Dict[str, str]:
    meant = nfs_options.effective(_with_version(requested, layers), LINUX)
    if "vers" not in requested:
        meant.pop("vers", None)
    return meant


def _is_source(source: str, layers: Layers) -> bool:
    """Whether it is the export that the policy requires, be its server named or numbered."""
    server, export = source_parts(source)
    wanted_server, wanted_export = source_parts(layers.wanted.source)
    address = (layers.running or {}).get("addr", "").lower()
    return export == wanted_export and (server == wanted_server or wanted_server == address)


# -- what persists --------------------------------------------------------------------------------


def _plan_fstab(targets: List[Target], facts: Facts) -> List[FileChange]:
    """One change of the whole file, in which only these mounts differ."""
    before = unless_absent(facts.persisted.fstab_text, None)
    text = before or ""
    for target in targets:
        if target.entry is None:
            text = fstab.with_entry(text, target.source, target.path, target.fstype, target.options)
        elif target.entry.kind == "fstab":
            if target.entry.options != target.options:
                text = fstab.with_options(text, target.path, target.options)
            if target.entry.source != target.source:
                text = fstab.with_source(text, target.path, target.source)
    return [] if text == (before or "") else [FileChange(FSTAB, text, before)]


def _why_not_editable(target: Target, text: str, facts: Facts) -> Optional[str]:
    path, entry = target.path, target.entry
    refused = _words_refused(target, facts)
    if refused:
        return "mount would reject {0} of {1} ({2}): correct {3} first".format(
            ", ".join(refusal.shown() for refusal in refused),
            path,
            "; ".join(refusal.why for refusal in refused),
            "nfs_mounts_mounts" if entry is None else f"{entry.place} or nfs_mounts_mounts",
        )
    if entry is not None and entry.kind != "fstab":
        if (entry.options, entry.source) == (target.options, target.source):
            return None
        return (
            f"{path} is mounted by {entry.place}, which apply does not edit: set it to "
            f"{target.source} with {target.options}"
        )
    stubborn = contradictions(target.layers.requirements, target.requested)
    if stubborn:
        # mount puts those behind the words of fstab, and takes the last.
        return (
            f"{path} does not get what it needs from {FSTAB}: take "
            f"{words_of(target.requested, names_of(stubborn))} out of /etc/nfsmount.conf"
        )
    return _why_not_in_fstab(target, text)


def _why_not_in_fstab(target: Target, text: str) -> Optional[str]:
    path = target.path
    lines = [row for row in fstab.parse(text) if row.path == path]
    if not lines:
        return _why_not_bootable(path, text)
    first = f"{FSTAB}, line {lines[0].line},"
    if len(lines) > 1:
        return "{0} has {1} entries for {2} (lines {3}): leave one".format(
            FSTAB, len(lines), path, ", ".join(str(row.line) for row in lines)
        )
    if lines[0].fstype not in _NFS_TYPES:
        return f"{first} mounts no NFS on {path}, but {lines[0].fstype}"
    if lines[0].line in fstab.bad_lines(text):
        return f"{first} is malformed (a blank within the options?): correct it"
    if target.fstype == "nfs4" and target.layers.wanted.version == "3":
        return f"{first} is of type nfs4, the policy requires version 3: change it to nfs"
    return None


def _words_refused(target: Target, facts: Facts) -> List[mount_refusals.Refusal]:
    """What a mount with the options that would be written fails on."""
    release = if_known(facts.persisted.kernel, None)
    words = mount_refusals.refused(target.options, target.fstype, release)
    return [refusal for refusal in words if refusal.certain and not refusal.passed_over]


def _why_not_bootable(path: str, text: str) -> Optional[str]:
    """systemd mounts what lies beneath a path after it, and waits for local file systems before it
    starts the network: a reboot with such a line ends in emergency mode."""
    for other in fstab.parse(text):
        words = other.options.split(",")
        if (
            other.path.startswith(path + "/")
            and other.fstype not in _NFS_TYPES
            and not {"_netdev", "noauto", "nofail"}.intersection(words)
        ):
            return (
                f"{FSTAB}, line {other.line}, mounts {other.path} ({other.fstype}) beneath "
                f"{path}: boot would wait for the server of "
                f"{path} before it has a network; give that line _netdev or nofail"
            )
    return None


# -- what is mounted ------------------------------------------------------------------------------


class _Group(NamedTuple):
    """A mount that is wrong now, and the mounts that must be unmounted for it (_group).

    ``is_remade``: whether apply unmounts and mounts them.
    """

    target: Target
    wrong: str
    paths: Dict[str, str]
    is_remade: bool


def _groups(targets: List[Target], facts: Facts, policy: Policy) -> List[_Group]:
    by_path = {target.path: target for target in targets}
    groups: List[_Group] = []
    remade: Set[str] = set()
    for target in targets:
        wrong = _wrong_now(target, policy)
        if wrong is None or target.path in remade:
            continue
        paths = _group(target, by_path, known(facts.mounted), policy)
        is_remade = policy.allow_remount and not _is_automounted(paths, by_path)
        groups.append(_Group(target, wrong, paths, is_remade))
        if is_remade:
            remade.update(path for path in paths if path in by_path)
    return groups


def _plan_mounts(
    targets: List[Target], facts: Facts, policy: Policy, refusals: List[Refusal], pending: List[str]
) -> List[MountChange]:
    """Everything is unmounted, deepest first, before anything is mounted.

    A group of which one mount is rejected stays mounted as it is.
    """
    by_path = {target.path: target for target in targets}
    remade: Set[str] = set()
    for group in _groups(targets, facts, policy):
        if group.is_remade:
            against = _guard_group(group, by_path, facts, policy)
            refusals.extend(against)
            remade.update(path for path in group.paths if path in by_path and not against)
        else:
            pending.append(_pending(group.target, group.wrong, group.paths, by_path, facts, policy))
    pending.extend(_not_at_boot(target) for target in targets if _why_not_at_boot(target))
    made = [target.path for target in targets if _is_made(target)]
    unmounts = [
        MountChange(path, _state_now(by_path[path]), None, {})
        for path in sorted(remade, key=lambda path: (-path.count("/"), path))
    ]
    mounts = [
        MountChange(path, None, _state_later(by_path[path]), _must(by_path[path], policy))
        for path in _in_order(remade.union(made), by_path)
    ]
    return unmounts + mounts


def _in_order(paths: Set[str], by_path: Dict[str, Target]) -> List[str]:
    """The mount order: parents first, then the mount with the most connections, because the first
    mount of a server determines the number for all of them."""

    def most_connections(path: str) -> Tuple[int, str]:
        return -int(by_path[path].requested.get("nconnect", "1")), path

    order: List[str] = []
    left = sorted(paths, key=most_connections)
    while left:
        order.append(
            next(
                candidate
                for candidate in left
                if all(candidate == path or not is_beneath(candidate, path) for path in left)
            )
        )
        left.remove(order[-1])
    return order


def _wrong_now(target: Target, policy: Policy) -> Optional[str]:
    """The problem of the current mount, as text; None if there is none, or if nothing is
    mounted."""
    running = target.layers.running
    if target.mounted is None or running is None:
        return None
    if not _is_source(target.mounted.source, target.layers):
        return f"it is {target.mounted.source}, wanted is {target.source}"
    wrong = contradictions(_to_be_granted(target, policy), running)
    if not wrong:
        return None
    return f"it has {words_of(running, names_of(wrong))}, wanted is {required(wrong)}"


def _to_be_granted(target: Target, policy: Policy) -> List[Requirement]:
    """The requirements that the kernel has to grant; sizes not where a smaller one is accepted."""
    return [
        requirement
        for requirement in target.layers.requirements
        if requirement.name in nfs_options.GRANTED
        and not (requirement.relation == AT_LEAST and policy.allow_lowered_transfer_size)
    ]


def _group(
    target: Target, by_path: Dict[str, Target], mounted: List[Mounted], policy: Policy
) -> Dict[str, str]:
    """The mounts that must be unmounted for a mount to change, with the reason for each.

    One superblock has one set of options, and one server one set of connections.
    """
    group = {target.path: ""}
    growing = True
    while growing:
        growing = False
        members = [mount for mount in mounted if mount.path in group]
        for mount in mounted:
            if mount.path in group:
                continue
            reason = _bound_to(mount, members, by_path, policy)
            if reason is not None:
                group[mount.path] = reason
                growing = True
    return group


def _bound_to(
    mount: Mounted, members: List[Mounted], by_path: Dict[str, Target], policy: Policy
) -> Optional[str]:
    for member in members:
        if mount.superblock is not None and mount.superblock == member.superblock:
            return f"shares the superblock of {member.path}"
        if is_beneath(mount.path, member.path):
            return f"is mounted beneath {member.path}"
        target = by_path.get(member.path)
        if (
            target is not None
            and server_address(mount) == server_address(member)
            and _wants_other_connections(target, policy)
        ):
            return f"shares the connections of {member.path}"
    return None


def _wants_other_connections(target: Target, policy: Policy) -> bool:
    wrong = contradictions(_to_be_granted(target, policy), target.layers.running)
    return any(requirement.name == "nconnect" for requirement in wrong)


def _is_automounted(group: Dict[str, str], by_path: Dict[str, Target]) -> bool:
    entries = [by_path[path].entry for path in group if path in by_path]
    return any(entry is not None and entry.kind == "autofs" for entry in entries)


def _is_due(target: Target) -> bool:
    """Whether something should be mounted there now.

    Not for mounts on access, and not for mounts that are not mounted at boot (noauto). The latter
    may belong to a cluster manager, which must not find the mount on two hosts.
    """
    return target.entry is None or (target.entry.at_boot and not target.entry.on_access)


def _is_made(target: Target) -> bool:
    """Whether apply mounts what is missing."""
    return target.mounted is None and _is_due(target)


def _why_not_at_boot(target: Target) -> str:
    return "" if target.entry is None else target.entry.why_not_at_boot


def _not_at_boot(target: Target) -> str:
    place = "" if target.entry is None else target.entry.place
    text = (
        f"No boot mounts {target.path} ({place}: {_why_not_at_boot(target)}), and apply does not "
        "change that"
    )
    if target.mounted is None:
        text += " nor mounts it now: {0}, if that is for this host to do".format(
            line("mount", target.path)
        )
    return text + "."


def _pending(
    target: Target,
    wrong: str,
    group: Dict[str, str],
    by_path: Dict[str, Target],
    facts: Facts,
    policy: Policy,
) -> str:
    deepest_first = sorted(group, key=lambda path: (-path.count("/"), path))
    commands = [line("umount", path) for path in deepest_first]
    for path in sorted(group, key=lambda path: (path.count("/"), path)):
        commands += _mount_lines(path, by_path, facts)
    text = "{0} stays as it is mounted ({1}) until it is unmounted: stop what uses it, then: {2}"
    if not policy.allow_remount and by_path.keys() >= group.keys():
        text += f"; or apply with {NAME}_allow_remount: true"
    return text.format(target.path, wrong, " && ".join(commands)) + "."


def _mount_lines(path: str, by_path: Dict[str, Target], facts: Facts) -> List[str]:
    """The command that mounts the path again; none for an entry of autofs."""
    if path in by_path:
        entry = by_path[path].entry
    else:
        entry = next(iter(nfs_persisted.of_path(facts.persisted, path)), None)
    if entry is not None and entry.kind == "unit":
        return [line("systemctl", "start", systemd_unit.unit_name(path))]
    if entry is None and path not in by_path:
        mounted = {mount.path: mount for mount in known(facts.mounted)}
        source, fstype, options = state_of(mounted[path])
        return [line("mount", "-t", fstype, "-o", options, "--", source, path)]
    return [line("mount", path)] if entry is None or entry.kind == "fstab" else []


def _state_now(target: Target) -> Optional[MountState]:
    """The state that revert mounts again; options that mount determines as they were requested."""
    if target.mounted is None:
        return None
    requested = known(target.layers.written) or {}
    return state_of(target.mounted, requested=requested)


def _state_later(target: Target) -> MountState:
    return MountState(target.source, target.fstype, target.options)


def _must(target: Target, policy: Policy) -> Dict[str, str]:
    must: Dict[str, str] = {}
    for requirement in _to_be_granted(target, policy):
        if requirement.relation == AT_LEAST:
            must[requirement.name] = requirement.value
        elif requirement.name in target.requested:
            must[requirement.name] = target.requested[requirement.name]
    if target.version_now is not None and not policy.allow_version_change:
        # No version is requested, so the next mount could negotiate another one.
        must.setdefault("vers", target.version_now)
    return must


# -- guards ---------------------------------------------------------------------------------------


def _guards(
    targets: List[Target], groups: List[_Group], facts: Facts, policy: Policy
) -> List[Refusal]:
    """Reasons against changing a mount at all; its path is the part."""
    unmounted = {path for group in groups if group.is_remade for path in group.paths}
    text = unless_absent(facts.persisted.fstab_text, "")
    refusals: List[Refusal] = []
    missing: Set[str] = set()
    for target in sorted(targets, key=lambda target: target.path):
        reason = _why_not_editable(target, text, facts)
        against = [] if reason is None else [Refusal(reason, None)]
        if _is_made(target):
            against += _guard_hidden(target.path, facts, policy)
            against += _guard_above(target.path, missing)
        against += _guard_locks(target, policy)
        against += _guard_source(target, policy)
        against += _guard_version(target, policy, target.path in unmounted)
        if against and target.mounted is None:
            missing.add(target.path)
        refusals += [refusal._replace(part=target.path) for refusal in against]
    return refusals


def _guard_above(path: str, missing: Set[str]) -> List[Refusal]:
    """A mount that is made later above this one would hide it."""
    above = [other for other in sorted(missing) if is_beneath(path, other)]
    if not above:
        return []
    return [Refusal(f"{path} is beneath {above[0]}, which is not mounted", None)]


def _guard_locks(target: Target, policy: Policy) -> List[Refusal]:
    mount = target.layers.wanted
    settings = nfs_options.effective(mount.overrides, LINUX)
    local = contradictions(options_table.lock_requirements(LINUX, mount), settings)
    if not local or policy.allow_local_locks_on_shared_files:
        return []
    reason = (
        "{0} holds files that several hosts may open ({1}): with {2} a second host can open the "
        "same database and corrupt it".format(
            mount.path,
            mount.sharing if mount.sharing != "single" else mount.file_class,
            words_of(settings, names_of(local)),
        )
    )
    return [Refusal(reason, "allow_local_locks_on_shared_files")]


def _guard_source(target: Target, policy: Policy) -> List[Refusal]:
    if policy.allow_source_change:
        return []
    places = []
    if target.mounted is not None:
        places.append((target.mounted.source, "is mounted"))
    if target.entry is not None:
        places.append((target.entry.source, "is in " + target.entry.place))
    return [
        Refusal(
            f"{target.path}: {source} {where}, the policy requires "
            f"{target.layers.wanted.source}: other files would appear there",
            "allow_source_change",
        )
        for source, where in places
        if not _is_source(source, target.layers)
    ]


def _guard_version(target: Target, policy: Policy, unmounted: bool) -> List[Refusal]:
    """Another version is more than an option: leases, identity mapping, locks."""
    now, later = target.version_now, target.requested.get("vers")
    requested = None if target.entry is None else (known(target.layers.written) or {}).get("vers")
    if now is None or later is None or policy.allow_version_change:
        return []
    if now == later or (later == "4" and now.startswith("4")):
        return []
    if requested == later and not unmounted:
        return []  # it exists already, and this plan does not change it
    reason = f"{target.path} is mounted with NFS version {now} and would get {later}"
    return [Refusal(reason, "allow_version_change")]


def remount_of(path: str) -> str:
    """The part of the plan that unmounts a mount and mounts it again."""
    return "remount of " + path


def _guard_group(
    group: _Group, by_path: Dict[str, Target], facts: Facts, policy: Policy
) -> List[Refusal]:
    """Reasons against unmounting a group of mounts. ``by_path`` has those that are not rejected."""
    refusals = []
    listed = {mount.path for mount in policy.mounts or ()}
    for path, reason in sorted(group.paths.items()):
        if path in by_path:
            refusals.extend(_guard_in_use(path, facts))
            refusals.extend(_guard_direct_nfs(by_path[path]))
            refusals.extend(_guard_lowered(by_path[path], facts, policy))
        else:
            why = (
                "apply rejects its change"
                if path in listed
                else "nfs_mounts_mounts does not list it"
            )
            text = f"{group.target.path} cannot change alone: {path} {reason}, and {why}"
            refusals.append(Refusal(text, None))
    return [refusal._replace(part=remount_of(group.target.path)) for refusal in refusals]


def _guard_in_use(path: str, facts: Facts) -> List[Refusal]:
    try:
        holders = known(facts.holders[path])
    except HostproofError as problem:
        return [Refusal(f"who uses {path} is not known: {problem}", None)]
    if not holders:
        return []
    return [Refusal(f"{path} is in use by {_names(holders)}: stop that first", None)]


def _guard_direct_nfs(target: Target) -> List[Refusal]:
    """New files of such a database would be created in the file system below while the mount is
    missing."""
    using = target.layers.direct_users
    if isinstance(using, HostproofError):
        reason = "whether a database uses {0} by Direct NFS is not known: {1}"
        return [Refusal(reason.format(target.path, using), None)]
    if not using:
        return []
    reason = "the server of {0} is in use by Direct NFS of {1}: stop that first"
    return [Refusal(reason.format(target.path, ", ".join(using[:5])), None)]


def _names(holders: List[OpenFiles]) -> str:
    shown = [f"{holder.argv0} (pid {holder.pid}, {holder.paths[0]})" for holder in holders[:5]]
    if len(holders) > len(shown):
        shown.append(f"{len(holders) - len(shown)} more")
    return ", ".join(shown)


def _guard_lowered(target: Target, facts: Facts, policy: Policy) -> List[Refusal]:
    """A server that granted another mount less than this one has would grant this one less too."""
    if policy.allow_lowered_transfer_size:
        return []
    try:
        result = lowered(target.layers, granted_by_server(facts))
    except Skip:
        return []
    if result.status == PASS:
        return []
    reason = "a new mount of {0} would get less than it has: {1}".format(
        target.path, result.words.rstrip(".")
    )
    return [Refusal(reason, "allow_lowered_transfer_size")]


def _guard_hidden(path: str, facts: Facts, policy: Policy) -> List[Refusal]:
    """Reasons against mounting where something was missing."""
    refusals = _guard_in_use(path, facts)
    beneath = facts.beneath[path]
    if isinstance(beneath, Absent) or policy.allow_hidden_files:
        return refusals
    if isinstance(beneath, HostproofError):
        reason = f"what a mount on {path} would hide is not known: {beneath}"
        refusals.append(Refusal(reason, "allow_hidden_files"))
    elif beneath:
        reason = "{0} is not mounted and holds files ({1}), which the mount would hide".format(
            path, ", ".join(beneath[:5])
        )
        refusals.append(Refusal(reason, "allow_hidden_files"))
    return refusals
