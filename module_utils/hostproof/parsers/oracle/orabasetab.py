# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""orabasetab of an Oracle home: where a read-only home keeps what is not read-only.

The line that begins with the home counts: HOME:ORACLE_BASE:HOME_NAME:Y or N. Source: Oracle
Database Installation Guide for Linux 18c, 19c and 21c, About orabasetab.
"""

from typing import NamedTuple, Optional

from ...errors import ParseError, kind_of


class BaseTab(NamedTuple):
    """ORACLE_BASE, the name of the home, and whether the home is read-only."""

    base: str
    name: str
    read_only: bool

    def base_home(self) -> str:
        """ORACLE_BASE_HOME of a read-only home."""
        return f"{self.base}/homes/{self.name}"


def parse(text: str, home: str) -> Optional[BaseTab]:
    """What the last line about ``home`` says; None if there is none."""
    row = None
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.strip().split(":")
        if line.startswith("#") or fields[0].rstrip("/") != home.rstrip("/"):
            continue
        if len(fields) < 4 or fields[3] not in ("Y", "N") or not fields[1].startswith("/"):
            raise ParseError("orabasetab", f"not HOME:BASE:NAME:Y or N: {kind_of(line)}", number)
        row = BaseTab(fields[1].rstrip("/"), fields[2], fields[3] == "Y")
    return row
