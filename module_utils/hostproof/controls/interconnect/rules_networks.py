# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of the interconnect: whether a link can fail, and whether others can reach it."""

import ipaddress
import itertools
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent, unless_newer
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered, worst
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.net import devices
from ...probes.oracle import clusterware
from .facts import Facts, Limited, is_link_local, networks_in_words, overlapping
from .policy import NAME, Policy
from .subjects import BOOK, MOVE

rules: Rules[Facts, Policy] = Rules(NAME)

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
    down = _down(facts)
    up = [card for card in cards if card not in down]
    instances = if_known(facts.instances, [])
    now = _limits(facts, down)
    later = _limits(facts, down, is_later=True)
    whole = len(up) > 1
    shown = [
        name if below == (name,) else f"{name} on {' and '.join(below)}"
        for name, below in links.items()
    ]
    return layered(
        running=Layer(
            "; ".join([", ".join(shown), *_texts(now)]), WARN if now or not whole else PASS
        ),
        persisted=_layer_at_start(list(later.values())),
        also=_unknown_limits(facts),
        advice=_second_link(down, whole, instances, list(now)),
        why=_why_one_link(up, down, [*_texts(now), *_texts(later)]),
        desired="two network cards or more",
        evidence=[f"dir:{devices.CLASS}/{name}" for name in links] + [one.key for one in instances],
    )


def _why_one_link(up: List[str], down: Set[str], limits: List[str]) -> str:
    whys = [f"All of its packets use {', '.join(up) or 'no card'}"] if len(up) < 2 else []
    if down:
        whys.append(f"Down: {', '.join(sorted(down))}")
    return ". ".join([*whys, *dict.fromkeys(limits)]) + "."


def _unknown_limits(facts: Facts) -> List[Tuple[str, HostproofError]]:
    """The values of cluster_interconnects that are not known, in words."""
    instances = attempt(unless_newer, facts.instances, [])
    if isinstance(instances, HostproofError):
        return [("cluster_interconnects", instances)]
    values = [
        (words.format(one.sid), value)
        for one in instances
        for words, value in (
            ("cluster_interconnects of {0}", one.now),
            ("cluster_interconnects of {0} after its next start", one.later),
        )
    ]
    unknown = [(words, value) for words, value in values if isinstance(value, HostproofError)]
    if any(if_known(value, None) for _words, value in values):
        parts = (facts.addresses, facts.others)
        unknown += [("addresses", each) for each in parts if isinstance(each, HostproofError)]
    return unknown


def _second_link(
    down: Set[str], whole: bool, instances: List[Limited], limited: List[str]
) -> Advice:
    link: List[Step] = []
    if down:
        link = [Ask(f"repair the link of {', '.join(sorted(down))}")]
    elif not whole:
        link = [
            Ask(
                "use a second private interface in a separate subnet (HAIP), or a bond of two "
                "interfaces; waive a virtual machine whose host has redundant links"
            )
        ]
    resets = [
        Ask(f"{one.reset}, so that Clusterware uses all private interfaces (HAIP)")
        for one in instances
        if one.reset
    ]
    restart = [Wait("instance_restart", sid) for sid in limited]
    return Advice(both=[*link, *resets, *restart], persisted=resets, running=[*link, *restart])


class Limit(NamedTuple):
    """A problem of cluster_interconnects: FAIL if it prevents the next start of the instance."""

    text: str
    status: str


def _texts(limits: Dict[str, Limit]) -> List[str]:
    return [limit.text for limit in limits.values()]


def _layer_at_start(problems: Sequence[Tuple[str, str]]) -> Optional[Layer]:
    """The layer of problems, each with its status, after the next start of their instances."""
    if not problems:
        return None
    texts, statuses = zip(*problems)
    return Layer("; ".join(texts), worst(list(statuses)))


