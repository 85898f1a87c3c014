# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans a udev rules file with the owners and values of the policy, and the running values.

Values that another rule or TuneD already sets as required are not planned. Values that another
source would override are rejected. Without entries in the policy nothing is changed."""

from functools import partial
from typing import Callable, FrozenSet, List, Optional, Set, Tuple

from ...apply.change import (
    Change,
    CommandChange,
    FileChange,
    Plan,
    Refusal,
    ValueChange,
    header,
    idle,
    not_known,
)
from ...collect.answer import attempt, known, unless_absent
from ...collect.command import Command
from ...errors import HostproofError
from .device_steps import Step, refused, step_of_node, step_of_target
from .facts import Facts
from .policy import NAME, Policy
from .required_values import targets

_HEADER = header(NAME)


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the disks match the policy. Raises if required facts are unknown."""
    if not facts.linux:
        return idle("Not a Linux host: nothing is changed.")
    if policy.devices is None:
        return idle("block_devices_devices is auto: nothing is changed.")
    known(facts.found)
    parts: List[Tuple[str, Callable[[], Step]]] = [
        (f"queue of {target.disk.title}", partial(step_of_target, target, facts, policy))
        for target in targets(facts)
        if target.entry is not None
    ]
    parts += [
        (f"owner of {used.node}", partial(step_of_node, used, facts, policy)) for used in facts.used
    ]
    steps, left, refusals = _made(parts)
    files, against = _rules_file(steps, left, facts, policy)
    refusals += against
    nodes = [_by_udev(*step.node) for step in steps if step.node is not None]
    values = [change for step in steps for change in step.values]
    later = [change for step in steps for change in step.later]
    changes: List[Change] = [*files, *values, *nodes]
    return Plan(changes, refusals, _pending(later), later if changes else [])


#: The subject of a line of the rules file: its device, and whether it sets values of the queue.
_About = Tuple[FrozenSet[str], bool]


def _about(text: Optional[str]) -> Set[_About]:
    """The subjects of the lines of a rule, whenever they are applied."""
    about = set()
    for line in (text or "").splitlines():
        words = [word for word in line.split(", ") if not word.startswith("ACTION")]
        device = frozenset(word for word in words if "==" in word)
        about.add((device, any(word.startswith("ATTR{") for word in words)))
    return about


def _made(
    parts: List[Tuple[str, Callable[[], Step]]],
) -> Tuple[List[Step], Optional[Set[_About]], List[Refusal]]:
    """(steps to make, what stays as it is in the rules file, reasons against other parts).

    None: the device of a part is not known, so that every line stays.
    """
    answers = [(name, attempt(step_of)) for name, step_of in parts]
    unknown = [(name, one) for name, one in answers if isinstance(one, HostproofError)]
    planned = [(name, one) for name, one in answers if not isinstance(one, HostproofError)]
    if unknown and not planned:
        raise unknown[0][1]
    refusals = [not_known(name, problem) for name, problem in unknown]
    refusals += [one._replace(part=name) for name, step in planned for one in step.refusals]
    refused: Set[_About] = set()
    refused.update(*(_about(step.rule) for _name, step in planned if step.refusals))
    # Paths of one map have the same identity: a rule of one is a rule of the other.
    steps = [
        step
        for _name, step in planned
        if not step.refusals and not refused.intersection(_about(step.rule))
    ]
    return steps, None if unknown else refused, refusals


def _kept(before: str, lines: Set[str], left: Optional[Set[_About]]) -> Set[str]:
    """The lines of our file for devices that this plan leaves as they are."""
    new = {about for line in lines for about in _about(line)}
    return {
        line
        for line in before[len(_HEADER) :].splitlines(True)
        if not new.intersection(_about(line)) and (left is None or left.intersection(_about(line)))
    }


def _rules_file(
    steps: List[Step], left: Optional[Set[_About]], facts: Facts, policy: Policy
) -> Tuple[List[FileChange], List[Refusal]]:
    path, before = policy.rules_file, unless_absent(facts.file, None)
    lines = {step.rule for step in steps if step.rule is not None}
    if before is not None and not before.startswith(_HEADER):
        if not lines:
            return [], []
        return [], [
            refused(f"{path} was not written by Hostproof and would be lost: choose another file")
        ]
    lines |= _kept(before or "", lines, left)
    content = _HEADER + "".join(sorted(lines))
    if content == before or (before is None and not lines):
        return [], []
    return [FileChange(path, content, before)], []


def _by_udev(path: str, before: str, after: str) -> CommandChange:
    """Let udev apply the new rule. This also proves that the rule works after a reboot."""
    reload = Command("udev reads its rules again", ("udevadm", "control", "--reload"))
    trigger = ("udevadm", "trigger", "--action=change", f"--name-match={path}")
    owner, mode = before.split()
    return CommandChange(
        f"owner of {path}",
        before,
        after,
        Command(
            f"owner and mode of {path}",
            ("stat", "-L", "-c", "%u:%g %a", path),
            expected=r"^(\d+:\d+ [0-7]+)$",
        ),
        (
            reload,
            Command(f"udev checks {path} again", trigger),
            Command("udev is done", ("udevadm", "settle", "--timeout=60")),
        ),
        (
            reload,
            Command(f"restore the owner of {path}", ("chown", owner, path)),
            Command(f"restore the mode of {path}", ("chmod", mode, path)),
        ),
    )


def _pending(later: List[ValueChange]) -> List[str]:
    waiting = [
        f"{change.path} = {change.value}" for change in later if change.value != change.before
    ]
    return ["A reboot sets: " + ", ".join(waiting)] if waiting else []
