# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ping prints at its end: iputils, BusyBox, AIX, HP-UX, Solaris and BSD.

Source: ping(8) of iputils, ping_common.c; ping(1M) of Solaris and AIX.
"""

import re
from typing import List, NamedTuple, Optional

from ....errors import ParseError
from ....parsers.number import decimal_of_line

_WHAT = "ping output"
_TARGET = re.compile(r"^-{3,4}\s?(\S{1,255}) (?:PING|ping) [Ss]tatistics\s?-{3,4}$")
_COUNTS = re.compile(r"^(\d{1,9}) packets transmitted, (\d{1,9}) (?:packets )?received")
_TIMES = re.compile(
    r"^(?:rtt|round-trip)\s+(?:\(ms\)\s+)?min/avg/max(?:/(?:mdev|stddev))?\s*=\s*"
    r"([\d.]{1,12})/([\d.]{1,12})/([\d.]{1,12})"
)


class Ping(NamedTuple):
    """One run. Times are milliseconds; None where no answer came."""

    target: str
    sent: int
    received: int
    minimum: Optional[float]
    mean: Optional[float]
    maximum: Optional[float]


def parse(text: str) -> List[Ping]:
    """The runs in order. ParseError where a run has no summary: it was stopped or cut off."""
    runs: List[Ping] = []
    target = ""
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        named = _TARGET.match(line)
        counts = _COUNTS.match(line)
        times = _TIMES.match(line)
        if named is not None:
            target = named.group(1)
        elif counts is not None and target:
            runs.append(Ping(target, int(counts.group(1)), int(counts.group(2)), None, None, None))
        elif times is not None and runs:
            low, mean, high = [decimal_of_line(_WHAT, each, number) for each in times.groups()]
            runs[-1] = runs[-1]._replace(minimum=low, mean=mean, maximum=high)
            target = ""
    if not runs:
        raise ParseError(_WHAT, "it has no summary of packets and times: it is cut off")
    for run in runs:
        if run.received > run.sent:
            raise ParseError(_WHAT, f"{run.target}: more packets received than transmitted")
        if run.received and run.mean is None:
            raise ParseError(_WHAT, f"{run.target}: the times are missing: it is cut off")
    return runs
