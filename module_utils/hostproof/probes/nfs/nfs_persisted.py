# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next reboot mounts by NFS: fstab, mount units and the automounter, and which of them
wins.

Sources: fstab(5); systemd.mount(5) and systemd-fstab-generator(8): an fstab line becomes a unit,
and a unit file of the same name in /etc is used in its place; systemd.unit(5); autofs(8).
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.kernel import kernel_release
from ...parsers.mounts import aix_filesystems, fstab, vfstab
from ...parsers.nfs import nfs_options, nfsmount_conf
from ...parsers.systemd import systemd_unit
from ..systemd import unit_files
from . import mount_needs, mount_units, nfs_files
from .automounts import AutoMounts, Unread, read_automounts

FSTAB = "/etc/fstab"
RELEASE = "/proc/sys/kernel/osrelease"
_TABLES = {
    nfs_options.LINUX: FSTAB,
    nfs_options.HPUX: FSTAB,
    nfs_options.SOLARIS: "/etc/vfstab",
    nfs_options.AIX: "/etc/filesystems",
}
_NFS = ("nfs", "nfs4")
#: Order of precedence if neither is used at boot.
_KINDS = ("unit", "fstab", "autofs")


class Entry(NamedTuple):
    """One place that mounts a path by NFS.

    ``kind`` is "fstab" (also vfstab, and AIX's filesystems), "unit" or "autofs"; ``place`` is for
    people: "/etc/fstab:12". ``at_boot`` says whether, after a reboot, this place is what serves the
    path, be it mounted at once or on first access (``on_access``); if not, ``why_not_at_boot`` says
    why: noauto, not enabled, or another place is before it. ``options`` are as written there.
    For the wildcard of an automounter map ``path`` ends in "/*". ``doubt`` is the error where it is
    unknown whether a reboot mounts it."""

    path: str
    source: str
    fstype: str
    options: str
    kind: str
    place: str
    at_boot: bool
    why_not_at_boot: str
    on_access: bool
    evidence: Tuple[str, ...]
    doubt: Optional[HostproofError] = None


class Persisted(NamedTuple):
    """Everything that mounts by NFS at boot. Read of_path() rather than ``entries``.

    ``table`` is the file that lists mounts ("/etc/fstab"), ``fstab_text`` its text and
    ``bad_lines`` its places ("/etc/fstab:7") that mount(8) rejects. ``defaults`` is nfsmount.conf.
    ``unread`` are maps of the automounter that could not be read. ``differs_from_generator`` are
    paths whose unit in /run/systemd/generator says something else than fstab: systemctl
    daemon-reload is due, and until then the old options are mounted. ``kernel`` reads the options;
    only that of Linux is known. ``local`` is what mounts other file systems than NFS, in fstab and
    in units."""

    entries: Answer[List[Entry]]
    table: str
    fstab_text: Answer[str]
    bad_lines: Answer[List[str]]
    defaults: Answer[nfsmount_conf.Conf]
    unread: List[Unread]
    differs_from_generator: Answer[List[str]]
    kernel: Answer[kernel_release.Release]
    local: Answer[List[Entry]]


def read_persisted(host: Host, system: Answer[str]) -> Persisted:
    """Look at everything that mounts at boot; nothing below a mount point is touched."""
    if isinstance(system, HostproofError) or system not in _TABLES:
        problem = system if isinstance(system, HostproofError) else _unknown(system)
        return Persisted(problem, FSTAB, problem, problem, problem, [], problem, problem, problem)
    linux = system == nfs_options.LINUX
    table = _TABLES[system]
    text = attempt(host.read_text, table, record=fstab.kept if table == FSTAB else None)
    listed = attempt(lambda: _read_table(unless_absent(text, ""), system, table))
    auto = attempt(read_automounts, host, linux)
    unread = list(auto.unread) if isinstance(auto, AutoMounts) else []
    if isinstance(auto, HostproofError):
        unread.append(Unread(None, str(auto)))
    elif not auto.starts:
        unread = []
    units = attempt(_read_units, host, linux)
    return Persisted(
        entries=attempt(
            lambda: _entries(host, linux, known(listed), known(units), if_known(auto, None))
        ),
        table=table,
        fstab_text=text,
        bad_lines=attempt(lambda: _bad_lines(unless_absent(text, ""), table)),
        defaults=attempt(_read_defaults, host, linux),
        unread=unread,
        differs_from_generator=attempt(lambda: _differing(host, known(listed), known(units))),
        kernel=attempt(_read_kernel, host, linux),
        local=attempt(lambda: _local(unless_absent(text, ""), known(units), linux)),
    )


