# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network adapter itself: its receive ring and its PCIe slot."""

from ...collect.shell import line
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .nics import NicFacts
from .policy import NAME, Policy
from .subjects import NICS

rules = Rules(NAME)


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
def receive_ring(one: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    rings = known_or_skip(one.rings)
    key = f"command:ethtool -g {one.name}"
    if rings.rx is None or not rings.max_rx:
        raise Skip("The driver shows no receive ring.", (key,))
    if rings.rx > rings.max_rx:
        raise Unanswered(key, "the ring is larger than its maximum")
    small = rings.rx < rings.max_rx
    return Verdict(
        WARN if small else PASS,
        f"It has {rings.rx} descriptors, and the adapter has {rings.max_rx}." if small else None,
        fix="set the maximum; the link can go down for seconds. RxBufferSize= in the .link file "
        "persists it",
        commands=[line("ethtool", "-G", one.name, "rx", str(rings.max_rx))],
        desired=f"rx {rings.max_rx}",
        running="rx {0} of {1}, tx {2} of {3}".format(
            *("-" if value is None else value for value in (rings.rx, rings.max_rx)),
            *("-" if value is None else value for value in (rings.tx, rings.max_tx)),
        ),
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
def pcie_width(one: NicFacts, _facts: Facts, _policy: Policy) -> Verdict:
    slot = known_or_skip(one.slot)
    narrow = slot.width < slot.max_width
    return Verdict(
        WARN if narrow else PASS,
        f"It uses {slot.width} of {slot.max_width} lanes." if narrow else None,
        fix="move the adapter to a slot with all lanes, or reseat it",
        desired=f"x{slot.max_width}",
        running=slot.text,
        evidence=(slot.key,),
    )
