# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and checks any number of controls on one host: what audit, verify and record share."""

import base64
import json
import re
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Tuple

from ..collect.host import Host, now
from ..collect.masking import masked, masked_key, masked_value
from ..collect.window import Waits
from ..controls.registry import CONTROLS
from ..errors import BadEntry, NotRecorded, PolicyError
from .checking import Crashed, Verdict
from .finding import ERROR, FAIL, PASS, WARN, Check, Finding, keep_failed_causes, make_finding
from .policy import LEFT_OUT


class LeftOut(NamedTuple):
    """What is wrong with an entry of a control's policy."""

    control: str
    problem: BadEntry

    @property
    def entry(self) -> str:
        """ "entries 2 and 5 of storage_type_addresses": people count from 1."""
        names = [
            repr(place) if isinstance(place, str) else str(place + 1)
            for place in self.problem.places
        ]
        word = "entries" if len(names) > 1 else "entry"
        return f"{word} {' and '.join(names)} of {self.control}_{self.problem.field}"

    @property
    def text(self) -> str:
        problem = str(self.problem).rstrip(".")
        return f"{problem}; {self.entry} was skipped, and its subjects were not checked."


def policies_from(
    controls: Dict[str, Any],
    secrets: Optional[Dict[str, str]] = None,
    bad: Optional[List[LeftOut]] = None,
) -> Dict[str, Any]:
    """{control: its Policy} from {control: plain values}; PolicyError names the invalid field.

    ``secrets`` are the values that must not be shown, packed by control (``unpack``). ``bad``
    collects invalid entries, which are then left out. Read-only callers use it, so that one invalid
    address does not prevent the audit of the host. Without it, an invalid entry is a PolicyError.
    """
    if not controls:
        raise PolicyError(
            "no control is named: name at least one of " + ", ".join(sorted(CONTROLS))
        )
    for name, values in controls.items():
        if name not in CONTROLS:
            raise PolicyError(
                "there is no control {0}: there are {1}".format(name, ", ".join(sorted(CONTROLS)))
            )
        if not isinstance(values, dict):
            raise PolicyError(f"the policy of {name} must be a dictionary")
    return {
        name: _policy_from(name, dict(values, **unpack(name, (secrets or {}).get(name))), bad)
        for name, values in controls.items()
    }


#: Entries of one policy that are left out one by one; with more of them it is not a policy.
MOST_BAD_ENTRIES = 100


def _policy_from(name: str, values: Dict[str, Any], bad: Optional[List[LeftOut]]) -> Any:
    left_out = 0
    while True:
        try:
            return CONTROLS[name].policy_from(values)
        except BadEntry as problem:
            if bad is None or left_out >= MOST_BAD_ENTRIES:
                raise
            left_out += 1
            bad.append(LeftOut(name, problem))
            entries: Any = values[problem.field]
            entries = dict(entries) if isinstance(entries, dict) else list(entries)
            for place in problem.places:
                entries[place] = LEFT_OUT
            values = dict(values, **{problem.field: entries})


def unpack(name: str, packed: Optional[str]) -> Dict[str, Any]:
    """The secret values of a control's policy from base64 of JSON.

    They travel as one long text: Ansible blanks a secret out of whatever a module answers, and a
    short one, such as the community "ro", would blank letters out of every word.
    """
    if not packed:
        return {}
    try:
        values = json.loads(base64.b64decode(packed, validate=True).decode("utf-8"))
    except ValueError:
        raise PolicyError(f"the secrets of {name} are not base64 of JSON") from None
    if not isinstance(values, dict):
        raise PolicyError(f"the secrets of {name} must be a dictionary")
    return values


#: Seconds for one control, and for all of a host: what a policy has us wait for comes on top.
CONTROL_SECONDS = 300.0
HOST_SECONDS = 1800.0

#: Seconds that a read may go on when the time is over, before it is cut off.
_GRACE = 15.0

#: Evidence of a control that did not come to its end.
TRACE = "trace:"
_FRAMES = 6
_LONGEST = 300


class TimeIsUp(BaseException):
    """The time of a control is over. No ``except Exception`` on the way is to take it."""


