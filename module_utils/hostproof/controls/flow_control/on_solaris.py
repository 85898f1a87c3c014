# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the datalinks of a Solaris host: the property flowctrl of dladm, now and at boot.

Apply does not set it. PAUSE frames are not counted: each driver has kstats of its own.
"""

from typing import List, Optional, Tuple, Union

from ...answer import Answer, attempt, known
from ...errors import Absent, HostproofError, Unanswered
from ...host import Host, Sample
from ...parsers.ethtool_pause import Direction, PauseSettings
from ...parsers.ethtool_settings import Settings
from ...parsers.link_file import Device
from ...parsers.nfs_options import SOLARIS
from ...probes import solaris_links
from ...probes.nic_pause import Traffic
from ...probes.pause_persisted import DLADM, Persisted, Setting
from ...probes.solaris_links import Port, argv_property
from .facts import NicFacts, Platform
from .policy import KEEP, OFF, ON, Policy, Rule

#: rx obeys, tx sends, as of the interface itself.
_DIRECTIONS = {
    "no": Direction(False, False),
    "rx": Direction(True, False),
    "tx": Direction(False, True),
    "bi": Direction(True, True),
}
_PRIORITY = "pfc"


def look(host, policy):
    # type: (Host, Policy) -> Platform
    interfaces, ports = solaris_links.read_links(host, policy.interconnect, policy.names_interfaces)
    return Platform(
        interfaces,
        lambda name, roles, rule: _facts(ports[name], roles, rule),
        None,
        _no_traffic,
    )


def _no_traffic(_sample, _name):
    # type: (Sample, str) -> Traffic
    raise _NOT_COUNTED


_NOT_COUNTED = Absent("command:kstat", "PAUSE frames and drops are not counted on Solaris")


def _facts(port, roles, rule):
    # type: (Port, Tuple[str, ...], Rule) -> NicFacts
    nic = port.nic
    pause = attempt(_pause, port)
    return NicFacts(
        nic=nic,
        roles=roles,
        rule=rule._replace(autoneg=KEEP),
        pause=pause,
        settings=Settings(nic.speed, nic.duplex, None, nic.carrier, None, None, None, None),
        in_force=attempt(lambda: known(pause).negotiated or _directions(known(pause))),
        priorities=attempt(_priorities, port),
        persisted=_persisted(port),
        traffic=_NOT_COUNTED,
        system=SOLARIS,
        by_hand=_by_hand(nic.name, rule),
        evidence=(_key(nic.name, False),),
    )


def _key(name, persistent):
    # type: (str, bool) -> str
    return "command:" + " ".join(argv_property(name, persistent))


def _directions(pause):
    # type: (PauseSettings) -> Direction
    return Direction(pause.rx, pause.tx)


def _pause(port):
    # type: (Port) -> PauseSettings
    """What is set, and what came of it where this release tells (EFFECTIVE)."""
    now = known(port.now)
    if now.value is None:
        raise Absent(_key(port.nic.name, False), "the driver has no flow control (dladm shows --)")
    force = _DIRECTIONS.get(now.effective or "")
    chosen = _DIRECTIONS.get(now.value, force)
    if chosen is None and _PRIORITY in (now.value, now.effective):
        chosen = Direction(False, False)  # not judged: see _priorities
    if chosen is None:
        raise Unanswered(
            _key(port.nic.name, False),
            "flowctrl of {0} is {1}, and dladm does not tell what came of it".format(
                port.nic.name, now.value
            ),
        )
    return PauseSettings(force is not None, chosen.rx, chosen.tx, force, None, None)


def _priorities(port):
    # type: (Port) -> List[Union[int, str]]
    now = known(port.now)
    in_use = _PRIORITY in ((now.effective,) if now.effective else (now.value,))
    return ["flowctrl is pfc"] if in_use else []


def _persisted(port):
    # type: (Port) -> Persisted
    name = port.nic.name
    settings = []  # type: Answer[List[Setting]]
    if isinstance(port.at_boot, HostproofError):
        settings = port.at_boot
    elif port.at_boot.value is not None:
        value = _DIRECTIONS.get(port.at_boot.value)
        if value is None:
            settings = Unanswered(
                _key(name, True),
                "flowctrl of {0} is {1} at boot: what comes of it is negotiated then".format(
                    name, port.at_boot.value
                ),
            )
        else:
            key = (_key(name, True),)
            settings = [Setting(DLADM, "flowctrl of " + name, None, value.rx, value.tx, "", key)]
    return Persisted(
        links=[],
        winner=None,
        settings=settings,
        profile=None,
        systemd=Absent("command:udevadm --version", "Solaris has no systemd"),
        device=Device(port.nic.permanent_mac, None, port.nic.driver, (name,)),
        texts={},
    )


def _by_hand(name, rule):
    # type: (str, Rule) -> str
    value = _value(rule)
    if value is None:
        return "dladm set-linkprop -p flowctrl=no, rx, tx or bi {0}".format(name)
    return "dladm set-linkprop -p flowctrl={0} {1}".format(value, name)


def _value(rule):
    # type: (Rule) -> Optional[str]
    """None where the rule leaves a direction as it is."""
    if rule.rx not in (ON, OFF) or rule.tx not in (ON, OFF):
        return None
    chosen = Direction(rule.rx == ON, rule.tx == ON)
    return [name for name, value in _DIRECTIONS.items() if value == chosen][0]
