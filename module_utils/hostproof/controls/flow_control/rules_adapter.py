# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the network adapter: receive ring and PCIe slot."""

from ...evaluate.advice import Advice, Ask, Edit, Run
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .nics import NicFacts
from .policy import NAME, Policy
from .subjects import NICS

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "flow_control.receive_ring",
    "The receive ring has its maximum size",
    "The receive ring is smaller than its maximum",
    severity="low",
    takes_effect="now",
    why="A burst that does not fit into the ring is dropped before the kernel sees it.",
    reference="ethtool(8), --show-ring; systemd.link(5), RxBufferSize=",
    each=NICS,
)
def receive_ring(nic: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    rings = known_or_skip(nic.rings)
    key = f"command:ethtool -g {nic.name}"
    if rings.rx is None or not rings.max_rx:
        raise Skip("The driver shows no receive ring.", (key,))
    return Verdict(
        WARN if rings.rx < rings.max_rx else PASS,
        advice=Advice(
            [
                Ask(
                    f"wait until nothing uses {nic.name}, or take one member of its bond after the "
                    "other: most drivers take the link down for a moment"
                ),
                Run("ethtool", "-G", nic.name, "rx", rings.max_rx, text="set the maximum"),
                Edit("", what=f"put RxBufferSize={rings.max_rx} into the .link file of {nic.name}"),
            ]
        ),
        desired=f"rx {rings.max_rx}",
        running=f"rx {rings.rx}",
        values={"rx": rings.rx, "max_rx": rings.max_rx},
        evidence=(key,),
    )


@rules.check(
    "flow_control.pcie_width",
    "The network adapter uses all its PCIe lanes",
    "The network adapter uses fewer PCIe lanes than it has",
    severity="medium",
    takes_effect="reboot",
    why="The slot, a riser or a bad contact limits the bandwidth of the adapter.",
    reference="kernel Documentation/ABI/testing/sysfs-bus-pci, current_link_width",
    each=NICS,
)
def pcie_width(nic: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    slot = known_or_skip(nic.slot)
    return Verdict(
        WARN if slot.is_narrow else PASS,
        fix="move it to a slot with all lanes, or reseat it",
        desired=f"x{slot.max_width}",
        running=slot.text,
        values={"lanes": slot.width, "max_lanes": slot.max_width},
        evidence=(slot.key,),
    )
