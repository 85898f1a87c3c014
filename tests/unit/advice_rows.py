"""The stored advice of every check: which fix and commands it gives, by status and failing layer.

tests/texts/advice/CONTROL.txt is read and reviewed by people, and written by tests/advice. The
tests of the controls compare each fix that they produce with it (controls/conftest.py).
"""

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, WARN, Finding

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/texts/advice"
#: Fix and commands, without what differs from host to host.
Advice = tuple[str, ...]
Rows = dict[str, set[Advice]]

#: Control characters and other hostile names do not belong in a file that people review.
_STRANGE = re.compile(r"[^\x20-\x7e]+")
#: Directories of pytest: their names differ by user, run and worker.
_TEMPORARY = re.compile(r"/[^\s:]*?/?pytest-of-[^/\s]+/pytest-\d+/(?:popen-gw\d+/)?")
#: Numbers, also within names: ora1, 19c, eth0, 10.0.0.1.
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
#: Placeholders of a number that the finding requires, and of one that it states elsewhere. Any
#: other number is part of the rule and stored unchanged: "10 minutes" must not become "1 minutes".
_DESIRED, _OF_HOST = "{desired}", "{n}"
#: Between an advice and its one command; several have a line each.
_COMMAND = "   $ "
#: Placeholder of any number in a table that people read.
_ANY = "#"

#: Reasons that come from a reading, and the hint that every unreadable one has.
_READING = re.compile(r"(?<=apply cannot plan this host: ).*")
_WITH_ROOT = "rerun with --become (requires root)"


def _plain(text: str, numbers: dict[str, str]) -> str:
    text = _READING.sub("REASON", _STRANGE.sub("?", text))
    text = _TEMPORARY.sub("/tmp/", text)
    return _NUMBERS.sub(lambda one: numbers.get(one[0], one[0]), text).strip()


def _numbers_of(finding: Finding) -> dict[str, str]:
    """The placeholder of each number in the texts of a finding, except its fix."""
    layers = (finding.persisted, finding.running, finding.in_use)
    texts = (
        finding.title,
        finding.why,
        *layers,
        *finding.evidence,
        *(finding.values or {}).items(),
    )
    # The path of a fixture can have a number of the checkout or of the run, such as hostproof-3
    # and pytest-1/popen-gw1.
    text = _TEMPORARY.sub("", " ".join(map(str, texts)).replace(str(ROOT), ""))
    numbers = dict.fromkeys(_NUMBERS.findall(text), _OF_HOST)
    return numbers | dict.fromkeys(_NUMBERS.findall(finding.desired or ""), _DESIRED)


def without_numbers(advice: Advice) -> Advice:
    """The same for every host, for a table that people read."""
    return tuple(
        _NUMBERS.sub(_ANY, text.replace(_OF_HOST, _ANY).replace(_DESIRED, _ANY)) for text in advice
    )


def row_of(finding: Finding) -> tuple[str, Advice] | None:
    """(check, status and layer; advice); None for a finding without advice."""
    if finding.status not in (FAIL, WARN, ERROR) or not (finding.fix or finding.commands):
        return None
    if finding.fix == _WITH_ROOT:
        return None
    key = f"{finding.check} {finding.status} {finding.failing_layer or '-'}"
    numbers = _numbers_of(finding)
    commands = dict.fromkeys(f"$ {_plain(command, numbers)}" for command in finding.commands)
    return key, (_plain(finding.fix or "-", numbers), *commands)


def text_of(rows: Rows) -> str:
    lines = []
    for key in sorted(rows):
        lines.append(key)
        for fix, *commands in sorted(rows[key]):
            one = len(commands) == 1
            lines.append(f"  - {fix}{_COMMAND}{commands[0][2:]}" if one else f"  - {fix}")
            lines += [] if one else [f"      {command}" for command in commands]
    return "".join(f"{line}\n" for line in lines)


def parsed(text: str) -> Rows:
    rows: dict[str, list[list[str]]] = {}
    advice: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("      $ "):
            advice[-1].append(line.strip())
        elif line.startswith("  - "):
            fix, separator, command = line[4:].partition(_COMMAND)
            advice.append([fix, f"$ {command}"] if separator else [fix])
        else:
            advice = rows.setdefault(line, [])
    return {key: {tuple(one) for one in found} for key, found in rows.items()}


@functools.cache
def stored(control: str) -> Rows:
    path = FOLDER / f"{control}.txt"
    return parsed(path.read_text()) if path.exists() else {}


def rows_of(findings: Iterable[Finding]) -> Rows:
    """The advice of findings."""
    rows: Rows = {}
    for finding in findings:
        row = row_of(finding)
        if row is not None:
            rows.setdefault(row[0], set()).add(row[1])
    return rows


def add(more: Rows, rows: Rows) -> None:
    for key, advice in more.items():
        rows.setdefault(key, set()).update(advice)


def _without(rows: Rows, others: Rows) -> Rows:
    left = {key: advice - others.get(key, set()) for key, advice in rows.items()}
    return {key: advice for key, advice in left.items() if advice}


def not_stored(rows: Rows) -> Rows:
    """The advice that the files do not have. What a new control advises is stored with it."""
    known: Rows = {}
    for control in {key.partition(".")[0] for key in rows}:
        known |= stored(control)
    return _without(rows, known)


def not_produced(rows: Rows) -> Rows:
    """The stored advice that is not among ``rows``. A step that a rule no longer gives leaves its
    row behind, where the shorter advice is stored for another host."""
    known: Rows = {}
    for path in FOLDER.glob("*.txt"):
        known |= stored(path.stem)
    return _without(known, rows)
