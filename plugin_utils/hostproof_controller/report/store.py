# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report directories: reading findings.jsonl of one or many runs, and what they state together.

A line of findings.jsonl is a host result (docs/finding.schema.json). Lines of several runs or
shards merge by concatenation: for each host and control the line with the latest ``at`` wins.

A line that is no host result is the error of its host, or of the run where it names none: one host
cannot take the report from the others.
"""

import calendar
import datetime
import json
import mmap
import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, overload

from ansible.module_utils.hostproof import VERSION
from ansible.module_utils.hostproof.collect.bounded import open_regular
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    SEVERITIES,
    SKIP,
    Check,
    make_finding,
)

from .. import run_options
from ..cluster.nodes import COMPLETE, SESSIONS, SHARED_EXPORT, is_same
from ..commands import is_own
from ..host_names import RULE, is_host_name, pattern_of
from .findings import SCHEMA, SINCE_2, SINCE_3, are_sound, key_problem, problem_of_finding
from .host_state import HostState, Part
from .renamed import is_old, with_current_ids
from .shared_findings import SharedFindings, once, unshared
from .text import LISTS_HOSTS, shorten
from .verdict import UNCHECKED_PROFILE, Tally, cluster_verdict
from .waivers import WAIVERS_HOST

#: The file of a report directory that everything else is rendered from.
FINDINGS_FILE = "findings.jsonl"

#: Checks of the effect of a change: their findings never replace those of the state, or vice versa.
_ABOUT_A_CHANGE = ("latency.change", "latency.fleet_change", "latency.gate")

#: Seconds that a run may need between its last read on a host and the line about that host.
_MOMENT = 5

#: Seconds by which the clocks of two controllers may differ.
_SKEW = 300

#: Ends the topic of what an apply itself says: that it was rejected, or did not succeed. What the
#: same run finds afterwards says nothing of that.
_AS_APPLIED = " as applied"

#: Pseudo hosts: what must be said about the run itself or about the waivers. They get no verdict.
RUN_HOST = "(run)"
PSEUDO_HOSTS = (RUN_HOST, WAIVERS_HOST)
#: Begins the name of what is said about a cluster: "(cluster rac1)".
_CLUSTER = "(cluster "

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")
_RESULT_KEYS_1 = {"schema", "run", "host", "at", "outcome", "message", "findings", "evidence"}
_RESULT_KEYS = _RESULT_KEYS_1 | {"recorded_at"}
#: Version of the checks. Older releases and results of other tools have none.
_CATALOGUE = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,63}\Z")

#: Maximum bytes of one line, many times the size of 20,000 findings with evidence.
MOST_LINE = 256 * 1024 * 1024

#: Bytes of a file whose lines stay in memory once they are decoded: some 350 hosts. Lines of a
#: larger file are decoded again for each step, so that any fleet needs the memory of one host.
HELD_BYTES = 64 * 1024 * 1024

#: A larger count of hosts, or a longer name of one, was never written by a run.
_MOST_HOSTS = 10**7
_MOST_NAME = 1000

#: What decides where in a line a key stands: a text, or the begin or end of an object or a list.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
_VALUE_FOLLOWS = re.compile(rb"\s*:\s*")
_INSTANT_IN = re.compile(rb'"at"\s*:\s*"([0-9T:-]{19}Z)"')
#: Where an instant must be: no line of a run is so long before its ``at``.
_HEAD = 1024
_NEVER = "1970-01-01T00:00:00Z"

_REACHABLE = Check(
    "host.reachable",
    "Host is reachable",
    "critical",
    "",
    "Nothing is known about this host: no connection could be made.",
    "docs/limits.md, hosts that do not answer",
    problem="Host is unreachable",
)
_JUDGED = Check(
    "host.audited",
    "Host was audited",
    "critical",
    "",
    "Nothing is known about this host: no control returned a result.",
    "docs/limits.md, hosts that do not answer",
    problem="Host was not audited",
)
_MATCHED = Check(
    "run.hosts_matched",
    "At least one host was audited",
    "critical",
    "",
    "Whether any host is ready could not be determined.",
    "README, exit codes",
    problem="No host was audited",
)
_READABLE = Check(
    "run.results_readable",
    "Every result of the run is readable",
    "critical",
    "",
    "It is unknown which host the result belongs to.",
    "docs/limits.md, hosts that do not answer",
    problem="A result of the run is not readable",
)
_FINISHED = Check(
    "run.finished",
    "Run is complete",
    "critical",
    "",
    "Nothing is known about the hosts that are missing.",
    "README, exit codes",
    problem="Run was interrupted",
)


#: For a run that --checks, --skip-checks or --set has narrowed.
SELECTION = Check(
    "host.selection",
    "All checks were run",
    "low",
    "",
    "The verdict is about the selected checks only.",
    "docs/selection.md",
)


#: For a run with --target-release or --target-os.
TARGET = Check(
    "host.target",
    "The host is checked as it is",
    "low",
    "",
    "The verdict is about the target, not about the present release and distribution.",
    "docs/selection.md",
)


#: For a host on which a control that its profile requires skipped every check.
PROFILE = Check(
    UNCHECKED_PROFILE,
    "Every control of the profile has checks",
    "low",
    "",
    "Nothing shows that the host is ready.",
    "docs/report.md",
)


def cluster_host(name: str) -> str:
    """The pseudo host of a cluster."""
    return f"{_CLUSTER}{name})"


def is_cluster(name: str) -> bool:
    return name.startswith(_CLUSTER)


def cluster_name(host: str) -> str:
    """The cluster that a pseudo host represents."""
    return host[len(_CLUSTER) : -1]


def is_pseudo(name: str) -> bool:
    return name in PSEUDO_HOSTS or is_cluster(name)


def recorded_apart(state: HostState) -> list[str | None]:
    """The instants at which evidence of a host was recorded, where that is not when it was checked.

    None represents evidence that does not say when.
    """
    apart: dict[str | None, None] = {}
    for part in state.parts:
        at = part.line["recorded_at"]
        if at is None:
            unknown = part.line["outcome"] == "judged" and part.line["evidence"] is not None
        else:
            unknown = False
        if unknown or (at is not None and abs(_seconds(at) - _seconds(part.line["at"])) > _MOMENT):
            apart[at] = None
    return sorted(apart, key=str)


@lru_cache(maxsize=1024)
def _seconds(instant: str) -> int:
    return calendar.timegm(time.strptime(instant, "%Y-%m-%dT%H:%M:%SZ"))


class Run(NamedTuple):
    """One run: ``hosts`` it set out to check, ``answered`` that left a line."""

    id: str
    started: str
    hosts: int
    answered: int


class Entry:
    """What a line states of its place among the others; the line itself is read when it is needed.

    ``topics`` are what its findings are about (_topic), each with whether all that it states of it
    yields to an older line (_has_no_before). ``groups`` are the checks by which it states of which
    cluster the host is, or of which database its pools.
    """

    __slots__ = ("_line", "_place", "at", "groups", "host", "outcome", "run", "topics")

    def __init__(
        self,
        line: dict[str, Any],
        place: tuple["_File", int, int] | None = None,
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
            if finding["check"] in (COMPLETE, SESSIONS, SHARED_EXPORT) and finding["values"]:
                self.groups |= {finding["check"]}
            topic = _topic(finding)
            topics[topic] = topics.get(topic, True) and _has_no_before(finding)
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


class _File:
    """A findings.jsonl that stays open: what replaces it meanwhile is another file."""

    def __init__(self, path: str) -> None:
        self.path = path
        # Closed with the last line that is in it.
        self.stream = open_regular(path)
        self.findings = SharedFindings()

    def line(self, start: int, size: int) -> dict[str, Any]:
        raw = os.pread(self.stream.fileno(), size, start)
        try:
            line = _as_schema_3(_loads(raw))
        except ValueError:
            raise HostproofError(
                f"{self.path} was written over while it was read: render it again"
            ) from None
        return dict(line, findings=self.findings.known(line["findings"]))


class _Won(NamedTuple):
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
        findings = [_no_answer(line)] if self.silent else line["findings"]
        return Part(line, [finding for finding in findings if _topic(finding) in self.topics])


class _Host(NamedTuple):
    """A host before it is read: a HostState of lines that are on disk."""

    name: str
    outcome: str
    at: str
    won: tuple[_Won, ...]

    def state(self) -> HostState:
        return HostState(self.name, self.outcome, self.at, [line.part() for line in self.won])


class Hosts(Sequence[HostState]):
    """The hosts of a report. Each is read from the file on request and not kept in memory."""

    def __init__(
        self,
        hosts: Sequence[_Host],
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


def read_entries(paths: Iterable[str], notes: list[str] | None = None) -> list[Entry]:
    """The host results in report directories (or findings.jsonl files), in the order given.

    A killed run can leave its last line cut: that line is left out and ``notes`` says so.
    Anything else that is not a host result becomes the error of its host, or of the run, and
    ``notes`` say so. A file that cannot be read raises HostproofError.
    """
    entries: list[Entry] = []
    for path in paths:
        name = os.path.join(path, FINDINGS_FILE) if os.path.isdir(path) else path
        entries.extend(_read_file(name, [] if notes is None else notes))
    return entries


def merge(lines: Iterable[Entry | dict[str, Any]], notes: Iterable[str] = ()) -> Results:
    """What the host results say together: by host and control the latest ``at`` wins.

    A later ``unreachable`` or ``failed`` replaces all that was known of the host, and is itself
    replaced by a later evaluation. Equal times: the later line wins.
    """
    shared: dict[Any, Any] = {}
    entries = [line if isinstance(line, Entry) else Entry(line, shared=shared) for line in lines]
    by_host: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda entry: entry.at):
        by_host.setdefault(entry.host, []).append(entry)
    names = [*PSEUDO_HOSTS, *sorted(filter(is_cluster, by_host), key=natural)]
    pseudo = {host: by_host.pop(host) for host in names if host in by_host}
    hosts = [_merge_host(host, by_host[host]) for host in sorted(by_host, key=natural)]
    about = [
        _merge_host(host, [entry.hold() for entry in group]).state()
        for host, group in pseudo.items()
    ]
    results = Results(Hosts(hosts), about, _runs(entries), entries, list(notes))
    return with_parts(results, RUN_HOST, _about_run(results))


def natural(name: str) -> list[tuple[int, str]]:
    """Sort key that puts db2 before db10."""
    # re.split puts the numbers at odd places; -1 keeps a text from being compared with a number.
    pieces = re.split("([0-9]+)", name)
    return [(int(p), "") if place % 2 else (-1, p) for place, p in enumerate(pieces)]


def with_parts(results: Results, name: str, parts: list[Part]) -> Results:
    """The results with more parts for a pseudo host, which is made if there is none yet."""
    if not parts:
        return results
    old = [state.parts for state in results.about if state.name == name]
    at = parts[-1].line["at"]
    state = HostState(name, "judged", at, [*(old[0] if old else []), *parts])
    others = [other for other in results.about if other.name != name]
    return Results(results.hosts, [*others, state], results.runs, results.entries, results.notes)


def merged_lines(results: Results) -> Iterator[dict[str, Any]]:
    """The lines with what was superseded taken out: each finding that counts stands exactly once.

    A superseded line stays, without findings and evidence, so that the runs can still be counted.
    """
    about = {id(part.line): part for state in results.about for part in state.parts}
    for entry in results.entries:
        if is_pseudo(entry.host):
            part = about.pop(id(entry.load()), None)
        else:
            part = results.hosts.part_of(entry)
        if part is None:
            yield dict(entry.load(), findings=[], evidence=None)
        else:
            yield dict(part.line, findings=part.findings)
    for part in about.values():
        if part.line["host"] != RUN_HOST:
            yield dict(part.line, findings=part.findings)


class _Bad(NamedTuple):
    """A line that is no host result: what is wrong with it, and what of it can be known."""

    problem: str
    host: str | None
    at: str | None
    run: dict[str, Any] | None


def _read_file(path: str, notes: list[str]) -> list[Entry]:
    read: list[Entry | _Bad | None] = []
    shared: dict[Any, Any] = {}
    try:
        kept = _File(path)
        stream = kept.stream
        is_held = os.fstat(stream.fileno()).st_size <= HELD_BYTES
        number = start = 0
        while True:
            number += 1
            raw = stream.readline(MOST_LINE + 1)
            if not raw:
                break
            result = (
                _too_long(stream, start) if len(raw) > MOST_LINE else _read_line(raw, kept.findings)
            )
            if isinstance(result, _Bad):
                read.append(_bad_with_place(result, f"{path}, line {number}", notes))
            else:
                place = None if is_held else (kept, start, len(raw))
                read.append(Entry(result, place, shared))
            start = stream.tell()
    except OSError as problem:
        raise HostproofError(f"{path}: {problem.strerror or problem}") from problem
    newest = next((item for item in read if isinstance(item, Entry)), None)
    entries = []
    for entry in read:
        if entry is not None:
            newest = (
                Entry(_as_error(entry, newest), shared=shared) if isinstance(entry, _Bad) else entry
            )
            entries.append(newest)
    return entries


def _read_line(raw: bytes, findings: SharedFindings) -> Any:
    """The host result, or what is wrong with it; a cut line has no problem but to be cut."""
    try:
        line = _loads(raw)
    except RecursionError:
        return _Bad("it is nested deeper than any result", *_known_of(raw))
    except ValueError as problem:
        if not raw.endswith(b"\n"):
            return _Bad("", None, None, None)
        return _Bad(f"not JSON ({problem})", *_known_of(raw))
    if isinstance(line, dict) and isinstance(line.get("findings"), list):
        line["findings"] = findings.known(line["findings"])
    try:
        problem_found = _problem_of_result(line)
    except RecursionError:
        problem_found = "it is nested deeper than any result"
    if not problem_found and _is_future(max(line["at"], line["run"]["started"])):
        # It is an error of the run alone: who writes such a line takes no host's verdict.
        message = (
            f"{line['host']} was audited at {line['at']}, in the run of {line['run']['started']}"
        )
        advice = "that is in the future: correct the clock of the machine that wrote it"
        return _Bad(f"{message}, and {advice}", None, None, None)
    if problem_found:
        record = line if isinstance(line, dict) else {}
        return _Bad("not a host result: " + shorten(problem_found, 300), *_known_in(record))
    line = _as_schema_3(line)
    return dict(line, findings=findings.add(line["findings"]))


def _loads(raw: bytes) -> Any:
    return json.loads(raw.decode("utf-8"), parse_constant=_no_number)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _too_long(stream: Any, start: int) -> _Bad:
    """A line that is too long: only its host is read, without the whole line in memory."""
    while True:
        piece = stream.readline(1 << 20)
        if not piece or piece.endswith(b"\n"):
            break
    end = stream.tell()
    with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        known = _known_of(mapped, start, end)
    problem = f"it has {end - start} bytes, and more than {MOST_LINE} are not read"
    return _Bad(problem, *known)


def _bad_with_place(bad: _Bad, where: str, notes: list[str]) -> _Bad | None:
    """The bad line with the place where it stands, said in the notes; None for one that is cut."""
    if not bad.problem:
        notes.append(f"{where} is truncated (the run was killed): one result is missing")
        return None
    whose = f" of {bad.host}" if bad.host else ""
    notes.append(f"{where}: unreadable result{whose}: {bad.problem}")
    return bad._replace(problem=f"{where}: {bad.problem}")


def _as_error(bad: _Bad, newest: Entry | None) -> dict[str, Any]:
    """A host result that states that this one could not be read; ``newest`` is before it."""
    run = bad.run or (newest.run if newest else {"id": "unknown", "started": _NEVER, "hosts": 0})
    finding = _error(
        _JUDGED if bad.host else _READABLE,
        "a result that can be read",
        "one that cannot",
        "audit the host again and read the output of Ansible: ./hostproof audit -vvv",
        f"The result cannot be read, so nothing is known: {bad.problem}",
    )
    return {
        "schema": SCHEMA,
        "run": run,
        "host": bad.host or RUN_HOST,
        "at": bad.at or (newest.at if newest else _NEVER),
        "recorded_at": None,
        "outcome": "failed" if bad.host else "judged",
        "message": bad.problem,
        "findings": [finding],
        "evidence": None,
    }


def _known_in(
    line: dict[str, Any],
) -> tuple[str | None, str | None, dict[str, Any] | None]:
    """Host, instant and run of an object that is no host result, where they are as they must be."""
    host, at, run = line.get("host"), line.get("at"), line.get("run")
    return (
        host if is_host_name(host) else None,
        at if _is_instant(at) and not _is_future(str(at)) else None,
        run if run and _problem_of_run(run) is None and not _is_future(run["started"]) else None,
    )


def _known_of(
    raw: Any, start: int = 0, end: int | None = None
) -> tuple[str | None, str | None, None]:
    """Host and instant of a line that cannot be loaded, by the keys of its outermost object."""
    end = len(raw) if end is None else end
    depth, host = 0, None
    for token in _TOKEN.finditer(raw, start, end):
        first = token[0][:1]
        if first in (b"{", b"["):
            depth += 1
        elif first in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token[0] == b'"host"':
            colon = _VALUE_FOLLOWS.match(raw, token.end(), end)
            value = _TOKEN.match(raw, colon.end(), end) if colon else None
            if value and value[0][:1] == b'"' and len(value[0]) < 6 * _MOST_NAME:
                host = _text_of(value[0])
                break
    at = _INSTANT_IN.search(raw, start, min(end, start + _HEAD))
    record = {"host": host, "at": at[1].decode("ascii") if at else None}
    return _known_in(record)[:2] + (None,)


def _text_of(quoted: bytes) -> str | None:
    try:
        return str(json.loads(quoted.decode("utf-8")))
    except ValueError:
        return None


def _as_schema_3(line: dict[str, Any]) -> dict[str, Any]:
    """The host result as it is written today; in schema 1 evidence was read when it was checked."""
    if line["schema"] == SCHEMA:
        findings = line["findings"]
        others = unshared(findings)
        if any(map(is_old, others)):
            findings = [*map(with_current_ids, findings)]
        if any(map(_calls_otherwise, others)):
            findings = [*map(_without_calls, findings)]
        return dict(line, findings=findings)
    since = {**SINCE_2, **SINCE_3}
    findings = [with_current_ids({**since, **finding}) for finding in line["findings"]]
    recorded_at = line["at"] if line["schema"] == 1 else line["recorded_at"]
    if line["schema"] == 2 and any(map(_calls_otherwise, findings)):
        findings = [*map(_without_calls, findings)]
    return dict(line, schema=SCHEMA, recorded_at=recorded_at, findings=findings)


def _calls_otherwise(finding: dict[str, Any]) -> bool:
    """Whether a command calls ./hostproof as no run of Hostproof writes it: it would run here."""
    commands = finding["commands"]
    return bool(commands) and any(
        "./hostproof" in command and not is_own(command) for command in commands
    )


def _without_calls(finding: dict[str, Any]) -> dict[str, Any]:
    if not _calls_otherwise(finding):
        return finding
    note = "(its commands are left out: they call ./hostproof as no run writes it)"
    return {**finding, "commands": [], "fix": f"{finding['fix'] or ''} {note}".strip()}


def _problem_of_result(line: Any) -> str | None:
    """Why this is not a host result of schema 1, 2 or 3 as far as we rely on it, or None."""
    if not isinstance(line, dict):
        return "not a JSON object"
    if line.get("schema") not in (1, 2, SCHEMA) or isinstance(line["schema"], bool):
        return "schema {0!r}, this Hostproof reads schemas 1, 2 and 3".format(line.get("schema"))
    keys = _RESULT_KEYS_1 if line["schema"] == 1 else _RESULT_KEYS
    if set(line) - {"catalogue"} != keys:
        return key_problem(line, keys | {"catalogue"} & set(line))
    problem = _problem_of_run(line["run"])
    if problem:
        return problem
    if not _is_host(line["host"]):
        return f"host {ascii(line['host'])[:100]} is not the name of a host: {RULE}"
    for name in ("at", "recorded_at"):
        problem = (
            None if name == "recorded_at" and line.get(name) is None else _no_instant(line, name)
        )
        if problem:
            return problem
    if line["outcome"] not in ("judged", "unreachable", "failed"):
        return "unknown outcome {0!r}".format(line["outcome"])
    version = line.get("catalogue", VERSION)
    if not isinstance(version, str) or not _CATALOGUE.match(version):
        return "catalogue is not a version"
    if not isinstance(line["message"], (str, type(None))):
        return "message is not a text"
    if not isinstance(line["evidence"], (str, type(None))):
        return "evidence is not a text"
    if not isinstance(line["findings"], list):
        return "findings is not a list"
    if line["schema"] == SCHEMA and are_sound(unshared(line["findings"])):
        return None
    for number, finding in enumerate(line["findings"], 1):
        problem = problem_of_finding(finding, line["schema"])
        if problem:
            return f"finding {number}: {problem}"
    return None


def _problem_of_run(run: Any) -> str | None:
    if not isinstance(run, dict) or set(run) != {"id", "started", "hosts"}:
        return "run is not {id, started, hosts}"
    if not _is_name(run["id"]):
        return "run.id is not a text"
    hosts = run["hosts"]
    if not isinstance(hosts, int) or isinstance(hosts, bool) or not 0 <= hosts <= _MOST_HOSTS:
        return "run.hosts is not a count"
    problem = _no_instant(run, "started")
    return None if problem is None else "run." + problem


def _no_instant(record: dict[str, Any], name: str) -> str | None:
    value = record[name]
    if not isinstance(value, str) or not value:
        return f"{name} is not a text"
    return None if _is_instant(value) else f"{name} is not an instant (UTC, RFC 3339)"


def _is_instant(value: Any) -> bool:
    return isinstance(value, str) and _INSTANT.match(value) is not None and _is_time(value)


@lru_cache(maxsize=1024)
def _is_time(text: str) -> bool:
    try:
        datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return False
    return True


def _is_future(instant: str) -> bool:
    """Whether no clock says so yet: such a result would win over all that are still to come."""
    return _seconds(instant) > time.time() + _SKEW


def _is_host(name: Any) -> bool:
    return is_host_name(name) or (_is_name(name) and is_pseudo(name))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MOST_NAME


def _merge_host(host: str, entries: list[Entry]) -> _Host:
    """One host's lines, oldest first, as one state."""
    winners: dict[str, Entry] = {}
    silent = None
    for entry in entries:
        topics = entry.topics
        if entry.outcome == "judged":
            # Older findings about the whole host or its waivers are obsolete.
            winners.pop("host", None)
            winners.pop("waiver", None)
            _forget_applies(winners, entry)
        else:
            winners.clear()
            if not topics:
                topics, silent = {"host": False}, entry
        for topic, yields in topics.items():
            if not (yields and topic in winners):
                winners[topic] = entry
    if not winners and not is_pseudo(host):
        winners["host"] = silent = entries[-1]
    won: dict[int, set[str]] = {}
    for topic, winner in winners.items():
        won.setdefault(id(winner), set()).add(topic)
    parts = [
        _Won(entry, _shared(won[id(entry)]), entry is silent)
        for entry in entries
        if id(entry) in won
    ]
    return _Host(host, entries[-1].outcome, entries[-1].at, tuple(parts))


