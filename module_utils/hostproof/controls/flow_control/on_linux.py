# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the interfaces of a Linux host."""

from typing import Tuple

from ...collect.answer import attempt, known
from ...collect.host import Host
from ...errors import Absent
from ...probes.kernel import pci_slot
from ...probes.net import devices, network_interfaces
from ...probes.net.network_interfaces import Nic
from .nics import NicFacts, Platform, link_path, rule_path
from .policy import Policy, Rule
from .probes import nic_pause
from .probes.pause_persisted import read_persisted


def read_platform(host: Host, policy: Policy) -> Platform:
    interfaces = network_interfaces.read_interfaces(
        host, policy.interconnect, policy.names_interfaces
    )
    nics = interfaces.nics
    return Platform(
        interfaces,
        lambda name, roles, rule: _read_nic(host, nics[name], roles, rule),
        lambda names, seconds: nic_pause.take_sample(host, names, seconds),
        lambda sample, name: nic_pause.traffic_of(sample, name, nics[name].driver),
    )


def _read_nic(host: Host, nic: Nic, roles: Tuple[str, ...], rule: Rule) -> NicFacts:
    pause = attempt(nic_pause.read_pause, host, nic.name, nic.driver)
    settings = attempt(nic_pause.read_settings, host, nic.name)
    return NicFacts(
        nic=nic,
        roles=roles,
        rule=rule,
        pause=pause,
        settings=settings,
        in_force=attempt(lambda: nic_pause.in_force(known(pause), settings, nic.driver)),
        priorities=attempt(nic_pause.read_priorities, host, nic.name),
        persisted=read_persisted(host, nic, (link_path(nic.name), rule_path(nic.name))),
        traffic=Absent("policy", "hostproof_window_seconds is 0: nothing is counted"),
        rings=attempt(nic_pause.read_rings, host, nic.name),
        slot=attempt(pci_slot.read, host, devices.place(nic.name, "device")),
    )
