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
    schedules: Dict[str, Answer[Scheduling]] = {}
    for process in host.processes(PROCESSES, _NAMES, identity.ORACLE):
        name = process.argv0.rpartition("/")[2]
        if process.runs("oracle" if "_" in name else name) is not False:
            schedules[name] = attempt(_scheduling, host, process.pid)
    return {name: answer for name, answer in schedules.items() if not isinstance(answer, Absent)}


def _scheduling(host: Host, pid: int) -> Scheduling:
    return pid_stat.parse(host.read_text(f"/proc/{pid}/stat"))


def blocked_by(realtime: Realtime) -> Optional[str]:
    """Why the kernel rejects real-time priority; None if it allows it."""
    if not known(realtime.groups):
        return None
    if not isinstance(realtime.subtree, Absent):
        if "cpu" in known(realtime.subtree).split():
            return "cgroup v2 gives groups the cpu controller, which then has no real time for them"
        return None
    if not isinstance(realtime.share, Absent) and known(realtime.share) == 0:
        return f"{SHARE} is 0"
    return None
