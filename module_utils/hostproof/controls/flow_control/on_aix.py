# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the adapters of an AIX host: flow control in use from entstat, at boot from the ODM.

AIX has one state for both directions and does not show whether it was negotiated. Apply does not
set it: an adapter in use cannot be changed, so a reboot is necessary.
"""

from typing import List, Tuple, Union

from ...collect import shell
from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.net.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs.nfs_options import AIX
from .nics import NicFacts, Platform, without_systemd
from .parsers.ethtool_settings import Settings
from .policy import KEEP, OFF, ON, Policy, Rule
from .probes import aix_adapters
from .probes.aix_adapters import Port, argv_attribute
from .probes.pause_persisted import ODM, Persisted, Setting

#: Ends of the descriptions of PowerVM's virtual adapters, which have no cable.
_VIRTUAL = ("(l-lan)", "(vnic)")


def read_platform(host: Host, policy: Policy) -> Platform:
    interfaces, ports = aix_adapters.read_adapters(
        host, policy.interconnect, policy.names_interfaces
    )
    return Platform(
        interfaces,
        lambda name, roles, rule: _facts(ports[name], roles, rule),
        lambda names, seconds: aix_adapters.take_sample(
            host, [ports[name] for name in names], seconds
        ),
        lambda sample, name: aix_adapters.traffic_of(sample, ports[name]),
    )


def _facts(port: Port, roles: Tuple[str, ...], rule: Rule) -> NicFacts:
    adapter = port.adapter
    pause = attempt(_pause, port)
    by_hand, commands = _by_hand(adapter.name, rule)
    return NicFacts(
        nic=port.nic,
        roles=roles,
        rule=rule._replace(autoneg=KEEP),
        pause=pause,
        settings=Settings(
            adapter.speed, adapter.duplex, adapter.negotiated, adapter.up, None, None, None, None
        ),
        in_force=attempt(lambda: Direction(known(pause).rx, known(pause).tx)),
        priorities=attempt(_priorities, port),
        persisted=_persisted(port),
        traffic=Absent("policy", "hostproof_window_seconds is 0: nothing is counted"),
        system=AIX,
        by_hand=by_hand,
        by_hand_commands=commands,
        evidence=(port.key,),
    )


def _pause(port: Port) -> PauseSettings:
    state = port.adapter.flow_control
    if state is not None:
        return PauseSettings(False, state, state, None, None, None)
    if port.adapter.type.endswith(_VIRTUAL):
        raise Absent(
            port.key,
            "a virtual adapter has no flow control, the physical one of the Virtual I/O Server has",
        )
    if isinstance(port.flow_ctrl, Absent):
        raise Unanswered(
            port.key,
            f"neither entstat nor lsattr shows flow control of {port.nic.name} "
            f"({port.adapter.type}); that of a Host Ethernet Adapter is set at the management "
            "console (HMC)",
        )
    raise Unanswered(
        port.key, f"entstat -d does not show the flow control status of {port.nic.name}"
    )


def _priorities(port: Port) -> List[Union[int, str]]:
    state = port.adapter.priority_flow_control
    if state is None:
        raise Absent(port.key, "entstat does not show priority flow control")
    return ["entstat: Priority Flow Control: Enabled"] if state else []


def _persisted(port: Port) -> Persisted:
    """The attribute flow_ctrl in the ODM, which a reboot applies."""
    name = port.nic.name
    argv = argv_attribute(name, "flow_ctrl")
    settings: Answer[List[Setting]] = []
    if not isinstance(port.flow_ctrl, HostproofError):
        value = port.flow_ctrl
        key = "command:" + " ".join(argv)
        settings = [Setting(ODM, "flow_ctrl of " + name, None, value, value, "", (key,))]
    elif not isinstance(port.flow_ctrl, Absent):
        settings = port.flow_ctrl
    return without_systemd(port.nic, AIX, settings)


def _by_hand(name: str, rule: Rule) -> Tuple[str, Tuple[str, ...]]:
    """How to set flow control: a text and the commands."""
    choices = {choice for choice in (rule.rx, rule.tx) if choice != KEEP}
    value = {ON: "yes", OFF: "no"}.get(choices.pop()) if len(choices) == 1 else None
    if value is None:
        return (
            "AIX sets both directions with one attribute: set the same rx and tx in "
            f"flow_control_rules, or set flow_ctrl of {name} to yes or no with chdev -P, and "
            "reboot"
        ), ()
    command = shell.line("chdev", "-l", name, "-a", "flow_ctrl=" + value, "-P")
    return "set it for the next reboot, then reboot", (command,)