def judge_host(
    host: Host,
    controls: Dict[str, Any],
    secrets: Optional[Dict[str, str]] = None,
    seconds: Tuple[float, float] = (CONTROL_SECONDS, HOST_SECONDS),
) -> List[Finding]:
    """Every finding of every control.

    A control that fails unexpectedly or exceeds its time limit becomes an error finding; the other
    controls are still checked. ``seconds`` are the limits per control and per host.
    """
    bad: List[LeftOut] = []
    policies = policies_from(controls, secrets, bad)
    guard = partial(_guarded, _Clock(host, seconds), secrets)
    findings: List[Finding] = []
    newer: Dict[str, List[NotRecorded]] = {}
    read = read_all(host, policies, guard, newer)
    for name, facts in sorted(read.items(), key=lambda entry: entry[0]):
        if not isinstance(facts, Finding):
            crashed = partial(_crashed, host, name, secrets)
            facts = guard(name, partial(_judge, name, facts, policies[name], crashed))
        judged = [facts] if isinstance(facts, Finding) else facts
        findings.extend(_without_newer(finding, newer.get(name, [])) for finding in judged)
    findings = [_of_all_entries(finding, bad) for finding in findings]
    findings.extend(_left_out(omission) for omission in bad)
    checks = [check for name in policies for check in CONTROLS[name].checks]
    own = frozenset(text for check in checks for text in check if isinstance(text, str))
    return bounded(
        [_without_secrets(_printable(finding), own) for finding in keep_failed_causes(findings)]
    )


#: Keys that a finding names of those that count as absent.
_NAMED_KEYS = 3


def _without_newer(finding: Finding, newer: List[NotRecorded]) -> Finding:
    """The finding, with the optional readings of its control that are newer than the recording."""
    absent = {answer.key: answer for answer in newer if answer.counts_as_absent}
    if finding.status not in (PASS, WARN, FAIL) or not absent:
        return finding
    keys = sorted(absent)
    by = absent[keys[0]].by
    more = f" and {len(keys) - _NAMED_KEYS} more" if len(keys) > _NAMED_KEYS else ""
    names = ", ".join(keys[:_NAMED_KEYS]) + more
    note = f"Not recorded by {by}, counted as absent: {names}."
    return finding._replace(why=f"{finding.why.rstrip('.')}. {note}")


def _left_out(omission: LeftOut) -> Finding:
    return make_finding(
        _bad_entry(omission.control),
        ERROR,
        title=f"Every policy entry is valid: {omission.entry}",
        why=omission.text,
        fix=f"correct {omission.entry}, as described in roles/{omission.control}/README.md, and "
        "audit again",
    )


def _bad_entry(name: str) -> Check:
    return Check(
        id=name + ".policy_entry",
        title="Every policy entry is valid",
        severity="high",
        takes_effect="now",
        why="Objects that the entry names were not checked.",
        reference=f"roles/{name}/README.md",
    )


def _of_all_entries(finding: Finding, bad: List[LeftOut]) -> Finding:
    """An error in the place of a verdict that rests on every entry of a list that lacks one.

    Which these are the control states: ``needs_all`` has ids of checks by field, or by "field.key".
    """
    for omission in bad:
        needs = CONTROLS[omission.control].needs_all
        names = [
            omission.problem.field,
            *(f"{omission.problem.field}.{key}" for key in omission.problem.places),
        ]
        if any(finding.check in needs.get(name, ()) for name in names):
            return finding._replace(
                status=ERROR,
                desired=None,
                why=f"Not known, for it rests on all entries: {omission.text}",
                fix=f"correct {omission.entry}, and audit again",
                values=None,
                commands=(),
                because_of=(_bad_entry(omission.control).id,),
            )
    return finding


def read_host(
    host: Host,
    controls: Dict[str, Any],
    secrets: Optional[Dict[str, str]] = None,
) -> List[str]:
    """Read what the controls would check; the answers are the host's evidence.

    Returned is what an entry of a policy that cannot be used has kept from being read.
    """
    bad: List[LeftOut] = []
    policies = policies_from(controls, secrets, bad)
    read_all(
        host, policies, partial(_guarded, _Clock(host, (CONTROL_SECONDS, HOST_SECONDS)), secrets)
    )
    return [omission.text for omission in bad]


def _unguarded(_name: str, work: Callable[[], object]) -> Any:
    return work()


