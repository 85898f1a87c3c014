# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks in the JSON of sar: ``sadf -j FILE -- -d``. Source: sadf(1), json_stats.c of sysstat 12."""

from typing import Any, List

from ....errors import ParseError
from ....parsers.number import json_at
from .iostat import Disk

_WHAT = "the JSON of sadf"


def parse(text: str) -> List[List[Disk]]:
    """The intervals in order, each a list of its devices. ParseError where it has no disks."""
    start = text.find("{")
    if start < 0:
        raise ParseError(_WHAT, "there is no object")
    try:
        tree = json_at(text, start)
        intervals = [
            [_disk(entry) for entry in interval["disk"]]
            for host in tree["sysstat"]["hosts"]
            for interval in host["statistics"]
            if "disk" in interval
        ]
    except ValueError as problem:
        raise ParseError(_WHAT, "it is not JSON, or has a text instead of a number") from problem
    except (KeyError, TypeError, AttributeError) as problem:
        raise ParseError(_WHAT, f"lacks or mistakes {problem}") from problem
    if not intervals:
        raise ParseError(_WHAT, "it has no disks: write it with sadf -j FILE -- -d")
    return intervals


def _disk(entry: Any) -> Disk:
    requests = float(entry["tps"])
    return Disk(
        str(entry["disk-device"]),
        requests,
        float(entry["await"]) if requests else None,
        float(entry["util-percent"]),
    )
