# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: the listeners with their names."""

from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from ...probes.oracle import listeners as probe
from ...probes.oracle.listeners import Listener
from ...probes.oracle.will_start import By, NextListener
from .facts import Facts, fits
from .policy import Policy, Pool, WantedListener

NETRF = "Oracle Database Net Services Reference, listener.ora"
NETAG = "Oracle Database Net Services Administrator's Guide"
PAPER = "Oracle white paper, Oracle Net Listener Connection Rate Limiter"


class Subject(NamedTuple):
    """A listener to check: its requirements, and its process if it runs. ``stopped`` is it as its
    next start makes it, None where its file is not known. ``by`` is what starts it at boot."""

    name: str
    wanted: Optional[WantedListener]
    listener: Optional[Listener]
    title: str
    stopped: Optional[Listener] = None
    by: Answer[List[By]] = Absent("", "not known")

    @property
    def pools(self) -> Tuple[Pool, ...]:
        return () if self.wanted is None else self.wanted.pools

    @property
    def burst(self) -> int:
        """The clients that can connect at the same time."""
        return sum(pool.connections for pool in self.pools)

    @property
    def queuesize(self) -> Optional[int]:
        return None if self.wanted is None else self.wanted.queuesize


def subjects(facts: Facts, policy: Policy) -> List[Subject]:
    """Listeners of the policy; with "auto" those that run or start at boot time. Raises if
    processes are unknown."""
    known(facts.listeners)
    if policy.listeners is None:
        return [_subject(facts, one, None) for one in facts.coming]
    result = []
    for required in policy.listeners:
        fitting = [one for one in facts.coming if fits(required, one.listener)]
        # One that runs is the listener that is meant.
        running = [one for one in fitting if one.listener.pid]
        result += [_subject(facts, one, required) for one in running or fitting]
        if not fitting:
            stopped = facts.stopped.get(required.name)
            if stopped is not None and not fits(required, stopped):
                stopped = None
            result.append(Subject(required.name, required, None, required.name, stopped))
    return result


def _subject(facts: Facts, one: NextListener, wanted: Optional[WantedListener]) -> Subject:
    listener = one.listener
    title = _title(listener, [other.listener for other in facts.coming])
    if listener.pid:
        return Subject(listener.name, wanted, listener, title, None, one.by)
    return Subject(listener.name, wanted, None, title, listener, one.by)


def _title(listener: Listener, there: List[Listener]) -> str:
    """The name, and the home if another listener has the same name."""
    same = [other for other in there if other.name == listener.name]
    return listener.name if len(same) == 1 else f"{listener.name} ({listener.home})"


def _found(facts: Facts, policy: Policy) -> List[Subject]:
    result = subjects(facts, policy)
    if not result:
        raise Skip(
            "No listener runs or starts at boot time, and the policy lists none.", [probe.PROCESSES]
        )
    return result


LISTENERS = Subjects(_found, name=lambda subject: str(subject.title))


def running(subject: Subject) -> Listener:
    if subject.listener is None:
        raise Skip("The listener is not running.", [probe.PROCESSES])
    return subject.listener


def with_file(subject: Subject) -> Listener:
    """The listener that runs, or as its file makes it at its next start."""
    return subject.stopped if subject.stopped is not None else running(subject)


def file_keys(listener: Listener) -> List[str]:
    main = if_known(listener.main, None)
    return [probe.PROCESSES] + (list(main.evidence()) if main is not None else [])
