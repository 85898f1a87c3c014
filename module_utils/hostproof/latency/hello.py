# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the probe and the responder of a request-response measurement say to each other first.

The probe says how long a request and its answer are, the responder agrees; then each request is
answered at once. All numbers are big-endian, and the bytes of requests and answers mean nothing.
"""

import struct
from typing import Tuple

from ..errors import ParseError

_WHAT = "the greeting of a latency probe"
_MAGIC = b"hostprf1"
_HELLO = struct.Struct(">8sII")

HELLO_LENGTH = _HELLO.size
#: What the responder says when it agrees.
WELCOME = _MAGIC + b"\0\0\0\0"

#: The longest request and answer, in bytes: a few SDUs, not a bandwidth test.
LONGEST = 65536


def hello(request_size: int, reply_size: int) -> bytes:
    """The greeting; sizes are bytes from 1 to LONGEST."""
    return _HELLO.pack(_MAGIC, request_size, reply_size)


def parse(data: bytes) -> Tuple[int, int]:
    """Size of the requests and of their answers; ParseError where somebody else is speaking."""
    if len(data) != _HELLO.size:
        raise ParseError(_WHAT, f"{len(data)} bytes, not {_HELLO.size}")
    magic, request_size, reply_size = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise ParseError(_WHAT, "does not begin as one")
    for size in (request_size, reply_size):
        if not 1 <= size <= LONGEST:
            raise ParseError(_WHAT, f"{size} bytes are not from 1 to {LONGEST}")
    return int(request_size), int(reply_size)
