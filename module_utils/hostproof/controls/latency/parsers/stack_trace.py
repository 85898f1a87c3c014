# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of a process that pstack, gstack or gdb prints, innermost first.

Sources: pstack(1) of gdb and of Solaris; procstack of AIX.
"""

import re
from typing import List

from ....errors import ParseError

_WHAT = "stack of a process"
_FRAME = re.compile(
    r"^[ \t]{0,40}(?:#\d{1,4}[ \t]{1,4}(?:0x[0-9a-f]{1,16} in )?|(?:0x)?[0-9a-f]{8,16}[ \t]{1,4})"
    r"([A-Za-z_][\w.@]{0,200})[ \t]{0,4}[(+]",
    re.MULTILINE,
)


def parse(text: str) -> List[str]:
    """ParseError where there is no frame."""
    frames = [str(name) for name in _FRAME.findall(text)]
    if not frames:
        raise ParseError(_WHAT, "it has no frame with a function")
    return frames
