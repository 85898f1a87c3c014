# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the devices: MTU, subnets, bonds, and the loopback device."""

import itertools
from typing import List

from ...collect.answer import Answer, if_known, known
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...probes.net import devices
from .facts import ARP_FILE, LOOPBACK, Bond, Device, Facts, networks_in_words, overlapping
from .policy import NAME, Policy
from .subjects import BONDS, BOOK, DEVICES, MOVE

rules: Rules[Facts, Policy] = Rules(NAME)

#: The MTU of standard Ethernet frames.
_STANDARD = 1500
#: Flags of a device (kernel include/uapi/linux/if.h).
_NOARP = 0x80
_WANTED = {0x2: "BROADCAST", 0x1000: "MULTICAST"}
_USUAL = sum(_WANTED)
#: The value of arp_ignore that answers no request.
_NO_ANSWER = 8


@rules.check(
    "interconnect.mtu",
    "Interconnect interfaces have the expected MTU",
    "Interconnect MTU differs from the policy or between interfaces",
    severity="high",
    takes_effect="now",
    why="Frames larger than the MTU of the receiving node are lost silently. A small MTU "
    "splits every database block into many fragments.",
    reference=BOOK + "network interface hardware requirements (jumbo frames)",
    each=DEVICES,
)
def mtu(device: Device, facts: Facts, policy: Policy) -> Verdict:
    here = known(device.mtu)
    values = {"mtu": here}
    if policy.mtu is not None:
        return Verdict(
            PASS if here == policy.mtu else FAIL,
            f"It is {here}, and interconnect_mtu is {policy.mtu}.",
            advice=_mtu(device.name, here, policy.mtu),
            desired=str(policy.mtu),
            running=str(here),
            values=values,
        )
    answers = {other.name: other.mtu for other in known(facts.devices) if other != device}
    others = {name: value for name, value in answers.items() if isinstance(value, int)}
    if set(others.values()) <= {here}:
        for answer in answers.values():
            known(answer)
    if not answers:
        why = "interconnect_mtu is auto, and the host has no other interconnect device to compare."
        return Verdict(SKIP, why, running=str(here), values=values)
    listing = ", ".join(f"{name} has {value}" for name, value in others.items())
    return Verdict(
        PASS if set(others.values()) == {here} else WARN,
        f"It is {here}, and {listing}: a failover changes the frame size.",
        advice=_mtu(device.name, here, max(here, *others.values())),
        desired="the same on all devices of the interconnect",
        running=f"{here}; {listing}",
        values=values,
    )


def _mtu(device: str, here: int, wanted: int) -> Advice:
    """Frames that a switch port does not take are lost: it goes first up, and last down."""
    order = (
        f"set at least {wanted} on all switch ports of the private network, and then {wanted} on "
        f"{device} of all nodes"
        if wanted > here
        else f"set {wanted} on {device} of all nodes"
    )
    return Advice(
        [
            Ask(
                f"{order}, in the configuration of the interface, while Clusterware is down on all "
                "nodes; test it with interconnect_peers"
            )
        ]
    )


@rules.check(
    "interconnect.jumbo_frames",
    "Interconnect uses jumbo frames",
    "Interconnect does not use jumbo frames",
    severity="low",
    takes_effect="cluster_restart",
    why="A database block of 8 KiB is sent in six fragments, each of which can be lost, instead of "
    "one frame.",
    reference=BOOK + "network interface hardware requirements (jumbo frames); ORAchk Jumbo frames "
    "configuration for interconnect",
    each=DEVICES,
)
def jumbo_frames(device: Device, _facts: Facts, policy: Policy) -> Verdict:
    if policy.mtu is not None:
        raise Skip("interconnect_mtu states the MTU: see interconnect.mtu.")
    here = known(device.mtu)
    return Verdict(
        PASS if here > _STANDARD else WARN,
        f"Its MTU is {here}.",
        advice=Advice(
            [
                Ask(
                    "set MTU 9000 first on all switch ports of the private network, then on "
                    f"{device.name} of all nodes while Clusterware is down on all of them, and "
                    "test it with interconnect_peers; or state in interconnect_mtu that it stays"
                )
            ]
        ),
        desired=f"more than {_STANDARD} bytes, usually 9000",
        running=str(here),
    )


