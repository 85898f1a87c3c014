# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which multicast and broadcast packets of other nodes arrive on the private interfaces.

Each node that is audited sends and listens for the same seconds. A node that sends nothing at that
time is recognized by its missing unicast packets. Groups: Oracle Grid Infrastructure Installation
Guide for Linux, Multicast Requirements for Networks. Sources: ip(7), udp(7); kernel
include/uapi/linux/in.h."""

import contextlib
import ipaddress
import select
import socket
import struct
import time
from typing import Dict, List, Sequence, Tuple

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....collect.measured import Measured
from ....errors import Unanswered
from ....parsers.net.ip_addr import Address

_NAME = "group packets"
KEY = "windows:" + _NAME

#: Clusterware uses 42424 for the same groups.
PORT = 42425
_MESSAGE = b"Hostproof"
#: Seconds between two packets of a kind.
_PAUSE = 0.2
_PACKET_INFO = 8  # IP_PKTINFO; Python's socket does not name it

#: The kinds of packets. The second group is that of Oracle 11.2.
MULTICAST, OLD_MULTICAST = "224.0.0.251", "230.0.1.0"
BROADCAST, UNICAST = "broadcast", "unicast"
_KINDS = (MULTICAST, OLD_MULTICAST, BROADCAST, UNICAST)

#: Index of the interface, source and destination of a packet.
_Packet = Tuple[int, str, str]
#: Number of packets of each kind that came from a node.
Heard = Dict[str, int]


def listen(
    host: Host, own: Sequence[Address], nodes: Sequence[str], seconds: float
) -> Dict[str, Answer[Heard]]:
    """What came from each node. ``own`` are the IPv4 addresses of this host on the interconnect, in
    networks with a broadcast address. Each node is in one of these networks."""
    result = attempt(host.windows, _NAME, lambda: _measure(own, nodes, seconds), seconds)
    return {node: attempt(lambda each=node: _heard(known(result), each)) for node in nodes}


def _heard(result: Measured, node: str) -> Heard:
    values = result.figures or {}
    heard = {}
    for kind in _KINDS:
        value = values.get(f"{node} {kind}")
        if not isinstance(value, (int, float)) or value < 0:
            raise Unanswered(KEY, f"{node} is not in the record: record it again")
        heard[kind] = int(value)
    return heard


def _measure(own: Sequence[Address], nodes: Sequence[str], seconds: float) -> Measured:
    counts = {f"{node} {kind}": 0 for node in nodes for kind in _KINDS}
    neighbors = {
        local: [node for node in nodes if ipaddress.ip_address(node) in local.network]
        for local in own
    }
    keys = _all_keys(neighbors)
    with contextlib.ExitStack() as opened:
        receiver, *others = (
            opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            for _ in range(1 + len(own))
        )
        _join_groups(receiver, own)
        senders = dict(zip(own, others))
        for local, sender in senders.items():
            _bind(sender, local.address)
        until = time.monotonic() + seconds
        following = 0.0
        while time.monotonic() < until:
            if time.monotonic() >= following:
                following = time.monotonic() + _PAUSE
                for local, sender in senders.items():
                    _send(sender, local, neighbors[local])
            if select.select([receiver], [], [], _PAUSE)[0]:
                key = keys.get(_received(receiver))
                if key is not None:
                    counts[key] += 1
    return Measured([], [], dict(counts))


def _all_keys(neighbors: Dict[Address, List[str]]) -> Dict[_Packet, str]:
    """The name of the count for each packet of another node.

    ``neighbors`` are the nodes on each network.
    """
    keys: Dict[_Packet, str] = {}
    for local, nodes in neighbors.items():
        for node in nodes:
            keys.update(_keys(local, node))
            # Where two networks are on one switch, any interface answers ARP requests.
            for other in neighbors:
                index = socket.if_nametoindex(other.interface)
                keys[index, node, local.address] = f"{node} {UNICAST}"
    return keys


def _keys(local: Address, node: str) -> Dict[_Packet, str]:
    """The count of each packet of the node to a group on this network."""
    index = socket.if_nametoindex(local.interface)
    return {
        (index, node, MULTICAST): f"{node} {MULTICAST}",
        (index, node, OLD_MULTICAST): f"{node} {OLD_MULTICAST}",
        (index, node, _broadcast(local)): f"{node} {BROADCAST}",
    }


def _send(sender: socket.socket, local: Address, neighbors: Sequence[str]) -> None:
    # Unicast is last: who receives it could have received the others.
    for place in (MULTICAST, OLD_MULTICAST, _broadcast(local), *neighbors):
        # A packet that is not sent is missing on the other node.
        with contextlib.suppress(OSError):
            sender.sendto(_MESSAGE, (place, PORT))


def _received(receiver: socket.socket) -> _Packet:
    """The next packet. A packet of another program does not count."""
    data, control, _flags, (source, _port) = receiver.recvmsg(
        len(_MESSAGE) + 1, 512, socket.MSG_DONTWAIT
    )
    for level, kind, value in control:
        if (level, kind) == (0, _PACKET_INFO) and len(value) >= 12 and data == _MESSAGE:
            return struct.unpack("=i", value[:4])[0], source, socket.inet_ntoa(value[8:12])
    return 0, "", ""


def _broadcast(local: Address) -> str:
    return str(local.network.broadcast_address)


def _join_groups(receiver: socket.socket, own: Sequence[Address]) -> None:
    receiver.setsockopt(0, _PACKET_INFO, 1)
    receiver.bind(("", PORT))
    for group in (MULTICAST, OLD_MULTICAST):
        # An interface with two addresses joins once.
        for name in sorted({local.interface for local in own}):
            # struct ip_mreqn
            member = struct.pack(
                "=4s4si", socket.inet_aton(group), bytes(4), socket.if_nametoindex(name)
            )
            receiver.setsockopt(0, socket.IP_ADD_MEMBERSHIP, member)


def _bind(sender: socket.socket, address: str) -> None:
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sender.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    sender.setsockopt(0, socket.IP_MULTICAST_LOOP, 0)
    sender.bind((address, 0))
    sender.setblocking(False)
