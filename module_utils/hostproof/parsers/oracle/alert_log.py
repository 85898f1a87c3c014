# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The timestamps of an alert log and of trace files, on separate lines before their entries.

Up to 12.1, and with UNIFORM_LOG_TIMESTAMP_FORMAT false: ``Wed Sep 10 09:58:17 2014``, in the time
zone of the host; some releases insert the name of the zone. Since 12.2:
``2019-03-02T10:00:00.123456+01:00``. A trace file has ``*** `` in front. Source: Oracle Database
Reference, UNIFORM_LOG_TIMESTAMP_FORMAT; tests/fixtures/alert_log/SOURCES.md.
"""

import re
from typing import Optional, Tuple

from ..number import integer

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_WORDS = re.compile(
    r"^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d)"
    r"(?: \S+)? (\d{4})$"
)
_ISO = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)\.\d+(?: ?([+-])(\d\d):(\d\d))?$")
_STARS = re.compile(r"^\*\*\* (?:.*\) )?(?=\d{4}-\d\d-\d\d[T ])")


def is_time(line: str) -> bool:
    """Whether a line is a time and nothing else."""
    return moment(line, 0) is not None


def moment(line: str, offset: int) -> Optional[float]:
    """Seconds since 1970, None for a line that is no time. ``offset``: seconds that the host's
    clock is before UTC, for a time that names no zone."""
    line = _STARS.sub("", line)
    words = _WORDS.match(line)
    if words is not None and words.group(1) in _MONTHS:
        month = str(_MONTHS.index(words.group(1)) + 1)
        return _seconds((words.group(6), month) + words.group(2, 3, 4, 5), offset)
    iso = _ISO.match(line)
    if iso is None:
        return None
    if iso.group(7) is not None:
        offset = integer(iso.group(8)) * 3600 + integer(iso.group(9)) * 60
        offset = -offset if iso.group(7) == "-" else offset
    return _seconds(iso.group(1, 2, 3, 4, 5, 6), offset)


def _seconds(fields: Tuple[str, ...], offset: int) -> Optional[float]:
    # Imported here: few hosts of an audit have an alert log, and the import takes 4 ms.
    import calendar

    year, month, day, hour, minute, second = (integer(field) for field in fields)
    try:
        return float(calendar.timegm((year, month, day, hour, minute, second)) - offset)
    except ValueError:
        return None  # no day of any calendar
