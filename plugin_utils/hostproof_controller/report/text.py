# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text from hosts, made safe to show: a host can answer any bytes at all."""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from re import Match
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import subject_of

from ..layout import COLLECTION, IS_CHECKOUT, IS_COLLECTION

#: Characters that control a terminal, that XML forbids or that are invisible: control characters
#: other than tab and newline, zero-width and direction marks, lone surrogates, non-characters.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)


#: Characters of a text that is worth remembering; thousands of them take some megabytes.
_SHORT = 400


def printable(text: str) -> str:
    """The text with every character that cannot be shown written out (``\\x1b``, ``\\u202e``)."""
    # Nearly every text: nothing of the above is printable to Python, and it knows at once.
    if text.isprintable():
        return text
    return _UNSHOWABLE.sub(_written_out, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Printable text with every run of white space as one space."""
    return " ".join(printable(text).split())


def heading_of(finding: dict[str, Any]) -> str:
    """Heading of a finding: subject and problem, or the title of the check."""
    problem: str | None = finding["problem"]
    if not problem:
        return str(finding["title"])
    subject = subject_of(finding["title"])
    return f"{subject}: {problem}" if subject else problem


def fix_of(finding: dict[str, Any]) -> str | None:
    """The advice and, a line each, the commands of a finding as a text to show; None for none."""
    lines = [finding["fix"]] if finding["fix"] else []
    return as_typed("\n".join(lines + finding["commands"])) or None


#: What ./hostproof does by a playbook that the collection has too; a gate is the command's own.
_BY_PLAYBOOK = re.compile(
    r"\./hostproof (apply|audit|detect-storage|latency (?:baseline|compare)|record|revert|verify)\b"
    r"(?![^\n]* --gate)"
)


def as_typed(advice: str) -> str:
    """The advice as its reader can follow it: an installed collection has no ./hostproof."""
    if IS_CHECKOUT:
        return advice
    if not IS_COLLECTION:
        return advice.replace("./hostproof", "hostproof")
    return _BY_PLAYBOOK.sub(
        lambda call: f"ansible-playbook {COLLECTION}{_playbook(call[1])}", advice
    )


def _playbook(command: str) -> str:
    return command.removeprefix("latency ").replace("-", "_")


#: Command that lists the hosts; ansible-playbook has the same option.
LISTS_HOSTS = "./hostproof audit -i INVENTORY --list-hosts"


def remembered(function: Callable[[str], str]) -> Callable[[str], str]:
    """The same function with a cache for short texts, which repeat often."""
    kept = lru_cache(maxsize=8192)(function)

    @wraps(function)
    def answer(text: str) -> str:
        return kept(text) if len(text) <= _SHORT else function(text)

    return answer


def shorten(text: str, width: int) -> str:
    """The text cut to ``width`` characters, the cut marked."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _written_out(match: Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00  # a byte that was not UTF-8, as surrogateescape keeps it
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
