# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap size and exceptions: validated role variables."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import flag, names_of, of_profile, reader, size, window
from ...evaluate.profiles import Profile

NAME = "memory_pressure"

AUTO = "auto"
SUBJECTS = ("budget", "swap_size", "swapped_processes", "dev_shm", "numa")


class Policy(NamedTuple):
    """The role's variables.

    ``swap`` is in bytes. None means "auto": the size depends on memory.
    """

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a
    control override it.

    Any value except C(none) checks the host before software is installed. The requirements are
    the same.

    Default: none
    """
    swap: Optional[int] = size().none_for(AUTO)
    """Required swap size, such as C(8G). C(auto) uses the size of Oracle's installation guides
    for the memory without huge pages.

    Default: auto
    """
    query_instances: bool = flag()
    """Query C(memory_target) of each running database, as its owner with sqlplus. If C(false),
    C(/dev/shm) is not checked.

    Default: true
    """
    skip_checks: Tuple[str, ...] = names_of(SUBJECTS)
    """Checks that are skipped on this host: C(budget), C(swap_size), C(swapped_processes),
    C(dev_shm) or C(numa).

    Default: []
    """
    window_seconds: float = window()
    """Time window in seconds to measure rates, here the pages per second read from and written to
    swap. All controls share one window; C(0) disables it.

    Default: 10
    """


policy_from = reader(NAME, Policy)
