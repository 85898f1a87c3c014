# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a report shows: hosts, pseudo hosts and runs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, overload

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.evaluate.finding import (
    SEVERITIES,
)

from ...cluster.nodes import is_same
from ..findings import SCHEMA
from ..host_state import HostState, Part
from ..verdict import Tally, cluster_verdict
from .entries import Entry, topic_of
from .instants import NEVER
from .pseudo_hosts import cluster_name, is_cluster
from .run_findings import no_answer


class Run(NamedTuple):
    """One run: ``hosts`` it set out to check, ``answered`` that left a line."""

    id: str
    started: str
    hosts: int
    answered: int


class WinningLine(NamedTuple):
    """What one line contributes to its host: the topics that no later line replaced.

    ``silent``: the line has no finding, and what it amounts to is one.
    """

    entry: Entry
    topics: frozenset[str]
    silent: bool

    def part(self) -> Part:
        line = self.entry.load()
        if not self.silent and self.topics == self.entry.topics.keys():
            return Part(line, list(line["findings"]))
        findings = [no_answer(line)] if self.silent else line["findings"]
        return Part(line, [finding for finding in findings if topic_of(finding) in self.topics])


class MergedHost(NamedTuple):
    """A host before it is read: a HostState of lines that are on disk."""

    name: str
    outcome: str
    at: str
    won: tuple[WinningLine, ...]

    def state(self) -> HostState:
        return HostState(self.name, self.outcome, self.at, [line.part() for line in self.won])


class Hosts(Sequence[HostState]):
    """The hosts of a report. Each is read from the file on request and not kept in memory."""

    def __init__(
        self,
        hosts: Sequence[MergedHost],
        change: Callable[[HostState], HostState] | None = None,
    ) -> None:
        self._hosts = hosts
        self._change = change
        self._places: dict[str, int] = {}
        self.names = [host.name for host in hosts]

    def changed(self, change: Callable[[HostState], HostState]) -> "Hosts":
        """The same hosts, each as ``change`` has it."""
        return Hosts(self._hosts, change)

    def grouped_by(self, check: str) -> Iterator[HostState]:
        """Those that stated by this check of which cluster, or of which database, they are."""
        for place, host in enumerate(self._hosts):
            if any(check in won.entry.groups for won in host.won):
                yield self[place]

    def called(self, name: str) -> "HostState | None":
        """The host with this name, or else the only host whose name without domain matches."""
        exact = [place for place, candidate in enumerate(self.names) if candidate == name]
        places = exact or [
            place for place, candidate in enumerate(self.names) if is_same(candidate, name)
        ]
        return self[places[0]] if len(places) == 1 else None

    def part_of(self, entry: Entry) -> Part | None:
        """What a line contributes to its host; None where later lines replaced all of it."""
        if not self._places:
            self._places = {name: place for place, name in enumerate(self.names)}
        place = self._places[entry.host]
        for number, won in enumerate(self._hosts[place].won):
            if won.entry is entry:
                return self[place].parts[number]
        return None

    def __len__(self) -> int:
        return len(self._hosts)

    @overload
    def __getitem__(self, place: int) -> HostState:
        pass

    @overload
    def __getitem__(self, place: slice) -> list[HostState]:
        pass

    def __getitem__(self, place: int | slice) -> HostState | list[HostState]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        state = self._hosts[place].state()
        return self._change(state) if self._change else state


class States(Sequence[HostState]):
    """Hosts and pseudo hosts, one after the other."""

    def __init__(self, hosts: Hosts, about: list[HostState]) -> None:
        self._hosts = hosts
        self._about = about

    def __len__(self) -> int:
        return len(self._hosts) + len(self._about)

    @overload
    def __getitem__(self, place: int) -> HostState:
        pass

    @overload
    def __getitem__(self, place: slice) -> list[HostState]:
        pass

    def __getitem__(self, place: int | slice) -> HostState | list[HostState]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if place >= len(self):
            raise IndexError(place)
        more = place - len(self._hosts)
        return self._hosts[place] if more < 0 else self._about[more]


class Results:
    """Everything that a report shows.

    ``about`` holds the pseudo hosts, ``notes`` sentences about the files that were read,
    ``entries`` the lines in the order in which they were read.
    """

    def __init__(
        self,
        hosts: Hosts,
        about: list[HostState],
        runs: list[Run],
        entries: list[Entry],
        notes: list[str],
    ) -> None:
        self.hosts = hosts
        self.about = about
        self.runs = runs
        self.entries = entries
        self.notes = notes
        #: The least severity of a failure that decides the exit code.
        self.fail_on = SEVERITIES[-1]
        self.waits = False
        self._tally: Tally | None = None

    @property
    def states(self) -> Sequence[HostState]:
        """The hosts, then the pseudo hosts."""
        return States(self.hosts, self.about)

    def name_at(self, place: int) -> str:
        """The name of the state at this place among the states."""
        more = place - len(self.hosts)
        return self.hosts.names[place] if more < 0 else self.about[more].name

    def show(self, *readers: "Reader") -> None:
        """Let each of the readers see every state, while each is read once."""
        tally = Tally()
        for place, state in enumerate(self.states):
            for reader in readers:
                reader.add(state)
            tally.add(state, is_host=place < len(self.hosts))
        self._tally = tally

    @property
    def tally(self) -> "Tally":
        """What the findings amount to."""
        if self._tally is None:
            self.show()
        if self._tally is None:
            raise AssertionError
        return self._tally

    @property
    def clusters(self) -> dict[str, str]:
        """The verdict on each cluster, by its name."""
        states = [state for state in self.about if is_cluster(state.name)]
        return {cluster_name(state.name): cluster_verdict(state.findings) for state in states}

    @property
    def expected(self) -> int:
        """The number of hosts the runs set out to check."""
        return sum(run.hosts for run in self.runs)

    @property
    def cut_short(self) -> bool:
        """Whether any run left fewer results than it has hosts."""
        return any(run.answered < run.hosts for run in self.runs)


class Reader(Protocol):
    """An object that receives every host state of a report and collects data from it."""

    def add(self, state: HostState) -> Any:
        """Take a host."""


def with_parts(results: Results, name: str, parts: list[Part]) -> Results:
    """The results with more parts for a pseudo host, which is made if there is none yet."""
    if not parts:
        return results
    old = [state.parts for state in results.about if state.name == name]
    at = parts[-1].line["at"]
    state = HostState(name, "judged", at, [*(old[0] if old else []), *parts])
    others = [other for other in results.about if other.name != name]
    return Results(results.hosts, [*others, state], results.runs, results.entries, results.notes)


def pseudo_line(results: Results, name: str) -> dict[str, Any]:
    """A host result, still without findings, for a pseudo host: of the newest run."""
    newest = max((entry.at for entry in results.entries), default=NEVER)
    run = {"id": "none", "started": newest, "hosts": 0}
    if results.runs:
        run = {key: getattr(results.runs[-1], key) for key in ("id", "started", "hosts")}
    return {
        "schema": SCHEMA,
        "run": run,
        "host": name,
        "at": newest,
        "recorded_at": None,
        "outcome": "judged",
        "message": None,
        "findings": [],
        "evidence": None,
        "catalogue": VERSION,
    }
