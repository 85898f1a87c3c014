# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/os-release: which distribution a host has (os-release(5))."""

import shlex
from typing import Dict

from ...errors import ParseError


def parse(text: str) -> Dict[str, str]:
    """Each variable with its value; quoted as a shell would have it."""
    values = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.strip().partition("=")
        if not equals or name.startswith("#"):
            continue
        try:
            values[name] = "".join(shlex.split(value)[:1])
        except ValueError as problem:
            raise ParseError("os-release", str(problem), number) from problem
    if not values:
        raise ParseError("os-release", "it names nothing")
    return values
