# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle Net files (listener.ora, sqlnet.ora, tnsnames.ora): a tree with the position of each pair.

``parse`` returns the parameters of a file, and the position in the text of each pair inside. An
edit replaces a span of that text. Text outside of it stays identical to the byte, including
comments, tabs and line ends. ``edited`` makes edits and parses the result before it returns it.

The grammar is that of the Oracle Database Net Services Reference, Syntax Rules for Configuration
Files (9.2 to 23): a parameter begins in the first column, and a line that begins with a blank
continues the previous one; keywords are case-insensitive; blanks around "=" are ignored; values
with blanks or any of ``( ) = \\ " ' #`` are quoted, or the character is escaped with a backslash;
"#" begins a comment.

Undocumented syntax that installed files use is accepted too: a parenthesis in the first column
(Oracle's container images start a listener with it) and a parameter behind blanks, both of which
``NetFile.style`` names; a comment after a value or between the
lines of a parameter, an empty value in parentheses, ``\\`` inside a path, several words without
quotes. ENVS of a SID_DESC contains assignments. Oracle's gateway guides write them without quotes:
``(ENVS=LD_LIBRARY_PATH=/a/lib:/b/lib)``.
"""

import re
from collections import OrderedDict
from typing import Any, Iterable, List, Match, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of, name_or_kind

#: Name of a file in messages if the caller does not specify one.
WHAT = "Oracle Net file"

#: Deeper than any descriptor; what goes on beyond is not a descriptor.
DEPTH = 64

#: A parameter that names another file to read; "IFILE nests three levels deep".
IFILE = "IFILE"
#: Environment variables of a program that the listener starts.
ENVS = "ENVS"
IFILE_DEPTH = 3
#: Valid node checking in sqlnet.ora.
NODE_CHECKING, INVITED, EXCLUDED = NODES = (
    "TCP.VALIDNODE_CHECKING",
    "TCP.INVITED_NODES",
    "TCP.EXCLUDED_NODES",
)

#: What the agent of Grid Infrastructure writes behind its lines.
AGENT = re.compile(r"#[^\n#]*\bline added by Agent\b", re.IGNORECASE)
#: Parameters of a listener that a control needs; the name of the listener follows.
_KEPT = re.compile(
    r"(?:CONNECTION_RATE|INBOUND_CONNECT_TIMEOUT|DIAG_ADR_ENABLED|ADR_BASE|LOG_DIRECTORY|LOG_FILE)_"
    r"|IFILE\Z",
    re.IGNORECASE,
)
_ESCAPE_OR_COMMENT = re.compile(r"\\[()=\\\"'#]|\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")

#: What may be between two tokens: blanks, line ends and comments.
_SKIPPED = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_WORD = re.compile(r"(?:\\[()=\\\"'#]|[^\s()=\"'#,\x00\ufeff])+")
_QUOTED = {'"': re.compile(r'"[^"\n]*"'), "'": re.compile(r"'[^'\n]*'")}
_ESCAPED = re.compile(r"\\([()=\\\"'#])")
_PLAIN = re.compile(r"[A-Za-z0-9<>/.,:;\-_$+*&!%?@\[\]]+\Z")
_NAME = re.compile(r"[A-Za-z0-9<>/.:;\-_$+*&!%?@]+\Z")


class Word(NamedTuple):
    """A value as it counts, and where it stands, quotes included."""

    text: str
    start: int
    end: int


class Pair(NamedTuple):
    """``(NAME=VALUE)``, or a parameter of the file.

    ``start`` and ``end`` hold all of it: the parentheses, or from the name of a parameter to the
    end of its value. ``value_start`` and ``value_end`` hold what is behind the "=": quotes, or the
    parentheses of a list or of the pairs. There is ``value`` (one value), or ``items`` (a list in
    parentheses), or ``pairs``. ``aliases`` are further names of a parameter of tnsnames.ora.
    """

    name: str
    start: int
    end: int
    name_end: int
    value_start: int
    value_end: int
    value: Optional[str]
    items: Tuple[Word, ...]
    pairs: Tuple[Any, ...]
    aliases: Tuple[str, ...]

    def all(self, name: str) -> "List[Pair]":
        """The pairs of that name directly inside."""
        return [pair for pair in self.pairs if pair.name.upper() == name.upper()]

    def text(self, name: str) -> Optional[str]:
        """The value of the first pair of that name directly inside; None if there is none."""
        for pair in self.all(name):
            return str(pair.value) if pair.value is not None else None
        return None

    def inside(self, name: str) -> "List[Pair]":
        """The pairs of that name at any depth, in the order of the text; itself, if it has it."""
        if self.name.upper() == name.upper():
            return [self]
        return [inner for pair in self.pairs for inner in pair.inside(name)]


class NetFile(NamedTuple):
    """The parameters of a file, in its order, and the text in which they stand.

    ``style``: lines that the documentation forbids and that no listener is known to reject.
    """

    text: str
    parameters: Tuple[Pair, ...]
    style: Tuple[str, ...] = ()

    def all(self, name: str) -> List[Pair]:
        """Every parameter of that name: more than one is an error in the file."""
        key = name.upper()
        return [
            parameter
            for parameter in self.parameters
            if key in [known.upper() for known in (parameter.name,) + parameter.aliases]
        ]

    def repeated(self) -> List[str]:
        """The names, in capitals, of parameters that stand more than once; IFILE may."""
        counts: OrderedDict[str, int] = OrderedDict()
        for parameter in self.parameters:
            for name in (parameter.name,) + parameter.aliases:
                counts[name.upper()] = counts.get(name.upper(), 0) + 1
        return [name for name, count in counts.items() if count > 1 and name != IFILE]

    def included(self) -> List[str]:
        """The paths that IFILE names, in their order."""
        return [parameter.value for parameter in self.all(IFILE) if parameter.value]

    def line_of(self, place: int) -> int:
        """The line of a place, from 1."""
        return self.text.count("\n", 0, place) + 1

    def newline(self) -> str:
        """How its lines end."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"


def parse(text: str, what: str = WHAT) -> NetFile:
    """Every parameter of the file; ParseError with line, column and what was expected there."""
    return _Parser(text, what).parse()


def kept(text: str) -> str:
    """The part of a listener.ora that is recorded as evidence (kept_lines.py): addresses, and
    parameters that a control needs. Other parameters are reduced to their name. A file that cannot
    be parsed is not changed."""
    try:
        net = parse(text)
    except ParseError:
        return text
    lines = _ESCAPE_OR_COMMENT.sub(_without_comment, text).split("\n")
    for parameter in net.parameters:
        if _KEPT.match(parameter.name) or parameter.inside("ADDRESS"):
            continue
        first, last = net.line_of(parameter.start) - 1, net.line_of(parameter.end) - 1
        for number in range(first, last + 1):
            lines[number] = "".join(AGENT.findall(lines[number])[:1])
        names = ", ".join((parameter.name, *parameter.aliases)) + " ="
        if first == last:
            lines[first] = f"{names} *** {lines[first]}".rstrip()
        else:
            lines[first] = f"{names} {lines[first]}".rstrip()
            lines[last] = f" *** {lines[last]}".rstrip()
    return "\n".join(lines)


def kept_nodes(text: str) -> str:
    """The part of a sqlnet.ora that is recorded: its lists of nodes (valid_nodes.py), and IFILE. A
    file that cannot be parsed is not changed."""
    try:
        net = parse(text)
    except ParseError:
        return text
    wanted = [one for one in net.parameters if one.name.upper() in (*NODES, IFILE)]
    return "".join(text[one.start : one.end] + "\n" for one in wanted)


def _without_comment(match: Match[str]) -> str:
    text = match.group()
    if not text.startswith("#"):
        return text
    return "# line added by Agent" if AGENT.search(text) else ""


class _Parser:
    def __init__(self, text: str, what: str) -> None:
        self._text = text
        self._what = what
        #: Lines that the documentation forbids and no listener is known to reject.
        self._style: List[str] = []
        self._at = 0
        #: Where the parentheses stand that are open.
        self._open: List[int] = []

    def parse(self) -> NetFile:
        parameters = []
        self._skip()
        while self._at < len(self._text):
            parameters.append(self._parameter())
            self._skip()
        return NetFile(self._text, tuple(parameters), tuple(self._style))

    def _parameter(self) -> Pair:
        start = self._at
        self._refuse_unreadable()
        if not self._in_first_column():
            self._note("parameter does not begin in the first column")
        names = [self._name("the name of a parameter")]
        while self._peek() == ",":
            self._step()
            names.append(self._name("one more name of the parameter"))
        if self._peek() != "=" or self._in_first_column():
            raise self._expected(f'"=" after {name_or_kind(names[-1].text)}')
        self._step()
        pair = self._value(names[0])
        if self._at < len(self._text) and not self._in_first_column():
            between = self._text[pair.value_end : self._at]
            if not pair.pairs or "\n" not in between or _WORD.match(self._text, self._at) is None:
                raise self._expected('the next parameter in the first column, or "("')
        return pair._replace(
            start=start, name_end=names[-1].end, aliases=tuple(name.text for name in names[1:])
        )

    def _value(self, name: Word) -> Pair:
        """What is behind "=": pairs, a list in parentheses, words, or nothing (inside only)."""
        self._check_line_start()
        if not self._open and (
            self._at == len(self._text) or (self._in_first_column() and self._peek() != "(")
        ):
            raise self._expected(f"a value of {name_or_kind(name.text)}")
        start = self._at
        empty = Pair(name.text, name.start, start, name.end, start, start, "", (), (), ())
        if self._peek() == ")" and self._open:
            return empty
        if self._peek() == "(":
            return self._in_parentheses(empty)
        if self._open and name.text.upper() == ENVS and self._is_assignment():
            word = self._assignments()
            return empty._replace(end=word.end, value_end=word.end, value=word.text)
        items = self._list()
        end = items[-1].end
        pair = empty._replace(end=end, value_end=end)
        if len(items) == 1:
            return pair._replace(value=items[0].text)
        return pair._replace(value=None, items=tuple(items))

    def _in_parentheses(self, empty: Pair) -> Pair:
        start = end = self._at
        pairs: List[Pair] = []
        items: List[Word] = []
        while self._peek() == "(" and not self._begins_parameter():
            self._open.append(self._at)
            if len(self._open) > DEPTH:
                raise self._expected(f"at most {DEPTH} parentheses inside each other")
            self._step()
            self._check_line_start()
            if self._is_list():
                if pairs:
                    raise self._expected("a keyword and a value, as before")
                items = self._list()
                end = self._close()
                break
            pairs.append(self._pair())
            end = pairs[-1].end
        return empty._replace(
            end=end,
            value_start=start,
            value_end=end,
            value=None,
            items=tuple(items),
            pairs=tuple(pairs),
        )

    def _pair(self) -> Pair:
        """What follows a "(" that has been read up to its keyword."""
        opened = self._open[-1]
        name = self._name("a keyword")
        self._check_line_start()
        if self._peek() != "=":
            raise self._expected(f'"=" after {name_or_kind(name.text)}')
        self._step()
        pair = self._value(name)
        return pair._replace(start=opened, end=self._close())

    def _is_list(self) -> bool:
        """Whether the parenthesis that was just opened holds values, not a keyword."""
        here = self._at
        if self._peek() in ("", "(", ")", "=", ","):
            return False
        try:
            self._words()
            return self._peek() in (",", ")")
        except ParseError:
            return False
        finally:
            self._at = here

    def _is_assignment(self) -> bool:
        """Whether a word and a "=" are here, without quotes."""
        here = self._at
        match = _WORD.match(self._text, here)
        if match is None:
            return False
        self._at = match.end()
        self._skip()
        result = self._peek() == "=" and not self._begins_parameter()
        self._at = here
        return result

    def _assignments(self) -> Word:
        """NAME=VALUE, several with commas between, up to the parenthesis that closes them."""
        start = end = self._at
        text = ""
        while self._peek() not in ("", "(", ")"):
            self._check_line_start()
            self._refuse_unreadable()
            quoted_word = self._quoted()
            match = _WORD.match(self._text, self._at)
            if quoted_word is not None:
                piece, end = quoted_word.text, quoted_word.end
            elif match is not None:
                piece, end = _unescaped(match.group(0)), match.end()
                self._at = end
                self._skip()
            else:
                piece, end = self._peek(), self._at + 1
                self._step()
            text += piece if not text or text[-1] in "=," or piece in "=," else " " + piece
        return Word(text, start, end)

    def _list(self) -> List[Word]:
        """One value, or several with commas between."""
        items = []
        while True:
            words = self._words()
            text = " ".join(word.text for word in words)
            items.append(Word(text, words[0].start, words[-1].end))
            self._check_line_start()
            if self._peek() != "," or self._begins_parameter():
                return items
            self._step()
            self._check_line_start()

    def _words(self) -> List[Word]:
        """One value: a quoted one, or the words up to what ends it."""
        self._refuse_unreadable()
        quoted = self._quoted()
        words = [] if quoted is None else [quoted]
        while quoted is None and self._at < len(self._text):
            match = _WORD.match(self._text, self._at)
            if match is None or (words and self._begins_parameter()):
                break
            words.append(Word(_unescaped(match.group(0)), match.start(), match.end()))
            self._at = match.end()
            self._skip()
            self._refuse_unreadable()
        if not words:
            raise self._expected("a value")
        if self._peek() in _QUOTED and not self._begins_parameter():
            raise self._expected("quotes around the value as a whole")
        return words

    def _quoted(self) -> Optional[Word]:
        quote = self._peek()
        if quote not in _QUOTED:
            return None
        match = _QUOTED[quote].match(self._text, self._at)
        if match is None:
            raise self._expected(f"a {quote} that closes this one in the same line")
        self._at = match.end()
        if _WORD.match(self._text, self._at):
            raise self._expected("a blank, or what ends the value")
        self._skip()
        return Word(match.group(0)[1:-1], match.start(), match.end())

    def _name(self, expected: str) -> Word:
        self._refuse_unreadable()
        match = _WORD.match(self._text, self._at)
        if match is None or _NAME.match(match.group(0)) is None:
            raise self._expected(expected)
        self._at = match.end()
        self._skip()
        return Word(match.group(0), match.start(), match.end())

    def _close(self) -> int:
        self._check_line_start()
        if self._peek() != ")":
            raise self._expected('")"')
        self._open.pop()
        end = self._at + 1
        self._step()
        return end

    # -- moving on

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _step(self) -> None:
        self._at += 1
        self._skip()

    def _skip(self) -> None:
        match = _SKIPPED.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _in_first_column(self) -> bool:
        return self._at == 0 or self._text[self._at - 1] == "\n"

    def _begins_parameter(self) -> bool:
        """Whether what is here belongs to the next parameter, not to this one."""
        if not self._in_first_column():
            return False
        return not self._open and self._peek() not in ("(", ")")

    def _check_line_start(self) -> None:
        """The documentation requires a blank at the beginning of a line that goes on."""
        if self._at < len(self._text) and self._in_first_column() and not self._begins_parameter():
            self._note("no blank before the continuation")

    def _note(self, problem: str) -> None:
        note = f"line {position(self._text, self._at)[0]}: {problem}"
        if note not in self._style:
            self._style.append(note)

    # -- problems

    def _refuse_unreadable(self) -> None:
        here = self._peek()
        if here == "\ufeff":
            raise self._expected("text without a byte order mark")
        if here == "\x00" or here.isspace():
            raise self._expected("text with no other spaces than blanks and tabs")

    def _expected(self, expected: str) -> ParseError:
        line, column = position(self._text, self._at)
        problem = f"expected {expected}, found {self._found()}"
        if self._open:
            problem += '; the "(" of line {0}, column {1} is open'.format(
                *position(self._text, self._open[-1])
            )
        return ParseError(self._what, problem, line, column)

    def _found(self) -> str:
        if self._at >= len(self._text):
            return "the end of the file"
        match = _WORD.match(self._text, self._at)
        return kind_of(match.group(0) if match else self._text[self._at])


def position(text: str, place: int) -> Tuple[int, int]:
    """Line and column of a place, both from 1."""
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


# -- edits -----------------------------------------------------------------------------------------


class Edit(NamedTuple):
    """Put ``text`` in the place of what stands from ``start`` up to ``end``."""

    start: int
    end: int
    text: str


def edited(net: NetFile, edits: Iterable[Edit], what: str = WHAT) -> NetFile:
    """The file with all edits made; ParseError if the result is not an Oracle Net file.

    Edits may not overlap. Two edits at one position are made in their order.
    """
    pieces = []
    done = 0
    for edit in sorted(edits, key=lambda item: (item.start, item.end)):
        if edit.start < done or edit.end < edit.start or edit.end > len(net.text):
            raise ValueError("the edits overlap, or are not in the text")
        pieces += [net.text[done : edit.start], edit.text]
        done = edit.end
    return parse("".join(pieces) + net.text[done:], what)


def quoted(value: str) -> str:
    """A value as it may be in a file; ValueError where no quotes help."""
    if _PLAIN.match(value) and "," not in value:
        return value
    for quote in ('"', "'"):
        if quote not in value and "\n" not in value and "\x00" not in value:
            return quote + value + quote
    raise ValueError(f"{kind_of(value)} is not allowed in an Oracle Net file")


def set_value(pair: Pair, value: str) -> Edit:
    """Give the pair this one value in the place of what it has."""
    return Edit(pair.value_start, pair.value_end, quoted(value))


def add_pair(
    net: NetFile, parent: Pair, name: str, value: str, before: Optional[Pair] = None
) -> Edit:
    """Put ``(NAME=VALUE)`` behind the last pair inside ``parent``, or right before one of them.

    Blanks around "=" are those of its neighbour.
    """
    if not parent.pairs:
        raise ValueError(f"{parent.name} holds no pairs")
    neighbour = before or parent.pairs[-1]
    between = net.text[neighbour.name_end : neighbour.value_start]
    equals = " = " if re.match(r"[ \t]+=[ \t]+\Z", between) else "="
    place = before.start if before is not None else parent.pairs[-1].end
    return Edit(place, place, f"({name}{equals}{quoted(value)})")


def add_parameter(net: NetFile, name: str, value: str, after: Optional[Pair] = None) -> Edit:
    """Put a line ``NAME = VALUE`` at the end of the file, or behind the lines of a parameter."""
    newline = net.newline()
    line = f"{name} = {quoted(value)}{newline}"
    place = len(net.text)
    if after is not None:
        ended = net.text.find("\n", after.end)
        place = ended + 1 if ended >= 0 else place
    if place == len(net.text) and net.text and not net.text.endswith("\n"):
        line = newline + line
    return Edit(place, place, line)


def remove(net: NetFile, pair: Pair) -> Edit:
    """Take the pair or the parameter out, and with it its lines if nothing else is there."""
    start = net.text.rfind("\n", 0, pair.start) + 1
    ended = net.text.find("\n", pair.end)
    end = ended + 1 if ended >= 0 else len(net.text)
    around = net.text[start : pair.start] + net.text[pair.end : end]
    return Edit(pair.start, pair.end, "") if around.strip() else Edit(start, end, "")
