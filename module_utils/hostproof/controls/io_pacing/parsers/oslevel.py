# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's oslevel -s prints: 7200-05-03-2148. Source: AIX Commands Reference, oslevel."""

import re
from typing import NamedTuple, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import integer

_LEVEL = re.compile(r"^(\d)(\d)\d\d-(\d\d)-(\d\d)-(\d{4})$")


class Level(NamedTuple):
    """``version`` is (7, 2); technology level, service pack and its build (YYWW) as printed."""

    version: Tuple[int, int]
    technology_level: int
    service_pack: int
    build: str

    def __str__(self) -> str:
        return (
            f"AIX {self.version[0]}.{self.version[1]} TL {self.technology_level} SP "
            f"{self.service_pack}"
        )


def parse(text: str) -> Level:
    """Raises ParseError for anything else."""
    match = _LEVEL.match(text.strip())
    if match is None:
        raise ParseError("oslevel", f"{kind_of(text)} is not a level such as 7200-05-03-2148")
    version, release, level, pack, build = match.groups()
    return Level((integer(version), integer(release)), integer(level), integer(pack), build)
