# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches with the regular expressions of a site, which can take any time."""

import re
from functools import partial
from typing import Any, Callable, List, Optional, Sequence

from ...collect import child
from ...collect.host import HIDDEN_LINE, matching_lines
from ...collect.masking_rules import BLANK
from ...errors import Unanswered

#: Seconds for the search of one pattern.
SECONDS = 5.0


def lines(text: str, pattern: str, name: str) -> str:
    """host.matching_lines with a time limit; Unanswered after it."""
    return str(_limited(partial(matching_lines, text, pattern, name), pattern))


def values(found: List[str], pattern: str) -> List[str]:
    """The first group, or the whole match, in each of the lines that match.

    Unanswered for a line whose match is a secret: what is not shown is not compared.
    """
    result = _limited(partial(_values, found, pattern), pattern)
    if None in result or any(BLANK in value for value in result):
        raise Unanswered(
            "", "the pattern matches a secret, and secrets are neither shown nor compared"
        )
    return [str(value) for value in result]


def are_found(pattern: str, values_there: Sequence[str]) -> bool:
    """Whether the pattern is found in every value."""
    found = partial(re.search, pattern)
    return bool(_limited(lambda: all(map(found, values_there)), pattern))


def _values(found: List[str], pattern: str) -> List[Optional[str]]:
    result: List[Optional[str]] = []
    for line in found:
        match = None if line == HIDDEN_LINE else re.search(pattern, line)
        if match is None:
            result.append(None)
        else:
            group = match.group(1) if match.re.groups else match.group(0)
            result.append((group or "").strip())
    return result


def _limited(work: Callable[[], object], pattern: str) -> Any:
    try:
        return child.call(work, SECONDS, "the search")
    except child.Late:
        raise Unanswered(
            "", f"the search for the pattern {pattern} took more than {SECONDS:g} seconds"
        ) from None
