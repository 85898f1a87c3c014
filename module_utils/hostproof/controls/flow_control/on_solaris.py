# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the datalinks of a Solaris host: the property flowctrl of dladm, now and at boot.

Apply does not set it. PAUSE frames are not counted: the kstats differ from driver to driver.
"""

from typing import List, Optional, Tuple, Union

from ...collect import shell
from ...collect.answer import Answer, attempt, known
from ...collect.host import Host, Sample
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.net.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs.nfs_options import SOLARIS
from .nics import NicFacts, Platform, without_systemd
from .parsers.ethtool_settings import Settings
from .policy import KEEP, OFF, ON, Policy, Rule
from .probes import solaris_links
from .probes.nic_pause import Traffic
from .probes.pause_persisted import DLADM, Persisted, Setting
from .probes.solaris_links import Port, argv_property

#: rx obeys PAUSE, tx sends it, as on the interface.
_DIRECTIONS = {
    "no": Direction(False, False),
    "rx": Direction(True, False),
    "tx": Direction(False, True),
    "bi": Direction(True, True),
}
_PRIORITY = "pfc"


def read_platform(host: Host, policy: Policy) -> Platform:
    interfaces, ports = solaris_links.read_links(host, policy.interconnect, policy.names_interfaces)
    return Platform(
        interfaces,
        lambda name, roles, rule: _facts(ports[name], roles, rule),
        None,
        _no_traffic,
    )


def _no_traffic(_sample: Sample, _name: str) -> Traffic:
    raise _NOT_COUNTED


_NOT_COUNTED = Absent("command:kstat", "PAUSE frames and drops are not counted on Solaris")


def _facts(port: Port, roles: Tuple[str, ...], rule: Rule) -> NicFacts:
    nic = port.nic
    pause = attempt(_pause, port)
    by_hand, commands = _by_hand(nic.name, rule)
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
        by_hand=by_hand,
        by_hand_commands=commands,
        evidence=(_key(nic.name, False),),
    )


def _key(name: str, persistent: bool) -> str:
    return "command:" + " ".join(argv_property(name, persistent))


def _directions(pause: PauseSettings) -> Direction:
    return Direction(pause.rx, pause.tx)


def _pause(port: Port) -> PauseSettings:
    """The configured value, and the value in force if this release shows it (EFFECTIVE)."""
    now = known(port.now)
    if now.value is None:
        raise Absent(_key(port.nic.name, False), "the driver has no flow control (dladm shows --)")
    force = _DIRECTIONS.get(now.effective or "")
    chosen = _DIRECTIONS.get(now.value, force)
    if chosen is None and _PRIORITY in (now.value, now.effective):
        chosen = Direction(False, False)  # not checked: see _priorities
    if chosen is None:
        raise Unanswered(
            _key(port.nic.name, False),
            f"flowctrl of {port.nic.name} is {now.value}, and dladm does not show the result",
        )
    return PauseSettings(force is not None, chosen.rx, chosen.tx, force, None, None)


def _priorities(port: Port) -> List[Union[int, str]]:
    now = known(port.now)
    in_use = _PRIORITY in ((now.effective,) if now.effective else (now.value,))
    return ["flowctrl is pfc"] if in_use else []


def _persisted(port: Port) -> Persisted:
    name = port.nic.name
    settings: Answer[List[Setting]] = []
    if isinstance(port.at_boot, HostproofError):
        settings = port.at_boot
    elif port.at_boot.value is not None:
        value = _DIRECTIONS.get(port.at_boot.value)
        if value is None:
            settings = Unanswered(
                _key(name, True),
                f"flowctrl of {name} is {port.at_boot.value} at boot: the result is negotiated "
                "then",
            )
        else:
            key = (_key(name, True),)
            settings = [Setting(DLADM, "flowctrl of " + name, None, value.rx, value.tx, "", key)]
    return without_systemd(port.nic, SOLARIS, settings)


def _by_hand(name: str, rule: Rule) -> Tuple[str, Tuple[str, ...]]:
    """How to set flow control: a text and the commands."""
    value = _value(rule)
    if value is None:
        return f"set flowctrl of {name} to no, rx, tx or bi with dladm set-linkprop", ()
    command = shell.line("dladm", "set-linkprop", "-p", "flowctrl=" + value, name)
    return "set it; it takes effect now and after reboot", (command,)


def _value(rule: Rule) -> Optional[str]:
    """The value of flowctrl. None if the rule keeps a direction as it is."""
    if rule.rx not in (ON, OFF) or rule.tx not in (ON, OFF):
        return None
    chosen = Direction(rule.rx == ON, rule.tx == ON)
    return [name for name, value in _DIRECTIONS.items() if value == chosen][0]
