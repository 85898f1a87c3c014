# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the interconnect should be: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    decimal,
    entries,
    names,
    networks,
    of_profile,
    reader,
    whole_number,
    window,
)
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile
from ...probes.net import whole_packets

NAME = "interconnect"

AUTO = "auto"
UNMANAGED = "unmanaged"
#: Bytes: what IPv4 must take, and the longest that an Ethernet device of Linux can be set to.
_LEAST, _MOST = 576, 65535

_MODES = (
    "balance-rr",
    "active-backup",
    "balance-xor",
    "broadcast",
    "802.3ad",
    "balance-tlb",
    "balance-alb",
)


def _address(given: PolicyValues, name: str) -> str:
    try:
        return whole_packets.address_of_another(str(given[name]))
    except ValueError as problem:
        raise given.error(name, str(problem)) from problem


def _modes(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if one not in _MODES:
            raise given.error(name, f"{one[:80]!r} must be one of {', '.join(_MODES)}")
    return value


class Peer(NamedTuple):
    """A node by an address of its interconnect. ``mtu`` None: that of the way's device here."""

    address: str = checked_by(_address, "str")
    mtu: Optional[int] = whole_number(_LEAST, _MOST).optional()


class Policy(NamedTuple):
    """The role's variables (roles/interconnect/meta/argument_specs.yml).

    ``interfaces`` None asks Clusterware; ``mtu`` None leaves it to the host; ``loopback_mtu``
    None does not judge it. ``losses_limit`` is per second.
    """

    profile: Optional[Profile] = of_profile()
    interfaces: Optional[Tuple[str, ...]] = networks().none_for(AUTO)
    mtu: Optional[int] = whole_number(_LEAST, _MOST).none_for(AUTO)
    peers: Tuple[Peer, ...] = entries(Peer)
    bonding_modes: Tuple[str, ...] = names().then(_modes)
    loopback_mtu: Optional[int] = whole_number(_LEAST, 65536).none_for(UNMANAGED)
    losses_limit: float = decimal(0)
    window_seconds: float = window()


policy_from = reader(NAME, Policy)
