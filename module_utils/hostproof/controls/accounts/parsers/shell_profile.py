# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of start files of a login shell, in their order (bash(1), INVOCATION).

A line is read word by word, without running anything: umask, the files that it reads (``.`` and
``source``), commands that print, TZ, ENV and the variables of Oracle.
"""

import re
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

#: Oracle Database Installation Guide for Linux, unset these before an installation.
VARIABLES = ("ORACLE_HOME", "ORACLE_SID", "ORACLE_BASE", "ORA_NLS10", "TNS_ADMIN", "ORA_CRS_HOME")

#: The first line of a recording that has files and output too: those of older releases do not.
MARK = "# settings of a start file"

#: Before a command: one directly behind a bracket is for a subshell only.
_BEGIN = r"(?:^|[;&|{)]|\b(?:then|else|do)\b)\s*(?:(?:builtin|command|eval)\s+[\"']?)?"
_UMASK = re.compile(
    _BEGIN + r"umask\s+(?:-[-\w]+\s+)?[\"']?([0-7]{1,4}(?!\w)|[ugoa][-+=\w,]*|[$`])"
)
_VARIABLE = re.compile(r"(?:^|[;&|\s]|\bexport\s[\"'])(" + "|".join(VARIABLES) + r")=")
_WORD = r"(\"[^\"]*\"|'[^']*'|[^\s;&|]+)"
_SOURCE = re.compile(_BEGIN + r"(?:\.|source)\s+" + _WORD + r"([^;&|]*)")
_ENV = re.compile(r"(?:^|[;&|\s])ENV=" + _WORD)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;]*)")
#: What prints. stty fails without a terminal, and oraenv tells what it set.
_PRINT = re.compile(
    _BEGIN + r"(echo|printf|cat|stty|clear|tput|tset|reset|date|hostname|uptime|who|banner|figlet|"
    r"fortune|neofetch|df|oraenv)(?![\w./=-])([^;&|\n]*)"
)
_ORAENV = re.compile(r"(?:^|/)c?oraenv\Z")
#: Conditions that hold only in a session with a terminal.
_TERMINAL = re.compile(r"-t\s+[012]\b|\$-|\bPS1\b|\btty\b|\bSSH_TTY\b|\bTERM\b|\$\{-")
_LEAVE = re.compile(r"\b(?:return|exit)\b")
#: Only for a shell that is not one of a login.
_NOT_LOGIN = re.compile(r"!\s*shopt\s+-q\s+login_shell")
_OPEN = re.compile(r"(?:^|[;&|(]|\b(?:then|else|do)\b)\s*(if|case|for|while|until|select)\b|(\{)")
_CLOSE = re.compile(r"(?:^|[;&|])\s*(fi|esac|done)\b|(\})")
_FUNCTION = re.compile(r"(?:^|;)\s*(?:function\s+[\w-]+\s*(?:\(\s*\))?|[\w-]+\s*\(\s*\))\s*\{?\s*")
_PLACE = re.compile(r"(?:~|\$HOME|\$\{HOME\})?/[\w./+@%,:*?~-]{1,400}\Z")
_HOME = re.compile(r"(?:\$HOME|\$\{HOME\})/")

_VALUE = r"TZ=(\"[^\"]*\"|'[^']*'|\$\([^)]*\)|`[^`]*`|[^\s;&|}]*)(?=[\s;&|}]|$)"
#: TZ of the shell. TZ=UTC date is for one command only.
_ZONE = re.compile(
    r"\b(?:export|(?:declare|typeset) -\w*x)\s(?:[^;&|]{0,200}\s)?[\"']?" + _VALUE + "|"
    r"(?:^|[;&|{(]|\b(?:then|else|do)\b)\s*" + _VALUE + r"\s*(?=$|[;&|}]|\w+=)"
)
_PLAIN = re.compile(r"[A-Za-z0-9_+,./<>:-]{0,64}\Z")
#: Stands for a zone or a path that only the shell knows.
COMPUTED = "$"
#: More than a person writes; a file can be of any size.
_MOST = 200


class Step(NamedTuple):
    """A command of a start file.

    ``kind`` is UMASK (``value`` as written: octal digits, a symbolic mode, or $ for one that only
    the shell knows), SOURCE (a path, ``~/`` for the home, ``*`` for several files, or COMPUTED) or
    PRINT (a command). ``is_sure`` is false under a condition, ``is_quiet`` is true where the output
    of a sourced file is thrown away.
    """

    kind: str
    value: str
    is_sure: bool = True
    is_quiet: bool = False


UMASK, SOURCE, PRINT = "umask", "source", "print"


class Settings(NamedTuple):
    """``steps`` in their order. ``variables`` are names, each once. ``zones`` are the values of TZ,
    in order. ``env`` is the file of ENV, which ksh reads, or "". ``is_whole`` is false for a
    recording of an older release, which has no SOURCE and no PRINT."""

    steps: Tuple[Step, ...]
    variables: Tuple[str, ...]
    zones: Tuple[str, ...]
    env: str = ""
    is_whole: bool = True


def parse(text: str) -> Settings:
    """Settings in a start file, without comments."""
    reader = _Reader()
    variables: List[str] = []
    zones: List[str] = []
    env = ""
    for code in _commands(text):
        reader.read(code)
        variables.extend(
            variable for variable in _VARIABLE.findall(code) if variable not in variables
        )
        zones.extend(_zone(first or second) for first, second in _ZONE.findall(code))
        for word in _ENV.findall(code):
            env = _place(word)
    # Older releases recorded the settings alone, without a line end.
    is_whole = text.startswith(MARK) or text.endswith("\n") or bool(_NOT_KEPT.search(text))
    is_whole = is_whole or not text
    return Settings(tuple(reader.steps[:_MOST]), tuple(variables), tuple(zones), env, is_whole)


#: The begin of a here-document; a shift of bits in (( )) has none.
_HERE = re.compile(r"(?<!<)<<(-?)[ \t]*(?=[^\s<>&|;()])")
_DELIMITER = re.compile(r"<<-?[ \t]*(?:'([^']+)'|\"([^\"]+)\"|\\?([^\s<>&|;()]+))")
#: A here-document that this shell reads as commands.
_RUNS_HERE = re.compile(_BEGIN + r"(?:(?:\.|source)\s+/(?:dev/stdin|proc/self/fd/0)\b|eval\b)")


def _commands(text: str) -> Iterator[str]:
    """The lines without comments, and without here-documents (bash(1), Here Documents)."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        code = re.split(r"(?:^|\s)#", lines[at], maxsplit=1)[0]
        at += 1
        yield code
        for match in _HERE.finditer(_without_quotes(code)):
            found = _DELIMITER.match(code, match.start())
            if found is None or _RUNS_HERE.search(code) or "((" in code[: match.start()]:
                continue
            end = found.group(1) or found.group(2) or found.group(3)
            after = lines[at:] if not match.group(1) else [one.lstrip("\t") for one in lines[at:]]
            # Without its end it is none, or the shell reports it.
            at += after.index(end) + 1 if end in after else 0


