# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fix first: causes before what they cause, and the few actions that make most hosts ready.

Findings say by ``because_of`` which checks they rest on. On a host each is below its cause;
what could not be determined for one reason is below the first that states so.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.registry import NAMES
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SEVERITIES,
    SKIP,
    STATUSES,
    TAKES_EFFECT,
    WARN,
    subject_of,
)

from .. import run_options
from ..commands import is_own, options_in, without_limit
from ..host_names import pattern_of
from .host_state import HostState
from .policy_entry import entry_of
from .store import recorded_apart
from .store.run_findings import AUDITED, REACHABLE, ask_silent
from .text import as_typed, heading_of, one_line, printable, shorten
from .verdict import NOT_READY, UNDETERMINED, UNREACHABLE, host_verdict

Record = dict[str, Any]

#: Number of actions that are shown for all hosts, and number of candidates that are tried.
TOLD = 3
_TRIED = 12

#: A fleet with more different actions, or combinations of them, than these has no common ones.
_MOST_ACTIONS = 2000
_MOST_SETS = 5000
_MOST_TEXT = 300
_CONTROLS_NAMED = 3

#: Advice for a value without a known way to determine it.
_NO_ADVICE = "none"

#: The kind of an action for hosts that gave no answer, while hosts are read.
_SILENT = "silent"

#: Begins the fix of a reading whose program is missing (tools.py).
_INSTALL = "install the package "

#: Fix of a finding about a denied permission (checking.py).
DENIED = "rerun with --become (requires root)"

#: Different fixes of an action whose policy entries are shown: of several accounts, for example.
_FIXES = 5

#: A command of an action lists at most this number of hosts after --limit.
LIMIT_HOSTS = 20

#: Controls of results that import-results read.
OTHER_TOOLS = ("cvu", "orachk")

#: Commands that only show something.
_SHOWS_ONLY = re.compile(r"\./hostproof (?:audit|apply --check) ")
#: The weight of a resolved finding by its severity: two of one grade are worth one of the next.
_WEIGHTS = dict(zip(SEVERITIES, (8, 4, 2, 1), strict=True))
#: Statuses that need attention.
UNWELL = (FAIL, ERROR, WARN)


class Group(NamedTuple):
    """A cause and the findings that it also resolves, or all errors with the same reason."""

    cause: Record
    rests: list[Record]

    @property
    def status(self) -> str:
        """The worst of them."""
        return min((finding["status"] for finding in (self.cause, *self.rests)), key=STATUSES.index)


def groups_of(findings: Iterable[Record], *, below_lesser: bool = False) -> list[Group]:
    """The findings of a host that need attention, each below its cause.

    Failures come first, then errors, then warnings; each by severity, then by the time at which a
    fix takes effect. A finding is below a cause of a lesser severity only with ``below_lesser``.
    """
    loud = [entry for entry in findings if entry["status"] not in (PASS, SKIP)]
    by_check: dict[str, list[Record]] = {}
    for finding in loud:
        by_check.setdefault(finding["check"], []).append(finding)
    roots = {id(entry): _root(entry, by_check, below_lesser) for entry in loud}
    errors = sorted((root for root in roots.values() if root["status"] == ERROR), key=_severity)
    denied = next((_severity(error) for error in errors if error["fix"] == DENIED), None)

    def reason(error: Record) -> str:
        # Errors without a separate fix end with those that need root.
        is_denied = error["fix"] == DENIED or (
            not error["fix"] and denied is not None and denied <= _severity(error)
        )
        if not is_denied and (error["fix"] or "").startswith(_INSTALL):
            # One missing program is one reason, whatever was to be read with it.
            return str(error["fix"])
        return DENIED if is_denied else str(error["why"])

    # The most severe error of a reason is above the others. Among equal ones, one that reports
    # missing root privileges is first.
    first_of: dict[str, Record] = {}
    for cause in sorted(errors, key=lambda error: (_severity(error), error["fix"] != DENIED)):
        first_of.setdefault(reason(cause), cause)
    groups: dict[int, Group] = {}
    for finding in loud:
        cause = roots[id(finding)]
        if cause["status"] == ERROR:
            cause = first_of[reason(cause)]
        group = groups.setdefault(id(cause), Group(cause, []))
        if finding is not cause:
            group.rests.append(finding)
    for group in groups.values():
        group.rests.sort(key=_urgency)
    return sorted(groups.values(), key=_order)


def by_urgency(findings: Iterable[Record]) -> list[Record]:
    """The findings of a host as its page shows them, the worst first."""
    return sorted(findings, key=_urgency)


