# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of requests in rows of powers of two bytes, as Exadata's cells (``iolstats``) have them."""


def size_row(size: int | None) -> int | None:
    """The largest power of two that is not above ``size`` bytes; 0 for nothing."""
    if size is None:
        return None
    return 1 << (size.bit_length() - 1) if size > 0 else 0
