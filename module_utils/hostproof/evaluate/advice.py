# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice as data: the steps of a fix, and which of them belong to which wrong layer.

A rule describes each layer, and gives steps for each combination of wrong layers::

    return layered(
        persisted=Layer(answer_of_file, FAIL if bad_later else PASS, "after a reboot"),
        running=Layer(text_now, FAIL if bad_now else PASS),
        advice=Advice(
            both=[Apply(NAME)],
            persisted=[Edit(place, "vm.swappiness = 10")],
            in_use=[Wait("instance_restart", sid)],
        ),
        why=..., desired=..., evidence=...,
    )

``layered`` (checking.py) derives status, failing layer and what is not known; the loop chooses the
steps (``chosen``) and renders them (``rendered``). Text and commands of a finding come from the
steps only. Rules that still return ``fix`` and ``commands`` as texts keep working (``by_plan``).

The fix that apply makes is derived from the plan of the control, and from nothing else: ``Apply``
prints the command of ``apply_line`` only where apply would change the host. Otherwise it is the
reason why apply would not."""

from typing import AbstractSet, Any, Callable, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ..collect.answer import Answer, known
from ..collect.shell import line, line_as
from ..errors import HostproofError
from .finding import TAKES_EFFECT

#: Where an event does not name what it is about.
_EVENTS = {
    "login": "log in again: only a new session gets it",
    "remount": "mount {0} again",
    "service_restart": "restart {0}",
    "listener_restart": "restart {0}",
    "instance_restart": "restart {0}",
    "cluster_restart": "restart {0} on one node after the other",
    "reboot": "reboot the host",
}
_SUBJECTS = {
    "remount": "the file system",
    "service_restart": "the service",
    "listener_restart": "the listener",
    "instance_restart": "the instance",
    "cluster_restart": "Oracle Clusterware",
}


def waits_for(takes_effect: Optional[str], fix: Optional[str]) -> Optional[str]:
    """The event that a fix waits for; None if there is something else to do."""
    text = _EVENTS.get(takes_effect or "")
    if text is None or not fix or ";" in fix:
        return None
    begin, _, end = text.partition("{0}")
    is_event = fix == text if begin == text else fix.startswith(begin) and fix.endswith(end)
    return takes_effect if is_event else None


class Step:
    """One step of a fix: a clause without a full stop, and the lines that a shell takes for it."""

    def __init__(self, text: str = "", commands: Sequence[str] = ()) -> None:
        self.text = text
        self.commands = tuple(commands)


class Run(Step):
    """Run a program. ``text`` is the purpose; the line is among the commands of the finding.

    With an ``account`` other than root, root runs it as that account.
    """

    def __init__(self, *argv: Any, account: Optional[str] = None, text: str = "") -> None:
        is_root = account is None or account == "root"
        super().__init__(text, [line(*argv) if is_root else line_as(str(account), *argv)])


class Edit(Step):
    """Change a file manually. ``text`` is the line that it must have.

    ``what`` is the whole sentence instead, for example what to remove.
    """

    def __init__(self, path: str, text: str = "", what: str = "") -> None:
        super().__init__(what or f"put '{text}' into {path}")


class EditUnit(Step):
    """Set lines of a section in the drop-in of a unit that ``systemctl edit`` writes.

    A drop-in of /etc that is read after it, ``place``, would still count: it is changed instead.
    """

    def __init__(self, unit: str, section: str, lines: Sequence[str], place: str = "") -> None:
        texts = [f"'{one}'" for one in (f"[{section}]", *lines)]
        text = f"run systemctl edit {unit}, and put {_and(texts)} into it"
        if is_later(place, "override.conf"):
            text = f"put {_and(texts[1:])} into {place}, and run systemctl daemon-reload"
        super().__init__(text)


def is_later(path: str, name: str) -> bool:
    """Whether a file is a drop-in of /etc that systemd reads after one of this name."""
    folder, _, own = path.rpartition("/")
    return path.startswith("/etc/systemd/") and folder.endswith(".d") and own > name


def _and(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


class Apply(Step):
    """Apply a control. The plan shows whether this changes something, and if not, why.

    ``part`` is the part of the plan (Refusal.part) that corrects the finding. ``what`` is a clause
    before it: what the host must have.
    """

    def __init__(self, control: str, part: str = "", what: str = "") -> None:
        self.part = part
        self.what = f"{what}: " if what else ""
        super().__init__(self.what + "apply the control", [apply_line(control)])


class Wait(Step):
    """The event at which a persisted value takes effect: one of TAKES_EFFECT except "now".

    ``what`` names the subject: the instance, the unit, the mount point. There are ``commands`` only
    where running them is safe at any time.
    """

    def __init__(self, event: str, what: str = "", commands: Sequence[str] = ()) -> None:
        self.event = event
        super().__init__(_EVENTS[event].format(what or _SUBJECTS.get(event, "")), commands)


class Ask(Step):
    """A task that only a person can do or decide: a clause, without a command."""

    def __init__(self, text: str) -> None:
        super().__init__(text.rstrip("."))


class Advice(NamedTuple):
    """The steps for the layers that are wrong.

    ``both``       running and persisted are wrong: apply, or the commands. Also the steps where a
                   layer that is not named below is wrong
    ``persisted``  only persisted is wrong: write the running value at the place that is named
    ``running``    only running is wrong. Without steps: the event of the check, if the persisted
                   value is right
    ``in_use``     only in use is wrong. Without steps: the event of the check. Where another layer
                   is wrong too, these follow its steps
    ``elsewhere``  another service owns the persisted value: change it there. Used instead of
                   ``persisted`` and ``both``
    ``unknown``    no layer is known to be wrong, and one is not known
    """

    both: Sequence[Step] = ()
    persisted: Sequence[Step] = ()
    running: Sequence[Step] = ()
    in_use: Sequence[Step] = ()
    elsewhere: Sequence[Step] = ()
    unknown: Sequence[Step] = ()


def chosen(
    advice: Advice, wrong: AbstractSet[str], right: AbstractSet[str], effect: str
) -> Sequence[Step]:
    """The steps for the wrong layers. ``effect`` is when a change of the check takes effect."""
    event: Sequence[Step] = () if effect == "now" else [Wait(effect)]
    outer = wrong - {"in_use"}
    steps: Sequence[Step] = ()
    if outer == {"running"}:
        steps = advice.running or (event if "persisted" in right else ()) or advice.both
    elif outer:
        steps = _of_persisted(advice, outer)
    if "in_use" in wrong:
        steps = [*steps, *(advice.in_use or (event if not outer else ()))]
    return steps or advice.both


def _of_persisted(advice: Advice, outer: AbstractSet[str]) -> Sequence[Step]:
    """The steps where the value after a reboot is wrong, alone or with the running one."""
    alone = advice.persisted if outer == {"persisted"} else ()
    return advice.elsewhere or alone or advice.both


def latest_event(steps: Iterable[Step]) -> Optional[str]:
    """The last event that the steps wait for, in the order of TAKES_EFFECT; None for no event."""
    events = [step.event for step in steps if isinstance(step, Wait)]
    return max(events, key=TAKES_EFFECT.index, default=None)


#: Gives the plan of the control, once, or the error in its place.
Planned = Callable[[], Answer[Any]]


def rendered(steps: Iterable[Step], planned: Planned) -> Tuple[Optional[str], Tuple[str, ...]]:
    """(fix, commands) of a finding.

    Where apply would do nothing, its step is the reason. The finding has no commands then, and the
    steps that wait for its change are left out.
    """
    texts: List[str] = []
    commands: List[str] = []
    is_blocked = False
    for step in steps:
        reason = _why_not(planned(), step.part) if isinstance(step, Apply) else None
        if isinstance(step, Apply) and reason is not None:
            is_blocked = True
            texts.append(step.what + reason)
        elif not (is_blocked and isinstance(step, Wait)):
            texts.append(step.text)
            commands += [command for command in step.commands if command not in commands]
    # Beside the steps of a person this reason has no content.
    said = [text for text in texts if text != nothing_to_apply(())] or texts
    fix = "; then ".join(_unique(said))
    return fix or None, () if is_blocked else tuple(commands)


def _unique(texts: Iterable[str]) -> List[str]:
    unique: List[str] = []
    for text in texts:
        if text and text not in unique:
            unique.append(text)
    return unique


def apply_line(control: str) -> str:
    """The command that applies one control."""
    return line("./hostproof", "apply", "--tags", control)


def refusal_of(planned: Answer[Any], part: str = "") -> Optional[str]:
    """Why apply would reject this plan, or a part of it; None if it would not."""
    if isinstance(planned, HostproofError):
        return f"apply cannot plan this host: {str(planned).rstrip('.')}"
    reasons = _unique(
        refusal.reason.rstrip(".") for refusal in planned.refusals if refusal.part in ("", part)
    )
    return f"apply is blocked. First: {'; '.join(reasons)}" if reasons else None


def _why_not(planned: Answer[Any], part: str = "") -> Optional[str]:
    """Why apply would change nothing; None if it changes something."""
    reason = refusal_of(planned, part)
    if reason is None and not known(planned).changes:
        return nothing_to_apply(known(planned).pending)
    return reason


def once(plan: Planned) -> Planned:
    """The same answer for every call, made by the first."""
    answers: List[Answer[object]] = []

    def planned() -> Answer[object]:
        if not answers:
            answers.append(plan())
        return answers[0]

    return planned


def by_plan(
    fix: Optional[str], commands: Sequence[str], control: str, part: str, planned: Planned
) -> Tuple[Optional[str], Sequence[str]]:
    """(fix, commands) of a rule that gives them as texts.

    ``part`` is the part of the plan that corrects the finding. The plan is made only if the
    commands apply the control.
    """
    if apply_line(control) not in commands:
        return fix, commands
    plan = planned()
    reason = None if plan is None else _why_not(plan, part)
    # The other commands would make a change that apply rejects, or depend on it.
    return (fix, commands) if reason is None else (_with_reason(fix, reason), ())


def nothing_to_apply(pending: Iterable[str]) -> str:
    """The sentence for a plan without changes, with its pending restarts."""
    waiting = "; ".join(sentence.rstrip(".") for sentence in pending)
    return "apply changes nothing here" + (f": {waiting}" if waiting else "")


def _with_reason(fix: Optional[str], reason: str) -> str:
    """Keep a manual fix, but drop one that only names apply, which does nothing here."""
    manual = fix if fix and not fix.startswith("apply ") else None
    if manual and reason == nothing_to_apply(()):
        return manual
    return "; ".join(filter(None, (manual, reason)))