@lru_cache(maxsize=1024)
def _frozen(topics: frozenset[str]) -> frozenset[str]:
    return topics


def _shared(topics: set[str]) -> frozenset[str]:
    """Of equal sets one: nearly all hosts have the same."""
    return _frozen(frozenset(topics))


def _forget_applies(winners: dict[str, Entry], entry: Entry) -> None:
    """That a run could not change a control counts until another run checks that control."""
    for topic in entry.topics:
        control = topic.split(" ")[0]
        refused = winners.get(control + _AS_APPLIED)
        if refused is not None and refused.run["id"] != entry.run["id"]:
            del winners[control + _AS_APPLIED]


@once
def _topic(finding: dict[str, Any]) -> str:
    """Findings with the same topic replace each other; those of a change have a separate topic."""
    if finding["check"] in _ABOUT_A_CHANGE:
        return str(finding["control"]) + " of a change"
    if finding["check"] == f"{finding['control']}.applied":
        return str(finding["control"]) + _AS_APPLIED
    return str(finding["control"])


def _has_no_before(finding: dict[str, Any]) -> bool:
    """Whether an audit skipped the check of a change; this does not replace a comparison."""
    return finding["check"] in _ABOUT_A_CHANGE and finding["status"] == SKIP


def _ask_again(hosts: str) -> str:
    """The command that audits hosts again: with the options of this run, or, for a stored report,
    with one that every reader has."""
    options = run_options.of_run() if run_options.is_a_run() else "-i INVENTORY"
    return " ".join(["./hostproof audit", *filter(None, [options]), f"--limit {hosts}"])