def _limits(facts: Facts, down: Set[str], is_later: bool = False) -> Dict[str, Limit]:
    """The instances, by SID, whose cluster_interconnects depends on one card, or names an address
    that the next start may not find."""
    found: Dict[str, Limit] = {}
    if isinstance(facts.addresses, HostproofError) or isinstance(facts.others, HostproofError):
        return found
    for one in if_known(facts.instances, []):
        addresses = _addresses_in(if_known(one.later if is_later else one.now, None) or "")
        # Clusterware moves an address of HAIP to another card.
        of_haip = [address for address in addresses if is_link_local(address)]
        others = [address for address in addresses if address not in of_haip]
        limit = _limit_at_start(one.sid, others, of_haip, facts) if is_later else None
        single = _single(others, facts, down)
        if limit is None and single:
            text = f"{one.sid} uses {' and '.join(single)} only (cluster_interconnects)"
            limit = Limit(text, WARN)
        if limit is not None:
            found[one.sid] = limit
    return found


def _limit_at_start(
    sid: str, addresses: List[str], of_haip: List[str], facts: Facts
) -> Optional[Limit]:
    """The problem of addresses that the next start may not find."""
    present = {address.address for address in [*known(facts.addresses), *known(facts.others)]}
    gone = [address for address in addresses if address not in present]
    if gone:
        text = f"{' and '.join(gone)}, which no network card of this host has"
    elif of_haip:
        text = f"{' and '.join(of_haip)}, and Clusterware can assign another address (HAIP)"
    else:
        return None
    return Limit(f"cluster_interconnects of {sid} is {text}", FAIL if gone else WARN)


def _down(facts: Facts) -> Set[str]:
    bonds = [unless_absent(bond.state, None) for bond in facts.bonds]
    down = {
        card.name for bond in bonds if bond for card in bond.members if not bond.works(card.name)
    }
    return down | {card for device in known(facts.devices) for card in known(device.down)}


def _single(addresses: List[str], facts: Facts, down: Set[str]) -> List[str]:
    """The addresses of cluster_interconnects, if the failure of one card stops the instance.

    Several addresses share the load. None takes over from another (Database Reference)."""
    owners = {address.address: address.interface for address in known(facts.addresses)}
    cards = {device.name: known(device.links) for device in known(facts.devices)}
    return [
        address
        for address in addresses
        if len([card for card in cards.get(owners.get(address, ""), ()) if card not in down]) < 2
    ]


def _addresses_in(value: str) -> List[str]:
    """192.0.2.1:192.0.2.129; an IPv6 address is alone."""
    is_v6 = value.count(":") > 1 and "." not in value
    return [value.strip()] if is_v6 else [each.strip() for each in value.split(":") if each.strip()]


@rules.check(
    "interconnect.separate",
    "Interconnect is separate from the public network",
    "Interconnect is not separate from the public network",
    severity="critical",
    takes_effect="cluster_restart",
    why="Blocks of the instances and heartbeats share the network with clients: a load or a fault "
    "there evicts nodes. With networks that overlap, the kernel sends packets to the wrong one.",
    reference=BOOK + "Network Checklist (a separate, private network on a dedicated interface and "
    "subnet); Database Reference, CLUSTER_INTERCONNECTS",
)
def separate(facts: Facts, _policy: Policy) -> Verdict:
    private = {device.name: known(device.links) for device in known(facts.devices)}
    public = if_known(facts.public, {})
    addresses = if_known(facts.addresses, [])
    others = if_known(facts.others, [])
    both = [name for name in private if name in public]
    problems = [f"{name} is registered as public too" for name in both]
    pairs = itertools.product(addresses, others)
    problems += [f"{words} overlap" for words in overlapping(pairs)]
    steps: List[Step] = [_separated(both)] if problems else []
    now, later = _outside(facts, is_later=False), _outside(facts, is_later=True)
    running_now = [each.text for each in now]
    after_start = [each.text for each in later]
    resets: List[Step] = [Ask(each.reset) for each in later if each.reset]
    restarts: List[Step] = [Wait("instance_restart", each.sid) for each in now]
    shown = networks_in_words([*addresses, *others]) or ", ".join(private)
    return layered(
        running=Layer(
            "; ".join([shown, *running_now]),
            FAIL if problems else worst([PASS, *(each.status for each in now)]),
        ),
        persisted=_layer_at_start([(each.text, each.status) for each in later]),
        also=[*_unknown_networks(facts), *_unknown_limits(facts)],
        why="; ".join(dict.fromkeys([*problems, *running_now, *after_start])) + ".",
        advice=Advice(
            both=[*steps, *resets, *restarts],
            persisted=resets,
            running=[*steps, *restarts],
        ),
        desired="a private interface in a subnet that overlaps with no other",
        evidence=[clusterware.NETWORKS_KEY, devices.ADDRESSES_KEY],
    )


