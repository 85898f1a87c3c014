# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to validate, which every kind of pool comes down to."""

import re
from typing import List, NamedTuple, Optional

NOTHING, FOREGROUND, BACKGROUND = "nothing", "foreground", "background"


class Mode(NamedTuple):
    """How a pool validates, and why.

    ``trusted_ms``: in the foreground, time after a use or a validation during which a connection is
    handed out without a check. ``stale_ms``: in the background, maximum age of a dead connection.
    """

    name: str
    why: str
    trusted_ms: float = 0
    stale_ms: float = 0


class Hazards(NamedTuple):
    """The dangers of the background, and the settings against them. ``is_fatal``: a connection that
    failed is never let go."""

    dangers: List[str]
    to_set: List[str]
    is_fatal: bool = False


class Sizes(NamedTuple):
    """Connections, and the milliseconds that a request waits for one."""

    minimum: float
    maximum: float
    wait_ms: float


def cut_by_firewall(silent_ms: float, idle_minutes: Optional[int]) -> List[str]:
    """The hazard of a connection of which nothing is heard for so long."""
    if idle_minutes is None or silent_ms <= idle_minutes * 60000:
        return []
    return [
        f"a connection is idle for up to {silent_ms / 60000:.3g} minutes between two rounds, and "
        f"the firewall cuts it after {idle_minutes}"
    ]


def statement_problem(statement: str) -> Optional[str]:
    """Why Oracle rejects a statement that validates; None if nothing is known against it."""
    text = statement.strip()
    is_block = re.match(r"(?:begin|declare)\b", text, re.IGNORECASE) is not None
    if text.endswith(";") and not is_block:
        return "it ends with a semicolon, which Oracle rejects from JDBC (ORA-00911, ORA-00933)"
    if re.match(r"select\b", text, re.IGNORECASE) and not re.search(
        r"\bfrom\b", text, re.IGNORECASE
    ):
        return "it is a SELECT without FROM, which Oracle rejects before 23ai (ORA-00923)"
    return None
