# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report folders: reading findings.jsonl of one or many runs, and what they say together.

A line of findings.jsonl is a host result (docs/finding.schema.json). Lines of several runs or
shards merge by concatenation: for each host and control the line with the latest ``at`` wins.
"""

import json
import os
import re
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from ..errors import HostproofError
from ..finding import (
    ERROR,
    LAYERS,
    SEVERITIES,
    SKIP,
    STATUSES,
    TAKES_EFFECT,
    WAIVED,
    Check,
    found,
)
from ..waivers import WAIVERS_HOST

#: The file of a report folder that everything else is rendered from.
FINDINGS_FILE = "findings.jsonl"

#: What says how a host was changed, not how it is: neither replaces the other.
_ABOUT_A_CHANGE = ("latency.change", "latency.fleet_change", "latency.gate")

#: Pseudo hosts: what is to be said about the run itself or about the waivers. They get no verdict.
RUN_HOST = "(run)"
PSEUDO_HOSTS = (RUN_HOST, WAIVERS_HOST)

_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z\Z")
_CHECK_ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*\Z")
_RESULT_KEYS = {"schema", "run", "host", "at", "outcome", "message", "findings", "evidence"}
_FINDING_TEXTS = ("control", "check", "title", "why", "reference")
_FINDING_TEXTS_OR_NULL = (*LAYERS, "fix")
_FINDING_KEYS = (
    set(_FINDING_TEXTS)
    | set(_FINDING_TEXTS_OR_NULL)
    | {"status", "severity", "takes_effect", "evidence", "waiver"}
)

_REACHABLE = Check(
    "host.reachable",
    "The host answers",
    "critical",
    "",
    "No connection could be made, so nothing is known about this host.",
    "docs/limits.md, hosts that do not answer",
)
_JUDGED = Check(
    "host.judged",
    "The host could be judged",
    "critical",
    "",
    "No control gave an answer, so nothing is known about this host.",
    "docs/limits.md, hosts that do not answer",
)
_MATCHED = Check(
    "run.hosts_matched",
    "The run judged at least one host",
    "critical",
    "",
    "No host was judged: whether any host is ready could not be determined.",
    "README, exit codes",
)
_FINISHED = Check(
    "run.finished",
    "The run judged every host that it set out to judge",
    "critical",
    "",
    "The run was cut short, so nothing is known about the hosts that are missing.",
    "README, exit codes",
)


class Part(NamedTuple):
    """The findings that one line of findings.jsonl contributes to its host."""

    line: Dict[str, Any]
    findings: List[Dict[str, Any]]


class HostState(NamedTuple):
    """What the runs together say about one host. ``at`` and ``outcome`` are the newest line's."""

    name: str
    outcome: str
    at: str
    parts: List[Part]

    @property
    def findings(self):
        # type: () -> List[Dict[str, Any]]
        return [finding for part in self.parts for finding in part.findings]


class Run(NamedTuple):
    """One run: ``hosts`` it set out to judge, ``answered`` that left a line."""

    id: str
    started: str
    hosts: int
    answered: int


class Results(NamedTuple):
    """Everything that a report shows.

    ``about`` holds the pseudo hosts, ``notes`` sentences about the files that were read.
    """

    hosts: List[HostState]
    about: List[HostState]
    runs: List[Run]
    lines: List[Dict[str, Any]]
    notes: List[str]

    @property
    def states(self):
        # type: () -> List[HostState]
        return self.hosts + self.about

    @property
    def expected(self):
        # type: () -> int
        """How many hosts the runs set out to judge."""
        return sum(run.hosts for run in self.runs)

    @property
    def cut_short(self):
        # type: () -> bool
        """Whether any run left fewer results than it has hosts."""
        return any(run.answered < run.hosts for run in self.runs)


def read_lines(paths, notes=None):
    # type: (Iterable[str], Optional[List[str]]) -> List[Dict[str, Any]]
    """The host results in report folders (or findings.jsonl files), in the order given.

    A killed run can leave its last line cut: that line is left out and ``notes`` says so.
    Anything else that is not a host result raises HostproofError with path and line.
    """
    results = []  # type: List[Dict[str, Any]]
    for path in paths:
        name = os.path.join(path, FINDINGS_FILE) if os.path.isdir(path) else path
        results.extend(_read_file(name, [] if notes is None else notes))
    return results


