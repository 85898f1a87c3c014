# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The middle of sorted numbers. The module statistics takes longer to import than a measurement."""

from typing import NamedTuple, Optional, Sequence


class Spread(NamedTuple):
    """Least, middle and largest of some numbers; all None without a number."""

    minimum: Optional[float]
    median: Optional[float]
    maximum: Optional[float]


def spread(ordered: Sequence[float]) -> Spread:
    """The spread of sorted numbers."""
    return Spread(ordered[0], median(ordered), ordered[-1]) if ordered else Spread(None, None, None)


def median(ordered: Sequence[float]) -> float:
    """The median of sorted numbers, of which there is at least one."""
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
