# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is packed in report.html: raw evidence, stored once by content, and sections of hosts.

It is one JSON object: ``keys`` (evidence keys), ``sets`` (the keys of a finding, by their numbers),
``checks`` (id and severity by number), ``hosts`` (section id to key number to [chunk, place]),
``sections`` (section id to [chunk, place]), ``found`` (the statuses of packed sections, by the
number of their check: a list as text, with commas) and ``chunks`` (base64 of zlib of a JSON list
of [note, text]; with ``beside``: the names of the files that hold it). A reading that many hosts
gave alike is stored once. Figures of latencies and sections are packed like readings; their text is
HTML.
"""

import base64
import codecs
import json
import marshal
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evidence import decode

from .beside import Beside
from .host_state import HostState, Part
from .latency_figure import content, figures_of
from .latency_series import text_of
from .text import printable, remembered

#: A chunk is closed when it holds this much text: the browser inflates a whole chunk at a time.
CHUNK_TEXT = 128 * 1024

#: A file beside the page holds more: a search for a text must read all of them.
FILE_TEXT = 512 * 1024


def shown_readings(part: Part) -> dict[str, tuple[str, str]]:
    """Note and text by evidence key, for the readings that the findings of ``part`` rest on."""
    wanted = [key for finding in part.findings for key in finding["evidence"]]
    if not wanted or part.line["evidence"] is None:
        return {}
    try:
        evidence = decode(part.line["evidence"])
    except HostproofError as problem:
        return {key: ("", str(problem)) for key in wanted}
    return {key: show_reading(evidence[key]) for key in wanted if key in evidence}


#: Bytes of a reading that is remembered, for most hosts give it alike: nothing is there, a default.
_SHORT = 4096


def show_reading(reading: Any) -> tuple[str, str]:
    """A reading (host.py) for people: a note and the text, every character showable."""
    try:
        packed = marshal.dumps(reading, 0)
    except ValueError:
        return _shown_or_why(reading)
    return _shown_once(packed) if len(packed) <= _SHORT else _shown_or_why(reading)


@lru_cache(maxsize=2000)
def _shown_once(packed: bytes) -> tuple[str, str]:
    return _shown_or_why(marshal.loads(packed))


def _shown_or_why(reading: Any) -> tuple[str, str]:
    try:
        return _shown(reading)
    except (RecursionError, ValueError) as problem:
        return "", f"this reading cannot be shown: {problem}"


def _shown(reading: Any) -> tuple[str, str]:
    if not isinstance(reading, dict):
        return "", printable(json.dumps(reading))
    note = str(reading.get("at", ""))
    if "error" in reading:
        return note, printable("{0}: {1}".format(reading["error"], reading.get("message", "")))
    if reading.get("kind") == "command":
        note = "{0}, exit code {1}".format(note, reading.get("rc"))
        text = str(reading.get("stdout", ""))
        if reading.get("stderr"):
            text += "\n[stderr]\n" + str(reading["stderr"])
    elif isinstance(reading.get("text"), str):
        text = reading["text"]
    elif reading.get("kind") == "sample":
        note = "{0}, two readings {1} s apart".format(note, reading.get("seconds"))
        text = _both_texts(reading)
    elif reading.get("kind") == "windows":
        text = text_of(reading)
    else:
        rest = {key: value for key, value in reading.items() if key not in ("kind", "at")}
        text = _indented(json.dumps(rest))
    return printable(note), printable(text) or "(empty)"


@remembered
def _indented(text: str) -> str:
    """JSON in lines, which takes ten times as long to write; hosts of a kind give the same."""
    return json.dumps(json.loads(text), indent=1)


def _both_texts(reading: dict[str, Any]) -> str:
    """The texts of a sample: every source as it was first, then as it was second."""
    parts = []
    for name in ("first", "second", "errors"):
        texts = reading.get(name)
        if isinstance(texts, dict):
            for source in sorted(texts):
                parts.append(f"[{name}] {source}\n{texts[source]}\n")
    return "\n".join(parts)


#: Readings that are remembered so that an equal one is not stored again: some megabytes.
MOST_REMEMBERED = 20000

_Place = tuple[int, int]


class Spool:
    """A text that is put together bit by bit, in memory only while it is short."""

    def __init__(self) -> None:
        self.size = 0
        # Closed with the last reference to it: it has no name that anybody could open.
        self._stream = tempfile.SpooledTemporaryFile(max_size=1 << 20)  # noqa: SIM115

    def add(self, text: str) -> None:
        content = text.encode("utf-8", "backslashreplace")
        self.size += len(content)
        self._stream.write(content)

    def pieces(self) -> Iterator[str]:
        """The text again, in pieces."""
        self._stream.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        for piece in iter(lambda: self._stream.read(1 << 16), b""):
            yield decoder.decode(piece)


class Shelf:
    """Packs sections and readings, host by host, until the room given by ``open`` is full.

    With ``beside`` they go to files, and take no room but for their names.

    Attributes:
        left_out: how many hosts' evidence did not fit.
        figures: how many different figures of latencies were asked for.
        sections: how many sections it holds.
    """

    def __init__(self, beside: Beside | None = None) -> None:
        self.beside = beside
        self.left_out = 0
        self.figures = 0
        self.sections = 0
        self._room = 0
        self._keys: dict[str, int] = {}
        self._sets: dict[tuple[int, ...], int] = {}
        self._found: dict[str, int] = {}
        self._checks: dict[str, int] = {}
        self.severities: dict[str, str] = {}
        self._hosts = Spool()
        self._sections = Spool()
        self._chunks = Spool()
        self._closed = 0
        self._places: dict[bytes, _Place] = {}
        self._open: list[tuple[str, str]] = []
        self._open_size = 0

    def set_number(self, keys: list[str]) -> int:
        """The number that stands for the evidence keys of a finding."""
        numbers = tuple(self._keys.setdefault(key, len(self._keys)) for key in keys)
        return self._sets.setdefault(numbers, len(self._sets))

    def figure_number(self, keys: Sequence[str]) -> int:
        """The number that stands for the figure of these evidence keys."""
        name = _figure_name(keys)
        self.figures += name not in self._keys
        return self._keys.setdefault(name, len(self._keys))

    def check_number(self, check: str) -> int:
        """The number that stands for a check."""
        return self._checks.setdefault(check, len(self._checks))

    def found_number(self, found: dict[int, str]) -> int:
        """The number that stands for the findings of a section: their statuses, by check."""
        listed = ",".join(found.get(number, "") for number in range(max(found, default=-1) + 1))
        return self._found.setdefault(_compact(listed), len(self._found))

    def open(self, room: int) -> None:
        """Let the shelf take ``room`` bytes (as characters of the page) in all."""
        names = sum(len(key) + 16 for key in self._keys) + sum(len(key) + 1 for key in self._found)
        self._room = room - names - 16 * len(self._sets) - self._size()

    def take(self, size: int) -> None:
        """Let what stands in the page itself take some of the room."""
        self._room -= size

    @property
    def is_full(self) -> bool:
        return self._room <= 0

    @property
    def is_empty(self) -> bool:
        return not (self._closed or self._open)

    def add_section(self, section: str, text: str) -> None:
        """Put the findings of a host on the shelf."""
        self.sections += 1
        self._put(self._sections, section, json.dumps(self._store(("", text))))

    def add_host(self, section: str, state: HostState) -> None:
        """Put the readings of a host on the shelf, under the id of its section."""
        if self.is_full:
            self.left_out += any(part.line["evidence"] is not None for part in state.parts)
            return
        places: dict[int, _Place] = {}
        for part in state.parts:
            for key, reading in shown_readings(part).items():
                number = self._keys.setdefault(key, len(self._keys))
                places[number] = self._place(reading)
        for figure in figures_of(state).values():
            if figure.seen is None:
                number = self.figure_number(figure.keys)
                places[number] = self._place(("", content(figure)))
        self._put(self._hosts, section, _compact(places))

    def pieces(self) -> Iterator[str]:
        """The JSON object, safe inside a script element; nothing if nothing was packed."""
        self.close_chunk()
        if not self._closed:
            return
        names: dict[str, Any] = {
            "keys": [printable(key) for key in self._keys],
            "sets": list(self._sets),
        }
        names["checks"] = [[check, self.severities.get(check, "")] for check in self._checks]
        names["beside"] = self.beside is not None
        yield _compact(names)[:-1].replace("<", "\\u003c")
        yield ',"found":[' + ",".join(self._found) + "]"
        for name, spool, brackets in (
            ("hosts", self._hosts, "{}"),
            ("sections", self._sections, "{}"),
            ("chunks", self._chunks, "[]"),
        ):
            yield f',"{name}":{brackets[0]}'
            yield from spool.pieces()
            yield brackets[1]
        yield "}"

    def close_chunk(self) -> None:
        """Let what comes next begin a chunk of its own."""
        if self._open:
            # Level 6 takes twice as long for a hundredth less.
            inflated = json.dumps(self._open).encode("ascii")
            packed = base64.b64encode(zlib.compress(inflated, 4)).decode("ascii")
            before = self._chunks.size
            shown = self.beside.add(packed) if self.beside else packed
            self._chunks.add((',"{0}"' if before else '"{0}"').format(shown))
            self._room -= self._chunks.size - before
            self._closed += 1
        self._open, self._open_size = [], 0

    def _size(self) -> int:
        return self._hosts.size + self._sections.size + self._chunks.size

    def _put(self, spool: Spool, section: str, text: str) -> None:
        before = spool.size
        # The id of a section is ours, and numbers need no escape.
        spool.add('{0}"{1}":{2}'.format("," if before else "", section, text))
        self._room -= spool.size - before

    def _place(self, reading: tuple[str, str]) -> _Place:
        whole = f"{len(reading[0])} {reading[0]}{reading[1]}".encode("utf-8", "surrogatepass")
        digest = blake2b(whole, digest_size=16).digest()
        place = self._places.get(digest)
        if place is None:
            if len(self._places) >= MOST_REMEMBERED:
                self._places.clear()
            place = self._places[digest] = self._store(reading)
        return place

    def _store(self, reading: tuple[str, str]) -> _Place:
        place = (self._closed, len(self._open))
        self._open.append(reading)
        self._open_size += len(reading[1])
        if self._open_size > (FILE_TEXT if self.beside else CHUNK_TEXT):
            self.close_chunk()
        return place


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _figure_name(keys: Sequence[str]) -> str:
    """No evidence key begins like this."""
    return "figure of " + ", ".join(keys)
