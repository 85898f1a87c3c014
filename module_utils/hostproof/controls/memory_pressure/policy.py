# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much swap a host is to have, and what is left alone: the role's variables and checks."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import flag, names, of_profile, reader, size, window
from ...evaluate.policy import PolicyValues
from ...evaluate.profiles import Profile

NAME = "memory_pressure"

AUTO = "auto"
SUBJECTS = ("swap_size", "swap_used", "shared_memory", "numa")


def _subjects(given: PolicyValues, name: str, value: Tuple[str, ...]) -> Tuple[str, ...]:
    for one in value:
        if one not in SUBJECTS:
            raise given.error(name, f"{one[:80]!r} must be one of {', '.join(SUBJECTS)}")
    return value


class Policy(NamedTuple):
    """The role's variables (roles/memory_pressure/meta/argument_specs.yml).

    ``swap`` is bytes, None for "auto": by memory.
    """

    profile: Optional[Profile] = of_profile()
    swap: Optional[int] = size().none_for(AUTO)
    ask_instances: bool = flag()
    unmanaged: Tuple[str, ...] = names().then(_subjects)
    window_seconds: float = window()


policy_from = reader(NAME, Policy)