def by_page(groups: Iterable[Group]) -> list[Record]:
    """The findings of groups in the order in which equal ids are numbered."""
    return [finding for group in groups for finding in (*group.rests, group.cause)]


def _root(finding: Record, by_check: dict[str, list[Record]], below_lesser: bool) -> Record:
    """The last cause in the chain of causes that may be above the finding."""
    root = cause = finding
    seen = set()
    while id(cause) not in seen:
        seen.add(id(cause))
        following = _cause(cause, by_check)
        if following is None:
            break
        cause = following
        if below_lesser or _severity(cause) <= _severity(finding):
            root = cause
    return root


def _cause(finding: Record, by_check: dict[str, list[Record]]) -> Record | None:
    if finding["status"] not in UNWELL:
        return None
    statuses = (ERROR,) if finding["status"] == ERROR else (FAIL, WARN)
    subject = subject_of(finding["title"])
    for check in finding["because_of"]:
        candidates = [entry for entry in by_check.get(check, []) if entry is not finding]
        same = [entry for entry in candidates if subject_of(entry["title"]) == subject]
        unwell = [entry for entry in same or candidates if entry["status"] in statuses]
        if unwell:
            return min(unwell, key=_urgency)
    return None


def _effect(finding: Record) -> int:
    # An unknown value can be read again at once, whenever a change would take effect.
    effect = "now" if finding["status"] == ERROR else finding["takes_effect"] or "now"
    return TAKES_EFFECT.index(effect)


def _severity(finding: Record) -> int:
    """Rank of the severity: 0 is the most severe."""
    return SEVERITIES.index(finding["severity"])


_RANKS = {
    (status, severity): (rank, SEVERITIES.index(severity))
    for rank, status in enumerate(STATUSES)
    for severity in SEVERITIES
}


def _urgency(finding: Record) -> tuple[int, int]:
    """The place of a finding by status and severity: the gravest comes first."""
    return _RANKS[finding["status"], finding["severity"]]


def _order(group: Group) -> tuple[object, ...]:
    cause = group.cause
    return STATUSES.index(group.status), _severity(cause), _effect(cause), *_urgency(cause)


class Action(NamedTuple):
    """What fixes a cause on several hosts.

    ``what`` is the advice from one host, or the command for all hosts. ``check`` is the most severe
    cause, and ``takes_effect`` is the earliest and the latest time. ``caption`` is a sentence about
    all ``findings``; without a full stop, the names of the hosts continue it. ``kind`` is "command"
    or "check", or "unknown" for an error. ``hosts`` are the names of the ``on`` hosts. ``again`` is
    the command that checks the result; empty where ``what`` is a command. ``entry`` is the entry of
    the policy that ``what`` requires, as YAML. ``commands`` are those of ``what``, where they are
    the same on all hosts.
    """

    what: str
    caption: str
    check: str
    takes_effect: list[str]
    findings: int
    on: int
    hosts: list[str]
    kind: str
    again: str
    entry: str = ""
    commands: tuple[str, ...] = ()


