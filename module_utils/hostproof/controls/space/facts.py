# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about file systems."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host, Stat
from ...errors import Absent, HostproofError, NotRecorded, ParseError, Unanswered
from ...parsers.mounts import fstab, mountinfo
from ...parsers.number import integer
from ...parsers.oracle import oracle_inventory
from ...parsers.systemd import systemd_unit
from ...probes.nfs import nfs_files
from ...probes.oracle import clusterware, next_start, oracle_homes, processes
from ...probes.oracle.instances import find_instances
from ...probes.oracle.sqlplus import PROGRAM
from . import demands
from .demands import Demand
from .policy import Policy

MOUNTINFO = "/proc/self/mountinfo"
FSTAB = "/etc/fstab"
TMP = "/tmp"
STATFS = ["stat", "-f", "-c", "%S %b %a %c %d"]
#: Time limit in seconds, because the command hangs if a file server does not respond.
_TIMEOUT = 5.0
#: Directories whose owner and mode matter to the installer.
DIRECTORIES = ("/var", "/tmp", "/var/tmp", "/dev/shm")
#: Directories of the sockets of Clusterware, listeners and instances.
SOCKETS = ("/var/tmp/.oracle", "/tmp/.oracle")
#: Files that root.sh of Grid Infrastructure writes, and links that start its unit at boot.
INIT_SCRIPTS = ("/etc/init.d/init.ohasd", "/etc/init.d/ohasd")
SYSTEMD = "/etc/systemd/system"
BOOT_LINKS = tuple(
    f"{SYSTEMD}/{target}.wants/oracle-ohasd.service"
    for target in ("multi-user.target", "graphical.target")
)
#: Below the Grid home.
GRID_FILES = (
    "gpnp/wallets/peer/cwallet.sso",
    "gpnp/wallets/root/ewallet.p12",
    "gpnp/profiles/peer/profile.xml",
)
#: Below the directory of the diagnostic data of Clusterware.
ADR = ("alert", "cdump", "incident", "incpkg", "lck", "log", "metadata", "stage", "sweep", "trace")
HOSTNAME = "/proc/sys/kernel/hostname"
_BASE = r"^ORACLE_BASE=/"
_STAT = ["stat", "-L", "-c", "%u %a"]
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "glusterfs", "lustre", "gpfs", "afs")
_AUTOMOUNT = "autofs"
#: The service of autofs(8), and the source of automounts that are units.
_AUTOFS, _OF_SYSTEMD = "autofs.service", "systemd-1"
_LONGEST = 64


class Usage(NamedTuple):
    """Bytes and inodes of a file system. ``free`` is what users other than root can use.

    ``inodes`` is 0 where the file system has no fixed number of them.
    """

    size: int
    free: int
    inodes: int
    inodes_free: int


class Program(NamedTuple):
    """Owner and mode of a program. ``key`` is the evidence."""

    uid: int
    mode: int
    key: str


class Startup(NamedTuple):
    """What starts Clusterware at boot. ``links`` lead to its unit; None without systemd.

    ``changed`` are scripts that differ from those in the Grid home."""

    scripts: Dict[str, Answer[Stat]]
    links: Optional[Dict[str, Answer[Stat]]]
    changed: Answer[List[str]]


class Grid(NamedTuple):
    """Owner of the Grid home, and files of Grid Infrastructure that exist, by path."""

    uid: int
    files: Dict[str, Answer[Stat]]


class Existing(NamedTuple):
    """The planned path, or the directory above it that exists."""

    path: str
    stat: Stat


