# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Multipath maps of the kernel, and the queueing time that multipathd sets for each.

Sources: Linux, drivers/md/dm-mpath.c, multipath_status(); dmsetup(8); multipath-tools,
libmultipath/print.c (%Q, snprint_queueing) and multipath.conf(5), no_path_retry.
"""

import re
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers import kept_lines
from ....parsers.number import integer

_WHAT = "dmsetup"
_INTERVAL = re.compile(r"^[ \t]*polling_interval[ \t]+\"?(\d{1,6})\"?[ \t]*$", re.MULTILINE)
_FIND = re.compile(r"^[ \t]*find_multipaths[ \t]+\"?([a-z]{1,9})\"?[ \t]*$", re.MULTILINE)
_FAST_FAIL = re.compile(r"^[ \t]*fast_io_fail_tmo[ \t]+\"?(\d{1,6})\"?[ \t]*$", re.MULTILINE)
_QUEUEING = re.compile(r"(\S+)\s+(on|off|-|\d{1,9} (?:chk|sec))\s*\Z")


class Queueing(NamedTuple):
    """Queueing without paths. ``kind`` is on (unlimited), off, chk (``number`` checks), sec
    (``number`` seconds remain), or "-" (the table of the map applies)."""

    kind: str
    number: int


def tables(text: str) -> Dict[str, bool]:
    """Parse ``dmsetup table --target multipath``: whether a map queues without a path, by name."""
    by_name = {}
    for name, words in _lines(text):
        count = integer(words[0])
        by_name[name] = "queue_if_no_path" in words[1 : 1 + count]
    return by_name


def states(text: str) -> Dict[str, Dict[str, bool]]:
    """Parse ``dmsetup status --target multipath``: the paths of each map, and whether each works.

    A path is "8:0".
    """
    return {name: _paths(words) for name, words in _lines(text)}


def _lines(text: str) -> Iterator[Tuple[str, List[str]]]:
    """Name of each map, and the words after "multipath"."""
    for number, line in enumerate(text.splitlines(), 1):
        name, colon, rest = line.partition(": ")
        words = rest.split()
        if line.strip() in ("", "No devices found"):
            continue
        if not colon or len(words) < 4 or words[2] != "multipath":
            raise ParseError(_WHAT, f"no multipath map: {kind_of(line)}", number)
        yield name, words[3:]


def _paths(words: List[str]) -> Dict[str, bool]:
    left = iter(words)

    def skip() -> None:
        for _ in range(integer(next(left))):
            next(left)

    active: Dict[str, bool] = {}
    try:
        skip()  # features: queued requests, and initialisations of a group
        skip()  # hardware handler
        groups = integer(next(left))
        next(left)  # number of the next group
        for _ in range(groups):
            next(left)  # the group's state
            skip()
            paths, arguments = integer(next(left)), integer(next(left))
            for _path in range(paths):
                device, state = next(left), next(left)
                next(left)  # number of failures
                for _argument in range(arguments):
                    next(left)
                active[device] = state == "A"
    except StopIteration:
        raise ParseError(_WHAT, "a multipath map ends too early") from None
    return active


def queueing(text: str) -> Dict[str, Queueing]:
    """Parse ``multipathd show maps format "%w %Q"``: queueing by the map's WWID."""
    by_uuid = {}
    for line in text.splitlines():
        match = _QUEUEING.match(line.strip())
        if match is not None:
            number, _, unit = match.group(2).rpartition(" ")
            by_uuid[match.group(1)] = Queueing(unit, integer(number or "0"))
    return by_uuid


def kept_config(text: str) -> str:
    """The part of the configuration that is stored as evidence (kept_lines.py)."""
    patterns = (_INTERVAL, _FIND, _FAST_FAIL)
    return kept_lines.only(text, lambda line: any(pattern.match(line) for pattern in patterns))


def polling_interval(text: str) -> Optional[int]:
    """Seconds between two checks of a path in ``multipathd show config``."""
    match = _INTERVAL.search(text)
    return None if match is None else integer(match.group(1))


def find_multipaths(text: str) -> Optional[str]:
    """The value in ``multipathd show config``: of the file, or of the program."""
    match = _FIND.search(text)
    return None if match is None else match.group(1)


def fast_fail(text: str) -> FrozenSet[int]:
    """Each fast_io_fail_tmo in ``multipathd show config``: seconds, also of an iSCSI session."""
    return frozenset(integer(match.group(1)) for match in _FAST_FAIL.finditer(text))