def read_all(
    host: Host,
    policies: Dict[str, Any],
    guard: Callable[[str, Callable[[], object]], object] = _unguarded,
    newer: Optional[Dict[str, List[NotRecorded]]] = None,
) -> Dict[str, Any]:
    """{control: its facts}: all that needs rates shares one window.

    A control that comes to where it needs the window is left there. When all have come to theirs
    or to their end, the window passes once for all, and those that were left read again: what they
    have read already the host answers from its evidence. ``guard`` does the work of a control, or
    says what represents its facts. ``newer`` collects, by control, what it requested and the
    recording is too old for.
    """
    facts: Dict[str, Any] = {}
    left = sorted(policies)
    while left:
        waiting: List[str] = []
        host.gather()
        for name in left:
            before = len(host.not_recorded)
            try:
                facts[name] = guard(name, partial(CONTROLS[name].read, host, policies[name]))
            except Waits:
                waiting.append(name)
            if newer is not None:
                newer.setdefault(name, []).extend(host.not_recorded[before:])
        host.open_window()
        left = waiting
    return facts


def _judge(name: str, facts: object, policy: object, crashed: Crashed) -> List[Finding]:
    return list(CONTROLS[name].judge(facts, policy, crashed))


def _crashed(
    host: Host, control: str, secrets: Optional[Dict[str, str]], check: str, problem: Exception
) -> Verdict:
    """The verdict of a check whose rule failed unexpectedly."""
    why = _fault(host, check, control, secrets, problem)
    fix = "Report it with the trace in the evidence; the other checks were evaluated."
    return Verdict(ERROR, why, fix, evidence=(TRACE + check,))


def _fault(
    host: Host,
    what: str,
    control: str,
    secrets: Optional[Dict[str, str]],
    problem: BaseException,
) -> str:
    """A fault of ours in words; the last calls go to the evidence."""
    message = _plain(_hidden(str(problem), control, secrets))[:_LONGEST]
    words = f"{type(problem).__name__}: {message}"
    _keep_trace(host, what, _trace_of(problem) + words)
    return f"{what} could not be evaluated because of an error in Hostproof: {words}"


def _keep_trace(host: Host, what: str, trace: str) -> None:
    host.evidence[TRACE + what] = {"kind": "trace", "at": now(), "text": _clean(trace)}


def _guarded(
    clock: "_Clock", secrets: Optional[Dict[str, str]], name: str, work: Callable[[], object]
) -> Any:
    """The result of ``work``, or an error finding if it failed."""
    host = clock.host
    try:
        with clock.running(name):
            return work()
    except TimeIsUp as problem:
        why = f"{name} was not evaluated completely: {problem}"
        _keep_trace(host, name, _trace_of(problem))
    except (KeyboardInterrupt, Waits):
        raise
    except BaseException as problem:
        # SystemExit too: no parser ends the audit of a host.
        why = _fault(host, name, name, secrets, problem)
    return make_finding(
        _unjudged(name),
        ERROR,
        why=why,
        fix="Report it with the trace in the evidence; the other controls were evaluated.",
        evidence=[TRACE + name],
    )


def _unjudged(name: str) -> Check:
    return Check(
        id=name + ".audited",
        title="Control was audited",
        severity="high",
        takes_effect="now",
        why="A check that did not run may hide a problem.",
        reference="Hostproof, docs/security.md, What is promised",
    )


def _trace_of(problem: BaseException) -> str:
    """The last calls, without the values that a host or a policy gave."""
    # Imported here: almost no audit needs it, and the import takes 8 ms on the host.
    import traceback

    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    return "".join(
        "{0}:{1} {2}\n".format("/".join(frame.filename.split("/")[-2:]), frame.lineno, frame.name)
        for frame in frames
    )


