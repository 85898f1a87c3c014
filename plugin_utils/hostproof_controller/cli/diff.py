# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``./hostproof diff A B``: new, changed, fixed and removed findings between two reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import click
from ansible.module_utils.hostproof.evaluate.finding import ERROR, FAIL, LAYERS, STATUSES, WARN

from ..report.csv import as_csv
from ..report.host_state import HostState
from ..report.markdown import as_markdown
from ..report.store import Results, merge, natural, read_entries
from ..report.text import heading_of
from ..report.verdict import actual_layer, host_verdict
from . import options, terminal
from .errors import Refused, complain
from .suggestions import did_you_mean, quoted

NEW, CHANGED, GONE, FIXED = "new", "changed", "gone", "fixed"
#: In this order they are shown.
KINDS = (NEW, CHANGED, GONE, FIXED)
#: Statuses that require an action.
PROBLEMS = (FAIL, ERROR, WARN)

EXIT_SAME = 0
EXIT_WORSE = 2
EXIT_OTHER = 3

HEADS = ("", "host", "check", "before", "now", "what")
#: In place of a check: all of a host.
ALL = "(all)"


class Difference(NamedTuple):
    """``before`` and ``now`` are statuses, or verdicts of a whole host; None: not there."""

    kind: str
    host: str
    check: str
    title: str
    before: str | None
    now: str | None
    text: str

    @property
    def is_worse(self) -> bool:
        if self.kind == CHANGED and self.before in STATUSES and self.now in STATUSES:
            return STATUSES.index(self.now) < STATUSES.index(self.before)
        return self.kind in (NEW, GONE) and not (self.check == ALL and self.now == "ready")


@options.command(
    "diff",
    exits={
        EXIT_SAME: "no difference",
        1: "usage or setup error",
        EXIT_WORSE: "new, worse or missing findings",
        EXIT_OTHER: "other differences",
    },
)
@click.option("--all-changes", is_flag=True, help="also show changed values with unchanged status")
@click.option(
    "--as",
    "pairs",
    metavar="HOST=HOST",
    multiple=True,
    help="compare only this host of the first report with that one of the second",
)
@options.format_option("text", "json", "csv", "markdown")
@click.argument("before", type=options.PATH, help="report directory or findings file, earlier run")
@click.argument("after", type=options.PATH, help="report directory or findings file, later run")
def command(
    before: str, after: str, all_changes: bool, pairs: tuple[str, ...], output_format: str
) -> int:
    """Lists new, changed and fixed findings, and those that are no longer checked (gone).

    Both reports can be the same: diff REPORT REPORT --as db01=db03 compares two of its hosts.
    """
    old, new = read(before), read(after)
    changes = list(differences(old, new, all_changes=all_changes, hosts=_pairs(pairs, old, new)))
    rows = [
        (
            change.kind,
            change.host,
            change.check,
            change.before or "-",
            change.now or "-",
            change.text,
        )
        for change in changes
    ]
    if output_format == "json":
        print(json.dumps([change._asdict() for change in changes], indent=1))
    elif output_format == "csv":
        print(as_csv(("kind", *HEADS[1:]), rows), end="")
    elif output_format == "markdown":
        print(as_markdown(("kind", *HEADS[1:]), rows), end="")
    else:
        if rows:
            terminal.table(HEADS, rows)
            terminal.say("")
        terminal.say(summary(changes))
    return exit_code(changes)


def _pairs(pairs: Iterable[str], old: Results, new: Results) -> dict[str, str] | None:
    """Hosts of the second report by those of the first; None without --as."""
    hosts: dict[str, str] = {}
    for pair in pairs:
        first, equals, second = pair.partition("=")
        if not (equals and first and second):
            raise Refused(f"--as {quoted(pair)}: must be a host of each report, such as db01=db03")
        for name, results, which in ((first, old, "first"), (second, new, "second")):
            known = [state.name for state in results.hosts]
            if name not in known:
                meant = did_you_mean(name, known, 0)
                raise Refused(f"--as: the {which} report has no host {quoted(name)}{meant}")
        if first in hosts or second in hosts.values():
            raise Refused(f"--as {quoted(pair)}: a host is in two pairs")
        hosts[first] = second
    return hosts or None


def exit_code(changes: Iterable[Difference]) -> int:
    every = list(changes)
    if not every:
        return EXIT_SAME
    return EXIT_WORSE if any(change.is_worse for change in every) else EXIT_OTHER


def summary(changes: Iterable[Difference]) -> str:
    counts = Counter(change.kind for change in changes)
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) or "No difference"


def read(path: str) -> Results:
    """The results of a report directory or of a file of findings."""
    notes: list[str] = []
    results = merge(read_entries([path], notes), notes)
    for note in notes:
        complain(note)
    return results


