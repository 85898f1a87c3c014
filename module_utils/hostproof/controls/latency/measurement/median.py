# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The middle of sorted numbers. The module statistics takes longer to import than a measurement."""

from typing import Sequence


def median(ordered: Sequence[float]) -> float:
    """The median of sorted numbers, of which there is at least one."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
