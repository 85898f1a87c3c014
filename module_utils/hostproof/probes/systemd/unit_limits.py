# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of services as systemd has them loaded (systemctl show).

Source: org.freedesktop.systemd1(5), the properties of units and of the manager.
"""

from typing import Dict, List

from ...collect.host import Host

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
    pairs = [line.partition("=") for line in host.read_output(argv).splitlines()]
    return {name: value for name, _, value in pairs}


def needs_systemd(host: Host) -> None:
    """Absent where another program is the first process (sd_booted(3))."""
    host.list_dir(BOOTED)
