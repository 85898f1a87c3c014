# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the adapters of an AIX host: flow control in use by entstat, at boot by the ODM.

AIX knows one state for both directions, and does not tell whether it was negotiated. Apply does not
set it: an adapter in use takes no change, so that it needs a reboot anyway.
"""

from typing import List, Tuple, Union

from ...answer import Answer, attempt, known
from ...errors import Absent, HostproofError, Unanswered
from ...host import Host
from ...parsers.ethtool_pause import Direction, PauseSettings
from ...parsers.ethtool_settings import Settings
from ...parsers.link_file import Device
from ...parsers.nfs_options import AIX
from ...probes import aix_adapters
from ...probes.aix_adapters import Port, argv_attribute
from ...probes.pause_persisted import ODM, Persisted, Setting
from .facts import NicFacts, Platform
from .policy import KEEP, OFF, ON, Policy, Rule

#: Ends of the descriptions of PowerVM's virtual adapters, which no cable is in.
_VIRTUAL = ("(l-lan)", "(vnic)")


def look(host, policy):
    # type: (Host, Policy) -> Platform
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


def _facts(port, roles, rule):
    # type: (Port, Tuple[str, ...], Rule) -> NicFacts
    one = port.adapter
    pause = attempt(_pause, port)
    return NicFacts(
        nic=port.nic,
        roles=roles,
        rule=rule._replace(autoneg=KEEP),
        pause=pause,
        settings=Settings(one.speed, one.duplex, one.negotiated, one.up, None, None, None, None),
        in_force=attempt(lambda: Direction(known(pause).rx, known(pause).tx)),
        priorities=attempt(_priorities, port),
        persisted=_persisted(port),
        traffic=Absent("policy", "flow_control_sample_seconds is 0: nothing is counted"),
        system=AIX,
        by_hand=_by_hand(one.name, rule),
        evidence=(port.key,),
    )


def _pause(port):
    # type: (Port) -> PauseSettings
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
            "neither entstat nor lsattr tells of flow control of {0} ({1}); that of a Host "
            "Ethernet Adapter is set at the management console (HMC)".format(
                port.nic.name, port.adapter.type
            ),
        )
    raise Unanswered(
        port.key, "entstat -d does not tell the flow control status of {0}".format(port.nic.name)
    )


def _priorities(port):
    # type: (Port) -> List[Union[int, str]]
    state = port.adapter.priority_flow_control
    if state is None:
        raise Absent(port.key, "entstat tells nothing of priority flow control")
    return ["entstat: Priority Flow Control: Enabled"] if state else []


def _persisted(port):
    # type: (Port) -> Persisted
    """The next boot configures the adapter as the database has it."""
    name = port.nic.name
    argv = argv_attribute(name, "flow_ctrl")
    settings = []  # type: Answer[List[Setting]]
    if not isinstance(port.flow_ctrl, HostproofError):
        value = port.flow_ctrl
        key = "command:" + " ".join(argv)
        settings = [Setting(ODM, "flow_ctrl of " + name, None, value, value, "", (key,))]
    elif not isinstance(port.flow_ctrl, Absent):
        settings = port.flow_ctrl
    return Persisted(
        links=[],
        winner=None,
        settings=settings,
        profile=None,
        systemd=Absent("command:udevadm --version", "AIX has no systemd"),
        device=Device(port.nic.permanent_mac, None, port.nic.driver, (name,)),
        texts={},
    )


def _by_hand(name, rule):
    # type: (str, Rule) -> str
    wanted = {choice for choice in (rule.rx, rule.tx) if choice != KEEP}
    value = {ON: "yes", OFF: "no"}.get(wanted.pop()) if len(wanted) == 1 else None
    if value is None:
        return (
            "AIX sets both directions with one attribute: give rx and tx alike in "
            "flow_control_wanted, or chdev -l {0} -a flow_ctrl=yes or no -P and a reboot"
        ).format(name)
    return "chdev -l {0} -a flow_ctrl={1} -P, then a reboot".format(name, value)