def _no_answer(line: dict[str, Any]) -> dict[str, Any]:
    """The error finding for a result without findings."""
    again = _ask_again(shlex.quote(pattern_of(line["host"])))
    if line["outcome"] == "unreachable":
        check, actual = _REACHABLE, "no connection"
        fix = f"{again} -vvv   # shows how it connects"
    else:
        check, actual = _JUDGED, "no control answered"
        fix = f"{again} -vvv"
    desired = "the host answers" if line["outcome"] == "unreachable" else "every control answers"
    return _error(check, desired, actual, fix, line["message"])


def _about_run(results: Results) -> list[Part]:
    """Findings about the run: some or all lines are missing, which no line can report."""
    problems = []
    if not results.hosts and not results.about:
        fix = f"read what Ansible said above; {LISTS_HOSTS} lists the hosts"
        problems.append(_error(_MATCHED, "at least 1 host", "0 hosts", fix, None))
    for run in results.runs:
        if run.answered < run.hosts:
            why = (
                f"Run {run.id} was cut short: nothing is known about {run.hosts - run.answered} "
                f"of its {run.hosts} hosts."
            )
            fix = f"{_ask_again('HOSTS')}   # the hosts that are missing"
            expected, got = f"{run.hosts} hosts", f"{run.answered} hosts"
            problems.append(_error(_FINISHED, expected, got, fix, why))
    return [Part(pseudo_line(results, RUN_HOST), problems)] if problems else []


def pseudo_line(results: Results, name: str) -> dict[str, Any]:
    """A host result, still without findings, for a pseudo host: of the newest run."""
    newest = max((entry.at for entry in results.entries), default=_NEVER)
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


def _error(check: Check, desired: str, actual: str, fix: str, why: str | None) -> dict[str, Any]:
    finding = make_finding(check, ERROR, why=why, fix=fix, desired=desired, running=actual)
    return finding._replace(takes_effect=None).as_dict()


def _runs(entries: list[Entry]) -> list[Run]:
    """The runs that the lines come from, oldest first."""
    answered: dict[str, set[str]] = {}
    known: dict[str, dict[str, Any]] = {}
    for entry in entries:
        known[entry.run["id"]] = entry.run
        names = answered.setdefault(entry.run["id"], set())
        if not is_pseudo(entry.host):
            names.add(entry.host)
    runs = [
        Run(run["id"], run["started"], run["hosts"], len(answered[key]))
        for key, run in known.items()
    ]
    return sorted(runs, key=lambda run: (run.started, run.id))
