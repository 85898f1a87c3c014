# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of a report: what each states of its place among the others."""

import os
from typing import Any

from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import (
    SKIP,
)

from ...cluster.nodes import COMPLETE, SESSIONS, SHARED_EXPORT
from ..shared_findings import SharedFindings, once
from .host_result import as_schema_3

#: Checks of the effect of a change: their findings never replace those of the state, or vice versa.
_ABOUT_A_CHANGE = ("latency.change", "latency.fleet_change", "latency.gate")

#: Ends the topic of what an apply itself says: that it was rejected, or did not succeed. What the
#: same run finds afterwards says nothing of that.
AS_APPLIED = " as applied"


class Entry:
    """What a line states of its place among the others; the line itself is read when it is needed.

    ``topics`` are what its findings are about (topic_of), each with whether all that it states of
    it yields to an older line (_has_no_before). ``groups`` are the checks by which it states of
    which cluster the host is, or of which database its pools.
    """

    __slots__ = ("_line", "_place", "at", "groups", "host", "outcome", "run", "topics")

    def __init__(
        self,
        line: dict[str, Any],
        place: tuple["OpenFile", int, int] | None = None,
        shared: dict[Any, Any] | None = None,
    ) -> None:
        self.host: str = line["host"]
        self.at: str = line["at"]
        self.outcome: str = line["outcome"]
        self._line = None if place else line
        self._place = place
        self.groups: frozenset[str] = frozenset()
        topics: dict[str, bool] = {}
        for finding in line["findings"]:
            topic, yields, groups = _topic_and_groups(finding)
            if groups:
                self.groups |= groups
            topics[topic] = topics.get(topic, True) and yields
        # Nearly all lines of a run say the same of both.
        shared = {} if shared is None else shared
        run = line["run"]
        self.run: dict[str, Any] = shared.setdefault(tuple(sorted(run.items())), run)
        self.topics: dict[str, bool] = shared.setdefault(tuple(topics.items()), topics)

    def load(self) -> dict[str, Any]:
        """The line."""
        if self._line is not None:
            return self._line
        if self._place is None:
            raise AssertionError
        kept, start, size = self._place
        return kept.line(start, size)

    def hold(self) -> "Entry":
        """Keep the line itself from now on."""
        self._line = self.load()
        return self


class OpenFile:
    """A findings.jsonl that stays open: what replaces it meanwhile is another file."""

    def __init__(self, path: str) -> None:
        self.path = path
        # Closed with the last line that is in it.
        self.stream = open_regular(path)
        self.findings = SharedFindings()

    def line(self, start: int, size: int) -> dict[str, Any]:
        raw = os.pread(self.stream.fileno(), size, start)
        try:
            return as_schema_3(self.findings.loads(raw)[0])
        except ValueError:
            raise HostproofError(
                f"{self.path} was written over while it was read: render it again"
            ) from None


@once
def topic_of(finding: dict[str, Any]) -> str:
    """Findings with the same topic replace each other; those of a change have a separate topic."""
    if finding["check"] in _ABOUT_A_CHANGE:
        return str(finding["control"]) + " of a change"
    if finding["check"] == f"{finding['control']}.applied":
        return str(finding["control"]) + AS_APPLIED
    return str(finding["control"])


@once
def _topic_and_groups(finding: dict[str, Any]) -> tuple[str, bool, frozenset[str]]:
    """The topic of a finding, whether it yields to an older line, and its check if it names a
    group of hosts."""
    grouping = finding["check"] in (COMPLETE, SESSIONS, SHARED_EXPORT) and finding["values"]
    groups = frozenset({finding["check"]} if grouping else ())
    return topic_of(finding), _has_no_before(finding), groups


def _has_no_before(finding: dict[str, Any]) -> bool:
    """Whether an audit skipped the check of a change; this does not replace a comparison."""
    return finding["check"] in _ABOUT_A_CHANGE and finding["status"] == SKIP
