# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Untrusted XML: a document type or an entity is rejected, and the depth is limited.

Source: "XML vulnerabilities" of the Python library. Without declared entities, expat cannot expand
any.
"""

from typing import Callable, Dict
from xml.parsers import expat

from ..errors import ParseError

_DEEPEST = 64


def read(
    what: str,
    text: str,
    begin: Callable[[str, Dict[str, str]], None],
    end: Callable[[str], None],
    data: Callable[[str], None],
) -> None:
    """Calls ``begin`` and ``end`` with names that have no prefix; ParseError names ``what``."""
    depth = 0

    def opened(name: str, attributes: Dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ParseError(what, f"elements are nested deeper than {_DEEPEST}")
        begin(name.rpartition(":")[2], attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name.rpartition(":")[2])

    def refused(*_given: object) -> None:
        raise ParseError(what, "it declares a document type, which no such file does")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.CharacterDataHandler = data
    parser.StartDoctypeDeclHandler = refused
    parser.EntityDeclHandler = refused
    try:
        parser.Parse(text.encode("utf-8", "surrogateescape"), True)
    except (expat.ExpatError, LookupError, ValueError) as problem:
        # Report only the line: the message and the text may contain a password.
        line = problem.lineno if isinstance(problem, expat.ExpatError) else 0
        raise ParseError(what, "it is malformed XML", line) from None
