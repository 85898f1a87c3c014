# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the effective rate, and whether the listener supports a rate limit."""

from typing import List, Optional

from ...collect.answer import known
from ...evaluate.advice import Advice, Apply, Ask, Edit, Step
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...probes.oracle.listeners import Listener
from .endpoints import (
    FALSE,
    Endpoint,
    endpoints,
    global_rate,
    inbound_timeout,
    missing_ports,
    wanted_rate,
)
from .facts import Facts, grid_reasons
from .listener_fixes import (
    INSTEAD,
    LEAK_FIXED,
    before_a_start,
    drain_problems,
    least_rate,
    version_problem,
    why_refused,
)
from .policy import NAME, Policy, WantedListener
from .subjects import LISTENERS, NETRF, PAPER, Subject, file_keys, with_file

rules: Rules[Facts, Policy] = Rules(NAME)

_RATE = "CONNECTION_RATE_"


@rules.check(
    "listener_rate_limit.rate",
    "Connection rate of each endpoint matches the policy",
    "Connection rate of an endpoint differs from the policy",
    severity="high",
    takes_effect="listener_restart",
    why="Pools that fill at the same time take the CPU from existing sessions.",
    reference=PAPER + "; " + NETRF + ", RATE_LIMIT and CONNECTION_RATE_listener_name",
    each=LISTENERS,
    because_of=(
        "listener_rate_limit.syntax",
        "listener_rate_limit.editable",
        "listener_rate_limit.rate_enabled",
    ),
)
def rate(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    listener, required = with_file(subject), subject.wanted
    if required is None or required.rate is None:
        raise Skip("The policy requires no rate for this listener.")
    ones = endpoints(listener)
    wrong = [endpoint for endpoint in ones if endpoint.rate != wanted_rate(endpoint, required)]
    why = "; ".join(
        [
            f"{endpoint.name()} has {_rate_text(endpoint.rate)}, not "
            f"{_rate_text(wanted_rate(endpoint, required))}"
            for endpoint in wrong
        ]
        + [f"no address has port {port}" for port in missing_ports(ones, required)]
        + ([] if ones else ["the file has no TCP address to limit"])
    )
    refusal = why_refused(subject, listener, required, facts, policy) if why else None
    before = before_a_start(listener, facts) if subject.listener is None else []
    return Verdict(
        FAIL if why else PASS,
        desired=_wanted_text(required),
        persisted=_endpoints_text(ones),
        why=why + ".",
        advice=Advice([*before, Apply(NAME, subject.title) if refusal is None else Ask(refusal)]),
        evidence=file_keys(listener),
    )


def _wanted_text(required: WantedListener) -> str:
    if not required.rate:
        return "no limit"
    where = "each endpoint" if required.scope == "endpoint" else "the listener"
    ports = "" if required.ports is None else " of port " + ", ".join(map(str, required.ports))
    return f"{required.rate} per second at {where}{ports}"


def _rate_text(rate: Optional[int]) -> str:
    return "no limit" if rate is None else f"{rate} per second"


def _endpoints_text(ones: List[Endpoint]) -> str:
    if not ones:
        return "no TCP address"
    return ", ".join(f"{endpoint.name()} {_rate_text(endpoint.rate)}" for endpoint in ones)


@rules.check(
    "listener_rate_limit.rate_enabled",
    "Rate limit is enabled on an endpoint",
    "Rate limit is set but has no effect",
    severity="high",
    takes_effect="listener_restart",
    why="No connection is limited. CONNECTION_RATE requires RATE_LIMIT on an endpoint, and "
    "RATE_LIMIT=yes requires CONNECTION_RATE.",
    reference=NETRF + ", Listener Rate Limiting (CONNECTION_RATE_listener_name, RATE_LIMIT)",
    each=LISTENERS,
    because_of=("listener_rate_limit.syntax",),
)
def rate_enabled(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    ones = endpoints(listener)
    total = global_rate(listener)
    unbound = [
        endpoint
        for endpoint in ones
        if endpoint.rate is None
        and endpoint.limit is not None
        and endpoint.limit.lower() not in FALSE
    ]
    rates = [endpoint.rate for endpoint in ones if endpoint.rate is not None]
    why = _why_no_effect(listener, ones, total, unbound)
    strays = _strays(listener, facts)
    status = FAIL if why else WARN if strays else PASS
    if strays:
        why = f"{why or ''} {', '.join(strays)} belongs to no listener: it limits nothing.".lstrip()
    elif why is None and not rates:
        return Verdict(SKIP, "The file has no rate.", values={"rate_per_second": 0})
    return Verdict(
        status,
        persisted=_written_text(ones, total, listener),
        values={"rate_per_second": min(rates, default=0)},
        why=why,
        advice=Advice(_enable_steps(subject, listener, total, rates, unbound, strays)),
        evidence=file_keys(listener),
    )


def _why_no_effect(
    listener: Listener, ones: List[Endpoint], total: Optional[int], unbound: List[Endpoint]
) -> Optional[str]:
    """``unbound`` are the endpoints with a RATE_LIMIT for which there is no rate."""
    name = listener.name
    if total is not None and not any(endpoint.rate is not None for endpoint in ones):
        return (
            f"CONNECTION_RATE_{name} is {total}, but no address has RATE_LIMIT: "
            "connections are not limited."
        )
    if unbound and (unbound[0].limit or "").isdecimal():
        return f"RATE_LIMIT is {unbound[0].limit} at {unbound[0].name()}: a limit must be above 0."
    if unbound:
        return (
            f"RATE_LIMIT is {unbound[0].limit} at {unbound[0].name()}, but "
            f"CONNECTION_RATE_{name} is not set: connections are not limited."
        )
    written = any(parameter.inside("RATE_LIMIT") for parameter in listener.parameters(name))
    if written and not any(endpoint.limit for endpoint in ones):
        return "RATE_LIMIT is not at a TCP address: connections are not limited."
    return None


def _enable_steps(
    subject: Subject,
    listener: Listener,
    total: Optional[int],
    rates: List[int],
    unbound: List[Endpoint],
    strays: List[str],
) -> List[Step]:
    path = known(listener.main).path
    steps: List[Step] = [
        Edit(path, what=f"remove {name} from {path}, or correct the name of its listener")
        for name in strays
    ]
    if rates:
        return steps
    if total is not None:
        if drain_problems(total, subject, listener)[0]:
            # The rate has no effect yet, and clients would time out as soon as it has.
            least = f"CONNECTION_RATE_{listener.name} to at least {least_rate(subject, listener)}"
            steps.append(Edit(path, what=f"set {least} in {path}"))
        what = f"set RATE_LIMIT=yes at each address of {listener.name} in {path}"
        return [*steps, Edit(path, what=what)]
    if unbound or not strays:
        names = ", ".join(endpoint.name() for endpoint in unbound) or "each TCP address"
        what = f"set RATE_LIMIT to a number above 0 at {names} in {path}"
        steps.append(Edit(path, what=what))
    return steps


def _strays(listener: Listener, facts: Facts) -> List[str]:
    """CONNECTION_RATE with a name of no listener. LISTENER needs no definition."""
    files = [known(net_file.net) for net_file in listener.files()]
    names = [parameter.name.upper() for net in files for parameter in net.parameters]
    there = {"LISTENER", *names, *(one.name for one in known(facts.listeners))}
    rates = [name for name in names if name.startswith(_RATE)]
    return [name for name in rates if name[len(_RATE) :] not in there]


def _written_text(ones: List[Endpoint], total: Optional[int], listener: Listener) -> str:
    parts = [
        f"{endpoint.name()} RATE_LIMIT={endpoint.limit}"
        for endpoint in ones
        if endpoint.limit is not None
    ]
    if total is not None:
        parts.append(f"CONNECTION_RATE_{listener.name}={total}")
    return ", ".join(parts) or "no rate"


@rules.check(
    "listener_rate_limit.one_rate",
    "Only one place sets the connection rate",
    "Several places set the connection rate",
    severity="medium",
    takes_effect="listener_restart",
    why="The rate at the endpoint is not the rate in use: CONNECTION_RATE overrides every "
    "number at an endpoint.",
    reference=NETRF + ", CONNECTION_RATE_listener_name",
    each=LISTENERS,
    because_of=("listener_rate_limit.syntax",),
)
def one_rate(subject: Subject, _facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    ones = endpoints(listener)
    total = global_rate(listener)
    if total is None and not [endpoint for endpoint in ones if endpoint.rate is not None]:
        raise Skip("The file has no rate.")
    numbers = [
        endpoint for endpoint in ones if endpoint.limit is not None and endpoint.limit.isdecimal()
    ]
    limited = [endpoint for endpoint in ones if endpoint.rate is not None]
    why: Optional[str] = None
    if total is not None and numbers:
        why = (
            f"CONNECTION_RATE_{listener.name}={total} overrides RATE_LIMIT={numbers[0].limit} at "
            f"{numbers[0].name()}."
        )
    elif total is not None and len(limited) > 1:
        why = (
            f"CONNECTION_RATE_{listener.name}={total} is one rate for {len(limited)} endpoints: "
            "in older manuals it is for all of them together."
        )
    return Verdict(
        PASS if why is None else WARN,
        persisted=_written_text(ones, total, listener),
        why=why,
        advice=Advice(
            [
                Edit(
                    known(listener.main).path,
                    what="set RATE_LIMIT to a number at each address, and then remove "
                    f"CONNECTION_RATE_{listener.name} from {known(listener.main).path}",
                )
            ]
        ),
        evidence=file_keys(listener),
    )


@rules.check(
    "listener_rate_limit.drain_time",
    "A connection burst is served before clients time out",
    "Clients time out before a connection burst is served",
    severity="high",
    takes_effect="listener_restart",
    why="Clients that time out connect again, and the queue never empties. A burst takes "
    "clients ÷ rate seconds.",
    reference=PAPER + "; " + NETRF + ", INBOUND_CONNECT_TIMEOUT_listener_name (60 s by default)",
    each=LISTENERS,
    because_of=("listener_rate_limit.rate",),
)
def drain_time(subject: Subject, _facts: Facts, _policy: Policy) -> Verdict:
    listener, required, pools = with_file(subject), subject.wanted, subject.pools
    if not pools:
        raise Skip("The policy lists no pools of clients for this listener.")
    rates = [endpoint.rate for endpoint in endpoints(listener) if endpoint.rate]
    if required is not None and required.rate is not None:
        rates = [required.rate] if required.rate else []
    if not rates:
        raise Skip("No rate limit is set, so clients do not wait.")
    problems, drain = drain_problems(min(rates), subject, listener)
    return Verdict(
        FAIL if problems else PASS,
        desired=f"below {inbound_timeout(listener)} s (INBOUND_CONNECT_TIMEOUT) and "
        f"{min(pool.timeout_seconds for pool in pools)} s (the pools)",
        persisted=f"{sum(pool.connections for pool in pools)} connections ÷ {min(rates)} per "
        f"second = {drain:g} s",
        values={"drain_seconds": drain},
        why="; ".join(problems) + ".",
        advice=Advice(
            [
                Ask(
                    f"set a rate of at least {least_rate(subject, listener)}, or longer timeouts, "
                    "or let the pools connect one after the other"
                )
            ]
        ),
        evidence=file_keys(listener),
    )


@rules.check(
    "listener_rate_limit.version",
    "Listener release supports rate limits",
    "Listener release does not support rate limits safely",
    severity="medium",
    takes_effect="listener_restart",
    why="Before 11.2.0.4 a listener that limits connections often leaks memory. 11gR2 does not "
    "support rate limits in a cluster.",
    reference="MOS 1568591.1; bug 16409926",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def version(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    rates = [endpoint.rate for endpoint in endpoints(listener) if endpoint.rate]
    wants = subject.wanted is not None and bool(subject.wanted.rate)
    if not rates and not wants:
        raise Skip("No rate limit is set, and the policy requires none.")
    release = known(listener.release)
    is_cluster = known(facts.clusterware).cluster
    status, why = version_problem(release, is_cluster)
    return Verdict(
        status,
        running="release " + ".".join(str(number) for number in release),
        why=why,
        advice=Advice(
            [
                Ask(
                    "upgrade to 12.1 or later, or remove the limit"
                    if is_cluster or release >= LEAK_FIXED
                    else "upgrade to 11.2.0.4, 12.1 or later, or remove the limit"
                )
            ]
        ),
        evidence=["command:release of lsnrctl in " + listener.home],
    )


@rules.check(
    "listener_rate_limit.editable",
    "listener.ora is not managed by Grid Infrastructure",
    "listener.ora is managed by Grid Infrastructure",
    severity="medium",
    takes_effect="listener_restart",
    why="Changes to the file are lost. The agent rewrites it and adds endpoints at run time, "
    "so no address in the file can have a rate.",
    reference="MOS 1292915.1; bug 11782958",
    each=LISTENERS,
    because_of=("listener_rate_limit.config_file",),
)
def editable(subject: Subject, facts: Facts, _policy: Policy) -> Verdict:
    listener = with_file(subject)
    clusterware = known(facts.clusterware)
    reasons = grid_reasons(listener, clusterware)
    text = "; ".join(reasons)
    if not reasons:
        text = "not managed by Grid Infrastructure"
        text += ", which runs in another home" if clusterware.runs else ""
    return Verdict(
        WARN if reasons else PASS,
        persisted=text,
        why=f"{text}. Hostproof does not edit the file, because the agent would overwrite it.",
        advice=Advice([Ask(INSTEAD)]),
        evidence=file_keys(listener) + ["processes:ohasd"],
    )
