# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes for each disk and device node, and rejections of them: for the plan and the fixes.

A rule matches persistent properties of its device, never the kernel's name. A text of the host is
used in a rule only if it contains no special characters of udev.
"""

import re
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from ...apply.change import Refusal, ValueChange
from ...collect.answer import attempt, known
from ...errors import HostproofError
from ...evaluate.advice import apply_line
from ...probes.systemd import udev
from .facts import Facts, Used
from .policy import NAME, Device, Policy
from .probes import disks
from .required_values import (
    GROUP,
    MODE,
    OWNER,
    Assigned,
    Target,
    Wanted,
    attribute,
    offered,
    owner_of,
    persisted_values,
    settings,
    value_at_boot,
    value_of,
    with_file,
)

#: Characters allowed in a quoted value of a rule: no quote, no blank, no character of a pattern or
#: a substitution.
_SAFE = re.compile(r"[A-Za-z0-9_.:@+=/-]{1,256}\Z")
#: Properties that identify a device, in order of preference.
_IDENTITIES = ("DM_UUID", "ID_SERIAL", "ID_PATH")
_ALWAYS, _ADDED = 'ACTION!="remove"', 'ACTION=="add"'


class Step(NamedTuple):
    """Changes for a disk or device node: a rule of the rules file, values now and after reboot, and
    for a node the states before and after.

    ``node`` has the persistent path of the node before its states. ``refusals`` are the reasons to
    reject the changes.
    """

    rule: Optional[str]
    values: Tuple[ValueChange, ...]
    later: Tuple[ValueChange, ...]
    node: Optional[Tuple[str, str, str]]
    refusals: Tuple[Refusal, ...]


def refused(reason: str) -> Refusal:
    return Refusal(reason, None)


def _identity(title: str, record: udev.Known) -> str:
    """The conditions of a rule that match only this device. HostproofError if there are none."""
    properties = record.properties
    kind = properties.get("DEVTYPE", "")
    for key in _IDENTITIES:
        value = properties.get(key, "")
        if not _SAFE.match(value):
            continue
        conditions = [_ALWAYS, 'SUBSYSTEM=="block"', f'ENV{{{key}}}=="{value}"']
        if kind == "partition" and properties.get("PARTN", "").isdecimal():
            conditions.append('ENV{{PARTN}}=="{0}"'.format(properties["PARTN"]))
        elif kind == "disk":
            conditions.append('ENV{DEVTYPE}=="disk"')
        else:
            continue
        return ", ".join(conditions)
    raise HostproofError(f"{title} has no identity for a udev rule ({', '.join(_IDENTITIES)})")


def _rule(conditions: str, parts: List[Tuple[str, str]]) -> str:
    if not parts:
        return ""
    return ", ".join([conditions] + [f'{key}="{value}"' for key, value in parts]) + "\n"


# -- queues ---------------------------------------------------------------------------------------


def step_of_target(target: Target, facts: Facts, policy: Policy) -> Step:
    """The changes for a queue. Raises if required facts are unknown."""
    disk = target.disk
    others = with_file(known(facts.rules), policy.rules_file, "")
    parts: List[Tuple[str, str]] = []
    when_added: List[Tuple[str, str]] = []
    values: List[ValueChange] = []
    later: List[ValueChange] = []
    planned: List[Wanted] = []
    refusals: List[Refusal] = []
    for want in settings(target):
        now = value_of(disk, want.key)
        assigned = value_at_boot(disk, want.key, facts, others)
        coming = None if assigned is None else assigned.value
        value = _value(target, want, now, coming)
        if value is None:
            refusals.append(refused(_not_offered(target, want)))
            continue
        planned.append(want)
        live = _is_live(target, want)
        if coming not in want.values:
            (parts if live else when_added).append((attribute(want.key), value))
        if now not in want.values:
            change = ValueChange(disk.file(want.key), value, now)
            (values if live and policy.activation == "now" else later).append(change)
    rule = None
    if parts or when_added:
        always = _identity(disk.title, known(disk.known))
        added = always.replace(_ALWAYS, _ADDED, 1)
        rule = _rule(always, parts) + _rule(added, when_added)
        refusals += _losing_values(target, planned, rule, facts, policy)
    if any(item.path.endswith(disks.SCHEDULER) for item in values):
        later.append(_requests_of(target))
    return Step(rule, tuple(values), tuple(later), None, tuple(refusals))


def _is_live(target: Target, want: Wanted) -> bool:
    """A map keeps the request size that its paths had when it was created."""
    return want.key != disks.SECTORS or target.path_of is None


def _value(target: Target, want: Wanted, now: str, coming: Optional[str]) -> Optional[str]:
    """The value in force if it is accepted, else the first that the kernel offers, else None."""
    for value in (now, coming):
        if value in want.values:
            return value
    if want.key != disks.SCHEDULER:
        return want.values[0]
    there = [value for value in want.values if value in offered(target.disk)]
    return there[0] if there else None


def _not_offered(target: Target, want: Wanted) -> str:
    return (
        f"{target.disk.title}: the kernel offers {' '.join(offered(target.disk))}, but not "
        + " ".join(want.values)
    )


def _requests_of(target: Target) -> ValueChange:
    """The change of nr_requests. A new scheduler resets it, so revert needs the previous value."""
    before = value_of(target.disk, disks.REQUESTS)
    return ValueChange(target.disk.file(disks.REQUESTS), before, before)


def _losing_values(
    target: Target, wanted: List[Wanted], rule: str, facts: Facts, policy: Policy
) -> List[Refusal]:
    rules = with_file(known(facts.rules), policy.rules_file, rule)
    refusals = []
    for want in wanted:
        assignment = value_at_boot(target.disk, want.key, facts, rules)
        if assignment is None or assignment.value not in want.values:
            place = "nothing" if assignment is None else f"{assignment.place} ({assignment.value})"
            refusals.append(refused(_loses(target.disk.title, want.key, place, policy)))
    return refusals


def _loses(title: str, what: str, place: str, policy: Policy) -> str:
    return (
        f"{place} would override {what} of {title} in {policy.rules_file}: change it there, or add "
        "the device to block_devices_unmanaged"
    )


# -- nodes ----------------------------------------------------------------------------------------


def step_of_node(used: Used, facts: Facts, policy: Policy) -> Step:
    """The changes for owner, group and mode. Nothing is set without an entry in the policy."""
    attributes = [] if used.entry is None else _attributes(used.entry, facts)
    if not attributes:
        return Step(None, (), (), None, ())
    others = with_file(known(facts.rules), policy.rules_file, "")
    kept = persisted_values(used, facts, others)
    parts = [(key, text) for key, text in attributes if not _is_kept(*kept[key], text)]
    rule = None
    refusals = []
    if parts:
        rule = _rule(_identity(used.node, known(used.udev)), parts)
        assignments = persisted_values(used, facts, with_file(others, policy.rules_file, rule))
        for key, text in parts:
            final, _always = assignments[key]
            if final is None or final.value != text:
                place = "nothing" if final is None else f"{final.place} ({final.value})"
                refusals.append(refused(_loses(used.node, key, place, policy)))
    states = _states(used, facts) if policy.activation == "now" else None
    node = None if states is None else (used.stable, *states)
    return Step(rule, (), (), node, tuple(refusals))


def _attributes(entry: Device, facts: Facts) -> List[Tuple[str, str]]:
    """The owner, group and mode that an entry names, for a rule."""
    names = ((OWNER, entry.owner), (GROUP, entry.group))
    attributes = [(key, text) for key, text in names if text is not None]
    # With an unknown account udev would assign the device node to root.
    for key, account in attributes:
        known(facts.accounts[f"{key.lower()} {account}"])
    if entry.mode is not None:
        attributes.append((MODE, f"{entry.mode:04o}"))
    return attributes


def _is_kept(assignment: Optional[Assigned], always: bool, text: str) -> bool:
    if assignment is None or not always or not assignment.by_identity:
        return False
    return assignment.value.lstrip("0") == text.lstrip("0")


def _states(used: Used, facts: Facts) -> Optional[Tuple[str, str]]:
    """Owner, group and mode in the format of stat(1): now, and as required. None if they are the
    same."""
    stat, required = known(used.stat), owner_of(used, facts)
    now = (stat.uid, stat.gid, stat.mode & 0o777)
    uid, gid, mode = (has if value is None else value for value, has in zip(required, now))
    before, after = "{0}:{1} {2:o}".format(*now), f"{uid}:{gid} {mode:o}"
    return None if before == after else (before, after)


# -- fixes ----------------------------------------------------------------------------------------


def remedy(step_of: Callable[..., Step], *of: Any) -> Tuple[str, List[str]]:
    """(text, command) of a finding's fix. It never contains a change that apply would reject."""
    step = attempt(step_of, *of)
    if isinstance(step, HostproofError):
        return f"apply cannot plan this: {str(step).rstrip('.')}", []
    if step.refusals:
        return "apply is blocked. First: " + "; ".join(o.reason for o in step.refusals), []
    if step.rule is None and not step.values and step.node is None:
        if step.later:
            return "a reboot sets it", []
        return "set the required value in block_devices_devices, and apply the policy", []
    return "apply the control", [apply_line(NAME)]