def merge(lines, notes=()):
    # type: (Iterable[Dict[str, Any]], Iterable[str]) -> Results
    """What the host results say together: by host and control the latest ``at`` wins.

    A later ``unreachable`` or ``failed`` replaces all that was known of the host, and is itself
    replaced by a later judgement. Equal times: the later line wins.
    """
    kept = list(lines)
    by_host = {}  # type: Dict[str, List[Dict[str, Any]]]
    for line in sorted(kept, key=lambda line: str(line["at"])):
        by_host.setdefault(line["host"], []).append(line)
    states = {host: _merge_host(host, by_host[host]) for host in sorted(by_host, key=natural)}
    runs = _runs(kept)
    about = [states[host] for host in PSEUDO_HOSTS if host in states]
    hosts = [state for host, state in states.items() if host not in PSEUDO_HOSTS]
    results = Results(hosts, about, runs, kept, list(notes))
    return with_parts(results, RUN_HOST, _about_run(results))


def natural(name):
    # type: (str) -> List[Tuple[int, str]]
    """Sort key that puts db2 before db10."""
    # re.split puts the numbers at odd places; -1 keeps a text from being compared with a number.
    pieces = re.split("([0-9]+)", name)
    return [(int(p), "") if place % 2 else (-1, p) for place, p in enumerate(pieces)]


def with_parts(results, name, parts):
    # type: (Results, str, List[Part]) -> Results
    """The results with more parts for a pseudo host, which is made if there is none yet."""
    if not parts:
        return results
    old = [state.parts for state in results.about if state.name == name]
    at = parts[-1].line["at"]
    state = HostState(name, "judged", at, [*(old[0] if old else []), *parts])
    others = [other for other in results.about if other.name != name]
    return results._replace(about=[*others, state])


def merged_lines(results):
    # type: (Results) -> Iterator[Dict[str, Any]]
    """The lines with what was superseded taken out: each finding that counts stands exactly once.

    A superseded line stays, without findings and evidence, so that the runs can still be counted.
    """
    parts = {id(part.line): part for state in results.states for part in state.parts}
    for line in results.lines:
        part = parts.pop(id(line), None)
        if part is None:
            yield dict(line, findings=[], evidence=None)
        else:
            yield dict(line, findings=part.findings)
    for part in parts.values():
        if part.line["host"] != RUN_HOST:
            yield dict(part.line, findings=part.findings)


