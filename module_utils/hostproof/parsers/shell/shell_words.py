# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simple commands and the words of lines of the shell.

Sources: POSIX.1, Shell Command Language, 2.2 and 2.9; the manuals of the commands that run others.
"""

import re
from itertools import dropwhile
from typing import List, NamedTuple, Optional, Tuple

#: Stands for what only the shell knows when it runs: a variable, a command's output.
UNKNOWN = "\0"

KEYWORDS = frozenset(
    ["if", "then", "else", "elif", "while", "until", "do", "{", "!", "time"]
    + ["export", "local", "declare", "readonly"]
)
_WRAPPERS = frozenset(
    [
        "sudo",
        "doas",
        "dzdo",
        "pbrun",
        "exec",
        "command",
        "nohup",
        "nice",
        "ionice",
        "env",
        "time",
        "timeout",
        "setsid",
        "eval",
        "chrt",
        "taskset",
        "stdbuf",
    ]
)
_BEFORE_VALUE = frozenset(
    [
        ("sudo", "-u"),
        ("sudo", "-g"),
        ("nice", "-n"),
        ("ionice", "-c"),
        ("ionice", "-n"),
        ("timeout", "-s"),
        ("timeout", "-k"),
    ]
)
#: An option, a number or an assignment in front of the command that is run.
_OF_WRAPPER = re.compile(r"-|[\d.]+[smhd]?$|0x[0-9a-fA-F]+$|[A-Za-z_]\w*=")
SHELLS = frozenset(["sh", "bash", "dash", "ksh", "ash", "zsh"])
#: The option of a shell before the text that it runs.
TEXT_OPTION = re.compile(r"-\w*c$")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Simple(NamedTuple):
    """A simple command: its words without quotes, and the files that its output goes to."""

    words: List[str]
    outputs: List[str]
    piped: bool


def joined(text: str) -> List[str]:
    """The lines of a script; one that goes on (\\) holds it all, and those after it are empty."""
    lines: List[str] = []
    parts: List[str] = []
    first = -1
    for number, line in enumerate(text.splitlines()):
        lines.append("" if parts else line)
        goes_on = line.endswith("\\") and (parts or not line.lstrip().startswith("#"))
        if parts or goes_on:
            first = first if parts else number
            # A line in the middle is told without the blanks around it.
            piece = line.strip() if parts else line
            parts.append(piece[:-1] if goes_on else piece)
        if parts and not goes_on:
            lines[first], parts = " ".join(parts), []
    if parts:
        lines[first] = " ".join(parts) + "\\"
    return lines


class _Line:
    """The commands of a line, and the one that is open: its words, the files that its output goes
    to, the pieces of the word that is open, and the redirection before it."""

    def __init__(self) -> None:
        self.commands: List[Simple] = []
        self.words: List[str] = []
        self.outputs: List[str] = []
        self.word: List[str] = []
        self.into = ""

    def end_word(self) -> None:
        if not self.word:
            return
        path, into = "".join(self.word), self.into
        self.word, self.into = [], ""
        if into == ">":
            self.outputs.append(path)
        elif into == "<<<" or (into == "<" and path != "/dev/null"):
            self.commands.append(Simple(["cat" if into == "<" else "echo", path], [], True))
        elif not into:
            self.words.append(path)

    def end_command(self, piped: bool) -> None:
        self.end_word()
        self.into = ""
        if self.words or self.outputs:
            self.commands.append(Simple(self.words, self.outputs, piped))
        self.words, self.outputs = [], []


def split(text: str) -> List[Simple]:
    """The simple commands of a line, by the quoting rules of the shell.

    Commands in substitutions are not parsed: a substitution becomes UNKNOWN, and so does text with
    an unclosed quote. A here-string becomes an echo into a pipe and a file for the input a cat into
    one; // or /./ becomes /.
    """
    text = re.sub(r"/(?:\.?/)+", "/", text)
    line = _Line()
    position = 0
    while position < len(text):
        if text[position : position + 2] in ("<(", ">("):
            line.word.append(UNKNOWN)
            position = _closed(text, position)
            continue
        # Digits within a word are not file's number.
        redirect = (_REDIRECT if line.word else _NUMBERED).match(text, position)
        operator = _OPERATOR.match(text, position)
        if redirect:
            line.end_word()
            # echo 10>FILE opens it as file 10 and writes nothing to it.
            is_output = re.match(r"1?>[>|]?$|&>", redirect.group()) is not None
            line.into = ">" if is_output else redirect.group()
            position = redirect.end()
        elif operator:
            line.end_command(operator.group() == "|")
            position = operator.end()
        elif text[position] in " \t\r":
            line.end_word()
            position += 1
        elif text[position] == "#" and not line.word:
            break
        else:
            piece, position = _piece(text, position)
            line.word.append(piece)
    line.end_command(False)
    return line.commands


#: A part of a word without a character that the shell treats differently from a letter. A digit or
#: # has another meaning at the beginning of a word.
_PLAIN = re.compile(r"[^ \t\r\n<>&|;()\"'`\\$#\d][^ \t\r\n<>&|;()\"'`\\$]*")
_PLAIN_IN_QUOTES = re.compile(r"[^\"\\$`]+")
_REDIRECT = re.compile(r"&>>?|>>|>\||>&|<<<|<<-?|<>|<&|>|<")
_NUMBERED = re.compile(r"&>>?|\d*(?:>>|>\||>&|<<<|<<-?|<>|<&|>|<)")
_OPERATOR = re.compile(r"\|\||&&|;;|[;&|()\n]")
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?!$-])")


def _piece(text: str, begin: int) -> Tuple[str, int]:
    """(the text of the next part of a word, where it ends)."""
    letter = text[begin]
    if letter == '"':
        return _in_quotes(text, begin + 1)
    if letter in "'`":
        end = text.find(letter, begin + 1)
        if end < 0:
            return UNKNOWN, len(text)
        return text[begin + 1 : end] if letter == "'" else UNKNOWN, end + 1
    if letter == "\\":
        return text[begin + 1 : begin + 2], begin + 2
    if letter == "$":
        if text[begin + 1 : begin + 2] in ("(", "{"):
            return UNKNOWN, _closed(text, begin)
        match = _VARIABLE.match(text, begin)
        return (UNKNOWN, match.end()) if match else ("$", begin + 1)
    plain = _PLAIN.match(text, begin)
    return (plain.group(), plain.end()) if plain else (letter, begin + 1)


def _in_quotes(text: str, position: int) -> Tuple[str, int]:
    pieces = []
    while position < len(text) and text[position] != '"':
        plain = _PLAIN_IN_QUOTES.match(text, position)
        if plain:
            piece, position = plain.group(), plain.end()
        else:
            piece, position = _piece(text, position)
        pieces.append(piece)
    return ("".join(pieces), position + 1) if position < len(text) else (UNKNOWN, len(text))


def _closed(text: str, begin: int) -> int:
    """The end of $(...) or ${...}, counting brackets of the kind."""
    opening, closing = text[begin + 1], {"(": ")", "{": "}"}[text[begin + 1]]
    depth = 0
    for position in range(begin, len(text)):
        depth += (text[position] == opening) - (text[position] == closing)
        if position > begin and not depth:
            return position + 1
    return len(text)


def program_of(words: List[str]) -> str:
    """The name of the program that a command runs, without its directory."""
    return words[0].rpartition("/")[2] if words else ""


def unwrapped(words: List[str]) -> List[str]:
    """Without sudo, nice, timeout and the like in front, and their options and numbers."""
    while program_of(words) in _WRAPPERS:
        wrapper = words.pop(0).rpartition("/")[2]
        while words and _OF_WRAPPER.match(words[0]):
            option = words.pop(0)
            if (wrapper, option) in _BEFORE_VALUE and words:
                words.pop(0)
        if wrapper == "eval":
            # Only the last of several: each would take a level of the stack.
            words = ["sh", "-c", " ".join(["", *words, ""]).rpartition(" eval ")[2]]
    if program_of(words) in ("su", "runuser"):
        rest = [word for word in words[1:] if word not in ("-", "-l", "root")]
        if len(rest) == 2 and rest[0] == "-c":
            words = ["sh", *rest]
    return words


def printed(words: List[str]) -> Optional[str]:
    """What echo or printf writes; None where the line does not show it."""
    if not words or words[0].rpartition("/")[2] not in ("echo", "printf"):
        return None
    if any(UNKNOWN in word for word in words):
        return None
    if words[0].endswith("echo"):
        return " ".join(dropwhile(re.compile(r"-[neE]+$").match, words[1:]))
    text = words[1] if len(words) == 2 else "%"
    text = text.replace("\\n", "\n")
    return None if "%" in text or "\\" in text else text
