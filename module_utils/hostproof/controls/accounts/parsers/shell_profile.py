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
_BEGIN = (
    r"(?:^|[;&|{)]|\b(?:then|else|do|if|elif|while|until)\b)\s*"
    r"(?:(?:[A-Za-z_]\w{0,40}=[^\s;&|\"'`$()]{0,80}|time|!)\s+){0,3}(?:(?:builtin|command|eval)\s+[\"']?\s*)?"
)
_UMASK = re.compile(
    _BEGIN + r"(?P<at>)umask\s+(?:-[-\w]+\s+)?[\"']?"
    r"(?P<value>[0-7]{1,4}(?!\w)|[ugoa][-+=\w,]*|[$`])"
)
_VARIABLE = re.compile(r"(?:^|[;&|\s]|\bexport\s[\"'])(" + "|".join(VARIABLES) + r")=")
_WORD = r"(\"[^\"]*\"|'[^']*'|[^\s;&|]+)"
_SOURCE = re.compile(_BEGIN + r"(?P<at>)\\?(?:\.|source)\s+" + _WORD + r"([^;&|]*)")
_ENV = re.compile(r"(?:^|[;&|\s])ENV=" + _WORD)
_LOOP = re.compile(r"\bfor\s+(\w+)\s+in\s+([^;]*)")
#: How Debian 13 and Ubuntu 24.04 list the files of a directory; their names end with .sh.
_RUN_PARTS = re.compile(r"\$\(\s*run-parts\s[^()]*\s(/[\w./-]+)\s*\)\s*\Z")
#: What prints. stty fails without a terminal, and oraenv tells what it set.
_PRINT = re.compile(
    _BEGIN + r"(echo|printf|cat|stty|clear|tput|tset|reset|date|hostname|uptime|who|banner|figlet|"
    r"fortune|neofetch|df|oraenv)(?![\w./=-])([^;&|\n]*)"
)
_ORAENV = re.compile(r"(?:^|/)c?oraenv\Z")
#: Conditions that a session with a terminal decides, and those of them that hold without one.
_TERMINAL = re.compile(r"-t\s+[012]\b|\$-|\bPS1\b|\btty\b|\bSSH_TTY\b|\bTERM\b|\$\{-")
_BATCH = re.compile(
    r"!\s*(?:\[{1,2}\s*)?-t\s+[012]\b|!\s*(?:/usr/bin/|/bin/)?tty\b|\$-[\"']?\s*!="
    r"|-z\s+[\"']?\$\{?(?:PS1|SSH_TTY|TERM)\b|\$\{-[#/][^}]*\}[\"']?\s*={1,2}"
    r"|!\s*\[{1,2}[^]]{0,80}(?:\$-|PS1|SSH_TTY)|\bTERM\b[^]]{0,9}={1,2}\s*[\"']?dumb"
)
_LEAVE = re.compile(r"\b(?:return|exit)\b")
_BEFORE = re.compile(r"(?:^|;)\s*\Z")
#: The rest of a command that runs in a separate process.
_APART = re.compile(r"[^;&|]{0,200}(?:\|(?!\|)|(?<![<>])&(?![&>]))")
#: Only for a shell that is not one of a login.
_NOT_LOGIN = re.compile(r"!\s*shopt\s+-q\s+login_shell")
#: Tests of a file that is then read, and what is true in each login with bash.
_GIVEN = re.compile(r"-[defrsxL]\s|\bBASH")
_OPEN = re.compile(r"(?:^|[;&|(]|\b(?:then|else|do)\b)\s*(if|case|for|while|until|select)\b|(\{)")
_CLOSE = re.compile(r"(?:^|[;&|])\s*(fi|esac|done)\b|(\})")
_ELSE = re.compile(r"(?:^|[;&|])\s*(else|elif)\b")
#: A pattern of case.
_ARM = re.compile(r"(?:^|;;|\bin\b)\s*\(?([^\s();&`]{1,80})\s*\)")
_FUNCTION = re.compile(
    r"(?:^|;)\s*(?:function\s+([\w-]+)\s*(?:\(\s*\))?|([\w-]+)\s*\(\s*\))\s*\{?\s*"
)
_CALL = re.compile(_BEGIN + r"([\w-]+)(?![\w=./(-])")
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

    ``value`` is, by the ``kind``: of UMASK as written (octal digits, a symbolic mode, or $ for one
    that only the shell knows); of SOURCE a path, ``~/`` for the home, ``*`` for several files, or
    COMPUTED; of PRINT a command. MORE, the last one, means further steps. ``is_sure`` is false
    under a condition, ``is_quiet`` is true where the output of a sourced file is thrown away.
    """

    kind: str
    value: str
    is_sure: bool = True
    is_quiet: bool = False


UMASK, SOURCE, PRINT, MORE = "umask", "source", "print", "more"


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
    lines = list(_commands(text))
    reader = _Reader(True)
    for code in lines:
        reader.read(code)
    if reader.is_open:
        # A bracket without its end: each line alone.
        reader = _Reader(False)
        for code in lines:
            reader.read(code)
    variables: List[str] = []
    zones: List[str] = []
    env = ""
    for code in lines:
        variables.extend(
            variable for variable in _VARIABLE.findall(code) if variable not in variables
        )
        zones.extend(_zone(first or second) for first, second in _ZONE.findall(code))
        for word in _ENV.findall(code):
            env = _place(word)
    # Older releases recorded the settings alone, without a line end.
    is_whole = text.startswith(MARK) or text.endswith("\n") or bool(_NOT_KEPT.search(text))
    is_whole = is_whole or not text
    steps = reader.steps[:_MOST]
    if len(reader.steps) > _MOST:
        # In a recording the word is one step more, too.
        steps.append(Step(MORE, "echo"))
    return Settings(tuple(steps), tuple(variables), tuple(zones), env, is_whole)


#: The begin of a here-document; a shift of bits in (( )) has none.
_HERE = re.compile(r"(?<!<)<<(-?)[ \t]*(?=[^\s<>&|;()])")
_DELIMITER = re.compile(r"<<-?[ \t]*(?:'([^']+)'|\"([^\"]+)\"|\\?([^\s<>&|;()]+))")
#: A here-document that this shell reads as commands.
_RUNS_HERE = re.compile(_BEGIN + r"(?:(?:\.|source)\s+/(?:dev/stdin|proc/self/fd/0)\b|eval\b)")


def _commands(text: str) -> Iterator[str]:
    """The lines without comments, and without here-documents (bash(1), Here Documents).

    A quotation over several lines is in one, and so is a line that goes on (\\)."""
    lines = text.split("\n")
    at = 0
    endless = ""
    while at < len(lines):
        begin = at
        parts, is_open, at = _joined(lines, begin, endless)
        if is_open:
            # Without its end it is none, or the shell reports it.
            endless += is_open if at == len(lines) else ""
            at, parts = begin + 1, parts[:1]
        elif at > begin + 1 and re.search(r"\beval\b", parts[0]):
            yield from (part for part in parts if "$(" not in part)
            continue
        code = "".join(parts)
        yield code
        at = _behind_here(code, lines, at)


def _joined(lines: List[str], at: int, endless: str) -> Tuple[List[str], str, int]:
    """The parts of the command at a line, the quote that stays open, and the next line."""
    code, is_open = _scanned(lines[at], "")
    parts = [code]
    at += 1
    while is_open and is_open not in endless and at < len(lines):
        parts.append("" if is_open == "\\" else " ")
        code, is_open = _scanned(lines[at], "" if is_open == "\\" else is_open)
        parts.append(code)
        at += 1
    return parts, is_open, at


def _behind_here(code: str, lines: List[str], at: int) -> int:
    """The number of the first line after the here-documents of a command.

    ``at`` is the line after the command.
    """
    for match in _HERE.finditer(_without_quotes(code)):
        found = _DELIMITER.match(code, match.start())
        if found is None or _RUNS_HERE.search(code) or "((" in code[: match.start()]:
            continue
        end = found.group(1) or found.group(2) or found.group(3)
        after = lines[at:] if not match.group(1) else [one.lstrip("\t") for one in lines[at:]]
        # Without its end it is none, or the shell reports it.
        at += after.index(end) + 1 if end in after else 0
    return at


def _scanned(line: str, quote: str) -> Tuple[str, str]:
    """A line without its comment, and the quote that is open at its end; a backslash where the line
    goes on."""
    place = 0
    while place < len(line):
        letter = line[place]
        if letter == "\\" and quote != "'":
            if place == len(line) - 1:
                return line[:-1], quote or "\\"
            place += 1
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (not place or line[place - 1] in " \t;"):
            return line[:place], ""
        place += 1
    return line, quote


#: A line that no older release recorded.
_NOT_KEPT = re.compile(
    r"^(?!umask [0-7ugoa$`]|TZ=|(?:" + "|".join(VARIABLES) + r")=$|$)", re.MULTILINE
)


class _Block:
    """A block that is open, with its first ``word`` and its kind, "" for any condition.

    ``first`` is the step of the first umask, where each branch of ``if`` may set one."""

    def __init__(self, word: str, kind: str, name: str = "") -> None:
        self.word = word
        self.kind = kind
        self.name = name
        self.first = -1
        self.sets = self.has_else = False
        self.sets_always = True


#: Kinds of blocks.
_SESSION, _WITHOUT = "terminal", "batch"
_GIVEN_KIND, _LOOPS, _OTHER_SHELL, _IN_FUNCTION = "given", "loop", "not login", "function"
_GROUP = "group"


class _Reader:
    """Reads line by line. ``_inside`` are the open blocks, ``_brackets`` the open brackets."""

    def __init__(self, joins: bool) -> None:
        self.steps: List[Step] = []
        self._joins = joins
        self._inside: List[_Block] = []
        self._brackets: List[str] = []
        self._loops: Dict[str, List[str]] = {}
        self._bodies: Dict[str, List[Step]] = {}
        self._has_left = self._has_ended = False
        self._function = ""

    @property
    def is_open(self) -> bool:
        return bool(self._brackets)

    def read(self, code: str) -> None:
        if not self._joins:
            self._brackets = []
        blank = _without_quotes(code)
        function = _FUNCTION.search(blank)
        if function is not None:
            self._function = function.group(1) or function.group(2)
        for name, words in _LOOP.findall(blank):
            listed = _RUN_PARTS.match(words)
            listed_words = [listed.group(1) + "/*.sh"] if listed else words.split()
            self._loops[name] = [_place(word) for word in listed_words]
        for place, kind, match in sorted(self._found(code, blank), key=lambda one: one[0]):
            if not self._has_ended:
                self._take(kind, match, code, place)

    def _found(self, code: str, blank: str) -> List[Tuple[int, str, Any]]:
        """Blocks and commands of a line: (place, kind, match). ``blank`` has no quoted text."""
        alone, shown = self._outside(blank)
        found: List[Tuple[int, str, Any]] = []
        for pattern, kind in ((_OPEN, "open"), (_CLOSE, "close"), (_ELSE, "else")):
            found += [
                (match.start(match.lastindex or 0), kind, match)
                for match in pattern.finditer(alone)
            ]
        if "case" in blank or any(block.word == "case" for block in self._inside):
            found += [(match.end(1), "arm", match) for match in _ARM.finditer(blank)]
        found += [(match.start(), "leave", match) for match in _LEAVE.finditer(alone)]
        found += [(match.start(1), "call", match) for match in _CALL.finditer(alone)]
        # Only where nothing else sets it, as in /etc/bashrc of EL 9.
        if re.search(r"umask[`)]\S* +(?:-eq|=+) +\S?0+\b", code) is None:
            found += _unquoted(_UMASK, UMASK, code, alone)
        found += _unquoted(_SOURCE, SOURCE, code, alone)
        found += [(match.start(1), PRINT, match) for match in _PRINT.finditer(shown)]
        return found

    def _outside(self, blank: str) -> Tuple[str, str]:
        """The line without the text of subshells, and without the text of those alone whose output
        is captured; other characters keep their place."""
        alone, shown = list(blank), list(blank)
        for place, letter in enumerate(blank):
            self._count_bracket(letter, blank[place - 1] if place else "")
            if self._brackets and letter not in "()":
                alone[place] = "_"
                shown[place] = letter if set(self._brackets) == {"("} else "_"
        return "".join(alone), "".join(shown)

    def _count_bracket(self, letter: str, before: str) -> None:
        if letter == "`":
            is_open = self._brackets[-1:] == ["`"]
            self._brackets = self._brackets[:-1] if is_open else [*self._brackets, "`"]
        elif letter == "(":
            is_list = before in ("$", "=", "<", ">") or (self._brackets or ["("])[-1] != "("
            self._brackets.append("$" if is_list else "(")
        elif letter == ")" and self._brackets:
            self._brackets.pop()

    def _has(self, kind: str) -> bool:
        return any(block.kind == kind for block in self._inside)

    def _take(self, kind: str, match: Any, code: str, place: int) -> None:
        if kind == "open":
            self._inside.append(self._block(match, code))
        elif kind == "close":
            self._close()
        elif kind == "else" and self._inside:
            self._else(self._inside[-1], match.group(1), code[match.end() :])
        elif kind == "arm" and self._inside and self._inside[-1].word == "case":
            self._arm(self._inside[-1], match.group(1))
        elif not self._has(_OTHER_SHELL):
            self._take_command(kind, match, code, place)

    def _take_command(self, kind: str, match: Any, code: str, place: int) -> None:
        if kind == "leave":
            self._leave(code, place)
        elif kind == "call":
            for step in self._bodies.get(match.group(1), [])[: _MOST + 1 - len(self.steps)]:
                is_sure = step.is_sure and self._is_sure(code, place, (_SESSION,))
                self.steps.append(step._replace(is_sure=is_sure))
        elif kind == UMASK:
            self._umask(match.group("value"), code, place)
        elif kind == SOURCE:
            self._source(match, code, place)
        elif kind == PRINT and not self._is_quiet(code, place, match.group(2)):
            self._print(match.group(1), code, place)

    def _leave(self, code: str, place: int) -> None:
        is_batch = _session(code[:place]) is False or self._has(_WITHOUT)
        self._has_left = self._has_left or (is_batch and not self._has(_IN_FUNCTION))
        self._has_ended = self._is_sure(code, place, ()) and bool(_BEFORE.search(code[:place]))

    def _block(self, match: Any, code: str) -> _Block:
        word = match.group(1) or "{"
        if word == "{" and self._function:
            name, self._function = self._function, ""
            self._bodies[name] = []
            return _Block(word, _IN_FUNCTION, name)
        condition = re.split(r"\bthen\b|\bdo\b", code[match.start(1) :] if match.group(1) else "")[
            0
        ]
        if _NOT_LOGIN.search(condition):
            return _Block(word, _OTHER_SHELL)
        if word == "for":
            return _Block(word, _LOOPS)
        if word == "{":
            before = code[: match.start(2)].rpartition(";")[2]
            return _Block(word, "" if re.search(r"&&|\|\|", before) else _GROUP)
        return _Block(word, _kind_of(condition))

    def _else(self, block: _Block, word: str, condition: str) -> None:
        block.sets_always, block.sets = block.sets_always and block.sets, False
        block.has_else = block.has_else or word == "else"
        if word == "elif":
            block.kind = _kind_of(condition)
        else:
            flipped = {_SESSION: _WITHOUT, _WITHOUT: _SESSION, _OTHER_SHELL: ""}
            block.kind = flipped.get(block.kind, "")

    def _arm(self, block: _Block, pattern: str) -> None:
        if block.kind in (_SESSION, _WITHOUT):
            block.kind = _SESSION if "i" in pattern else _WITHOUT

    def _close(self) -> None:
        block = self._inside.pop() if self._inside else None
        if block is None or block.word != "if" or block.first < 0:
            return
        outer = [each.kind for each in self._inside]
        if block.has_else and block.sets_always and block.sets and set(outer) <= {_SESSION}:
            # Each branch sets one: what was set before has no effect.
            self.steps[block.first] = self.steps[block.first]._replace(is_sure=True)

    def _is_sure(self, code: str, place: int, given: Tuple[str, ...]) -> bool:
        before = re.split(r";|\bthen\b|\belse\b|\bdo\b", code[:place])[-1]
        is_alone = not re.search(r"&&|\|\|", before)
        session = _session(before)
        if _GIVEN_KIND in given and "&&" in before and _GIVEN.search(before):
            is_alone = True
        if session is not None and (_SESSION if session else _WITHOUT) in given:
            is_alone = True
        return is_alone and all(block.kind in (*given, _GROUP) for block in self._inside)

    def _add(self, step: Step) -> bool:
        """Whether it runs here; in a function it does where that is called."""
        bodies = [block.name for block in self._inside if block.kind == _IN_FUNCTION]
        steps = self._bodies[bodies[-1]] if bodies else self.steps
        if len(steps) <= _MOST:
            steps.append(step)
        return not bodies

    def _umask(self, value: str, code: str, place: int) -> None:
        given = (_SESSION, _IN_FUNCTION)
        is_sure = self._is_sure(code, place, given)
        # A condition that reads the umask itself.
        is_sure = is_sure or (
            not self._inside and re.search(r"\bumask\b", code[:place]) is not None
        )
        if value == "`":
            value = COMPUTED
        if not self._add(Step(UMASK, value, is_sure)) and len(self.steps) <= _MOST:
            self.steps.append(Step(UMASK, value, False))
        block = self._inside[-1] if self._inside else None
        if block is not None and block.word == "if":
            block.sets = True
            block.first = len(self.steps) - 1 if block.first < 0 else block.first

    def _source(self, match: Any, code: str, place: int) -> None:
        word, rest = match.group(2), match.group(3)
        name = re.match(r"[\"']?\$\{?(\w+)\}?[\"']?\Z", word)
        paths = self._loops.get(name.group(1), [COMPUTED]) if name else [_place(word)]
        is_quiet = self._is_quiet(code, place, rest)
        if _ORAENV.search(word.strip("\"'")):
            if not is_quiet:
                self._print("oraenv", code, place)
            return
        given = (_SESSION, _WITHOUT, _GIVEN_KIND, _LOOPS, _IN_FUNCTION)
        is_sure = self._is_sure(code, place, given)
        for path in paths:
            self._add(Step(SOURCE, path, is_sure, is_quiet))

    def _is_quiet(self, code: str, place: int, rest: str) -> bool:
        if self._has_left or self._has(_SESSION) or ">" in rest:
            return True
        is_piped = re.match(r"[^;&|]*\|(?!\|)", code[place:]) is not None
        before = re.split(r";|\bthen\b|\belse\b|\bdo\b", code[:place])[-1]
        return is_piped or _session(before) is True

    def _print(self, name: str, code: str, place: int) -> None:
        self._add(Step(PRINT, name, self._is_sure(code, place, (_WITHOUT, _IN_FUNCTION))))


def _unquoted(pattern: Any, kind: str, code: str, alone: str) -> List[Tuple[int, str, Any]]:
    """The commands of this shell. Quoted text is none, except that of eval."""
    return [
        (match.start("at"), kind, match)
        for match in pattern.finditer(code)
        if (alone[match.start("at")] != "_" or "eval" in match.group())
        and not _APART.match(code, match.end())
    ]


def _kind_of(condition: str) -> str:
    if _TERMINAL.search(condition):
        return _WITHOUT if _BATCH.search(condition) else _SESSION
    return _GIVEN_KIND if _GIVEN.search(condition) else ""


def _session(before: str) -> Any:
    """Whether the words before a command need a session with a terminal (True) or one without
    (False); None where they do not tell."""
    if not _TERMINAL.search(before):
        return None
    operators = re.findall(r"&&|\|\|", before)
    has_terminal = not _BATCH.search(before)
    return has_terminal if operators[-1:] != ["||"] else not has_terminal


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
            lines.append(f"{before}. {step.value}{' >/dev/null' if step.is_quiet else ''}")
        else:
            lines.append(f"{before}{'umask ' if step.kind == UMASK else ''}{step.value}")
    lines += [variable + "=" for variable in settings.variables]
    lines += ["TZ=" + zone for zone in settings.zones]
    lines += [f"ENV={settings.env}"] if settings.env else []
    return "\n".join(lines)