def of_path(persisted: Persisted, path: str) -> List[Entry]:
    """Every place that mounts a path; the one in effect after a reboot comes first.

    If two fstab lines have one path, the first comes first under systemd, which ignores the other.
    Without systemd both are mounted, and the last one, which is on top, comes first. Raises unknown
    entries, also if nothing was found but a map that could contain the path was not read.
    """
    entries = []
    for entry in known(persisted.entries):
        if entry.path == path:
            entries.append(entry)
        elif entry.path.endswith("/*") and path.rpartition("/")[0] == entry.path[:-2]:
            key = path.rpartition("/")[2]
            entries.append(entry._replace(path=path, source=entry.source.replace("&", key)))
    if not entries:
        for unread in persisted.unread:
            if unread.under is None or path.startswith(unread.under.rstrip("/") + "/"):
                raise Unanswered("autofs", f"{unread.why}, which is not read here")
    entries.sort(key=lambda entry: (not entry.at_boot, _KINDS.index(entry.kind)))
    if entries and entries[0].at_boot:
        known(entries[0].doubt)
    return entries


class _Listed(NamedTuple):
    """A line of the system's table. ``why_not`` is "" where it states to mount at boot."""

    path: str
    source: str
    fstype: str
    options: str
    place: str
    why_not: str
    on_access: bool


def _unknown(system: str) -> Unanswered:
    return Unanswered("command:uname -s", f"what {system} mounts at boot is not known to Hostproof")


def _read_table(text: str, system: str, table: str) -> List[_Listed]:
    if system == nfs_options.SOLARIS:
        return [
            _Listed(
                entry.path,
                entry.source,
                entry.fstype,
                entry.options,
                f"{table}:{entry.line}",
                "" if entry.at_boot else "mount at boot is no",
                False,
            )
            for entry in vfstab.parse(text)
            if entry.fstype in _NFS
        ]
    if system == nfs_options.AIX:
        return _read_stanzas(text, table)
    return [
        _listed_line(entry, table)
        for entry in fstab.parse(text)
        if _is_nfs(entry.fstype, entry.source) and entry.path.startswith("/")
    ]


def _is_nfs(fstype: Optional[str], source: str) -> bool:
    """mount(8) uses NFS for "host:/path" if the type is missing or "auto"."""
    return fstype in _NFS or (fstype in (None, "", "auto") and ":/" in source)


def _listed_line(entry: fstab.Entry, table: str) -> _Listed:
    words = entry.options.split(",")
    on_access = "x-systemd.automount" in words
    return _Listed(
        entry.path,
        entry.source,
        entry.fstype if entry.fstype in _NFS else "nfs",
        entry.options,
        f"{table}:{entry.line}",
        "noauto" if "noauto" in words and not on_access else "",
        on_access,
    )


def _read_stanzas(text: str, table: str) -> List[_Listed]:
    """AIX mounts at boot what states mount=true or automatic (mount all)."""
    stanzas = aix_filesystems.parse(text)
    defaults: Dict[str, str] = {}
    for stanza in stanzas:
        if stanza.name == "default":
            defaults.update(stanza.attributes)
    lines = []
    for stanza in stanzas:
        values = dict(defaults, **stanza.attributes)
        if stanza.name == "default" or values.get("vfs") not in ("nfs", "nfs3", "nfs4"):
            continue
        at_boot = values.get("mount", "") in ("true", "automatic")
        lines.append(
            _Listed(
                fstab.clean_path(stanza.name),
                "{0}:{1}".format(values.get("nodename", ""), values.get("dev", "")),
                "nfs4" if values["vfs"] == "nfs4" else "nfs",
                values.get("options", ""),
                f"{table}:{stanza.line}",
                "" if at_boot else "mount = {0}".format(values.get("mount", "false")),
                False,
            )
        )
    return lines


