# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``sysconfig -c`` of Data ONTAP: cards in slots that NetApp does not support, and other errors.

Source: na_sysconfig(1), System Configuration Guide.
"""

import re
from typing import List

from ....errors import ParseError

_WHAT = "sysconfig -c output"
_LINE = re.compile(r"^sysconfig:\s+(\S.{0,300}?)\s*$", re.MULTILINE)
_NONE = re.compile(r"^There are no configuration errors\.?$", re.IGNORECASE)


def parse(text: str) -> List[str]:
    """The errors, each a sentence; none where the filer reports that there are none."""
    lines = _LINE.findall(text)
    if not lines:
        raise ParseError(_WHAT, "it has no line that begins with 'sysconfig:'")
    return [line for line in lines if not _NONE.match(line)]
