# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines for whoever sits at a shell at three in the morning: one command, every word quoted."""

import shlex
from typing import Any


def line(*words: Any) -> str:
    """One command as one line that a shell takes as it is, whatever a host put into a word.

    A line break in a word would end the line for whoever copies it, and other control characters
    are obeyed by a terminal before the shell sees them: both are written in the shell's ``$'...'``.
    """
    return " ".join(quoted(word) for word in words)


def quoted(word: Any) -> str:
    """A word that a POSIX shell takes for just this text (bash, ksh for control characters)."""
    text = str(word)
    if all(character.isprintable() for character in text):
        return shlex.quote(text)
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def written(text: str, path: Any, append: bool = False) -> str:
    """The line that writes one line of text into a file."""
    return f"printf '%s\\n' {quoted(text)} {'>>' if append else '>'} {quoted(path)}"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    # Bytes that are no UTF-8 are in texts as surrogates.
    raw = character.encode(
        "utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "backslashreplace"
    )
    return "".join(f"\\x{byte:02x}" for byte in raw)
