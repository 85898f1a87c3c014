# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command lines to copy into a shell: one command per line, every word quoted."""

import shlex


def line(*words: object) -> str:
    """One command as one line that a shell reads literally, regardless of the words of a host.

    A line break in a word would end the line when it is copied, and a terminal interprets other
    control characters before the shell does. Both are written as ``$'...'``.
    """
    return " ".join(quoted(word) for word in words)


def line_as(account: str, *words: object) -> str:
    """A program that this account can change: root must run it with the rights of the account."""
    return line("runuser", "-u", account, "--", *words)


def quoted(word: object) -> str:
    """A word that a POSIX shell takes for just this text (bash, ksh for control characters)."""
    text = str(word)
    if all(character.isprintable() for character in text):
        return shlex.quote(text)
    return "$'" + "".join(_escaped(character) for character in text) + "'"


def written(text: str, path: object, append: bool = False) -> str:
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
