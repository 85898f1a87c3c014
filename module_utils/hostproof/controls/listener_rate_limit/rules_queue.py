# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of backlog queues, and of connections that were delayed or dropped."""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import if_known, known, unless_absent
from ...evaluate.advice import Advice, Apply, Ask, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, known_or_skip, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.net.listening_sockets import Listening
from .endpoints import Endpoint, endpoints, may_be_limited
from .facts import SAMPLE, SOCKETS, SOMAXCONN, Facts, grid_reasons
from .listener_fixes import INSTEAD, before_a_start
from .policy import NAME, OVER_TCP, Policy, WantedListener
from .subjects import LISTENERS, NETRF, Subject, file_keys, running, with_file

rules: Rules[Facts, Policy] = Rules(NAME)

#: The port of a listener that Grid Infrastructure configures.
DEFAULT_PORT = 1521


@rules.check(
    "listener_rate_limit.queue_size",
    "Backlog queue of each endpoint matches the policy",
    "Backlog queue of an endpoint differs from the policy",
    severity="medium",
    takes_effect="listener_restart",
    why="Connections that do not fit in the queue are lost before the listener sees them, with "
    "or without a rate limit.",
    reference=NETRF + ", QUEUESIZE; listen(2), backlog and net.core.somaxconn",
    each=LISTENERS,
    because_of=("listener_rate_limit.syntax",),
)
def queue_size(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    ones = [endpoint for endpoint in endpoints(listener) if endpoint.port is not None]
    if not ones:
        return _queue_of_grid(subject, facts)
    most = known(facts.somaxconn)
    sockets = known(facts.sockets) if subject.listener is not None else []
    in_file = _differing(ones, subject.wanted)
    limited = _limited(ones, most)
    lives = [(endpoint, _socket_of(endpoint, sockets)) for endpoint in ones]
    short = _short(lives, most)
    warnings = _exceeded(lives, subject.burst)
    before = before_a_start(listener, facts)
    return layered(
        persisted=Layer(
            ", ".join(
                "{0} {1}".format(endpoint.name(), endpoint.queuesize or "default")
                for endpoint in ones
            ),
            FAIL if in_file else PASS,
        ),
        running=Layer(
            "{0}; net.core.somaxconn {1}".format(
                ", ".join(_socket_text(endpoint, sockets) for endpoint in ones), most
            ),
            FAIL if limited or short else WARN if warnings else PASS,
        ),
        why="; ".join(in_file + limited + short + warnings) + ".",
        advice=_queue_advice(subject, ones, bool(limited), bool(short), before),
        desired=_desired(subject),
        values=_queue_values(lives, most),
        evidence=file_keys(listener) + [SOCKETS, "file:" + SOMAXCONN],
    )


#: An endpoint with the socket that listens for it; None where there is none.
_Live = Tuple[Endpoint, Optional[Listening]]


def _limited(ones: List[Endpoint], most: int) -> List[str]:
    return [
        f"{endpoint.name()} requests {endpoint.queuesize}, and net.core.somaxconn reduces it to "
        f"{most}"
        for endpoint in ones
        if (endpoint.queuesize or 0) > most
    ]


def _short(lives: List[_Live], most: int) -> List[str]:
    """Where a listener was not restarted since its queue was made longer."""
    return [
        f"{endpoint.name()} listens with a queue of {live.backlog}, not {endpoint.queuesize}"
        for endpoint, live in lives
        if live is not None and live.backlog < min(endpoint.queuesize or 0, most)
    ]


def _exceeded(lives: List[_Live], burst: int) -> List[str]:
    return [
        f"{burst} clients can connect at the same time, and the queue of {endpoint.name()} is "
        f"{live.backlog}"
        for endpoint, live in lives
        if live is not None and burst > live.backlog + 1
    ]


def _queue_values(lives: List[_Live], most: int) -> Dict[str, Optional[int]]:
    values: Dict[str, Optional[int]] = {"net.core.somaxconn": most}
    for endpoint, live in lives:
        values[endpoint.name() + " queuesize"] = endpoint.queuesize
        values[endpoint.name() + " backlog"] = None if live is None else live.backlog
    return values


def _desired(subject: Subject) -> Optional[str]:
    return None if subject.queuesize is None else str(subject.queuesize)


def _queue_advice(
    subject: Subject, ones: List[Endpoint], is_limited: bool, is_short: bool, before: List[Ask]
) -> Advice:
    """The steps for the file, for net.core.somaxconn, and for a listener that was not restarted."""
    needed = max([endpoint.queuesize or 0 for endpoint in ones] + [subject.queuesize or 0])
    raise_limit = Ask(
        f"set net.core.somaxconn to at least {needed}, now (sysctl -w) and in /etc/sysctl.d"
    )
    longer = Ask(
        f"set a queuesize of at least {subject.burst} in listener_rate_limit_listeners and the "
        "same net.core.somaxconn, or let the pools connect one after the other"
    )
    restart = Wait("listener_restart", f"the listener {subject.name} in a maintenance window")
    again = [*before, restart]
    now = [raise_limit, *again] if is_limited else again if is_short else [longer]
    if subject.listener is None:
        start = Ask(f"start the listener {subject.name}, then apply the policy")
        return Advice([*before, start], running=[step for step in now if step is not restart])
    change = Apply(NAME, subject.title)
    return Advice(
        both=[*before, *([raise_limit] if is_limited else []), change, restart],
        persisted=[change],
        running=now,
    )


def _queue_of_grid(subject: Subject, facts: Facts) -> Verdict:
    """The queue of a listener whose agent adds the addresses at run time: by its port."""
    listener, required = running(subject), subject.wanted
    if not grid_reasons(listener, known(facts.clusterware)):
        raise Skip("The file has no TCP address.")
    ports = (required.ports if required is not None else None) or (DEFAULT_PORT,)
    ours = [socket for socket in known(facts.sockets) if socket.port in ports]
    names = ", ".join(map(str, ports))
    if not ours:
        raise Skip(f"The agent adds the addresses of this listener, and not one has port {names}.")
    shortest = min(socket.backlog for socket in ours)
    size, burst = subject.queuesize, subject.burst
    is_short = size is not None and shortest < size
    why = f"{burst} clients can connect at the same time, and the queue of port {names} is "
    why += f"{shortest}."
    if is_short:
        why = f"port {names} listens with a queue of {shortest}, not {size}, and the agent of "
        why += "Clusterware sets it."
    return layered(
        running=Layer(
            f"port {names} {shortest}; net.core.somaxconn {if_known(facts.somaxconn, 'unknown')}",
            FAIL if is_short else WARN if burst > shortest + 1 else PASS,
        ),
        why=why,
        desired=_desired(subject),
        values={f"port {names} backlog": shortest},
        advice=Advice([Ask(INSTEAD)]),
        evidence=[*file_keys(listener), SOCKETS],
    )


def _differing(ones: List[Endpoint], required: Optional[WantedListener]) -> List[str]:
    """The differences of the queues in the file from the policy."""
    if required is None or required.queuesize is None:
        return []
    return [
        "{0} has QUEUESIZE {1}, not {2}".format(
            endpoint.name(), endpoint.queuesize or "not set", required.queuesize
        )
        for endpoint in ones
        if may_be_limited(endpoint, required) and (endpoint.queuesize or 0) < required.queuesize
    ]


def _socket_of(endpoint: Endpoint, sockets: List[Listening]) -> Optional[Listening]:
    """The listening socket of the port. With several addresses, the one with the shortest queue."""
    if endpoint.protocol not in OVER_TCP:
        return None
    ours = [socket for socket in sockets if socket.port == endpoint.port]
    return min(ours, key=lambda socket: socket.backlog) if ours else None


def _socket_text(endpoint: Endpoint, sockets: List[Listening]) -> str:
    if endpoint.protocol not in OVER_TCP:
        return f"{endpoint.name()} is not a TCP socket"
    live = _socket_of(endpoint, sockets)
    if live is None:
        return f"{endpoint.name()} does not listen"
    return f"{endpoint.name()} {live.backlog}"


@rules.check(
    "listener_rate_limit.delayed",
    "Rate limit delays few connections",
    "Rate limit delays too many connections",
    severity="low",
    takes_effect="now",
    why="Clients wait to connect. The limit is too low for the load, or clients connect too often.",
    reference=NETRF + ", Listener Rate Limiting; TNS-01158",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def delayed(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    listener = running(subject)
    log = unless_absent(facts.logs[listener.pid], None)
    if log is None:
        raise Skip(
            "No log of the listener was found. Logging can be off, or no client has connected."
        )
    seen = known(log)
    minutes = seen.seconds() / 60.0
    share = 100.0 * seen.delayed / max(1, seen.established + seen.delayed)
    limited = [endpoint.rate for endpoint in endpoints(listener) if endpoint.rate]
    status = PASS
    why: Optional[str] = None
    if seen.delayed and share > policy.delayed_warn_percent:
        status = WARN
        why = (
            f"The limit was reached {seen.delayed} times ({seen.delayed / minutes:.1f} per minute, "
            f"{share:.1f}% of the connections, limit {policy.delayed_warn_percent:g}%)."
        )
    elif not seen.delayed and not limited:
        raise Skip("No rate limit is set.")
    return Verdict(
        status,
        desired=f"at most {policy.delayed_warn_percent:g}% of the connections",
        in_use=f"{seen.delayed} times TNS-01158 and {seen.established} connections in "
        f"{minutes:.0f} minutes, at most {seen.busiest} in one second",
        values={
            "delayed": seen.delayed,
            "established": seen.established,
            "delayed_percent": round(share, 2),
        },
        why=why,
        advice=Advice(
            [
                Ask(
                    "set a higher rate if the host can serve it, or let the pools keep their "
                    "connections"
                )
            ]
        ),
        evidence=list(facts.log_keys[listener.pid]),
    )


@rules.check(
    "listener_rate_limit.queue_overflows",
    "Backlog queue does not overflow",
    "Connections were dropped because the backlog queue was full",
    severity="high",
    takes_effect="now",
    why="Affected clients wait a second or more and try again, or fail.",
    reference="kernel Documentation/networking/snmp_counter.rst, TcpExtListenOverflows",
    each=LISTENERS,
    because_of=("listener_rate_limit.queue_size",),
)
def queue_overflows(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = running(subject)
    counted = known_or_skip(facts.overflows)
    ports = {endpoint.port for endpoint in endpoints(listener)}
    full = [
        socket
        for socket in known(facts.sockets)
        if socket.port in ports and socket.queued > socket.backlog
    ]
    status = PASS
    why: Optional[str] = None
    if full:
        status = FAIL
        why = (
            f"The queue of port {full[0].port} is full now: {full[0].queued} connections wait, the "
            f"limit is {full[0].backlog}."
        )
    elif counted.dropped:
        status = WARN
        why = (
            f"{counted.dropped} connections to this host were dropped at a full queue in "
            f"{counted.seconds:g} s."
        )
    return Verdict(
        status,
        in_use=f"{counted.dropped} in {counted.seconds:g} s, {counted.since_boot} since boot (the "
        "whole host)",
        values={
            "dropped": counted.dropped,
            "since_boot": counted.since_boot,
            "full_queues": len(full),
        },
        why=why,
        advice=Advice(
            [
                Ask(
                    "set a longer queue (queuesize in listener_rate_limit_listeners and "
                    "net.core.somaxconn), or let the pools connect one after the other"
                )
            ]
        ),
        evidence=["sample:" + SAMPLE, SOCKETS],
    )
