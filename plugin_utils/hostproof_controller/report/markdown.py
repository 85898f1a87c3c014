# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of Markdown, and the findings that need attention as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, WAIVED, WARN

from .store import Results
from .text import fix_of, one_line
from .verdict import STATUS_GLYPHS, verdicts


def findings_as_markdown(results: Results) -> str:
    """A table of the hosts and their findings that need attention, for a ticket or a wiki."""
    lines = ["# Hostproof report", ""]
    lines.append(as_markdown(("host", "verdict"), verdicts(results).items()))
    for state in results.states:
        findings = [
            finding
            for finding in state.findings
            if finding["status"] in (FAIL, ERROR, WARN, WAIVED)
        ]
        if not findings:
            continue
        lines += [f"## {markdown_cell(state.name)}", ""]
        rows = [
            (
                f"{STATUS_GLYPHS[finding['status']]} {finding['status']}",
                finding["check"],
                finding["title"],
                finding["why"],
                fix_of(finding),
            )
            for finding in findings
        ]
        lines.append(as_markdown(("status", "check", "title", "why", "fix"), rows))
    return "\n".join(lines)


def as_markdown(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown in which every cell is text, whatever is in it."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(markdown_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


_MARKS = str.maketrans(
    {character: f"\\{character}" for character in "\\`*_[]<>|#~!$"} | {"&": "&amp;"}
)


def markdown_cell(value: object) -> str:
    """Text on one line that Markdown takes for text."""
    text = one_line("" if value is None else str(value)).translate(_MARKS)
    # What looks like an address would be made a link.
    text = text.replace("\\](", "\\]\\(")
    return text.replace("://", ":\u200b//").replace("www.", "www\u200b.").replace("@", "&#64;")
