# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ip -o route get ADDRESS``: the way that the kernel takes to an address.

Source: ip-route(8); iproute2, ip/iproute.c, print_route().
"""

import re
from typing import NamedTuple, Optional

from ...errors import ParseError, kind_of
from ..number import integer

_WHAT = "ip route get"
#: What may be before the address; the others lead nowhere.
_KINDS = ("unicast", "local", "broadcast", "multicast", "anycast")


class Route(NamedTuple):
    """``gateway`` is None where the address is on the link. ``mtu`` is what was learned of the way
    or set for it, in bytes; None is the device's own. ``local``: it is this host's own address."""

    device: str
    gateway: Optional[str]
    source: Optional[str]
    mtu: Optional[int]
    local: bool


def parse(text: str) -> Route:
    words = text.replace("\\", " ").split()
    if not words:
        raise ParseError(_WHAT, "there is no route")
    if "dev" not in words[:-1]:
        raise ParseError(_WHAT, f"no device: {kind_of(text.strip())}", 1)
    if words[0] in _KINDS:
        kind = words[0]
    else:
        kind = "unicast" if re.match(r"^[0-9a-fA-F.:]+$", words[0]) else ""
    if not kind:
        raise ParseError(_WHAT, f"no address: {kind_of(text.strip())}", 1)

    def after(name: str) -> Optional[str]:
        return words[words.index(name) + 1] if name in words[:-1] else None

    gateway = after("via")
    if gateway in ("inet", "inet6"):
        gateway = words[words.index("via") + 2]
    mtu = after("mtu")
    if mtu == "lock":
        mtu = words[words.index("mtu") + 2]
    return Route(
        device=str(after("dev")),
        gateway=gateway,
        source=after("src"),
        mtu=integer(mtu) if mtu is not None and mtu.isdecimal() else None,
        local=kind == "local",
    )
