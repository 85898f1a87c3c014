# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AIX's oslevel -s prints: 7200-05-03-2148. Source: AIX Commands Reference, oslevel."""

import re
from typing import NamedTuple, Tuple

from ..errors import ParseError

_LEVEL = re.compile(r"^(\d)(\d)\d\d-(\d\d)-(\d\d)-(\d{4})$")


class Level(NamedTuple):
    """``version`` is (7, 2); technology level, service pack and its build (YYWW) as printed."""

    version: Tuple[int, int]
    technology_level: int
    service_pack: int
    build: str

    def __str__(self):
        # type: () -> str
        return "AIX {0}.{1} TL {2} SP {3}".format(
            self.version[0], self.version[1], self.technology_level, self.service_pack
        )


def parse(text):
    # type: (str) -> Level
    """Raises ParseError for anything else."""
    match = _LEVEL.match(text.strip())
    if match is None:
        raise ParseError("oslevel", "{0!r} is no level such as 7200-05-03-2148".format(text[:40]))
    version, release, level, pack, build = match.groups()
    return Level((int(version), int(release)), int(level), int(pack), build)