def _unknown_networks(facts: Facts) -> List[Tuple[str, HostproofError]]:
    answers = (
        ("public interfaces", facts.public),
        ("addresses", facts.addresses),
        ("other addresses", facts.others),
    )
    return [(words, answer) for words, answer in answers if isinstance(answer, HostproofError)]


def _separated(both: List[str]) -> Step:
    """``both``: interfaces that are registered as public and as private."""
    if not both:
        return Ask(MOVE.format("a subnet for the private interface that overlaps with no other"))
    return Ask(
        "register a separate interface of all nodes, in another subnet, as "
        "cluster_interconnect (oifcfg setif), restart Clusterware on all nodes, and then "
        f"register {both[0]} as public only (oifcfg delif, setif)"
    )


class _Outside(NamedTuple):
    """An instance whose cluster_interconnects names an interface outside the interconnect.

    ``status`` is FAIL for a public interface, WARN for one that Clusterware does not list.
    """

    sid: str
    text: str
    status: str
    reset: str


def _outside(facts: Facts, is_later: bool) -> List[_Outside]:
    outside = {other.address: other.interface for other in if_known(facts.others, [])}
    public = if_known(facts.public, {})
    found = []
    for one in if_known(facts.instances, []):
        addresses = _addresses_in(if_known(one.later if is_later else one.now, None) or "")
        named = [address for address in addresses if address in outside]
        if named:
            names = ", ".join(f"{address} of {outside[address]}" for address in named)
            is_unlisted = bool(public) and not any(outside[address] in public for address in named)
            more = ", which Clusterware does not list" if is_unlisted else ""
            text = f"cluster_interconnects of {one.sid} is {names}{more}"
            found.append(_Outside(one.sid, text, WARN if is_unlisted else FAIL, one.reset))
    return found


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
    names = [name for name, cards in links.items() if len(cards) < 2]
    return Verdict(
        WARN if single else PASS,
        f"{'; '.join(single)}.",
        advice=Advice(
            [
                Ask(
                    f"use a bond of two network cards for {', '.join(names)}, or repair the link "
                    "that is down; waive a virtual machine whose host has redundant links"
                )
            ]
        ),
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
    speeds = _speeds(facts)
    shown = {card: if_known(value, None) for card, value in speeds.items()}
    slow = [f"{card} has {mb} Mb/s" for card, mb in shown.items() if (mb or _LEAST) < _LEAST]
    if not slow:
        unknown = [card for card, value in speeds.items() if known(value) is None]
        if unknown or not speeds:
            raise Skip(f"Linux does not report the speed of {', '.join(unknown) or 'a card'}.")
    return Verdict(
        FAIL if slow else PASS,
        f"{'; '.join(slow)}.",
        advice=Advice(
            [Ask("correct the cable, the switch port or its negotiation, or use a faster card")]
        ),
        desired=f"at least {_LEAST} Mb/s",
        running=", ".join(f"{card} {mb or 'unknown'}" for card, mb in shown.items()),
        values=dict(shown),
        evidence=["file:" + devices.place(card, "speed") for card in speeds],
    )


def _speeds(facts: Facts) -> Dict[str, Answer[Optional[int]]]:
    """The Mb/s of each network card of the interconnect."""
    interfaces = known(facts.devices)
    cards = sorted({card for device in interfaces for card in known(device.links)})
    speeds = {card: value for device in interfaces for card, value in device.speeds.items()}
    return {card: speeds[card] for card in cards}


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
        advice=Advice(
            [Ask(MOVE.format("a subnet of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7"))]
        ),
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
        advice=Advice(
            [
                Ask(
                    "if the interface is right, register its network as the owner of Grid "
                    "Infrastructure (oifcfg setif -global INTERFACE/SUBNET:ROLE) before "
                    "Clusterware restarts; otherwise correct the address or the mask of the "
                    "interface"
                )
            ]
        ),
        desired=", ".join(f"{network.interface} {network.subnet}" for network in networks),
        running=", ".join(
            f"{network.interface} {' and '.join(network.here) or 'no address'}"
            for network in networks
        ),
        evidence=[clusterware.NETWORKS_KEY, devices.ADDRESSES_KEY],
    )
