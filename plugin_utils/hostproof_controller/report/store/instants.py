# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The instants of a host result: whether they are valid, and how far they are apart."""

import calendar
import datetime
import re
import time
from functools import lru_cache
from typing import Any

from ..host_state import HostState

#: Seconds that a run may need between its last read on a host and the line about that host.
_MOMENT = 5

#: Seconds by which the clocks of two controllers may differ.
_SKEW = 300
_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")
NEVER = "1970-01-01T00:00:00Z"


def recorded_apart(state: HostState) -> list[str | None]:
    """The instants at which evidence of a host was recorded, where that is not when it was checked.

    None represents evidence that does not say when.
    """
    apart: dict[str | None, None] = {}
    for part in state.parts:
        at = part.line["recorded_at"]
        if at is None:
            unknown = part.line["outcome"] == "judged" and part.line["evidence"] is not None
        else:
            unknown = False
        if unknown or (at is not None and abs(_seconds(at) - _seconds(part.line["at"])) > _MOMENT):
            apart[at] = None
    return sorted(apart, key=str)


@lru_cache(maxsize=1024)
def _seconds(instant: str) -> int:
    return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))


def is_instant(value: Any) -> bool:
    return isinstance(value, str) and _INSTANT.match(value) is not None and _is_time(value)


@lru_cache(maxsize=1024)
def _is_time(text: str) -> bool:
    try:
        datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def is_future(instant: str) -> bool:
    """Whether no clock says so yet: such a result would win over all that are still to come."""
    return _seconds(instant) > time.time() + _SKEW
