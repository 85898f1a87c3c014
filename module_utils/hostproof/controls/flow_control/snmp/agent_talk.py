# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Queries to one SNMP agent, some of which can remain without an answer.

A query without answer returns an empty result and is recorded in ``problems``. Check ``problems``
before an empty result is used as "does not exist".
"""

from typing import Any, Dict, List, Optional, Sequence

from ....collect.answer import attempt
from ....collect.host import Host
from ....errors import HostproofError
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Target, Values

#: Prefix of each query's name, because other controls query the same agents.
_ABOUT = "network "


class Talk:
    """Queries to an agent. ``evidence`` are the keys of the queries in their order, ``problems``
    are reasons by query.

    ``failures`` are all reasons in their order, also those of repeated queries.
    """

    def __init__(self, host: Host, target: Target) -> None:
        self.host = host
        self.target = target
        self.evidence: List[str] = []
        self.problems: Dict[str, str] = {}
        self.failures: List[str] = []

    def open(self, oid: str) -> Optional[Value]:
        """The first query, for one object. Raises snmp.NoAnswer with the reason."""
        question = _ABOUT + "opening"
        try:
            values = snmp.get(self.host, self.target, question, [oid])
        except snmp.NoAnswer as problem:
            silence = snmp.explain(self.host, self.target, problem)
            raise snmp.NoAnswer(problem.key, silence.reason, silence.message) from problem
        self.evidence.append(snmp.key_of(self.target, question))
        return values.get(oid)

    def get(self, question: str, oids: Sequence[str]) -> Values:
        if not oids:
            return {}
        return self._note(
            question, attempt(snmp.get, self.host, self.target, _ABOUT + question, oids)
        )

    def walk(self, question: str, oid: str) -> Values:
        return self._note(
            question, attempt(snmp.walk, self.host, self.target, _ABOUT + question, oid)
        )

    def following(self, question: str, oid: str) -> Values:
        """The next object after ``oid``."""
        answer = attempt(snmp.following, self.host, self.target, _ABOUT + question, [oid])
        return self._note(question, answer)

    def has_more(self, question: str, oid: str) -> bool:
        """Whether objects follow ``oid``, where the agent reported the end of its tree."""
        about = _ABOUT + question
        answer = attempt(snmp.has_more, self.host, self.target, about, oid)
        self.evidence.append(snmp.key_of(self.target, about + " end"))
        if isinstance(answer, HostproofError):
            self.fail(question + " end", str(answer))
            return True
        return bool(answer)

    def as_context(self, name: str) -> "Talk":
        """Queries in a context of Cisco IOS, one for each VLAN (community@20, vlan-20)."""
        credentials = self.target.credentials
        if credentials.version == "3":
            credentials = credentials._replace(context="vlan-" + name)
        else:
            credentials = credentials._replace(community=f"{credentials.community}@{name}")
        other = Talk(self.host, self.target._replace(credentials=credentials))
        other.evidence, other.problems = self.evidence, self.problems
        other.failures = self.failures
        return other

    def _note(self, question: str, answer: Any) -> Values:
        self.evidence.append(snmp.key_of(self.target, _ABOUT + question))
        if isinstance(answer, HostproofError):
            self.fail(question, str(answer))
            return {}
        return dict(answer)

    def fail(self, question: str, why: str) -> None:
        """Record a query whose answer is missing or incomplete."""
        self.problems[question] = why
        self.failures.append(why)
