# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the disks of databases and ASM."""

import re
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known, unless_absent, unless_newer
from ...collect.host import FoundLines, Host, Record, Stat
from ...errors import Absent, Denied, HostproofError, NotRecorded, Unanswered
from ...parsers import glob_pattern, kept_lines
from ...parsers.kernel import kernel_cmdline
from ...parsers.number import integer
from ...parsers.shell import started_commands
from ...parsers.systemd import udev_rules
from ...parsers.unix import getent, os_release
from ...probes.kernel import block_storage
from ...probes.oracle import io_writers
from ...probes.systemd import boot, boot_scripts, udev
from .parsers import dm_multipath, multipath_conf
from .policy import Device, Policy
from .probes import disk_string, disks, fibre_channel, iscsi, node_numbers, same_disk
from .probes.disk_string import DiskString, PathNode
from .probes.disks import Disk, Partition
from .probes.fibre_channel import Port
from .probes.iscsi import Session

#: Processes of ASM that hold its disks open.
_ASM = r"^asm_(dbw[0-9a-z]|lgwr|gmon|rbal|pmon)_\S+$"
_ASM_NAME = "asm_disks"
ASM_KEY = "open_files:" + _ASM_NAME
#: Directories with device names that administrators choose.
_FOLDERS = ("/dev", "/dev/mapper", "/dev/disk/by-id")
#: Directories with device nodes of ASMLIB and of the filter driver, which udev does not create.
DRIVERS = ("/dev/oracleasm/", "/dev/oracleafd/")

#: Paths below /dev that processes hold open and that are not disks.
_NO_DISKS = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty")
_NO_DISK_FOLDERS = ("/dev/shm/", "/dev/pts/", "/dev/hugepages/", "/dev/mqueue/")
#: Exit code of getent for an unknown name.
_NO_ENTRY = 2
#: Group and mode of ASM disks in Oracle's installation guide.
ASM_GROUP = "asmadmin"

_UNKNOWN = udev.Known("", {}, ())
#: Directories with persistent device names, in order of preference.
_STABLE = ("/dev/mapper/", "/dev/disk/by-id/")
_PLAIN = re.compile(r"[A-Za-z0-9_.:@+=/-]{1,256}\Z")
#: Rules files as (path, text), in the order in which udev reads them.
Rules = List[Tuple[str, str]]
#: Files that can set values after udev, and their lines that do.
_LATER = (
    *boot_scripts.RC_LOCAL,
    *started_commands.CRONTABS,
    *started_commands.CRONTABS_OF_ACCOUNTS,
    "/etc/sysfs.conf",
    "/etc/sysfs.d/*.conf",
    "/etc/systemd/system/*.service",
    "/etc/tmpfiles.d/*.conf",
    "/etc/udev/rules.d/*.rules",
)
_SETS = r"^[^#]*/(?:queue|device)/[a-z_]"
#: What required_values.py reads of such a line.
_SETTING = re.compile(
    r"/(?:class/)?block/[\w-]+/|/(?:queue|device)/[a-z_]+"
    r"|(?<![\w-])(?:\d{1,7}|none|noop|(?:mq-)?deadline|kyber|bfq|cfq|write|back|through)(?![\w-])"
)
_ASSIGNS = (
    r"\b(OWNER|GROUP|MODE|ATTR\{(queue|device)/[a-z_]+\})\s*[:+!=]?=\s*[ei]?\""
    r"|\bRUN\b.*(\bch(own|grp|mod)\b|\.(sh|bash|ksh|py|pl)\b"
    r"|[\"' \t;&|]/(?!(usr/)?s?bin/|(usr/)?lib(64|exec)?/|sys/|dev/|proc/))"
)
#: The first udev that leaves out a rule which compares owner, group or mode of a node.
_STRICT_UDEV = 243

DAEMON = "multipathd.service"
MULTIPATH_CONF = "/etc/multipath.conf"
_CONF_FOLDER = "/etc/multipath/conf.d"
WWIDS = "/etc/multipath/wwids"
OS_RELEASE = "/etc/os-release"
#: Where ASMLIB is told which disks to scan, and in which order.
_ORACLEASM = "/etc/sysconfig/oracleasm"
#: Where the filter driver is told the same.
_ORACLEAFD = "/etc/oracleafd.conf"
_AFD_STRING = r"^[ \t]*afd_diskstring[ \t]*="
_SCAN = r"^[ \t]*ORACLEASM_SCAN(?:ORDER|EXCLUDE|_DIRECTORIES)="
TABLE = ["dmsetup", "table", "--target", "multipath"]
STATUS = ["dmsetup", "status", "--target", "multipath"]
QUEUEING = ["multipathd", "show", "maps", "format", "%w %Q"]
CONFIG = ["multipathd", "show", "config", "local"]