#: A line that no older release recorded.
_NOT_KEPT = re.compile(
    r"^(?!umask [0-7ugoa$`]|TZ=|(?:" + "|".join(VARIABLES) + r")=$|$)", re.MULTILINE
)


class _Reader:
    """Reads line by line. ``_inside`` are the kinds of the open blocks."""

    def __init__(self) -> None:
        self.steps: List[Step] = []
        self._inside: List[str] = []
        self._loops: Dict[str, List[str]] = {}
        self._has_left = False
        self._is_function = False

    def read(self, code: str) -> None:
        blank = _without_quotes(code)
        function = _FUNCTION.search(blank)
        if function is not None:
            self._is_function = True
        for name, words in _LOOP.findall(blank):
            self._loops[name] = [_place(word) for word in words.split()]
        found: List[Tuple[int, str, Any]] = []
        for match in _OPEN.finditer(blank):
            found.append((match.start(1 if match.group(1) else 2), "open", match))
        for match in _CLOSE.finditer(blank):
            found.append((match.start(1 if match.group(1) else 2), "close", match))
        # Only where nothing else sets it, as in /etc/bashrc of EL 9.
        if not re.search(r"umask[`)]\S* +(?:-eq|=+) +\S?0+\b", code):
            found += [(match.start(1), UMASK, match) for match in _UMASK.finditer(code)]
        found += [(match.start(1), SOURCE, match) for match in _SOURCE.finditer(code)]
        found += [(match.start(1), PRINT, match) for match in _PRINT.finditer(blank)]
        for place, kind, match in sorted(found, key=lambda one: one[0]):
            self._take(kind, match, code, place)
        if _LEAVE.search(blank) and (_TERMINAL.search(code) or "terminal" in self._inside):
            self._has_left = True

    def _take(self, kind: str, match: Any, code: str, place: int) -> None:
        if kind == "open":
            self._inside.append(self._kind_of_block(match, code))
        elif kind == "close":
            del self._inside[-1:]
        elif "not_login" in self._inside:
            return
        elif kind == UMASK:
            is_sure = not self._inside and "&&" not in code[:place] and "||" not in code[:place]
            self.steps.append(Step(UMASK, match.group(1), is_sure))
        elif "function" in self._inside:
            return
        elif kind == SOURCE:
            self._source(match, code, place)
        elif not self._is_quiet(code, place, match.group(2)):
            self._print(match.group(1), code, place)

    def _kind_of_block(self, match: Any, code: str) -> str:
        if match.group(2) and self._is_function:
            self._is_function = False
            return "function"
        if _NOT_LOGIN.search(code):
            return "not_login"
        return "terminal" if _TERMINAL.search(code) else "block"

    def _source(self, match: Any, code: str, place: int) -> None:
        word, rest = match.group(1), match.group(2)
        name = re.match(r"[\"']?\$\{?(\w+)\}?[\"']?\Z", word)
        paths = self._loops.get(name.group(1), [COMPUTED]) if name else [_place(word)]
        is_quiet = self._is_quiet(code, place, rest)
        if _ORAENV.search(word.strip("\"'")):
            if not is_quiet:
                self._print("oraenv", code, place)
            return
        self.steps += [Step(SOURCE, path, True, is_quiet) for path in paths]

    def _is_quiet(self, code: str, place: int, rest: str) -> bool:
        if self._has_left or "terminal" in self._inside or ">" in rest:
            return True
        is_piped = re.match(r"[^;&|]*\|(?!\|)", code[place:]) is not None
        return is_piped or bool(_TERMINAL.search(code[:place]))

    def _print(self, name: str, code: str, place: int) -> None:
        is_sure = not self._inside and "&&" not in code[:place] and "||" not in code[:place]
        self.steps.append(Step(PRINT, name, is_sure))


