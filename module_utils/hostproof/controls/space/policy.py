# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Space that the paths of Oracle need: validated role variables."""

from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import absolute_path, entries, of_profile, reader, size, whole_number
from ...evaluate.profiles import Profile

NAME = "space"


class Planned(NamedTuple):
    path: str = absolute_path()
    free: int = size()


class Policy(NamedTuple):
    """The role's variables. ``profile`` is None if the purpose of the host is not set."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that take a policy from it. Variables of a control
    override it.

    With a profile the space that the installer needs is also required.

    Default: none
    """
    planned: Tuple[Planned, ...] = entries(Planned)
    """Paths that an installation will use, each with C(path) and C(free), such as C(12G).

    A path need not exist. The space of paths on the same file system is added up.

    Default: []
    """
    oracle_free: int = size()
    """The free space of each file system that holds an Oracle home, the inventory or a diagnostic
    destination. Less is a warning.

    Default: 2G
    """
    inodes_free: int = whole_number(0, 99)
    """The share of free inodes of each file system, in percent. Less is a warning.

    Default: 5
    """


policy_from = reader(NAME, Policy)
