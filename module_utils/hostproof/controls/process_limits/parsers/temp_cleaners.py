# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a command of cron deletes files in a directory of sockets, such as /tmp/.oracle.

Sources: tmpwatch(8); tmpreaper(8); find(1), EXPRESSION; rm(1); MOS 370605.1.
"""

import re
from functools import lru_cache
from typing import Iterable, List, Optional, Tuple

from ....parsers import glob_pattern, kept_lines
from ....parsers.shell import shell_words

_TMP = r"/(?:var/|usr/)?tmp\b"
#: A line that gives a variable, or the current directory, the path of a temporary directory.
_NAMES_DIRECTORY = r"=[\"']?" + _TMP + r"|\bcd\s+[\"']?" + _TMP + r"|\bfor\s+\w+\s+in\s"
INTERESTING = r"\btmpwatch\b|\btmpreaper\b|\bfind\s|\brm\s|" + _NAMES_DIRECTORY
_LOOP = re.compile(
    r"^[^#\n]{0,80}?\bfor[ \t]+(\w+)[ \t]+in[ \t]([^;$`\n]{0,500})(?:;|$)", re.MULTILINE | re.ASCII
)
_TMPWATCH = ("tmpwatch", "tmpreaper")
#: A line that puts such a program into a variable: TMPWATCH=$(which tmpwatch).
_PUTS_PROGRAM = re.compile(
    r"=[\"'`$(]{0,3}(?:which |type -p |command -v )?(?:/[\w/.-]{0,40}/)?tmp(?:watch|reaper)\b"
)
#: A socket, a lock file and a named pipe, as Oracle's software names them. All are empty.
_FOLDERS = ("/tmp/.oracle", "/var/tmp/.oracle")  # noqa: S108
NAMES = ("sEXTPROC1521", "sEXTPROC1521_lock", "npohasd")
_TYPES = ("s", "f", "p")
_OWNERS = ("root", "0", "oracle", "grid")
_EXCLUDES = ("-x", "--exclude", "-X", "--exclude-pattern", "--protect")
#: Options of tmpwatch and tmpreaper that take a word.
_WITH_VALUE = (*_EXCLUDES, "-U", "--exclude-user")
#: Tests of find whose result is the same for each file that is old enough, and those with a word.
_ALWAYS = ("-xdev", "-mount", "-depth", "-d", "-daystart", "-noleaf", "-true", "-ls", "-quit")
_OPEN = re.compile(
    r"-(?:[acm](?:min|time)|newer\w*|perm|links|inum|group|gid|fstype|regex|iregex)$"
)
_ACTIONS = ("-delete", "-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-ls")
_REMOVERS = ("rm", "unlink")
#: Words of an expression, which can be nested that deep.
_MOST_WORDS = 100
_MOST_LOOPS, _MOST_LETTERS = 8, 500


#: A line is read for each directory, and once more for each word that evidence may leave out.
_split = lru_cache(maxsize=16)(shell_words.split)


def deletes(line: str, directory: str) -> Optional[bool]:
    """Whether a line deletes files in ``directory``; None where its path is not in the line."""
    # The splitting takes the \( \) \; of find for those of the shell.
    commands = _split(re.sub(r"\\([();])", r"'\1'", line))
    answers = []
    for at, command in enumerate(commands):
        then = [following.words for following in commands[at + 1 :]] if command.piped else []
        answers.append(_of_words(command.words, then, directory))
    return _or([*answers, None] if _PUTS_PROGRAM.search(line) else answers)


def kept(_path: str, line: str) -> str:
    """The part of a line that evidence keeps (kept_lines.py)."""
    return kept_lines.needed_words(line, *READINGS)


def _deletions(line: str) -> object:
    texts = {line: 0, re.sub(r"\$\{?\w+\}?", "/tmp", line): 0}  # noqa: S108 (a path in cron)
    return [deletes(text, folder) for text in texts for folder in _FOLDERS]


def _patterns(line: str) -> object:
    return (
        names_directory(line),
        _LOOP.findall(line),
        re.findall(r"\$\{?\w+\}?|\b\w+=", line),
        line.lstrip()[:1] == "#",
        re.search(INTERESTING, line) is not None,
    )


def with_loops(lines: List[str]) -> List[str]:
    """The lines of a script with the words of its loops (for NAME in WORDS) for their variables.

    Long scripts stay as they are, so that the text does not grow without a bound."""
    script = "\n".join(lines)
    loops = _LOOP.findall(script) if len(lines) <= _MOST_WORDS else []
    for name in sorted({name for name, _words in loops})[:_MOST_LOOPS]:
        words = " ".join(text for of, text in loops if of == name).replace("\\", "\\\\")
        variable = rf'"?\$(?:{name}\b|\{{{name}\}})"?'
        if len(words) <= _MOST_LETTERS and name + "=" not in script:
            lines = [re.sub(variable, words, line, count=_MOST_LOOPS) for line in lines]
    return lines


def names_directory(line: str) -> bool:
    """Whether a line puts a temporary directory into a variable or changes to it."""
    return re.search(_TMP, line) is not None and re.search(_NAMES_DIRECTORY, line) is not None


def is_cleaner(line: str) -> bool:
    """Whether a command has a temporary directory as an argument, or cleans nothing else."""
    return _PUTS_PROGRAM.search(line) is not None or any(
        _program(word) in _TMPWATCH or re.search(r"(?:^|\s)" + _TMP, word)
        for command in _split(line)
        for word in command.words
    )


#: The readings of a line, the fastest first.
READINGS = (_patterns, is_cleaner, _deletions)


def _or(answers: Iterable[Optional[bool]]) -> Optional[bool]:
    answers = list(answers)
    return True if True in answers else None if None in answers else False


def _of_words(words: List[str], then: List[List[str]], directory: str) -> Optional[bool]:
    """``then`` are the commands after this one, the first of which reads its output."""
    for at, word in enumerate(words):
        program, rest = _program(word), words[at + 1 :]
        if program == "find":
            return _of_find(rest, then, directory)
        if program == "rm":
            return _or(_removes(argument, directory, _recursive(rest)) for argument in rest)
        if program in _TMPWATCH:
            return _of_tmpwatch(rest, directory)
        # A shell, or su, gets a command as one word.
        if re.match(r"-\w*c$", word) and " " in "".join(rest[:1]):
            return deletes(rest[0], directory)
    return False


def _recursive(options: List[str]) -> bool:
    return any(re.match(r"-\w*[rR]|--recursive", word) for word in options)


def _program(word: str) -> str:
    return word.rpartition("/")[2]


def _is_variable(word: str) -> bool:
    return "$" in word or "`" in word or shell_words.UNKNOWN in word


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


def _removes(path: str, directory: str, recursive: bool) -> Optional[bool]:
    """rm rejects "/"; braces of the shell are not expanded here."""
    if "{" in path and _reaches(path.partition("{")[0], directory):
        return None
    depth = len(_parts(path))
    return _reaches(path, directory) and depth > (0 if recursive else len(_parts(directory)))


def _of_tmpwatch(words: List[str], directory: str) -> Optional[bool]:
    if _is_excluded(words, directory):
        return False
    places: List[str] = []
    for word in [word for word, option in _with_option(words) if not option]:
        if re.match(r"\d+[smhd]?$", word):
            # A variable before the age holds options.
            places = [place for place in places if place.startswith("/")]
        elif word.startswith("/") or _is_variable(word):
            places.append(word)
    if any(_reaches(place, directory) for place in places):
        return True
    return None if any(_is_variable(place) for place in places) else False


def _with_option(words: List[str]) -> List[Tuple[str, str]]:
    """Each word with the option whose value it is; "" for the others."""
    pairs: List[Tuple[str, str]] = []
    option = ""
    for word in words:
        pairs.append((word, option))
        option = word if word in _WITH_VALUE and not option else ""
    return pairs


def _is_excluded(words: List[str], directory: str) -> bool:
    for word, option in _with_option(words):
        name, _equals, value = word.partition("=")
        pattern = word if option in _EXCLUDES else value if name in _EXCLUDES else ""
        if _keeps(pattern, directory):
            return True
    return False


def _keeps(pattern: str, directory: str) -> bool:
    """tmpwatch has the whole path, tmpreaper also one from the directory that it cleans."""
    name = directory.rpartition("/")[2]
    return any(
        glob_pattern.fits(path, pattern.rstrip("/"))
        for path in (directory, name, f"{directory}/{NAMES[0]}", f"{name}/{NAMES[0]}")
        if pattern
    )


def _of_find(words: List[str], then: List[List[str]], directory: str) -> Optional[bool]:
    while words and words[0] in ("-H", "-L", "-P"):
        words = words[1:]
    begin = next((at for at, word in enumerate(words) if word[:1] in "-!("), len(words))
    places, tests = words[:begin], words[begin:]
    answers = [
        _found(tests, then, place, directory) for place in places if _reaches(place, directory)
    ]
    if places in ([], ["."]) or any(_is_variable(place) for place in places):
        # The place is not in the line: it could be the directory.
        answers.append(_found(tests, then, directory, directory) and None)
    return _or(answers)


def _found(tests: List[str], then: List[List[str]], place: str, directory: str) -> Optional[bool]:
    """Whether find, which begins at ``place``, deletes the directory or a file in it."""
    if len(tests) > _MOST_WORDS:
        return None
    parts = _parts(directory)
    above = min(len(_parts(place)), len(parts))
    for depth in range(len(parts) - above + 1):
        path = "/" + "/".join(parts[: above + depth])
        expression = _Expression(tests, then, path, "d", depth, path != directory)
        if expression.deletes is not False or expression.prunes:
            return expression.deletes
    depth = len(parts) - above + 1
    return _or(
        _Expression(tests, then, f"{directory}/{name}", kind, depth).deletes
        for name, kind in zip(NAMES, _TYPES)
    )


class _Expression:
    """The expression of find for one path. A value is None if it depends on what is not known here,
    such as the age.

    ``deletes`` is None if it is not clear; ``prunes`` is whether find does not descend.
    """

    def __init__(
        self,
        words: List[str],
        then: List[List[str]],
        path: str,
        kind: str,
        depth: int,
        is_above: bool = False,
    ) -> None:
        self.words, self.then, self.at = words, then, 0
        self.path, self.kind, self.depth, self.is_above = path, kind, depth, is_above
        self.deletes: Optional[bool] = False
        self.prunes = False
        value = self.either(True)
        if not set(words).intersection(_ACTIONS):
            self.printed(value)

    def either(self, runs: Optional[bool]) -> Optional[bool]:
        value = self.every(runs)
        while self.words[self.at : self.at + 1] in (["-o"], ["-or"]):
            self.at += 1
            value = _or([value, self.every(_and(runs, _not(value)))])
        return value

    def every(self, runs: Optional[bool]) -> Optional[bool]:
        value: Optional[bool] = True
        while self.at < len(self.words) and self.words[self.at] not in ("-o", "-or", ")"):
            value = _and(value, self.one(_and(runs, value)))
        return value

    def one(self, runs: Optional[bool]) -> Optional[bool]:
        word = self.next()
        if word in ("!", "-not"):
            return _not(self.one(runs))
        if word == "(":
            value = self.either(runs)
            self.next()
            return value
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            begin = self.at
            while self.next() not in (";", "+", ""):
                pass
            self.removed(runs, self.words[begin : self.at - 1])
            return True
        if word == "-delete":
            # A directory that is not empty stays.
            self.removed(runs if self.kind != "d" else False, ["rm"])
        elif word in ("-print", "-print0"):
            self.printed(runs)
        elif word == "-prune":
            # It has no effect with -depth, which -delete implies; GNU find then rejects both.
            self.prunes = self.prunes or (runs is True and "-depth" not in self.words)
        elif word not in (*_ALWAYS, "-a", "-and"):
            return self.test(word)
        return True

    def test(self, word: str) -> Optional[bool]:
        if word in ("-empty", "-nouser", "-nogroup", "-false"):
            return word == "-empty" and self.kind != "d"
        if not word.startswith("-") or word in ("-executable", "-readable", "-writable"):
            return None
        value = self.next()
        if _OPEN.match(word) or _is_variable(value):
            return None
        return self.compared(word, value)

    def compared(self, word: str, value: str) -> Optional[bool]:
        if word == "-type":
            return self.kind in value.split(",")
        if word in ("-maxdepth", "-mindepth"):
            limit = int(value) if value.isdecimal() and len(value) < 5 else 0
            return self.depth <= limit if word == "-maxdepth" else self.depth >= limit
        if word == "-size":
            return value[:1] != "+" and (self.kind != "d" or None)
        if word in ("-user", "-uid"):
            return value in _OWNERS and None
        if word in ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"):
            return self.is_named(word, value)
        return None

    def is_named(self, word: str, pattern: str) -> bool:
        text = self.path if "name" not in word or "whole" in word else _program(self.path)
        if word.startswith("-i"):
            text, pattern = text.lower(), pattern.lower()
        return glob_pattern.fits(text, pattern)

    def next(self) -> str:
        self.at += 1
        return self.words[self.at - 1] if self.at <= len(self.words) else ""

    def printed(self, runs: Optional[bool]) -> None:
        if not self.then:
            return
        self.removed(runs, self.then[0])
        for words in self.then[1:]:
            # A loop or a filter reads the list: any part of it can reach the command.
            if self.deletes is False and self.can_remove(runs, words):
                self.deletes = None

    def removed(self, runs: Optional[bool], words: List[str]) -> None:
        """Note what the command does to the path."""
        if self.can_remove(runs, words):
            is_open = any("regex" in word for word in self.words)
            self.deletes = None if is_open and runs is None else True

    def can_remove(self, runs: Optional[bool], words: List[str]) -> bool:
        # Each new file changes the time of /tmp itself.
        is_reached = runs is not False and not (self.is_above and runs is None)
        is_taken = self.kind != "d" or _recursive(" ".join(words).split())
        return is_reached and is_taken and _is_remover(words)


def _is_remover(words: List[str]) -> bool:
    """Whether a command is rm, or a shell with rm."""
    return any(_program(word) in _REMOVERS for word in " ".join(words).split())


def _and(one: Optional[bool], other: Optional[bool]) -> Optional[bool]:
    return False if False in (one, other) else None if None in (one, other) else True


def _not(value: Optional[bool]) -> Optional[bool]:
    return None if value is None else not value
