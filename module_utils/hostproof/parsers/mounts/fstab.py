# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""fstab of Linux and HP-UX: its entries, and edits that leave every other byte alone.

Source: fstab(5) of util-linux; getmntent(3), with which systemd-fstab-generator reads the file;
libmount, mnt_parse_table_line(); HP-UX fstab(4).
"""

import re
from typing import Iterator, List, NamedTuple, Tuple

from ...errors import ParseError
from .. import kept_lines
from ..number import integer

_WHAT = "fstab"
_FIELD = re.compile(r"[^ \t]+")
#: What getmntent(3) decodes: blank, tab, newline, backslash, and since glibc 2.33 "#".
_ESCAPE = re.compile(r"\\(040|011|012|134|043)")
#: A field may hold no blank, a "#" in front would make a comment of the line, and a backslash would
#: be decoded before these digits; any other is left as it is written.
_UNSAFE = re.compile(r"[ \t\n]|^#|\\(?=040|011|012|134|043)")
_SOURCE, _FSTYPE, _OPTIONS = 0, 2, 3


class Entry(NamedTuple):
    """One line, its escapes decoded. ``path`` is written as the kernel writes a mount point.

    ``line`` counts from 1. ``options`` is "" where the line ends before them.
    """

    line: int
    source: str
    path: str
    fstype: str
    options: str
    freq: int
    passno: int


class _Line(NamedTuple):
    """A line that is no comment: its number, and its fields with their places in the text."""

    number: int
    fields: List[Tuple[int, str]]


def parse(text: str) -> List[Entry]:
    """Every entry, in the order of the file. bad_lines() names the lines that are none."""
    return [_entry(line) for line in _lines(text) if len(line.fields) > _FSTYPE]


def kept(text: str) -> str:
    """The part of the file that evidence keeps (kept_lines.py): entries without comments."""
    return kept_lines.numbered({line.number: _kept_line(line) for line in _lines(text)})


def _kept_line(line: _Line) -> str:
    fields = [field for _, field in line.fields]
    if len(fields) <= _FSTYPE:
        return "?"
    if len(fields) > _OPTIONS:
        fields[_OPTIONS] = kept_lines.options(fields[_FSTYPE], fields[_OPTIONS]) or "defaults"
    for number in range(_OPTIONS + 1, len(fields)):
        if fields[number].startswith("#"):
            fields[number:] = ["#"]
            break
        if not re.match(r"\d+$", fields[number]):
            fields[number] = "?"
    text = " ".join(fields)
    return text + "\r" if text.endswith("\r") else text


def bad_lines(text: str) -> List[int]:
    """Lines that mount(8) rejects: too few fields, or no numbers behind the options.

    The second kind is an entry anyway: at boot systemd takes what is before them. It
    comes from a blank within the options ("rw,bg, hard").
    """
    return [
        line.number for line in _lines(text) if len(line.fields) <= _FSTYPE or not _ends_well(line)
    ]


def _ends_well(line: _Line) -> bool:
    """Whether nothing but two numbers and a comment is behind the options."""
    for _, field in line.fields[_OPTIONS + 1 : _OPTIONS + 3]:
        if field.startswith("#"):
            break
        if not re.match(r"\d+$", field):
            return False
    return True


def with_options(text: str, path: str, options: str) -> str:
    """The text with other options in the first entry for a path.

    Raises ParseError if there is no such entry.
    """
    row = _line_of(text, path)
    if _entry(row).options == options:
        return text
    new = encode(options or "defaults")
    if len(row.fields) > _OPTIONS:
        return _with_field(text, row, _OPTIONS, new)
    at, last = row.fields[_FSTYPE]
    return text[: at + len(last)] + " " + new + text[at + len(last) :]


def with_source(text: str, path: str, source: str) -> str:
    """The text with another source in the first entry for a path.

    Raises ParseError if there is no such entry.
    """
    return _with_field(text, _line_of(text, path), _SOURCE, encode(source))


def with_entry(text: str, source: str, path: str, fstype: str, options: str) -> str:
    """The text with one more entry at its end, which neither dump nor fsck checks."""
    newline = "\r\n" if "\r\n" in text else "\n"
    fields = [encode(field) for field in (source, path, fstype, options or "defaults")]
    if text and not text.endswith("\n"):
        text += newline
    return text + " ".join(fields + ["0", "0"]) + newline


def clean_path(path: str) -> str:
    """As the kernel writes a mount point: no slash at the end, none doubled, no "/./"."""
    return re.sub(r"/(?:\.?(?:/|$))*", "/", path).rstrip("/") or "/"


def encode(field: str) -> str:
    """A field with everything that would be read differently written as octal escapes."""
    return _UNSAFE.sub(lambda match: f"\\{ord(match.group()):03o}", field)


def decode(field: str) -> str:
    """A field with its octal escapes (``\\040`` is a blank) resolved."""
    return _ESCAPE.sub(lambda match: chr(integer(match.group(1), 8)), field)


def _line_of(text: str, path: str) -> _Line:
    """The line of the first entry for a path."""
    for row in _lines(text):
        if len(row.fields) > _FSTYPE and _entry(row).path == clean_path(path):
            return row
    raise ParseError(_WHAT, f"it has no entry for {path}", 0)


def _with_field(text: str, line: _Line, number: int, new: str) -> str:
    at, old = line.fields[number]
    return text[:at] + new + text[at + len(old) :]


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        body = line[:-1] if line.endswith("\r") else line
        fields = [(start + match.start(), match.group()) for match in _FIELD.finditer(body)]
        if fields and not fields[0][1].startswith("#"):
            yield _Line(number, fields)
        start += len(line) + 1


def _entry(line: _Line) -> Entry:
    fields = [decode(field) for _, field in line.fields] + [""]
    numbers = [integer(field) if re.match(r"[0-9]+$", field) else 0 for field in fields[4:6]]
    freq, passno = (numbers + [0, 0])[:2]
    return Entry(line.number, fields[0], clean_path(fields[1]), fields[2], fields[3], freq, passno)
