# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packets of Oracle's TNS protocol, as far as a ping needs them: CONNECT and what may answer it.

Numbers are big-endian. A packet begins with 8 bytes: length (with these 8), checksum 0, kind,
flags, checksum 0; after an ACCEPT of version 315 or newer the length is 4 bytes. Sources:
python-oracledb, src/oracledb/impl/thin (messages/connect.pyx, packet.pyx, constants.pxi);
Wireshark, epan/dissectors/packet-tns.c; nmap, nselib/tns.lua and nmap-service-probes; go-ora,
v2/network.
"""

import re
import struct
from typing import List, NamedTuple, Optional, Sequence, Tuple, Union

from ...errors import ParseError, kind_of
from ..number import integer

CONNECT, ACCEPT, REFUSE, REDIRECT, DATA, RESEND = 1, 2, 4, 5, 6, 11

#: Known packet types (Wireshark: TNS_TYPE_MAX).
_LAST_KIND = 19

#: Flag of a CONNECT that follows a REDIRECT.
AFTER_REDIRECT = 0x04

PING = "(CONNECT_DATA=(COMMAND=ping))"

#: Longer connect data is sent in a separate DATA packet (oracledb: TNS_MAX_CONNECT_DATA).
LONGEST_CONNECT_DATA = 230

_WHAT = "TNS packet"
_HEAD = 8
_CONNECT_DATA_AT = 58
#: A ping is answered with less than 100 bytes; a length that is absurd is not waited for.
_LONGEST = 64 * 1024

_ERROR = (
    re.compile(r"\(\s*ERR\s*=\s*(\d{1,9})\s*\)", re.IGNORECASE),
    re.compile(r"\(\s*CODE\s*=\s*(\d{1,9})\s*\)", re.IGNORECASE),
)
_ALIAS = re.compile(r"\(\s*ALIAS\s*=\s*([^()\s]+)\s*\)", re.IGNORECASE)
_VERSION = re.compile(r"\(\s*VSNNUM\s*=\s*(\d{1,10})\s*\)", re.IGNORECASE)
_HOST = re.compile(r"\(\s*HOST\s*=\s*([^()\s]+)\s*\)", re.IGNORECASE)
_PORT = re.compile(r"\(\s*PORT\s*=\s*(\d{1,5})\s*\)", re.IGNORECASE)


class Packet(NamedTuple):
    """One packet without its first 8 bytes."""

    kind: int
    flags: int
    body: bytes


class Accept(NamedTuple):
    """The connection was taken. ``version`` is that of the protocol."""

    version: int
    sdu: int


class Refuse(NamedTuple):
    """The connection was rejected, as a listener does that answers a ping.

    ``error`` is the number that the listener gives: 0 for a ping, None where it gives none.
    ``alias`` is the listener's name, ``release`` its release; None where they are not told.
    """

    error: Optional[int]
    alias: Optional[str]
    release: Optional[str]
    text: str


class Redirect(NamedTuple):
    """The client shall connect to another address, and send ``connect_data`` there."""

    host: str
    port: int
    connect_data: str


class Resend(NamedTuple):
    """The client shall send its CONNECT again."""


Answer = Union[Accept, Refuse, Redirect, Resend]


def connect(connect_data: str = PING, flags: int = 0) -> bytes:
    """The packet, or the two packets, of a connection request."""
    data = connect_data.encode("utf-8")
    if len(data) > _LONGEST - _CONNECT_DATA_AT:
        raise ParseError(_WHAT, f"connect data of {len(data)} bytes are too long")
    together = len(data) <= LONGEST_CONNECT_DATA
    body = struct.pack(
        ">10HI2B24x",
        312,  # version, and the oldest that will do
        300,
        0,  # service options
        2048,  # SDU and TDU
        0x7FFF,
        0x7F08,  # protocol characteristics
        0,  # line turnaround
        0x0100,  # the number 1 as the client's processor has it
        len(data),
        _CONNECT_DATA_AT,
        0,  # the longest connect data that may come back
        0,  # flags
        0,
    )
    first = _packet(CONNECT, flags, body + (data if together else b""))
    return first if together else first + _packet(DATA, 0, b"\0\0" + data)


def _packet(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack(">HHBBH", _HEAD + len(body), 0, kind, flags, 0) + body


def split(data: bytes) -> Tuple[List[Packet], bytes]:
    """The packets that are complete, and the bytes after them; ParseError where none begins.

    Lengths are of 2 bytes, as in every packet up to an ACCEPT.
    """
    packets = []
    at = 0
    while len(data) - at >= _HEAD:
        length, checksum, kind, flags, _ = struct.unpack_from(">HHBBH", data, at)
        if length < _HEAD or not CONNECT <= kind <= _LAST_KIND or checksum not in (0, 4):
            raise ParseError(
                _WHAT,
                f"byte {at}: no packet begins with {data[at : at + _HEAD].hex()}",
            )
        if len(data) - at < length:
            break
        packets.append(Packet(kind, flags, data[at + _HEAD : at + length]))
        at += length
    return packets, data[at:]


def answer(packets: Sequence[Packet]) -> Optional[Answer]:
    """What the packets after a CONNECT say; None while some of it has yet to come."""
    if not packets:
        return None
    first, rest = packets[0], packets[1:]
    if first.kind == RESEND:
        return Resend()
    if first.kind == ACCEPT:
        return _accept(first.body)
    if first.kind == REFUSE:
        _need(first.body, 4, "REFUSE")
        text = _text(first.body[4:], rest, struct.unpack_from(">H", first.body, 2)[0])
        return None if text is None else _refuse(text)
    if first.kind == REDIRECT:
        _need(first.body, 2, "REDIRECT")
        text = _text(first.body[2:], rest, struct.unpack_from(">H", first.body)[0])
        return None if text is None else _redirect(text)
    raise ParseError(_WHAT, f"kind {first.kind} does not answer a CONNECT")


def _need(body: bytes, length: int, name: str) -> None:
    if len(body) < length:
        raise ParseError(
            _WHAT,
            f"byte {_HEAD + len(body)}: {name} ends, {_HEAD + length} bytes expected",
        )


def _accept(body: bytes) -> Accept:
    _need(body, 16, "ACCEPT")
    version, _, sdu = struct.unpack_from(">HHH", body)
    if version >= 315:
        _need(body, 28, f"ACCEPT of version {version}")
        (sdu,) = struct.unpack_from(">I", body, 24)
    return Accept(version, sdu)


def _text(begun: bytes, rest: Sequence[Packet], length: int) -> Optional[str]:
    """A text of ``length`` bytes that may go on in DATA packets; None while it is not complete."""
    data = begun
    for packet in rest:
        if packet.kind != DATA:
            raise ParseError(_WHAT, f"kind {packet.kind} where DATA was expected")
        data += packet.body[2:]
    if len(data) < length:
        return None
    return data[:length].decode("utf-8", "replace")


def _refuse(text: str) -> Refuse:
    matches = [pattern.search(text) for pattern in _ERROR]
    error = next((integer(match.group(1)) for match in matches if match), None)
    alias, version = _ALIAS.search(text), _VERSION.search(text)
    number = integer(version.group(1)) if version else 0
    return Refuse(
        error, alias.group(1) if alias else None, release(number) if number else None, text
    )


def _redirect(text: str) -> Redirect:
    """Address, NUL, connect data. Without the latter the same connect data are meant."""
    address, _, connect_data = text.partition("\0")
    host, port = _HOST.search(address), _PORT.search(address)
    if host is None or port is None or not 0 < integer(port.group(1)) < 65536:
        raise ParseError(_WHAT, f"no host and port in the redirection {kind_of(address)}")
    return Redirect(host.group(1), integer(port.group(1)), connect_data or PING)


def release(number: int) -> str:
    """A VSNNUM as people write it: 186647040 is 11.2.0.2.0, 318767104 is 19.0.0.0.0.

    The bits are divided another way since 18c (oracledb: _get_version_tuple).
    """
    major = number >> 24 & 0xFF
    if major >= 18:
        shifts = ((16, 0xFF), (12, 0xF), (4, 0xFF), (0, 0xF))
    else:
        shifts = ((20, 0xF), (12, 0xFF), (8, 0xF), (0, 0xFF))
    parts = [major] + [number >> shift & mask for shift, mask in shifts]
    return ".".join(str(part) for part in parts)
