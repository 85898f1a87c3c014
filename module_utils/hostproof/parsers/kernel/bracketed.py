# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""sysfs files that offer several words and bracket the active one: ``always [madvise] never``.

Source: Linux, Documentation/admin-guide/mm/transhuge.rst.
"""

import re
from typing import NamedTuple, Tuple

from ...errors import ParseError, kind_of

_WHAT = "bracketed choice"
_WORD = re.compile(r"\[[^\[\]\s]+\]$|[^\[\]\s]+$")


class Choice(NamedTuple):
    """The word in force, and all words in the kernel's order."""

    active: str
    options: Tuple[str, ...]


def parse(text: str) -> Choice:
    """Raises ParseError unless exactly one word is in brackets."""
    words = text.split()
    active = [word[1:-1] for word in words if word.startswith("[")]
    if len(active) != 1 or not all(_WORD.match(word) for word in words):
        raise ParseError(_WHAT, f"not words with one of them in brackets: {kind_of(text)}")
    return Choice(active[0], tuple(word.strip("[]") for word in words))
