# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What apply does: fstab, then the RPC slots, then the mounts, and every reason not to.

A mount is never remounted in place, which would leave its NFS options as they are (nfs(5)): it is
unmounted and mounted, together with all that share a superblock with it, for these would keep
the old options alive.
"""

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ... import mounting
from ...answer import known, unless_absent
from ...change import Change, FileChange, MountChange, MountState, Plan, Refusal
from ...errors import Absent, HostproofError
from ...finding import FAIL, WARN
from ...host import OpenFiles
from ...parsers import fstab, nfs_options, systemd_unit
from ...parsers.nfs_options import LINUX
from ...probes import direct_nfs, nfs_persisted
from ...probes.nfs_mounted import Mounted
from . import options_table
from .facts import Facts, is_beneath
from .judge_mounted import source_parts
from .judge_sizes import granted_by_server, judge_lowered
from .layers import Layers, contradictions, layers_of, new_options, wished, words_of
from .options_table import AT_LEAST, Wish
from .plan_slots import plan_slots
from .policy import NAME, Policy
from .wanted import judged_mounts

FSTAB = nfs_persisted.FSTAB

_NFS_TYPES = ("nfs", "nfs4")
#: What databases open by Direct NFS: neither homes nor diagnostics.
_DIRECT_NFS_CLASSES = ("datafiles", "redo", "crs_voting", "backup")


class Target(NamedTuple):
    """A listed mount as the next boot will make it.

    ``entry`` is what persists it now, None where fstab gets a new line. ``options`` are as they
    will be written, ``asked`` what they mean on this host.
    """

    layers: Layers
    entry: Optional[nfs_persisted.Entry]
    source: str
    fstype: str
    options: str
    asked: Dict[str, str]

    @property
    def path(self):
        # type: () -> str
        return self.layers.path

    @property
    def mounted(self):
        # type: () -> Optional[Mounted]
        return self.layers.judged.mounted

    @property
    def version_now(self):
        # type: () -> Optional[str]
        return (self.layers.running or {}).get("vers")


def plan(facts, policy):
    # type: (Facts, Policy) -> Plan
    """The changes that make the host as the policy says; raises what it would have to guess."""
    system = known(facts.system)
    if system != LINUX:
        reason = (
            "apply changes the NFS mounts of Linux hosts only, this is {0}: verify says what to "
            "change by hand".format(system)
        )
        return Plan([], [Refusal(reason, None)], [], [])
    refusals = []  # type: List[Refusal]
    pending = []  # type: List[str]
    if policy.wanted is None and known(facts.mounted):
        pending.append(
            "nfs_mounts_wanted is auto, so no mount is changed: list there what the host must "
            "have, of {0}.".format(", ".join(sorted(one.path for one in known(facts.mounted))))
        )
    listed = [] if policy.wanted is None else judged_mounts(facts, policy)
    targets = [_target(layers_of(judged, facts, policy), facts) for judged in listed]
    files = _plan_fstab(targets, facts, refusals)
    if not files:
        # Otherwise systemd reads fstab again after the change (apply.py).
        pending.extend(
            "systemd still mounts {0} with an older line of {1}: systemctl daemon-reload.".format(
                target.path, FSTAB
            )
            for target in targets
            if target.path in known(facts.persisted.differs_from_generator)
        )
    mounts = _plan_mounts(targets, facts, policy, refusals, pending)
    unmounted = {one.path for one in mounts if one.after is None}
    for target in targets:
        refusals.extend(_guard_locks(target, policy))
        refusals.extend(_guard_source(target, policy))
        refusals.extend(_guard_version(target, policy, target.path in unmounted))
    slots = plan_slots(facts, policy, unmounted)
    changes = []  # type: List[Change]
    for part in (files, slots.files, slots.values, mounts):
        changes.extend(part)
    return Plan(changes, refusals + slots.refusals, pending + slots.pending, [])


def _target(layers, facts):
    # type: (Layers, Facts) -> Target
    entry, wanted = layers.entry, layers.wanted
    if entry is None:
        options = new_options(layers)
        line = nfs_persisted.Entry(
            layers.path, wanted.source, "nfs", options, "fstab", FSTAB, True, "", False, ()
        )
    else:
        written = _with_version(known(layers.written), layers)
        corrections = options_table.corrections(layers.wishes, written, LINUX)
        source = entry.source if _is_source(entry.source, layers) else wanted.source
        options = nfs_options.edit(entry.options, corrections)
        line = entry._replace(source=source, options=options)
    asked = _meaning(nfs_persisted.asked(facts.persisted, line), layers)
    return Target(layers, entry, line.source, line.fstype, options, asked)


def _with_version(settings, layers):
    # type: (Dict[str, str], Layers) -> Dict[str, str]
    """Where none is asked for, the version of the mount is the one to expect again."""
    version = (layers.running or {}).get("vers")
    return settings if version is None or "vers" in settings else dict(settings, vers=version)


def _meaning(asked, layers):
    # type: (Dict[str, str], Layers) -> Dict[str, str]
    meant = nfs_options.effective(_with_version(asked, layers), LINUX)
    if "vers" not in asked:
        meant.pop("vers", None)
    return meant


def _is_source(source, layers):
    # type: (str, Layers) -> bool
    """Whether it is the export that the policy wants, be its server named or numbered."""
    server, export = source_parts(source)
    wanted_server, wanted_export = source_parts(layers.wanted.source)
    address = (layers.running or {}).get("addr", "").lower()
    return export == wanted_export and (server == wanted_server or wanted_server == address)


# -- what persists --------------------------------------------------------------------------------


def _plan_fstab(targets, facts, refusals):
    # type: (List[Target], Facts, List[Refusal]) -> List[FileChange]
    """One change of the whole file, in which only the listed mounts differ."""
    before = unless_absent(facts.persisted.fstab_text, None)
    text = before or ""
    for target in targets:
        reason = _why_not_editable(target, before or "")
        if reason is not None:
            refusals.append(Refusal(reason, None))
        elif target.entry is None:
            text = fstab.with_entry(text, target.source, target.path, target.fstype, target.options)
        elif target.entry.kind == "fstab":
            if target.entry.options != target.options:
                text = fstab.with_options(text, target.path, target.options)
            if target.entry.source != target.source:
                text = fstab.with_source(text, target.path, target.source)
    return [] if text == (before or "") else [FileChange(FSTAB, text, before)]


def _why_not_editable(target, text):
    # type: (Target, str) -> Optional[str]
    path, entry = target.path, target.entry
    if entry is not None and entry.kind != "fstab":
        if (entry.options, entry.source) == (target.options, target.source):
            return None
        return "{0} is mounted by {1}, which apply does not edit: set it to {2} with {3}".format(
            path, entry.place, target.source, target.options
        )
    stubborn = contradictions(target.layers.wishes, target.asked)
    if stubborn:
        # mount puts those behind the words of fstab, and takes the last.
        return "{0} does not get what it needs from {1}: take {2} out of nfsmount.conf".format(
            path, FSTAB, words_of(target.asked, [wish.name for wish in stubborn])
        )
    lines = [one for one in fstab.parse(text) if one.path == path]
    if not lines:
        return _why_not_bootable(path, text)
    first = "{0}, line {1},".format(FSTAB, lines[0].line)
    if len(lines) > 1:
        return "{0} has {1} entries for {2} (lines {3}): leave one".format(
            FSTAB, len(lines), path, ", ".join(str(one.line) for one in lines)
        )
    if lines[0].fstype not in _NFS_TYPES:
        return "{0} mounts no NFS on {1}, but {2}".format(first, path, lines[0].fstype)
    if lines[0].line in fstab.bad_lines(text):
        return "{0} is malformed (a blank within the options?): correct it".format(first)
    if target.fstype == "nfs4" and target.layers.wanted.version == "3":
        return "{0} is of type nfs4, the policy wants version 3: make it nfs".format(first)
    return None


def _why_not_bootable(path, text):
    # type: (str, str) -> Optional[str]
    """systemd mounts what lies beneath a path after it, and waits for local file systems before it
    starts the network: a boot with such a line ends in emergency mode."""
    for line in fstab.parse(text):
        words = line.options.split(",")
        if (
            line.path.startswith(path + "/")
            and line.fstype not in _NFS_TYPES
            and not {"_netdev", "noauto", "nofail"}.intersection(words)
        ):
            return (
                "{0}, line {1}, mounts {2} ({3}) beneath {4}: boot would wait for the server of "
                "{4} before it has a network; give that line _netdev or nofail".format(
                    FSTAB, line.line, line.path, line.fstype, path
                )
            )
    return None


# -- what is mounted ------------------------------------------------------------------------------


def _plan_mounts(targets, facts, policy, refusals, pending):
    # type: (List[Target], Facts, Policy, List[Refusal], List[str]) -> List[MountChange]
    """Everything is unmounted, deepest first, before anything is mounted."""
    by_path = {target.path: target for target in targets}
    remade = set()  # type: Set[str]
    for target in targets:
        wrong = _wrong_now(target, policy)
        if wrong is None or target.path in remade:
            continue
        group = _group(target, by_path, known(facts.mounted), policy)
        if not policy.remount_ok or _is_automounted(group, by_path):
            pending.append(_pending(target, wrong, group, by_path, facts, policy))
            continue
        refusals.extend(_guard_group(target, group, by_path, facts, policy))
        remade.update(path for path in group if path in by_path)
    pending.extend(_not_at_boot(one) for one in targets if _why_not_at_boot(one))
    made = [one.path for one in targets if one.mounted is None and _is_due(one)]
    for path in made:
        refusals.extend(_guard_hidden(path, facts, policy))
    unmounts = [
        MountChange(path, _state_now(by_path[path]), None, {})
        for path in sorted(remade, key=lambda path: (-path.count("/"), path))
    ]
    mounts = [
        MountChange(path, None, _state_later(by_path[path]), _must(by_path[path], policy))
        for path in _in_order(remade.union(made), by_path)
    ]
    return unmounts + mounts


def _in_order(paths, by_path):
    # type: (Set[str], Dict[str, Target]) -> List[str]
    """The order of mounting: above before beneath, and else the most connections first, for the
    first mount of a server decides how many all of them have."""

    def most_connections(path):
        # type: (str) -> Tuple[int, str]
        return -int(by_path[path].asked.get("nconnect", "1")), path

    found = []  # type: List[str]
    left = sorted(paths, key=most_connections)
    while left:
        found.append(
            next(
                one
                for one in left
                if all(one == path or not is_beneath(one, path) for path in left)
            )
        )
        left.remove(found[-1])
    return found


def _wrong_now(target, policy):
    # type: (Target, Policy) -> Optional[str]
    """What is wrong with the mount as it is, in words; None if nothing is, or none is there."""
    running = target.layers.running
    if target.mounted is None or running is None:
        return None
    if not _is_source(target.mounted.source, target.layers):
        return "it is {0}, wanted is {1}".format(target.mounted.source, target.source)
    wrong = contradictions(_to_be_granted(target, policy), running)
    if not wrong:
        return None
    return "it has {0}, wanted is {1}".format(
        words_of(running, [wish.name for wish in wrong]), wished(wrong)
    )


def _to_be_granted(target, policy):
    # type: (Target, Policy) -> List[Wish]
    """The wishes that the kernel has to grant; sizes not where a smaller one is accepted."""
    return [
        wish
        for wish in target.layers.wishes
        if wish.name in nfs_options.GRANTED
        and not (wish.relation == AT_LEAST and policy.allow_lowered_transfer_size)
    ]


def _group(target, by_path, mounted, policy):
    # type: (Target, Dict[str, Target], List[Mounted], Policy) -> Dict[str, str]
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


def _bound_to(mount, members, by_path, policy):
    # type: (Mounted, List[Mounted], Dict[str, Target], Policy) -> Optional[str]
    for member in members:
        if mount.superblock is not None and mount.superblock == member.superblock:
            return "shares the superblock of {0}".format(member.path)
        if is_beneath(mount.path, member.path):
            return "is mounted beneath {0}".format(member.path)
        target = by_path.get(member.path)
        if (
            target is not None
            and _server(mount) == _server(member)
            and _wants_other_connections(target, policy)
        ):
            return "shares the connections of {0}".format(member.path)
    return None


def _server(mount):
    # type: (Mounted) -> str
    """Its address where the kernel shows it: one server can have several names."""
    return nfs_options.parse(mount.options).get("addr") or mounting.server_of(mount.source)


def _wants_other_connections(target, policy):
    # type: (Target, Policy) -> bool
    wrong = contradictions(_to_be_granted(target, policy), target.layers.running)
    return any(wish.name == "nconnect" for wish in wrong)


def _is_automounted(group, by_path):
    # type: (Dict[str, str], Dict[str, Target]) -> bool
    entries = [by_path[path].entry for path in group if path in by_path]
    return any(entry is not None and entry.kind == "autofs" for entry in entries)


def _is_due(target):
    # type: (Target) -> bool
    """Whether something should be mounted there now.

    Not where nothing is until somebody looks, and not where no boot would mount it (noauto): then
    somebody else decides, such as the manager of a cluster, who must not find it on two hosts.
    """
    return target.entry is None or (target.entry.at_boot and not target.entry.on_access)


def _why_not_at_boot(target):
    # type: (Target) -> str
    return "" if target.entry is None else target.entry.why_not_at_boot


def _not_at_boot(target):
    # type: (Target) -> str
    place = "" if target.entry is None else target.entry.place
    text = "No boot mounts {0} ({1}: {2}), and apply does not change that".format(
        target.path, place, _why_not_at_boot(target)
    )
    if target.mounted is None:
        text += " nor mounts it now: mount {0}, if that is for this host to do".format(target.path)
    return text + "."


def _pending(target, wrong, group, by_path, facts, policy):
    # type: (Target, str, Dict[str, str], Dict[str, Target], Facts, Policy) -> str
    mounted = {mount.path: mount for mount in known(facts.mounted)}
    deepest_first = sorted(group, key=lambda path: (-path.count("/"), path))
    commands = ["umount {0}".format(path) for path in deepest_first]
    for path in sorted(group, key=lambda path: (path.count("/"), path)):
        if path in by_path:
            entry = by_path[path].entry
        else:
            entry = next(iter(nfs_persisted.of_path(facts.persisted, path)), None)
        if entry is not None and entry.kind == "unit":
            commands.append("systemctl start {0}".format(systemd_unit.unit_name(path)))
        elif entry is None and path not in by_path:
            state = mounting.state_of(mounted[path])
            commands.append("mount -t {1} -o {2} {0} {3}".format(*state, path))
        elif entry is None or entry.kind == "fstab":
            commands.append("mount {0}".format(path))
    text = "{0} stays as it is mounted ({1}) until it is unmounted: stop what uses it, then: {2}"
    if not policy.remount_ok and by_path.keys() >= group.keys():
        text += "; or apply with {0}_remount_ok: true".format(NAME)
    return text.format(target.path, wrong, " && ".join(commands)) + "."


def _state_now(target):
    # type: (Target) -> Optional[MountState]
    """What revert mounts again; of what a mount finds for itself, what somebody asked for."""
    if target.mounted is None:
        return None
    asked = known(target.layers.written) or {}
    return mounting.state_of(target.mounted, asked=asked)


def _state_later(target):
    # type: (Target) -> MountState
    return MountState(target.source, target.fstype, target.options)


def _must(target, policy):
    # type: (Target, Policy) -> Dict[str, str]
    must = {}  # type: Dict[str, str]
    for wish in _to_be_granted(target, policy):
        if wish.relation == AT_LEAST:
            must[wish.name] = wish.value
        elif wish.name in target.asked:
            must[wish.name] = target.asked[wish.name]
    if target.version_now is not None and not policy.allow_version_change:
        # Nothing asks for a version, so the next mount could agree on another one.
        must.setdefault("vers", target.version_now)
    return must


# -- guards ---------------------------------------------------------------------------------------


def _guard_locks(target, policy):
    # type: (Target, Policy) -> List[Refusal]
    wanted = target.layers.wanted
    settings = nfs_options.effective(wanted.overrides, LINUX)
    local = contradictions(options_table.lock_wishes(LINUX, wanted), settings)
    if not local or policy.allow_local_locks_on_shared_files:
        return []
    reason = (
        "{0} holds files that several hosts may open ({1}): with {2} a second host can open the "
        "same database and corrupt it".format(
            wanted.path,
            wanted.use if wanted.use != "single" else wanted.file_class,
            words_of(settings, [wish.name for wish in local]),
        )
    )
    return [Refusal(reason, "allow_local_locks_on_shared_files")]


def _guard_source(target, policy):
    # type: (Target, Policy) -> List[Refusal]
    if policy.allow_source_change:
        return []
    places = []
    if target.mounted is not None:
        places.append((target.mounted.source, "is mounted"))
    if target.entry is not None:
        places.append((target.entry.source, "stands in " + target.entry.place))
    return [
        Refusal(
            "{0}: {1} {2}, the policy wants {3}: other files would appear there".format(
                target.path, source, where, target.layers.wanted.source
            ),
            "allow_source_change",
        )
        for source, where in places
        if not _is_source(source, target.layers)
    ]


def _guard_version(target, policy, unmounted):
    # type: (Target, Policy, bool) -> List[Refusal]
    """Another version is more than an option: leases, identity mapping, locks."""
    now, later = target.version_now, target.asked.get("vers")
    asked = None if target.entry is None else (known(target.layers.written) or {}).get("vers")
    if now is None or later is None or policy.allow_version_change:
        return []
    if now == later or (later == "4" and now.startswith("4")):
        return []
    if asked == later and not unmounted:
        return []  # stands there already, and this plan does not bring it about
    reason = "{0} is mounted with NFS version {1} and would get {2}".format(target.path, now, later)
    return [Refusal(reason, "allow_version_change")]


def _guard_group(target, group, by_path, facts, policy):
    # type: (Target, Dict[str, str], Dict[str, Target], Facts, Policy) -> List[Refusal]
    """Reasons against unmounting a group of mounts."""
    refusals = []
    for path, reason in sorted(group.items()):
        if path in by_path:
            refusals.extend(_guard_in_use(path, facts))
            refusals.extend(_guard_direct_nfs(by_path[path], facts))
            refusals.extend(_guard_lowered(by_path[path], facts, policy))
        else:
            refusals.append(
                Refusal(
                    "{0} cannot change alone: {1} {2}, and nfs_mounts_wanted does not list "
                    "it".format(target.path, path, reason),
                    None,
                )
            )
    return refusals


def _guard_in_use(path, facts):
    # type: (str, Facts) -> List[Refusal]
    try:
        holders = known(facts.holders[path])
    except HostproofError as problem:
        return [Refusal("who uses {0} is not known: {1}".format(path, problem), None)]
    if not holders:
        return []
    return [Refusal("{0} is in use by {1}: stop that first".format(path, _names(holders)), None)]


def _guard_direct_nfs(target, facts):
    # type: (Target, Facts) -> List[Refusal]
    """A database with Direct NFS keeps umount from nothing: its files are on its own sockets, and
    what it makes while the mount is away lands in the file system beneath."""
    if target.layers.wanted.file_class not in _DIRECT_NFS_CLASSES or target.mounted is None:
        return []
    try:
        sockets = {one.inode: one.remote for one in known(facts.direct_nfs.connections)}
        processes = known(facts.direct_nfs.processes)
    except HostproofError as problem:
        reason = "whether a database uses {0} by Direct NFS is not known: {1}"
        return [Refusal(reason.format(target.path, problem), None)]
    is_named = target.path in direct_nfs.mount_points(facts.direct_nfs)
    servers = {_server(target.mounted), (target.layers.running or {}).get("addr", "")}
    using = sorted(
        {
            "{0} (pid {1}, {2})".format(one.sid, one.pid, sockets[inode])
            for one in processes
            for inode in one.sockets
            if inode and inode in sockets and (is_named or sockets[inode] in servers)
        }
    )
    if not using:
        return []
    reason = "the server of {0} is in use by Direct NFS of {1}: stop that first"
    return [Refusal(reason.format(target.path, ", ".join(using[:5])), None)]


def _names(holders):
    # type: (List[OpenFiles]) -> str
    shown = ["{0} (pid {1}, {2})".format(one.argv0, one.pid, one.paths[0]) for one in holders[:5]]
    if len(holders) > len(shown):
        shown.append("{0} more".format(len(holders) - len(shown)))
    return ", ".join(shown)


def _guard_lowered(target, facts, policy):
    # type: (Target, Facts, Policy) -> List[Refusal]
    """A server that granted another mount less than this one has would grant this one less too."""
    if policy.allow_lowered_transfer_size:
        return []
    finding = judge_lowered(target.layers, granted_by_server(facts))
    if finding.status not in (FAIL, WARN):
        return []
    reason = "a new mount of {0} would get less than it has: {1}".format(
        target.path, finding.why.rstrip(".")
    )
    return [Refusal(reason, "allow_lowered_transfer_size")]


def _guard_hidden(path, facts, policy):
    # type: (str, Facts, Policy) -> List[Refusal]
    """Reasons against mounting where something was missing."""
    refusals = _guard_in_use(path, facts)
    beneath = facts.beneath[path]
    if isinstance(beneath, Absent) or policy.allow_hidden_files:
        return refusals
    if isinstance(beneath, HostproofError):
        reason = "what a mount on {0} would hide is not known: {1}".format(path, beneath)
        refusals.append(Refusal(reason, "allow_hidden_files"))
    elif beneath:
        reason = "{0} is not mounted and holds files ({1}), which the mount would hide".format(
            path, ", ".join(beneath[:5])
        )
        refusals.append(Refusal(reason, "allow_hidden_files"))
    return refusals
