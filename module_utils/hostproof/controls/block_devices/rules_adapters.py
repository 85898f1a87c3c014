# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of Fibre Channel HBAs: speed and PCIe slot."""

from typing import List

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Subjects, Verdict, known_or_skip
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .policy import NAME, Policy
from .probes.fibre_channel import CLASS, Port

rules: Rules[Facts, Policy] = Rules(NAME)


def _ports(facts: Facts, _policy: Policy) -> List[Port]:
    return list(known(facts.fibre_channel))


PORTS = Subjects(
    _ports,
    none="This host has no Fibre Channel HBA.",
    name=lambda port: str(port.name),
    evidence=lambda port: (port.key,),
)


@rules.check(
    "block_devices.hba_speed",
    "Fibre Channel HBA runs at its highest speed",
    "Fibre Channel HBA runs below its highest speed",
    severity="medium",
    takes_effect="now",
    why="The switch or its optics limit the bandwidth of every path over this HBA.",
    reference="kernel drivers/scsi/scsi_transport_fc.c, speed and supported_speeds of fc_host",
    each=PORTS,
)
def hba_speed(port: Port, _facts: Facts, _policy: Policy) -> Verdict:
    if not known(port.online):
        raise Skip("The port is not online.", (f"file:{CLASS}/{port.name}/port_state",))
    speed, fastest = known(port.speed), known(port.fastest)
    if speed is None:
        raise Unanswered(port.key, "the port is online and shows no speed")
    slow = speed < fastest
    return Verdict(
        WARN if slow else PASS,
        f"It runs at {speed} Gbit/s, and supports {fastest} Gbit/s." if slow else None,
        fix="check the speed of the switch port and its optics, then any fixed speed of the HBA",
        desired=f"{fastest} Gbit/s",
        running=f"{speed} Gbit/s",
        values={"running": speed, "fastest": fastest, "unit": "Gbit/s"},
        evidence=(port.key, f"file:{CLASS}/{port.name}/supported_speeds"),
    )


@rules.check(
    "block_devices.hba_pcie_width",
    "Fibre Channel HBA uses all its PCIe lanes",
    "Fibre Channel HBA uses fewer PCIe lanes than it has",
    severity="medium",
    takes_effect="reboot",
    why="The slot, a riser or a bad contact limits the bandwidth of the HBA.",
    reference="kernel Documentation/ABI/testing/sysfs-bus-pci, current_link_width",
    each=PORTS,
)
def hba_pcie_width(port: Port, _facts: Facts, _policy: Policy) -> Verdict:
    slot = known_or_skip(port.slot)
    return Verdict(
        WARN if slot.is_narrow else PASS,
        fix="move it to a slot with all lanes, or reseat it",
        desired=f"x{slot.max_width}",
        running=slot.text,
        values={"lanes": slot.width, "max_lanes": slot.max_width},
        evidence=(slot.key,),
    )
