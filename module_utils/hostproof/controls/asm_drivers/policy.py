# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle release for which the drivers are checked: validated role variables."""

from typing import NamedTuple, Optional

from ...evaluate.fields import of_profile, reader
from ...evaluate.profiles import Profile

NAME = "asm_drivers"


class Policy(NamedTuple):
    """The role's variables."""

    profile: Optional[Profile] = of_profile()
    """The purpose of the host, for all controls that derive a policy from it. A variable of a
    control takes precedence.

    Its release decides whether ASMFD is supported. Without a profile the releases of the installed
    homes decide.

    Default: none
    """


policy_from = reader(NAME, Policy)
