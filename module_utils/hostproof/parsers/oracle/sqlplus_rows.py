# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sqlplus prints for the scripts of Hostproof (probes/oracle/oracle_parameters.py).

Rows are between a line that begins them and one that ends them, so that what glogin.sql prints
does no harm and an answer that was cut off is not an answer. A field is between bars; in it
``\\p`` is a bar, ``\\n`` a line end, ``\\s`` a backslash, ``\\0`` alone is null.
"""

import re
from typing import List, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of

BEGIN = "hostproof-begin"
END = "hostproof-end"
BAR = "|"

_WHAT = "sqlplus output"
_ESCAPES = {"\\p": BAR, "\\n": "\n", "\\s": "\\"}
_ERROR = re.compile(r"^(?:ORA|SP2|TNS)-\d+: .*$", re.MULTILINE)


class Row(NamedTuple):
    """``kind`` is the first field; a field that is null is None."""

    kind: str
    fields: Tuple[Optional[str], ...]


def parse(text: str) -> List[Row]:
    """Every row. ParseError where the answer is not whole, or holds anything but rows."""
    lines = text.replace("\r\n", "\n").split("\n")
    if BEGIN not in lines:
        raise ParseError(_WHAT, f"it does not begin with {BEGIN}")
    first = len(lines) - lines[::-1].index(BEGIN)
    if END not in lines[first:]:
        raise ParseError(_WHAT, f"it ends before {END}", len(lines))
    last = lines.index(END, first)
    numbered = list(enumerate(lines[first:last], first + 1))
    return [_row(line.rstrip(), number) for number, line in numbered if line.strip()]


def errors(text: str) -> List[str]:
    """The lines that name an error, such as ``ORA-01034: ORACLE not available``."""
    return [line.strip() for line in _ERROR.findall(text)]


def _row(line: str, number: int) -> Row:
    if len(line) < 3 or not (line.startswith(BAR) and line.endswith(BAR)):
        raise ParseError(_WHAT, f"not a row between bars: {kind_of(line)}", number)
    fields = [_field(field, number) for field in line[1:-1].split(BAR)]
    if not fields[0]:
        raise ParseError(_WHAT, "a row of no kind", number)
    return Row(fields[0], tuple(fields[1:]))


def _field(field: str, number: int) -> Optional[str]:
    if field == "\\0":
        return None
    if re.search(r"\\(?![pns])", field):
        raise ParseError(_WHAT, f"an escape that is none: {kind_of(field)}", number)
    return re.sub(r"\\[pns]", lambda match: _ESCAPES[match.group()], field)
