# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one loop that checks: every rule of a control over every subject that it is for.

Each file of rules makes one ``Rules``. A check is registered by the decorator above its rule::

    rules: Rules[Facts, Policy] = Rules("swappiness")

    @rules.check(
        "swappiness.low",
        "The kernel prefers the page cache over swap",
        severity="medium",
        takes_effect="now",
        why="With a high value the kernel swaps parts of the PGA out.",
        reference="kernel Documentation/admin-guide/sysctl/vm.rst, swappiness",
    )
    def low(facts: Facts, policy: Policy) -> Verdict:
        value = known(facts.value)
        return Verdict(PASS if value <= policy.maximum else FAIL, running=str(value))

With ``each=`` a rule takes one subject before facts and policy, and is queried once for each. A
rule
returns a Verdict, or a list of them that state whose they are (``of``). It raises Skip where it
does
not apply; an error of Hostproof's own (an unknown fact, as ``known`` raises it) becomes ``error``.
"""

from functools import partial
from typing import (
    AbstractSet,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
    overload,
)

from ..collect.answer import Answer
from ..errors import Absent, Denied, HostError, HostproofError, NotRecorded
from .advice import Advice, Planned, by_plan, chosen, latest_event, rendered
from .finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, make_finding, worst
from .tools import install_hint

#: The facts and the policy of a control, and what its rules check one by one.
F = TypeVar("F")
P = TypeVar("P")
S = TypeVar("S")

#: Placeholders in the place of an evidence key.
_NO_KEY = ("", "policy")


class Skip(Exception):
    """The check does not apply, for this reason: a sentence."""

    def __init__(self, why: str, evidence: Sequence[str] = ()) -> None:
        self.why = why
        self.evidence = tuple(evidence)
        super().__init__(why)


class Verdict(NamedTuple):
    """The result of a rule. Fields that it leaves out are taken from the check or the subject.

    ``of`` is the name that precedes the title: None for the name of the rule's subject, "" for no
    name. ``reference`` and ``severity`` replace those of the check. ``unknown`` is a sentence after
    the why: the layers that are not known. ``failing_layer`` is needed only if there are several
    layers. ``part`` is the part of the plan (Refusal.part) that corrects the finding. ``advice``
    replaces ``fix`` and ``commands``: the steps for the layers that are ``wrong``. A verdict over
    several layers is made by ``layered``. The other fields are those of a finding (finding.py).
    """

    status: str
    why: Optional[str] = None
    fix: Optional[str] = None
    commands: Sequence[str] = ()
    desired: Optional[str] = None
    persisted: Optional[str] = None
    running: Optional[str] = None
    in_use: Optional[str] = None
    evidence: Sequence[str] = ()
    values: Optional[Dict[str, Any]] = None
    because_of: Sequence[str] = ()
    of: Optional[str] = None
    title: Optional[str] = None
    reference: Optional[str] = None
    severity: Optional[str] = None
    unknown: Optional[str] = None
    failing_layer: Optional[str] = None
    part: str = ""
    advice: Optional[Advice] = None
    wrong: AbstractSet[str] = frozenset()
    right: AbstractSet[str] = frozenset()


class Layer(NamedTuple):
    """A layer of a verdict: its text, or the error in its place, and PASS, WARN or FAIL.

    ``name`` is how a sentence calls a layer that is not known.
    """

    shown: Answer[Optional[str]]
    status: str = PASS
    name: str = ""


Judged = Union[Verdict, List[Verdict]]


def known_or_skip(answer: object) -> Any:
    """The value; Skip where the host stated that there is none; raise what is unknown."""
    if isinstance(answer, Absent):
        raise Skip(f"{str(answer).rstrip('.')}.")
    if isinstance(answer, HostproofError):
        raise answer
    return answer


def undetermined(problem: HostproofError, of: Optional[str] = None) -> Verdict:
    """An unknown state is an error, with the evidence key and a hint."""
    key = problem.key if isinstance(problem, HostError) else ""
    fix = "rerun with --become (requires root)" if isinstance(problem, Denied) else None
    if isinstance(problem, Absent):
        fix = install_hint(key)
    return Verdict(
        ERROR,
        f"Could not be determined: {str(problem).rstrip('.')}.",
        fix="record the host again" if isinstance(problem, NotRecorded) else fix,
        evidence=() if key in _NO_KEY else (key,),
        of=of,
    )


def verdict_or_error(
    rule: Callable[..., Verdict], *arguments: object, of: Optional[str] = None
) -> Verdict:
    """The verdict of a part of a rule: what is skipped or unknown there does not hide the rest."""
    try:
        verdict = rule(*arguments)
    except Skip as reason:
        return Verdict(SKIP, reason.why, evidence=reason.evidence, of=of)
    except HostproofError as problem:
        return undetermined(problem, of)
    return verdict if of is None else verdict._replace(of=of)


def by_layers(verdict: Verdict, layers: Iterable[Tuple[str, object]]) -> Verdict:
    """A verdict of the known layers, with the name and the Answer of every layer.

    What a known layer shows to be wrong stays wrong whatever the others hold: the finding then
    names the layers that are unknown. Any other verdict needs every layer, and raises the first
    that is unknown. Known layers keep their verdict where the others are newer than the recording.
    """
    answers = list(layers)
    unknown = [(name, answer) for name, answer in answers if isinstance(answer, HostproofError)]
    if not unknown:
        return verdict
    if verdict.status not in (FAIL, WARN):
        is_known = any(
            answer is not None and not isinstance(answer, HostproofError)
            for _name, answer in answers
        )
        problem = _decisive(unknown, is_known)
        if problem is not None:
            raise problem
    return verdict._replace(unknown=unknown_sentence(unknown))


def _decisive(
    unknown: List[Tuple[str, HostproofError]], is_known: bool
) -> Optional[HostproofError]:
    """The unknown answer that leaves the check undetermined unless a layer is wrong; None for none.

    ``is_known``: at least one layer is known. Known layers keep their verdict where the others are
    newer than the recording.
    """
    needed = [problem for _name, problem in unknown if not isinstance(problem, NotRecorded)]
    if needed or is_known or not unknown:
        return needed[0] if needed else None
    return unknown[0][1]


def unknown_sentence(answers: Iterable[Tuple[str, Answer[object]]]) -> Optional[str]:
    """The sentence about the answers that are not known; None if all are."""
    names = "; ".join(
        f"{name}: {str(answer).rstrip('.')}"
        for name, answer in answers
        if isinstance(answer, HostproofError)
    )
    return f"Not known: {names}." if names else None


#: How a sentence calls a layer, if the rule does not name it; in the order of ``failing_layer``.
_NAMES = (
    ("in_use", "value in use"),
    ("running", "running value"),
    ("persisted", "value after a reboot"),
)


def _shown(
    layers: Dict[str, Optional[Layer]],
) -> Tuple[Dict[str, Optional[str]], Dict[str, str], List[Tuple[str, HostproofError]]]:
    """Text and status by layer, and the name and error of each that is not known."""
    texts: Dict[str, Optional[str]] = {}
    statuses: Dict[str, str] = {}
    unknown: List[Tuple[str, HostproofError]] = []
    for name, words in _NAMES:
        layer = layers[name]
        if layer is None:
            continue
        if isinstance(layer.shown, HostproofError):
            unknown.append((layer.name or words, layer.shown))
            texts[name] = "unknown"
        else:
            statuses[name], texts[name] = layer.status, layer.shown
    return texts, statuses, unknown


def layered(
    *,
    persisted: Optional[Layer] = None,
    running: Optional[Layer] = None,
    in_use: Optional[Layer] = None,
    also: Iterable[Tuple[str, Answer[object]]] = (),
    advice: Optional[Advice] = None,
    **fields: Any,
) -> Verdict:
    """The verdict of layers, each with its own status; None is a layer that does not exist.

    The worst known layer is the status. A layer that is not known never hides one that is wrong; it
    is the verdict only if no other layer is wrong. ``also`` are names and answers that a pass
    depends on without being a layer. ``fields`` are others of the Verdict.
    """
    layers = {"persisted": persisted, "running": running, "in_use": in_use}
    texts, statuses, unknown = _shown(layers)
    unknown += [(name, answer) for name, answer in also if isinstance(answer, HostproofError)]
    wrong = [layer for layer in statuses if statuses[layer] in (FAIL, WARN)]
    problem = None if wrong else _decisive(unknown, bool(statuses))
    if problem is not None:
        verdict = undetermined(problem, fields.get("of"))
        steps = advice.unknown if advice is not None else ()
        return verdict._replace(advice=Advice(steps)) if steps else verdict
    return Verdict(
        worst(list(statuses.values()) or [PASS]),
        unknown=unknown_sentence(unknown),
        failing_layer=wrong[0] if wrong else None,
        advice=advice,
        wrong=frozenset(wrong),
        right=frozenset(statuses) - frozenset(wrong),
        **dict(texts, **fields),
    )


def failing(
    *, persisted: bool = False, running: bool = False, in_use: bool = False
) -> Optional[str]:
    """The layer with the wrong value, in use before running before persisted; None: no layer."""
    layers = (("in_use", in_use), ("running", running), ("persisted", persisted))
    return next((name for name, is_wrong in layers if is_wrong), None)


def _nameless(_subject: object) -> str:
    return ""


def _no_evidence(_subject: object) -> Tuple[str, ...]:
    return ()


def _finished(finding: Finding, _subject: object) -> Finding:
    return finding


class Subjects(Generic[F, P, S]):
    """What rules check one by one (``each=``).

    ``find`` gives them from facts and policy, or raises Skip or what is unknown, which is then so
    for every rule. A HostproofError among them represents a subject that is not known, and
    ``unknown`` is what that one is called. ``none`` is why nothing is checked where there is no
    subject. ``name`` is before the title, ``evidence`` is for verdicts that have none, and
    ``finish`` adds what is true of any finding on the subject.
    """

    def __init__(
        self,
        find: Callable[[F, P], Iterable[Answer[S]]],
        none: Union[str, Callable[[F, P], str]] = "There is none here.",
        name: Callable[[S], str] = _nameless,
        evidence: Callable[[S], Iterable[str]] = _no_evidence,
        finish: Callable[[Finding, S], Finding] = _finished,
        unknown: str = "",
    ) -> None:
        self.find, self.none, self.name = find, none, name
        self.evidence, self.finish, self.unknown = evidence, finish, unknown

    def found_by(self, find: Callable[[F, P], Iterable[Answer[S]]]) -> "Subjects[F, P, S]":
        """The same with another ``find``."""
        return Subjects(find, self.none, self.name, self.evidence, self.finish, self.unknown)


class Rule(Generic[F, P]):
    """A rule with its check; to call it is to call the rule."""

    def __init__(
        self,
        check: Check,
        function: Callable[..., Judged],
        each: Optional[Subjects[F, P, Any]] = None,
    ) -> None:
        self.check, self.function, self.each = check, function, each

    def __call__(self, *arguments: object) -> Judged:
        return self.function(*arguments)


#: Creates the verdict of a check whose rule failed unexpectedly.
Crashed = Callable[[str, Exception], Verdict]


class Rules(Generic[F, P]):
    """The rules of one file, in the order in which they are written."""

    def __init__(self, control: str) -> None:
        self.control = control
        self.rules: List[Rule[F, P]] = []

    @overload
    def check(
        self,
        check_id: str,
        title: str,
        problem: str,
        *,
        severity: str,
        takes_effect: str,
        why: str,
        reference: str,
        because_of: Tuple[str, ...] = (),
    ) -> Callable[[Callable[[F, P], Judged]], Rule[F, P]]: ...

    @overload
    def check(
        self,
        check_id: str,
        title: str,
        problem: str,
        *,
        severity: str,
        takes_effect: str,
        why: str,
        reference: str,
        each: Subjects[F, P, S],
        because_of: Tuple[str, ...] = (),
    ) -> Callable[[Callable[[S, F, P], Judged]], Rule[F, P]]: ...

    def check(
        self,
        check_id: str,
        title: str,
        problem: str,
        *,
        severity: str,
        takes_effect: str,
        why: str,
        reference: str,
        each: Optional[Subjects[F, P, Any]] = None,
        because_of: Tuple[str, ...] = (),
    ) -> Callable[[Callable[..., Judged]], Rule[F, P]]:
        """Register the rule below as this check (finding.py says what each text is).

        ``because_of`` are checks, also of other controls, whose findings can cause this one.
        finding.keep_failed_causes says which of them do on a host.
        """
        if not check_id.startswith(self.control + "."):
            raise ValueError(f"{check_id} is not a check of {self.control}")
        check = Check(check_id, title, severity, takes_effect, why, reference, because_of, problem)

        def register(function: Callable[..., Judged]) -> Rule[F, P]:
            rule: Rule[F, P] = Rule(check, function, each)
            self.rules.append(rule)
            return rule

        return register


def judge_rules(
    rules: Iterable[Rule[F, P]],
    applies: Optional[Callable[[F, P], Optional[Iterable[object]]]],
    facts: F,
    policy: P,
    crashed: Optional[Crashed] = None,
    planned: Planned = lambda: None,
) -> List[Finding]:
    """At least one finding for each rule; without ``crashed`` an unexpected exception is raised.

    ``applies`` takes facts and policy. It raises Skip, or what is unknown, where no rule can check.
    ``planned`` gives the plan of the control, for advice to apply it.
    """
    loop = _Loop(facts, policy, crashed, planned)
    return [finding for rule in rules for finding in loop.findings(rule, applies)]


class _Loop(Generic[F, P]):
    """One run over facts and policy. Subjects are determined once for all rules."""

    def __init__(self, facts: F, policy: P, crashed: Optional[Crashed], planned: Planned) -> None:
        self._planned = planned
        self._facts = facts
        self._policy = policy
        self._crashed = crashed
        self._answers: Dict[Callable[..., Any], Any] = {}

    def findings(
        self, rule: Rule[F, P], applies: Optional[Callable[[F, P], Optional[Iterable[object]]]]
    ) -> List[Finding]:
        subjects: Sequence[Any] = [None]
        try:
            if applies is not None:
                self._once(applies)
            if rule.each is not None:
                subjects = self._subjects(rule.each)
        except Exception as problem:
            return self._guarded(rule, partial(_raised, problem), None)
        return [
            finding
            for subject in subjects
            for finding in self._guarded(rule, self._work(rule, subject), subject)
        ]

    def _subjects(self, each: Subjects[F, P, object]) -> Sequence[Any]:
        subjects = self._once(each.find)
        if not subjects:
            none = each.none
            raise Skip(none if isinstance(none, str) else none(self._facts, self._policy))
        return subjects

    def _once(self, function: Callable[[F, P], Optional[Iterable[object]]]) -> Any:
        """The result or exception of the first call; an iterable result becomes a list."""
        if function not in self._answers:
            try:
                answer = function(self._facts, self._policy)
                self._answers[function] = None if answer is None else list(answer)
            except Exception as problem:
                self._answers[function] = problem
        answer = self._answers[function]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _work(self, rule: Rule[F, P], subject: object) -> Callable[[], Judged]:
        if rule.each is None:
            return partial(rule.function, self._facts, self._policy)
        if isinstance(subject, HostproofError):
            return partial(_raised, subject)
        return partial(rule.function, subject, self._facts, self._policy)

    def _guarded(
        self, rule: Rule[F, P], work: Callable[[], Judged], subject: object
    ) -> List[Finding]:
        try:
            answer = work()
            verdicts = answer if isinstance(answer, list) else [answer]
            if not verdicts:
                raise ValueError("the rule returns nothing")
            return [self._finding(rule, verdict, subject) for verdict in verdicts]
        except Skip as reason:
            verdict = Verdict(SKIP, reason.why, evidence=reason.evidence)
        except HostproofError as problem:
            verdict = undetermined(problem)
        except Exception as problem:
            if self._crashed is None:
                raise
            verdict = self._crashed(rule.check.id, problem)
        return [self._finding(rule, verdict, subject)]

    def _finding(self, rule: Rule[F, P], verdict: Verdict, subject: object) -> Finding:
        check, each = rule.check, rule.each
        name, evidence = _name_and_evidence(each, subject)
        name = name if verdict.of is None else verdict.of
        title = verdict.title or check.title
        fix, commands, effect = self._remedy(check, verdict)
        finding = make_finding(
            check,
            verdict.status,
            why=verdict.why,
            fix=fix,
            evidence=verdict.evidence or evidence,
            title=f"{name}: {title}" if name else title,
            commands=commands,
            values=verdict.values,
            because_of=verdict.because_of,
            failing_layer=verdict.failing_layer,
            desired=verdict.desired,
            persisted=verdict.persisted,
            running=verdict.running,
            in_use=verdict.in_use,
        )
        finding = finding._replace(takes_effect=effect)
        if verdict.reference is not None:
            finding = finding._replace(reference=verdict.reference)
        if verdict.unknown is not None:
            finding = finding._replace(why=f"{finding.why.rstrip('.')}. {verdict.unknown}")
        if verdict.severity is not None:
            finding = finding._replace(severity=verdict.severity)
        if each is None or subject is None or isinstance(subject, HostproofError):
            return finding
        return each.finish(finding, subject)

    def _remedy(self, check: Check, verdict: Verdict) -> Tuple[Optional[str], Sequence[str], str]:
        """The fix as prose and as commands, and when it takes effect."""
        if verdict.advice is None or verdict.status not in (FAIL, WARN, ERROR):
            control = check.id.partition(".")[0]
            fix, commands = by_plan(
                verdict.fix, verdict.commands, control, verdict.part, self._planned
            )
            return fix, commands, check.takes_effect
        steps = chosen(verdict.advice, verdict.wrong, verdict.right, check.takes_effect)
        fix, commands = rendered(steps, self._planned)
        return fix, commands, latest_event(steps) or check.takes_effect


def _name_and_evidence(
    each: Optional[Subjects[F, P, Any]], subject: Any
) -> Tuple[str, Iterable[str]]:
    if each is None or subject is None:
        return "", ()
    if isinstance(subject, HostproofError):
        return each.unknown, ()
    return each.name(subject), each.evidence(subject)


def _raised(problem: Exception) -> Verdict:
    raise problem
