# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sections of a file of supportconfig (bin/supportconfig of supportutils).

A section begins with ``#==[ Command ]===#`` or ``#==[ Configuration File ]===#`` and a line
``# NAME``. A file without one on the host has the line ``# NAME - File not found``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = re.compile(r"^#==\[ ([A-Za-z ]+?) \]=+#?$")
_MOST_OF_A_NAME = 1024
_MISSING = " - File not found"
_COMMAND = "Command"
_FILE = "Configuration File"


class Sections(NamedTuple):
    """Texts of files by path, paths without a file, and output of commands by their words."""

    files: dict[str, str]
    missing: set[str]
    outputs: dict[str, str]


def parse(text: str) -> Sections:
    """The first section of each name counts."""
    sections = Sections({}, set(), {})
    kind = name = ""
    lines: list[str] = []
    previous = ""
    for line in [*text.splitlines(), "#==[ End ]==#"]:
        head = _HEAD.match(line)
        if head:
            _add(sections, kind, name, lines)
            kind, name, lines = head[1], "", []
        elif _HEAD.match(previous) and line.startswith("# "):
            name = line[2:].strip()[:_MOST_OF_A_NAME]
        else:
            lines.append(line)
        previous = line
    return sections


def _add(sections: Sections, kind: str, name: str, lines: list[str]) -> None:
    if name.endswith(_MISSING):
        sections.missing.add(name.removesuffix(_MISSING))
        return
    # A blank line ends a section.
    text = "\n".join(lines[:-1] if lines and not lines[-1] else lines)
    text += "\n" if text else ""
    if kind == _FILE and name.startswith("/"):
        sections.files.setdefault(name, text)
    elif kind == _COMMAND and name:
        program, _, rest = name.partition(" ")
        words = program.rpartition("/")[2] + (" " + rest if rest else "")
        sections.outputs.setdefault(words, text)
