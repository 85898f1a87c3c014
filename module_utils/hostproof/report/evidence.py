# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The raw evidence in report.html: in full where it is small, else packed once by content.

Packed evidence is one JSON object: ``keys`` (evidence keys), ``sets`` (the keys of a finding, by
their numbers), ``hosts`` (section id to key number to [chunk, place]) and ``chunks`` (base64 of
zlib of a JSON list of [note, text]). A reading that many hosts gave alike is stored once.
Figures of latencies are packed like readings; their text is HTML.
"""

import base64
import json
import zlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..errors import HostproofError
from ..evidence import decode
from .latency_figure import content, figures_of
from .latency_series import text_of
from .store import HostState, Part
from .text import printable

#: A chunk is closed when it holds this much text: the browser inflates a whole chunk at a time.
CHUNK_TEXT = 128 * 1024


def shown_readings(part):
    # type: (Part) -> Dict[str, Tuple[str, str]]
    """Note and text by evidence key, for the readings that the findings of ``part`` rest on."""
    wanted = [key for finding in part.findings for key in finding["evidence"]]
    if not wanted or part.line["evidence"] is None:
        return {}
    try:
        evidence = decode(part.line["evidence"])
    except HostproofError as problem:
        return {key: ("", str(problem)) for key in wanted}
    return {key: show_reading(evidence[key]) for key in wanted if key in evidence}


def show_reading(reading):
    # type: (Any) -> Tuple[str, str]
    """A reading (host.py) for people: a note and the text, every character showable."""
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
        text = json.dumps(rest, indent=1)
    return printable(note), printable(text) or "(empty)"


def _both_texts(reading):
    # type: (Dict[str, Any]) -> str
    """The texts of a sample: every source as it was first, then as it was second."""
    parts = []
    for name in ("first", "second", "errors"):
        texts = reading.get(name)
        if isinstance(texts, dict):
            for source in sorted(texts):
                parts.append("[{0}] {1}\n{2}\n".format(name, source, texts[source]))
    return "\n".join(parts)


class Shelf:
    """Packs readings, host by host, until the room given by ``open`` is full.

    Attributes:
        left_out: how many hosts' evidence did not fit.
        figures: how many different figures of latencies were asked for.
    """

    def __init__(self):
        # type: () -> None
        self.left_out = 0
        self.figures = 0
        self._room = 0
        self._keys = {}  # type: Dict[str, int]
        self._sets = {}  # type: Dict[Tuple[int, ...], int]
        self._hosts = {}  # type: Dict[str, Dict[int, Tuple[int, int]]]
        self._places = {}  # type: Dict[Tuple[str, str], Tuple[int, int]]
        self._chunks = []  # type: List[str]
        self._open = []  # type: List[Tuple[str, str]]
        self._open_size = 0

    def set_number(self, keys):
        # type: (List[str]) -> int
        """The number that stands for the evidence keys of a finding."""
        numbers = tuple(self._keys.setdefault(key, len(self._keys)) for key in keys)
        return self._sets.setdefault(numbers, len(self._sets))

    def figure_number(self, keys):
        # type: (Sequence[str]) -> int
        """The number that stands for the figure of these evidence keys."""
        name = _figure_name(keys)
        self.figures += name not in self._keys
        return self._keys.setdefault(name, len(self._keys))

    def open(self, room):
        # type: (int) -> None
        """Let the shelf take ``room`` bytes (as characters of the page) of evidence."""
        self._room = room - sum(len(key) + 16 for key in self._keys) - 16 * len(self._sets)

    def add_host(self, section, state):
        # type: (str, HostState) -> None
        """Put the readings of a host on the shelf, under the id of its section."""
        if self._room <= 0:
            self.left_out += any(part.line["evidence"] is not None for part in state.parts)
            return
        places = self._hosts.setdefault(section, {})
        for part in state.parts:
            for key, reading in shown_readings(part).items():
                number = self._keys.setdefault(key, len(self._keys))
                places[number] = self._place(reading)
        for figure in figures_of(state).values():
            if figure.seen is None:
                number = self.figure_number(figure.keys)
                places[number] = self._place(("", content(figure)))
        self._room -= 24 * len(places)

    def text(self):
        # type: () -> Optional[str]
        """The JSON object, safe inside a script element; None if nothing was packed."""
        self._close_chunk()
        if not self._chunks:
            return None
        shelf = {
            "keys": [printable(key) for key in self._keys],
            "sets": list(self._sets),
            "hosts": self._hosts,
            "chunks": self._chunks,
        }
        return json.dumps(shelf, separators=(",", ":")).replace("<", "\\u003c")

    def _place(self, reading):
        # type: (Tuple[str, str]) -> Tuple[int, int]
        place = self._places.get(reading)
        if place is None:
            place = (len(self._chunks), len(self._open))
            self._places[reading] = place
            self._open.append(reading)
            self._open_size += len(reading[1])
            if self._open_size > CHUNK_TEXT:
                self._close_chunk()
        return place

    def _close_chunk(self):
        # type: () -> None
        if self._open:
            packed = base64.b64encode(zlib.compress(json.dumps(self._open).encode("ascii"), 6))
            self._room -= len(packed)
            self._chunks.append(packed.decode("ascii"))
        self._open, self._open_size = [], 0


def _figure_name(keys):
    # type: (Sequence[str]) -> str
    """No evidence key begins like this."""
    return "figure of " + ", ".join(keys)
