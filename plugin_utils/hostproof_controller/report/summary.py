# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary of a run for a terminal: verdicts, totals, Fix first, findings by severity."""

import json
import textwrap
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    LAYERS,
    PASS,
    SEVERITIES,
    SKIP,
    STATUSES,
    WARN,
)

from .causes import DENIED, Action, First, Group, effect_of, groups_of
from .host_state import HostState
from .store import PROFILE, SELECTION, TARGET, Results, is_pseudo, recorded_apart
from .terminal import painted
from .text import as_typed, fix_of, heading_of, one_line, printable, shorten
from .verdict import (
    NO_DATABASE,
    NOT_DATABASE_HOST,
    STATUS_GLYPHS,
    VERDICT_GLYPHS,
    VERDICTS,
    HostFacts,
    controls_of,
    status_totals,
    verdict_totals,
    when_of_layer,
)

#: The check whose finding is repeated in the first line.
DISTRIBUTION = "platform.distribution"

#: Limits of the summary. It prints a count of whatever exceeds them.
HOST_ROWS = 20
CHECKS_SHOWN = 25
VALUES_SHOWN = 3
HOSTS_NAMED = 3
FEW_HOSTS = 3
#: With few hosts there is room for every mount or instance of a check.
VALUES_SHOWN_OF_FEW = 20
#: Lines of a reason, and other names in one line.
WHY_LINES = 2
#: Characters of the value of a layer.
MOST_VALUE = 200
NAMES_SHOWN = 4
#: Different reasons of errors that are kept apart. Above this number, errors are grouped by check.
MOST_REASONS = 5000

#: Columns for the glyph and the status before a finding.
INDENT = 10

_SHOWN = (FAIL, ERROR, WARN, "waived")
#: Status to its word in totals, singular and plural.
_COUNTED_AS = {
    "fail": ("failed", "failed"),
    "error": ("error", "errors"),
    "warn": ("warning", "warnings"),
    "waived": ("waived", "waived"),
    "skip": ("skipped", "skipped"),
    "pass": ("passed", "passed"),
}


class _Group:
    """Findings with the same text on several hosts.

    ``place`` and ``number`` locate the first of them (state, finding), ``hosts`` and ``findings``
    count them, ``first`` holds the places of some hosts. ``rests`` names the findings that have the
    first one as their cause, ``controls`` the controls of all of them.
    """

    __slots__ = (
        "controls",
        "findings",
        "first",
        "hosts",
        "last",
        "number",
        "place",
        "recorded",
        "rests",
    )

    def __init__(self, place: int, number: int, rests: list[str], recorded: bool) -> None:
        self.place = place
        self.number = number
        self.rests = rests
        self.recorded = recorded
        self.controls: set[str] = set()
        self.findings = 0
        self.hosts = 0
        self.first: list[int] = []
        self.last = -1

    def add(self, place: int, group: Group) -> None:
        self.findings += 1 + len(group.rests)
        self.controls.update(rest["control"] for rest in (group.cause, *group.rests))
        if place == self.last:
            return
        self.hosts += 1
        self.last = place
        if len(self.first) < HOSTS_NAMED:
            self.first.append(place)


#: Status, and check or digest of the reason of an error.
_Key = tuple[str, str]


#: Checks whose findings are shown apart from the others.
_APART = {SELECTION.id, TARGET.id, DISTRIBUTION, PROFILE.id}
_check_of = itemgetter("check")


