# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A request to a name server and its answer: the IPv4 addresses of a name (RFC 1035, section 4).

Answers are untrusted: an answer must match the request, and its length is limited.
"""

import ipaddress
import struct
import zlib
from typing import NamedTuple, Tuple

from ....errors import ParseError, kind_of

_WHAT = "answer of a name server"
_HEADER = struct.Struct(">HHHHHH")
_RECORD = struct.Struct(">HHIH")
_A, _IN = 1, 1
_RECURSE, _ANSWER, _CUT = 0x0100, 0x8000, 0x0200
#: Records of an answer without EDNS: what fits into 512 bytes, and more.
_RECORDS = 64

#: Response code for a name that does not exist; it is not a failure of the server.
NO_SUCH_NAME = 3


class Reply(NamedTuple):
    """``code`` is 0 where the server knows the name, 2 where it failed, 5 where it rejects."""

    code: int
    addresses: Tuple[str, ...]


def query(name: str) -> bytes:
    """ValueError for what is no name."""
    return _HEADER.pack(_number(name), _RECURSE, 1, 0, 0, 0) + _question(name)


def parse(message: bytes, name: str) -> Reply:
    question = _question(name)
    start = _HEADER.size + len(question)
    if len(message) < start:
        raise ParseError(_WHAT, "it is too short")
    number, flags, questions, answers, _, _ = _HEADER.unpack_from(message)
    echoed = message[_HEADER.size : start].lower()
    is_ours = number == _number(name) and questions == 1 and echoed == question.lower()
    if not is_ours or not flags & _ANSWER:
        raise ParseError(_WHAT, f"it is not the answer for {name}")
    if flags & _CUT:
        raise ParseError(_WHAT, "it is longer than a datagram")
    if answers > _RECORDS:
        raise ParseError(_WHAT, f"more than {_RECORDS} records")
    addresses = []
    try:
        for _record in range(answers):
            start = _behind_name(message, start)
            kind, family, _seconds, length = _RECORD.unpack_from(message, start)
            start += _RECORD.size
            data = message[start : start + length]
            start += length
            if (kind, family) == (_A, _IN):
                addresses.append(str(ipaddress.IPv4Address(data)))
    except (IndexError, struct.error, ValueError) as problem:
        raise ParseError(_WHAT, "a record is cut off") from problem
    return Reply(flags & 0xF, tuple(addresses))


def _number(name: str) -> int:
    """The same for a name, so that a record is checked as the live answer was; who else could
    answer is kept out by the kernel: the socket is connected, its port is drawn."""
    return zlib.crc32(name.rstrip(".").lower().encode()) & 0xFFFF


def _question(name: str) -> bytes:
    labels = [label.encode("ascii") for label in name.rstrip(".").split(".")]
    if not all(0 < len(label) < 64 for label in labels) or len(name) > 253:
        raise ValueError(f"{kind_of(name)} is not a name")
    parts = b"".join(bytes([len(label)]) + label for label in labels)
    return parts + struct.pack(">BHH", 0, _A, _IN)


def _behind_name(message: bytes, start: int) -> int:
    """Where the name ends that begins there: labels, then a zero or a pointer (two bytes)."""
    while message[start] and message[start] < 0xC0:
        start += 1 + message[start]
    return start + (2 if message[start] else 1)
