# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that ps lists, with its column COMMAND or CMD as the last one."""

from __future__ import annotations


def parse(text: str) -> list[str] | None:
    """The command of each process; None if the list does not have all of them: not PID 1."""
    lines = text.splitlines()
    head = lines[0].split() if lines else []
    if "PID" not in head or head[-1] not in ("COMMAND", "CMD"):
        return None
    place = head.index("PID")
    rows = [line.split(None, len(head) - 1) for line in lines[1:]]
    whole = [row for row in rows if len(row) == len(head)]
    if not any(row[place] == "1" for row in whole):
        return None
    return [row[-1] for row in whole]
