# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Addresses of a host's interfaces, as ``ip -o addr show`` prints them: one address a line.

Source: ip-address(8); iproute2, ip/ipaddress.c.
"""

import ipaddress
from typing import List, NamedTuple, Union

from ...errors import ParseError, kind_of

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


class Address(NamedTuple):
    """An address and the network that it states is attached. A point-to-point peer is not kept.

    ``is_secondary`` is true of a further address in a subnet, such as that of a VIP.
    """

    interface: str
    address: str
    network: Network
    is_secondary: bool = False


def parse(text: str) -> List[Address]:
    """Every IPv4 and IPv6 address. ParseError for a line of another shape."""
    addresses = []
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) < 4 or fields[2] not in ("inet", "inet6"):
            raise ParseError("ip -o addr", f"no address: {kind_of(line)}", number)
        # "inet 192.0.2.1 peer 192.0.2.2/32": the network is the peer's.
        with_prefix = fields[5] if fields[4:5] == ["peer"] and len(fields) > 5 else fields[3]
        try:
            interface = ipaddress.ip_interface(with_prefix)
            address = ipaddress.ip_interface(fields[3]).ip
        except ValueError as problem:
            raise ParseError(
                "ip -o addr", f"no address: {kind_of(with_prefix)}", number
            ) from problem
        is_secondary = "secondary" in fields[4:]
        addresses.append(Address(fields[1], str(address), interface.network, is_secondary))
    return addresses