def differences(
    before: Results,
    now: Results,
    *,
    all_changes: bool = False,
    hosts: dict[str, str] | None = None,
) -> Iterator[Difference]:
    """By kind, host and check. ``all_changes``: also changed values with unchanged status.

    ``hosts``: only these, of the earlier results by the name of the host to compare with.
    """
    old = {state.name: state for state in before.states}
    new = {state.name: state for state in now.states}
    if hosts is not None:
        old = {second: old[first] for first, second in hosts.items()}
        new = {second: new[second] for second in hosts.values()}
    changes: list[Difference] = []
    for host in sorted({*old, *new}, key=natural):
        changes.extend(_of_host(host, old.get(host), new.get(host), all_changes))
    yield from sorted(changes, key=lambda change: KINDS.index(change.kind))


def _of_host(
    host: str, old: HostState | None, new: HostState | None, all_changes: bool
) -> Iterator[Difference]:
    if old is None or new is None:
        yield from _of_one_side(host, old, new)
        return
    earlier, later = _matched(_by_key(old), _by_key(new))
    lost = [entry for key, entry in earlier.items() if key not in later]
    if new.outcome != "judged" and lost:
        # One sentence, and not as many as there are checks.
        text = f"{len(lost)} findings: the host was not audited this time"
        yield Difference(GONE, host, ALL, "", host_verdict(old.findings), None, text)
        lost = []
    elif old.outcome != "judged" and new.outcome == "judged":
        lost = [entry for entry in lost if entry["control"] != "host"]
        text = "the host is audited again"
        yield Difference(FIXED, host, ALL, "", None, host_verdict(new.findings), text)
    for lost_finding in lost:
        yield _difference(GONE, host, lost_finding, None)
    for key, finding in later.items():
        yield from _of_finding(host, earlier.get(key), finding, all_changes)


def _of_one_side(host: str, old: HostState | None, new: HostState | None) -> Iterator[Difference]:
    """A host that only one of the reports has."""
    if new is None:
        if old is None:
            raise AssertionError
        text = f"{len(old.findings)} findings: host is missing in the second report"
        if not host.startswith("("):
            yield Difference(GONE, host, ALL, "", host_verdict(old.findings), None, text)
            return
        for finding in old.findings:
            # Findings about the older run itself end with that run.
            kind = FIXED if finding["status"] in PROBLEMS else GONE
            yield _difference(kind, host, finding, None)
        return
    problems = [entry for entry in new.findings if entry["status"] in PROBLEMS]
    for finding in problems:
        yield _difference(NEW, host, None, finding)
    if not problems and not host.startswith("("):
        text = "the host is not in the first report"
        yield Difference(NEW, host, ALL, "", None, host_verdict(new.findings), text)


def _of_finding(
    host: str, old: dict[str, Any] | None, new: dict[str, Any], all_changes: bool
) -> Iterator[Difference]:
    was = old["status"] if old else None
    status = new["status"]
    if status in PROBLEMS and was not in PROBLEMS:
        yield _difference(NEW, host, old, new)
    elif old is None:
        return
    elif was in PROBLEMS and status not in PROBLEMS:
        yield _difference(FIXED, host, old, new)
    elif was != status or (all_changes and any(old[layer] != new[layer] for layer in LAYERS)):
        yield _difference(CHANGED, host, old, new)


_Key = tuple[str, str, int]
_Findings = dict[_Key, dict[str, Any]]


def _matched(old: _Findings, new: _Findings) -> tuple[_Findings, _Findings]:
    """The same, with one key for a check's only finding whose title says something else now."""
    renamed = {}
    for check in {key[0] for key in old.keys() - new.keys()}:
        was = [key for key in old if key[0] == check and key not in new]
        now = [key for key in new if key[0] == check and key not in old]
        if len(was) == len(now) == 1:
            renamed[was[0]] = now[0]
    return {renamed.get(key, key): finding for key, finding in old.items()}, new


def _by_key(state: HostState) -> _Findings:
    """Findings by check and title, which names the instance, mount or card; alike ones counted."""
    counts: Counter[tuple[str, str]] = Counter()
    findings = {}
    for finding in state.findings:
        key = (finding["check"], finding["title"])
        findings[(*key, counts[key])] = finding
        counts[key] += 1
    return findings


def _difference(
    kind: str, host: str, old: dict[str, Any] | None, new: dict[str, Any] | None
) -> Difference:
    finding = new or old
    if finding is None:
        raise AssertionError
    return Difference(
        kind,
        host,
        finding["check"],
        finding["title"],
        old["status"] if old else None,
        new["status"] if new else None,
        _text(old, new),
    )


def _text(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    """The problem, and what is found now, or what was where nothing is."""
    finding = new or old
    if finding is None:
        raise AssertionError
    layer = actual_layer(finding)
    actual = finding[layer] if layer else None
    was = old[layer] if old and new and layer else None
    # A title states what is required: the opposite of what a failure has found.
    unwell = [entry for entry in (new, old) if entry and entry["status"] in PROBLEMS]
    text = heading_of(unwell[0]) if unwell else str(finding["title"])
    if actual is None:
        return text
    return f"{text}: {actual}" if was in (None, actual) else f"{text}: {was} → {actual}"