class Summary:
    """The summary. It is collected state by state and holds no findings, only their places."""

    def __init__(self, results: Results, first: First | None = None) -> None:
        self.results = results
        #: Fix first; collected here if no other reader of the states collects it.
        self._first = first or First()
        self._collects = first is None
        self._place = -1
        #: Groups by digest of their text. None: the key is not among the CHECKS_SHOWN.
        self._checks: dict[_Key, dict[bytes, _Group] | None] = {}
        self._urgency: dict[_Key, tuple[int, int, str]] = {}
        self._shown: list[_Key] = []
        self._reasons = 0
        self._selection = self._target = ""
        #: Hosts by release and distribution that no book of Oracle lists.
        self._unlisted: dict[str, list[str]] = {}
        #: Hosts by the sentence on controls of their profile that checked nothing.
        self._unchecked: dict[str, list[str]] = {}

    def add(self, state: HostState) -> None:
        self._place += 1
        findings = state.findings
        for entry in () if _APART.isdisjoint(map(_check_of, findings)) else findings:
            if entry["check"] == SELECTION.id:
                self._selection = one_line(entry["why"])
            if entry["check"] == TARGET.id:
                self._target = one_line(entry["why"])
            if entry["check"] == DISTRIBUTION and entry["status"] in (FAIL, WARN):
                release = _subject(heading_of(entry))[0] or "the release"
                system = one_line(entry["running"] or "the planned distribution")
                self._unlisted.setdefault(f"{release} on {system}", []).append(state.name)
            if entry["check"] == PROFILE.id:
                self._unchecked.setdefault(one_line(entry["why"]), []).append(state.name)
        numbers = {
            id(item): number for number, item in enumerate(findings) if item["status"] in _SHOWN
        }
        if self._collects and not is_pseudo(state.name):
            self._first.add(state)
        if not numbers:
            return
        recorded = bool(recorded_apart(state))
        for group in groups_of([findings[number] for number in numbers.values()]):
            # A failure and a warning below an unrelated cause are printed with that cause.
            self._add_group(group, numbers[id(group.cause)], recorded)

    def _add_group(self, group: Group, number: int, recorded: bool) -> None:
        cause = group.cause
        key = self._key_of(cause)
        if key not in self._checks:
            self._begin(key, cause)
        groups = self._checks[key]
        if groups is None:
            return
        same = b"" if cause["status"] == ERROR else _sameness(cause)
        if same not in groups:
            rests = list(dict.fromkeys(_name_below(cause, rest) for rest in group.rests))
            groups[same] = _Group(self._place, number, rests, recorded)
        groups[same].add(self._place, group)

    def _key_of(self, cause: dict[str, Any]) -> _Key:
        if cause["status"] != ERROR:
            return cause["status"], cause["check"]
        if self._reasons >= MOST_REASONS:
            return ERROR, cause["check"]
        reason = DENIED if cause["fix"] == DENIED else f"{cause['why']} {fix_of(cause)}"
        return ERROR, blake2b(reason.encode("utf-8", "replace"), digest_size=16).hexdigest()

    def _begin(self, key: _Key, finding: dict[str, Any]) -> None:
        severity = SEVERITIES.index(finding["severity"])
        self._reasons += key[0] == ERROR
        self._urgency[key] = (severity, STATUSES.index(key[0]), finding["check"])
        self._checks[key] = {}
        insort(self._shown, key, key=self._urgency.__getitem__)
        if len(self._shown) > CHECKS_SHOWN:
            # Later findings of a check do not make it more urgent, so it will not be shown.
            self._checks[self._shown.pop()] = None

    def text(
        self,
        color: bool = False,
        width: int = 100,
        where: str = "report.html",
        *,
        verbose: bool = False,
        severity: str = SEVERITIES[-1],
    ) -> str:
        """The summary as text, without a final newline.

        ``where`` is the report, which has whatever is left out. ``verbose`` lists skipped and
        passed checks. Findings of a lesser severity than ``severity`` are only counted. Commands
        and fixes are never cut, because they are copied.
        """
        results = self.results
        paint = painted if color else _plain
        blocks = [
            _not_listed(self._unlisted, paint, width),
            _notices(results, paint),
            textwrap.wrap(f"Selection: {self._selection}", width) if self._selection else [],
            textwrap.wrap(f"Target: {self._target}", width) if self._target else [],
            _host_table(results, paint, width, where, self._unchecked),
            _totals(results, paint),
            self._fix_first(width),
            *self._findings(paint, width, where, SEVERITIES.index(severity)),
            _quiet(results, paint, width, verbose),
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def _fix_first(self, width: int) -> list[str]:
        """At most three actions, each with a command for its hosts."""
        first = self._first
        ready, actions = first.actions() if first.waiting else (0, [])
        if not actions:
            return []
        lines = [f"Fix first: {effect_of(first, ready, len(actions))}"]
        for number, action in enumerate(actions, 1):
            texts = _action_lines(action, width - 4)
            lines += [f"{number}.  {texts[0]}", *(f"    {line}" for line in texts[1:])]
        return lines

    def _findings(self, paint: Any, width: int, where: str, level: int) -> list[list[str]]:
        """A block for each severity. Equal findings of several hosts are listed once."""
        few = len(self.results.hosts) <= FEW_HOSTS
        values_shown = VALUES_SHOWN_OF_FEW if few else VALUES_SHOWN
        blocks: list[list[str]] = []
        for grade, severity in enumerate(SEVERITIES[: level + 1]):
            keys = [key for key in self._shown if self._urgency[key][0] == grade]
            lines = [line for key in keys for line in self._of_key(key, paint, width, values_shown)]
            if lines:
                blocks.append([f"{severity.capitalize()} severity", *lines])
        more = [key for key, groups in self._checks.items() if groups is None]
        hidden = [key for key in self._checks if self._urgency[key][0] > level]
        last = []
        if unlisted := [key[0] for key in more if key not in hidden]:
            last.append(
                f"{_checks(len(unlisted), 'more ')} ({_counted_as(Counter(unlisted))}): {where}"
            )
        if hidden:
            counts = _counted_as(Counter(key[0] for key in hidden))
            last.append(f"{_checks(len(hidden))} of a lower severity ({counts}): {where}")
        return [*blocks, last]

    def _of_key(self, key: _Key, paint: Any, width: int, values_shown: int) -> list[str]:
        groups = sorted((self._checks[key] or {}).values(), key=lambda group: -group.hosts)
        lines: list[str] = []
        for group in groups[:values_shown]:
            finding = self.results.states[group.place].findings[group.number]
            named = self._named(group.first, group.hosts)
            formatter = _error_lines if key[0] == ERROR else _finding_lines
            mark = f"{STATUS_GLYPHS[key[0]]} {key[0]}"
            for place, line in enumerate(formatter(finding, group, named, max(width - INDENT, 40))):
                begin = " " * INDENT if place else paint(key[0], mark) + " " * (INDENT - len(mark))
                lines.append(begin + line)
        rest = groups[values_shown:]
        if rest:
            first = [place for group in rest[:HOSTS_NAMED] for place in group.first]
            named = self._named(first, sum(group.hosts for group in rest))
            lines.append(" " * INDENT + f"same check with other values on {named}: see the report")
        return lines

    def _named(self, places: list[int], count: int) -> str:
        return _named([self.results.name_at(place) for place in places[:HOSTS_NAMED]], count)


def _not_listed(unlisted: dict[str, list[str]], paint: Any, width: int) -> list[str]:
    """What no other finding can correct: the hosts whose distribution Oracle does not list."""
    lines: list[str] = []
    for what, names in unlisted.items():
        named = _named(names[:HOSTS_NAMED], len(names))
        lines += textwrap.wrap(f"Not listed by Oracle: {what} ({named})", max(width, 40))
    return [paint("warn", line) for line in lines]


def _notices(results: Results, paint: Any) -> list[str]:
    lines = ["Note: " + one_line(note) for note in results.notes]
    if results.cut_short:
        answered = sum(run.answered for run in results.runs)
        lines.append(
            paint("error", f"INTERRUPTED: {answered} of {results.expected} hosts were audited")
        )
    return lines


def _host_table(
    results: Results, paint: Any, width: int, where: str, unchecked: dict[str, list[str]]
) -> list[str]:
    """A row for each host, worst first: verdict, and the worst status of each control.

    If the controls do not fit the terminal, the row has the counts of findings instead.
    ``unchecked``: hosts by the sentence on controls of their profile that checked nothing.
    """
    if not results.hosts:
        return []
    hosts = results.tally.hosts
    worst_first = results.tally.worst_first()
    controls = controls_of(results)
    rows = [["HOST", "VERDICT", *controls]]
    short = [["HOST", "VERDICT", "FINDINGS"]]
    for place in worst_first[:HOST_ROWS]:
        host = hosts[place]
        worst = host.controls
        cells = [f"{STATUS_GLYPHS[worst[c]]} {worst[c]}" if c in worst else "" for c in controls]
        begin = [
            shorten(one_line(host.name), max(width // 3, 12)),
            f"{VERDICT_GLYPHS[host.verdict]} {host.verdict}",
        ]
        rows.append([*begin, *cells])
        counts = {status: host.counts[status] for status in _SHOWN}
        short.append([*begin, _counted_as(counts) or "no findings"])
    rows, left_out = _fitting(rows, hosts, width)
    if _width(rows) > width:
        rows, left_out = short, []
    lines = _aligned(rows, paint)
    lines += [piece for line in left_out for piece in textwrap.wrap(line, max(width, 40))]
    hidden = worst_first[HOST_ROWS:]
    if hidden:
        counts_of = _counted((hosts[place].verdict for place in hidden), VERDICT_GLYPHS)
        lines.append(f"{len(hidden)} more hosts ({counts_of}): {where}")
    known = {name for names in unchecked.values() for name in names}
    without = [
        host.name for host in hosts if host.verdict == NOT_DATABASE_HOST and host.name not in known
    ]
    sentences = [
        f"{_named(names[:HOSTS_NAMED], len(names))}: {why}" for why, names in unchecked.items()
    ]
    for event, names in sorted(results.tally.waiting_hosts.items()):
        named = _named(names[:HOSTS_NAMED], len(names))
        sentences.append(f"{named}: waiting for: {event.replace('_', ' ')}")
    if without:
        sentences.append(NO_DATABASE.format(_named(without[:HOSTS_NAMED], len(without))))
    for sentence in sentences:
        lines += textwrap.wrap(sentence, max(width, 40), break_on_hyphens=False)
    return lines


#: Columns that are left out first if the table is too wide.
_SAY_LITTLE = ((SKIP, "Skipped on all hosts"), (PASS, "Passed on all hosts"))


def _fitting(
    rows: list[list[str]], hosts: list[HostFacts], width: int
) -> tuple[list[list[str]], list[str]]:
    """The rows without controls that skipped or passed everywhere, if they are too wide; and lines
    with the names of these controls."""
    lines = []
    for status, label in _SAY_LITTLE:
        if _width(rows) <= width:
            break
        heads = rows[0]
        names = [
            name
            for name in heads[2:]
            if all(host.controls.get(name, status) == status for host in hosts)
        ]
        kept = [place for place, name in enumerate(heads) if name not in names]
        rows = [[row[place] for place in kept] for row in rows]
        if names:
            lines.append(f"{label}: {', '.join(names)}")
    return rows, lines


def _width(rows: list[list[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) - 2


def _aligned(rows: list[list[str]], paint: Any) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for cell, room in zip(row, widths):  # noqa: B905 - strict= is newer than Python 3.6
            cells.append(paint(cell.partition(" ")[2], cell) + " " * (room - len(cell)))
        lines.append("  ".join(cells).rstrip())
    return lines


def _wrapped(text: str, width: int, lines: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        max_lines=lines,
        placeholder=" …",
        break_on_hyphens=False,
        subsequent_indent=indent,
    )


def _values(finding: dict[str, Any]) -> str:
    """The desired value and that of the failing layer; every layer if none is named."""
    failing = finding.get("failing_layer")
    # A host can name a layer without a value.
    if failing is not None and finding[failing] is not None:
        value = shorten(one_line(finding[failing]), MOST_VALUE)
        effective, mark, others = value.partition("; not used: ")
        wrong = f"{effective} ({when_of_layer(finding, failing)}){mark}{others}"
        return " → ".join(part for part in (one_line(finding["desired"] or ""), wrong) if part)
    layers = [name for name in LAYERS[1:] if finding[name] is not None]
    actual = "; ".join(
        f"{name.replace('_', ' ')}: {shorten(one_line(finding[name]), MOST_VALUE)}"
        for name in layers
    )
    desired = finding["desired"]
    desired_text = "" if desired is None else f"desired: {one_line(desired)}"
    return " → ".join(part for part in (desired_text, actual) if part)


def _finding_lines(finding: dict[str, Any], group: _Group, hosts: str, width: int) -> list[str]:
    """Heading, values, reason, fix, and what else the fix resolves."""
    subject, title = _subject(heading_of(finding))
    check = finding["check"] + (f" {subject}" if subject else "")
    lines = _wrapped(f"{hosts}  {check}: {title}", width, 3)
    lines += _wrapped(_values(finding), width, 5)
    lines += _wrapped(f"why: {one_line(finding['why'])}", width, WHY_LINES, " " * 5)
    lines += _advice(finding, width)
    if group.rests:
        count = group.findings - group.hosts
        names = _listed(group.rests)
        word = "finding" if count == 1 else "findings"
        lines += _wrapped(f"also resolves {count} {word}: {names}", width, 3, " " * 5)
    return lines


def _error_lines(finding: dict[str, Any], group: _Group, hosts: str, width: int) -> list[str]:
    """One line for all checks that could not be determined for the same reason."""
    reason = one_line(finding["why"]).removeprefix(_UNKNOWN).rstrip(".")
    many = group.findings > group.hosts
    subject, _ = _subject(heading_of(finding))
    check = finding["check"] + (f" {subject}" if subject else "")
    if finding["fix"] == DENIED:
        verb = "record again with `./hostproof record --become`"
        advice = verb if group.recorded else "rerun with `--become`"
        need = f"{group.findings} checks on {hosts} need" if many else f"{hosts}  {check} needs"
        lines = _wrapped(f"{need} root: {advice}", width, 4)
    elif many:
        lines = _wrapped(f"{reason}: {group.findings} checks on {hosts}", width, 4)
        lines += _advice(finding, width)
    else:
        lines = _wrapped(f"{hosts}  {check}: {reason}", width, 4)
        lines += _advice(finding, width)
    if len(group.controls) > 1:
        lines += _wrapped(f"controls: {', '.join(sorted(group.controls))}", width, 3, " " * 5)
    return lines


#: Begins the reason of an error (checking.undetermined).
_UNKNOWN = "Could not be determined: "


def _listed(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _action_lines(action: Action, width: int) -> list[str]:
    """Command or advice, the findings that it resolves, and on which hosts."""
    named = _named(action.hosts[:HOSTS_NAMED], len(action.hosts))
    lines = [action.what]
    if action.again:
        entry = [f"    {line}" for line in (*action.entry.splitlines(), *_shown(action.commands))]
        lines = [*_wrapped(one_line(action.what), width, 4), *entry, f"then: {action.again}"]
    of = " Hosts" if action.caption.endswith(".") else ""
    return lines + _wrapped(f"{action.caption}{of}: {named}.", width, 5)


def _subject(title: str) -> tuple[str, str]:
    """("/u02", "Hard mount over TCP"): the mount or instance that a title begins with, if any."""
    subject, colon, rest = one_line(title).partition(": ")
    return (subject, rest) if colon else ("", subject)


def _name_below(cause: dict[str, Any], finding: dict[str, Any]) -> str:
    """The check of a finding that has ``cause``, and its subject if it is another one."""
    subject, _title = _subject(heading_of(finding))
    is_same = subject == _subject(heading_of(cause))[0]
    return str(finding["check"]) + (f" {subject}" if subject and not is_same else "")


#: Commands of a fix in the summary; the report has all.
_COMMANDS = 3


def _shown(commands: Sequence[str]) -> list[str]:
    shown = [printable(as_typed(command)) for command in commands[:_COMMANDS]]
    if len(commands) > _COMMANDS:
        shown.append(f"{len(commands) - _COMMANDS} more commands in the report")
    return shown


def _advice(finding: dict[str, Any], width: int) -> list[str]:
    if finding["waiver"]:
        waiver = finding["waiver"]
        return [
            "waived until {0} by {1}: {2}".format(
                waiver["expires"], one_line(waiver["owner"]), one_line(waiver["reason"])
            )
        ]
    first, _, more = printable(as_typed(finding["fix"] or "")).strip().partition("\n")
    lines = [first.rstrip() + (" …" if more else "")] if first else []
    # Commands are never cut, because they are copied.
    shown = _shown(finding["commands"])
    if not lines and not shown:
        return []
    if not lines:
        lines = [shown.pop(0)]
    effect = None if finding["status"] == ERROR else finding["takes_effect"]
    after = (
        "" if effect in (None, "now") else f"   [takes effect: after {effect.replace('_', ' ')}]"
    )
    advice = "fix: " + lines[0] + after
    wrapped = [advice]
    # A word that does not fit is a path or a command, which is copied in one piece.
    if first and max(map(len, advice.split())) < width:
        wrapped = textwrap.wrap(
            advice,
            width,
            break_on_hyphens=False,
            subsequent_indent=" " * 5,
        )
    return wrapped + ["     " + line for line in shown]


def _sameness(finding: dict[str, Any]) -> bytes:
    """A digest that is equal for findings with the same text, subject and values."""
    waiver = finding["waiver"] or {}
    layers = tuple(finding[name] for name in ("desired", "persisted", "running", "in_use"))
    subject, _title = _subject(heading_of(finding))
    whose = (waiver.get("owner"), waiver.get("expires"))
    text = json.dumps([subject, *layers, fix_of(finding), *whose])
    return blake2b(text.encode("ascii"), digest_size=16).digest()


def _quiet(results: Results, paint: Any, width: int, verbose: bool) -> list[str]:
    """Skipped and passed checks: a line with their number each, or all of them."""
    counts = status_totals(results)
    if verbose:
        return [*_skipped(results, paint, width), *_passed(results, paint, width)]
    words = ((SKIP, "not applicable"), (PASS, "passed"))
    return [
        paint(status, f"{STATUS_GLYPHS[status]} {status}".ljust(INDENT))
        + f"{_checks(counts[status])} {word}; -v lists them"
        for status, word in words
        if counts[status]
    ]


def _skipped(results: Results, paint: Any, width: int) -> list[str]:
    """Skipped checks by control and reason."""
    reasons: dict[tuple[str, str], dict[str, list[str]]] = {}
    for state in results.states:
        for finding in state.findings:
            if finding["status"] == SKIP:
                checks = reasons.setdefault((finding["control"], finding["why"]), {})
                checks.setdefault(finding["check"], []).append(state.name)
    return [
        _quiet_line(
            SKIP,
            [name for names in checks.values() for name in names],
            next(iter(checks)) if len(checks) == 1 else f"{control} ({len(checks)} checks)",
            one_line(why),
            paint,
            width,
        )
        for (control, why), checks in reasons.items()
    ]


def _passed(results: Results, paint: Any, width: int) -> list[str]:
    """Passed checks, each with its title and hosts."""
    checks: dict[tuple[str, str], list[str]] = {}
    for state in results.states:
        for finding in state.findings:
            if finding["status"] == PASS:
                title = _subject(heading_of(finding))[1]
                checks.setdefault((finding["check"], title), []).append(state.name)
    return [
        _quiet_line(PASS, names, check, title, paint, width)
        for (check, title), names in checks.items()
    ]


def _quiet_line(
    status: str, names: list[str], check: str, text: str, paint: Any, width: int
) -> str:
    hosts = list(dict.fromkeys(names))
    named = _named(hosts[:HOSTS_NAMED], len(hosts))
    return paint(status, f"{STATUS_GLYPHS[status]} {status}".ljust(INDENT)) + shorten(
        f"{named}  {check}: {text}", max(width - INDENT, 40)
    )


def _totals(results: Results, paint: Any) -> list[str]:
    hosts = ", ".join(
        paint(verdict, f"{count} {verdict}")
        for verdict, count in verdict_totals(results).items()
        if count
    )
    findings = ", ".join(
        paint(status, _count_as(status, count))
        for status, count in status_totals(results).items()
        if count
    )
    lines = [f"Hosts:    {hosts}"] if results.hosts else []
    clusters = Counter(results.clusters.values())
    if clusters:
        shown = [
            paint(verdict, f"{clusters[verdict]} {verdict}")
            for verdict in VERDICTS
            if clusters[verdict]
        ]
        lines.append(f"Clusters: {', '.join(shown)}")
    return [*lines, f"Findings: {findings or 'none'}"]


def _checks(count: int, kind: str = "") -> str:
    """ "1 check", "2 checks", "2 more checks"."""
    return f"{count} {kind}check" + ("" if count == 1 else "s")


def _count_as(status: str, count: int) -> str:
    """ "1 error", "2 errors"."""
    return f"{count} {_COUNTED_AS[status][count != 1]}"


def _counted_as(counts: dict[str, int]) -> str:
    """ "7 failed, 1 warning"."""
    return ", ".join(_count_as(status, counts[status]) for status in STATUSES if counts.get(status))


def _named(first: list[str], count: int) -> str:
    """ "db01, db02, db03 and 18 more"."""
    named = ", ".join(map(one_line, first))
    more = count - len(first)
    return f"{named} and {more} more" if more > 0 else named


def _counted(names: Iterable[str], order: Iterable[str]) -> str:
    """ "3 fail, 1 warn" in the given order."""
    all_names = list(names)
    return ", ".join(f"{all_names.count(name)} {name}" for name in order if name in all_names)


def _plain(name: str, text: str) -> str:
    return text
