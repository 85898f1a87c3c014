# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The processes that ps lists, with its column COMMAND or CMD as the last one."""

from __future__ import annotations

import re
from typing import NamedTuple


class Row(NamedTuple):
    """``command`` has all arguments, with blanks between them."""

    user: str
    pid: int
    command: str


def parse(text: str) -> list[Row] | None:
    """Every process; None if the list is not whole: without its head or PID 1."""
    lines = text.splitlines()
    head = lines[0].split() if lines else []
    if head[:2] != ["USER", "PID"] or head[-1] not in ("COMMAND", "CMD"):
        return None
    rows = [line.split(None, len(head) - 1) for line in lines[1:]]
    whole = [row for row in rows if len(row) == len(head)]
    processes = [
        Row(row[0], int(row[1]), row[-1]) for row in whole if re.fullmatch("[0-9]{1,9}", row[1])
    ]
    return processes if any(row.pid == 1 for row in processes) else None
