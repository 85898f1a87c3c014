# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which names a host is to find, and how: the role's variables and their checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import decimal, names, of_profile, reader, whole_number
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile
from .probes.name_service import is_name

NAME = "names"

AUTO = "auto"
SUBJECTS = (
    "own_name",
    "own_address",
    "reverse",
    "listener",
    "order",
    "resolver",
    "servers",
    "scan",
    "cluster",
)
#: More names than a cluster has; each one is a process for a moment.
MOST = 64


def _names(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    if len(value) > MOST:
        raise given.error(name, f"has {len(value)} names: at most {MOST} are looked up")
    for one in value:
        if not is_name(one):
            raise given.error(name, f"{one[:80]!r} must be a name of a host")
    return value


def _subjects(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if one not in SUBJECTS:
            raise given.error(name, f"{one[:80]!r} must be one of {', '.join(SUBJECTS)}")
    return value


class Policy(NamedTuple):
    """The role's variables (roles/names/meta/argument_specs.yml).

    ``scan`` and ``cluster`` None ask the configuration of Clusterware. ``longest_wait`` is seconds.
    """

    profile: Optional[Profile] = of_profile()
    scan: Optional[Tuple[str, ...]] = names().then(_names).none_for(AUTO)
    scan_addresses: int = whole_number(1, 16)
    cluster: Optional[Tuple[str, ...]] = names().then(_names).none_for(AUTO)
    longest_wait: float = decimal(1, 600)
    unmanaged: Tuple[str, ...] = names().then(_subjects)


policy_from = reader(NAME, Policy)
