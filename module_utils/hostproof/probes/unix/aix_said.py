# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands of AIX print, and its tunables. Source: AIX Commands Reference, ioo and no."""

from typing import Dict, List

from ...collect.host import Host
from ...errors import Unanswered, kind_of
from ...parsers.number import clipped
from ...parsers.unix import ioo

IOO = ["ioo", "-a"]


def tunables(host: Host, argv: List[str] = IOO) -> Dict[str, str]:
    try:
        return ioo.parse(host.read_output(argv))
    except Unanswered as problem:
        # The manual of ioo: only root may run it, also to look.
        raise Unanswered(problem.key, f"{problem}; run it as root") from problem


def number(values: Dict[str, str], name: str, key: str) -> int:
    """The number that ``key`` gives a name; Unanswered if there is none."""
    if name not in values:
        raise Unanswered(key, f"{name} is not in its answer")
    words = values[name].split()
    if not words or not words[0].isdecimal():
        raise Unanswered(key, f"{name} is {kind_of(values[name])}, no number")
    return clipped(words[0])
