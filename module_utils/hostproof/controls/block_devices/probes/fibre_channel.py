# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fibre Channel ports of the host (kernel drivers/scsi/scsi_transport_fc.c, fc_host)."""

import re
from typing import List, NamedTuple, Optional

from ....collect.answer import Answer, attempt, unless_absent
from ....collect.host import Host
from ....errors import Unanswered
from ....probes.kernel import pci_slot
from ....probes.kernel.pci_slot import Slot

CLASS = "/sys/class/fc_host"
ONLINE = "Online"
_NAME = re.compile(r"host[0-9]{1,6}\Z")
_SPEED = re.compile(r"([0-9]{1,4}) Gbit\Z")


class Port(NamedTuple):
    """``speed`` and ``fastest`` are in Gbit/s; None while no speed is negotiated."""

    name: str
    online: Answer[bool]
    speed: Answer[Optional[int]]
    fastest: Answer[int]
    slot: Answer[Slot]

    @property
    def key(self) -> str:
        return f"file:{CLASS}/{self.name}/speed"


def read(host: Host) -> List[Port]:
    """All ports. Empty on a host without an HBA."""
    names: List[str] = unless_absent(attempt(host.list_dir, CLASS), [])
    return [_read(host, name) for name in names if _NAME.match(name)]


def _read(host: Host, name: str) -> Port:
    folder = f"{CLASS}/{name}"

    def text(file: str) -> str:
        return str(host.read_text(f"{folder}/{file}").strip())

    return Port(
        name,
        attempt(lambda: text("port_state") == ONLINE),
        attempt(lambda: _gbit(text("speed"))),
        attempt(lambda: _fastest(folder, text("supported_speeds"))),
        attempt(pci_slot.read, host, folder),
    )


def _gbit(text: str) -> Optional[int]:
    match = _SPEED.match(text)
    return None if match is None else int(match.group(1))


def _fastest(folder: str, text: str) -> int:
    speeds = [_gbit(word.strip()) for word in text.split(",")]
    known = [speed for speed in speeds if speed is not None]
    if not known:
        raise Unanswered(f"file:{folder}/supported_speeds", "it names no speed in Gbit")
    return max(known)
