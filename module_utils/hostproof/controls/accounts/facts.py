# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the owners of Oracle software."""

import fnmatch
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent, unless_newer
from ...collect.host import FoundLines, Host
from ...errors import Absent, Denied, HostproofError, ParseError, Unanswered
from ...parsers.number import integer
from ...parsers.oracle import oracle_inventory
from ...parsers.unix import getent
from ...probes.nfs import nfs_files
from ...probes.oracle import clusterware, oracle_homes, processes, time_zones
from ...probes.unix import accounts as accounts_probe
from . import login, pam_masks
from .login import PROFILE, PROFILE_D
from .parsers import shared_uids, shell_profile
from .policy import Policy, wanted

PASSWD = "/etc/passwd"
MEMINFO = "/proc/meminfo"
LOGIN_DEFS = "/etc/login.defs"
_SYSTEM_FILES = (PROFILE, "/etc/bashrc", "/etc/bash.bashrc")
#: Its last file on Red Hat, for settings of the site.
_LOCAL = "sh.local"
_PAM = "pam_umask"
#: pam_umask(8): it takes precedence over the argument of the module and over login.defs.
_GECOS_MASK = re.compile(r"(?i)(?:^|,)umask=([0-7]{1,4})(?:,|$)")
#: More files than start files read.
_MOST = 32
#: Paths that start files name and that may not exist.
_MOST_TRIED = 100
_OWN_FILES = (".bash_profile", ".bash_login", ".profile", ".bashrc")
_ABSOLUTE = re.compile(r"^/[^\x00-\x1f]*\Z")
_FILE = re.compile(r"(\w[\w ]{1,40}) (\d{1,10}) ([0-7]{1,4})\s*\Z")
_STATUS = re.compile(r"^(Umask|Gid|Groups):\s*([0-9 \t]*)$", re.MULTILINE)


class Entry(NamedTuple):
    """A line of the account database, and the names of all groups; the primary one is first.

    A name with a blank is several ``groups``. ``gids`` is empty in recordings of older versions."""

    passwd: getent.Passwd
    groups: Tuple[str, ...]
    gids: Tuple[int, ...]

    def has(self, name: str, gid: int) -> bool:
        """Whether it has a group."""
        return gid == self.passwd.gid or name in self.groups and gid in (self.gids or (gid,))


class File(NamedTuple):
    """``kind`` as stat shows it: "regular file", "directory"."""

    kind: str
    uid: int
    mode: int


class Running(NamedTuple):
    """A process: its umask (None where the kernel does not show it), its gid and all gids."""

    name: str
    umask: Optional[str]
    gid: int
    gids: Tuple[int, ...]


class Owner(NamedTuple):
    """An account. ``entry`` is Absent where it does not exist. ``own`` are its start files, and
    those that they read. ``listed`` are names in directories that they read. ``shell`` and ``home``
    are what stat shows of their files.
    """

    name: str
    entry: Answer[Entry]
    own: Dict[str, Answer[shell_profile.Settings]]
    running: Tuple[Answer[Running], ...]
    listed: Dict[str, Answer[Tuple[str, ...]]] = {}
    shell: Answer[Optional[File]] = None
    home: Answer[Optional[File]] = None


class Inventory(NamedTuple):
    """Where oraInst.loc points. ``directory``: uid, gid, octal mode. ``listed``: home paths."""

    file: str
    path: str
    group: str
    directory: Answer[Tuple[int, int, int]]
    grid_home: Answer[Optional[str]]
    listed: Answer[Tuple[str, ...]]


