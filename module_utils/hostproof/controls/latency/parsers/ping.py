# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ping and hping print: iputils, BusyBox, AIX, HP-UX, Solaris and BSD; hping2 and hping3.

Source: ping(8) of iputils, ping_common.c; ping(1M) of Solaris and AIX; hping3 statistics.c.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....errors import ParseError
from ....parsers.number import decimal_of_line, decimals_of_line, integer

_WHAT = "ping output"
_BEGINS = re.compile(r"^(?:H?PING6? (\S{1,255})(?: |:|$)|PING6\(.{1,99}--> (\S{1,255})$)")
_ANSWER = re.compile(r"(?:\btime|\brtt)[=<]([\d.]{1,12}) ?ms$")
_SEQUENCE = re.compile(r"\b(?:icmp_)?seq=(\d{1,6})\b")
_TARGET = re.compile(r"^-{3,4}\s?(\S{1,255}) h?(?:PING|ping)6? [Ss]tatistics?\s?-{3,4}$")
_COUNTS = re.compile(r"^(\d{1,9}) packets tra(?:ns)?mitted, (\d{1,9}) (?:packets )?received")
_TIMES = re.compile(
    r"^(?:rtt|round-trip)\s+(?:\(ms\)\s+)?min/avg/max(?:/(?:mdev|std-?dev))?\s*=\s*"
    r"([\d.]{1,12})/([\d.]{1,12})/([\d.]{1,12})"
)


class Ping(NamedTuple):
    """One run. Times are milliseconds; None where no answer came.

    ``answers`` are the times of the answers that the text has: all, some or none of them. It is not
    ``whole`` without the summary at the end.
    """

    target: str
    sent: int
    received: int
    minimum: Optional[float]
    mean: Optional[float]
    maximum: Optional[float]
    answers: Tuple[float, ...]
    whole: bool = True


def parse(text: str) -> List[Ping]:
    """The runs in order. ParseError where there is neither a summary nor an answer of hping."""
    runs: List[Ping] = []
    target = ""
    answers: List[float] = []
    sequence: List[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        begins, answer = _BEGINS.match(line), _ANSWER.search(line)
        named, counts, times = _TARGET.match(line), _COUNTS.match(line), _TIMES.match(line)
        if begins is not None:
            target, answers, sequence = begins.group(1) or begins.group(2), [], []
        elif answer is not None:
            answers.append(decimal_of_line(_WHAT, answer.group(1), number))
            sequence += map(integer, _SEQUENCE.findall(line)[:1])
        elif named is not None:
            target = named.group(1)
        elif counts is not None and target:
            sent, received = int(counts.group(1)), int(counts.group(2))
            runs.append(Ping(target, sent, received, None, None, None, tuple(answers)))
            answers = []
        elif times is not None and runs:
            low, mean, high = decimals_of_line(_WHAT, times.groups(), number)
            runs[-1] = runs[-1]._replace(minimum=low, mean=mean, maximum=high)
            target = ""
    for run in runs:
        _check(run)
    return runs or [_without_summary(target, answers, sequence)]


def _check(run: Ping) -> None:
    if run.received > run.sent:
        raise ParseError(_WHAT, f"{run.target}: more packets received than transmitted")
    if run.received and run.mean is None:
        raise ParseError(_WHAT, f"{run.target}: the times are missing: it is cut off")


def _without_summary(target: str, answers: List[float], sequence: List[int]) -> Ping:
    """A run that was stopped, or copied without the summary."""
    if not answers or not target:
        raise ParseError(_WHAT, "it has no summary of packets and times: it is cut off")
    mean = sum(answers) / len(answers)
    count = len(answers)
    # A gap is an answer that is missing.
    sent = max(count, max(sequence) - min(sequence) + 1) if sequence else count
    return Ping(target, sent, count, min(answers), mean, max(answers), tuple(answers), False)
