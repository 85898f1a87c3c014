# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server parameter files (spfileSID.ora): the text of a pfile in blocks of 512 bytes.

Read only, never written: every block has a checksum. Oracle does not document the format; this is
what real files of 11.1 to 12.1 show. Each block has Oracle's common block header (20 bytes: type
0x43, format 0x22, block number at 4, sequence at 14) and a tail of 4 bytes that repeats the type
and the sequence. The text is between them and runs over block ends; NUL ends it. The first block
has no text; at byte 100 it states the length of the text with its NUL. Files of 9i have one
binary block and then plain text. Other content is rejected, because a wrong value is worse than
none: ``create pfile from spfile`` always shows the values."""

import struct
from typing import List

from ...errors import ParseError
from . import pfile

BLOCK = 512

_WHAT = "server parameter file"
_HEADER = b"C\x22"
_HEADER_SIZE = 20
_TAIL_SIZE = 4
_TYPE = _HEADER[0]
_LENGTH_AT = 100


def parse(text: str) -> List[pfile.Entry]:
    """Every entry; lines count those of the text inside. ``text`` is as Host.read_text gives it."""
    return pfile.parse(contents(text))


def contents(text: str) -> str:
    """The text inside; ParseError where the blocks are not as known."""
    data = text.encode("utf-8", "surrogateescape")
    if not data or len(data) % BLOCK:
        raise ParseError(_WHAT, f"{len(data)} bytes are not whole blocks of {BLOCK}")
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    bodies = [_body(block, number) for number, block in enumerate(blocks, 1)]
    # A plain file may begin with its text.
    first = 0 if bodies[0] is blocks[0] and _is_text(bodies[0].rstrip(b"\0")) else 1
    words, _nul, rest = b"".join(bodies[first:]).partition(b"\0")
    if not words:
        raise ParseError(_WHAT, "no block holds a parameter")
    # Text after the stated length is left from a longer one.
    if rest.strip(b"\0") and len(words) + 1 not in _stated_lengths(blocks[0]):
        raise ParseError(_WHAT, f"text follows the NUL after {len(words)} bytes of text")
    if not _is_text(words):
        raise ParseError(_WHAT, "the text holds control characters")
    return words.decode("utf-8", "surrogateescape")


def _body(block: bytes, number: int) -> bytes:
    """A block without its header and tail; ParseError if it is another block.

    A pack that was made before the tail was known has blocks without it."""
    if not block.startswith(_HEADER) or block[2:4] != b"\0\0":
        return block
    little, big = _numbers(block, 4)
    if number not in (little, big):
        raise ParseError(_WHAT, f"block {number} says that it is block {little}")
    tail = block[-_TAIL_SIZE:]
    is_tail = (block[14], _TYPE) in ((tail[0], tail[1]), (tail[3], tail[2]))
    return block[_HEADER_SIZE : -_TAIL_SIZE if is_tail else BLOCK]


def _stated_lengths(block: bytes) -> List[int]:
    return _numbers(block, _LENGTH_AT) if block.startswith(_HEADER) else []


def _numbers(block: bytes, place: int) -> List[int]:
    """The number at a place, in the order of x86 and in that of Power."""
    word = block[place : place + 4]
    return [struct.unpack(order + "I", word)[0] for order in "<>"]


def _is_text(words: bytes) -> bool:
    return all(letter >= 32 or letter in (9, 10, 13) for letter in words)
