# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The devices of Linux's network: which are the interconnect's, what each is on, and bonds.

Sources: kernel Documentation/ABI/testing/sysfs-class-net; Oracle Clusterware
Administration, oifcfg.
"""

import ipaddress
from typing import List, Optional, Sequence, Set, Tuple

from ...collect.answer import attempt, if_known, known
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.net import bonding, ip_addr
from ..oracle import clusterware

CLASS = "/sys/class/net"
_ADDRESSES = ["ip", "-o", "addr", "show"]
ADDRESSES_KEY = "command:" + " ".join(_ADDRESSES)


def place(name: str, attribute: str) -> str:
    return f"{CLASS}/{name}/{attribute}"


def read_addresses(host: Host) -> List[ip_addr.Address]:
    return ip_addr.parse(host.read_output(_ADDRESSES))


def private(
    host: Host, interfaces: Optional[Sequence[str]], variable: str
) -> List[Tuple[str, str]]:
    """The devices of the interconnect, each with a description.

    ``interfaces`` are the interfaces or networks of ``variable``; None reads them from Clusterware.
    """
    names = host.list_dir(CLASS)
    if interfaces is None:
        return [
            (device, "interconnect (oifcfg)")
            for device in clusterware.private_interfaces(host)
            if device in names
        ]
    devices: List[Tuple[str, str]] = []
    for item in interfaces:
        if "/" in item:
            network = ipaddress.ip_network(item)
            inside = {
                address.interface.partition("@")[0]
                for address in read_addresses(host)
                if ipaddress.ip_address(address.address) in network
            }
            devices += [(device, "interconnect " + item) for device in sorted(inside)]
        elif item in names:
            devices.append((item, "interconnect"))
        else:
            raise Unanswered(
                "dir:" + CLASS, f"{variable} names {item}, which this host does not have"
            )
    return devices


def below(host: Host, device: str, names: List[str]) -> Tuple[str, ...]:
    """The interfaces at the bottom; of a bridge those that have a separate device, if any."""
    interfaces: List[str] = []
    waiting: List[str] = [device]
    seen: Set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        entries = host.list_dir(f"{CLASS}/{name}")
        lower = [entry[len("lower_") :] for entry in entries if entry.startswith("lower_")]
        lower = [interface for interface in lower if interface in names]
        if lower and "device" not in entries:
            waiting += lower
        elif "device" in entries or name == device:
            interfaces.append(name)
    return tuple(sorted(interfaces))


def bond_of(host: Host, name: str) -> Optional[str]:
    """What bundles the interface with others: a bond, or a device of teamd; None for a bridge."""
    master = attempt(host.real_path, place(name, "master"))
    if isinstance(master, HostproofError):
        return None
    above = master.rpartition("/")[2]
    entries = if_known(attempt(host.list_dir, f"{CLASS}/{above}"), [])
    if "bonding" in entries:
        return above
    driver = if_known(attempt(host.run, ["ethtool", "-i", above]), None)
    is_team = driver is not None and driver.stdout.startswith("driver: team")
    return above if is_team else None


def bonding_mode(host: Host, bond: str) -> str:
    """As the kernel names it: "active-backup"."""
    # "active-backup 1"
    words: List[str] = host.read_text(place(bond, "bonding/mode")).split()
    if not words:
        raise Unanswered("file:" + place(bond, "bonding/mode"), f"{bond} has no mode")
    return words[0]


def read_bond(host: Host, name: str) -> bonding.Bond:
    text = attempt(host.read_text, "/proc/net/bonding/" + name)
    if isinstance(text, Absent):
        raise Absent(text.key, f"{name} is not a bond of the kernel (teamd)")
    return bonding.parse(known(text))