class Used(NamedTuple):
    """A device in use, by the kernel's name. ``by`` describes its user.

    ``asm`` is the account of the ASM instance that holds it open, ``entry`` is the entry of the
    policy. ``below`` are the disks below the device, the nearest first. ``stable`` is a persistent
    path of the device, if it has one. ``opened`` is the device node in use if udev did not create
    it."""

    name: str
    by: str
    asm: Optional[int]
    entry: Optional[Device]
    stat: Answer[Stat]
    udev: Answer[udev.Known]
    partition: Answer[Optional[Partition]]
    below: Tuple[str, ...]
    stable: str
    opened: Optional[str] = None

    @property
    def node(self) -> str:
        return "/dev/" + self.name.replace("!", "/")


class Daemon(NamedTuple):
    """State of multipathd from systemctl, and its own output if it runs.

    ``finding`` is its find_multipaths, ``fast_fail`` its values of fast_io_fail_tmo in seconds.
    """

    enabled: Answer[str]
    active: Answer[str]
    queueing: Answer[Dict[str, dm_multipath.Queueing]]
    interval: Answer[Optional[int]]
    finding: Answer[Optional[str]] = None
    fast_fail: Answer[FrozenSet[int]] = frozenset()


class _Disks(Dict[str, Disk]):
    """The disks by name. One that was not read is unknown."""

    def __missing__(self, name: str) -> Disk:
        raise Unanswered("dir:" + disks.CLASS, f"{name} was not read")


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    ``found`` is an error if the users of disks cannot be read completely. ``rules`` are the udev
    rules files that set owners or values. ``accounts`` are uid and gid by "owner NAME" and "group
    NAME". ``later`` are lines that set values after udev, by place. ``labels`` are of ASMLIB or the
    filter driver, by path; ``asm_owner`` is the account of ASM. ``conf`` is multipath.conf, Absent
    without a file; ``wwids`` are those that multipath keeps. ``system`` are variables of
    os-release. ``old_udev``: a comparison in ``rules`` is an assignment. ``scan`` are the settings
    of ASMLIB for the disks that it scans. ``pseudo``
    are the pseudo devices of PowerPath by path, ``twins`` wwid and other names of disks that are
    below no map. ``sessions`` are those of iSCSI. ``string`` is where the running ASM searches for
    disks, None without a known place; ``path_nodes`` are the paths of maps that it can find there,
    by the device of ASM, and ``asm_groups`` the groups of ASM by its uid. ``holders`` are the maps
    that the kernel has above disks that are used without one. ``filter_string`` is where the filter
    driver scans for labels.
    """

    linux: bool
    found: Answer[bool]
    used: List[Used]
    disks: Dict[str, Disk]
    rules: Answer[Rules]
    tables: Answer[Dict[str, bool]]
    states: Answer[Dict[str, Dict[str, bool]]]
    daemon: Optional[Daemon]
    tuned: Answer[boot.Tuned]
    accounts: Dict[str, Answer[int]]
    drivers: Tuple[str, ...]
    file: Answer[str]
    fibre_channel: Answer[List[Port]]
    later: Answer[List[Tuple[str, str]]]
    labels: Dict[str, Answer[Stat]] = {}
    asm_owner: Optional[int] = None
    cmdline: Answer[List[Tuple[str, Optional[str]]]] = []
    conf: Answer[multipath_conf.Conf] = multipath_conf.Conf([], [], {})
    wwids: Answer[FrozenSet[str]] = frozenset()
    system: Answer[Dict[str, str]] = {}
    scan: Answer[List[str]] = []
    old_udev: Answer[bool] = False
    pseudo: Answer[Dict[str, str]] = {}
    twins: Dict[str, Answer[Tuple[str, Tuple[str, ...]]]] = {}
    sessions: Tuple[Session, ...] = ()
    logins: Answer[Dict[str, str]] = {}
    string: Answer[Optional[DiskString]] = None
    path_nodes: Dict[str, List[PathNode]] = {}
    asm_groups: Dict[int, Answer[FrozenSet[int]]] = {}
    holders: Dict[str, Answer[Optional[str]]] = {}
    filter_string: Answer[Optional[DiskString]] = None

    def maps(self) -> List[Disk]:
        return [disk for _name, disk in sorted(self.disks.items()) if disk.is_multipath]


class _Users:
    """Users of devices: (description, uid of an ASM instance) by the kernel's name."""

    def __init__(self) -> None:
        self.by: Dict[str, Tuple[str, Optional[int]]] = {}
        self.drivers: Set[str] = set()
        self.labels: Dict[str, Answer[Stat]] = {}
        self.asm_owner: Optional[int] = None
        #: Instances of ASM.
        self.asm: Set[str] = set()
        #: Open device nodes that udev did not create, by the kernel's name.
        self.nodes: Dict[str, str] = {}
        self.problem: Answer[bool] = True

    def add(self, name: str, words: str, asm: Optional[int] = None) -> None:
        before = self.by.get(name)
        self.by[name] = (words, asm) if before is None or asm is not None else before


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    names = attempt(host.list_dir, disks.CLASS)
    if isinstance(names, Absent):
        return _nothing(host, policy)
    users = _Users()
    problem = attempt(_find, host, policy, users)
    by_name: Dict[str, Disk] = {}
    rules = attempt(udev.read_rules, host, "udev_block", _ASSIGNS)
    used, problems = (
        [],
        [error for error in (users.problem, problem) if isinstance(error, HostproofError)],
    )
    for name in sorted(users.by):
        opened = users.nodes.get(name)
        answer = attempt(_read_used, host, policy, name, (*users.by[name], opened), by_name)
        if isinstance(answer, HostproofError):
            problems.append(answer)
        elif answer is not None:
            used.append(answer)
    by_session = {
        disk.session: disk for _name, disk in sorted(by_name.items()) if disk.session is not None
    }
    pseudo = attempt(same_disk.read_paths, host)
    alone = _outside_maps(used, by_name)
    facts = Facts(
        linux=True,
        found=problems[0] if problems else True,
        used=used,
        disks=_Disks(by_name),
        rules=rules,
        tables={},
        states={},
        daemon=None,
        tuned=attempt(boot.read_tuned, host),
        accounts=_read_accounts(host, policy, used),
        drivers=tuple(sorted(users.drivers)),
        file=attempt(host.read_text, policy.rules_file),
        fibre_channel=attempt(fibre_channel.read, host),
        later=attempt(_read_later, host),
        labels=users.labels,
        asm_owner=users.asm_owner,
        cmdline=attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline"))),
        scan=attempt(_read_scan, host) if users.labels else [],
        filter_string=attempt(_read_filter_string, host, users.labels),
        old_udev=attempt(_read_udev, host, rules),
        pseudo=pseudo,
        twins=same_disk.read_twins(host, alone),
        holders={name: attempt(disks.read_holder, host, name) for name in alone},
        sessions=tuple(iscsi.read(host, disk) for disk in by_session.values()),
        logins=attempt(iscsi.read_logins, host) if by_session else {},
    )
    return _with_disk_string(host, users.asm, _with_maps(host, facts))


