# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of ``ldconfig -p``: the libraries that the dynamic linker finds by name.

Source: glibc elf/cache.c, print_entry().
"""

import re
from typing import List, NamedTuple

from ....errors import ParseError, kind_of

_WHAT = "output of ldconfig -p"
_ROW = re.compile(r"\t(\S+) \(([^)]*)\) => (/.*)$")


class Library(NamedTuple):
    """``flags`` is the ABI of the library, such as "libc6,x86-64"."""

    name: str
    flags: str
    path: str


def parse(text: str) -> List[Library]:
    """The libraries, in the linker's order."""
    lines = text.split("\n")
    if " libs found in cache " not in lines[0]:
        raise ParseError(_WHAT, "does not start with the number of libraries", 1)
    libraries = []
    for number, line in enumerate(lines[1:], 2):
        if not line.startswith("\t"):
            continue
        match = _ROW.match(line)
        if match is None:
            raise ParseError(_WHAT, f"{kind_of(line)} is not a library", number)
        libraries.append(Library(*match.groups()))
    return libraries
