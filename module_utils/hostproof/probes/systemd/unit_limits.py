# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of services as systemd has them loaded (systemctl show).

Source: org.freedesktop.systemd1(5), the properties of units and of the manager.
"""

from typing import Dict, List

from ...collect.host import Host
from ...errors import Unanswered

BOOTED = "/run/systemd/system"
_NAMES = ("NOFILE", "NPROC", "STACK", "MEMLOCK")
SHOWN = tuple(name for each in _NAMES for name in (f"Limit{each}Soft", f"Limit{each}")) + (
    "TasksMax",
)
SHOW_UNIT = "--property=" + ",".join(SHOWN)
SHOW_MANAGER = "--property=" + ",".join("Default" + name for name in SHOWN)


def show(host: Host, argv: List[str]) -> Dict[str, str]:
    """The values of ``systemctl show`` by property."""
    needs_systemd(host)
    output = host.run(argv)
    if output.rc != 0:
        key = "command:" + " ".join(argv)
        raise Unanswered(key, f"systemctl answered {output.rc}: {output.stderr.strip()[:200]}")
    pairs = [line.partition("=") for line in output.stdout.splitlines()]
    return {name: value for name, _, value in pairs}


def needs_systemd(host: Host) -> None:
    """Absent where another program is the first process (sd_booted(3))."""
    host.list_dir(BOOTED)