def _nothing(host: Host, policy: Policy) -> Facts:
    file = attempt(host.read_text, policy.rules_file)
    return Facts(False, True, [], {}, [], {}, {}, None, boot.NO_TUNED, {}, (), file, [], [])


def _needed(_path: str, line: str) -> str:
    """Without words that are no device, no setting and no value of one."""
    return kept_lines.needed_words(line, _SETTING.findall)


def _read_later(host: Host) -> List[Tuple[str, str]]:
    search = attempt(host.find_lines, "disk_values", _LATER, _SETS, record=_needed)
    found = unless_newer(search, FoundLines({}, {}, []))
    if found.unread:
        path = found.unread[0]
        raise Unanswered("lines:disk_values", f"{path} could not be read: it may set values")
    return [
        (f"{path}:{number}", line)
        for path, lines in sorted(found.lines.items())
        if boot_scripts.runs_at_boot(host, found.callers.get(path, path)) is not False
        for number, line in lines
    ]


# -- who uses what --------------------------------------------------------------------------------


def _find(host: Host, policy: Policy, users: _Users) -> None:
    problems = [attempt(_find_asm, host, users)]
    if policy.devices is None:
        problems.append(attempt(_find_files, host, users))
        problems.append(attempt(_find_labels, host, users))
    else:
        _find_named(host, policy.devices, users)
    for problem in problems:
        # Devices of the policy can be checked even if their users are unknown.
        if policy.devices is None or not isinstance(problem, Denied):
            known(problem)


