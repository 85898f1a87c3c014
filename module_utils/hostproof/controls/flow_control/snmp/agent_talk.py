# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A talk with one SNMP agent: many questions, of which some may have no answer.

What gives no answer is empty, and ``problems`` says so: whoever concludes from emptiness that a
thing is not there asks it first.
"""

from typing import Any, Dict, List, Optional, Sequence

from ....collect.answer import attempt
from ....collect.host import Host
from ....errors import HostproofError
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Target, Values

#: Begins the name of each question: another control may ask the same agent something else.
_ABOUT = "network "


class Talk:
    """``evidence`` are the keys of the questions in their order, ``problems`` question to why.

    ``failures`` are the reasons in their order, again for a question that was queried again.
    """

    def __init__(self, host: Host, target: Target) -> None:
        self.host = host
        self.target = target
        self.evidence: List[str] = []
        self.problems: Dict[str, str] = {}
        self.failures: List[str] = []

    def open(self, oid: str) -> Optional[Value]:
        """The first question, for one object; snmp.NoAnswer says why if nobody answers."""
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
        """What comes next behind ``oid``."""
        answer = attempt(snmp.following, self.host, self.target, _ABOUT + question, [oid])
        return self._note(question, answer)

    def has_more(self, question: str, oid: str) -> bool:
        """Whether something comes behind ``oid``, at which the agent stated that its tree ends."""
        about = _ABOUT + question
        answer = attempt(snmp.has_more, self.host, self.target, about, oid)
        self.evidence.append(snmp.key_of(self.target, about + " end"))
        if isinstance(answer, HostproofError):
            self.fail(question + " end", str(answer))
            return True
        return bool(answer)

    def as_context(self, name: str) -> "Talk":
        """The same talk in one of the contexts of Cisco IOS (a VLAN: community@20, vlan-20)."""
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
        """Note what has no whole answer."""
        self.problems[question] = why
        self.failures.append(why)
