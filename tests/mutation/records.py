"""Which tests of a file run which lines; kept until the file or the code changes."""

import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple


class Record(NamedTuple):
    """A test file: its tests that pass, and by file and line the positions of those that run it."""

    file: str
    passed: list[str]
    lines: dict[str, dict[str, list[int]]]
    seconds: float
    #: By file, a digest of its content then.
    code: dict[str, str]


class Records:
    """The records below ``folder``; several threads can use them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._locks: dict[Path, threading.Lock] = defaultdict(threading.Lock)

    def of(
        self, root: Path, name: str, sources: Iterable[Path], measure: Callable[[str], Record]
    ) -> Record:
        """The record of the test file NAME below ROOT, which uses SOURCES; measured if needed."""
        path = self._folder / f"{name.replace('/', '-')}-{digest(*sorted(sources))}.json"
        with self._locks[path]:
            if path.exists():
                record = Record(**json.loads(path.read_text()))
                if all(_is_same(root / file, old) for file, old in record.code.items()):
                    return record
            path.parent.mkdir(parents=True, exist_ok=True)
            record = measure(name)
            path.write_text(json.dumps(record._asdict()))
            return record


def digest(*paths: Path) -> str:
    result = hashlib.sha256()
    for path in paths:
        result.update(hashlib.sha256(path.read_bytes()).digest())
    return result.hexdigest()[:16]


def _is_same(path: Path, old: str) -> bool:
    return path.is_file() and digest(path) == old
