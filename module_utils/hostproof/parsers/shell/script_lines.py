# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What decides the effects of a script on kernel settings: which lines matter, which are reached,
which evidence keeps.

Source: POSIX.1, Shell Command Language, 2.9.
"""

import re
from typing import List, Optional

from .. import kept_lines
from .command_effects import effects
from .shell_words import KEYWORDS, SHELLS, TEXT_OPTION, Simple, joined, printed, split, unwrapped


def _begins(word: str) -> str:
    """The word where no letter precedes it. With ``\\b`` before it, a search takes six times as
    long, because ``re`` cannot select alternatives by their first letter."""
    return rf"{word}(?<!\w{word})"


#: Lines that may set kernel settings. Other lines are not checked (host.find_lines).
INTERESTING = (
    _begins("sysctl")
    + r"(?:\s|$|[\"'{,])|systemd-sysctl\b(?!\.service$)|"
    + _begins("hugeadm")
    + r"\b|"
    + _begins("proc")
    + r"/[/.]*sys\b|"
    + _begins("sys/kernel/mm/")
    + rf"|(?:(?:{_begins('cd')}|{_begins('pushd')})\s|{_begins('WorkingDirectory')}\s*="
    + rf"|{_begins('BindPaths')}\s*=)\s*[-\"']*/+(?:proc|sys)\b"
    + rf"|{_begins('tuned-adm')}\s|{_begins('sys/module/sunrpc/')}"
    + rf"|{_begins('nr_')}(?:overcommit_)?hugepages|{_begins('hugetlb_shm_group')}\b"
    + rf"|transparent_hugepage|{_begins('procps')}\b|{_begins('SYSCTL')}\{{"
)
#: From here on it is not certain that a line of a script is reached.
_BRANCH = re.compile(
    r"(?:^|[;&|\s])(?:if|for|while|until|case|select|function|trap|return|exec|break|continue|set"
    r"|source|\.)(?:\s|$)|\(\)|<<|&&|\|\||[{(]\s*$|^\s*[{(]"
)
#: They represent lines that evidence does not keep. After the second kind it is not certain that
#: a line is reached.
_LEFT_OUT, _BRANCH_LEFT_OUT = ":  # left out", "if :  # left out"
_UNREAD_LEFT_OUT = "./left-out"


def is_plain(line: str) -> bool:
    """Whether a line is one command that a shell runs whatever happens."""
    return len(split(line)) == 1 and not _BRANCH.search(line)


def reached(lines: List[str], number: int) -> Optional[bool]:
    """Whether a script of those lines surely runs line ``number`` (from 1); None: unsure.

    It is sure where the lines before hold no control structure, and unsure after a command of a
    script that ends at the first failure (-e).
    """
    stops = bool(lines) and re.match(r"#!\s*\S+(?:\s+\S+)?\s+-\w*e", lines[0]) is not None
    for text in lines[: number - 1]:
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        if re.match(r"exit\b", text):
            return False
        if stops or _BRANCH.search(text) or text.endswith("\\"):
            return None
    return True if is_plain(lines[number - 1]) else None


def calls_unread(line: str) -> bool:
    """Whether a line runs a script whose path or text it does not give: a relative or a variable
    path, or what a command writes into a shell."""
    before: Optional[Simple] = None
    for command in split(line):
        words = unwrapped([word for word in command.words if word not in KEYWORDS])
        if words and _runs_unread(words, before):
            return True
        before = command if command.piped else None
    return False


def _runs_unread(words: List[str], before: Optional[Simple]) -> bool:
    if words[0].rpartition("/")[2] not in (*SHELLS, ".", "source"):
        path = r"\.{1,2}/|[\w.-]+(?:/|\.sh$)|\0|.*run-parts$"
        return re.match(path, words[0], re.ASCII) is not None
    scripts = [word for word in words[1:] if TEXT_OPTION.match(word) or not word.startswith("-")]
    if not scripts:
        return before is not None and _writes_unread(unwrapped(list(before.words)))
    if TEXT_OPTION.match(scripts[0]):
        return calls_unread(" ".join(scripts[1:2]))
    return not scripts[0].startswith("/")


def _writes_unread(words: List[str]) -> bool:
    """Whether a command writes into a shell what is not known, or a call of what is not known."""
    script = printed(words)
    if script is not None:
        return calls_unread(script)
    return words[:1] != ["cat"] or not all(name.startswith("/") for name in words[1:])


def kept(text: str) -> str:
    """The part of a script that evidence keeps (kept_lines.py): what can set something, and what
    decides whether that is reached."""
    lines = [_kept_line(number, line) for number, line in enumerate(joined(text))]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def shortened(line: str) -> str:
    """The words of a line of a script that decide its effects and whether it is reached."""
    return kept_lines.needed_words(line, _reading)


#: What no effect tells: the profile of TuneD, and the number of pages of hugeadm.
NAMED = re.compile(r"\btuned-adm\s+\w+\s+[\w-]+|--pool-pages-\w+[=\s]+\w+:[\w+-]+")


def _reading(line: str) -> object:
    text = line.strip()
    return (
        NAMED.findall(line),
        effects(line),
        calls_unread(line),
        is_plain(line),
        _BRANCH.search(text) is not None,
        re.match(r"exit\b|#", text) is not None,
        re.search(INTERESTING, line) is not None,
    )


def _kept_line(number: int, line: str) -> str:
    text = line.strip()
    if number == 0 and text.startswith("#!"):
        return line
    if not text or text.startswith("#"):
        return ""
    if re.search(INTERESTING, line):
        return shortened(line)
    if re.match(r"exit\b", text):
        return "exit"
    if calls_unread(line):
        return _UNREAD_LEFT_OUT + (" && " + _LEFT_OUT if _BRANCH.search(text) else "")
    return _BRANCH_LEFT_OUT if _BRANCH.search(text) or text.endswith("\\") else _LEFT_OUT
