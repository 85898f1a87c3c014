"""What whole, cut and altered reports lead to: their windows, figures and remarks, or the error.

The outcomes are in altered_reports.json. If others are meant, review the difference after
HOSTPROOF_WRITE_FIXTURES=1 pytest -k altered_reports tests/unit
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import latency_packs
import packs
import pytest
from ansible.module_utils.hostproof.collect.host import LiveHost
from ansible.module_utils.hostproof.controls.latency.measurement import reports
from ansible.module_utils.hostproof.errors import ParseError
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import FAIL, PASS, WARN
from matrix.replay import plain
from stored import text_of

EXPECTED = Path(__file__).with_name("altered_reports.json")
FOLDER = packs.FIXTURES / "latency"
FILES = sorted(
    path.name
    for path in FOLDER.iterdir()
    if path.suffix in (".txt", ".trc", ".lst", "") and reports.recognised(path.read_text())
)


#: The number of parts of a report. Each is removed once.
PARTS = 5


def without_part(text: str, part: int) -> str:
    lines = text.split("\n")
    size = len(lines) // PARTS + 1
    return "\n".join(lines[: part * size] + lines[(part + 1) * size :])


CHANGES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "twice": lambda text: text + "\n" + text,
    "followed by another": lambda text: text + "\n" + re.sub(r"\b7", "8", text),
    "with line ends of Windows": lambda text: "\ufeff" + text.replace("\n", "\r\n"),
    "cut in the middle": lambda text: text[: len(text) // 2],
    "with zeros": lambda text: re.sub(r"(?<=  )[\d,]+(?=\n)", "0", text),
    "with larger numbers": lambda text: re.sub(r"(?<=  )[1-8](?=[\d.,]*[ \n])", "9", text),
    "with hash signs": lambda text: re.sub(r"(?<=  )[\d,]{4,}", lambda n: "#" * len(n[0]), text),
    **{
        f"without part {part}": lambda text, part=part: without_part(text, part)
        for part in range(PARTS)
    },
}


def outcome(text: str, **told: Any) -> Any:
    try:
        report = reports.read(text, **told)
    except ParseError as problem:
        return str(problem)[:160]
    windows = [window.to_json() for window in report.windows]
    content = json.dumps([plain(report.figures), windows], sort_keys=True)
    return {
        "kind": report.kind,
        "windows": dict(sorted(Counter(window.layer for window in report.windows).items())),
        "remarks": [remark[:120] for remark in report.remarks],
        "content": hashlib.sha256(content.encode()).hexdigest()[:16],
    }


def judged(text: str, folder: Path, before: str | None = None) -> dict[str, str]:
    """What the checks of latency say of it, without those that say nothing of a report."""
    probe = {"probe": "report", "path": str(folder / "report.txt")}
    (folder / "report.txt").write_text(text)
    if before is not None:
        probe["before"] = str(folder / "before.txt")
        (folder / "before.txt").write_text(before)
    policy = {"latency": latency_packs.latency_policy(probes=[probe])}
    said = {}
    for finding in audit.judge_host(LiveHost(), policy):
        if finding.status in (PASS, WARN, FAIL):
            about = [finding.status, finding.why, finding.running, finding.in_use]
            words = " | ".join(filter(None, about)) + f" | {finding.values or ''}"
            subject = finding.title.rpartition(": ")[0]
            name = f"{finding.check.partition('.')[2]} {subject}".replace(str(folder), "")
            said[name] = words.replace(str(folder), "")[:400]
    return said


def of_file(name: str, folder: Path) -> dict[str, Any]:
    text = (FOLDER / name).read_text()
    found = {words: outcome(change(text)) for words, change in CHANGES.items()}
    found["of release 11.2"] = outcome(text, release="11.2.0.1.0")
    found["of a container database"] = outcome(text, multitenant=True)
    for words in ("as it is", "with larger numbers", "with zeros"):
        found[f"judged {words}"] = judged(CHANGES[words](text), folder)
    found["judged after another one"] = judged(
        text, folder, before=CHANGES["with larger numbers"](text)
    )
    whole = found["as it is"]
    # Parts without an effect or a finding are left out. Equal outcomes are listed once.
    by_outcome: dict[str, list[str]] = {}
    for words, one in found.items():
        if one and (one != whole or words == "as it is"):
            by_outcome.setdefault(json.dumps(one, sort_keys=True), []).append(words)
    return {", ".join(words): json.loads(one) for one, words in by_outcome.items()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    if os.environ.get("HOSTPROOF_WRITE_FIXTURES"):
        folder = tmp_path_factory.mktemp("reports")
        every = {
            f"{name} | {words}": one
            for name in FILES
            for words, one in of_file(name, folder).items()
        }
        EXPECTED.write_text(text_of(every, 1))
    found: dict[str, Any] = {}
    for key, one in json.loads(EXPECTED.read_text()).items():
        name, _, words = key.partition(" | ")
        found.setdefault(name, {})[words] = one
    return found


@pytest.mark.parametrize("name", FILES)
def test_what_a_report_leads_to(name: str, expected: dict[str, Any], tmp_path: Path):
    """If it is meant: HOSTPROOF_WRITE_FIXTURES=1 pytest -k altered_reports tests/unit"""
    assert of_file(name, tmp_path) == expected[name]


def test_no_outcome_of_a_file_that_is_gone(expected: dict[str, Any]):
    assert set(expected) == set(FILES)
