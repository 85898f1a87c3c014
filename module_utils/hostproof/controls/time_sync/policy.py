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

    ``step_updates``: number of updates after its start in which chronyd may step the clock; None
    for "unmanaged".
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    C(rac_nfs), C(rac_asm) and C(oracle_RELEASE_rac) are cluster nodes, whose clock must
    never step. Elsewhere a step is a warning. With C(none), a host that runs
    Clusterware is a cluster node.

    Default: none
    """
    daemon: str = one_of(ANY, CHRONYD, NTPD, TIMESYNCD, PTP)
    """The daemon that keeps the clock. C(any) takes whichever it is, as long as it is one.

    C(ptp) is phc2sys or ptp4l of linuxptp.

    Default: any
    """
    min_sources: int = whole_number(1, 20)
    """Minimum number of sources that answer. With three or more a wrong one is found.

    Default: 1
    """
    max_offset_ms: int = whole_number(1, 60000)
    """Maximum clock offset in milliseconds, as the time daemon reports it.

    Default: 1000
    """
    max_step_updates: Optional[int] = whole_number(0, 100).none_for("unmanaged")
    """Number of updates after its start in which chronyd may step the clock: the second number of
    C(makestep). C(0) lets it never step. Apply lowers what allows more, and never raises it.

    C(unmanaged) neither checks nor writes it.

    Default: 3
    """


policy_from = reader(NAME, Policy)
