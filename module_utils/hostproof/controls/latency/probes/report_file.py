# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report of a database or a tool, read as text. It holds SQL: only its figures are kept."""

from functools import partial

from ....collect import guarded_read
from ....collect.child import Untrusted

#: Bytes. A larger file is not a report.
MOST_BYTES = 64 << 20


class TooLong(ValueError):
    """The file has more bytes than may be read."""


def read(path: str, most: int = MOST_BYTES) -> str:
    """The text of a plain file; ValueError for anything else, or for more than ``most`` bytes.

    It is read as the user that controls the target of the path (guarded_read.py).
    """
    try:
        text = str(guarded_read.read(path, partial(guarded_read.head, most + 1, b"")))
    except Untrusted as problem:
        raise ValueError(str(problem)) from problem
    content = text.encode("utf-8", "surrogateescape")
    if len(content) > most:
        raise TooLong(f"it has more than {most} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Names of months and comments may be in any encoding; what is read here is ASCII.
        return content.decode("latin-1")
