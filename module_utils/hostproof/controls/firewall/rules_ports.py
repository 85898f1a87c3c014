# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether packet filter rules let connections to the ports of Oracle through."""

from typing import List, Sequence, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from . import filter_steps
from .facts import Facts
from .parsers.packets import BLOCKED, OPEN
from .policy import NAME, Policy, Port
from .rule_outcomes import Outcome, of_files, outcome_of, running_tables, ways
from .subjects import PORTS, services_at_boot

rules: Rules[Facts, Policy] = Rules(NAME)

BOOK = "Oracle Grid Infrastructure Installation Guide for Linux, Port Numbers and Protocols"
_REBOOT = "after reboot"


@rules.check(
    "firewall.ports",
    "The firewall accepts the port now and after reboot",
    "Firewall drops the port, now or after reboot",
    severity="high",
    takes_effect="now",
    why="Clients, other nodes or the NFS server cannot be reached. Rules that differ between the "
    "kernel and the files fail at the next reboot.",
    reference=BOOK + "; nft(8); firewalld.zone(5); firewalld.policy(5); ufw-framework(8)",
    each=PORTS,
)
def ports(port: Port, facts: Facts, _policy: Policy) -> Verdict:
    now, later = _outcomes(port, facts)
    statuses = _statuses(port, now, later, not if_known(facts.running, True))
    words = _texts(facts, now, later)
    return layered(
        running=Layer(_shown(now), statuses[0], "the running rules"),
        persisted=Layer(_shown(later), statuses[1], _REBOOT),
        advice=_advice(port, facts, now, later),
        why=". ".join(words) + ".",
        desired="accepted" + (f" from {', '.join(port.sources)}" if port.sources else ""),
    )


def _outcomes(port: Port, facts: Facts) -> Tuple[Answer[Outcome], Answer[Outcome]]:
    now = attempt(lambda: outcome_of(port, facts, running_tables(facts), "the running rules"))
    return now, attempt(of_files, port, facts, facts.persisted)


def _shown(answer: Answer[Outcome]) -> Answer[str]:
    return answer.text if isinstance(answer, Outcome) else answer


def _texts(facts: Facts, now: Answer[Outcome], later: Answer[Outcome]) -> List[str]:
    words = [f"The running rules: {now.text}"] if isinstance(now, Outcome) else []
    if isinstance(later, Outcome):
        words.append(f"After reboot ({services_at_boot(facts)}): {later.text}")
    return words


def _statuses(
    port: Port, now: Answer[Outcome], later: Answer[Outcome], has_no_rules: bool
) -> Tuple[str, str]:
    """Rules that accept a list of sources are a choice, if running rules are not another one."""
    statuses = _status(port, now), _status(port, later)
    if FAIL in statuses or port.sources or has_no_rules:
        return statuses
    if not isinstance(now, Outcome) or not isinstance(later, Outcome):
        return statuses
    if later.is_list and (not now.is_list or now.conditions != later.conditions):
        return PASS, WARN
    return (WARN if now.is_list and not later.is_list else PASS), PASS


def _status(port: Port, answer: Answer[Outcome]) -> str:
    if not isinstance(answer, Outcome):
        return PASS
    is_accepted = answer.state == OPEN or (answer.state != BLOCKED and not port.sources)
    return PASS if is_accepted else FAIL


def _advice(port: Port, facts: Facts, now: Answer[Outcome], later: Answer[Outcome]) -> Advice:
    name = f"{port.port}/{port.protocol}"
    in_files = _steps_in_files(port, facts, later)
    load = filter_steps.load(facts)
    what = "drops replies of" if isinstance(now, Outcome) and now.is_reply else "drops"
    by_hand = filter_steps.remove(f"{what} {name}")
    foreign = attempt(lambda: outcome_of(port, facts, known(facts.persisted).foreign, ""))
    is_foreign = isinstance(foreign, Outcome) and foreign.state == BLOCKED
    running: Sequence[Step] = by_hand if is_foreign else load or by_hand
    if isinstance(later, HostproofError):
        running = [Ask(f"accept {name} in the files of the service that loaded its rules")]
    return Advice(
        both=[*in_files, *load] if in_files else running,
        persisted=in_files,
        running=running,
    )


def _steps_in_files(port: Port, facts: Facts, later: Answer[Outcome]) -> Sequence[Step]:
    if not isinstance(later, Outcome) or not (later.is_list or later.state == BLOCKED):
        return ()
    if later.state == BLOCKED:
        steps = filter_steps.open_port(port, ways(port, facts)[0], facts, later.is_reply)
        if steps:
            return steps
    # Rules for other senders, such as the interconnect: a reload changes nothing.
    sources = "the sources that are accepted now" if later.is_list else "the clients"
    ends = f"from {', '.join(port.sources) or sources}" if port.direction == "in" else "to all"
    name = f"{port.port}/{port.protocol}"
    return [Ask(f"accept {name} {ends} in the files of {services_at_boot(facts)}")]


@rules.check(
    "firewall.rate_limit",
    "No firewall rule limits connections to the port",
    "A firewall rule drops connections above a rate",
    severity="high",
    takes_effect="now",
    why="A pool that opens many connections at once exceeds the limit, and its clients wait or "
    "fail with ORA-12170. The listener logs nothing about it.",
    reference="iptables-extensions(8), hashlimit, limit, connlimit; nft(8), limit",
    each=PORTS,
    because_of=("firewall.ports",),
)
def rate_limit(port: Port, facts: Facts, _policy: Policy) -> Verdict:
    answers = _outcomes(port, facts)
    results = [each for each in answers if isinstance(each, Outcome)]
    if results and all(result.state == BLOCKED for result in results):
        raise Skip("The port is blocked: see firewall.ports.")
    limits = [", ".join(result.limits) for result in results if result.limits]
    now, later = answers
    instead = Ask("if a limit is needed, set RATE_LIMIT in listener.ora")
    name = f"{port.port}/{port.protocol}"
    in_files = Ask(f"remove the limit of {name} from the files of {services_at_boot(facts)}")
    load = filter_steps.load(facts)
    by_hand = [Ask("remove the rule with the limit where it was added manually")]
    return layered(
        running=_limit_layer(now, "the running rules"),
        persisted=_limit_layer(later, _REBOOT),
        advice=Advice(
            both=[in_files, *load, instead],
            persisted=[in_files, instead],
            running=[*(load or by_hand), instead],
        ),
        why=f"Packets above a limit are dropped: {'; '.join(dict.fromkeys(limits))}.",
        desired="no limit",
    )


def _limit_layer(answer: Answer[Outcome], name: str) -> Layer:
    if not isinstance(answer, Outcome):
        return Layer(answer, PASS, name)
    return Layer(", ".join(answer.limits) or "no limit", WARN if answer.limits else PASS, name)
