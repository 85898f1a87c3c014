# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One grid for everything that takes time: size of the request by its latency.

Both axes are powers of two, in bytes and in microseconds, as Exadata's cells (``iolstats``) and
V$EVENT_HISTOGRAM_MICRO divide them, so that network, disk and database stand beside each other.
"""

from typing import Dict, Iterable, NamedTuple, Optional, Tuple

from .window import Window


class Grid(NamedTuple):
    """``cells``: (row, k) to a count. A row is the lower end of a size in bytes, None if unknown.

    Column k holds what took less than 2**k microseconds and not less than half of it.
    """

    rows: Tuple[Optional[int], ...]
    columns: Tuple[int, ...]
    cells: Dict[Tuple[Optional[int], int], int]


def grid(windows):
    # type: (Iterable[Window]) -> Grid
    """The windows added up. Columns have no gaps; rows are the sizes that occur, unknown last."""
    cells = {}  # type: Dict[Tuple[Optional[int], int], int]
    for window in windows:
        row = size_row(window.size)
        for exponent, number in window.log2_bins().items():
            cells[row, exponent] = cells.get((row, exponent), 0) + number
    exponents = [exponent for _, exponent in cells]
    columns = range(min(exponents), max(exponents) + 1) if exponents else ()
    rows = sorted({row for row, _ in cells}, key=lambda row: (row is None, row or 0))
    return Grid(tuple(rows), tuple(columns), cells)


def size_row(size):
    # type: (Optional[int]) -> Optional[int]
    """The largest power of two that is not above ``size`` bytes; 0 for nothing."""
    if size is None:
        return None
    return 1 << (size.bit_length() - 1) if size > 0 else 0
