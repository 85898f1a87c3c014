# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/net/snmp and /proc/net/netstat: counters of IP, TCP and UDP of the whole host.

Each group is two lines of as many words: "Tcp: NAME NAME ..." and "Tcp: NUMBER NUMBER ...".
Source: kernel net/ipv4/proc.c, snmp_seq_show() and netstat_seq_show(); RFC 4293, RFC 4022.
"""

from typing import Dict

from ...errors import ParseError
from ..number import integer

_WHAT = "/proc/net/snmp"


def parse(text: str) -> Dict[str, Dict[str, int]]:
    """Counters by group ("Tcp") and name ("RetransSegs")."""
    lines = [(number, line.split()) for number, line in enumerate(text.split("\n"), 1) if line]
    groups: Dict[str, Dict[str, int]] = {}
    for (number, names), (_, values) in zip(lines[::2], lines[1::2]):
        if not names or names[:1] != values[:1] or len(names) != len(values):
            raise ParseError(_WHAT, "the names have no line of numbers", number)
        try:
            counters = [integer(value) for value in values[1:]]
        except ValueError:
            raise ParseError(_WHAT, "a counter is not a number", number + 1) from None
        groups[names[0].rstrip(":")] = dict(zip(names[1:], counters))
    if not groups or len(lines) % 2:
        raise ParseError(_WHAT, "is not made of pairs of lines")
    return groups
