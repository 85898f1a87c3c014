# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thresholds of steps in ntp.conf, which override -x of ntpd.

Source: ntp_misc(5), tinker; ntpd parses its options before its configuration (ntp_config.c).
"""

import re
from typing import List, NamedTuple

from ....errors import ParseError, kind_of
from ....parsers import kept_lines

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?\Z")
_STEPS = ("step", "stepback", "stepfwd")
#: The threshold in seconds that -x sets.
_SLEWS = 600


class Threshold(NamedTuple):
    """``steps``: ntpd may step the clock; without, it slews even large offsets."""

    steps: bool
    text: str


def thresholds(text: str, path: str) -> List[Threshold]:
    """In the order of the file. Raises ParseError for what is no number."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].split()
        if words[:1] != ["tinker"]:
            continue
        for option, value in zip(words[1::2], words[2::2]):
            if option in _STEPS:
                if not _NUMBER.match(value):
                    message = f"{option} {kind_of(value)} is not a number"
                    raise ParseError(path, message, number)
                steps = 0 < float(value) < _SLEWS
                # The others leave the threshold of the other direction as it is.
                if steps or option == "step":
                    found.append(Threshold(steps, f"{path}:{number} (tinker {option} {value})"))
    return found


def included(text: str) -> List[str]:
    """The files that a file includes. A relative path is below /, where its unit starts ntpd."""
    names = re.findall(r"^[ \t]*includefile[ \t]+\"?/*([^\s\"]+)", text, re.MULTILINE)
    return ["/" + name for name in names]


def kept(text: str) -> str:
    """The part of a file that evidence keeps (kept_lines.py)."""
    return kept_lines.only(text, lambda line: line.split()[:1] in (["tinker"], ["includefile"]))