def _find_asm(host: Host, users: _Users) -> None:
    for process in host.open_files(_ASM_NAME, _ASM, ["/dev/"], identity.ORACLE):
        users.asm.add(process.argv0.split("_", 2)[2])
        for path in process.paths:
            _device(host, path, f"ASM ({process.argv0})", process.uid, users)


def _find_files(host: Host, users: _Users) -> None:
    """The devices that writing processes of databases hold open, and those below their files."""
    machine = io_writers.machine_of(host)
    writers = io_writers.writers(host, io_writers.read_holders(host), machine)
    for sid in sorted(writers):
        directories: Set[str] = set()
        for writer in writers[sid]:
            directories |= writer.folders
            users.drivers.update(writer.drivers)
            for open_file in writer.files:
                if open_file.kind == io_writers.DEVICE:
                    _device(host, open_file.path, f"instance {sid}", None, users)
        for directory in sorted(directories):
            place = block_storage.place_of(host, directory)
            if place.kind is None:
                users.add(place.name, f"files of instance {sid}")
            elif place.kind != block_storage.NFS:
                raise Unanswered("", f"the disks of {directory} are unknown ({place.name})")


def _device(host: Host, path: str, words: str, uid: Optional[int], users: _Users) -> None:
    """Record a device that a process holds open, independent of the name of its node."""
    if path.startswith(DRIVERS):
        users.drivers.add(path)
        users.asm_owner = uid if uid is not None else users.asm_owner
        return
    if path in _NO_DISKS or path.startswith(_NO_DISK_FOLDERS):
        return
    name = host.real_path(path).split("/")[-1]
    if name in disks.names(host):
        users.add(name, words, uid)
        return
    by_number = node_numbers.disk_of(host, path)
    if by_number is not None:
        users.add(by_number, words, uid)
        users.nodes[by_number] = path


def _find_labels(host: Host, users: _Users) -> None:
    """The disks with labels of ASMLIB or of the filter driver. The driver opens them for ASM."""
    for driver in DRIVERS:
        if not any(path.startswith(driver) for path in users.drivers):
            continue
        directory = driver + "disks"
        labels = unless_absent(attempt(host.list_dir, directory), [])
        if not labels:
            raise Unanswered(
                "dir:" + directory,
                f"ASM uses disks through {driver[:-1]}, and {directory} has no label: these disks "
                "are unknown; list them in block_devices_devices",
            )
        for label in labels:
            users.labels[f"{directory}/{label}"] = attempt(host.stat, f"{directory}/{label}")
            name = node_numbers.disk_of_label(host, f"{directory}/{label}")
            # The driver opens the disk: the owner of the label counts, not that of the node.
            users.add(name, f"ASM (label {label})")


def _find_named(host: Host, entries: Tuple[Device, ...], users: _Users) -> None:
    existing = set(disks.names(host))
    for entry in entries:
        for path in _paths(host, entry.name):
            real = attempt(host.real_path, path)
            name = if_known(real, "").split("/")[-1]
            if name in existing:
                users.add(name, f"block_devices_devices ({entry.name})")


def _paths(host: Host, pattern: str) -> List[str]:
    folders: Tuple[str, ...] = _FOLDERS
    if pattern.startswith("/dev/"):
        folder, _, pattern = pattern.rpartition("/")
        folders = (folder,)
    return [
        f"{folder}/{name}"
        for folder in folders
        for name in if_known(attempt(host.list_dir, folder), [])
        if glob_pattern.fits(name, pattern)
    ]


# -- each of them ---------------------------------------------------------------------------------


def _read_used(
    host: Host,
    policy: Policy,
    name: str,
    user: Tuple[str, Optional[int], Optional[str]],
    by_name: Dict[str, Disk],
) -> Optional[Used]:
    """The device with its facts. None if it is in block_devices_unmanaged."""
    answer = attempt(udev.read_known, host, name)
    node = "/dev/" + name.replace("!", "/")
    names = {node, *if_known(answer, _UNKNOWN).links}
    if any(_fits(names, pattern) for pattern in policy.unmanaged):
        return None
    entries = [entry for entry in policy.devices or () if _fits(names, entry.name)]
    disk = disks.whole(host, name)
    partition = attempt(disks.read_partition, host, name) if disk != name else None
    below = disks.read_below(host, name, by_name)
    return Used(
        name,
        user[0],
        user[1],
        entries[0] if entries else None,
        attempt(host.stat, user[2] or node),
        answer,
        partition,
        tuple(below),
        _stable(host, name, if_known(answer, _UNKNOWN)),
        user[2],
    )


