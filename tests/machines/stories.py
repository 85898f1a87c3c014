"""The stories of the lab: files of molecule/lab/tests, and which of them a second try needs."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from .needs import CACHE, ROOT

#: Stories that failed or did not run, the last time.
OPEN = CACHE / "machines" / "lab-open.json"
#: A story of several files: each goes on where the one before it ended.
PART = re.compile(r"(?P<story>\w+?)_\d_\w+")


def name_of(path: Path) -> str:
    """The name by which tests/run_lab knows a file."""
    return path.stem.removeprefix("test_")


def names() -> list[str]:
    """All stories."""
    return sorted(map(name_of, (ROOT / "molecule/lab/tests").glob("test_*.py")))


def whole(wanted: Iterable[str]) -> list[str]:
    """These stories, with every part of a story of which one part is wanted."""
    chosen = set(map(first_name, wanted))
    return [name for name in names() if first_name(name) in chosen]


def first_name(name: str) -> str:
    """What the parts of a story have in common."""
    part = PART.fullmatch(name)
    return part["story"] if part else name


def write_open(paths: Iterable[Path]) -> None:
    OPEN.parent.mkdir(parents=True, exist_ok=True)
    OPEN.write_text(json.dumps(whole(map(name_of, paths))))


def read_open() -> list[str]:
    """The stories of a second try: none if all passed, all if the last run did not get that far."""
    stories: list[str] = json.loads(OPEN.read_text()) if OPEN.exists() else names()
    return stories
