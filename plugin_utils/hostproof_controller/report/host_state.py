# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the runs together say about one host."""

from typing import Any, NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import PASS, SKIP


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
        if len(self.parts) == 1:
            return self.parts[0].findings
        return [finding for part in self.parts for finding in part.findings]

    @property
    def loud(self) -> list[dict[str, Any]]:
        """The findings that neither passed nor were skipped."""
        return [one for one in self.findings if one["status"] not in (PASS, SKIP)]
