# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Links from the reference of a finding to the documents that it names.

A reference comes from a host and is untrusted. A link is built only from a number or a path of a
kernel document, and the rest of its address is constant.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from .text import printable

if TYPE_CHECKING:
    from markupsafe import Markup

_ORACLE = "https://docs.oracle.com/en/database/oracle/oracle-database/19/"

#: Titles of books as they are in references. Other releases have the same path with their number.
BOOKS = {
    "Oracle Database Installation Guide for Linux": _ORACLE + "ladbi/",
    "Oracle Grid Infrastructure Installation Guide for Linux": _ORACLE + "cwlin/",
    "Oracle Database Reference": _ORACLE + "refrn/",
}

_DOCUMENT = re.compile(
    r"\b(?:(?:MOS|My Oracle Support) (?P<note>[0-9]{4,8}\.[0-9])"
    r"|RFC (?P<rfc>[0-9]{3,5})"
    r"|kernel Documentation/(?P<kernel>[a-z0-9_-]+(?:/[a-z0-9_-]+){0,6})\.rst"
    f"|(?P<book>{'|'.join(map(re.escape, BOOKS))}))",
    re.ASCII,
)


@lru_cache(maxsize=4096)
def with_links(reference: str) -> Markup:
    """The reference as HTML: what it names is a link, everything else is escaped."""
    from markupsafe import Markup, escape

    parts = []
    end = 0
    for match in _DOCUMENT.finditer(reference):
        parts.append(escape(printable(reference[end : match.start()])))
        link = Markup('<a href="{}" rel="noreferrer">{}</a>')
        parts.append(link.format(_address(match), match.group()))
        end = match.end()
    parts.append(escape(printable(reference[end:])))
    return Markup("").join(parts)


def _address(match: re.Match[str]) -> str:
    if match["note"]:
        return f"https://support.oracle.com/epmos/faces/DocumentDisplay?id={match['note']}"
    if match["rfc"]:
        return f"https://www.rfc-editor.org/rfc/rfc{match['rfc']}"
    if match["kernel"]:
        return f"https://docs.kernel.org/{match['kernel']}.html"
    return BOOKS[match["book"]]
