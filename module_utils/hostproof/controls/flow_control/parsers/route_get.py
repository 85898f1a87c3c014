# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``route -n get ADDRESS`` of AIX and Solaris: the kernel's route to an address.

Sources: AIX Commands Reference, route; Oracle Solaris man pages, route(8).
"""

import re
from typing import Dict, NamedTuple, Optional

from ....errors import ParseError, kind_of

_WHAT = "route get"
_PAIR = re.compile(r"^\s*(route to|destination|mask|gateway|interface|flags): ?\s*(\S.*)$")


class Route(NamedTuple):
    """A route. ``gateway`` is None if the address is on the link. ``address`` is as route prints
    it."""

    address: str
    interface: str
    gateway: Optional[str]


def parse(text: str) -> Route:
    """The route. ParseError if the text contains no interface."""
    values: Dict[str, str] = {}
    for line in text.split("\n"):
        pair = _PAIR.match(line.rstrip())
        if pair is not None:
            values.setdefault(pair.group(1), pair.group(2))
    interface = values.get("interface", "")
    if not re.match(r"^[A-Za-z][A-Za-z0-9_.]*(:\d+)?$", interface):
        raise ParseError(_WHAT, f"no interface: {kind_of(text.strip())}")
    if "route to" not in values:
        raise ParseError(_WHAT, f"no address: {kind_of(text.strip())}")
    flags = values.get("flags", "").strip("<>").split(",")
    gateway = values.get("gateway") if "GATEWAY" in flags else None
    return Route(values["route to"].split()[0], interface, gateway)