def _stable(host: Host, name: str, record: udev.Known) -> str:
    """A persistent path. A link that several devices claim can belong to another one (paths of a
    map)."""
    for link in sorted(record.links, key=lambda path: (not path.startswith(_STABLE[0]), path)):
        if not link.startswith(_STABLE) or not _PLAIN.match(link):
            continue
        if if_known(attempt(host.real_path, link), "").split("/")[-1] == name:
            return link
    return "/dev/" + name.replace("!", "/")


def _fits(names: Set[str], pattern: str) -> bool:
    """Whether a pattern matches, as in ``_paths``: without /dev/ it matches the last part."""
    if pattern.startswith("/dev/"):
        return any(glob_pattern.fits(name, pattern) for name in names)
    return any(
        glob_pattern.fits(name.rpartition("/")[2], pattern)
        for name in names
        if name.rpartition("/")[0] in _FOLDERS
    )


def _read_accounts(host: Host, policy: Policy, used: List[Used]) -> Dict[str, Answer[int]]:
    ids: Dict[str, Answer[int]] = {}
    for uid in sorted({device.asm for device in used if device.asm is not None}):
        text = attempt(lambda number=uid: host.run(["getent", "passwd", str(number)]).stdout)
        for account in if_known(
            attempt(lambda output=text: getent.parse_passwd(known(output))), []
        ):
            ids["owner " + account.name] = account.uid
    if any(device.asm is not None for device in used):
        ids["group " + ASM_GROUP] = attempt(_asm_group, host)
    for entry in policy.devices or ():
        if entry.owner is not None:
            ids["owner " + entry.owner] = attempt(_account, host, "passwd", entry.owner)
        if entry.group is not None:
            ids["group " + entry.group] = attempt(_account, host, "group", entry.group)
    return ids


def _asm_group(host: Host) -> int:
    """The gid of the ASM group. Absent if the host has no such group."""
    argv = ["getent", "group", ASM_GROUP]
    output = host.run(argv)
    if output.rc == _NO_ENTRY:
        raise Absent("command:" + " ".join(argv), f"this host has no group {ASM_GROUP}")
    return _account(host, "group", ASM_GROUP)


def _account(host: Host, table: str, name: str) -> int:
    argv = ["getent", table, name]
    output = host.run(argv)
    if output.rc != 0:
        raise Unanswered("command:" + " ".join(argv), f"this host has no {table} entry {name}")
    if table == "passwd":
        return getent.parse_passwd(output.stdout)[0].uid
    return getent.parse_group(output.stdout)[0].gid


# -- multipath ------------------------------------------------------------------------------------


def _read_output(host: Host, argv: List[str], record: Optional[Record] = None) -> str:
    output = host.run(argv, record=record)
    if output.rc != 0:
        key = "command:" + " ".join(argv)
        text = " ".join((output.stderr or output.stdout).split())[:200]
        kind = Denied if "ermission denied" in text else Unanswered
        raise kind(key, f"{argv[0]} ended with {output.rc}: {text}")
    return output.stdout


def _read_config(host: Host) -> str:
    return _read_output(host, CONFIG, dm_multipath.kept_config)


def _read_conf(host: Host) -> multipath_conf.Conf:
    """The lines of the file, then those of the files in its directory, as multipathd reads them.

    Absent without any file.
    """
    names = unless_absent(attempt(host.list_dir, _CONF_FOLDER), [])
    paths = [f"{_CONF_FOLDER}/{name}" for name in names if name.endswith(".conf")]
    texts = [
        attempt(host.read_text, path, record=multipath_conf.kept)
        for path in [MULTIPATH_CONF, *paths]
    ]
    present = [known(text) for text in texts if not isinstance(text, Absent)]
    if not present:
        raise Absent("file:" + MULTIPATH_CONF, f"there is no {MULTIPATH_CONF}")
    found = multipath_conf.Conf([], [], {})
    for text in present:
        part = multipath_conf.parse(text)
        found.entries.extend(part.entries)
        found.exceptions.extend(part.exceptions)
        found.defaults.update(part.defaults)
    return found._replace(has_main=not isinstance(texts[0], Absent))


