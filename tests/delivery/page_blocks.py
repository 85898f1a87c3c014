"""The blocks of a page: fenced ones, and indented commands of ./hostproof."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PART = re.compile(
    r"^(?:## (?P<section>[^\n]+)$|(?:<!-- not run: (?P<reason>[^\n]+) -->\n\n)?"
    r"(?:```(?P<kind>\w+)\n(?P<text>.*?)^```$|(?P<lines>(?:    \./hostproof [^\n]*\n)+)))",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """``reason`` is that of a comment ``not run: REASON`` before the block. The kind of indented
    commands is sh."""

    section: str
    kind: str
    text: str
    reason: str | None


def blocks(page: Path) -> Iterator[Block]:
    section = ""
    for match in _PART.finditer(page.read_text()):
        if match["section"]:
            section = match["section"]
        else:
            text = match["text"] or match["lines"] or ""
            yield Block(section, match["kind"] or "sh", text, match["reason"])