def _bad_lines(text: str, table: str) -> List[str]:
    if table != FSTAB:
        return []
    return [f"{table}:{line}" for line in fstab.bad_lines(text)]


def _read_units(host: Host, linux: bool) -> Optional[mount_units.Units]:
    """None where no systemd runs (sd_booted(3))."""
    if not linux or unless_absent(attempt(host.list_dir, "/run/systemd/system"), None) is None:
        return None
    return mount_units.read_units(host, mount_needs.parameters(host))


def _read_defaults(host: Host, linux: bool) -> nfsmount_conf.Conf:
    if not linux:
        return nfsmount_conf.parse([])
    names = unless_absent(attempt(host.list_dir, nfsmount_conf.FOLDER), [])
    texts = []
    for path in nfsmount_conf.files(names):
        text = unless_absent(attempt(host.read_text, path), None)
        if text is not None:
            texts.append((path, text))
    included: Dict[str, Optional[str]] = {}
    waiting = [include for path, text in texts for include in nfsmount_conf.includes(path, text)]
    while waiting:
        path = waiting.pop()
        if path not in included and len(included) <= nfsmount_conf.MOST_INCLUDED:
            answer = attempt(nfs_files.read_text, host, path, None, (), nfsmount_conf.kept)
            included[path] = unless_absent(answer, None)
            waiting += nfsmount_conf.includes(path, included[path] or "")
    return nfsmount_conf.parse(texts, included)


def _read_kernel(host: Host, linux: bool) -> kernel_release.Release:
    if not linux:
        raise Absent("file:" + RELEASE, "only Linux's kernel is known")
    return kernel_release.parse(host.read_text(RELEASE))


def _entries(
    host: Host,
    linux: bool,
    listed: List[_Listed],
    units: Optional[mount_units.Units],
    auto: Optional[AutoMounts],
) -> List[Entry]:
    entries = _without_systemd(listed) if units is None else _by_systemd(host, listed, units)
    has_any = bool(entries) or (auto is not None and bool(auto.mounts))
    needs = mount_needs.read_needs(host, units) if linux and has_any else mount_needs.NOTHING
    entries = [_with_needs(entry, needs, units) for entry in entries]
    if auto is not None:
        more = _of_autofs(auto, entries)
        entries += [_with_needs(entry, needs, units) for entry in more]
    return entries


def _of_autofs(auto: AutoMounts, before: List[Entry]) -> List[Entry]:
    """The mounts of the automounter. An entry before them for the same path precedes them."""
    taken = {entry.path: entry.place for entry in before if entry.at_boot}
    entries: List[Entry] = []
    for mount in auto.mounts:
        if mount.fstype not in _NFS or mount.source.startswith(":"):
            continue
        why_not = "" if auto.starts else "autofs is not started at boot"
        if not why_not and mount.path in taken:
            why_not = f"{taken[mount.path]} precedes it"
        taken.setdefault(mount.path, mount.place)
        entry = Entry(
            mount.path,
            mount.source,
            mount.fstype,
            mount.options,
            "autofs",
            mount.place,
            not why_not,
            why_not,
            True,
            mount.evidence,
        )
        entries.append(entry)
    return entries


def _with_needs(
    entry: Entry, needs: mount_needs.Needs, units: Optional[mount_units.Units]
) -> Entry:
    """The entry as it is where the host lacks what a mount by NFS needs."""
    if not entry.at_boot:
        return entry
    unit = None if units is None else units.units.get(entry.path)
    why_not = "" if unit is None or entry.kind == "autofs" else unit.condition
    if why_not == "":
        why_not = attempt(
            mount_needs.why_not, needs, entry.kind, entry.path, entry.fstype, entry.options
        )
    if isinstance(why_not, HostproofError):
        return entry._replace(doubt=why_not)
    return entry._replace(at_boot=not why_not, why_not_at_boot=why_not)