def _read_wwids(host: Host) -> FrozenSet[str]:
    text = attempt(host.read_text, WWIDS)
    return multipath_conf.wwids("" if isinstance(text, Absent) else known(text))


def _read_udev(host: Host, rules: Answer[Rules]) -> bool:
    """Whether udev takes comparisons in the rules for assignments. False without a comparison."""
    places = udev_rules.comparing(if_known(rules, []))
    if not places:
        return False
    output = attempt(host.run, ["udevadm", "--version"])
    version = "" if isinstance(output, HostproofError) else output.stdout.split("(")[0].strip()
    if not version.isdecimal():
        raise Unanswered(
            "command:udevadm --version",
            f"{places[0]} compares (==) an owner, group or mode, which udev before {_STRICT_UDEV} "
            "takes for an assignment; its version is not known",
        )
    return integer(version) < _STRICT_UDEV


def _outside_maps(used: List[Used], by_name: Dict[str, Disk]) -> List[str]:
    """The lowest disks of the used devices that no multipath map is above."""
    return sorted({name for one in used for name in disks.outside_maps(one.below, by_name)})


def _with_maps(host: Host, facts: Facts) -> Facts:
    if not facts.maps():
        return facts
    return facts._replace(
        tables=attempt(lambda: dm_multipath.tables(_read_output(host, TABLE))),
        states=attempt(lambda: dm_multipath.states(_read_output(host, STATUS))),
        daemon=_read_daemon(host),
        conf=attempt(_read_conf, host),
        wwids=attempt(_read_wwids, host),
        system=attempt(lambda: os_release.parse(host.read_text(OS_RELEASE))),
    )


def _with_disk_string(host: Host, sids: Set[str], facts: Facts) -> Facts:
    of_asm = [one for one in facts.used if one.asm is not None]
    string = attempt(disk_string.read, host, sids) if of_asm else None
    if string is None or isinstance(string, NotRecorded):
        return facts._replace(string=string)
    nodes = {}
    for one in of_asm:
        below = [facts.disks[name] for name in one.below]
        nodes[one.name] = disk_string.read_paths(host, below, facts.pseudo, one.name, string)
    uids = {one.asm for one in of_asm if one.asm is not None and nodes[one.name]}
    return facts._replace(
        string=string,
        path_nodes=nodes,
        asm_groups={uid: attempt(_read_groups, host, uid) for uid in sorted(uids)},
    )


def _read_groups(host: Host, uid: int) -> FrozenSet[int]:
    accounts = getent.parse_passwd(host.run(["getent", "passwd", str(uid)]).stdout)
    argv = ["id", "-G", accounts[0].name if accounts else str(uid)]
    numbers = host.run(argv).stdout.split()
    if not numbers or not all(number.isdecimal() for number in numbers):
        raise Unanswered("command:" + " ".join(argv), "id does not know the groups of ASM")
    return frozenset(map(integer, numbers))


def _read_scan(host: Host) -> List[str]:
    lines = attempt(host.read_lines, _ORACLEASM, _SCAN)
    return [line.strip() for line in unless_absent(lines, [])]


def _read_filter_string(host: Host, labels: Dict[str, Answer[Stat]]) -> Optional[DiskString]:
    """None without a label of the filter driver, or where its file does not name a string."""
    if not any(path.startswith(DRIVERS[1]) for path in labels):
        return None
    lines = unless_absent(attempt(host.read_lines, _ORACLEAFD, _AFD_STRING), [])
    value = lines[-1].partition("=")[2] if lines else ""
    patterns = disk_string.patterns(value)
    return DiskString(_ORACLEAFD, patterns) if patterns else None


def _read_daemon(host: Host) -> Daemon:
    """The state of multipathd. It is queried only if it runs, because its socket would start it."""
    enabled, active = (
        attempt(lambda action=verb: host.run(["systemctl", action, DAEMON]).stdout.strip())
        for verb in ("is-enabled", "is-active")
    )
    if active != "active":
        return Daemon(enabled, active, {}, None)
    return Daemon(
        enabled,
        active,
        attempt(lambda: dm_multipath.queueing(_read_output(host, QUEUEING))),
        *(
            attempt(lambda parse=parser: parse(_read_config(host)))
            for parser in (
                dm_multipath.polling_interval,
                dm_multipath.find_multipaths,
                dm_multipath.fast_fail,
            )
        ),
    )
