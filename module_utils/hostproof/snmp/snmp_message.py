# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""SNMPv3 engine discovery, the only SNMP message without credentials, and its reply.

An SNMPv3 agent answers every such message with its engine ID. The answer distinguishes an agent
that rejects the credentials from an address without an agent. Sources: RFC 3412 section 6, RFC 3414
section 4, RFC 3411 section 5 (SnmpEngineID); X.690 for the encoding."""

from typing import List, Optional, Tuple

from ..errors import ParseError

_WHAT = "SNMPv3 message"
_INTEGER, _OCTETS, _SEQUENCE, _GET = 0x02, 0x04, 0x30, 0xA0
_VERSION_3 = 3
_USM = 3
_REPORTABLE = b"\x04"
_MESSAGE_ID = 0x4850
_LARGEST = 65507


def discovery() -> bytes:
    """A request without user and engine ID. The agent replies with its engine ID."""
    header = _item(_INTEGER, _number(_MESSAGE_ID)) + _item(_INTEGER, _number(_LARGEST))
    header += _item(_OCTETS, _REPORTABLE) + _item(_INTEGER, _number(_USM))
    nobody = _item(_OCTETS, b"") + 2 * _item(_INTEGER, b"\0") + 3 * _item(_OCTETS, b"")
    request = _item(_INTEGER, _number(_MESSAGE_ID)) + 2 * _item(_INTEGER, b"\0")
    request += _item(_SEQUENCE, b"")
    scoped = 2 * _item(_OCTETS, b"") + _item(_GET, request)
    message = _item(_INTEGER, _number(_VERSION_3)) + _item(_SEQUENCE, header)
    message += _item(_OCTETS, _item(_SEQUENCE, nobody)) + _item(_SEQUENCE, scoped)
    return _item(_SEQUENCE, message)


def engine_id(reply: bytes) -> bytes:
    """The engine ID in the reply to ``discovery``."""
    message = _items(_only(reply, _SEQUENCE))
    if len(message) < 3 or message[0] != (_INTEGER, _number(_VERSION_3)):
        raise ParseError(_WHAT, "has another version than 3")
    if message[2][0] != _OCTETS:
        raise ParseError(_WHAT, "has no security parameters")
    security = _items(_only(message[2][1], _SEQUENCE))
    if not security or security[0][0] != _OCTETS or not security[0][1]:
        raise ParseError(_WHAT, "has no engine ID")
    return security[0][1]


def enterprise(engine: bytes) -> Optional[int]:
    """The enterprise number in an engine ID. None if the first bit is 0: the ID has no number."""
    if len(engine) < 5 or not engine[0] & 0x80:
        return None
    return int.from_bytes(engine[:4], "big") & 0x7FFFFFFF


def _number(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big")


def _item(tag: int, content: bytes) -> bytes:
    length = len(content)
    if length < 0x80:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + content


def _only(data: bytes, tag: int) -> bytes:
    items = _items(data)
    if len(items) != 1 or items[0][0] != tag:
        raise ParseError(_WHAT, f"is not one item of type {tag:#x}")
    return items[0][1]


def _items(data: bytes) -> List[Tuple[int, bytes]]:
    """Tag and content of each item in ``data``."""
    items = []
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise ParseError(_WHAT, "ends within an item")
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            size = length & 0x7F
            if not 1 <= size <= 4 or at + size > len(data):
                raise ParseError(_WHAT, "has an invalid length")
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if at + length > len(data):
            raise ParseError(_WHAT, "ends within an item")
        items.append((tag, data[at : at + length]))
        at += length
    return items
