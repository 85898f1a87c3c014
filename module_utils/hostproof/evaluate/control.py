# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A control: one family of host settings, registered by one object."""

from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
)

from ..collect.answer import attempt
from ..collect.host import Host
from ..errors import HostproofError
from .advice import once
from .checking import Crashed, F, P, Rule, Rules, judge_rules
from .finding import Check, Finding


class Control(Generic[F, P]):
    """``policy`` and ``facts`` are classes.

    policy_from  makes a policy of plain values, or raises PolicyError
    read         reads the facts of a host for a policy
    rules        the rules of each file, in the order of the report
    applies      raises Skip, or what is unknown, where no rule can check
    plan         plans the changes from facts and policy, or raises what it would have to guess.
                 The fixes of findings are derived from it (advice.py). None: nothing is changed.
    requirements the module of the control that has the function ``requirements``: the values that
                 a policy requires of any host. None: the control has no such values.
    needs_all    {field of the policy: ids of the checks that need every entry of it}. A key
                 "field.key" names one entry. An entry that cannot be used makes them an error.
    """

    def __init__(
        self,
        name: str,
        *,
        policy: Type[P],
        policy_from: Callable[[Dict[str, Any]], P],
        facts: Type[F],
        read: Callable[[Host, P], F],
        rules: Sequence[Rules[F, P]],
        applies: Optional[Callable[[F, P], Optional[Iterable[object]]]] = None,
        plan: Optional[Callable[[F, P], Any]] = None,
        requirements: Optional[str] = None,
        needs_all: Optional[Mapping[str, Tuple[str, ...]]] = None,
    ) -> None:
        self.name = name
        self.policy, self.policy_from = policy, policy_from
        self.facts, self.read = facts, read
        self.rules: List[Rule[F, P]] = [rule for group in rules for rule in group.rules]
        self.plan, self.requirements = plan, requirements
        self.needs_all: Mapping[str, Tuple[str, ...]] = needs_all or {}
        self._applies = applies
        ids = [check.id for check in self.checks]
        if len(set(ids)) != len(ids) or any(group.control != name for group in rules):
            raise ValueError(f"{name} has a check twice, or a check of another control")

    @property
    def checks(self) -> Tuple[Check, ...]:
        """Every check, in the order of the report."""
        return tuple(rule.check for rule in self.rules)

    def judge(self, facts: F, policy: P, crashed: Optional[Crashed] = None) -> List[Finding]:
        """At least one finding for each check (checking.judge_rules)."""
        planned = once(partial(attempt, self._planned, facts, policy, crashed))
        return judge_rules(self.rules, self._applies, facts, policy, crashed, planned)

    def _planned(self, facts: F, policy: P, crashed: Optional[Crashed]) -> object:
        """The plan. An unexpected exception is an unknown plan, and keeps the findings."""
        try:
            return self.plan(facts, policy) if self.plan is not None else None
        except HostproofError:
            raise
        except Exception as problem:
            if crashed is None:
                raise
            raise HostproofError(crashed(self.name + ".plan", problem).why) from problem
