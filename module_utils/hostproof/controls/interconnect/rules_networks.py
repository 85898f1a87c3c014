# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of the interconnect: whether a link can fail, and whether others can reach it."""

import ipaddress

from ...collect.answer import if_known, known, unless_absent
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.net import devices
from ...probes.oracle import clusterware
from .facts import Facts
from .policy import NAME, Policy
from .subjects import BOOK

rules = Rules(NAME)

#: Mb/s of a card.
_LEAST = 1000


@rules.check(
    "interconnect.redundancy",
    "Interconnect continues after the failure of one link",
    "Interconnect depends on one link",
    severity="medium",
    takes_effect="cluster_restart",
    why="When the link fails, the node loses the heartbeat of the cluster and is evicted.",
    reference=BOOK + "Redundant Interconnect Usage; ORAchk Interconnect NIC bonding config.",
)
def redundancy(facts: Facts, _policy: Policy) -> Verdict:
    links = {device.name: known(device.links) for device in known(facts.devices)}
    cards = sorted({card for below in links.values() for card in below})
    if not cards:
        raise Skip(f"{', '.join(links)} uses no network card.")
    bonds = [unless_absent(bond.state, None) for bond in facts.bonds]
    down = [
        card.name for bond in bonds if bond for card in bond.members if not bond.works(card.name)
    ]
    down += [card for device in known(facts.devices) for card in known(device.down)]
    cards = [card for card in cards if card not in down]
    return Verdict(
        PASS if len(cards) > 1 else WARN,
        f"All of its packets use {', '.join(cards) or 'no card'}."
        + (f" Down: {', '.join(sorted(set(down)))}." if down else ""),
        fix="use a second private interface in a separate subnet (HAIP), or a bond of two "
        "interfaces; waive a virtual machine whose host has redundant links",
        desired="two network cards or more",
        running=", ".join(
            name if below == (name,) else f"{name} on {' and '.join(below)}"
            for name, below in links.items()
        ),
        evidence=[f"dir:{devices.CLASS}/{name}" for name in links],
    )


@rules.check(
    "interconnect.public_redundancy",
    "Public network continues after the failure of one link",
    "Public network depends on one link",
    severity="medium",
    takes_effect="cluster_restart",
    why="When the link fails, the VIPs and services of the node move to other nodes.",
    reference=BOOK + "Network Checklist (redundant public network); ORAchk VIP NIC bonding config.",
)
def public_redundancy(facts: Facts, _policy: Policy) -> Verdict:
    links = known(facts.public)
    single = [
        f"{name} uses {cards[0]} only" if cards else f"{name} uses no card that is up"
        for name, cards in links.items()
        if len(cards) < 2
    ]
    if not links:
        raise Skip("No Clusterware runs here, or it has no public network.")
    return Verdict(
        WARN if single else PASS,
        f"{'; '.join(single)}.",
        fix="use a bond of two network cards; waive a virtual machine "
        "whose host has redundant links",
        desired="two network cards or more",
        running=", ".join(f"{name} on {' and '.join(cards)}" for name, cards in links.items()),
        evidence=[clusterware.NETWORKS_KEY, *(f"dir:{devices.CLASS}/{name}" for name in links)],
    )


@rules.check(
    "interconnect.speed",
    "Interconnect cards have at least 1 Gb/s",
    "An interconnect card has less than 1 Gb/s",
    severity="high",
    takes_effect="now",
    why="Blocks that instances exchange wait for a link that negotiated a low speed.",
    reference=BOOK + "Network Checklist (at least 1 GbE); ORAchk RAC interconnect network card "
    "speed; kernel Documentation/ABI/testing/sysfs-class-net, speed",
)
def speed(facts: Facts, _policy: Policy) -> Verdict:
    interfaces = known(facts.devices)
    cards = sorted({card for device in interfaces for card in known(device.links)})
    speeds = {card: value for device in interfaces for card, value in device.speeds.items()}
    shown = {card: if_known(speeds[card], None) for card in cards}
    slow = [f"{card} has {shown[card]} Mb/s" for card in cards if (shown[card] or _LEAST) < _LEAST]
    unknown = [card for card in cards if slow or known(speeds[card]) is None]
    if not slow and (unknown or not cards):
        raise Skip(f"Linux does not report the speed of {', '.join(unknown) or 'a card'}.")
    return Verdict(
        FAIL if slow else PASS,
        f"{'; '.join(slow)}.",
        fix="correct the cable, the switch port or its negotiation, or use a faster card",
        desired=f"at least {_LEAST} Mb/s",
        running=", ".join(f"{card} {shown[card] or 'unknown'}" for card in cards),
        values=dict(shown),
        evidence=["file:" + devices.place(card, "speed") for card in cards],
    )


@rules.check(
    "interconnect.private_addresses",
    "Interconnect has addresses that the Internet does not route",
    "Interconnect has an address that the Internet routes",
    severity="medium",
    takes_effect="cluster_restart",
    why="Packets of the cluster can leave the private network through a router, and other hosts "
    "can reach its daemons.",
    reference=BOOK + "private IP addresses; RFC 1918; RFC 4193; ORAchk Non-routable network for "
    "interconnect",
)
def private_addresses(facts: Facts, _policy: Policy) -> Verdict:
    addresses = known(facts.addresses)
    if not addresses:
        raise Skip("No interface of the interconnect has an address, except link-local ones.")
    routed = [
        f"{address.address} ({address.interface})"
        for address in addresses
        if ipaddress.ip_address(address.address).is_global
    ]
    return Verdict(
        WARN if routed else PASS,
        f"Routable: {', '.join(routed)}.",
        fix="use a subnet of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7, and register "
        "it with oifcfg",
        desired="no address that the Internet routes",
        running=", ".join(f"{address.interface} {address.address}" for address in addresses),
        evidence=[devices.ADDRESSES_KEY],
    )


@rules.check(
    "interconnect.registered",
    "Networks of Clusterware are those of the interfaces",
    "A network of Clusterware differs from the interface",
    severity="high",
    takes_effect="cluster_restart",
    why="At its next start Clusterware does not find the interface of the network, and the node "
    "does not join the cluster or its VIP does not start.",
    reference="Oracle Clusterware Administration and Deployment Guide, Changing Network Addresses; "
    "CVU network configuration consistency checks",
)
def registered(facts: Facts, _policy: Policy) -> Verdict:
    networks = known(facts.registered)
    if not networks:
        raise Skip("No Clusterware runs here, or it has no network of all nodes.")
    wrong = [
        f"{network.interface} is registered with {network.subnet}, and has "
        f"{' and '.join(network.here) or 'no address'}"
        for network in networks
        if network.subnet not in {subnet.partition("/")[0] for subnet in network.here}
    ]
    return Verdict(
        FAIL if wrong else PASS,
        f"{'; '.join(wrong)}.",
        fix="register the network with oifcfg setif, or correct the address or the mask of the "
        "interface",
        desired=", ".join(f"{network.interface} {network.subnet}" for network in networks),
        running=", ".join(
            f"{network.interface} {' and '.join(network.here) or 'no address'}"
            for network in networks
        ),
        evidence=[clusterware.NETWORKS_KEY, devices.ADDRESSES_KEY],
    )
