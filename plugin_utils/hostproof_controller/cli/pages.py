# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Help, the man page and completion for three shells, made from the table of verbs.

``python -m hostproof_controller.cli.pages`` writes them; a test says when that was forgotten.
"""

from __future__ import annotations

from pathlib import Path

from ..report.verdict import EXIT_MEANINGS
from .completion import COMPLETION
from .manual import man
from .verbs import JUDGED, VERBS

ROOT = Path(__file__).resolve().parents[3]
_GATE = "apply: in batches, each measured before and after, and only kept if no slower"


def pages() -> dict[Path, str]:
    """Every file that is made from the table, and its text."""
    made = {Path(__file__).with_name("help.txt"): help_text(), ROOT / "docs/hostproof.1": man()}
    return made | {ROOT / path: shell() for path, shell in COMPLETION.values()}


def help_text() -> str:
    """What ./hostproof --help prints; the wrapper prints it without a virtualenv."""
    lines = ["Hostproof makes a host ready for an Oracle database, and proves it.", ""]
    lines += [f"  ./hostproof {verb.name:<14}  {verb.summary}" for verb in VERBS]
    lines += [
        "",
        "./hostproof VERB --help tells a verb's options. What runs on hosts takes all of",
        "ansible-playbook (-i, --limit, --tags CONTROL, -e, --check, --diff, --become, ...), and",
        "  --evidence DIR   audit: judge these evidence packs instead of hosts",
        "  --waivers FILE   accept findings that this YAML file waives",
        "  --strict         a warning counts like a failure",
        f"  --gate           {_GATE};",
        "                   revert --gate DIR: put back what such an apply did not keep",
        "",
        "Exit codes of audit, verify, apply and compare",
    ]
    codes = dict(JUDGED)
    assert set(EXIT_MEANINGS) <= set(codes)
    for left, right in zip(sorted(codes)[:3], sorted(codes)[3:], strict=True):
        lines.append(f"  {left}  {codes[left]:<33}  {right}  {codes[right]}")
    lines += [
        "",
        "Reports are in reports/ (HOSTPROOF_REPORTS names another folder): findings.jsonl,",
        "report.json, report.xml (JUnit), report.prom (Prometheus), report.html.",
        "Baselines are in baselines/.",
    ]
    return "\n".join(lines) + "\n"


def write() -> None:
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