class Facts(NamedTuple):
    """``places`` maps each path with a demand to its mount point.

    ``usage`` is by mount point, ``directories`` by path. ``inventory`` is None where there is none.
    ``oradism`` is by home, ``sockets`` a number, or None while Oracle processes run.
    ``startup`` is None where Clusterware is not configured. ``units`` are the systemd units that
    mount a mount point at boot, where fstab does not. ``destinations`` are those that the next
    starts of databases name. ``masked`` are mount points whose unit systemd may not start.
    """

    mounts: Answer[List[mountinfo.Mount]]
    fstab: Answer[List[fstab.Entry]]
    homes: Answer[List[oracle_homes.OracleHome]]
    inventory: Answer[Optional[str]]
    places: Dict[str, Answer[str]]
    usage: Dict[str, Answer[Usage]]
    directories: Dict[str, Answer[Stat]]
    oradism: Dict[str, Answer[Program]]
    sockets: Answer[Optional[int]]
    startup: Answer[Optional[Startup]]
    grid: Answer[Optional[Grid]]
    planned: Dict[str, Answer[Existing]]
    units: Dict[str, Answer[List[str]]] = {}
    destinations: List[Answer[Demand]] = []
    masked: Dict[str, Answer[bool]] = {}


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks."""
    mounts = attempt(lambda: mountinfo.visible(mountinfo.parse(host.read_text(MOUNTINFO))))
    homes = attempt(oracle_homes.read_homes, host, ())
    inventory = attempt(_read_inventory, host)
    places: Dict[str, Answer[str]] = {}
    usage: Dict[str, Answer[Usage]] = {}
    directories: Dict[str, Answer[Stat]] = {}
    destinations: List[Answer[Demand]] = []
    if not isinstance(mounts, HostproofError):
        destinations = _read_destinations(host, mounts, places)
        required = [Demand(path, "", size, frozenset()) for path, size in demands.INSTALLER]
        required += demands.planned(policy) + demands.installed(homes, inventory)
        for demand in required:
            if demand.path not in places:
                places[demand.path] = attempt(_place_of, host, mounts, demand.path)
        usage = _read_usage(host, mounts, places)
        directories = {path: attempt(_stat_of, host, mounts, path) for path in DIRECTORIES}
    entries = attempt(lambda: fstab.parse(host.read_text(FSTAB, record=fstab.kept)))
    points = {TMP, *(if_known(place, "/") for place in places.values())} - {"/"}
    points = set() if isinstance(mounts, HostproofError) else points
    return Facts(
        mounts=mounts,
        fstab=entries,
        homes=homes,
        inventory=inventory,
        places=places,
        usage=usage,
        directories=directories,
        oradism={
            home.path: attempt(_read_oradism, host, known(mounts), home.path)
            for home in if_known(homes, [])
            if not isinstance(mounts, HostproofError)
        },
        sockets=attempt(lambda: _count_sockets(host, known(mounts))),
        startup=attempt(lambda: _read_startup(host, known(mounts))),
        grid=attempt(lambda: _read_grid(host, known(mounts))),
        planned={
            entry.path: attempt(_read_existing, host, known(mounts), entry.path)
            for entry in policy.planned
            if not isinstance(mounts, HostproofError)
        },
        units={
            path: attempt(_read_units, host, path, bool(options_of(if_known(entries, []), path)))
            for path in sorted(points)
            if not _is_mounted_by_fstab(if_known(entries, []), path)
        },
        destinations=destinations,
        masked={
            path: attempt(_is_masked, host, path)
            for path in sorted(points)
            if _kind_of(known(mounts), path) not in (*NETWORK, _AUTOMOUNT)
        },
    )


def _read_destinations(
    host: Host, mounts: List[mountinfo.Mount], places: Dict[str, Answer[str]]
) -> List[Answer[Demand]]:
    """Those of databases that are down, and of running ones as far as the file shows them. Sets
    ``places``: the account that writes a parameter file resolves its paths, not root."""
    # No instance is queried: this control needs no answer of one.
    asking = next_start.Asking(0.0, "the control space")
    instances = attempt(lambda: next_start.running_databases(find_instances(host)))
    homes = attempt(next_start.homes_of_oratab, host)
    found: List[Answer[Demand]] = []
    for sid, home in sorted(if_known(homes, {}).items()):
        if sid[0] in next_start.NO_DATABASE:
            continue
        if _has_no_files(host, mounts, home):
            continue
        running = if_known(instances, {}).get(sid)
        database = next_start.read_database(host, asking, sid, running, home)
        demanded = attempt(demands.destinations, database)
        if isinstance(demanded, HostproofError):
            # Without a file, no start of this name takes place here. A running instance knows it.
            is_known = running is not None or isinstance(demanded, Absent)
            found += [] if is_known else [demanded]
            continue
        for demand in demanded:
            found.append(demand)
            if demand.path not in places:
                user = known(database.target).user
                places[demand.path] = attempt(_place_as, host, mounts, demand.path, user)
    return found


def _has_no_files(host: Host, mounts: List[mountinfo.Mount], home: str) -> bool:
    """Whether a home has no parameter files: without a dbs directory, on an automount that is not
    mounted, and in recordings that do not have the reading."""
    mount = attempt(mount_of, mounts, home)
    if isinstance(mount, HostproofError):
        return False
    kind = mount.fstype
    if kind in NETWORK:
        program = attempt(host.program_owner, f"{home}/{PROGRAM}")
        return isinstance(program, (Absent, NotRecorded))
    folder = attempt(_stat_of, host, mounts, home + "/dbs")
    return kind == _AUTOMOUNT or isinstance(folder, (Absent, NotRecorded))


def _place_as(host: Host, mounts: List[mountinfo.Mount], path: str, user: str) -> str:
    """As _place_of, by a command of the account."""
    mount = mount_of(mounts, path)
    if mount.fstype in NETWORK or mount.fstype == _AUTOMOUNT:
        return mount.path
    argv = ["readlink", "-m", "--", path]
    target = nfs_files.run(host, argv, user).rstrip("\n")
    if not target.startswith("/"):
        raise Unanswered("command:" + " ".join(argv), f"readlink of {path} tells no path")
    return mount_of(mounts, target).path


def _is_mounted_by_fstab(entries: List[fstab.Entry], path: str) -> bool:
    options = options_of(entries, path)
    last = [option for option in options if option in ("auto", "noauto")][-1:]
    return bool(options) and (last != ["noauto"] or "x-systemd.automount" in options)


def options_of(entries: List[fstab.Entry], path: str) -> Tuple[str, ...]:
    """The options of the last entry of fstab for a mount point; () without one."""
    options: Tuple[str, ...] = ()
    for entry in entries:
        if entry.path == path:
            options = tuple((entry.options or "defaults").split(","))
    return options


def _read_units(host: Host, path: str, is_listed: bool) -> List[str]:
    """The units that mount it at boot, none without systemd.

    basic.target starts a static tmp.mount (systemd.special(7)). Whether something starts another
    static or generated unit is not known; fstab generates one for a line with noauto, too.
    """
    units = _by_automounter(host, path)
    for suffix in ("mount", "automount"):
        name = systemd_unit.unit_name(path, "." + suffix)
        argv = ["systemctl", "is-enabled", name]
        output = attempt(host.run, argv)
        state = "" if isinstance(output, Absent) else known(output).stdout.strip()
        if state in ("enabled", "alias") or (state == "static" and path == TMP):
            units.append(name)
        elif state == "static" or (state == "generated" and not is_listed):
            key = "command:" + " ".join(argv)
            raise Unanswered(key, f"{name} is {state}: what starts it at boot is not known")
    return units


def _by_automounter(host: Host, path: str) -> List[str]:
    """The service of a map of autofs(8) that mounts it, if it starts at boot. An automount of
    systemd is itself a unit."""
    every = mountinfo.parse(host.read_text(MOUNTINFO))
    for mount in every:
        is_above = mount.path == path or path.startswith(mount.path.rstrip("/") + "/")
        if mount.fstype == _AUTOMOUNT and mount.source != _OF_SYSTEMD and is_above:
            output = attempt(host.run, ["systemctl", "is-enabled", _AUTOFS])
            if isinstance(output, NotRecorded) or known(output).stdout.strip() == "enabled":
                return [_AUTOFS]
    return []


def _is_masked(host: Host, path: str) -> bool:
    """Whether an administrator masked the unit: also a line of fstab then mounts nothing."""
    name = systemd_unit.unit_name(path, ".mount")
    return unless_absent(attempt(host.real_path, f"{SYSTEMD}/{name}"), "") == "/dev/null"


def _read_inventory(host: Host) -> Optional[str]:
    for pointer in oracle_inventory.POINTERS:
        text = unless_absent(attempt(host.read_text, pointer), None)
        if text is not None:
            return oracle_inventory.parse_pointer(text)
    return None


def _stat_of(host: Host, mounts: List[mountinfo.Mount], path: str) -> Stat:
    if mount_of(mounts, path).fstype in (*NETWORK, _AUTOMOUNT):
        raise Unanswered(
            "stat:" + path, f"{path} is on a network file system, which is not touched"
        )
    return host.stat(path)


def _read_oradism(host: Host, mounts: List[mountinfo.Mount], home: str) -> Program:
    """A command that ends in time reads a network file system."""
    path = home + "/bin/oradism"
    kind = mount_of(mounts, path).fstype
    if kind == _AUTOMOUNT:
        raise Unanswered("stat:" + path, f"{home} is on an automount that is not mounted")
    if kind not in NETWORK:
        stat = host.stat(path)
        return Program(stat.uid, stat.mode, "stat:" + path)
    key = "command:" + " ".join([*_STAT, path])
    output = host.run([*_STAT, path], timeout=_TIMEOUT)
    fields = output.stdout.split()
    if output.rc != 0 or len(fields) != 2:
        raise Unanswered(key, f"stat {path} ended with {output.rc}")
    return Program(integer(fields[0]), integer(fields[1], 8), key)


def _read_existing(host: Host, mounts: List[mountinfo.Mount], path: str) -> Existing:
    for above in _and_parents(path):
        stat = attempt(_stat_of, host, mounts, above or "/")
        if not isinstance(stat, Absent):
            return Existing(above or "/", known(stat))
    raise Unanswered("stat:" + path, f"no directory above {path} exists")


def _read_grid(host: Host, mounts: List[mountinfo.Mount]) -> Optional[Grid]:
    home = clusterware.read_home(host)
    if home is None:
        return None
    paths = [f"{home}/{name}" for name in GRID_FILES]
    lines = unless_absent(
        attempt(host.read_lines, home + "/crs/install/crsconfig_params", _BASE), []
    )
    if lines:
        name = host.read_text(HOSTNAME).strip().partition(".")[0].lower()
        folder = f"{lines[-1].partition('=')[2].strip().rstrip('/')}/diag/crs/{name}/crs"
        paths += [folder] + [f"{folder}/{child}" for child in ADR]
    stats = {path: attempt(_stat_of, host, mounts, path) for path in paths}
    existing = {path: stat for path, stat in stats.items() if not isinstance(stat, Absent)}
    return Grid(_stat_of(host, mounts, home).uid, existing)


def _is_changed(host: Host, mounts: List[mountinfo.Mount], home: str, path: str) -> bool:
    """Whether a script differs from each version of it in the home, such as that for SUSE."""
    shipped = f"{home}/crs/init/{path.rpartition('/')[2]}"
    differs = []
    for script in (shipped, shipped + ".sles"):
        if isinstance(attempt(_stat_of, host, mounts, script), Absent):
            continue
        argv = ["cmp", "-s", path, script]
        output = host.run(argv, timeout=_TIMEOUT)
        if output.rc not in (0, 1):
            raise Unanswered("command:" + " ".join(argv), f"cmp ended with {output.rc}")
        differs.append(output.rc == 1)
    return bool(differs) and all(differs)


def _read_startup(host: Host, mounts: List[mountinfo.Mount]) -> Optional[Startup]:
    home = clusterware.read_home(host)
    if home is None:
        return None
    has_systemd = unless_absent(attempt(host.real_path, SYSTEMD), "")
    return Startup(
        {path: attempt(host.stat, path) for path in INIT_SCRIPTS},
        {path: attempt(host.stat, path) for path in BOOT_LINKS} if has_systemd else None,
        attempt(
            lambda: [script for script in INIT_SCRIPTS if _is_changed(host, mounts, home, script)]
        ),
    )


def _count_sockets(host: Host, mounts: List[mountinfo.Mount]) -> Optional[int]:
    if processes.read(host):
        return None
    count = 0
    for path in SOCKETS:
        if mount_of(mounts, path).fstype in (*NETWORK, _AUTOMOUNT):
            raise Unanswered("dir:" + path, f"{path} is on a network file system")
        count += len(_entries(host, path))
    return count


def _entries(host: Host, path: str) -> List[str]:
    """The names in a directory that any account may create; none where it does not exist."""
    answer = attempt(host.list_dir, path)
    if isinstance(answer, Unanswered):
        # A path that does not exist is not trusted where any account can create it.
        above, _slash, name = path.rpartition("/")
        listed = attempt(host.list_dir, above)
        if not isinstance(listed, HostproofError) and name not in listed:
            return []
    return list(unless_absent(answer, []))


def _place_of(host: Host, mounts: List[mountinfo.Mount], path: str) -> str:
    """The mount point of a path, or of the directory in which it would be created."""
    for above in _and_parents(path):
        mount = mount_of(mounts, above)
        if mount.fstype in NETWORK or mount.fstype == _AUTOMOUNT:
            return mount.path
        target = attempt(host.real_path, above)
        if not isinstance(target, Absent):
            return mount_of(mounts, known(target)).path
    return mount_of(mounts, "/").path


def _and_parents(path: str) -> List[str]:
    paths = [path]
    while paths[-1] not in ("/", "") and len(paths) < _LONGEST:
        paths.append(paths[-1].rpartition("/")[0] or "/")
    return paths


def mount_of(mounts: List[mountinfo.Mount], path: str) -> mountinfo.Mount:
    """The mount of a path without links; of two on one place the later."""
    best = mountinfo.holding(path, mounts)
    if best is None:
        raise Unanswered("file:" + MOUNTINFO, f"{MOUNTINFO} has no mount for {path}")
    return best


def _kind_of(mounts: List[mountinfo.Mount], path: str) -> str:
    mount = mountinfo.holding(path, mounts)
    return mount.fstype if mount else ""


def usage_key(place: str) -> str:
    return "command:" + " ".join([*STATFS, place])


def _read_usage(
    host: Host, mounts: List[mountinfo.Mount], places: Dict[str, Answer[str]]
) -> Dict[str, Answer[Usage]]:
    by_path = {mount.path: mount for mount in mounts}
    known_places = [place for place in places.values() if not isinstance(place, HostproofError)]
    return {
        place: attempt(_usage_of, host, by_path[place]) for place in dict.fromkeys(known_places)
    }


def _usage_of(host: Host, mount: mountinfo.Mount) -> Usage:
    if mount.fstype == _AUTOMOUNT:
        raise Unanswered("file:" + MOUNTINFO, f"{mount.path} is an automount that is not mounted")
    output = host.run([*STATFS, mount.path], timeout=_TIMEOUT)
    if output.rc != 0:
        raise Unanswered(usage_key(mount.path), f"stat -f {mount.path} ended with {output.rc}")
    return parse_usage(output.stdout)


def parse_usage(text: str) -> Usage:
    """The line of STATFS: block size, blocks, blocks for users, inodes, free inodes."""
    fields: Tuple[str, ...] = tuple(text.split())
    if len(fields) != 5 or not all(field.isdecimal() for field in fields):
        raise ParseError("stat -f", "does not print five numbers")
    block, blocks, free, inodes, inodes_free = (integer(field) for field in fields)
    if free > blocks or inodes_free > inodes:
        raise ParseError("stat -f", "shows more free than there is")
    return Usage(block * blocks, block * free, inodes, inodes_free)
