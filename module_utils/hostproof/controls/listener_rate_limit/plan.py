# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans a minimal edit of listener.ora, and the restart or reload of the listener."""

from typing import Dict, List, NamedTuple, Set

from ...apply.change import (
    Change,
    CommandChange,
    FileChange,
    Plan,
    Refusal,
    idle,
    not_known,
)
from ...collect.answer import attempt, known
from ...collect.command import Command
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.finding import PASS
from ...parsers.oracle import oracle_net
from ...probes.oracle.listeners import PROCESSES, Listener
from .edit import edited, is_as_wanted, is_stale
from .endpoints import endpoints, missing_ports
from .facts import Clusterware, Facts, grid_reasons, start_date_command
from .listener_fixes import INSTEAD, before_a_start, drain_problems, version_problem
from .policy import Policy, WantedListener
from .subjects import Subject, subjects

_COMPLETED = "The command completed successfully"
#: lsnrctl stop reports these errors if the listener is already down, which is not a failure.
_STOPPED = _COMPLETED + "|TNS-12541|TNS-01101"


def plan(facts: Facts, policy: Policy) -> Plan:
    """Changes that make the listeners match the policy. Raises if required facts are unknown."""
    if policy.listeners is None:
        return idle("listener_rate_limit_listeners is auto: nothing is changed.")
    chosen = [subject for subject in subjects(facts, policy) if subject.wanted is not None]
    work = _Work(_owners(chosen))
    for subject in chosen:
        before = work.copy()
        problem = attempt(_plan_one, subject, facts, policy, work)
        if isinstance(problem, HostproofError):
            work = before
            if len(chosen) == 1:
                raise problem
            work.refuse(subject, not_known(subject.title, problem))
    return work.plan()


def _owners(chosen: List[Subject]) -> Dict[str, Set[int]]:
    """The accounts of the listeners that read each file."""
    owners: Dict[str, Set[int]] = {}
    for subject in chosen:
        if subject.listener is not None and not isinstance(subject.listener.main, HostproofError):
            owners.setdefault(subject.listener.main.path, set()).add(subject.listener.uid)
    return owners


def _is_ambiguous(subject: Subject, facts: Facts) -> bool:
    """Whether several listeners have the name, and the policy does not give the home."""
    same = [listener for listener in known(facts.listeners) if listener.name == subject.name]
    return subject.wanted is not None and subject.wanted.home is None and len(same) > 1


class _Work:
    """The plan in progress. Listeners in the same file are edited one after the other."""

    def __init__(self, owners: Dict[str, Set[int]]) -> None:
        self.owners = owners
        self.files: Dict[str, _Edited] = {}
        self.commands: List[Change] = []
        self.refusals: List[Refusal] = []
        self.pending: List[str] = []

    def copy(self) -> "_Work":
        other = _Work(self.owners)
        other.files, other.commands = dict(self.files), list(self.commands)
        other.refusals, other.pending = list(self.refusals), list(self.pending)
        return other

    def refuse(self, subject: Subject, *refusals: Refusal) -> None:
        """Leave out the changes of this listener."""
        self.refusals += [refusal._replace(part=subject.title) for refusal in refusals]

    def plan(self) -> Plan:
        changes: List[Change] = [
            FileChange(path, entry.net.text, entry.before, owner=entry.uid)
            for path, entry in sorted(self.files.items())
            if entry.net.text != entry.before
        ]
        return Plan(changes + self.commands, self.refusals, self.pending, [])


class _Edited(NamedTuple):
    """``uid`` is the account of the listener: listeners of two accounts cannot share a file."""

    before: str
    net: oracle_net.NetFile
    uid: int


def _plan_one(subject: Subject, facts: Facts, policy: Policy, work: _Work) -> None:
    listener, required = subject.listener, subject.wanted
    if required is None:
        return
    if listener is None:
        reason = (
            f"listener {subject.name} is not running, so its configuration file is not known: "
            "start it, or remove it from listener_rate_limit_listeners"
        )
        work.refuse(subject, Refusal(reason, None))
        return
    if _is_ambiguous(subject, facts):
        reason = f"several listeners have the name {required.name}: set home in "
        work.refuse(subject, Refusal(reason + "listener_rate_limit_listeners", None))
        return
    if required.rate is None and required.queuesize is None:
        return
    main = known(listener.main)
    if isinstance(main.net, Absent):
        reason = (
            f"listener {subject.title} runs without a listener.ora ({main.path} does not exist): "
            "create it with the listener's addresses first"
        )
        work.refuse(subject, Refusal(reason, None))
        return
    known(main.net)
    first = _Edited(known(main.text), known(main.net), listener.uid)
    current = work.files.setdefault(main.path, first)
    if len(work.owners[main.path]) > 1:
        reason = f"listeners of two accounts read {main.path}: use a separate file for each"
        work.refuse(subject, Refusal(reason, None))
        return
    new = edited(listener, required, current.net, main)
    changed = new.text != current.net.text
    if changed or not is_as_wanted(listener, required):
        refusals = _guards(subject, listener, required, facts, policy)
        if refusals:
            work.refuse(subject, *refusals)
            return
        work.files[main.path] = current._replace(net=new)
    if changed or is_stale(listener):
        _plan_restart(subject, listener, facts, policy, changed, work)