@rules.check(
    "interconnect.arp",
    "Private interface uses ARP, broadcast and multicast",
    "Private interface does not use ARP, broadcast or multicast",
    severity="critical",
    takes_effect="now",
    why="Clusterware finds other nodes by multicast or broadcast. Without ARP, nodes cannot send "
    "packets to each other or to an address that moved.",
    reference=BOOK + "Broadcast Requirements for Networks (no NOARP), Multicast Requirements for "
    "Networks; kernel Documentation/networking/ip-sysctl.rst, arp_ignore; CVU PRVE-10345, "
    "PRVE-10346",
    each=DEVICES,
)
def arp(device: Device, _facts: Facts, _policy: Policy) -> Verdict:
    # A known wrong value counts, whatever the other value is.
    flags = if_known(device.flags, _USUAL)
    ignored = if_known(device.arp_ignore, 0)
    if flags & (_NOARP | _USUAL) == _USUAL and ignored < _NO_ANSWER:
        known(device.flags)
        known(device.arp_ignore)
    problems = ["NOARP is set"] if flags & _NOARP else []
    missing = [name for bit, name in _WANTED.items() if not flags & bit]
    problems += [f"{name} is not set" for name in missing]
    steps = _set_flags(device.name, bool(flags & _NOARP), missing)
    if ignored >= _NO_ANSWER:
        problems.append(f"arp_ignore {ignored} answers no ARP request")
        steps += [
            Run(
                *("sysctl", "-w", f"net/ipv4/conf/{name}/arp_ignore=0"),
                text=f"set arp_ignore of {device.name} to 0",
            )
            for name in ("all", device.name)
        ]
        steps.append(Ask("list arp_ignore in kernel_parameters_values"))
        steps.append(Ask("apply kernel_parameters"))
    return Verdict(
        FAIL if problems else PASS,
        f"{'; '.join(problems)}.",
        advice=Advice(steps),
        desired="ARP, BROADCAST, MULTICAST; arp_ignore below 8",
        running=f"{_flags_in_words(device.flags, missing)}; "
        f"arp_ignore {ignored if isinstance(device.arp_ignore, int) else 'unknown'}",
        evidence=["file:" + devices.place(device.name, "flags")]
        + [ARP_FILE.format(name) for name in ("all", device.name)],
    )


def _flags_in_words(flags: Answer[int], missing: List[str]) -> str:
    if not isinstance(flags, int):
        return "flags unknown"
    names = [name for name in _WANTED.values() if name not in missing]
    return ", ".join(["NOARP" if flags & _NOARP else "ARP", *names])


def _set_flags(name: str, is_noarp: bool, missing: List[str]) -> List[Step]:
    link = ["ip", "link", "set", "dev", name]
    steps: List[Step] = []
    if is_noarp:
        steps.append(Run(*link, "arp", "on", text=f"enable ARP on {name}"))
    if "MULTICAST" in missing:
        steps.append(Run(*link, "multicast", "on", text=f"enable multicast on {name}"))
    if "BROADCAST" in missing:
        steps.append(Ask(f"use an Ethernet interface: {name} has no broadcast"))
    if is_noarp or "MULTICAST" in missing:
        steps.append(Ask(f"set the same in the configuration of {name}"))
    return steps


@rules.check(
    "interconnect.subnets",
    "Each private interface is in its own subnet",
    "Private interfaces share a subnet",
    severity="critical",
    takes_effect="cluster_restart",
    why="A single cable fault evicts the node although the other interface works. The kernel "
    "sends all traffic of a shared subnet over one interface.",
    reference="My Oracle Support 1210883.1 (Highly Available IP)",
)
def subnets(facts: Facts, _policy: Policy) -> Verdict:
    names = [device.name for device in known(facts.devices)]
    if len(names) < 2:
        raise Skip(f"{names[0]} is the only interconnect device.")
    addresses = known(facts.addresses)
    pairs = itertools.combinations(addresses, 2)
    shared = overlapping(pair for pair in pairs if pair[0].interface != pair[1].interface)
    bare = sorted(set(names) - {address.interface for address in addresses})
    why = f"These interfaces share a network: {'; '.join(shared)}." if shared else ""
    if bare:
        why += f" {', '.join(bare)} has no address."
    return Verdict(
        FAIL if shared else WARN if bare else PASS,
        why.strip(),
        advice=Advice(
            [
                Ask(
                    MOVE.format("a separate subnet for each of these interfaces")
                    if shared
                    else f"give {', '.join(bare)} an address in a separate subnet, the same on "
                    "all nodes"
                )
            ]
        ),
        desired="a separate subnet for each interface",
        running=networks_in_words(addresses) or "no address",
        evidence=[devices.ADDRESSES_KEY],
    )


