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
    """The role's variables.

    ``step_updates``: in how many updates after its start chronyd may step the clock; None for
    "unmanaged".
    """

    profile: Optional[Profile] = of_profile()
    """What the host is for, for all controls that take a policy from it. Each variable of a control
    counts more.

    C(rac_nfs) and C(rac_asm) announce a node of a cluster, whose clock must never step; elsewhere
    that is a warning. C(none) announces nothing, and a node is told by its Clusterware.

    Default: none
    """
    daemon: str = one_of(ANY, CHRONYD, NTPD, TIMESYNCD, PTP)
    """The daemon that keeps the clock. C(any) takes whichever it is, as long as it is one.

    C(ptp) is phc2sys or ptp4l of linuxptp.

    Default: any
    """
    sources: int = whole_number(1, 20)
    """How many sources must answer. Three and more tell a wrong one from the right ones.

    Default: 1
    """
    offset_ms: int = whole_number(1, 60000)
    """How many milliseconds the clock may be off, by what its daemon says.

    Default: 1000
    """
    step_updates: Optional[int] = whole_number(0, 100).none_for("unmanaged")
    """In how many updates after its start chronyd may step the clock, which is the second number of
    C(makestep). C(0) lets it never step. Apply lowers what allows more, and never raises it.

    C(unmanaged) neither judges nor writes it.

    Default: 3
    """


policy_from = reader(NAME, Policy)
