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
        return [Subject(one.name, None, one, _title(one, there)) for one in there]
    found = []
    for wanted in policy.listeners:
        fitting = [one for one in there if fits(wanted, one)]
        for one in fitting:
            found.append(Subject(one.name, wanted, one, _title(one, there)))
        if not fitting:
            found.append(Subject(wanted.name, wanted, None, wanted.name))
    return found


def _title(listener: Listener, there: List[Listener]) -> str:
    """The name, and the home if another listener has the same name."""
    same = [one for one in there if one.name == listener.name]
    return listener.name if len(same) == 1 else f"{listener.name} ({listener.home})"


def _found(facts: Facts, policy: Policy) -> List[Subject]:
    found = subjects(facts, policy)
    if not found:
        raise Skip("No listener is running, and the policy lists none.", [probe.PROCESSES])
    return found


LISTENERS = Subjects(_found, name=lambda subject: str(subject.title))


def running(subject: Subject) -> Listener:
    if subject.listener is None:
        raise Skip("The listener is not running.", [probe.PROCESSES])
    return subject.listener


def file_keys(listener: Listener) -> List[str]:
    main = if_known(listener.main, None)
    return [probe.PROCESSES] + (list(main.evidence()) if main is not None else [])
