# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NFS mounts that a host has now, with the options that its kernel shows for them.

On Linux no command is run and no mount is touched: a server that does not answer would hang it.
Sources: proc_pid_mountinfo(5); mount(1M) of Solaris and HP-UX, mount of the AIX commands
reference.
"""

from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import attempt, known
from ...collect.host import Host
from ...errors import Absent, ParseError, Unanswered
from ...parsers.mounts import mount_command, mountinfo
from ...parsers.nfs.nfs_options import AIX, HPUX, LINUX, SOLARIS
from ..kernel import mounts as mount_table

MOUNTINFO = mount_table.MOUNTINFO
#: Commands that list the mounts with their options, on systems without MOUNTINFO.
COMMANDS = {AIX: ["mount"], SOLARIS: ["mount", "-v"], HPUX: ["mount", "-v"]}
_UNAME = ["uname", "-s"]


class Mounted(NamedTuple):
    """A mount as the kernel shows it.

    ``options`` hold those of the mount and of its superblock, with one rw or ro for both.
    ``superblock`` is "major:minor" and equal where mounts share one; None where the system does not
    tell. ``root`` is the directory of the export that is mounted, "/" unless it is a bind mount."""

    path: str
    source: str
    fstype: str
    options: str
    superblock: Optional[str]
    root: str
    evidence: Tuple[str, ...]


def read_system(host: Host) -> str:
    """The name of the system as uname prints it: LINUX, AIX, SOLARIS, HPUX or another."""
    mounts = attempt(mount_table.read_all, host)
    if not isinstance(mounts, Absent):
        if not isinstance(mounts, ParseError):
            known(mounts)
        return LINUX
    output = host.run(_UNAME)
    name = output.stdout.strip()
    if output.rc != 0 or not name:
        raise Unanswered("command:" + " ".join(_UNAME), "uname -s does not name the system")
    return name


def read_mounted(host: Host, system: str) -> List[Mounted]:
    """The NFS mounts that a path leads to. Where mounts are stacked, the one on top counts."""
    if system == LINUX:
        return _read_linux(host)
    if system not in COMMANDS:
        raise Unanswered(
            "command:" + " ".join(_UNAME),
            "NFS mounts are known on {0}, not on {1}".format(
                ", ".join([LINUX] + sorted(COMMANDS)), system
            ),
        )
    argv = COMMANDS[system]
    key = "command:" + " ".join(argv)
    mounts = mount_command.parse(system, host.read_output(argv))
    last = {mount.path: mount for mount in mounts}
    return [
        Mounted(mount.path, mount.source, mount.fstype, mount.options, None, "/", (key,))
        for mount in mounts
        if mount.fstype.startswith("nfs") and last[mount.path] is mount
    ]


def _read_linux(host: Host) -> List[Mounted]:
    table = mount_table.read(host)
    mounts = mountinfo.visible(table.mounts)
    last = {mount.path: mount for mount in mounts}
    return [
        Mounted(
            path=mount.path,
            source=mount.source,
            fstype=mount.fstype,
            options=_options(mount),
            superblock=mount.device or None,
            root=mount.root,
            evidence=(table.key,),
        )
        for mount in mounts
        if mount.fstype in ("nfs", "nfs4") and last[mount.path] is mount
    ]


def _options(mount: mountinfo.Mount) -> str:
    """Read-only is what either layer says; everything else is once."""
    layers = mount.options.split(",") + mount.super_options.split(",")
    access = "ro" if "ro" in layers else "rw"
    return ",".join([access] + [word for word in layers if word not in ("rw", "ro", "")])
