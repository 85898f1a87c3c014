# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text from hosts, made safe to show: a host can answer any bytes at all."""

import re
from typing import Match

#: What a terminal would obey, XML forbids or a reader could not see: control characters other
#: than tab and newline, zero-width and direction marks, lone surrogates, non-characters.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


def printable(text):
    # type: (str) -> str
    """The text with every character that cannot be shown written out (``\\x1b``, ``\\u202e``)."""
    return _UNSHOWABLE.sub(_written_out, text.replace("\r\n", "\n"))


def one_line(text):
    # type: (str) -> str
    """Printable text with every run of white space as one space."""
    return " ".join(printable(text).split())


def shorten(text, width):
    # type: (str, int) -> str
    """The text cut to ``width`` characters, the cut marked."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _written_out(match):
    # type: (Match[str]) -> str
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # a byte that was not UTF-8, as surrogateescape keeps it
    return "\\x{0:02x}".format(code) if code < 0x100 else "\\u{0:04x}".format(code)
