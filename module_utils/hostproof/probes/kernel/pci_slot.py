# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The PCI slot of an adapter: lanes in use and possible, and the NUMA node (sysfs-bus-pci)."""

import re
from typing import NamedTuple, Optional

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...errors import Absent

_DEVICES = "/sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\Z")
#: Virtual functions show these widths.
_UNKNOWN = (0, 255)


class Slot(NamedTuple):
    """``node`` is None where the kernel assigns no NUMA node."""

    address: str
    width: int
    max_width: int
    node: Optional[int]
    key: str

    @property
    def is_narrow(self) -> bool:
        return self.width < self.max_width

    @property
    def text(self) -> str:
        """For people: "PCIe x4 of x8 at 0000:3b:00.0, NUMA node 1"."""
        node = "no NUMA node" if self.node is None else f"NUMA node {self.node}"
        return f"PCIe x{self.width} of x{self.max_width} at {self.address}, {node}"


def read(host: Host, device: str) -> Slot:
    """The slot of a device such as /sys/class/net/eth0; Absent if it is not a PCIe function."""
    parts = host.real_path(device).split("/")
    addresses = [part for part in parts if _ADDRESS.match(part)]
    if not addresses:
        raise Absent("link:" + device, "not a PCI device")
    folder = f"{_DEVICES}/{addresses[-1]}"
    key = f"file:{folder}/current_link_width"
    width = host.read_number(f"{folder}/current_link_width")
    maximum = host.read_number(f"{folder}/max_link_width")
    if width in _UNKNOWN or maximum in _UNKNOWN:
        raise Absent(key, "no PCIe lanes are shown (virtual function)")
    node = unless_absent(attempt(host.read_text, f"{folder}/numa_node"), "-1").strip()
    return Slot(
        addresses[-1],
        width,
        maximum,
        int(node) if re.match(r"[0-9]{1,4}\Z", node) else None,
        key,
    )
