# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: interfaces, bonds, paths and filers; and the references."""

from operator import attrgetter
from typing import Callable, List, NamedTuple, Optional, Sequence

from ...collect.answer import Answer, known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from ...probes.net.network_interfaces import Path
from .facts import Facts
from .nics import NicFacts, capital
from .policy import INTERCONNECT, STORAGE, Policy
from .snmp.filer_port import Filer

IEEE_802_3 = "IEEE 802.3, annex 31B (PAUSE) and table 28B-3 (its negotiation)"
NTAP = "NetApp, Oracle Database on ONTAP, Ethernet flow control"
SYSTEMD_LINK = "systemd.link(5)"
CASE = "M. E. Dawson, Performance Tuning: A Case Study, 2002"

_NOTHING = (
    "No interface carries storage or the interconnect, and flow_control_rules names no other. "
    "Paths that oranfstab alone names are not followed."
)


def applies(facts: Facts, _policy: Policy) -> None:
    if isinstance(facts.interfaces, Absent):
        raise Skip(f"{capital(str(facts.interfaces))}.")
    known(facts.interfaces)


_name = attrgetter("name")


def need_nics(facts: Facts) -> None:
    """Skip if no interface is checked; flow_control.supported shows the reason."""
    if not facts.nics:
        unknown = known(facts.interfaces).unknown
        raise Skip("See flow_control.supported." if unknown else _NOTHING)


def _nics(facts: Facts, _policy: Policy) -> List[NicFacts]:
    need_nics(facts)
    return list(facts.nics.values())


def _with_unknown(facts: Facts, _policy: Policy) -> List[object]:
    return [*facts.nics.values(), *known(facts.interfaces).unknown]


NICS = Subjects(_nics, name=_name)
#: Interfaces, and the reason if further relevant interfaces are unknown.
NICS_AND_UNKNOWN = Subjects(
    _with_unknown, none=_NOTHING, name=_name, unknown="interfaces that matter"
)


def _bonds(facts: Facts, _policy: Policy) -> List[str]:
    need_nics(facts)
    return sorted({nic.nic.bond for nic in facts.nics.values() if nic.nic.bond is not None})


BONDS = Subjects(_bonds, none="None of the interfaces is a member of a bond.", name=str)


# -- paths ----------------------------------------------------------------------------------------


class NamedPath(NamedTuple):
    """A path with a name that is unique on the host."""

    name: str
    path: Path


def _paths_of(roles: Sequence[str]) -> Callable[[Facts, Policy], List[NamedPath]]:
    def find(facts: Facts, _policy: Policy) -> List[NamedPath]:
        need_nics(facts)
        paths = [path for path in known(facts.interfaces).paths if path.role in roles]
        addresses = [path.address for path in paths]
        return [
            # iSCSI with more than one path
            NamedPath(f"{path.address} over {path.device}", path)
            if path.address and addresses.count(path.address) > 1
            else NamedPath(path.address or path.device, path)
            for path in paths
        ]

    return find


STORAGE_PATHS = Subjects(
    _paths_of((STORAGE,)), none="No path to a storage server is known.", name=_name
)
PATHS = Subjects(
    _paths_of((STORAGE, INTERCONNECT)),
    none="No path to storage or other nodes is known.",
    name=_name,
)


# -- filers ---------------------------------------------------------------------------------------


class NamedFiler(NamedTuple):
    """A filer by the address that the host mounts from. ``answer`` is None without a path to it."""

    address: str
    answer: Optional[Answer[Filer]]


def _filers(facts: Facts, policy: Policy) -> List[NamedFiler]:
    need_nics(facts)
    if not policy.filers:
        raise Skip("flow_control_filers is empty: no filer was queried.")
    filers = [NamedFiler(*filer) for filer in facts.filers.items()]
    return filers + [NamedFiler(address, None) for address in facts.unused_filers]


FILERS = Subjects(_filers, none="No filer was queried.", name=attrgetter("address"))
