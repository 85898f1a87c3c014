# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of packet filter rules on the interconnect of a cluster."""

from typing import List, Sequence

from ...collect.answer import Answer, attempt, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Layer, Rules, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from . import filter_steps
from .facts import Facts
from .policy import NAME, Policy
from .rule_outcomes import Interface, Traffic, running_tables, traffic_of
from .subjects import WAYS, services_at_boot

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "firewall.interconnect",
    "The firewall accepts all traffic between the nodes",
    "Firewall filters the private interconnect",
    severity="critical",
    takes_effect="now",
    why="Clusterware and instances use ports that change at each start. A node whose packets are "
    "dropped is evicted or does not join, and root.sh fails.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Port Numbers and Protocols "
    "(dynamic ports) and Private Network (no firewall between the nodes)",
    each=WAYS,
)
def interconnect(way: Interface, facts: Facts, _policy: Policy) -> Verdict:
    now = attempt(lambda: traffic_of(way, facts, running_tables(facts)))
    later = attempt(_of_files, way, facts)
    name = way.name or "the private interfaces"
    in_files = filter_steps.open_interface(way, facts)
    load = filter_steps.load(facts)
    by_hand = filter_steps.remove(f"drops packets of {name}")
    foreign = attempt(lambda: traffic_of(way, facts, known(facts.persisted).foreign))
    is_foreign = isinstance(foreign, Traffic) and bool(foreign.dropped)
    running: Sequence[Step] = by_hand if is_foreign else load or by_hand
    if isinstance(later, HostproofError):
        running = [
            Ask(f"accept all packets of {name} in the files of the service that loaded them")
        ]
    words: List[str] = []
    for what, answer in (
        ("The running rules", now),
        (f"After reboot ({services_at_boot(facts)})", later),
    ):
        if isinstance(answer, Traffic):
            words.append(f"{what}: {_text(answer)}")
    return layered(
        running=_layer(now, "the running rules"),
        persisted=_layer(later, "after reboot"),
        advice=Advice(
            both=[*in_files, *load] if in_files else running,
            persisted=in_files,
            running=running,
        ),
        why=". ".join(words) + ".",
        desired="all packets accepted",
    )


def _of_files(way: Interface, facts: Facts) -> Traffic:
    persisted = known(facts.persisted)
    found = attempt(traffic_of, way, facts, persisted.tables)
    is_dropped = isinstance(found, Traffic) and bool(found.dropped)
    if persisted.gaps and (persisted.by_script or not is_dropped):
        raise persisted.gaps[0]
    return known(found)


def _layer(answer: Answer[Traffic], name: str) -> Layer:
    if not isinstance(answer, Traffic):
        return Layer(answer, PASS, name)
    status = FAIL if answer.dropped else WARN if answer.sources else PASS
    return Layer(_text(answer), status, name)


def _text(found: Traffic) -> str:
    if found.dropped:
        more = f" and {len(found.dropped) - 3} more" if len(found.dropped) > 3 else ""
        return f"dropped: {'; '.join(found.dropped[:3])}{more}"
    return f"accepted only from {', '.join(found.sources[:5])}" if found.sources else "accepted"
