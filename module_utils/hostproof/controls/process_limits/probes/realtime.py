# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the kernel lets Oracle's processes have real-time priority, and which have it.

A kernel with CONFIG_RT_GROUP_SCHED gives real-time priority only to processes whose cgroup of the
cpu controller has a share of real time. Version 2 has no such share (cgroup-v2.rst, CPU).
"""

import re
from typing import Dict, NamedTuple, Optional

from ....collect import identity
from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ....parsers.kernel import kernel_release
from ..parsers import pid_stat
from ..parsers.pid_stat import Scheduling

RELEASE = "/proc/sys/kernel/osrelease"
#: The controllers that version 2 gives to the groups below the root.
SUBTREE = "/sys/fs/cgroup/cgroup.subtree_control"
#: The share of services in version 1, in microseconds; it exists if a unit uses the controller.
SHARE = "/sys/fs/cgroup/cpu/system.slice/cpu.rt_runtime_us"
PROCESSES = "realtime"
_OPTION = "^CONFIG_RT_GROUP_SCHED="
_ZIPPED = ["zgrep", _OPTION, "/proc/config.gz"]
_NAMES = r"^((ora|db|asm|mdb|apx)_(vktm|lms[0-9a-z]{1,2})_\S+|/\S+/bin/ocssd\.bin)$"
_PLAIN = re.compile(r"[A-Za-z0-9_.+~-]+\Z")


class Realtime(NamedTuple):
    """``groups``: the kernel has the option. ``subtree`` are controllers, Absent in version 1.
    ``share`` is Absent without the cpu controller for services. ``processes`` is by name."""

    groups: Answer[bool]
    subtree: Answer[str]
    share: Answer[int]
    processes: Answer[Dict[str, Answer[Scheduling]]]


def read(host: Host) -> Realtime:
    return Realtime(
        groups=attempt(_has_option, host),
        subtree=attempt(host.read_text, SUBTREE),
        share=attempt(host.read_number, SHARE),
        processes=attempt(_read_processes, host),
    )


def _has_option(host: Host) -> bool:
    release = kernel_release.parse(host.read_text(RELEASE)).text
    if not _PLAIN.match(release):
        raise Unanswered("file:" + RELEASE, "the kernel release cannot be used in a path")
    for path in (f"/boot/config-{release}", f"/usr/lib/modules/{release}/config"):
        lines = attempt(host.read_lines, path, _OPTION)
        if not isinstance(lines, Absent):
            return bool(known(lines))
    output = host.run(_ZIPPED)
    if output.rc not in (0, 1):
        raise Unanswered(
            "command:" + " ".join(_ZIPPED),
            "no file in /boot or /usr/lib/modules and no /proc/config.gz shows the build options",
        )
    return output.rc == 0


def _read_processes(host: Host) -> Dict[str, Answer[Scheduling]]:
    found: Dict[str, Answer[Scheduling]] = {}
    for one in host.processes(PROCESSES, _NAMES, identity.ORACLE):
        name = one.argv0.rpartition("/")[2]
        if one.runs("oracle" if "_" in name else name) is not False:
            found[name] = attempt(_scheduling, host, one.pid)
    return {name: one for name, one in found.items() if not isinstance(one, Absent)}


def _scheduling(host: Host, pid: int) -> Scheduling:
    return pid_stat.parse(host.read_text(f"/proc/{pid}/stat"))


def blocked_by(one: Realtime) -> Optional[str]:
    """Why the kernel rejects real-time priority; None if it allows it."""
    if not known(one.groups):
        return None
    if not isinstance(one.subtree, Absent):
        if "cpu" in known(one.subtree).split():
            return "cgroup v2 gives groups the cpu controller, which then has no real time for them"
        return None
    if not isinstance(one.share, Absent) and known(one.share) == 0:
        return f"{SHARE} is 0"
    return None
