# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Totals over all findings, collected host by host before the first page is written."""

from operator import itemgetter
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import SEVERITIES, STATUSES, WAIVED, subject_of

from .anchors import finding_anchors
from .causes import (
    UNWELL,
    First,
    Group,
    action_key,
    by_page,
    by_urgency,
    groups_of,
    shown_advice,
)
from .host_state import HostState
from .store import is_pseudo, recorded_apart
from .text import heading_of


class Totals:
    """What the head of a page states of all hosts. ``waived`` has the hosts of each waiver.

    ``recorded`` are the first and the last time of evidence that was checked later (None: unknown),
    ``recorded_hosts`` is the number of hosts with such evidence.
    """

    def __init__(self) -> None:
        self.waivers: set[tuple[tuple[str, str], ...]] = set()
        self.waived: dict[tuple[str, ...], list[str]] = {}
        self.recorded: list[str | None] = []
        self.recorded_hosts = 0
        self.severities: set[str] = set()
        self.first = First()

    def add(self, state: HostState) -> None:
        is_host = not is_pseudo(state.name)
        if is_host:
            self.first.add(state)
        self.severities.update(map(itemgetter("severity"), state.findings))
        for finding in state.loud:
            if finding["status"] == WAIVED:
                waiver = finding["waiver"]
                self.waivers.add(tuple(sorted(waiver.items())))
                key = (finding["check"], waiver["was"], waiver["owner"], waiver["reason"])
                self.waived.setdefault((*key, waiver["expires"]), []).append(state.name)
        recorded = recorded_apart(state) if is_host else []
        if recorded:
            self.recorded_hosts += 1
            known = sorted(instant for instant in [*self.recorded, *recorded] if instant)
            self.recorded = [known[0], known[-1]] if known else [None]


class Link(NamedTuple):
    """A finding of a host: ``anchor`` is its id on the page of the host."""

    host: str
    anchor: str
    subject: str


def title_of(finding: dict[str, Any]) -> str:
    """The heading without what it is about: what all findings of a check share."""
    title = heading_of(finding)
    subject = subject_of(finding["title"])
    return title[len(subject) + 2 :] if subject else title


class Row:
    """The findings of one check, status and title that belong to one cause, on all hosts."""

    def __init__(self, finding: dict[str, Any]) -> None:
        self.check: str = finding["check"]
        self.status: str = finding["status"]
        self.severity: str = finding["severity"]
        self.title = title_of(finding)
        self.links: list[Link] = []


class Cause:
    """What several hosts lack for one reason; ``rows`` begin with the cause itself.

    ``advice`` is a command for all of them, or what ``example`` is to do: another host may need
    another value.
    """

    def __init__(self, host: str, group: Group, command: str | None) -> None:
        self.example = None if command else host
        cause = group.cause
        self.check: str = cause["check"]
        self.title = title_of(cause)
        self.advice = shown_advice(cause, command)
        self.status = group.status
        self.hosts = 0
        self.rows: dict[tuple[bool, str, str, str], Row] = {}

    @property
    def findings(self) -> int:
        return sum(len(row.links) for row in self.rows.values())

    def add(self, host: str, group: Group, anchors: dict[int, str]) -> None:
        self.status = min(self.status, group.status, key=STATUSES.index)
        for finding in (group.cause, *group.rests):
            is_cause = finding is group.cause
            key = (not is_cause, finding["check"], finding["status"], title_of(finding))
            if key not in self.rows:
                self.rows[key] = Row(finding)
            subject = subject_of(finding["title"])
            self.rows[key].links.append(Link(host, anchors[id(finding)], subject))

    def ordered(self) -> list[Row]:
        """The cause, then the findings that it also resolves, the most severe first."""
        return [
            row
            for _, row in sorted(
                self.rows.items(),
                key=lambda item: (
                    item[0][0],
                    STATUSES.index(item[1].status),
                    SEVERITIES.index(item[1].severity),
                    item[1].check,
                ),
            )
        ]


class Causes:
    """All findings of hosts that need attention, by their causes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Cause] = {}

    def add(self, state: HostState) -> None:
        if is_pseudo(state.name):
            return
        groups = groups_of(by_urgency(state.loud))
        groups = [group for group in groups if group.status in UNWELL]
        if not groups:
            return
        anchors = finding_anchors(state.name, by_page(groups))
        met = set()
        for group in groups:
            key, command = action_key(group.cause)
            if key not in self._known:
                self._known[key] = Cause(state.name, group, command)
            self._known[key].add(state.name, group, anchors)
            met.add(key)
        for key in met:
            self._known[key].hosts += 1

    def worst_first(self) -> list[Cause]:
        """Failures, then errors, then warnings, each by the number of hosts, highest first."""
        return sorted(
            self._known.values(),
            key=lambda cause: (STATUSES.index(cause.status), -cause.hosts, cause.check),
        )
