# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which multicast and broadcast packets of other nodes arrive on the private interfaces.

Each node that is audited sends and listens for the same seconds. A node that sends nothing at that
time is recognized by its missing unicast packets. Groups: Oracle Grid Infrastructure Installation
Guide for Linux, Multicast Requirements for Networks. Sources: ip(7), udp(7); kernel
include/uapi/linux/in.h."""

import contextlib
import select
import socket
import time
from typing import Dict, Iterable, Sequence

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....collect.measured import Measured
from ....errors import Unanswered

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

#: Number of packets of each kind that came from a node.
Heard = Dict[str, int]


def listen(
    host: Host, broadcasts: Dict[str, str], nodes: Sequence[str], seconds: float
) -> Dict[str, Answer[Heard]]:
    """What came from each of these addresses. ``broadcasts`` has the broadcast address of each IPv4
    address of this host on the interconnect."""
    result = attempt(host.windows, _NAME, lambda: _measure(broadcasts, nodes, seconds))
    return {node: attempt(lambda each=node: _heard(known(result), each)) for node in nodes}


def _heard(result: Measured, node: str) -> Heard:
    values = result.figures or {}
    heard = {}
    for kind in (MULTICAST, OLD_MULTICAST, BROADCAST, UNICAST):
        value = values.get(f"{node} {kind}")
        if not isinstance(value, (int, float)):
            raise Unanswered(KEY, f"{node} was not asked: record it again")
        heard[kind] = int(value)
    return heard


def _measure(broadcasts: Dict[str, str], nodes: Sequence[str], seconds: float) -> Measured:
    kinds = {MULTICAST: MULTICAST, OLD_MULTICAST: OLD_MULTICAST}
    kinds.update(dict.fromkeys(broadcasts.values(), BROADCAST))
    kinds.update(dict.fromkeys(broadcasts, UNICAST))
    counts = {f"{node} {kind}": 0 for node in nodes for kind in kinds.values()}
    with contextlib.ExitStack() as opened:
        receiver, *others = (
            opened.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            for _ in range(1 + len(broadcasts))
        )
        _join_groups(receiver, broadcasts)
        senders = dict(zip(broadcasts, others))
        for address, sender in senders.items():
            _bind(sender, address)
        until = time.monotonic() + seconds
        following = 0.0
        while time.monotonic() < until:
            if time.monotonic() >= following:
                following = time.monotonic() + _PAUSE
                for address, sender in senders.items():
                    # Unicast is last: who receives it could have received the others.
                    for place in (MULTICAST, OLD_MULTICAST, broadcasts[address], *nodes):
                        # A packet that is not sent is missing on the other node.
                        with contextlib.suppress(OSError):
                            sender.sendto(_MESSAGE, (place, PORT))
            if not select.select([receiver], [], [], _PAUSE)[0]:
                continue
            data, control, _flags, (source, _port) = receiver.recvmsg(
                len(_MESSAGE) + 1, 512, socket.MSG_DONTWAIT
            )
            for level, kind, value in control:
                if (level, kind, data) == (0, _PACKET_INFO, _MESSAGE) and len(value) >= 12:
                    key = f"{source} {kinds.get(socket.inet_ntoa(value[8:12]))}"
                    if key in counts:
                        counts[key] += 1
    return Measured([], [], dict(counts))


def _join_groups(receiver: socket.socket, addresses: Iterable[str]) -> None:
    receiver.setsockopt(0, _PACKET_INFO, 1)
    receiver.bind(("", PORT))
    for group in (MULTICAST, OLD_MULTICAST):
        for address in addresses:
            membership = socket.inet_aton(group) + socket.inet_aton(address)
            receiver.setsockopt(0, socket.IP_ADD_MEMBERSHIP, membership)


def _bind(sender: socket.socket, address: str) -> None:
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sender.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    sender.setsockopt(0, socket.IP_MULTICAST_LOOP, 0)
    sender.bind((address, 0))
    sender.setblocking(False)
