# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Output of net-snmp's snmpget, snmpgetnext and snmpbulkwalk with ``-m '' -On -Ox -Ot -Oe``.

In this form no value is lost: numeric OIDs, every string as hexadecimal (a sysDescr with line
breaks, quotes or bytes that are no text stays one value), ticks and enumerations as numbers.
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

#: How the tool says that the agent has no such value (RFC 3416, section 3).
_MISSING = (
    "No Such Object available on this agent at this OID",
    "No Such Instance currently exists at this OID",
    "No more variables left in this MIB View",
)
#: What snmpwalk prints for SNMPv1, where an error says so (apps/snmpwalk.c).
_END_OF_TREE = "End of MIB"
_NUMBERS = ("INTEGER", "Integer32", "Counter32", "Gauge32", "Counter64", "Timeticks", "UInteger32")
_STRINGS = ("Hex-STRING", "BITS")
#: Ticks carry no type name with -Ot; IpAddress and the rest are text as they stand.
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,20}$")

#: Bytes of output that are more than any answer of an agent (a UDP datagram in hexadecimal).
LIMIT = 4 * 1024 * 1024

Data = Union[bytes, int, str]


class Value(NamedTuple):
    """``data`` is bytes for strings, int for numbers, str for OIDs (no leading dot) and others."""

    kind: str
    data: Data

    @property
    def text(self) -> str:
        """For people and for patterns: strings as UTF-8, what is none of it as \\xNN."""
        if isinstance(self.data, bytes):
            return self.data.rstrip(b"\0").decode("utf-8", "backslashreplace")
        return str(self.data)


def parse(text: str) -> Dict[str, Optional[Value]]:
    """OID (no leading dot) to its Value, None where the agent states that it has none.

    The first answer for an OID counts: a value behind "No Such Object" is none. At the end of an
    agent's tree the tool shows the last OID again, with "No more variables left": that takes no
    value away and gives way to one.
    """
    found: Dict[str, Optional[Value]] = {}
    ended = set()
    for oid, raw, line in _rows(text):
        if raw.startswith(_MISSING[-1]):
            if oid not in found:
                ended.add(oid)
                found[oid] = None
        elif oid not in found or oid in ended:
            ended.discard(oid)
            found[oid] = _value(raw, line)
        else:
            _value(raw, line)
    return found


def parse_answer(text: str) -> Tuple[Dict[str, Optional[Value]], bool]:
    """The same of what the tool wrote to its end, and whether the agent states that its tree
    ends."""
    found = parse(text)
    if text and not text.endswith("\n"):
        raise ParseError(_WHAT, "ends in the middle of a line", text.count("\n") + 1)
    last = text.rstrip("\n").rpartition("\n")[2]
    return found, last.strip() == _END_OF_TREE or _MISSING[-1] in last


def _rows(text: str) -> List[Tuple[str, str, int]]:
    """OID, what is behind it, and the number of its line."""
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
