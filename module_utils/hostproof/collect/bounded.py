# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON and files from untrusted sources, with limits on length and number of values."""

import errno
import json
import os
import re
import stat
import zlib
from io import BufferedReader
from typing import Any

#: Lists, dictionaries and what is in them. Each takes some 100 bytes in memory, however few
#: characters it is written with.
MOST_VALUES = 1000000

#: A text within JSON; one that does not end reaches to the end, so that nothing is tried twice.
_TEXT = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def inflate(packed: bytes, most: int) -> bytes:
    """The decompressed data if it is complete and at most ``most`` bytes long."""
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, most)
    except zlib.error as problem:
        raise ValueError(str(problem)) from None
    if inflater.unconsumed_tail:
        raise ValueError(f"it inflates to more than {most // 1048576} MiB")
    if not inflater.eof:
        raise ValueError("its end is missing")
    return data


def open_regular(path: str) -> BufferedReader:
    """A regular file to be read, also by a link; OSError for a FIFO, a device or a socket.

    Opening a FIFO would wait for a writer, and reading /dev/zero would never end.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: str, most: int) -> bytes:
    """The bytes of a regular file; ValueError where there are more than ``most``."""
    with open_regular(path) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it has more than {most // 1048576} MiB")
    return content


def loads(text: bytes, most_values: int = MOST_VALUES, encoding: str = "ascii") -> Any:
    """The value of JSON with at most ``most_values`` values."""
    decoded = text.decode(encoding)
    # No value is shorter than a character with a comma behind it.
    if len(decoded) > most_values and _holds_many(decoded, most_values):
        raise ValueError(f"it holds more than {most_values} values")
    try:
        return json.loads(decoded)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _holds_many(decoded: str, most_values: int) -> bool:
    # Eight for a text with a few escaped ones within.
    if decoded.count('"') > 8 * most_values:
        return True
    # Texts are taken out only where it could be too many with them: nearly nobody's answer.
    return _marks(decoded) > most_values and _marks(_TEXT.sub("", decoded)) > most_values


def _marks(text: str) -> int:
    """At least as many as there are values, but for those of one."""
    return text.count(",") + text.count("[") + text.count("{")
