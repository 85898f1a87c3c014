# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -P NAME``: the address that an interface was built with, whatever it uses now.

Source: ethtool, ethtool.c (do_permaddr) and netlink/permaddr.c.
"""

import re
from typing import Optional

from ...errors import ParseError, kind_of

_WHAT = "ethtool -P"
_HEAD = "Permanent address: "
_ADDRESS = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
_NONE = "00:00:00:00:00:00"


def parse(text: str) -> Optional[str]:
    """The MAC address in lower case; None if the interface has no permanent address."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if len(lines) != 1 or not lines[0].startswith(_HEAD):
        raise ParseError(_WHAT, f"no permanent address: {kind_of(text)}", 1)
    value = lines[0][len(_HEAD) :].strip().lower()
    if value in ("not set", _NONE):
        return None
    if not _ADDRESS.match(value):
        raise ParseError(_WHAT, f"no MAC address: {kind_of(value)}", 1)
    return value