class Facts(NamedTuple):
    """An Answer holds the value, or the error of its read.

    ``default_umask`` has two masks, the second for an account whose group has its name.
    ``pam_masks`` are the umasks that PAM sets in sessions.
    ``group_of_gid`` and ``account_of_uid`` say whom the policy's numbers belong to.
    ``zones`` are read only if a start file sets TZ: of the system, and the one of Clusterware or
    None.
    """

    meminfo: Answer[str]
    owners: Answer[Tuple[Owner, ...]]
    groups: Dict[str, Answer[getent.Group]]
    group_of_gid: Dict[int, Answer[str]]
    account_of_uid: Dict[int, Answer[str]]
    shared: Answer[Dict[int, List[str]]]
    system: Answer[Dict[str, Answer[shell_profile.Settings]]]
    default_umask: Answer[Tuple[str, str]]
    pam_masks: Answer[Tuple[pam_masks.PamMask, ...]]
    inventory: Answer[Inventory]
    zones: Answer[Tuple[str, Optional[str]]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    meminfo = attempt(host.read_text, MEMINFO)
    if isinstance(meminfo, Absent):
        # No command of Linux runs on another system.
        return Facts(meminfo, meminfo, {}, {}, {}, *[meminfo] * 6)
    owners = attempt(_owners, host, policy)
    shared = attempt(_shared, host, if_known(owners, ()))
    names = [group.name for group in policy.groups]
    for required in wanted(policy):
        names += [required.group, *required.groups]
    gids = [group.gid for group in policy.groups if group.gid is not None]
    uids = [account.uid for account in policy.accounts or () if account.uid is not None]
    system = attempt(_system_files, host) if if_known(owners, ()) else {}
    for owner in if_known(owners, ()):
        if isinstance(owner.entry, Entry):
            _follow(host, owner, if_known(system, {}))
    return Facts(
        meminfo=meminfo,
        owners=owners,
        groups={name: attempt(_group, host, name) for name in dict.fromkeys(names)},
        group_of_gid={gid: attempt(lambda g=gid: _group(host, str(g)).name) for gid in gids},
        account_of_uid={uid: attempt(accounts_probe.user_name, host, uid) for uid in uids},
        shared=shared,
        system=system,
        default_umask=attempt(_default_umask, host),
        pam_masks=attempt(_pam_masks, host) if if_known(owners, ()) else (),
        inventory=attempt(_inventory, host),
        zones=attempt(_zones, host, owners, system),
    )


def _shared(host: Host, owners: Tuple[Owner, ...]) -> Dict[int, List[str]]:
    uid_of = {
        owner.name: owner.entry.passwd.uid for owner in owners if isinstance(owner.entry, Entry)
    }
    text = host.read_text(PASSWD, record=lambda text: shared_uids.kept(text, uid_of))
    return shared_uids.parse(text, uid_of)


def _owners(host: Host, policy: Policy) -> Tuple[Owner, ...]:
    """Accounts of the policy, else oracle and grid where they exist; owners of instances."""
    named = [account.name for account in wanted(policy)]
    names = list(named or ("oracle", "grid"))
    running = [program for program in processes.read(host) if "_pmon_" in program.name]
    users: Dict[int, Answer[str]] = {}
    for program in running:
        if program.process.uid not in users:
            users[program.process.uid] = attempt(
                accounts_probe.user_name, host, program.process.uid
            )
    names += [user for user in users.values() if isinstance(user, str) and user not in names]
    owners = [_owner(host, name, running, users) for name in names]
    unnamed = [
        Owner(str(uid), user, {}, ())
        for uid, user in users.items()
        if isinstance(user, HostproofError)
    ]
    return (
        *(owner for owner in owners if named or not isinstance(owner.entry, Absent)),
        *unnamed,
    )


def _owner(
    host: Host, name: str, running: List[processes.Named], users: Dict[int, Answer[str]]
) -> Owner:
    entry = attempt(_entry, host, name)
    own: Dict[str, Answer[shell_profile.Settings]] = {}
    shell: Answer[Optional[File]] = None
    home: Answer[Optional[File]] = None
    if isinstance(entry, Entry):
        own = _own_files(host, entry.passwd.home)
        shell = attempt(_file, host, entry.passwd.shell or "/bin/sh")
        home = attempt(_file, host, entry.passwd.home)
    return Owner(
        name,
        entry,
        own,
        tuple(
            attempt(_running, host, program)
            for program in running
            if users[program.process.uid] == name
        ),
        {},
        shell,
        home,
    )


def _file(host: Host, path: str) -> File:
    """A home may be on NFS, so a command with a time limit reads it."""
    if not _ABSOLUTE.match(path):
        raise ParseError("passwd", "a path that is not absolute")
    argv = ["stat", "-L", "-c", "%F %u %a", path]
    match = _FILE.match(nfs_files.run(host, argv))
    if match is None:
        raise Unanswered("command:" + " ".join(argv), "stat did not show kind, owner and mode")
    kind, uid, mode = match.groups()
    return File(kind, integer(uid), integer(mode, 8))


def _follow(host: Host, owner: Owner, system: Dict[str, Answer[shell_profile.Settings]]) -> None:
    """Add the files that the start files read, as the account: it chose their paths."""
    home = known(owner.entry).passwd.home
    waiting = login.sourced(owner.own)
    waiting += [pair for pair in login.sourced(system) if re.match(r"~|.*[*?]", pair[0])]
    seen = {*owner.own, *system}
    most = len(seen) + _MOST_TRIED
    while waiting:
        value, parent = waiting.pop(0)
        place = _place(value, home, parent)
        is_full = len(owner.own) >= _MOST or len(seen) >= most
        folder = place.rpartition("/")[0]
        if is_full and re.search(r"[*?]", place) and folder not in owner.listed:
            owner.listed[folder] = _too_many(place)
            continue
        for path in _matching(host, owner.name, place, owner.listed):
            if path in seen:
                continue
            if len(owner.own) >= _MOST or len(seen) >= most:
                owner.own[path] = _too_many(path)
                continue
            seen.add(path)
            text = attempt(
                nfs_files.read_text, host, path, owner.name, (parent,), shell_profile.kept
            )
            read_files = _files({path: text})
            owner.own.update(read_files)
            waiting += login.sourced(read_files)


def _too_many(place: str) -> Unanswered:
    return Unanswered(login.key_of(place), "start files read too many files")


def _place(value: str, home: str, parent: str) -> str:
    """The path or pattern; "" for what is read with the system, or not at all."""
    place = login.place_of(value, home)
    folder = place.rpartition("/")[0]
    is_of_system = folder == PROFILE_D and place.endswith(".sh") or place in _SYSTEM_FILES
    is_read = _ABSOLUTE.match(place) and not re.search(r"[*?]", folder)
    return "" if is_of_system or login.of_package(place, parent) or not is_read else place


def _matching(
    host: Host, name: str, place: str, listed: Dict[str, Answer[Tuple[str, ...]]]
) -> List[str]:
    """The paths of a place, which may be a pattern."""
    if not place:
        return []
    folder, _, pattern = place.rpartition("/")
    if "*" not in pattern and "?" not in pattern:
        return [place]
    if folder not in listed:
        listed[folder] = attempt(_names_in, host, folder, name)
    names = [one for one in if_known(listed[folder], ()) if one[:1] != "." or pattern[:1] == "."]
    return [f"{folder}/{one}" for one in fnmatch.filter(names, pattern)]


def _names_in(host: Host, folder: str, user: str) -> Tuple[str, ...]:
    """Names of files, hidden ones too. ls writes a slash behind the name of a directory, and other
    characters than printable ones and blanks with a backslash."""
    argv = ["ls", "-1Apb", folder]
    names = nfs_files.run(host, argv, user).replace("\\ ", " ").split("\n")
    if any("\\" in name for name in names):
        raise Unanswered("command:" + " ".join(argv), f"a name in {folder} is not printable")
    return tuple(name for name in names if name and not name.endswith("/"))


def _entry(host: Host, name: str) -> Entry:
    text = _getent(host, "passwd", name)
    output = host.run(["id", "-Gn", name])
    # It ends with 1 and prints the number where a group has no name.
    if output.rc not in (0, 1) or not output.stdout.strip():
        raise Unanswered(f"command:id -Gn {name}", "id answered: " + output.stderr.strip()[:200])
    key = f"command:id -G {name}"
    answer = unless_absent(attempt(host.run, ["id", "-G", name]), None)
    numbers = answer.stdout.split() if answer else []
    if answer and (answer.rc != 0 or not numbers):
        raise Unanswered(key, "id does not know the groups")
    return Entry(
        getent.parse_passwd(text)[0],
        tuple(output.stdout.split()),
        tuple(integer(number) for number in numbers),
    )


def _group(host: Host, name: str) -> getent.Group:
    return getent.parse_group(_getent(host, "group", name))[0]


def _getent(host: Host, database: str, name: str) -> str:
    """The line of a name or number; Absent where the name service has none (code 2)."""
    argv = ["getent", database, name]
    output = host.run(argv)
    key = "command:" + " ".join(argv)
    if output.rc == 2:
        raise Absent(key, f"the host has no {name} in {database}")
    if output.rc != 0:
        raise Unanswered(key, f"getent answered {output.rc}: {output.stderr.strip()[:200]}")
    return output.stdout


def _running(host: Host, program: processes.Named) -> Running:
    path = f"/proc/{program.process.pid}/status"
    rows = dict(_STATUS.findall(host.read_text(path)))
    gids = rows.get("Gid", "").split()
    if len(gids) != 4:
        raise ParseError(path, "no line Gid with four numbers")
    groups = [integer(gid) for gid in [gids[1], *rows.get("Groups", "").split()]]
    return Running(program.name, rows.get("Umask", "").strip() or None, groups[0], tuple(groups))


def _system_files(host: Host) -> Dict[str, Answer[shell_profile.Settings]]:
    names = unless_absent(attempt(host.list_dir, PROFILE_D), [])
    paths = [_SYSTEM_FILES[0]]
    paths += [f"{PROFILE_D}/{name}" for name in names if name.endswith(".sh")]
    paths += _SYSTEM_FILES[1:]
    texts = {path: attempt(host.read_text, path, record=shell_profile.kept) for path in paths}
    if _LOCAL in names:
        path = f"{PROFILE_D}/{_LOCAL}"
        text = attempt(host.read_text, path, record=shell_profile.kept)
        texts[path] = attempt(unless_absent, text, "")
    files = _files(texts)
    waiting, seen = login.sourced(files), {*paths}
    while waiting:
        value, parent = waiting.pop(0)
        place = _place(value, "~", parent)
        folder, _, name = place.rpartition("/")
        is_listed = folder != PROFILE_D or name in names
        if not is_listed or not place or value in seen or re.search(r"[*?]", value):
            continue
        if len(seen) > len(paths) + _MOST:
            files[value] = _too_many(value)
            continue
        seen.add(value)
        text = attempt(nfs_files.read_text, host, value, None, (parent,), shell_profile.kept)
        found = _files({value: text})
        files.update(found)
        waiting += login.sourced(found)
    return files


def _own_files(host: Host, home: str) -> Dict[str, Answer[shell_profile.Settings]]:
    """Start files of a home. It may be on NFS, so a command with a time limit reads them."""
    if not _ABSOLUTE.match(home):
        return {}
    paths = [f"{home.rstrip('/')}/{name}" for name in _OWN_FILES]
    return _files(
        {
            path: attempt(nfs_files.read_text, host, path, record=shell_profile.kept)
            for path in paths
        }
    )


def _files(texts: Dict[str, Answer[str]]) -> Dict[str, Answer[shell_profile.Settings]]:
    return {
        path: text if isinstance(text, HostproofError) else shell_profile.parse(text)
        for path, text in texts.items()
        if not isinstance(text, Absent)
    }


def _zones(
    host: Host,
    owners: Answer[Tuple[Owner, ...]],
    system: Answer[Dict[str, Answer[shell_profile.Settings]]],
) -> Tuple[str, Optional[str]]:
    read_files = list(if_known(system, {}).values())
    for owner in if_known(owners, ()):
        read_files += owner.own.values()
    if not any(
        settings.zones for settings in read_files if isinstance(settings, shell_profile.Settings)
    ):
        return "", None
    node = host.run(["uname", "-n"]).stdout.strip()
    return time_zones.of_system(host), time_zones.of_clusterware(host, node)


def _default_umask(host: Host) -> Tuple[str, str]:
    """The umasks of a login if no start file sets it (login.defs(5), UMASK; pam_umask(8))."""
    text = unless_absent(attempt(host.read_text, LOGIN_DEFS), "")
    masks = re.findall(r"^\s*UMASK\s+([0-7]{1,4})\s*(?:#.*)?$", text, re.MULTILINE)
    mask = integer(masks[-1], 8) if masks else 0o022
    if re.search(r"^\s*USERGROUPS_ENAB\s+yes", text, re.MULTILINE | re.IGNORECASE):
        return f"{mask:03o}", pam_masks.with_own_group(f"{mask:o}")
    return f"{mask:03o}", f"{mask:03o}"


def _pam_masks(host: Host) -> Tuple[pam_masks.PamMask, ...]:
    """What pam_umask sets in the sessions of each service; none in old recordings."""
    found = attempt(host.find_lines, _PAM, pam_masks.PLACES, pam_masks.LINES)
    lines = unless_newer(found, FoundLines({}, {}, []))
    if lines.unread:
        raise Denied("lines:" + _PAM, f"{lines.unread[0]} is unreadable")
    return pam_masks.read(lines.lines)


def gecos_mask(entry: Entry) -> Optional[str]:
    match = _GECOS_MASK.search(entry.passwd.gecos)
    return None if match is None else match.group(1)


def _inventory(host: Host) -> Inventory:
    for pointer in oracle_inventory.POINTERS:
        text = unless_absent(attempt(host.read_text, pointer), None)
        if text is not None:
            break
    else:
        raise Absent("file:" + oracle_inventory.POINTERS[0], "there is no oraInst.loc")
    path = oracle_inventory.parse_pointer(text)
    homes = attempt(oracle_homes.read_homes, host, ())
    return Inventory(
        pointer,
        path,
        oracle_inventory.group_of(text),
        attempt(_directory, host, path, pointer),
        attempt(clusterware.read_home, host),
        attempt(lambda: tuple(home.path for home in known(homes) if home.clusterware)),
    )


def _directory(host: Host, path: str, pointer: str) -> Tuple[int, int, int]:
    argv = ["stat", "-L", "-c", "%u %g %a", path]
    words = nfs_files.run(host, argv, named_by=(pointer,)).split()
    if len(words) != 3 or not all(word.isdecimal() for word in words):
        raise Unanswered("command:" + " ".join(argv), "stat did not answer with three numbers")
    return integer(words[0]), integer(words[1]), integer(words[2], 8)
