# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A value that a policy requires of every host."""

from typing import NamedTuple


class Requirement(NamedTuple):
    """``check`` is the id of the check that compares it. ``value`` has its unit."""

    check: str
    subject: str
    value: str
    source: str
