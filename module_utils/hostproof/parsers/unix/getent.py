# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users, groups and hosts as getent prints them (getent(1), passwd(5), group(5), hosts(5))."""

import ipaddress
from typing import List, NamedTuple, Tuple

from ...errors import ParseError, kind_of
from ..number import integer


class Passwd(NamedTuple):
    """A user. gid is the primary group."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str
    gecos: str = ""


class Group(NamedTuple):
    """A group. members are the users who have it next to their primary group."""

    name: str
    gid: int
    members: List[str]


def parse_passwd(text: str) -> List[Passwd]:
    """Every user. Raises ParseError if there is none."""
    return [
        Passwd(
            fields[0],
            _number("passwd", fields[2], line),
            _number("passwd", fields[3], line),
            fields[5],
            fields[6],
            fields[4],
        )
        for line, fields in _rows("passwd", text, 7)
    ]


def parse_group(text: str) -> List[Group]:
    """Every group. Raises ParseError if there is none."""
    return [
        Group(
            fields[0],
            _number("group", fields[2], line),
            [member for member in fields[3].split(",") if member],
        )
        for line, fields in _rows("group", text, 4)
    ]


def parse_ahosts(text: str) -> Tuple[str, Tuple[str, ...]]:
    """Canonical name and addresses, in the order in which a program tries them."""
    rows = [line.split() for line in text.split("\n") if line.strip()]
    addresses = []
    for number, row in enumerate(rows, 1):
        try:
            addresses.append(str(ipaddress.ip_address(row[0].partition("%")[0])))
        except ValueError as problem:
            raise ParseError("getent ahosts", f"no address: {kind_of(row[0])}", number) from problem
    named = [row[2] for row in rows if len(row) > 2]
    return (named[0] if named else ""), tuple(dict.fromkeys(addresses))


def _rows(what: str, text: str, columns: int) -> List[Tuple[int, List[str]]]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        fields = line.split(":")
        if len(fields) != columns or not fields[0]:
            raise ParseError(what, f"not {columns} fields: {kind_of(line)}", number)
        rows.append((number, fields))
    if not rows:
        raise ParseError(what, "there is no entry")
    return rows


def _number(what: str, text: str, line: int) -> int:
    if not text.isdecimal():
        raise ParseError(what, f"not a number: {kind_of(text)}", line)
    return integer(text)
