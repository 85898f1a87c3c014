# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether packet filter rules let connections to the ports of Oracle through."""

from typing import Optional

from ...collect.answer import Answer, attempt, known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import NFT, Facts
from .parsers.packets import BLOCKED, OPEN, PARTLY, UNCLEAR, Reach, Tables, reach
from .policy import NAME, Policy, Port
from .subjects import PORTS, services_at_boot

rules = Rules(NAME)

BOOK = "Oracle Grid Infrastructure Installation Guide for Linux, Port Numbers and Protocols"
_WORDS = {
    OPEN: "accepted",
    PARTLY: "accepted for some sources or interfaces",
    BLOCKED: "dropped or rejected",
    UNCLEAR: "not clear: a rule has a condition that is not read",
}


@rules.check(
    "firewall.ports",
    "The firewall accepts the port now and after reboot",
    "Firewall drops the port, now or after reboot",
    severity="high",
    takes_effect="now",
    why="Clients, other nodes or the NFS server cannot be reached. Rules that differ between the "
    "kernel and the files fail at the next reboot.",
    reference=BOOK + "; nft(8); firewalld.zone(5)",
    each=PORTS,
)
def ports(port: Port, facts: Facts, _policy: Policy) -> Verdict:
    now = _reach(port, known(facts.running), "the running rules")
    later = attempt(lambda: _reach(port, known(facts.persisted), "the files"))
    states = [now.state] + ([later.state] if isinstance(later, Reach) else [])
    status = FAIL if BLOCKED in states else WARN if PARTLY in states else PASS
    after = _WORDS[later.state] if isinstance(later, Reach) else None
    why = f"The running rules: {_WORDS[now.state]}."
    if after is not None:
        why += f" After reboot ({services_at_boot(facts)}): {after}."
    verdict = Verdict(
        status,
        why,
        fix="change the rules in the files of the firewall service, then load them",
        desired="accepted",
        persisted=after,
        running=_WORDS[now.state],
        failing_layer=failing(
            running=now.state != OPEN, persisted=isinstance(later, Reach) and later.state != OPEN
        ),
    )
    return by_layers(verdict, [("after reboot", later)])


def _reach(port: Port, tables: Tables, what: str) -> Reach:
    result = reach(tables, port.protocol, port.port, port.direction)
    if result.state == UNCLEAR:
        raise Unanswered(
            "command:" + " ".join(NFT), f"{what} have a condition that is not read, and it decides"
        )
    return result


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
    now = _reach(port, known(facts.running), "the running rules")
    later = attempt(lambda: _reach(port, known(facts.persisted), "the files"))
    results = [now, later] if isinstance(later, Reach) else [now]
    if all(result.state == BLOCKED for result in results):
        raise Skip("The port is blocked: see firewall.ports.")
    limits = [", ".join(result.limits) for result in results if result.limits]
    verdict = Verdict(
        WARN if limits else PASS,
        f"Packets above a limit are dropped: {'; '.join(dict.fromkeys(limits))}.",
        fix="remove the limit, and limit the rate in listener.ora (RATE_LIMIT) if it is needed",
        desired="no limit",
        persisted=_limits(later),
        running=_limits(now),
        failing_layer=failing(
            running=bool(now.limits), persisted=isinstance(later, Reach) and bool(later.limits)
        ),
    )
    return by_layers(verdict, [("after reboot", later)])


def _limits(answer: Answer[Reach]) -> Optional[str]:
    return ", ".join(answer.limits) or "no limit" if isinstance(answer, Reach) else None
