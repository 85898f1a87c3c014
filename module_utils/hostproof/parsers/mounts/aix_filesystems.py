# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/etc/filesystems of AIX: stanzas of attributes. Source: AIX Files Reference, filesystems file."""

from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional

from ...errors import ParseError

_WHAT = "/etc/filesystems"


class Stanza(NamedTuple):
    """``name`` is the mount point (or "default"), ``line`` that of its name, from 1."""

    name: str
    line: int
    attributes: Dict[str, str]


def parse(text: str) -> List[Stanza]:
    """Every stanza, in order, without what a stanza "default" would add to it.

    Comments begin with "*". Raises ParseError at a line that is neither a name nor an attribute.
    """
    stanzas: List[Stanza] = []
    current: Optional[Stanza] = None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("*"):
            continue
        name, equals, value = line.partition("=")
        if not equals and line.endswith(":"):
            current = Stanza(line[:-1].strip(), number, OrderedDict())
            stanzas.append(current)
        elif not equals or not name.strip():
            raise ParseError(_WHAT, "it is neither a name nor an attribute", number)
        elif current is None:
            raise ParseError(_WHAT, "the attribute belongs to no stanza", number)
        else:
            current.attributes[name.strip()] = value.strip().strip('"')
    return stanzas
