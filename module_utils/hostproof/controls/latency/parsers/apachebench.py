# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ApacheBench (ab) prints of the times of HTTP requests. Source: ab(1), support/ab.c."""

import re
from typing import Dict, List, NamedTuple, Optional, Pattern

from ....errors import ParseError
from ....parsers.number import decimals_of_line

_WHAT = "ApacheBench output"
_RATE = re.compile(r"^Requests per second:\s+([\d.]+) \[#/sec\] \(mean\)$")
_MEAN = re.compile(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)$")
_COMPLETE = re.compile(r"^Complete requests:\s+(\d{1,12})$")
_TOTAL = re.compile(r"^Total:\s+(\d+)\s+\d+\s+[\d.]+\s+\d+\s+(\d+)$")
_SERVED = re.compile(r"^\s*(\d{1,3})%\s+(\d{1,12})(?: \(longest request\))?$")
_PATTERNS = (_RATE, _MEAN, _COMPLETE, _TOTAL, _SERVED)


class Requests(NamedTuple):
    """Microseconds; ``served``: of a hundred requests that many took no longer than so long.

    ``requests`` is None where the text does not begin with the number of requests.
    """

    requests: Optional[int]
    rate: float
    mean: float
    minimum: float
    maximum: float
    served: Dict[int, float]


def parse(text: str) -> Requests:
    """ParseError where the mean, the line "Total:" or the percentages are missing."""
    found: Dict[Pattern[str], List[List[float]]] = {pattern: [] for pattern in _PATTERNS}
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, of_lines in found.items():
            match = pattern.match(line.rstrip())
            if match is not None:
                of_lines.append(decimals_of_line(_WHAT, match.groups(), number))
    served = {int(share): time * 1000 for share, time in found[_SERVED]}
    if not (found[_RATE] and found[_MEAN] and found[_TOTAL] and 100 in served):
        raise ParseError(_WHAT, "it has no mean, no line 'Total:' or no percentages: it is cut off")
    count = int(found[_COMPLETE][-1][0]) if found[_COMPLETE] else None
    minimum, maximum = found[_TOTAL][-1]
    mean = found[_MEAN][-1][0]
    return Requests(count, found[_RATE][-1][0], mean * 1000, minimum * 1000, maximum * 1000, served)