# -- guards ----------------------------------------------------------------------------------------


def _guards(
    subject: Subject, listener: Listener, required: WantedListener, facts: Facts, policy: Policy
) -> List[Refusal]:
    clusterware = known(facts.clusterware)
    refusals = _file_guards(subject, listener, required, clusterware)
    if refusals or not required.rate:
        return refusals
    status, why = version_problem(known(listener.release), clusterware.cluster)
    if status != PASS and not policy.allow_leaking_version:
        refusals.append(Refusal(f"{subject.title}: {why}", "allow_leaking_version"))
    problems, _drain = drain_problems(required.rate, subject, listener)
    if problems and not policy.allow_drain_beyond_timeout:
        refusals.append(
            Refusal(
                "{0}: with {1} connections per second clients time out and retry: {2}".format(
                    subject.title, required.rate, "; ".join(problems)
                ),
                "allow_drain_beyond_timeout",
            )
        )
    return refusals


def _file_guards(
    subject: Subject, listener: Listener, required: WantedListener, clusterware: Clusterware
) -> List[Refusal]:
    main = known(listener.main)
    reasons = grid_reasons(listener, clusterware)
    if reasons:
        return [
            Refusal(
                "Grid Infrastructure manages listener.ora of {0} ({1}) and would overwrite the "
                "change: {2}".format(subject.title, "; ".join(reasons), INSTEAD),
                None,
            )
        ]
    ones = endpoints(listener)
    if not ones:
        return [
            Refusal(
                f"{main.path} has no TCP address of {subject.title} for a rate limit",
                None,
            )
        ]
    missing = missing_ports(ones, required)
    if missing:
        return [
            Refusal(
                "no address of {0} in {1} has port {2}".format(
                    subject.title, main.path, ", ".join(str(port) for port in missing)
                ),
                None,
            )
        ]
    names = [listener.name, "CONNECTION_RATE_" + listener.name]
    for name in names:
        if len(listener.parameters(name)) > 1:
            return [Refusal(f"{name} is set twice in {main.path}: keep one of them", None)]
        if listener.parameters(name) and not known(main.net).all(name):
            where = [
                net_file.path
                for net_file in known(listener.included)
                if known(net_file.net).all(name)
            ]
            return [
                Refusal(
                    "{0} is in {1} (IFILE), which Hostproof does not edit: move it into {2}".format(
                        name, ", ".join(where), main.path
                    ),
                    None,
                )
            ]
    return []


# -- the listener ----------------------------------------------------------------------------------


def _plan_restart(
    subject: Subject, listener: Listener, facts: Facts, policy: Policy, changed: bool, work: _Work
) -> None:
    if grid_reasons(listener, known(facts.clusterware)):
        work.pending.append(
            f"{subject.title} was started before its file changed, and Grid Infrastructure "
            "manages it: run srvctl stop listener and srvctl start listener"
        )
        return
    unit = known(listener.unit)
    waits = f"{subject.title} uses the change after its next start"
    stops = before_a_start(listener, facts)
    if stops:
        work.pending.append(f"{waits}. {stops[0].text[:1].upper()}{stops[0].text[1:]}.")
        return
    if policy.allow_restart and unit is None:
        state = facts.states.get(listener.pid, Unanswered(PROCESSES, "its start was not read"))
        work.commands.append(_restart(listener, known(state)))
    elif policy.allow_restart:
        work.pending.append(f"{waits}: systemctl restart {unit} (it is a service)")
    elif policy.allow_reload and changed:
        work.commands.append(_reload(listener))
        work.pending.append(waits + ": a reload does not read endpoints and rates.")
    else:
        work.pending.append(
            f"{waits}: lsnrctl stop {listener.name} and lsnrctl start {listener.name} as its owner "
            "(sessions stay), or listener_rate_limit_allow_restart: true."
        )


def _name(listener: Listener) -> str:
    return f"listener {listener.name} of {listener.home}"


def _restart(listener: Listener, started: str) -> CommandChange:
    """The state of the change is the start date, so that a restart changes the state."""
    steps = (_stop(listener), _start(listener))
    return CommandChange(_name(listener), started, None, start_date_command(listener), steps, steps)


def _stop(listener: Listener) -> Command:
    command = listener.command("stop " + _name(listener), "stop", _STOPPED)
    return command._replace(codes=(0, 1))


def _start(listener: Listener) -> Command:
    """Start it with its current resource limits, because server processes inherit them."""
    command = listener.command("start " + _name(listener), "start", _COMPLETED)
    return command._replace(limits=known(listener.limits))


def _reload(listener: Listener) -> CommandChange:
    """Revert always reloads again, because a listener does not show whether it was reloaded."""
    step = listener.command("reload " + _name(listener), "reload", _COMPLETED)
    return CommandChange(
        _name(listener), None, None, start_date_command(listener), (step,), (step,)
    )
