# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/PID/cgroup: in which groups of control a process is (cgroups(7))."""

from typing import Dict, Optional

from ...errors import ParseError, kind_of

#: The name of the one hierarchy of version 2.
UNIFIED = ""
#: Services that start a shell or a job, and so do not look after what it leaves behind.
SHELLS = ("sshd.service", "ssh.service", "crond.service", "cron.service", "atd.service")


def parse(text: str) -> Dict[str, str]:
    """The path in each hierarchy, by its controller ("pids", "name=systemd", UNIFIED)."""
    paths: Dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        hierarchy, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if not hierarchy.isdecimal() or not colon or not path.startswith("/"):
            raise ParseError("/proc/PID/cgroup", f"not a group: {kind_of(line)}", number)
        for name in controllers.split(","):
            paths[name] = path
    return paths


def path_of_unit(groups: Dict[str, str]) -> str:
    """The path by which systemd names units; "" where it manages none."""
    return groups.get("name=systemd", groups.get(UNIFIED, ""))


def service_of(groups: Dict[str, str]) -> Optional[str]:
    """The service that a process belongs to, None for a session or no systemd."""
    path = path_of_unit(groups)
    if "/user.slice/" in path:
        return None
    units = {part for part in path.split("/") if part.endswith(".service")}
    owners = sorted(units.difference(SHELLS))
    return owners[0] if owners else None
