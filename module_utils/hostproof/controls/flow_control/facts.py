# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks and the plan need to know of a host and of the ports that it is connected to."""

from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ...answer import Answer, if_known
from ...host import Sample
from ...parsers.ethtool_pause import Direction, PauseSettings
from ...parsers.ethtool_settings import Settings
from ...parsers.nfs_options import LINUX
from ...probes.filer_port import Filer
from ...probes.network_interfaces import Interfaces, Nic
from ...probes.nic_pause import Traffic
from ...probes.pause_persisted import Persisted
from ...probes.switch_port import Switch
from .policy import Rule

LINK_FOLDER = "/etc/systemd/network"
RULE_FOLDER = "/etc/udev/rules.d"


class NicFacts(NamedTuple):
    """One interface that is judged. Every Answer may hold the error that stands in its place.

    ``pause`` is Absent where the driver has none. ``priorities`` are those that pause by
    themselves (802.1Qbb), or words where only that is known; Absent where nothing tells of any.
    ``system`` is LINUX, AIX or SOLARIS; on the latter two ``autoneg`` of ``pause`` means nothing,
    and ``by_hand`` says how to set what the rule wants, for apply does not. ``evidence`` are the
    keys of what ``pause`` is from, those of ethtool where it is empty.
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
    evidence: Tuple[str, ...] = ()

    @property
    def name(self):
        # type: () -> str
        return self.nic.name


class Facts(NamedTuple):
    """What was seen. ``nics`` are the judged interfaces by name; ``switches`` are by the name of
    the agent and ``filers`` by the address that the host mounts from. ``unused_filers`` are those
    of the policy that no path leads to: nobody asked them."""

    system: Answer[str]
    interfaces: Answer[Interfaces]
    nics: Dict[str, NicFacts]
    switches: Dict[str, Answer[Switch]]
    filers: Dict[str, Answer[Filer]]
    unused_filers: Tuple[str, ...] = ()


class Platform(NamedTuple):
    """How one system is read: ``read_nic(name, roles, rule)`` without its traffic, and
    ``traffic_of(sample, name)``. ``take_sample(names, seconds)`` is None where nothing counts."""

    interfaces: Interfaces
    read_nic: Callable[[str, Tuple[str, ...], Rule], NicFacts]
    take_sample: Optional[Callable[[List[str], float], Sample]]
    traffic_of: Callable[[Sample, str], Traffic]


def link_path(nic):
    # type: (str) -> str
    """Our own .link file: its name comes before all that somebody would choose."""
    return "{0}/00-hostproof-{1}.link".format(LINK_FOLDER, nic)


def rule_path(nic):
    # type: (str) -> str
    """Our own udev rule, for a systemd whose .link files know no flow control."""
    return "{0}/99-hostproof-pause-{1}.rules".format(RULE_FOLDER, nic)


def of_bond(facts, name):
    # type: (Facts, str) -> List[NicFacts]
    """The judged members of the bond that an interface is in, itself too."""
    bond = facts.nics[name].nic.bond
    if bond is None:
        return [facts.nics[name]]
    return [one for one in facts.nics.values() if one.nic.bond == bond]


def agents_asked(facts):
    # type: (Facts) -> bool
    """Whether any agent answered."""
    answers = list(facts.switches.values()) + list(facts.filers.values())
    return any(if_known(one, None) is not None for one in answers)
