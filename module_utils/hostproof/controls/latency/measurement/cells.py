# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dumps of an Exadata cell contain besides latencies, as figures by name.

"cell device /dev/sda latency_us" is of devio_stats, "cell disk CD_02_cell1 whole" of iolstats.
"""

import re
from typing import Dict, Optional, Union

from .report import Report

Figures = Dict[str, Union[str, float]]

DEVICE, DISK = "cell device ", "cell disk "

#: The numbers of a device that are kept.
_OF_DEVICE = (
    "requests",
    "intervals",
    "confined_intervals",
    "latency_us",
    "service_us",
    "whole",
)

#: A full cell has 12 disks, 16 flash devices and two partitions.
MOST = 200

#: CD_02_cell1 is disk 2 of cell1; FD is a flash device, PM is persistent memory.
_NAME = re.compile(r"^(?P<kind>[A-Z]{2})_\d{1,3}_(?P<cell>\S+)$")


def figures(report: Report) -> Figures:
    """The figures of iolstats and devio_stats; nothing for other reports."""
    values: Figures = {}
    for entry in report.figures.get("devices", [])[:MOST]:
        for name in _OF_DEVICE:
            if entry[name] is not None:
                values["{0}{1} {2}".format(DEVICE, entry["device"], name)] = float(entry[name])
    for entry in report.figures.get("cell_disks", [])[:MOST]:
        counts = entry["ios_by_size"].values()
        name = DISK + entry["cell_disk"]
        values[name + " ios"] = float(sum(both["reads"] + both["writes"] for both in counts))
        values[name + " whole"] = float(entry["whole"])
    return values


def by_name(values: Figures, prefix: str) -> Dict[str, Dict[str, float]]:
    """The figures of each device or cell disk."""
    groups: Dict[str, Dict[str, float]] = {}
    for name, value in values.items():
        if name.startswith(prefix) and isinstance(value, (int, float)):
            of, _, what = name[len(prefix) :].rpartition(" ")
            groups.setdefault(of, {})[what] = value
    return groups


def cell_of(disk: str) -> str:
    """The cell that a cell disk belongs to, with its kind ("CD cell1"); "" for other names."""
    match = _NAME.match(disk)
    return "" if match is None else "{0} {1}".format(match.group("kind"), match.group("cell"))


def is_flash(disk: str) -> Optional[bool]:
    """Whether a cell disk is on flash or persistent memory, by its name; None for other names."""
    match = _NAME.match(disk)
    kind = "" if match is None else match.group("kind")
    return {"FD": True, "PM": True, "CD": False}.get(kind)