class _Known:
    """An action while the hosts are read one after the other."""

    __slots__ = (
        "changes",
        "checks",
        "command",
        "controls",
        "effects",
        "findings",
        "fixes",
        "grade",
        "hosts",
        "headings",
        "kind",
        "lines",
        "options",
        "score",
        "statuses",
        "texts",
    )

    def __init__(self, kind: str, command: str | None) -> None:
        self.kind = kind
        self.command = command
        self.changes = kind == "check" or bool(command and not _SHOWS_ONLY.match(command))
        self.checks: set[str] = set()
        self.controls: set[str] = set()
        self.headings: set[str] = set()
        self.options = ""
        self.score = 0
        self.effects: set[int] = set()
        self.grade: tuple[int, ...] = ()
        self.texts = ("", "", "", "")
        self.lines: tuple[str, ...] | None = None
        self.findings = 0
        self.fixes: dict[str, None] = {}
        self.statuses: set[str] = set()
        self.hosts: list[str] = []

    def meet(self, group: Group) -> None:
        cause = group.cause
        self.checks.add(cause["check"])
        self.effects.add(_effect(cause))
        self.findings += 1 + len(group.rests)
        self.statuses |= {finding["status"] for finding in (cause, *group.rests)}
        for finding in (cause, *group.rests):
            self.controls.add(finding["control"])
            self.score += _WEIGHTS[finding["severity"]]
        if len(self.fixes) < _FIXES:
            self.fixes.setdefault(cause["fix"] or "")
        lines = tuple(cause["commands"])
        self.lines = lines if self.lines in (None, lines) else ()
        if len(self.headings) < 2:
            self.headings.add(heading_of(cause))
        # Use the title of the most severe cause that resolves the most findings.
        grade = (*_urgency(cause), -len(group.rests))
        if not self.grade or grade < self.grade:
            self.grade = grade
            texts = (heading_of(cause), cause["problem"] or cause["title"], cause["check"])
            heading, problem, check = (shorten(one_line(text), _MOST_TEXT) for text in texts)
            self.texts = (shown_advice(cause, self.command), heading, problem, check)

    def meet_host(self, name: str, options: str) -> None:
        self.hosts.append(name)
        self.options = self.options or options

    def as_action(self, *, recorded: bool = False) -> Action:
        bounds = sorted({min(self.effects), max(self.effects)})
        effects = [TAKES_EFFECT[bound] for bound in bounds]
        what, heading, problem, check = self.texts
        options = " ".join(filter(None, (self.options, limit_of(self.hosts))))
        kind, again = self.kind, ""
        if kind == _SILENT:
            kind, what = "command", ask_silent(check, limited_to(self.hosts))
        elif self.command is not None:
            what = f"{self.command} {limit_of(self.hosts)}"
        elif what == DENIED:
            verb = "record" if recorded else "audit"
            become = "" if "--become" in options.split() else "--become "
            kind, what = "command", f"./hostproof {verb} {become}{options}"
        else:
            control = check.split(".")[0]
            # The run itself has no tag. An audit does not repeat the run of another tool.
            tags = f" --tags {control}" if control in NAMES else ""
            if control not in OTHER_TOOLS:
                again = printable(as_typed(f"./hostproof audit{tags} {options}"))
        if kind == "command":
            what = printable(as_typed(what))
        caption = self._caption(heading, problem, check)
        numbers = (self.findings, len(self.hosts))
        fixes = "; ".join((what, *self.fixes))
        entry = entry_of(fixes, self.hosts, options) if kind == "check" else ""
        commands = (self.lines or ()) if kind == "check" else ()
        return Action(
            *(what, caption, check, effects, *numbers, self.hosts, kind, again, entry, commands)
        )

    def _caption(self, heading: str, problem: str, check: str) -> str:
        """A sentence that is true of every finding of this action."""
        if self.kind == _SILENT:
            hosts = f"{len(self.hosts)} host" + ("" if len(self.hosts) == 1 else "s")
            if check == AUDITED.id:
                return f"No control answered on {hosts}"
            return f"{hosts} gave no answer"
        number = f"{self.findings} finding" + ("" if self.findings == 1 else "s")
        if not self.changes:
            of = _names(self.controls)
            if self.controls <= set(OTHER_TOOLS) and ERROR not in self.statuses:
                return f"This names the fix of {number} of {of}."
            if self.findings == 1:
                return f"This shows the reason: {heading} ({check})."
            unknown = " that could not be determined" if self.statuses == {ERROR} else ""
            return f"This shows more about {number} of {of}{unknown}."
        if len(self.checks) == 1:
            shown = heading if len(self.headings) == 1 else problem
            return f"This resolves {number}: {shown} ({check})."
        of = _names(self.controls)
        return f"This resolves {number} of {of}; the gravest: {problem} ({check})."


def _names(controls: Iterable[str]) -> str:
    """ "hugepages, nfs_mounts and 3 more controls"."""
    names = sorted(controls)
    if len(names) <= _CONTROLS_NAMED:
        return ", ".join(names)
    more = len(names) - _CONTROLS_NAMED
    return f"{', '.join(names[:_CONTROLS_NAMED])} and {more} more control" + "s" * (more > 1)


def limit_of(hosts: list[str]) -> str:
    return f"--limit {limited_to(hosts)}"


def limited_to(hosts: list[str]) -> str:
    """The value of --limit for these hosts."""
    if len(hosts) > LIMIT_HOSTS:
        return "HOSTS"
    return shlex.quote(printable(",".join(map(pattern_of, hosts))))


