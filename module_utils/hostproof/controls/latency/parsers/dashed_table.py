# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables as SQL*Plus prints them: a line of dashes says where each column begins and ends.

Names are cut off at the end of their column and cells are left empty, so that only the positions
tell which value belongs where. Nothing may be between two columns.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ....parsers.number import decimal, integer

_DASHES = re.compile(r"^ *-+(?: +-+)+ *$")
_RUN = re.compile(r"-+")
_NUMBER = re.compile(r"^([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(\.[0-9]*)?([KMGTP])?$")
_SCIENTIFIC = re.compile(r"^([0-9]+)(\.[0-9]+)?E([+-][0-9]+)$")
_LONGEST = 30
_SCALE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}


class Printed(NamedTuple):
    """A number and ``step``, the place value of its last digit: it is known no better."""

    value: float
    step: float

    def times(self, factor: float) -> "Printed":
        return Printed(self.value * factor, self.step * factor)


def value_of(printed: Optional[Printed]) -> Optional[float]:
    return None if printed is None else printed.value


def columns(line: str) -> List[Tuple[int, int]]:
    """Where the columns begin and end, of a line of at least two runs of dashes; else nothing."""
    if not _DASHES.match(line):
        return []
    return [match.span() for match in _RUN.finditer(line)]


def cells(line: str, spans: List[Tuple[int, int]]) -> Optional[List[str]]:
    """The cells without the blanks around them; None where text is between two columns."""
    end = 0
    texts = []
    for begin, stop in spans:
        if line[end:begin].strip():
            return None
        texts.append(line[begin:stop].strip())
        end = stop
    return None if line[end:].strip() else texts


def number(text: str) -> Optional[Printed]:
    """1,234 or .5 or 35.9K (thousands) or 1.718E+08; None for anything else."""
    if len(text) > _LONGEST:
        return None
    match = _SCIENTIFIC.match(text)
    if match:
        whole, decimals, exponent = match.groups()
        # An exponent of three digits is not a count of anything, and no float either.
        if abs(integer(exponent)) > 99:
            return None
        return Printed(decimal(text), 10.0 ** (integer(exponent) - len(decimals or ".") + 1))
    match = _NUMBER.match(text)
    if match is None or not any(character.isdigit() for character in text):
        return None
    whole, decimals, unit = match.groups()
    scale = _SCALE[unit or ""]
    value = decimal((whole or "0").replace(",", "") + (decimals or "").rstrip("."))
    return Printed(value * scale, scale * 10.0 ** (1 - len(decimals or ".")))