def _local(text: str, units: Optional[mount_units.Units], linux: bool) -> List[Entry]:
    """What mounts other file systems at boot; of one path only what counts."""
    if not linux:
        raise Absent("file:" + FSTAB, "local file systems are checked on Linux only")
    entries = {} if units is None else _local_units(units)
    for line in fstab.parse(text):
        if _is_nfs(line.fstype, line.source) or not line.path.startswith("/"):
            continue
        words = line.options.split(",")
        entry = Entry(
            path=line.path,
            source=line.source,
            fstype=line.fstype,
            options=line.options,
            kind="fstab",
            place=f"{FSTAB}:{line.line}",
            at_boot="noauto" not in words or "x-systemd.automount" in words,
            why_not_at_boot="",
            on_access="x-systemd.automount" in words,
            evidence=("file:" + FSTAB,),
        )
        # A unit in /usr/lib (tmp.mount) gives way to fstab, one in /etc and a drop-in do not.
        there = entries.get(line.path)
        if there is None or there.place.startswith(("/usr/lib/", "/lib/")):
            entries[line.path] = entry
    return [entries[path] for path in sorted(entries)]


def _local_units(units: mount_units.Units) -> Dict[str, Entry]:
    entries: Dict[str, Entry] = {}
    for unit in units.units.values():
        if unit.masked or unit.options is None or _is_nfs(unit.fstype, unit.what or ""):
            continue
        entries[unit.path] = Entry(
            path=unit.path,
            source=unit.what or "",
            fstype=unit.fstype or "",
            options=unit.options,
            kind="unit",
            place=unit.set_at or unit.place,
            # Units of fstab are started; other units only if another unit requires them.
            at_boot=not unit.place or units.starts(unit.path),
            why_not_at_boot="",
            on_access=False,
            evidence=unit.evidence,
        )
    return entries


def _entry(line: _Listed, kind: str, why_not: str) -> Entry:
    return Entry(
        line.path,
        line.source,
        line.fstype,
        line.options,
        kind,
        line.place,
        not why_not,
        why_not,
        line.on_access,
        ("file:" + line.place.rpartition(":")[0],),
    )


def _without_systemd(listed: Sequence[_Listed]) -> List[Entry]:
    """mount -a mounts every line, the last for a path on top of the others."""
    entries: List[Entry] = []
    taken: Dict[str, str] = {}
    for line in reversed(listed):
        why_not = line.why_not
        if not why_not and line.path in taken:
            why_not = f"{taken[line.path]} is mounted over it"
        if not why_not:
            taken[line.path] = line.place
        entries.insert(0, _entry(line, "fstab", why_not))
    return entries


def _by_systemd(host: Host, listed: Sequence[_Listed], units: mount_units.Units) -> List[Entry]:
    entries: List[Entry] = []
    first: Dict[str, _Listed] = {}
    for line in listed:
        why_not = line.why_not
        preceding = _preceding(units.units.get(line.path))
        if line.path in first:
            why_not = (
                f"{first[line.path].place} names the path before it, and systemd takes the first"
            )
        elif preceding:
            why_not = preceding
        elif units.starts_on_access(line.path):
            why_not = ""
            line = line._replace(on_access=True)
        elif why_not and units.starts(line.path):
            why_not = ""
        first.setdefault(line.path, line)
        entries.append(_entry(line, "fstab", why_not))
    for unit in units.units.values():
        entry = _unit_entry(host, unit, units, first.get(unit.path))
        if entry is not None:
            entries.append(entry)
    return _with_parents(entries)


def _preceding(unit: Optional[mount_units.MountUnit]) -> str:
    """Why systemd does not use the line of fstab; "" if it does."""
    if unit is None:
        return ""
    if unit.masked:
        return f"{unit.place or 'the kernel command line'} masks it"
    if unit.place:
        return f"{unit.place} precedes it"
    return f"{unit.set_at} replaces it" if unit.set_at else ""


