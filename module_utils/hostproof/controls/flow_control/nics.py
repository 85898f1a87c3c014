# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of one checked interface, common to all systems, and what follows from them."""

from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

from ...collect.answer import Answer, if_known, known
from ...collect.host import Sample
from ...errors import Absent, Unanswered
from ...evaluate.checking import Skip
from ...parsers.net.ethtool_pause import Direction, PauseSettings
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.systemd.link_file import Device
from ...probes.kernel.pci_slot import Slot
from ...probes.net.network_interfaces import Interfaces, Nic
from .parsers.ethtool_rings import Rings
from .parsers.ethtool_settings import Settings
from .policy import Rule
from .probes.nic_pause import Traffic, argv_pause
from .probes.pause_persisted import Persisted, Setting

LINK_FOLDER = "/etc/systemd/network"
RULE_FOLDER = "/etc/udev/rules.d"
_LINUX_ONLY = Absent("policy", "it is read on Linux only")


class NicFacts(NamedTuple):
    """One checked interface. An Answer can be the error of its reading.

    ``pause`` is Absent if the driver has no flow control. ``priorities`` are the priorities with
    PAUSE (802.1Qbb), or a text if only its use is known; Absent if the system has no source for it.
    ``system`` is LINUX, AIX or SOLARIS. On AIX and Solaris ``autoneg`` of ``pause`` has no meaning
    and apply does not set flow control: ``by_hand`` and ``by_hand_commands`` describe how to set
    it. ``evidence`` are the evidence keys of ``pause``; empty means those of ethtool.
    """

    nic: Nic
    roles: Tuple[str, ...]
    rule: Rule
    pause: Answer[PauseSettings]
    settings: Answer[Settings]
    in_force: Answer[Direction]
    priorities: Answer[Sequence[Union[int, str]]]
    persisted: Persisted
    traffic: Answer[Traffic]
    system: str = LINUX
    by_hand: str = ""
    by_hand_commands: Tuple[str, ...] = ()
    evidence: Tuple[str, ...] = ()
    rings: Answer[Rings] = _LINUX_ONLY
    slot: Answer[Slot] = _LINUX_ONLY

    @property
    def name(self) -> str:
        return self.nic.name


class Platform(NamedTuple):
    """Functions that read one system. ``read_nic(name, roles, rule)`` does not read traffic;
    ``traffic_of(sample, name)`` does. ``take_sample(names, seconds)`` is None if the system has no
    counters."""

    interfaces: Interfaces
    read_nic: Callable[[str, Tuple[str, ...], Rule], NicFacts]
    take_sample: Optional[Callable[[List[str], float], Sample]]
    traffic_of: Callable[[Sample, str], Traffic]


def link_path(nic: str) -> str:
    """Hostproof's .link file. Its name sorts before the usual names, so udev uses it."""
    return f"{LINK_FOLDER}/00-hostproof-{nic}.link"


def rule_path(nic: str) -> str:
    """Hostproof's udev rule, for systemd versions whose .link files have no flow control."""
    return f"{RULE_FOLDER}/99-hostproof-pause-{nic}.rules"


def without_systemd(nic: Nic, system: str, settings: Answer[List[Setting]]) -> Persisted:
    """The persisted settings of a system without .link files."""
    return Persisted(
        links=[],
        winner=None,
        settings=settings,
        profile=None,
        systemd=Absent("command:udevadm --version", f"{system} has no systemd"),
        device=Device(nic.permanent_mac, None, nic.driver, (nic.name,)),
        texts={},
    )


def why_left_alone(nic: NicFacts) -> Optional[str]:
    """Why flow control of an interface is not checked, else None. Raises if that is unknown."""
    if isinstance(nic.pause, Absent):
        return f"{nic.name}: {nic.pause}."
    known(nic.pause)
    return priority_in_use(nic)


def has_link(nic: NicFacts) -> bool:
    """False without carrier or if the interface is set down. Raises if the state is unknown."""
    if nic.nic.carrier is None and nic.system == LINUX:
        raise Unanswered(
            f"file:/sys/class/net/{nic.name}/carrier",
            f"whether {nic.name} has a link is not known",
        )
    return nic.nic.carrier is not False


def priority_in_use(nic: NicFacts) -> Optional[str]:
    """A text if priority flow control is in use, else None. Raises if that is unknown."""
    priorities = if_known(nic.priorities, [])
    if priorities:
        return "Priority flow control is in use ({0}): hands off.".format(
            ", ".join(f"priority {item}" if isinstance(item, int) else item for item in priorities)
        )
    if not isinstance(nic.priorities, Absent):
        known(nic.priorities)
    traffic = if_known(nic.traffic, None)
    if traffic is not None and traffic.priority and isinstance(nic.priorities, Absent):
        return "Frames of priority flow control were counted: hands off."
    return None


def evidence_of(nic: NicFacts) -> List[str]:
    """Evidence keys: first those of flow control, then those of speed."""
    if nic.evidence:
        return list(nic.evidence)
    return ["command:" + " ".join(argv_pause(nic.name)), "command:ethtool " + nic.name]


def skip_if_left_alone(nic: NicFacts) -> None:
    why = why_left_alone(nic)
    if why:
        raise Skip(why)


# -- words ----------------------------------------------------------------------------------------


def on_off(value: bool) -> str:
    return "on" if value else "off"


def direction_text(value: Union[Direction, PauseSettings]) -> str:
    return f"rx {on_off(value.rx)}, tx {on_off(value.tx)}"


def capital(text: str) -> str:
    """The text with a capital first letter. str.capitalize() would change Gi1/0/1 to gi1/0/1."""
    return text[:1].upper() + text[1:]
