# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host is to keep time: the role's variables and their checks."""

from typing import NamedTuple, Optional

from ...evaluate.fields import of_profile, one_of, reader, whole_number
from ...evaluate.profiles import Profile

NAME = "time_sync"

ANY = "any"
CHRONYD, NTPD, TIMESYNCD, PTP = "chronyd", "ntpd", "systemd-timesyncd", "ptp"


class Policy(NamedTuple):
    """The role's variables (roles/time_sync/meta/argument_specs.yml).

    ``step_updates``: in how many updates after its start chronyd may step the clock; None for
    "unmanaged".
    """

    profile: Optional[Profile] = of_profile()
    daemon: str = one_of(ANY, CHRONYD, NTPD, TIMESYNCD, PTP)
    sources: int = whole_number(1, 20)
    offset_ms: int = whole_number(1, 60000)
    step_updates: Optional[int] = whole_number(0, 100).none_for("unmanaged")


policy_from = reader(NAME, Policy)
