# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ioo -a and no -a of AIX print: a tunable per line, NAME = VALUE; and ifconfig -a. Sources:
AIX Commands Reference, ioo, no and ifconfig; Interface-specific network options."""

import re
from collections import OrderedDict
from typing import Dict

from ...errors import ParseError, kind_of

_WHAT = "tunables"
_OPTION = re.compile(r"(tcp_sendspace|tcp_recvspace|rfc1323) (\S+)")
_ROW = re.compile(r"^\s*([A-Za-z][A-Za-z0-9_%]*) = (\S.*)$")


def parse(text: str) -> Dict[str, str]:
    """The tunables in their order; lines that begin with # divide those that are restricted."""
    tunables: OrderedDict[str, str] = OrderedDict()
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _ROW.match(line.rstrip())
        if match is None:
            raise ParseError(_WHAT, f"{kind_of(line)} is not a tunable", number)
        tunables[match.group(1)] = match.group(2)
    if not tunables:
        raise ParseError(_WHAT, "tells no tunable")
    return tunables


def parse_interfaces(text: str) -> Dict[str, Dict[str, str]]:
    """The network options of each interface, which override tunables."""
    interfaces: OrderedDict[str, Dict[str, str]] = OrderedDict()
    for block in re.split(r"\n(?=\S)", text):
        name, flags, rest = block.partition(": flags=")
        if not flags or not name.isalnum():
            raise ParseError("ifconfig", f"{kind_of(block)} is not an interface")
        interfaces[name] = dict(_OPTION.findall(rest))
    return interfaces
