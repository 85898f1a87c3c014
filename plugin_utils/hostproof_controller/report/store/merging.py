# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host results of one or many runs say together."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from ..host_state import Part
from ..text import LISTS_HOSTS
from .entries import AS_APPLIED, Entry
from .pseudo_hosts import PSEUDO_HOSTS, RUN_HOST, is_cluster, is_pseudo
from .results import Hosts, MergedHost, Results, Run, WinningLine, pseudo_line, with_parts
from .run_findings import FINISHED, MATCHED, ask_again, error_finding


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


def merged_lines(results: Results) -> Iterator[dict[str, Any]]:
    """The lines without superseded findings: each finding that counts is there once.

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


def _merge_host(host: str, entries: list[Entry]) -> MergedHost:
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
        WinningLine(entry, _shared(won[id(entry)]), entry is silent)
        for entry in entries
        if id(entry) in won
    ]
    return MergedHost(host, entries[-1].outcome, entries[-1].at, tuple(parts))


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
        refused = winners.get(control + AS_APPLIED)
        if refused is not None and refused.run["id"] != entry.run["id"]:
            del winners[control + AS_APPLIED]


def _about_run(results: Results) -> list[Part]:
    """Findings about the run: some or all lines are missing, which no line can report."""
    problems = []
    if not results.hosts and not results.about:
        fix = f"read what Ansible said above; {LISTS_HOSTS} lists the hosts"
        problems.append(error_finding(MATCHED, "at least 1 host", "0 hosts", fix, None))
    for run in results.runs:
        if run.answered < run.hosts:
            why = (
                f"Run {run.id} was cut short: nothing is known about {run.hosts - run.answered} "
                f"of its {run.hosts} hosts."
            )
            fix = f"{ask_again('HOSTS')}   # the hosts that are missing"
            expected, got = f"{run.hosts} hosts", f"{run.answered} hosts"
            problems.append(error_finding(FINISHED, expected, got, fix, why))
    return [Part(pseudo_line(results, RUN_HOST), problems)] if problems else []


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
