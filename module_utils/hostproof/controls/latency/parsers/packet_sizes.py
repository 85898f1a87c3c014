# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of requests and responses as tcpdump prints packets, and as tcpstat sums them up.

tcpdump -ttt prints the time since the packet before. Its lengths are payload, those of tcpstat
whole frames. Sources: tcpdump(8), tcpstat(1); tests/fixtures/latency/SOURCES.md.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....errors import ParseError
from ....parsers.number import decimal, integer

_PACKET = re.compile(
    r"^(?P<time>\d\d:\d\d:\d\d\.\d{6}) IP6? (?P<source>\S{1,255}) > (?P<target>\S{1,255}): "
    r"Flags \[[A-Z.]+\],.* length (?P<length>\d{1,7})$"
)
_SUMMARY = re.compile(
    r"^Packet/s=(\d{1,9}\.\d+)\s+min size: (\d{1,6})\s+avg size: (\d{1,6}\.\d+)"
    r"\s+max size: (\d{1,6})\s+stddev: (\d{1,6}\.\d+)$"
)
#: The format that tcpstat uses without -o.
_DEFAULT = re.compile(
    r"^Time:(\d{1,12})\s+n=(\d{1,12})\s+avg=(\d{1,6}\.\d+)\s+stddev=\d{1,6}\.\d+"
    r"\s+bps=\d{1,15}\.\d+$"
)
_TCPDUMP, _TCPSTAT = "tcpdump output", "tcpstat output"
#: Bytes of the Ethernet, IPv4 and TCP headers of a frame without options.
HEADERS = 54


class Dialog(NamedTuple):
    """``requests`` and ``responses`` are bytes of payload, ``times`` microseconds to a response."""

    server: str
    requests: List[int]
    responses: List[int]
    times: List[float]


class Summary(NamedTuple):
    """Packets per second, and the mean bytes of a frame, for all packets."""

    per_second: float
    mean: float


def parse_packets(text: str) -> Dialog:
    """The requests and responses of one server; ParseError for packets of several."""
    packets: List[Tuple[str, str, float, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.strip() == "...":
            continue
        match = _PACKET.match(line.strip())
        if match is None:
            raise ParseError(_TCPDUMP, "it is not a packet of TCP", number)
        hours, minutes, seconds = match.group("time").split(":")
        at = (integer(hours) * 60 + integer(minutes)) * 60 + decimal(seconds)
        length = integer(match.group("length"))
        packets.append((match.group("source"), match.group("target"), at, length))
    server = _server(packets)
    if any(server not in (source, target) for source, target, _at, _length in packets):
        raise ParseError(_TCPDUMP, f"it has packets of other servers than {server}")
    return _dialog(server, packets)


def _server(packets: List[Tuple[str, str, float, int]]) -> str:
    """The end with a service name for a port, or with the lower port."""
    if not packets:
        raise ParseError(_TCPDUMP, "it has no packet")
    ends = packets[0][:2]
    ports = [end.rpartition(".")[2] for end in ends]
    named = [end for end, port in zip(ends, ports) if not port.isdecimal()]
    if len(named) == 1:
        return named[0]
    if named:
        raise ParseError(_TCPDUMP, "no end is known as the client: run tcpdump with -n")
    return min(zip((integer(port) for port in ports), ends))[1]


def _dialog(server: str, packets: List[Tuple[str, str, float, int]]) -> Dialog:
    dialog = Dialog(server, [], [], [])
    moments = [at for _source, _target, at, _length in packets]
    absolute = moments == sorted(moments) and moments[0] >= 1.0
    before: Optional[Tuple[str, float]] = None
    for source, _target, at, length in packets:
        if not length:
            # An acknowledgment. The next packet is not timed.
            before = None
            continue
        if source == server:
            dialog.responses.append(length)
            if before is not None and before[0] != server:
                taken = at - before[1] if absolute else at
                dialog.times.append(taken * 1e6)
        else:
            dialog.requests.append(length)
        before = (source, at)
    if not dialog.requests or not dialog.responses:
        raise ParseError(_TCPDUMP, "it has packets of one direction only")
    return dialog


def parse_summaries(text: str) -> List[Summary]:
    """Each line of tcpstat. ParseError for any other line."""
    summaries: List[Summary] = []
    at: List[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            match, default = _SUMMARY.match(line.strip()), _DEFAULT.match(line.strip())
            if match is not None:
                summaries.append(Summary(decimal(match.group(1)), decimal(match.group(3))))
            elif default is not None:
                at.append(integer(default.group(1)))
                summaries.append(Summary(decimal(default.group(2)), decimal(default.group(3))))
            else:
                raise ParseError(_TCPSTAT, "it is not a line of packets and sizes", number)
    if not summaries:
        raise ParseError(_TCPSTAT, "it is empty")
    if at:
        # The lines have counts; 5 seconds is the interval where no other one is given.
        seconds = (at[-1] - at[0]) / (len(at) - 1.0) if len(at) > 1 else 5.0
        summaries = [
            one._replace(per_second=one.per_second / max(seconds, 1.0)) for one in summaries
        ]
    return summaries