@rules.check(
    "interconnect.bonding",
    "Interconnect bond has link monitoring and a suitable mode",
    "Interconnect bond has no link monitoring or an unsuitable mode",
    severity="high",
    takes_effect="now",
    why="Without link monitoring, the bond keeps sending into a dead link until the node is "
    "evicted. A mode that spreads packets delivers them out of order.",
    reference="kernel Documentation/networking/bonding.rst; Oracle Exadata Database Machine "
    "Maintenance Guide, bonded networks",
    each=BONDS,
)
def bonding(bond: Bond, _facts: Facts, policy: Policy) -> Verdict:
    """The members of the bond are checked by flow_control.bond_members_alike."""
    state = known_or_skip(bond.state)
    mode = known(bond.mode)
    good = mode in policy.bonding_modes
    watched = "link monitoring" if state.monitored else "no link monitoring"
    problems = []
    if not state.monitored:
        problems.append("link monitoring is off, both MII (miimon) and ARP")
    if not good:
        problems.append(f"its mode is {mode}, not {' or '.join(policy.bonding_modes)}")
    why = "; ".join(problems)
    return Verdict(
        FAIL if not state.monitored else PASS if good else WARN,
        f"{why[:1].upper()}{why[1:]}.",
        advice=Advice(
            [
                *([] if state.monitored else [Ask(_monitoring(bond.name))]),
                *(
                    []
                    if good
                    else [
                        Ask(
                            f"set the mode of {bond.name} to {' or '.join(policy.bonding_modes)} "
                            "while Clusterware is down on the node; 802.3ad needs LACP on the "
                            "switch first"
                        )
                    ]
                ),
            ]
        ),
        desired=f"{' or '.join(policy.bonding_modes)}, link monitoring",
        running=f"{mode}, {watched}",
        evidence=["file:/proc/net/bonding/" + bond.name, _mode_key(bond.name)],
        values={"mode": mode},
    )


def _monitoring(name: str) -> str:
    path = devices.place(name, "bonding/miimon")
    return f"write 100 to {path}, and miimon=100 into the configuration of {name}"


def _mode_key(name: str) -> str:
    return "file:" + devices.place(name, "bonding/mode")


@rules.check(
    "interconnect.loopback_mtu",
    "Loopback MTU is within the limit",
    "Loopback MTU is too large",
    severity="low",
    takes_effect="now",
    why="Traffic between instances on one host can fail with 'no buffer space available' "
    "(ORA-27301). It requires 64 KiB of contiguous memory per buffer.",
    reference="My Oracle Support 2041723.1",
)
def loopback_mtu(facts: Facts, policy: Policy) -> Verdict:
    if policy.loopback_mtu is None:
        raise Skip("interconnect_loopback_mtu is unmanaged.")
    if not (policy.profile is not None and policy.profile.cluster) and not known(facts.cluster):
        raise Skip("No sign of a cluster was found, and the profile is not one of a node.")
    here = known(facts.loopback)
    return Verdict(
        PASS if here <= policy.loopback_mtu else WARN,
        f"It is {here}. To avoid ORA-27301, {policy.loopback_mtu} is recommended.",
        advice=Advice(
            [
                Ask("correct kernel_parameters.memory (vm.min_free_kbytes) first"),
                Run(
                    *("ip", "link", "set", "dev", "lo", "mtu", policy.loopback_mtu),
                    text=f"set the MTU of lo to {policy.loopback_mtu}",
                ),
                Ask("set it in the configuration of lo too"),
            ]
        ),
        desired=f"at most {policy.loopback_mtu}",
        running=str(here),
        values={"mtu": here},
        evidence=["file:" + LOOPBACK],
    )
