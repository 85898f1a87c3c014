# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: interconnect devices, their bonds, and paths to other nodes."""

from operator import attrgetter
from typing import List

from ...collect.answer import known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from .facts import Bond, Device, Facts
from .policy import Peer, Policy

BOOK = "Oracle Grid Infrastructure Installation Guide for Linux, "

#: How the network of the interconnect changes (My Oracle Support 283684.1).
MOVE = (
    "register {0} with oifcfg setif while Clusterware runs, stop it on all nodes, change the "
    "addresses, start it, and then delete the old registration (oifcfg delif)"
)

_NONE = (
    "The interconnect is unknown: interconnect_interfaces is not set, and Clusterware does not run."
)


def applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.devices, Absent) and facts.devices.key.startswith("dir:"):
        raise Skip("Not a Linux host: it has no /sys/class/net.")
    if not known(facts.devices):
        raise Skip(_NONE)


def _devices(facts: Facts, _policy: Policy) -> List[Device]:
    return list(known(facts.devices))


def _bonds(facts: Facts, _policy: Policy) -> List[Bond]:
    for device in known(facts.devices):
        known(device.bonds)
    return facts.bonds


def _peers(facts: Facts, _policy: Policy) -> List[Peer]:
    peers = known(facts.peers)
    if not peers:
        raise Skip(
            "interconnect_peers is empty and interconnect_test_nodes is false: no packets are sent."
        )
    return list(peers)


_name = attrgetter("name")
DEVICES = Subjects(_devices, name=_name, evidence=attrgetter("evidence"))
BONDS = Subjects(_bonds, none="No device of the interconnect uses a bond.", name=_name)
PEERS = Subjects(_peers, name=attrgetter("address"))