def _hidden(text: str, name: str, secrets: Optional[Dict[str, str]]) -> str:
    """A message without the secrets of the control's policy."""
    for secret in sorted(_texts(unpack(name, (secrets or {}).get(name))), key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


def _plain(text: str) -> str:
    """On one line, of what every terminal takes."""
    ascii_text = text[: 4 * _LONGEST].encode("ascii", "backslashreplace").decode("ascii")
    return re.sub("[^ -~]+", " ", ascii_text).strip()


def _texts(value: object) -> List[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        value = list(value.values())
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


class _Clock:
    """Ends what takes too long: nothing more is queried of the host when the time is over, and a
    signal cuts off what goes on (a parser in a loop, a wait that has no end)."""

    def __init__(self, host: Host, seconds: Tuple[float, float]) -> None:
        self.host = host
        self._each, self._all = seconds
        self._left = self._all
        self._spent: Dict[str, float] = {}

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        if self._left <= 0:
            raise TimeIsUp(f"the {self._all:g} seconds of this host were over")
        mine = min(self._each - self._spent.get(name, 0.0), self._left)
        if mine <= 0:
            raise TimeIsUp(f"its {self._each:g} seconds were over")
        self.host.until = time.monotonic() + mine
        old = self._arm(f"it took longer than {min(self._each, self._all):g} seconds", mine)
        try:
            yield
        finally:
            self._disarm(old)
            # Waiting time that the control requested was added to its deadline.
            spent = mine - max(0.0, self.host.until - time.monotonic())
            self._left -= spent
            self._spent[name] = self._spent.get(name, 0.0) + spent
            self.host.until = None

    def _arm(self, message: str, seconds: float) -> Any:
        """The handler that was there; None where signals are not for us (another thread)."""

        def rung(_signal: int, _frame: object) -> None:
            until = self.host.until
            left = 0.0 if until is None else until + _grace(seconds) - time.monotonic()
            if left > 0:
                signal.setitimer(signal.ITIMER_REAL, left)
            else:
                raise TimeIsUp(message)

        if threading.current_thread() is not threading.main_thread():
            return None
        old = signal.signal(signal.SIGALRM, rung)
        signal.setitimer(signal.ITIMER_REAL, seconds + _grace(seconds))
        return old

    @staticmethod
    def _disarm(old: Any) -> None:
        if old is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)


def _grace(seconds: float) -> float:
    return min(_GRACE, seconds)


#: The controller rejects an answer with more findings or a longer text, and with it the host:
#: an account that makes up that much is to cost its own control.
MOST_FINDINGS = 19_000
_LONGEST_TEXT = 20_000


def bounded(findings: List[Finding]) -> List[Finding]:
    """The findings with texts that are cut where they are too long; where there are too many, one
    error for all of the control that has most."""
    while len(findings) > MOST_FINDINGS:
        ((name, count),) = Counter(finding.control for finding in findings).most_common(1)
        findings = [finding for finding in findings if finding.control != name]
        why = f"It has {count} findings, and a host may have {MOST_FINDINGS}: none was kept."
        findings.append(
            make_finding(
                _unjudged(name),
                ERROR,
                why=why,
                fix="Check the host for an unusual number of objects.",
            )
        )
    return [Finding(*map(_cut, _with_whole_commands(finding))) for finding in findings]


def _with_whole_commands(finding: Finding) -> Finding:
    """Remove truncated commands, which must not be run."""
    whole = tuple(command for command in finding.commands if len(command) <= _LONGEST_TEXT)
    return finding._replace(commands=whole)


def _cut(value: object) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        # Imported here: almost no audit needs it, and the import takes 16 ms on the host.
        import hashlib

        # What differs anywhere differs still.
        mark = hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()
        return f"{value[: _LONGEST_TEXT // 2]}... ({len(value)} characters, SHA-256 {mark})"
    if isinstance(value, tuple):
        return tuple(map(_cut, value))
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return value


def _printable(finding: Finding) -> Finding:
    """Bytes of the host that are no UTF-8 cannot go through JSON as they are."""
    return Finding(*(_clean(value) for value in finding))


def _without_secrets(finding: Finding, own: FrozenSet[str]) -> Finding:
    """The finding as it may leave the host: its texts, commands and values are masked.

    ``own`` are the texts of our checks, which hold no secret: most of a finding.
    """
    keys = tuple(map(masked_key, finding.evidence))
    return Finding(*(_masked_field(value, own) for value in finding))._replace(evidence=keys)


def _masked_field(value: object, own: FrozenSet[str]) -> Any:
    """Commands and ids are separate lines, not the words of one command."""
    if isinstance(value, str) and value in own:
        return value
    if isinstance(value, tuple):
        return tuple(masked("", item) for item in value)
    return masked_value("", value)


def _clean(value: object) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, tuple):
        return tuple(_clean(item) for item in value)
    return value
