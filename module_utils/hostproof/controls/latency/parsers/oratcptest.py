# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of the oratcptest client. Source: MOS 2064368.1; tests/fixtures/latency/SOURCES.md.

In mode SYNC, each message (12 bytes and its payload) waits for an answer of 4 bytes. The latency is
therefore that of a round trip between the Java processes of client and server.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.number import decimal_of_line, integer

_WHAT = "oratcptest output"
_BEGIN = "[Requesting a test]"
_SETTING = re.compile(r"^\s+([A-Z][A-Za-z ]*)= (.*\S)$")
_INTERVAL = re.compile(r"^\((\d\d:\d\d:\d\d)\)\s+([\d.]+) Mbytes/s(?:\s+([\d.]+) ms)?\s*$")
_THROUGHPUT = re.compile(r"^([\d.]+) Mbytes/s$")
_LATENCY = re.compile(r"^([\d.]+) ms$")
#: "1 Mbyte", but "2 Mbytes".
_PAYLOAD = re.compile(r"^([\d,]{1,15}) (bytes?|Kbytes?|Mbytes?)$")
_TIME = re.compile(r"^(\d{1,7}) (second|minute|hour)s?$")
_COMMAND = re.compile(r"\boratcptest\.jar\s+(\S+)(.*)$")
_PORT = re.compile(r"(?:^|\s)-port=(\d{1,5})\b")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_BYTES = {"byte": 1, "Kbyte": 1024, "Mbyte": 1024 * 1024}


class Interval(NamedTuple):
    """``at`` is the client's clock, then bytes a second and microseconds (None if unprinted)."""

    at: str
    throughput: float
    latency: Optional[float]


class Test(NamedTuple):
    """One run, in bytes, seconds, bytes a second (``throughput``) and microseconds (``latency``).

    ``latency`` is None where the run did not wait for answers (mode ASYNC). ``step`` is the place
    value of the latency's last digit. ``server`` and ``port`` are of the command, if it is there.
    """

    server: Optional[str]
    port: Optional[int]
    mode: str
    payload: int
    connections: int
    duration: Optional[int]
    disk_write: bool
    intervals: List[Interval]
    throughput: float
    latency: Optional[float]
    step: Optional[float]
    line: int


def parse(text: str) -> List[Test]:
    """Every test in the text. ParseError where there is none, or one is cut off or scrambled."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.strip() == _BEGIN]
    if not starts:
        raise ParseError(_WHAT, f"it has no line '{_BEGIN}'")
    ends = starts[1:] + [len(lines)]
    return [
        _test(lines, start, ends[place], starts[place - 1] if place else 0)
        for place, start in enumerate(starts)
    ]


def _test(lines: List[str], start: int, end: int, before: int) -> Test:
    settings, averages, intervals = _parts(lines, start, end)
    if "throughput" not in averages:
        raise ParseError(_WHAT, "the test has no averages: the output is cut off", end)
    mode = settings.get("Transport mode", "")
    if mode not in ("SYNC", "ASYNC"):
        raise ParseError(_WHAT, "it does not tell the transport mode", start + 1)
    if mode == "SYNC" and "latency" not in averages:
        raise ParseError(_WHAT, "the test has no average latency: the output is cut off", end)
    throughput = _THROUGHPUT.match(averages["throughput"])
    latency = _LATENCY.match(averages.get("latency", ""))
    payload = _PAYLOAD.match(settings.get("Message payload", ""))
    if throughput is None or payload is None or ("latency" in averages and latency is None):
        raise ParseError(_WHAT, "payload, throughput or latency is not a number", start + 1)
    connections = settings.get("Number of connections", "")
    if not re.match(r"^\d{1,6}$", connections):
        raise ParseError(_WHAT, "it does not tell the number of connections", start + 1)
    server, port = _command(lines, start, before)
    printed = latency.group(1) if latency else None
    return Test(
        server=server,
        port=port,
        mode=mode,
        payload=integer(payload.group(1).replace(",", "")) * _BYTES[payload.group(2).rstrip("s")],
        connections=integer(connections),
        duration=_seconds(settings.get("Test duration", "")),
        disk_write=settings.get("Disk write", "NO") != "NO",
        intervals=intervals,
        throughput=decimal_of_line(_WHAT, throughput.group(1), end) * 1024 * 1024,
        latency=_latency(printed, end),
        step=None if printed is None else 1000.0 * 10 ** -len(printed.partition(".")[2]),
        line=start + 1,
    )


def _seconds(text: str) -> Optional[int]:
    time = _TIME.match(text)
    return integer(time.group(1)) * _SECONDS[time.group(2)] if time else None


def _parts(
    lines: List[str], start: int, end: int
) -> Tuple[Dict[str, str], Dict[str, str], List[Interval]]:
    """The settings and the averages by name, and the intervals."""
    settings: Dict[str, str] = {}
    intervals: List[Interval] = []
    averages: Dict[str, str] = {}
    for number in range(start + 1, end):
        line = lines[number]
        match = _SETTING.match(line.rstrip())
        average = re.match(r"^\s+Avg\. (throughput|latency) = (.*\S)\s*$", line)
        interval = _INTERVAL.match(line)
        if average:
            averages[average.group(1)] = average.group(2)
        elif interval:
            intervals.append(
                Interval(
                    interval.group(1),
                    decimal_of_line(_WHAT, interval.group(2), number + 1) * 1024 * 1024,
                    _latency(interval.group(3), number + 1),
                )
            )
        elif match:
            settings.setdefault(match.group(1).rstrip(), match.group(2))
        elif "Mbytes/s" in line:
            raise ParseError(_WHAT, f"it is not a line of an interval: {kind_of(line)}", number + 1)
    return settings, averages, intervals


def _command(lines: List[str], start: int, before: int) -> tuple:
    """Server and port of the nearest command above, None where there is none."""
    for line in reversed(lines[before:start]):
        match = _COMMAND.search(line)
        if match and not match.group(1).startswith("-"):
            port = _PORT.search(match.group(2))
            return match.group(1), integer(port.group(1)) if port else None
    return None, None


def _latency(text: Optional[str], line: int) -> Optional[float]:
    return None if text is None else decimal_of_line(_WHAT, text, line) * 1000.0
