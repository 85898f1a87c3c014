# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's oslevel -s prints: 7200-05-03-2148. Source: AIX Commands Reference, oslevel.

AIX 5.3 prints no build for some service packs (5300-05-04), and CSP for a concluding one."""

import re
from typing import NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_LEVEL = re.compile(r"^(\d)(\d)\d\d-(\d\d)-(\d\d|CSP)(?:-(\d{4}))?$")


class Level(NamedTuple):
    """``version`` is (7, 2); ``service_pack`` is None for a concluding one, ``build`` is YYWW."""

    version: Tuple[int, int]
    technology_level: int
    service_pack: Optional[int]
    build: Optional[str]

    def __str__(self) -> str:
        pack = "CSP" if self.service_pack is None else f"SP {self.service_pack}"
        return f"AIX {self.version[0]}.{self.version[1]} TL {self.technology_level} {pack}"


def parse(text: str) -> Level:
    """Raises ParseError for anything else."""
    match = _LEVEL.match(text.strip())
    if match is None:
        raise ParseError("oslevel", f"{kind_of(text)} is not a level such as 7200-05-03-2148")
    version, release, level, pack, build = match.groups()
    number = None if pack == "CSP" else integer(pack)
    return Level((integer(version), integer(release)), integer(level), number, build)