def _read_file(path, notes):
    # type: (str, List[str]) -> Iterator[Dict[str, Any]]
    try:
        with open(path, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                line = _read_line(path, number, raw, notes)
                if line is not None:
                    yield line
    except OSError as problem:
        raise HostproofError("{0}: {1}".format(path, problem.strerror or problem)) from problem


def _read_line(path, number, raw, notes):
    # type: (str, int, bytes, List[str]) -> Optional[Dict[str, Any]]
    where = "{0}, line {1}".format(path, number)
    try:
        line = json.loads(raw.decode("utf-8"))
    except ValueError as problem:
        if not raw.endswith(b"\n"):
            notes.append(
                "{0} is cut off (the run was killed while it wrote): one result is lost".format(
                    where
                )
            )
            return None
        raise HostproofError("{0}: not JSON ({1})".format(where, problem)) from None
    problem_found = _problem_of_result(line)
    if problem_found:
        raise HostproofError("{0}: not a host result: {1}".format(where, problem_found))
    return dict(line)


def _problem_of_result(line):
    # type: (Any) -> Optional[str]
    """Why this is no host result of schema 1 as far as we rely on it, or None."""
    if not isinstance(line, dict):
        return "not a JSON object"
    if line.get("schema") != 1:
        return "schema {0!r}, this Hostproof reads schema 1".format(line.get("schema"))
    if set(line) != _RESULT_KEYS:
        return _key_problem(line, _RESULT_KEYS)
    run = line["run"]
    if not isinstance(run, dict) or set(run) != {"id", "started", "hosts"}:
        return "run is not {id, started, hosts}"
    texts = {"run.id": run["id"], "run.started": run["started"], "host": line["host"]}
    texts["at"] = line["at"]
    for name, value in texts.items():
        if not isinstance(value, str) or not value:
            return "{0} is not a text".format(name)
    for name in ("run.started", "at"):
        if not _INSTANT.match(texts[name]):
            return "{0} is not an instant (UTC, RFC 3339)".format(name)
    if not isinstance(run["hosts"], int) or run["hosts"] < 0:
        return "run.hosts is not a count"
    if line["outcome"] not in ("judged", "unreachable", "failed"):
        return "unknown outcome {0!r}".format(line["outcome"])
    if not isinstance(line["message"], (str, type(None))):
        return "message is not a text"
    if not isinstance(line["evidence"], (str, type(None))):
        return "evidence is not a text"
    if not isinstance(line["findings"], list):
        return "findings is not a list"
    for number, finding in enumerate(line["findings"], 1):
        problem = _problem_of_finding(finding)
        if problem:
            return "finding {0}: {1}".format(number, problem)
    return None


def _problem_of_finding(finding):
    # type: (Any) -> Optional[str]
    if not isinstance(finding, dict):
        return "not a JSON object"
    if set(finding) != _FINDING_KEYS:
        return _key_problem(finding, _FINDING_KEYS)
    for name in _FINDING_TEXTS:
        if not isinstance(finding[name], str) or not finding[name]:
            return "{0} is not a text".format(name)
    if not _CHECK_ID.match(finding["check"]):
        return "{0!r} is not a check id".format(finding["check"])
    if finding["check"].split(".")[0] != finding["control"]:
        return "{0} is not a check of {1}".format(finding["check"], finding["control"])
    for name in _FINDING_TEXTS_OR_NULL:
        if not isinstance(finding[name], (str, type(None))):
            return "{0} is not a text".format(name)
    if finding["status"] not in STATUSES:
        return "unknown status {0!r}".format(finding["status"])
    if finding["severity"] not in SEVERITIES:
        return "unknown severity {0!r}".format(finding["severity"])
    if finding["takes_effect"] is not None and finding["takes_effect"] not in TAKES_EFFECT:
        return "unknown takes_effect {0!r}".format(finding["takes_effect"])
    keys = finding["evidence"]
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        return "evidence is not a list of texts"
    return _problem_of_waiver(finding)


def _problem_of_waiver(finding):
    # type: (Dict[str, Any]) -> Optional[str]
    waiver = finding["waiver"]
    if finding["status"] != WAIVED:
        return None if waiver is None else "a waiver on a finding that is not waived"
    if not isinstance(waiver, dict) or set(waiver) != {"owner", "reason", "expires", "was"}:
        return "waiver is not {owner, reason, expires, was}"
    if not all(isinstance(value, str) for value in waiver.values()):
        return "waiver holds a value that is not a text"
    return None if waiver["was"] in ("warn", "fail") else "waiver.was is neither warn nor fail"


def _key_problem(record, wanted):
    # type: (Dict[str, Any], Set[str]) -> str
    missing, unknown = sorted(wanted - set(record)), sorted(set(record) - wanted)
    return "; ".join(
        "{0} {1}".format(what, ", ".join(keys))
        for what, keys in (("missing", missing), ("unknown", unknown))
        if keys
    )


def _merge_host(host, lines):
    # type: (str, List[Dict[str, Any]]) -> HostState
    """One host's lines, oldest first, as one state."""
    winners = {}  # type: Dict[str, Dict[str, Any]]
    findings = {}  # type: Dict[int, List[Dict[str, Any]]]
    for line in lines:
        if line["outcome"] == "judged":
            # What an older line said about the host as a whole, or about its waivers, is history.
            winners.pop("host", None)
            winners.pop("waiver", None)
            findings[id(line)] = line["findings"]
        else:
            winners.clear()
            findings[id(line)] = line["findings"] or [_no_answer(line)]
        for finding in findings[id(line)]:
            if not (_has_no_before(finding) and _topic(finding) in winners):
                winners[_topic(finding)] = line
    if not winners and host not in PSEUDO_HOSTS:
        findings[id(lines[-1])] = [_no_answer(lines[-1])]
        winners["host"] = lines[-1]
    parts = [
        Part(line, [f for f in findings[id(line)] if winners[_topic(f)] is line])
        for line in lines
        if any(line is winner for winner in winners.values())
    ]
    return HostState(host, lines[-1]["outcome"], lines[-1]["at"], parts)


def _topic(finding):
    # type: (Dict[str, Any]) -> str
    """What a later line replaces of an earlier one: all of a control, but see _ABOUT_A_CHANGE."""
    about_change = finding["check"] in _ABOUT_A_CHANGE
    return str(finding["control"]) + (" of a change" if about_change else "")


def _has_no_before(finding):
    # type: (Dict[str, Any]) -> bool
    """Whether this is what an audit says of a change: nothing, which replaces no comparison."""
    return finding["check"] in _ABOUT_A_CHANGE and finding["status"] == SKIP


def _no_answer(line):
    # type: (Dict[str, Any]) -> Dict[str, Any]
    """The finding that a result without findings amounts to."""
    if line["outcome"] == "unreachable":
        check, actual = _REACHABLE, "no connection"
        fix = "ansible -m ansible.builtin.ping {0}".format(line["host"])
    else:
        check, actual = _JUDGED, "no control answered"
        fix = "./hostproof audit --limit {0} -vvv".format(line["host"])
    desired = "the host answers" if line["outcome"] == "unreachable" else "every control answers"
    return _error(check, desired, actual, fix, line["message"])


def _about_run(results):
    # type: (Results) -> List[Part]
    """What the lines cannot say themselves: that some, or all, of them are missing."""
    problems = []
    if not results.hosts and not results.about:
        fix = "read what Ansible said above; ansible-inventory --graph lists the hosts"
        problems.append(_error(_MATCHED, "at least 1 host", "0 hosts", fix, None))
    for run in results.runs:
        if run.answered < run.hosts:
            why = "Run {0} was cut short: nothing is known about {1} of its {2} hosts.".format(
                run.id, run.hosts - run.answered, run.hosts
            )
            fix = "./hostproof audit --limit HOSTS   # the hosts that are missing"
            asked, got = "{0} hosts".format(run.hosts), "{0} hosts".format(run.answered)
            problems.append(_error(_FINISHED, asked, got, fix, why))
    return [Part(pseudo_line(results, RUN_HOST), problems)] if problems else []


def pseudo_line(results, name):
    # type: (Results, str) -> Dict[str, Any]
    """A host result, still without findings, for a pseudo host: of the newest run."""
    newest = max((line["at"] for line in results.lines), default="1970-01-01T00:00:00Z")
    run = {"id": "none", "started": newest, "hosts": 0}
    if results.runs:
        run = {key: getattr(results.runs[-1], key) for key in ("id", "started", "hosts")}
    return {
        "schema": 1,
        "run": run,
        "host": name,
        "at": newest,
        "outcome": "judged",
        "message": None,
        "findings": [],
        "evidence": None,
    }


def _error(check, desired, actual, fix, why):
    # type: (Check, str, str, str, Optional[str]) -> Dict[str, Any]
    finding = found(check, ERROR, why=why, fix=fix, desired=desired, running=actual)
    return finding._replace(takes_effect=None).as_dict()


def _runs(lines):
    # type: (List[Dict[str, Any]]) -> List[Run]
    """The runs that the lines come from, oldest first."""
    answered = {}  # type: Dict[str, Set[str]]
    known = {}  # type: Dict[str, Dict[str, Any]]
    for line in lines:
        known[line["run"]["id"]] = line["run"]
        names = answered.setdefault(line["run"]["id"], set())
        if line["host"] not in PSEUDO_HOSTS:
            names.add(line["host"])
    runs = [
        Run(run["id"], run["started"], run["hosts"], len(answered[key]))
        for key, run in known.items()
    ]
    return sorted(runs, key=lambda run: (run.started, run.id))
