# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: the listeners with their names."""

from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known, known
from ...evaluate.checking import Skip, Subjects
from ...probes.oracle import listeners as probe
from ...probes.oracle.listeners import Listener
from .facts import Facts, fits
from .policy import Policy, Pool, WantedListener

NETRF = "Oracle Database Net Services Reference, listener.ora"
NETAG = "Oracle Database Net Services Administrator's Guide"
PAPER = "Oracle white paper, Oracle Net Listener Connection Rate Limiter"


class Subject(NamedTuple):
    """A listener to check: its requirements, and its process if it runs."""

    name: str
    wanted: Optional[WantedListener]
    listener: Optional[Listener]
    title: str

    @property
    def pools(self) -> Tuple[Pool, ...]:
        return () if self.wanted is None else self.wanted.pools


def subjects(facts: Facts, policy: Policy) -> List[Subject]:
    """Listeners of the policy, or running ones with "auto". Raises if processes are unknown."""
    there = known(facts.listeners)
    if policy.listeners is None:
        return [
            Subject(listener.name, None, listener, _title(listener, there)) for listener in there
        ]
    result = []
    for required in policy.listeners:
        fitting = [listener for listener in there if fits(required, listener)]
        for current in fitting:
            result.append(Subject(current.name, required, current, _title(current, there)))
        if not fitting:
            result.append(Subject(required.name, required, None, required.name))
    return result


def _title(listener: Listener, there: List[Listener]) -> str:
    """The name, and the home if another listener has the same name."""
    same = [other for other in there if other.name == listener.name]
    return listener.name if len(same) == 1 else f"{listener.name} ({listener.home})"


def _found(facts: Facts, policy: Policy) -> List[Subject]:
    result = subjects(facts, policy)
    if not result:
        raise Skip("No listener is running, and the policy lists none.", [probe.PROCESSES])
    return result


LISTENERS = Subjects(_found, name=lambda subject: str(subject.title))


def running(subject: Subject) -> Listener:
    if subject.listener is None:
        raise Skip("The listener is not running.", [probe.PROCESSES])
    return subject.listener


def file_keys(listener: Listener) -> List[str]:
    main = if_known(listener.main, None)
    return [probe.PROCESSES] + (list(main.evidence()) if main is not None else [])
