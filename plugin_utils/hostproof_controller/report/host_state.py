# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs together say about one host."""

from typing import Any, NamedTuple


class Part(NamedTuple):
    """The findings that one line of findings.jsonl contributes to its host."""

    line: dict[str, Any]
    findings: list[dict[str, Any]]


class HostState(NamedTuple):
    """What the runs together say about one host. ``at`` and ``outcome`` are the newest line's."""

    name: str
    outcome: str
    at: str
    parts: list[Part]

    @property
    def findings(self) -> list[dict[str, Any]]:
        return [finding for part in self.parts for finding in part.findings]
