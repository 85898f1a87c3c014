# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers as a host prints them, of a length that a number there can have.

No kernel and no database has a longer number. Newer Pythons do not convert more than
4,300 digits, older ones take time that grows with their square, and since 309 no float holds it.
"""

import json
import re
from typing import Any, Iterable, List

from ..errors import ParseError, kind_of

_WHAT = "number"

#: Characters. A counter of 64 bits has 20 digits, one of 128 bits 39, and its bits are 128.
LONGEST = 150


class NumberError(ParseError, ValueError):
    """Text that is no number that can be used."""


def integer(text: str, base: int = 10) -> int:
    """The number; NumberError for anything else."""
    _check_length(text)
    try:
        return int(text, base)
    except ValueError:
        raise NumberError(_WHAT, f"{kind_of(text)} is none") from None


def decimal(text: str) -> float:
    """The number, which is finite; NumberError for anything else."""
    _check_length(text)
    try:
        number = float(text)
    except ValueError:
        raise NumberError(_WHAT, f"{kind_of(text)} is none") from None
    if number - number != 0:
        raise NumberError(_WHAT, f"{kind_of(text)} is not finite")
    return number


def decimal_of_line(what: str, text: str, line: int) -> float:
    """A number of at most 20 characters without sign and exponent, from a line of ``what``."""
    if len(text) > 20 or not re.match(r"\d+(\.\d+)?\Z", text):
        raise ParseError(what, f"{kind_of(text)} is not a number", line)
    return decimal(text)


def decimals_of_line(what: str, texts: Iterable[str], line: int) -> List[float]:
    return [decimal_of_line(what, text, line) for text in texts]


def clipped(digits: str, base: int = 10) -> int:
    """The number to compare where any length is legal: one that is too long is a very large one."""
    digits = digits.lstrip("0") or "0"
    return integer(digits, base) if len(digits) <= LONGEST else 10**LONGEST


def json_tree(what: str, text: str) -> Any:
    """JSON whose numbers are finite; ParseError for anything else."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError) as problem:
        raise ParseError(what, f"no JSON: {problem}") from problem


def json_at(text: str, start: int) -> Any:
    """The JSON that begins at ``start``, whatever follows; ValueError for anything else."""
    try:
        return _DECODER.raw_decode(text, start)[0]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


_DECODER = json.JSONDecoder(parse_int=integer, parse_float=decimal, parse_constant=decimal)


def _check_length(text: str) -> None:
    if len(text) > LONGEST:
        raise NumberError(_WHAT, f"{kind_of(text)} is longer than {LONGEST}")
