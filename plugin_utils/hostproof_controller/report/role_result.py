# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of a role as lines that every callback can print, for a play without a report."""

from collections.abc import Iterable, Sequence
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import (
    ACTUAL_LAYERS,
    ERROR,
    PASS,
    SEVERITIES,
    SKIP,
    STATUSES,
    WAIVED,
    WARN,
    subject_of,
    worst,
)

from .text import as_typed, heading_of, one_line, shorten
from .verdict import actual_layer

#: Lines for one host. The result of the role has all findings.
MOST_LINES = 36
#: Characters of a line.
_WIDTH = 400
#: Commands of one finding.
_COMMANDS = 4
#: Objects in the message of the task, and characters of each.
_OBJECTS = 5
_OBJECT_WIDTH = 120

_WORDS = {PASS: "passed", SKIP: "skipped", WARN: "warnings", WAIVED: "waived", ERROR: "errors"}


def status_of(findings: Sequence[dict[str, Any]]) -> str:
    """The worst status; ``skip`` counts only if there is no other."""
    statuses = [finding["status"] for finding in findings]
    return worst([status for status in statuses if status != SKIP] or statuses)


def counted(findings: Iterable[dict[str, Any]]) -> str:
    """ "1 failed, 2 warnings, 9 passed, 3 skipped"."""
    statuses = [finding["status"] for finding in findings]
    parts = []
    for status in STATUSES:
        count = statuses.count(status)
        word = _WORDS.get(status, "failed")
        parts += [f"{count} {word.rstrip('s') if count == 1 else word}"] if count else []
    return ", ".join(parts)


def sentence_of(name: str, findings: Sequence[dict[str, Any]]) -> str:
    """The counts and the objects of the worst findings in one line."""
    shown = _worst_first(findings)
    parts = [_object(finding) for finding in shown[:_OBJECTS]]
    if len(shown) > _OBJECTS:
        parts.append(f"{len(shown) - _OBJECTS} more")
    return "; ".join([f"{name}: {counted(findings)}", *parts])


def lines_of(name: str, findings: Sequence[dict[str, Any]]) -> list[str]:
    """The counts, then a block for each finding that is not ``pass`` or ``skip``, worst first.

    Findings with the same fix are listed together above it.
    """
    lines = [f"{name}: {counted(findings)}"]
    shown = _worst_first(findings)
    by_fix: dict[object, list[dict[str, Any]]] = {}
    for finding in shown:
        by_fix.setdefault((finding["fix"], tuple(finding["commands"])), []).append(finding)
    left = len(shown)
    for same in by_fix.values():
        block = [line for finding in same for line in _statement(finding)] + _advice(same[0])
        if len(lines) + len(block) > MOST_LINES - 1:
            break
        lines += map(_shown, block)
        left -= len(same)
    if left:
        word = "finding is" if left == 1 else "findings are"
        lines.append(f"{left} more {word} in the result hostproof_{name}")
    return lines


def _worst_first(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    shown = [finding for finding in findings if finding["status"] not in (PASS, SKIP)]
    return sorted(
        shown,
        key=lambda one: (STATUSES.index(one["status"]), SEVERITIES.index(one["severity"])),
    )


def _object(finding: dict[str, Any]) -> str:
    """ "net.core.rmem_max: 212992, required at least 4194304"."""
    layer = actual_layer(finding)
    name = subject_of(finding["title"]) or heading_of(finding)
    if layer is None or finding["desired"] is None or finding["status"] == ERROR:
        return shorten(one_line(f"{name}: {finding['why']}"), _OBJECT_WIDTH)
    text = f"{name}: {finding[layer]}, required {finding['desired']}"
    return shorten(one_line(text), _OBJECT_WIDTH)


def _statement(finding: dict[str, Any]) -> list[str]:
    lines = [
        f"{finding['status'].upper()} {heading_of(finding)} "
        f"({finding['check']}, {finding['severity']})"
    ]
    actual = [
        f"{layer.replace('_', ' ')} {finding[layer]}"
        for layer in ACTUAL_LAYERS
        if finding[layer] is not None
    ]
    if finding["desired"] is not None and actual:
        lines.append(f"  required: {finding['desired']}; actual: {', '.join(actual)}")
    if finding["status"] == ERROR or len(lines) == 1:
        lines.append(f"  {finding['why']}")
    return lines


def _advice(finding: dict[str, Any]) -> list[str]:
    lines = [f"  fix: {as_typed(finding['fix'])}"] if finding["fix"] else []
    return lines + [f"  command: {as_typed(line)}" for line in finding["commands"][:_COMMANDS]]


def _shown(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + shorten(one_line(line), _WIDTH)
