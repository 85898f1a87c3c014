# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd unit files with their drop-ins, and how a path is written in the name of a unit.

Source: systemd.syntax(7); systemd.unit(5), "String escaping for inclusion in unit names";
config_parse() in src/shared/conf-parser.c.
"""

import re
from typing import Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError
from .. import kept_lines

_WHAT = "systemd unit"
#: What a control needs of a unit that mounts.
_KEPT = ("What", "Where", "Type", "Options", "SloppyOptions", "SourcePath")
#: What parse_boolean() of systemd takes for a yes and for a no.
TRUE = ("1", "yes", "y", "true", "t", "on")
FALSE = ("0", "no", "n", "false", "f", "off")
#: Settings that can keep a unit from its start (conditions.py).
CONDITIONS = ("Condition", "Assert")
#: The commands of a service, and its credentials: it can apply those as settings.
OF_COMMAND = ("ExecStart", "ImportCredential") + tuple(
    f"{verb}Credential{kind}" for verb in ("Load", "Set") for kind in ("", "Encrypted")
)
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.")


class Assignment(NamedTuple):
    """One setting. ``line`` is where it begins, from 1; ``path`` is the file."""

    section: str
    key: str
    value: str
    path: str
    line: int


class Unit(NamedTuple):
    """A unit file or a drop-in. bad_lines are not settings: systemd logs and skips them."""

    assignments: List[Assignment]
    bad_lines: List[int]


def parse(text: str, path: str) -> Unit:
    """Every setting of a file, in order. A text without any is legal: it masks the unit.

    Raises ParseError at a section header that does not end: systemd does not load such a file.
    """
    unit = Unit([], [])
    section = ""
    for first, whole in _whole_lines(text):
        if whole.startswith("["):
            if not whole.endswith("]"):
                raise ParseError(_WHAT, "the section header does not end", first)
            section = whole[1:-1]
        elif not _assign(unit, section, whole, path, first):
            unit.bad_lines.append(first)
    return unit


def kept_mount(text: str) -> str:
    """The part of a unit that mounts, or of its drop-in, that evidence keeps (kept_lines.py)."""
    fstypes = [
        whole.partition("=")[2].strip()
        for _first, whole in _whole_lines(text)
        if whole.partition("=")[0].strip() == "Type"
    ]

    def value_of(key: str, value: str) -> Optional[str]:
        if key == "Options":
            for fstype in fstypes:
                value = kept_lines.options(fstype, value)
        return value if key in _KEPT or key.startswith(CONDITIONS) else None

    return _kept(text, value_of)


def kept_service(text: str) -> str:
    """The part of a unit that applies settings that evidence keeps: whether and what it runs."""

    def value_of(key: str, value: str) -> Optional[str]:
        if key in OF_COMMAND:
            return value and "left out"
        return value if key.startswith(CONDITIONS) else None

    return _kept(text, value_of)


def _kept(text: str, value_of: Callable[[str, str], Optional[str]]) -> str:
    """The headers and the settings for which ``value_of`` gives the value to keep."""
    lines = {}
    for first, whole in _whole_lines(text):
        key, equals, value = whole.partition("=")
        if whole.startswith("["):
            lines[first] = whole if whole.endswith("]") else "["
        elif not equals or not key.strip():
            lines[first] = "?"
        else:
            part = value_of(key.strip(), value.strip())
            if part is not None:
                kept = f"{key}={value}" if part == value.strip() else f"{key}={part}"
                # Only a backslash that is the last character joins the next line.
                lines[first] = kept + " " if kept.endswith("\\") else kept
    return kept_lines.numbered(lines)


def _whole_lines(text: str) -> Iterator[Tuple[int, str]]:
    """Number of the first line and text of each line that holds something, without comments."""
    waiting, first = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if line.lstrip()[:1] in ("#", ";"):
            continue  # also within a continued line
        if not waiting:
            first = number
        if line.endswith("\\"):
            waiting += line[:-1] + " "
            continue
        whole, waiting = (waiting + line).strip(), ""
        if whole:
            yield first, whole
    if waiting.strip():
        yield first, waiting.strip()


def _assign(unit: Unit, section: str, line: str, path: str, number: int) -> bool:
    """Add a setting; False if the line is none."""
    key, equals, value = line.partition("=")
    if not section or not equals or not key.strip():
        return False
    unit.assignments.append(Assignment(section, key.strip(), value.strip(), path, number))
    return True


def last(units: Sequence[Unit], section: str, key: str) -> Optional[Assignment]:
    """The setting that counts of a unit and its drop-ins, in the order in which they are read.

    None where it is not set, or set to nothing by the last line.
    """
    result = None
    for unit in units:
        for assignment in unit.assignments:
            if (assignment.section, assignment.key) == (section, key):
                result = assignment if assignment.value else None
    return result


def all_of(units: Sequence[Unit], section: str, keys: Sequence[str]) -> List[Assignment]:
    """The settings that count of keys that may be set many times: an empty value clears its key."""
    found: List[Assignment] = []
    for unit in units:
        for assignment in unit.assignments:
            if assignment.section == section and assignment.key in keys:
                if not assignment.value:
                    found = [other for other in found if other.key != assignment.key]
                else:
                    found.append(assignment)
    return found


def unit_name(path: str, suffix: str = ".mount") -> str:
    """The name of the unit for a path, as ``systemd-escape --path`` gives it: "u01-data.mount"."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts:
        return "-" + suffix
    joined = "/".join(parts)
    letters = []
    for at, byte in enumerate(joined.encode("utf-8", "surrogateescape")):
        letter = chr(byte)
        if letter == "/":
            letters.append("-")
        elif letter in _PLAIN and not (letter == "." and at == 0):
            letters.append(letter)
        else:
            letters.append(f"\\x{byte:02x}")
    return "".join(letters) + suffix


def unit_path(name: str) -> str:
    """The path that the name of a mount or automount unit represents."""
    stem = name.rpartition(".")[0]
    if stem == "-":
        return "/"
    raw = stem.replace("-", "/").encode("utf-8", "surrogateescape")
    plain = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match.group(1), 16)]), raw)
    return "/" + plain.decode("utf-8", "surrogateescape")
