# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ApacheBench (ab) prints of the times of HTTP requests. Source: ab(1), support/ab.c."""

import re
from typing import Dict, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal_of_line

_WHAT = "ApacheBench output"
_RATE = re.compile(r"^Requests per second:\s+([\d.]+) \[#/sec\] \(mean\)$")
_MEAN = re.compile(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)$")
_COMPLETE = re.compile(r"^Complete requests:\s+(\d{1,12})$")
_TOTAL = re.compile(r"^Total:\s+(\d+)\s+\d+\s+[\d.]+\s+\d+\s+(\d+)$")
_SERVED = re.compile(r"^\s*(\d{1,3})%\s+(\d{1,12})(?: \(longest request\))?$")


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
    rate: Optional[float] = None
    mean: Optional[float] = None
    count: Optional[int] = None
    ends: Optional[tuple] = None
    served: Dict[int, float] = {}
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()
        for pattern in (_RATE, _MEAN, _COMPLETE, _TOTAL, _SERVED):
            match = pattern.match(line)
            if match is None:
                continue
            values = [decimal_of_line(_WHAT, group, number) for group in match.groups()]
            if pattern is _RATE:
                rate = values[0]
            elif pattern is _MEAN:
                mean = values[0] * 1000
            elif pattern is _COMPLETE:
                count = int(values[0])
            elif pattern is _TOTAL:
                ends = (values[0] * 1000, values[1] * 1000)
            else:
                served[int(values[0])] = values[1] * 1000
    if rate is None or mean is None or ends is None or 100 not in served:
        raise ParseError(_WHAT, "it has no mean, no line 'Total:' or no percentages: it is cut off")
    return Requests(count, rate, mean, ends[0], ends[1], served)