def _without_quotes(code: str) -> str:
    """The line with blanks in the place of quoted text and of ${...}, at the same positions."""
    return re.sub(
        r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\$\{[^}]*\}",
        lambda match: "_" * len(match.group()),
        code,
    )


def _place(word: str) -> str:
    """A path with ``~/`` for the home; COMPUTED for one that only the shell knows."""
    text = word.strip("\"'")
    if not _PLACE.match(text):
        return COMPUTED
    return _HOME.sub("~/", text)


def _zone(word: str) -> str:
    text = word.strip("\"'")
    return text if _PLAIN.match(text) else COMPUTED


def kept(text: str) -> str:
    """The settings alone: a start file can hold passwords."""
    settings = parse(text)
    lines = [MARK] if settings.is_whole else []
    for step in settings.steps:
        before = "" if step.is_sure else "test && "
        if step.kind == SOURCE:
            lines.append(f". {step.value}{' >/dev/null' if step.is_quiet else ''}")
        else:
            lines.append(f"{before}{'umask ' if step.kind == UMASK else ''}{step.value}")
    lines += [variable + "=" for variable in settings.variables]
    lines += ["TZ=" + zone for zone in settings.zones]
    lines += [f"ENV={settings.env}"] if settings.env else []
    return "\n".join(lines)
