"""The stored advice of every check: which fix and commands it gives, by status and failing layer.

tests/texts/advice/CONTROL.txt is read and reviewed by people, and written by tests/advice. The
tests of the controls compare each fix that they produce with it (controls/conftest.py).
"""

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, WARN, Finding

FOLDER = Path(__file__).resolve().parents[1] / "texts/advice"
#: Fix and commands, without what differs from host to host.
Advice = tuple[str, ...]
Rows = dict[str, set[Advice]]

#: Control characters and other hostile names do not belong into a file that people review.
_STRANGE = re.compile(r"[^\x20-\x7e]+")
#: Directories of pytest: their names differ by user, run and worker.
_TEMPORARY = re.compile(r"/[^\s:]*?/?pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?")
#: Numbers, also within names: ora1, 19c, eth0, 10.0.0.1.
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")


#: Reasons that come from a reading, and the hint that every unreadable one has.
_READING = re.compile(r"(?<=apply cannot plan this host: ).*")
_WITH_ROOT = "rerun with --become (requires root)"


def _plain(text: str) -> str:
    text = _READING.sub("REASON", _STRANGE.sub("?", text))
    text = _TEMPORARY.sub("/tmp/", text)
    return _NUMBERS.sub("#", text).strip()


def row_of(finding: Finding) -> tuple[str, Advice] | None:
    """(check, status and layer; advice); None for a finding without advice."""
    if finding.status not in (FAIL, WARN, ERROR) or not (finding.fix or finding.commands):
        return None
    if finding.fix == _WITH_ROOT:
        return None
    key = f"{finding.check} {finding.status} {finding.failing_layer or '-'}"
    commands = sorted({f"$ {_plain(command)}" for command in finding.commands})
    return key, (_plain(finding.fix or "-"), *commands)


def text_of(rows: Rows) -> str:
    lines = []
    for key in sorted(rows):
        lines.append(key)
        for fix, *commands in sorted(rows[key]):
            lines += [f"  - {fix}", *(f"      {command}" for command in commands)]
        lines.append("")
    return "\n".join(lines)


def parsed(text: str) -> Rows:
    rows: Rows = {}
    advice: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("      $ "):
            advice[-1].append(line.strip())
        elif line.startswith("  - "):
            advice.append([line[4:]])
        elif line:
            advice = []
            key = line
        if not line:
            rows[key] = {tuple(one) for one in advice}
    if advice:
        rows[key] = {tuple(one) for one in advice}
    return rows


@functools.cache
def stored(control: str) -> Rows | None:
    """None for a control whose advice was not stored yet."""
    path = FOLDER / f"{control}.txt"
    return parsed(path.read_text()) if path.exists() else None


def not_stored(findings: Iterable[Finding]) -> list[str]:
    """The advice of findings that the files do not have, as they would have it."""
    new = set()
    for finding in findings:
        row, rows = row_of(finding), stored(finding.control)
        if row is not None and rows is not None and row[1] not in rows.get(row[0], ()):
            new.add(text_of({row[0]: {row[1]}}))
    return sorted(new)
