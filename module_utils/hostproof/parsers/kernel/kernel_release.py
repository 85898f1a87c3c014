# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel release as ``uname -r`` and /proc/sys/kernel/osrelease give it."""

import re
from typing import NamedTuple

from ...errors import ParseError, kind_of
from ..number import integer

_RELEASE = re.compile(r"(\d+)\.(\d+)(?![0-9])")
_UEK = re.compile(r"uek\b|uek\.")


class Release(NamedTuple):
    """``is_uek``: Oracle's Unbreakable Enterprise Kernel, which differs from mainline."""

    major: int
    minor: int
    is_uek: bool
    text: str


def parse(text: str) -> Release:
    """``5.15.0-100.96.32.el8uek.x86_64`` is 5.15 and UEK."""
    text = text.strip()
    match = _RELEASE.match(text)
    if match is None:
        raise ParseError("kernel release", f"not 'major.minor...': {kind_of(text)}")
    is_uek = _UEK.search(text) is not None
    return Release(integer(match.group(1)), integer(match.group(2)), is_uek, text)
