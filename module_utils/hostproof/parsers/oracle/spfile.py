# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Server parameter files (spfileSID.ora): the text of a pfile in blocks of 512 bytes.

Read only, never written: every block has a separate checksum. The format is not documented by
Oracle; this is the published knowledge. The first block contains no parameters. A block may begin
with Oracle's common block header (20 bytes: type 0x43, format 0x22, block number); then a value
continues after it. The rest of the last block is NUL. Other content is rejected, because a wrong
value is worse than none: ``create pfile from spfile`` always shows the values."""

import struct
from typing import List

from ...errors import ParseError
from . import pfile

BLOCK = 512

_WHAT = "server parameter file"
_HEADER = b"C\x22"
_HEADER_SIZE = 20


def parse(text: str) -> List[pfile.Entry]:
    """Every entry; lines count those of the text inside. ``text`` is as Host.read_text gives it."""
    return pfile.parse(contents(text))


def contents(text: str) -> str:
    """The text inside; ParseError where the blocks are not as known."""
    data = text.encode("utf-8", "surrogateescape")
    if not data or len(data) % BLOCK:
        raise ParseError(_WHAT, f"{len(data)} bytes are not whole blocks of {BLOCK}")
    blocks = [data[start : start + BLOCK] for start in range(0, len(data), BLOCK)]
    pieces: List[bytes] = []
    ended = False
    for number, block in enumerate(blocks, 1):
        body = block[_HEADER_SIZE:] if _has_header(block, number) else block
        words = body.rstrip(b"\0")
        if number == 1 and not _is_text(words):
            continue
        if not _is_text(words):
            raise ParseError(_WHAT, f"block {number} holds bytes that are no text")
        if ended and words:
            raise ParseError(_WHAT, f"block {number} has text after the end")
        # Text that fills its block to the last byte goes on in the next one.
        ended = ended or (bool(pieces) and len(words) < len(body))
        if words:
            pieces.append(words)
    if not pieces:
        raise ParseError(_WHAT, "no block holds a parameter")
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def _has_header(block: bytes, number: int) -> bool:
    """Whether a block begins with the common block header; ParseError if it is another block's."""
    if not block.startswith(_HEADER) or block[2:4] != b"\0\0":
        return False
    little, big = struct.unpack("<I", block[4:8])[0], struct.unpack(">I", block[4:8])[0]
    if number not in (little, big):
        raise ParseError(_WHAT, f"block {number} says that it is block {little}")
    return True


def _is_text(words: bytes) -> bool:
    return all(letter >= 32 or letter in (9, 10, 13) for letter in words)
