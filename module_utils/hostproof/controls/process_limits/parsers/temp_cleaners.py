# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a command of cron deletes files in a directory of sockets, such as /tmp/.oracle.

Sources: tmpwatch(8); tmpreaper(8); find(1), -delete, -prune; MOS 370605.1.
"""

import re
from typing import List, Optional

from ....parsers import glob_pattern
from ....parsers.systemd import boot_commands

_TMP = r"/(?:var/|usr/)?tmp\b"
#: A line that gives a variable, or the current directory, the path of a temporary directory.
_NAMES_DIRECTORY = r"=[\"']?" + _TMP + r"|\bcd\s+[\"']?" + _TMP + r"|\bfor\s+\w+\s+in\s"
INTERESTING = r"\btmpwatch\b|\btmpreaper\b|\bfind\s|\brm\s|" + _NAMES_DIRECTORY
_TMPWATCH = ("tmpwatch", "tmpreaper")
#: A socket, a lock file and a named pipe, as Oracle's software names them.
NAMES = ("sEXTPROC1521", "sEXTPROC1521_lock", "npohasd")
_OWNERS = ("root", "0", "oracle", "grid")
_EXCLUDES = ("-x", "--exclude", "-X", "--exclude-pattern", "--protect")
#: Options of tmpwatch and tmpreaper that take a word.
_WITH_VALUE = (*_EXCLUDES, "-U", "--exclude-user")
_NOT = ("!", "-not")


def deletes(line: str, directory: str) -> Optional[bool]:
    """Whether a line deletes files in ``directory``; None where its path is not in the line."""
    # The splitting takes the \( \) \; of find for those of the shell.
    commands = boot_commands.split(re.sub(r"\\([();])", r"'\1'", line))
    answers = []
    for at, command in enumerate(commands):
        then = commands[at + 1].words if at + 1 < len(commands) and command.piped else []
        answers.append(_of_words(command.words, then, directory))
    return True if True in answers else None if None in answers else False


def names_directory(line: str) -> bool:
    """Whether a line puts a temporary directory into a variable or changes to it."""
    return re.search(_TMP, line) is not None and re.search(_NAMES_DIRECTORY, line) is not None


def is_cleaner(line: str) -> bool:
    """Whether a line runs a program that does nothing but clean temporary directories."""
    return re.search(r"\btmpwatch\b|\btmpreaper\b", line) is not None


def _of_words(words: List[str], then: List[str], directory: str) -> Optional[bool]:
    """``then`` is the command that reads the output of this one."""
    for at, word in enumerate(words):
        program, rest = _program(word), words[at + 1 :]
        if program == "find":
            return _of_find(rest, then, directory)
        if program == "rm":
            return any(_removes(argument, directory) for argument in rest)
        if program in _TMPWATCH:
            return _of_tmpwatch(rest, directory)
    return False


def _program(word: str) -> str:
    return word.rpartition("/")[2]


def _is_variable(word: str) -> bool:
    return "$" in word or "`" in word or boot_commands.UNKNOWN in word


def _parts(path: str) -> List[str]:
    """The names in a path; /usr/tmp is a link to /var/tmp."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return ["var", *parts[1:]] if parts[:2] == ["usr", "tmp"] else parts


def _reaches(path: str, directory: str) -> bool:
    """Whether a path, which the shell may expand, is the directory, above it or below it."""
    if not path.startswith("/"):
        return False
    return all(
        # The shell matches a leading dot only with a dot.
        glob_pattern.fits(name, pattern) and not (name[0] == "." and pattern[0] in "*?[")
        for name, pattern in zip(_parts(directory), _parts(path))
    )


def _removes(path: str, directory: str) -> bool:
    """rm rejects "/". Removing /tmp itself is not expected in cron."""
    return _reaches(path, directory) and len(_parts(path)) >= len(_parts(directory))


def _of_tmpwatch(words: List[str], directory: str) -> Optional[bool]:
    places, waiting = [], ""
    for word in words:
        name, equals, value = word.partition("=")
        value = word if waiting in _EXCLUDES else value
        if (name in _EXCLUDES or waiting in _EXCLUDES) and _keeps(value, directory):
            return False
        if not waiting and (word.startswith("/") or _is_variable(word)):
            places.append(word)
        waiting = name if name in _WITH_VALUE and not equals and not waiting else ""
    if any(_reaches(place, directory) for place in places):
        return True
    return None if any(_is_variable(place) for place in places) else False


def _keeps(pattern: str, directory: str) -> bool:
    """tmpwatch has the whole path, tmpreaper also one from the directory that it cleans."""
    name = directory.rpartition("/")[2]
    return any(
        glob_pattern.fits(path, pattern.rstrip("/"))
        for path in (directory, name, f"{directory}/{NAMES[0]}", f"{name}/{NAMES[0]}")
        if pattern
    )


def _of_find(words: List[str], then: List[str], directory: str) -> Optional[bool]:
    while words and words[0] in ("-H", "-L", "-P"):
        words = words[1:]
    begin = next((at for at, word in enumerate(words) if word[:1] in "-!("), len(words))
    places, tests = words[:begin], words[begin:]
    programs = [_program(word) for word in [*tests, *then]]
    if not {"-delete", "rm", "unlink"}.intersection(programs):
        return False
    takes_directories = "rm" in programs and any(
        re.match(r"-\w*[rR]", word) for word in programs[programs.index("rm") + 1 :]
    )
    if not _can_match(tests, directory, takes_directories):
        return False
    if any(_reaches(place, directory) for place in places):
        return True
    is_open = places in ([], ["."]) or any(_is_variable(place) for place in places)
    return None if is_open else False


def _can_match(tests: List[str], directory: str, takes_directories: bool) -> bool:
    """Whether the tests of find let through what Oracle's software keeps in the directory.

    Sockets, pipes and lock files are empty. ``takes_directories``: what is found goes as a whole.
    """
    own = directory.rpartition("/")[2]
    types = ("f", "s", "p", "d") if takes_directories else ("f", "s", "p")
    fitting = []
    for at, (word, value) in enumerate(zip(tests, tests[1:])):
        is_negated = at > 0 and tests[at - 1] in _NOT
        if (is_negated or "-prune" in tests[at + 2 : at + 4]) and own in value.replace("\\", ""):
            return False
        if is_negated:
            continue
        if word == "-type" and not set(value.split(",")).intersection(types):
            return False
        if word == "-maxdepth" and value in ("0", "1") and not takes_directories:
            return False
        if (word == "-size" and value[:1] == "+") or (word == "-user" and value not in _OWNERS):
            return False
        if word in ("-name", "-iname"):
            names = (*NAMES, own) if takes_directories else NAMES
            fitting.append(any(glob_pattern.fits(name, value) for name in names))
    return any(fitting or [True]) if "-o" in tests else all(fitting)
