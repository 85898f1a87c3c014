# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Network interfaces of a host: MTU, driver, firmware, bonding mode.

Only cards, bonds, teams, bridges and VLANs are read. Interfaces of containers and virtual machines
are skipped, because they cannot be an interconnect. Source: kernel
Documentation/ABI/testing/sysfs-class-net.
"""

import re
from typing import List, NamedTuple, Optional

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import Unanswered
from ....probes.net import devices
from ....probes.net.devices import CLASS
from ..parsers import ethtool_driver

#: Loopback, and interfaces that containers and virtual machines create and remove.
_PASSING = re.compile(
    r"(lo$|veth|docker|podman|cni|br-[0-9a-f]{12}$|virbr|vnet|tap|tun|cali|flannel)"
)


class Interface(NamedTuple):
    """``mtu`` is in bytes. ``driver`` exists only with a card. ``bonding`` is the mode of a bond,
    None for other interfaces."""

    name: str
    mtu: Answer[int]
    has_card: bool
    driver: Answer[ethtool_driver.Driver]
    bonding: Optional[Answer[str]]


def read(host: Host) -> List[Interface]:
    """All interfaces, sorted by name. Absent if the host has no /sys/class/net."""
    interfaces = []
    for name in host.list_dir(CLASS):
        if _PASSING.match(name):
            continue
        entries = attempt(host.list_dir, f"{CLASS}/{name}")
        if not isinstance(entries, list):
            # bonding_masters is a file.
            continue
        has_card = "device" in entries
        # Teams and bridges. A bridge of containers has nothing else below it.
        has_lower = any(
            entry.startswith("lower_") and not _PASSING.match(entry[6:]) for entry in entries
        )
        if has_card or has_lower or "bonding" in entries or _is_vlan(host, name):
            interface = _interface(host, name, has_card=has_card)
            if "bonding" in entries:
                interface = interface._replace(bonding=attempt(devices.bonding_mode, host, name))
            interfaces.append(interface)
    return interfaces


def _is_vlan(host: Host, name: str) -> bool:
    return "DEVTYPE=vlan" in str(attempt(host.read_text, f"{CLASS}/{name}/uevent")).split("\n")


def _interface(host: Host, name: str, *, has_card: bool) -> Interface:
    driver = attempt(_driver, host, name) if has_card else Unanswered("", "it has no card")
    return Interface(name, attempt(host.read_number, f"{CLASS}/{name}/mtu"), has_card, driver, None)


def _driver(host: Host, name: str) -> ethtool_driver.Driver:
    argv = ["ethtool", "-i", name]
    driver: ethtool_driver.Driver = known(ethtool_driver.parse(host.read_output(argv)))
    return driver
