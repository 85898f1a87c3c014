# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""TCP sockets of a host: /proc/net/tcp and /proc/net/tcp6.

Source: kernel Documentation/networking/proc_net_tcp.rst and net/ipv{4,6}/tcp_ipv{4,6}.c. The
kernel writes each 32-bit word of an address in the byte order of the machine, ports are hex.
"""

import ipaddress
import sys
from typing import List, NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

ESTABLISHED = 1

_WHAT = "/proc/net/tcp"


class Socket(NamedTuple):
    """A TCP socket. ``state`` is that of include/net/tcp_states.h; inode 0: of no process."""

    local: str
    local_port: int
    remote: str
    remote_port: int
    state: int
    inode: int


def parse(text: str, byteorder: str = sys.byteorder) -> List[Socket]:
    """Every socket. IPv4 addresses of IPv6 sockets (::ffff:192.0.2.1) are given as IPv4."""
    lines = text.split("\n")
    if not lines[0].split()[:2] == ["sl", "local_address"]:
        raise ParseError(_WHAT, "there is no head line", 1)
    sockets = []
    for number, line in enumerate(lines[1:], 2):
        fields = line.split()
        if not fields:
            continue
        try:
            local, remote = fields[1].split(":"), fields[2].split(":")
            sockets.append(
                Socket(
                    local=_address(local[0], byteorder),
                    local_port=integer(local[1], 16),
                    remote=_address(remote[0], byteorder),
                    remote_port=integer(remote[1], 16),
                    state=integer(fields[3], 16),
                    inode=integer(fields[9]),
                )
            )
        except (IndexError, ValueError) as problem:
            raise ParseError(_WHAT, f"no socket: {kind_of(line)}", number) from problem
    return sockets


def _address(digits: str, byteorder: str) -> str:
    raw = bytes.fromhex(digits)
    if byteorder == "little":
        raw = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    address = ipaddress.ip_address(raw)
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
