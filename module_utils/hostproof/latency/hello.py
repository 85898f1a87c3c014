# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The greeting between the probe and the responder of a request-response measurement.

The probe sends the sizes of a request and of its response, and the responder confirms them. Then it
answers each request immediately. All numbers are big-endian. The content of requests and responses
has no meaning.
"""

import struct
from typing import Tuple

from ..errors import ParseError

_WHAT = "the greeting of a latency probe"
_MAGIC = b"hostprf1"
_HELLO = struct.Struct(">8sII")

HELLO_LENGTH = _HELLO.size
#: The responder's confirmation.
WELCOME = _MAGIC + b"\0\0\0\0"

#: The largest request and response, in bytes: a few SDUs. This is not a bandwidth test.
LONGEST = 65536


def hello(request_size: int, reply_size: int) -> bytes:
    """The greeting; sizes are bytes from 1 to LONGEST."""
    return _HELLO.pack(_MAGIC, request_size, reply_size)


def parse(data: bytes) -> Tuple[int, int]:
    """Sizes of requests and responses. Raises ParseError if the peer is not a latency probe."""
    if len(data) != _HELLO.size:
        raise ParseError(_WHAT, f"{len(data)} bytes, not {_HELLO.size}")
    magic, request_size, reply_size = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise ParseError(_WHAT, "does not start with the expected bytes")
    for size in (request_size, reply_size):
        if not 1 <= size <= LONGEST:
            raise ParseError(_WHAT, f"{size} bytes are not from 1 to {LONGEST}")
    return int(request_size), int(reply_size)
