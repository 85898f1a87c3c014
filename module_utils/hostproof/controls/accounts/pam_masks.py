# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The umask that pam_umask sets in the sessions of each service, by the lines of its stack.

The last pam_umask.so of a stack decides. Sources: pam.conf(5), pam_umask(8), pam_umask.c.
"""

import re
from typing import Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ...probes.unix import pam

PLACES = ("/etc/pam.d/*", "/usr/lib/pam.d/*")
#: pam_umask in a session, and lines that include another stack.
LINES = (
    r"(?i)^\s*(?:-?session\s[^#]*\bpam_umask\.so\b|@include\s|-?session\s+(?:include|substack)\s)"
)
_FOLDERS = tuple(place[:-1] for place in PLACES)
_MODULE = re.compile(r"(?i)\bpam_umask\.so\b(.*)")
_MASK = re.compile(r"(?i)umask=([0-7]{1,4})")
_INCLUDE = re.compile(r"(?i)\s*(?:@include|-?session\s+(?:include|substack))\s+(\S+)")
#: Files may include one another this deep (libpam).
_DEEPEST = 16

Rows = Sequence[Tuple[int, str]]


class PamMask(NamedTuple):
    """``mask`` is the argument umask=, None where login.defs decides. ``usergroups``: an account
    whose group has its name gets the rights of the owner for the group."""

    path: str
    mask: Optional[str]
    usergroups: bool


def read(lines: Mapping[str, Rows]) -> Tuple[PamMask, ...]:
    """The result of each service of a login; a recording without includes counts by file."""
    names: Sequence[str] = pam.SERVICES
    if not any(_INCLUDE.match(text) for rows in lines.values() for _number, text in rows):
        names = [path.rpartition("/")[2] for path in lines]
    last = [list(_masks(lines, name, 0))[-1:] for name in names]
    return tuple(dict.fromkeys(mask for masks in last for mask in masks))


def _masks(lines: Mapping[str, Rows], name: str, depth: int) -> Iterator[PamMask]:
    path = next((folder + name for folder in _FOLDERS if folder + name in lines), name)
    for _number, text in lines.get(path, ()):
        text = text.partition("#")[0]
        module, included = _MODULE.search(text), _INCLUDE.match(text)
        if included is not None and depth < _DEEPEST:
            yield from _masks(lines, included.group(1), depth + 1)
        elif module is not None:
            yield _of_arguments(path, module.group(1).split())


def _of_arguments(path: str, arguments: List[str]) -> PamMask:
    masks = [match.group(1) for word in arguments for match in [_MASK.match(word)] if match]
    own_group = [word for word in map(str.lower, arguments) if word.endswith("usergroups")]
    return PamMask(path, masks[-1] if masks else None, own_group[-1:] == ["usergroups"])


def with_own_group(mask: str) -> str:
    """The mask of an account whose group has its name: the bits of the owner for the group."""
    bits = int(mask, 8)
    return f"{bits & ~0o070 | bits >> 3 & 0o070:03o}"
