# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of net-snmp's snmpget, snmpgetnext and snmpbulkwalk with ``-m '' -On -Ox -Ot -Oe``.

These options lose no data. OIDs are numeric, and ticks and enumerations are numbers. Strings are
hexadecimal: a sysDescr with line breaks, quotes or binary bytes remains one value.
Source: net-snmp snmpcmd(1), OUTPUT OPTIONS; snmplib/mib.c, sprint_realloc_by_type.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from ..errors import ParseError, kind_of
from ..parsers.number import integer

_WHAT = "output of the SNMP tool"
_ROW = re.compile(r"\.?([0-9]+(?:\.[0-9]+)*) = ?(.*)$")
_HEX = re.compile(r"(?:[0-9A-Fa-f]{2}(?: |$))*$")
_TYPED = re.compile(r"([A-Za-z][\w-]*(?: Address)?): ?(.*)$")

#: Output of the tool for a value that the agent does not have (RFC 3416, section 3).
_MISSING = (
    "No Such Object available on this agent at this OID",
    "No Such Instance currently exists at this OID",
    "No more variables left in this MIB View",
)
#: Output of snmpwalk with SNMPv1, which reports the end of the tree as an error (apps/snmpwalk.c).
_END_OF_TREE = "End of MIB"
_NUMBERS = ("INTEGER", "Integer32", "Counter32", "Gauge32", "Counter64", "Timeticks", "UInteger32")
_STRINGS = ("Hex-STRING", "BITS")
#: Ticks have no type name with -Ot. IpAddress and the other types are text.
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,20}$")

#: Limit of the output in bytes. No valid answer is longer (a UDP datagram in hexadecimal).
LIMIT = 4 * 1024 * 1024

Data = Union[bytes, int, str]


class Value(NamedTuple):
    """``data`` is bytes for strings, int for numbers, str for OIDs (no leading dot) and others."""

    kind: str
    data: Data

    @property
    def text(self) -> str:
        """The value as text for messages and patterns: UTF-8, invalid bytes as \\xNN."""
        if isinstance(self.data, bytes):
            return self.data.rstrip(b"\0").decode("utf-8", "backslashreplace")
        return str(self.data)


def parse(text: str) -> Dict[str, Optional[Value]]:
    """OID (no leading dot) to its Value. None: the agent reports that it has no value.

    The first answer for an OID counts: a value after "No Such Object" is ignored. At the end of an
    agent's tree, the tool prints the last OID again with "No more variables left". This line never
    replaces a value, and a later value replaces it.
    """
    values: Dict[str, Optional[Value]] = {}
    ended = set()
    for oid, raw, line in _rows(text):
        if raw.startswith(_MISSING[-1]):
            if oid not in values:
                ended.add(oid)
                values[oid] = None
        elif oid not in values or oid in ended:
            ended.discard(oid)
            values[oid] = _value(raw, line)
        else:
            _value(raw, line)
    return values


def parse_answer(text: str) -> Tuple[Dict[str, Optional[Value]], bool]:
    """The values of a complete output, and whether the agent reported the end of its tree."""
    values = parse(text)
    if text and not text.endswith("\n"):
        raise ParseError(_WHAT, "ends in the middle of a line", text.count("\n") + 1)
    last = text.rstrip("\n").rpartition("\n")[2]
    return values, last.strip() == _END_OF_TREE or _MISSING[-1] in last


def _rows(text: str) -> List[Tuple[str, str, int]]:
    """OID, raw value and line number of each row."""
    if len(text) > LIMIT:
        raise ParseError(_WHAT, f"longer than {LIMIT} bytes, not read")
    rows: List[Tuple[str, str, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ROW.match(line)
        if match is not None:
            rows.append((match.group(1), match.group(2).strip(), number))
        elif line.strip() == _END_OF_TREE:
            break
        elif line.strip():
            if not rows or not rows[-1][1].startswith(_STRINGS):
                raise ParseError(_WHAT, f"{kind_of(line)} is not understood", number)
            oid, pending, started = rows[-1]
            rows[-1] = (oid, pending + " " + line, started)
    return rows


def _value(text: str, line: int) -> Optional[Value]:
    text = text.strip()
    if text.startswith(_MISSING):
        return None
    if text == '""':
        return Value("string", b"")
    if _PLAIN_NUMBER.match(text):
        return Value("number", integer(text))
    match = _TYPED.match(text)
    if match is None:
        if text == "NULL":
            return None
        raise ParseError(_WHAT, f"value {kind_of(text)} is not understood", line)
    kind, rest = match.groups()
    if kind in _STRINGS:
        return Value("string", _bytes(rest, line))
    if kind in _NUMBERS:
        if not _PLAIN_NUMBER.match(rest):
            raise ParseError(_WHAT, f"{kind} {kind_of(rest)} is not a number", line)
        return Value("number", integer(rest))
    if kind == "OID":
        return Value("oid", rest.lstrip("."))
    return Value("other", rest)


def _bytes(text: str, line: int) -> bytes:
    joined = " ".join(text.split())
    if not _HEX.match(joined):
        raise ParseError(_WHAT, f"{kind_of(joined)} are not whole bytes", line)
    return bytes(bytearray.fromhex(joined))
