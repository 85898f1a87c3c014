# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The marks that people leave where they shortened an output: "...", "[..]", "etc."."""

import re

_MARK = re.compile(r"^\s*(?:\.{2,}|\[\.{2,}\]|\[?<?snip>?\]?|etc\.?|…|\[…\])\s*$")


def is_mark(line: str) -> bool:
    """Whether the line represents lines that were left out: what they held is not known."""
    return _MARK.match(line) is not None
