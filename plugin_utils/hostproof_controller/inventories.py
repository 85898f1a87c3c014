# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at the inventories and files of variables that a command line names, before Ansible does.

Ansible reads all of them before any task of ours: ten lines of aliases that represent a thousand
million values keep it busy until its memory is full. Here they are counted, not expanded.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import yaml

#: Values that the aliases of one file may be for, and levels. Nobody's inventory has them.
MOST_VALUES = 1_000_000
MOST_DEPTH = 100
#: Maximum bytes that are read of a file, and maximum number of files.
MOST_BYTES = 16 << 20
MOST_FILES = 10_000
#: Text with fewer brackets and without an alias cannot exceed the depth, and is not parsed.
_FEW = MOST_DEPTH

_VALUED = {
    "-i": True,
    "--inventory": True,
    "--inventory-file": True,
    "-e": False,
    "--extra-vars": False,
}
_FOLDERS = ("group_vars", "host_vars")


class Unsafe(Exception):
    """A file that Ansible should not be given; the message is a sentence that names it."""


def check(arguments: list[str], inventory: str = "") -> None:
    """Unsafe for the first file of the command line, or of ``inventory``, that represents more."""
    for number, path in enumerate(files_of(arguments, inventory)):
        if number >= MOST_FILES:
            return
        check_text(str(path), _read(path))


def files_of(arguments: list[str], inventory: str = "") -> Iterator[Path]:
    """What Ansible reads as YAML: inventories, what is next to them, files of -e @FILE."""
    for is_inventory, value in [(True, inventory), *_values_of(arguments)]:
        if not is_inventory:
            if value.startswith("@"):
                yield Path(value[1:])
            else:
                check_text("-e", value.encode("utf-8", "surrogateescape"))
            continue
        for source in [value] if os.path.exists(value) else value.split(","):
            if source and os.path.exists(source):
                yield from _of_inventory(Path(source))


def _values_of(arguments: list[str]) -> Iterator[tuple[bool, str]]:
    """(whether it is an inventory, the value) of each option that names what is read."""
    left = iter(arguments)
    for argument in left:
        name, equals, value = argument.partition("=")
        if argument in _VALUED:
            yield _VALUED[argument], next(left, "")
        elif argument.startswith("--") and equals and name in _VALUED:
            yield _VALUED[name], value
        elif argument[:2] in ("-i", "-e") and not argument.startswith("--"):
            yield _VALUED[argument[:2]], argument[2:].removeprefix("=")


def _of_inventory(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from _below(path)
        return
    yield path
    for name in _FOLDERS:
        yield from _below(path.parent / name)


def _below(folder: Path) -> Iterator[Path]:
    for above, folders, names in os.walk(folder):
        folders.sort()
        yield from (Path(above, name) for name in sorted(names))


def _read(path: Path) -> bytes:
    """Nothing of what is not a regular file, cannot be read, or is a program: Ansible's "
    "own matter."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as stream:
        look = os.fstat(handle)
        if not stat.S_ISREG(look.st_mode) or look.st_mode & 0o111:
            return b""
        return stream.read(MOST_BYTES)


def check_text(name: str, text: bytes) -> None:
    """Unsafe where aliases represent too much, or the nesting is too deep. Else Ansible checks."""
    if not (b"*" in text and b"&" in text) and text.count(b"[") + text.count(b"{") < _FEW:
        if text.count(b"\n") < _FEW:
            return
        if b"\n" + b" " * _FEW not in text:
            return
    try:
        _count(text)
    except Unsafe as problem:
        raise Unsafe(f"{name} {problem}: take the aliases out, or name another file") from None
    except (yaml.YAMLError, ValueError):
        # An INI file, a vault, or an error that Ansible says better.
        return


def _count(text: bytes) -> None:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    weights: dict[str, int] = {}
    #: For each open collection: its anchor, and the number of values before it.
    opened: list[tuple[str, int]] = []
    values = 0
    for event in yaml.parse(text, loader):
        anchor = str(getattr(event, "anchor", None) or "")
        if isinstance(event, yaml.AliasEvent):
            # Within itself it has no weight yet: it would be for itself without end.
            values += weights.get(anchor, MOST_VALUES)
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((anchor, values))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            name, before = opened.pop()
            weights[name] = values - before
        elif isinstance(event, yaml.ScalarEvent):
            values += 1
            weights[anchor] = 1
        if len(opened) > MOST_DEPTH:
            raise Unsafe(f"is nested deeper than {MOST_DEPTH} levels, and no inventory is")
        if values > MOST_VALUES:
            raise Unsafe(
                f"expands to more than {MOST_VALUES} values, which is too much for an inventory"
            )