def _unit_entry(
    host: Host, unit: mount_units.MountUnit, units: mount_units.Units, line: Optional[_Listed]
) -> Optional[Entry]:
    """A unit that mounts by NFS; of fstab's own units only those that a drop-in changes."""
    generated = line if not unit.place else None
    if unit.masked or not (unit.place or (generated is not None and unit.set_at)):
        return None
    fstype, what, options = _settings(unit, generated)
    if not _is_nfs(fstype, what):
        return None
    if unit.sloppy:
        # systemd calls mount -s, which is the same.
        options = ",".join(filter(None, (options, "sloppy")))
    on_access = units.starts_on_access(unit.path) or (line is not None and line.on_access)
    is_started = on_access or units.starts(unit.path)
    why_not = unit.problem or _why_not_started(host, unit.path, line, is_started)
    return Entry(
        path=unit.path,
        source=what,
        fstype=fstype if fstype in _NFS else "nfs",
        options=options,
        kind="unit",
        place=unit.place or unit.set_at,
        at_boot=not why_not,
        why_not_at_boot=why_not,
        on_access=on_access,
        evidence=unit.evidence,
    )


def _settings(
    unit: mount_units.MountUnit, generated: Optional[_Listed]
) -> Tuple[Optional[str], str, str]:
    """Type, source and options of a unit: those of fstab's line where no drop-in sets them."""
    fstype, what, options = unit.fstype, unit.what, unit.options
    if generated is not None:
        fstype = generated.fstype if fstype is None else fstype
        what = generated.source if what is None else what
        options = generated.options if options is None else options
    return fstype, what or "", options or ""


def _why_not_started(host: Host, path: str, line: Optional[_Listed], is_started: bool) -> str:
    """Why nothing starts a unit; "" if the running systemd names a unit that requires it."""
    if is_started:
        return ""
    if line is not None:
        return line.why_not
    if if_known(attempt(mount_units.pulled_in_by, host, path), []):
        return ""
    return f"no unit wants or requires it: systemctl enable {systemd_unit.unit_name(path)}"


def _with_parents(entries: List[Entry]) -> List[Entry]:
    """A mount unit requires those of the directories above it: what they lack to be started."""
    started = [entry.path for entry in entries if entry.at_boot]
    unwanted = ("noauto", "no unit wants")
    return [
        entry._replace(at_boot=True, why_not_at_boot="")
        if entry.why_not_at_boot.startswith(unwanted)
        and any(path.startswith(entry.path.rstrip("/") + "/") for path in started)
        else entry
        for entry in entries
    ]


def _differing(host: Host, listed: List[_Listed], units: Optional[mount_units.Units]) -> List[str]:
    """Paths of fstab whose generated unit was made of another line than the one there now."""
    if units is None:
        return []
    paths: List[str] = []
    seen: List[str] = []
    for line in listed:
        if line.path in seen:
            continue
        seen.append(line.path)
        path = f"{unit_files.GENERATED}/{systemd_unit.unit_name(line.path)}"
        text = attempt(host.read_text, path, record=systemd_unit.kept_mount)
        if isinstance(text, Absent) or not _is_made_of(known(text), path, line):
            paths.append(line.path)
    return paths


def _is_made_of(text: str, path: str, line: _Listed) -> bool:
    unit = systemd_unit.parse(text, path)
    values: Dict[str, str] = {}
    for key in ("What", "Type", "Options"):
        setting = systemd_unit.last([unit], "Mount", key)
        values[key] = "" if setting is None else setting.value.replace("%%", "%")
    # The generator writes no type where fstab says "auto".
    same_type = values["Type"] in (line.fstype, "")
    return (
        same_type
        and values["What"] == line.source
        and _mounted_with(values["Options"]) == _mounted_with(line.options)
    )


def _mounted_with(options: str) -> Dict[str, str]:
    """What reaches the mount. Releases of systemd differ in the other words that they copy, and
    for bg they let systemd wait in place of mount."""
    return {
        name: value
        for name, value in nfs_options.parse(options).items()
        if name not in nfs_options.NEVER_GRANTED and not name.startswith("x-")
    }
