# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a process is the program that its name shows. Any account can choose any process name.

A process counts only if

- it runs as root or as an account that is known to run this program. The accounts of Oracle are the
  owner of oratab and the members of oinstall, of dba, and of the group that root specified when
  Oracle was installed (inst_group of oraInst.loc);
- it runs in the user namespace of the host, and in its mount namespace or as the main process of a
  unit that has a separate one (PrivateTmp);
- it runs the file (device and inode) that the package installs, or a file that was removed from
  that path; for Oracle, HOME/bin/NAME.

Attributes that this user may not read do not exclude a process. The account of a process is always
readable. Only processes that count are recorded.
"""

import grp
import os
import pwd
import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from . import guarded


class Kind(NamedTuple):
    """The processes that a search returns. ``users``: accounts other than root that run them;
    ``programs``: paths where packages install the program, none for any program; ``oracle``: also
    a program of an Oracle home that is run by one of the Oracle accounts."""

    users: Tuple[str, ...] = ()
    programs: Tuple[str, ...] = ()
    oracle: bool = False
    anybody: bool = False


ANYBODY = Kind(anybody=True)
ORACLE = Kind(oracle=True)
#: Whatever root itself runs.
OF_ROOT = Kind()
#: The daemons that set the clock: RHEL, Debian, SUSE and Ubuntu name their accounts differently.
TIME = Kind(
    users=(
        *("chrony", "_chrony", "ntp", "_ntp", "ntpsec"),
        *("systemd-timesync", "systemd-timesyncd", "linuxptp"),
    ),
    programs=(
        *(
            folder + name
            for folder in ("/usr/sbin/", "/usr/bin/", "/sbin/")
            for name in ("chronyd", "ntpd", "phc2sys", "ptp4l")
        ),
        "/usr/lib/systemd/systemd-timesyncd",
        "/lib/systemd/systemd-timesyncd",
    ),
)
#: Those of Clusterware among them.
TIME_OR_CLUSTERWARE = TIME._replace(oracle=True)

_ROOT = 0
_ORACLE_GROUPS = ("oinstall", "dba")
_ORATABS = ("/etc/oratab", "/var/opt/oracle/oratab")
_REMOVED = " (deleted)"


def kind_of(values: Sequence[object]) -> Kind:
    """A Kind as JSON holds it."""
    users, programs, oracle, anybody = values
    return Kind(_texts(users), _texts(programs), bool(oracle), bool(anybody))


def _texts(values: object) -> Tuple[str, ...]:
    return tuple(str(value) for value in values) if isinstance(values, (list, tuple)) else ()


def counts(pid: int, uid: int, argv0: str, kind: Kind) -> bool:
    """Whether a process, whose account is ``uid``, is of that kind. FileNotFoundError where it has
    ended."""
    if kind.anybody:
        return True
    if uid != _ROOT and not _is_account(uid, kind):
        return False
    return _is_at_home(pid) and _runs(pid, argv0, kind)


def is_oracles(argv0: str, kind: Kind) -> bool:
    """Whether a process counts as a program of an Oracle home, and not of a package."""
    name = argv0.rpartition("/")[2]
    return kind.oracle and all(path.rpartition("/")[2] != name for path in kind.programs)


def is_same_file(pid: int, exe: str) -> Optional[bool]:
    """Whether a process runs the file that its path leads to here; None where that is not known.

    It touches the file, which may be on a server that does not answer.
    """
    if exe.endswith(_REMOVED):
        return True
    try:
        runs, there = os.stat(f"/proc/{pid}/exe"), os.stat(exe)
    except PermissionError:
        return None
    except OSError:
        return False
    return (runs.st_dev, runs.st_ino) == (there.st_dev, there.st_ino)


def unit_of(pid: int) -> str:
    """The unit of systemd that a process belongs to, "" for none: systemd alone may put it there.

    A unit within the directory of another (of a user's or a container's manager) is none, and
    neither
    is the manager of a user (user@UID.service): that account arranges the directories in it.
    """
    parts = _cgroup_of(pid)
    above = _cgroup_of(1)
    if above and above[-1] == "init.scope":
        above = above[:-1]
    if parts[: len(above)] != above:
        return ""
    slices, unit = parts[len(above) : -1], parts[-1] if len(parts) > len(above) else ""
    if not unit.endswith(".service") or unit.startswith("user@"):
        return ""
    return unit if all(name.endswith(".slice") for name in slices) else ""


def _cgroup_of(pid: int) -> List[str]:
    with open(f"/proc/{pid}/cgroup", "rb") as stream:
        return _path_of_unit(stream.read(65536).decode("utf-8", "surrogateescape"))


def _path_of_unit(text: str) -> List[str]:
    """The path by which systemd names units, by its parts (cgroups(7))."""
    group_path = ""
    for line in text.split("\n"):
        _number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == "name=systemd" or (controllers == "" and not group_path):
            group_path = path
    return [part for part in group_path.split("/") if part]


def _is_account(uid: int, kind: Kind) -> bool:
    if kind.oracle and _is_oracles(uid):
        return True
    try:
        return pwd.getpwuid(uid).pw_name in kind.users
    except KeyError:
        return False


def _is_oracles(uid: int) -> bool:
    for path in _ORATABS:
        try:
            if os.stat(path, follow_symlinks=False).st_uid == uid:
                return True
        except OSError:
            continue
    try:
        account = pwd.getpwuid(uid)
        groups = os.getgrouplist(account.pw_name, account.pw_gid)
    except KeyError:
        return False
    return bool(_oracle_groups() & set(groups))


def _oracle_groups() -> "set[int]":
    group = guarded.installing_group()
    groups = {group[0]} if group is not None else set()
    for name in _ORACLE_GROUPS:
        try:
            groups.add(grp.getgrnam(name).gr_gid)
        except KeyError:
            continue
    return groups


def _is_at_home(pid: int) -> bool:
    if _shares(pid, "user") is False:
        return False
    return _shares(pid, "mnt") is not False or unit_of(pid) != ""


def _shares(pid: int, name: str) -> Optional[bool]:
    """Whether a process is in the namespace of the host; None where that is not to be seen."""
    try:
        its = os.readlink(f"/proc/{pid}/ns/{name}")
    except PermissionError:
        return None
    ours = []
    for process in ("self", "1"):
        try:
            ours.append(os.readlink(f"/proc/{process}/ns/{name}"))
        except OSError:
            continue
    return its in ours


def _runs(pid: int, argv0: str, kind: Kind) -> bool:
    if not kind.oracle and not kind.programs:
        return True
    try:
        exe = os.readlink(f"/proc/{pid}/exe")
    except PermissionError:
        return True
    name = argv0.rpartition("/")[2]
    programs = [path for path in kind.programs if path.rpartition("/")[2] == name]
    if not programs:
        # Whose file it is, is queried apart: it may be on a server that does not answer.
        program = "oracle" if "_" in name else name
        fits = "/bin/" + re.escape(program) + r"[0O]?( \(deleted\))?$"
        return kind.oracle and re.search(fits, exe) is not None
    if exe.endswith(_REMOVED):
        return exe[: -len(_REMOVED)] in programs
    runs = os.stat(f"/proc/{pid}/exe")
    for path in programs:
        try:
            there = os.stat(path)
        except OSError:
            continue
        if (runs.st_dev, runs.st_ino) == (there.st_dev, there.st_ino):
            return True
    return False
