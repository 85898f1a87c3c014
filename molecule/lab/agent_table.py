#!/usr/bin/env python3
"""Objects that net-snmp's agent answers as a switch or a filer would (pass_persist, snmpd.conf(5)).

    agent_table.py TABLE

``TABLE`` is a JSON file of OID to [type, value] or [type, value, step]: with a step, each reading
shows that much more than the one before, whatever the time between them. A file that is written
anew counts at once. Standard library only.
"""

import json
import sys
from pathlib import Path

Object = tuple[str, object, int]


def arcs(oid: str) -> tuple[int, ...]:
    return tuple(map(int, oid.strip(".").split(".")))


class Table:
    """The objects in the order of their OIDs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = ""
        self._objects: dict[tuple[int, ...], Object] = {}
        self._read: dict[tuple[int, ...], int] = {}

    def load(self) -> None:
        text = self._path.read_text()
        if text != self._text:
            self._text, self._read = text, {}
            table = json.loads(text)
            self._objects = {arcs(oid): (*entry, 0)[:3] for oid, entry in table.items()}

    def get(self, oid: tuple[int, ...]) -> list[str]:
        """The three lines of an answer, or that there is none."""
        if oid not in self._objects:
            return ["NONE"]
        kind, value, step = self._objects[oid]
        if step:
            value = int(str(value)) + step * self._read.get(oid, 0)
            self._read[oid] = self._read.get(oid, 0) + 1
        return ["." + ".".join(map(str, oid)), kind, str(value)]

    def following(self, oid: tuple[int, ...]) -> list[str]:
        behind = [key for key in self._objects if key > oid]
        return self.get(min(behind)) if behind else ["NONE"]


def main() -> None:
    table = Table(Path(sys.argv[1]))
    for line in iter(sys.stdin.readline, ""):
        word = line.strip()
        table.load()
        if word == "PING":
            answer = ["PONG"]
        elif word == "get":
            answer = table.get(arcs(sys.stdin.readline()))
        elif word == "getnext":
            answer = table.following(arcs(sys.stdin.readline()))
        elif word == "set":
            sys.stdin.readline()
            sys.stdin.readline()
            answer = ["not-writable"]
        else:
            continue
        print(*answer, sep="\n", flush=True)


if __name__ == "__main__":
    main()
