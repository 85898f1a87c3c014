# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a file that is recorded as evidence, if a control needs only a few lines.

The other lines can contain passwords, in comments or in settings of other programs. The ``kept``
function of a parser returns the text with an empty line in the place of each line that the parser
does not use, so that line numbers stay correct. The parser returns the same result for both texts,
and ``kept`` does not change its own result.
"""

import re
from typing import Any, Callable, Dict, List

#: File systems of other machines whose options hold accounts and passwords.
_WITH_ACCOUNTS = re.compile(
    r"(?:cifs|smb\w*|ncpfs?|davfs\w*|afp\w*|ceph|glusterfs|9p|ftpfs|fuse|fuse\..+)\Z"
)


#: Stands for words that no control reads.
LEFT_OUT = "***"
#: A word of a command, and the parts of one. What separates them stays.
_WORD = re.compile(r"[^\s;&|<>()\"'`$\\]+")
_PART = re.compile(r"[\w.+-]+")
_LEFT_OUT_WORDS = re.compile(r"\*\*\*(?:[ \t]+\*\*\*)+(?![^\s;])")
#: Words that make a line readable and are never secrets.
_PLAIN = frozenset(
    (
        *("-c", "-w", "sysctl", "sh", "bash", "echo", "tee", "sudo", "su", "root"),
        *("if", "then", "fi", "for", "in", "do", "done", "usr", "bin", "sbin", "etc"),
    )
)
#: Longer lines are left to the masking: the time grows with the number of words.
_LONGEST = 4000


def needed_words(line: str, *readings: Callable[[str], object]) -> str:
    """The line of a command with LEFT_OUT for each word without which all ``readings`` are the
    same. The fast ones come first: they decide about most words.

    Words, and parts of words, which decide nothing can be secrets, whatever the program is.
    """
    if len(line) > _LONGEST:
        return line
    wanted = [reading(line) for reading in readings]
    # Most of the texts of a round are those of the round before.
    known = {line: True}

    def is_same(text: str) -> bool:
        if text not in known:
            known[text] = all(read(text) == result for read, result in zip(readings, wanted))
        return known[text]

    before = None
    while before != line:
        before = line
        for pattern in (_WORD, _PART):
            line = _without_words(line, pattern, is_same)
        squeezed = _LEFT_OUT_WORDS.sub(LEFT_OUT, line)
        line = squeezed if is_same(squeezed) else line
    return line


def _without_words(line: str, pattern: Any, is_same: Callable[[str], bool]) -> str:
    pieces: List[str] = []
    words: List[int] = []
    end = 0
    for match in pattern.finditer(line):
        pieces += [line[end : match.start()], match.group()]
        words.append(len(pieces) - 1)
        end = match.end()
    pieces.append(line[end:])
    waiting = [words]
    while waiting:
        chosen = [number for number in waiting.pop() if pieces[number] not in (LEFT_OUT, *_PLAIN)]
        if not chosen:
            continue
        trial = list(pieces)
        for number in chosen:
            trial[number] = LEFT_OUT
        if is_same("".join(trial)):
            pieces = trial
        elif len(chosen) > 1:
            half = len(chosen) // 2
            waiting += [chosen[half:], chosen[:half]]
    return "".join(pieces)


def only(text: str, keep: Callable[[str], bool]) -> str:
    """The lines to record."""
    return "\n".join([line if keep(line) else "" for line in text.split("\n")])


def numbered(lines: Dict[int, str]) -> str:
    """A text with these lines at their numbers, from 1."""
    result: List[str] = [""] * max(lines, default=0)
    for number, line in lines.items():
        result[number - 1] = line
    return "\n".join(result)


def options(fstype: str, text: str) -> str:
    """Mount options; without NAME=VALUE if the file system type uses an account."""
    if not _WITH_ACCOUNTS.match(fstype):
        return text
    return ",".join([word for word in text.split(",") if "=" not in word])