class First:
    """The three actions that make most hosts ready, found while all hosts pass once.

    ``waiting`` is the number of hosts that are not ready, unreachable or undetermined.
    """

    def __init__(self) -> None:
        self.waiting = 0
        #: The number of different actions, once ``actions`` has chosen some of them.
        self.count = 0
        self._recorded = False
        self._known: dict[tuple[str, str], _Known] = {}
        self._needed: Counter[frozenset[tuple[str, str]]] = Counter()

    def add(self, state: HostState) -> None:
        findings = state.findings
        if host_verdict(findings) not in (NOT_READY, UNREACHABLE, UNDETERMINED):
            return
        self.waiting += 1
        self._recorded = self._recorded or bool(recorded_apart(state))
        needed = set()
        for group in groups_of(findings, below_lesser=True):
            if group.status not in (FAIL, ERROR):
                continue
            key, command = action_key(group.cause)
            if key not in self._known:
                if len(self._known) >= _MOST_ACTIONS:
                    return
                self._known[key] = _Known(key[0], command)
            self._known[key].meet(group)
            needed.add(key)
        options = options_of(findings)
        for key in needed:
            self._known[key].meet_host(state.name, options)
        if needed and (len(self._needed) < _MOST_SETS or frozenset(needed) in self._needed):
            self._needed[frozenset(needed)] += 1

    def actions(self) -> tuple[int, list[Action]]:
        """The number of hosts become ready, and by which actions.

        apply is first, because it restarts nothing; of equal ones, what resolves most findings.
        Three that make no host ready are those that most hosts need; of these, those that resolve
        most findings, by number and severity. An action that only shows something makes no host
        ready.
        """
        weights: dict[tuple[str, str], float] = {}
        for needed, count in self._needed.items():
            for key in needed:
                # Split the weight of a host equally between the actions that it needs.
                weights[key] = weights.get(key, 0) + count / len(needed)
        advised = [key for key in weights if key[0] != _NO_ADVICE]
        known = self._known
        tried = sorted(
            advised,
            key=lambda key: (-weights[key], not known[key].changes, -known[key].score, key),
        )[:_TRIED]
        self.count = len(advised)
        best: tuple[int, float, tuple[tuple[str, str], ...]] = (0, 0, ())
        for chosen in combinations(tried, min(TOLD, len(tried))):
            changing = {key for key in chosen if known[key].changes}
            ready = sum(count for needed, count in self._needed.items() if needed <= changing)
            weight = sum(weights[key] for key in chosen)
            if (ready, weight) > best[:2]:
                best = (ready, weight, chosen)
        actions = [self._known[key] for key in best[2]]
        actions.sort(
            key=lambda action: (
                not action.changes,
                action.kind != "command",
                -action.score,
                min(action.effects),
                max(action.effects),
            )
        )
        return best[0], [action.as_action(recorded=self._recorded) for action in actions]

    def by_hosts(self) -> list[Action]:
        """Every action, those that most hosts need first: what a fleet lacks, cause by cause."""
        known = sorted(
            self._known.items(),
            key=lambda item: (-len(item[1].hosts), min(item[1].effects), item[0]),
        )
        return [action.as_action(recorded=self._recorded) for _, action in known]


def effect_of(first: First, ready: int, shown: int) -> str:
    """The effect of the shown actions on the hosts that need them, and the number of actions."""
    actions = f"{shown} of {first.count} actions"
    if not ready and first.waiting == 1:
        return (
            f"{actions}, those that resolve most" if shown < first.count else "what the host needs"
        )
    if not ready:
        return (
            f"{actions}, those that most hosts need"
            if shown < first.count
            else "what most hosts need"
        )
    subject = f"these {actions if shown < first.count else f'{shown} actions'} make"
    if shown == 1:
        subject = "this action makes"
    hosts = "the host" if first.waiting == 1 else f"{ready} of {first.waiting} hosts"
    return f"{subject} {hosts} ready"


def options_of(findings: Iterable[Record]) -> str:
    """The options of the run that found this, as its own commands repeat them."""
    for finding in findings:
        for line in finding["commands"]:
            if is_own(line):
                return options_in(line)
    return run_options.of_run()


def shown_advice(cause: Record, command: str | None = None) -> str:
    """What to do about a cause, in one line."""
    advice = command or cause["fix"] or "\n".join(cause["commands"]) or cause["why"]
    return shorten(one_line(as_typed(advice)), _MOST_TEXT)


def action_key(cause: Record) -> tuple[tuple[str, str], str | None]:
    """The key that equal fixes of several hosts share, and the command for all these hosts."""
    if cause["check"] in (REACHABLE.id, AUDITED.id):
        return (_SILENT, cause["check"]), None
    for line in cause["commands"]:
        if is_own(line):
            command = without_limit(line)
            return ("command", command), command
    if cause["status"] == ERROR:
        advice = shorten(one_line(cause["fix"] or ""), _MOST_TEXT)
        return (("unknown", advice) if advice else (_NO_ADVICE, cause["check"])), None
    return ("check", cause["check"]), None
