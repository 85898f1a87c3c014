# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One mount in all its layers: what it should be, what a reboot makes, what the kernel has.

Also the words for them: what a finding shows of a layer.
"""

import ipaddress
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...apply.mount_state import server_of
from ...collect.answer import Answer, attempt, if_known, known
from ...errors import HostproofError
from ...evaluate.checking import Skip
from ...parsers.nfs import nfs_options
from ...parsers.size import human
from ...probes.nfs import nfs_mounted, nfs_persisted
from . import options_table
from .checked_mounts import homes_on, needs_own_cache
from .facts import Facts, JudgedMount
from .options_table import AT_LEAST, EXACTLY, NOT, Requirement
from .policy import Policy, WantedMount
from .probes import direct_nfs, persisted_options

#: The four systems whose options are known.
SYSTEMS = (nfs_options.LINUX, nfs_options.AIX, nfs_options.SOLARIS, nfs_options.HPUX)
UNKNOWN = "unknown"
NOT_MOUNTED = "not mounted"
NOTHING_AT_BOOT = "nothing mounts it at boot"
_VERSION_2 = "2"
#: What databases open by Direct NFS: neither homes nor diagnostics.
_DIRECT_NFS_CLASSES = ("datafiles", "redo", "crs_voting", "backup")
#: Files that only one host may cache; backups and diagnostics may be cached by all.
_CACHED_IF_SINGLE = ("datafiles", "redo", "oracle_home")
_NO_VERSION_2 = "RFC 1094: a file of NFSv2 has at most 2 GiB"


class Layers(NamedTuple):
    """A mount to check, in all its layers.

    ``running`` is the effect of the options in the kernel, None if nothing is mounted. ``entries``
    are all entries that persist the path, the effective one first. ``written`` are its settings,
    and ``requested`` their effect (None if there is no entry). ``sharing`` are the paths of other
    mounts with the same superblock, and so with the same options. ``direct_users`` are the
    instances that use its server by Direct NFS, each with its process and the server's address.
    """

    judged: JudgedMount
    system: str
    requirements: List[Requirement]
    running: Optional[Dict[str, str]]
    sharing: Tuple[str, ...]
    persisted: nfs_persisted.Persisted
    entries: Answer[List[nfs_persisted.Entry]]
    written: Answer[Optional[Dict[str, str]]]
    requested: Answer[Optional[Dict[str, str]]]
    direct_users: Answer[List[str]]

    @property
    def wanted(self) -> WantedMount:
        return self.judged.wanted

    @property
    def path(self) -> str:
        return self.judged.wanted.path

    @property
    def mount(self) -> nfs_mounted.Mounted:
        """What is mounted; Skip where nothing is."""
        if self.judged.mounted is None:
            raise Skip("Nothing is mounted here now.")
        return self.judged.mounted

    @property
    def granted(self) -> Dict[str, str]:
        """``running``; Skip where nothing is mounted."""
        if self.running is None:
            raise Skip("Nothing is mounted here now.")
        return self.running

    @property
    def entry(self) -> Optional[nfs_persisted.Entry]:
        """The entry that counts; raises where that is not known."""
        entries = known(self.entries)
        return entries[0] if entries else None

    def evidence(self) -> Tuple[str, ...]:
        """The keys of everything that the layers rest on."""
        keys = self.judged.mounted.evidence if self.judged.mounted else ()
        for entry in if_known(self.entries, []):
            keys += tuple(entry.evidence)
        return keys or (seen_in(self.system),)


def seen_in(system: str) -> str:
    """The evidence key of the list of mounts."""
    if system == nfs_options.LINUX:
        return "file:" + nfs_mounted.MOUNTINFO
    return "command:" + " ".join(nfs_mounted.COMMANDS[system])


def layers_of(judged: JudgedMount, facts: Facts, policy: Policy) -> Layers:
    system = known(facts.system)
    entries = attempt(nfs_persisted.of_path, facts.persisted, judged.wanted.path)
    running = None
    if judged.mounted is not None:
        running = nfs_options.effective(nfs_options.parse(judged.mounted.options), system)
    written = attempt(_written, entries, facts)
    requested = attempt(_meaning, written, running, system)
    versions = [(settings or {}).get("vers") for settings in (running, if_known(requested, None))]
    return Layers(
        judged=judged,
        system=system,
        requirements=_requirements(judged, facts, policy, if_known(entries, []), versions),
        running=running,
        sharing=_sharing(judged.mounted, facts),
        persisted=facts.persisted,
        entries=entries,
        written=written,
        requested=requested,
        direct_users=attempt(_direct_users, judged, running, facts),
    )


def _requirements(
    judged: JudgedMount,
    facts: Facts,
    policy: Policy,
    entries: List[nfs_persisted.Entry],
    versions: List[Optional[str]],
) -> List[Requirement]:
    """Requirements of the mount. ``versions`` are those of the kernel and of the next reboot."""
    system = known(facts.system)
    requirements = options_table.requirements(
        system,
        judged.wanted,
        policy,
        holds_home=bool(homes_on(judged.wanted.path, facts)),
        own_cache=system == nfs_options.LINUX and needs_own_cache(judged.wanted, facts, policy),
    )
    if any(entry.kind != "fstab" or entry.on_access for entry in entries[:1]):
        # How mount(8) goes on after a failure (bg) is nothing for a unit or an automounter: systemd
        # would make retries without end of it, and who checks the path waits for them.
        requirements = options_table.shown_by_kernel(requirements)
    if not judged.sharing_known and judged.wanted.file_class in _CACHED_IF_SINGLE:
        # Without a cache another host would see each write at once: that stays.
        requirements = [
            requirement
            for requirement in requirements
            if requirement.relation != NOT or requirement.name not in options_table.CACHING
        ]
    is_required = any(requirement.name == "vers" for requirement in requirements)
    if _VERSION_2 in versions and not is_required:
        requirements.append(Requirement("vers", "3", EXACTLY, _NO_VERSION_2))
    return requirements


def _direct_users(
    judged: JudgedMount, running: Optional[Dict[str, str]], facts: Facts
) -> List[str]:
    """An open database with Direct NFS does not prevent umount: its files are open on sockets."""
    if judged.wanted.file_class not in _DIRECT_NFS_CLASSES or judged.mounted is None:
        return []
    sockets = {
        connection.inode: connection.remote for connection in known(facts.direct_nfs.connections)
    }
    is_named = judged.wanted.path in direct_nfs.mount_points(facts.direct_nfs)
    servers = {server_address(judged.mounted), (running or {}).get("addr", "")}
    return sorted(
        {
            f"{process.sid} (pid {process.pid}, {sockets[inode]})"
            for process in known(facts.direct_nfs.processes)
            for inode in process.sockets
            if inode and inode in sockets and (is_named or sockets[inode] in servers)
        }
    )


def server_address(mount: nfs_mounted.Mounted) -> str:
    """Its address where the kernel shows it: one server can have several names."""
    return nfs_options.parse(mount.options).get("addr") or server_of(mount.source)


def _sharing(mounted: Optional[nfs_mounted.Mounted], facts: Facts) -> Tuple[str, ...]:
    if mounted is None or mounted.superblock is None:
        return ()
    return tuple(
        mount.path
        for mount in known(facts.mounted)
        if mount.superblock == mounted.superblock and mount.path != mounted.path
    )


def _written(entries: Answer[List[nfs_persisted.Entry]], facts: Facts) -> Optional[Dict[str, str]]:
    rows = known(entries)
    return persisted_options.asked(facts.persisted, rows[0]) if rows else None


def _meaning(
    written: Answer[Optional[Dict[str, str]]], running: Optional[Dict[str, str]], system: str
) -> Optional[Dict[str, str]]:
    """The effect of the settings; some options depend on the version of the mount."""
    settings = known(written)
    if settings is None:
        return None
    if running is None or "vers" not in running or "vers" in settings:
        return nfs_options.effective(settings, system)
    meant = nfs_options.effective(dict(settings, vers=running["vers"]), system)
    del meant["vers"]
    return meant


def source_parts(text: str) -> Tuple[str, str]:
    """(server, export) of "server:/export", as far as case and a last slash do not matter."""
    server, _, export = text.partition(":/")
    return spelling_of(server.strip("[]").lower()), "/" + export.strip("/")


def spelling_of(server: str) -> str:
    """An IPv6 address has several."""
    try:
        return str(ipaddress.ip_address(server))
    except ValueError:
        return server


# -- words ----------------------------------------------------------------------------------------


def required(requirements: Iterable[Requirement]) -> str:
    """The requirements as mount options: "rw,hard, rsize,wsize at least 256.0 KiB, no noac"."""
    by_relation: Dict[str, Dict[str, str]] = {}
    for requirement in requirements:
        by_relation.setdefault(requirement.relation, {})[requirement.name] = requirement.value
    parts = []
    if EXACTLY in by_relation:
        parts.append(",".join(nfs_options.words(by_relation[EXACTLY])))
    if AT_LEAST in by_relation:
        sizes = by_relation[AT_LEAST]
        parts.append(
            "{0} at least {1}".format(",".join(sizes), human(min(map(int, sizes.values()))))
        )
    never = by_relation.get(NOT, {})
    # An option that must not be off is shown as on: lock, not "no nolock".
    on = {name: "yes" for name, value in never.items() if value == "no"}
    parts.extend(nfs_options.words(on))
    off = {name: value for name, value in never.items() if name not in on}
    parts.extend("no " + word for word in nfs_options.words(off))
    return ", ".join(parts)


def words_of(settings: Dict[str, str], names: Iterable[str]) -> str:
    """The settings of those names as mount spells them."""
    chosen = {name: settings[name] for name in names if name in settings}
    return ",".join(nfs_options.words(chosen)) or "none of them"


def running_words(layers: Layers, names: Iterable[str]) -> str:
    """The running layer, without what mount keeps to itself (bg)."""
    if layers.running is None:
        return NOT_MOUNTED
    return words_of(
        layers.running, [name for name in names if name not in nfs_options.NEVER_GRANTED]
    )


def persisted_words(layers: Layers, names: Iterable[str]) -> str:
    """The persisted layer, with its place; "unknown" where another check states why."""
    if isinstance(layers.entries, HostproofError) or isinstance(layers.requested, HostproofError):
        return UNKNOWN
    if layers.entry is None or layers.requested is None:
        return NOTHING_AT_BOOT
    place, words = layers.entry.place, words_of(layers.requested, names)
    written = nfs_options.parse(layers.entry.options)
    added = [name for name, value in (known(layers.written) or {}).items() if name in names]
    if any(written.get(name) != layers.requested.get(name) for name in added):
        place += " and nfsmount.conf"
    return f"{place}: {words}"


def persisted_answer(layers: Layers, names: Iterable[str]) -> Answer[str]:
    """``persisted_words``, or the error in their place."""
    for answer in (layers.entries, layers.requested):
        if isinstance(answer, HostproofError):
            return answer
    return persisted_words(layers, names)


def persisted_source(layers: Layers) -> str:
    """The source that a reboot mounts at the path, with the place of its entry."""
    if isinstance(layers.entries, HostproofError):
        return UNKNOWN
    if layers.entry is None:
        return NOTHING_AT_BOOT
    return f"{layers.entry.place}: {layers.entry.source}"


def in_words(entry: nfs_persisted.Entry) -> str:
    """A place, and the options that are there."""
    return "{0}: {1}".format(entry.place, entry.options or "defaults")


def because(requirements: Iterable[Requirement]) -> str:
    """The sources of some requirements, each once."""
    sources: List[str] = []
    for requirement in requirements:
        if requirement.source not in sources:
            sources.append(requirement.source)
    return "; ".join(sources)
