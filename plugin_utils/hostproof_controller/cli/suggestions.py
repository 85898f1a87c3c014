# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..report.text import one_line, shorten


def did_you_mean(word: str, known: Iterable[str], part: int | None = None) -> str:
    """``; did you mean X?``, or nothing where no known name is near.

    ``part``: of names with dots people type one part only (0 of a host, -1 of a check).
    """
    by_lower: dict[str, str] = {}
    for name in known:
        by_lower.setdefault(name.lower(), name)
        if part is not None:
            by_lower.setdefault(name.lower().split(".")[part], name)
    lower = word.lower()
    close = difflib.get_close_matches(lower, list(by_lower), 1, 0.6)
    if not close and len(lower) > 3:
        close = sorted(name for name in by_lower if name.startswith(lower))[:1]
    return f"; did you mean {by_lower[close[0]]}?" if close else ""


def quoted(word: str) -> str:
    """A word from the command line, printable and short enough for a message."""
    return f"'{shorten(one_line(word), 100)}'"
