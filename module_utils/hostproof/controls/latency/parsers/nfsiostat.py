# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nfsiostat prints of NFS mounts. Source: nfsiostat(8), tools/nfs-iostat of nfs-utils."""

import re
from typing import Dict, List, NamedTuple

from ....errors import ParseError
from ....parsers.number import decimals_of_line

_WHAT = "nfsiostat output"
_MOUNT = re.compile(r"^(\S.{0,1000}) mounted on (/.{0,1000}):\s*$")
_OPERATION = re.compile(r"^(read|write):\s+ops/s\b.*\bavg RTT \(ms\)\s+avg exe \(ms\)")
_VALUES = re.compile(
    r"^\s+([\d.]{1,15})\s+[\d.]{1,15}\s+[\d.]{1,15}\s+(\d{1,12}) \([\d.]{1,6}%?\)?\s+"
    r"([\d.]{1,15})\s+([\d.]{1,15})(?:\s|$)"
)


#: Python 2.6 of EL6 wrote each value in a separate line.
_ONE_VALUE = re.compile(r"^\s+(?:[\d.]{1,15}|\d{1,12} \([\d.]{1,6}%?\))\s*$")
_HEADING = re.compile(r"^\s*ops/s\b.*\bavg RTT \(ms\)\s+avg exe \(ms\)")
_NAME = re.compile(r"^(read|write):\s*$")


class Operation(NamedTuple):
    """``name`` is read or write; times are milliseconds: at the server, and with the queue."""

    name: str
    per_second: float
    retransmissions: int
    round_trip: float
    execution: float


def parse(text: str) -> List[Dict[str, List[Operation]]]:
    """The reports in order: the operations of each mount point. ParseError where it has none."""
    reports: List[Dict[str, List[Operation]]] = []
    mount = name = ""
    for number, line in enumerate(_joined(text), 1):
        found = _MOUNT.match(line)
        if found is not None:
            mount = found.group(2)
            if not reports or mount in reports[-1]:
                reports.append({})
            reports[-1][mount] = []
            name = ""
            continue
        operation = _OPERATION.match(line)
        if operation is not None and mount:
            name = operation.group(1)
            continue
        values = _VALUES.match(line) if name else None
        if values is not None:
            rate, again, *times = decimals_of_line(_WHAT, values.groups(), number)
            reports[-1][mount].append(Operation(name, rate, int(again), *times))
            name = ""
    if not any(operations for report in reports for operations in report.values()):
        raise ParseError(_WHAT, "it has no mount with reads or writes: it is cut off")
    return reports


def _joined(text: str) -> List[str]:
    """The lines, with the values that follow one another in one line."""
    lines: List[str] = []
    name = ""
    for line in text.split("\n"):
        named = _NAME.match(line)
        if named is not None:
            name = named.group(1)
            lines.append("")
        elif name and _HEADING.match(line):
            lines += [f"{name}: {line.strip()}", ""]
            name = ""
        elif _ONE_VALUE.match(line) and len(lines) > 1 and lines[-1][:1] in ("", " "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return lines
