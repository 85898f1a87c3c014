# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report of a database or a tool, read as text. It holds SQL: only its figures are kept."""

import os
import stat

#: Bytes. A larger file is no report.
MOST_BYTES = 64 << 20


class TooLong(ValueError):
    """The file has more bytes than may be read."""


def read(path: str, most: int = MOST_BYTES) -> str:
    """The text of a plain file; ValueError for anything else, or for more than ``most`` bytes."""
    # Without O_NONBLOCK a FIFO would keep the reader waiting for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no plain file")
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLong(f"it has more than {most} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Names of months and comments may be in any encoding; what is read here is ASCII.
        return content.decode("latin-1")
