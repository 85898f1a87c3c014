# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what limits the listeners of a host: asked for, written down, known to the listener that
runs, and seen at work."""

import time
from typing import Callable, List, Optional, Tuple

from ...answer import if_known, known, unless_absent
from ...errors import Absent, Denied, HostError, HostproofError, ParseError
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...parsers.listening_sockets import Listening
from ...probes import listeners as probe
from ...probes.listeners import Listener
from . import checks
from .endpoints import (
    Endpoint,
    drain_seconds,
    endpoints,
    global_rate,
    inbound_timeout,
    may_be_limited,
    wanted_rate,
)
from .facts import SAMPLE, SOCKETS, SOMAXCONN, Facts, Subject, grid_reasons, subjects
from .policy import Policy, WantedListener

#: The first release without bug 16409926.
LEAK_FIXED = (11, 2, 0, 4)
#: The default of QUEUESIZE on Linux (Net Services Administrator's Guide 23, 9.4.2).
DEFAULT_QUEUE = 128

#: Seconds by which the clock may be off between a start (by boot time) and a file's time.
_CLOCK = 1.0

Judge = Callable[[Subject, Facts, Policy], Finding]


class _Skip(Exception):
    """The check does not apply, for this reason."""


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Every check for every listener, in the order of the report."""
    try:
        found_ones = subjects(facts, policy)
    except HostproofError as problem:
        return [_undetermined(check, problem) for check in checks.CHECKS]
    if not found_ones:
        reason = "No listener runs here, and the policy lists none."
        return [
            found(check, SKIP, why=reason, evidence=[probe.PROCESSES]) for check in checks.CHECKS
        ]
    return [
        _judge_one(check, judge_one, subject, facts, policy)
        for check, judge_one in _JUDGES
        for subject in found_ones
    ]


def _judge_one(check, judge_one, subject, facts, policy):
    # type: (Check, Judge, Subject, Facts, Policy) -> Finding
    if subject.listener is None and check is not checks.LISTENER_RUNS:
        finding = found(check, SKIP, why="The listener does not run.", evidence=[probe.PROCESSES])
    else:
        try:
            finding = judge_one(subject, facts, policy)
        except _Skip as reason:
            finding = found(check, SKIP, why=str(reason))
        except HostproofError as problem:
            finding = _undetermined(check, problem)
    return finding._replace(title="{0}: {1}".format(subject.title, finding.title))


def _undetermined(check, problem):
    # type: (Check, HostproofError) -> Finding
    denied = isinstance(problem, Denied)
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        fix="run again with --become (root may read it)" if denied else None,
        evidence=[problem.key] if isinstance(problem, HostError) else [],
    )


def _running(subject):
    # type: (Subject) -> Listener
    if subject.listener is None:
        raise _Skip("The listener does not run.")
    return subject.listener


def _file_keys(listener):
    # type: (Listener) -> List[str]
    main = if_known(listener.main, None)
    return [probe.PROCESSES] + (list(main.evidence()) if main is not None else [])


# -- the listener and its file ---------------------------------------------------------------------


def _listener_runs(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = subject.listener
    defined = None  # type: Optional[str]
    if listener is None:
        places = known(facts.definitions.get(subject.name, []))
        defined = "{0} names it".format(", ".join(places)) if places else "no listener.ora names it"
    return found(
        checks.LISTENER_RUNS,
        FAIL if listener is None else PASS,
        desired=None if subject.wanted is None else "listener {0}".format(subject.name),
        persisted=defined,
        running="does not run"
        if listener is None
        else "pid {0} of {1}".format(listener.pid, listener.home or "an unknown home"),
        fix="lsnrctl start {0}, or take it out of listener_rate_limit_wanted".format(subject.name),
        evidence=[probe.PROCESSES],
    )


def _file_read(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    main = known(listener.main)
    others = known(listener.others)
    text = "{0} ({1})".format(main.path, listener.why_there)
    if isinstance(main.text, Absent):
        text = "none: {0} does not exist, so it runs with defaults".format(main.path)
    else:
        known(main.text)
    return found(
        checks.FILE_READ,
        WARN if others else PASS,
        persisted=text,
        why="Parameters of {0} stand in {1} too, which it does not read: who edits them there "
        "changes nothing.".format(listener.name, ", ".join(others)),
        fix="take {0} out of {1}".format(listener.name, ", ".join(others)),
        evidence=_file_keys(listener),
    )


def _file_understood(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    main = known(listener.main)
    if isinstance(main.net, Absent):
        raise _Skip("There is no listener.ora: it runs with defaults.")
    try:
        count = sum(len(known(one.net).parameters) for one in listener.files())
    except ParseError as problem:
        return found(
            checks.FILE_UNDERSTOOD,
            FAIL,
            persisted=str(problem),
            why="The file cannot be read to its end, and so may the listener find when it starts: "
            "{0}.".format(problem),
            fix="correct it there; hostproof does not write to a file that it cannot read",
            evidence=_file_keys(listener),
        )
    return found(
        checks.FILE_UNDERSTOOD,
        PASS,
        persisted="{0} parameters in {1}".format(
            count, ", ".join(one.path for one in listener.files())
        ),
        evidence=_file_keys(listener),
    )


def _parameters_once(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    names = [
        parameter.name.upper()
        for one in listener.files()
        for parameter in known(one.net).parameters
        if parameter.name.upper() != "IFILE"
    ]
    twice = sorted({name for name in names if names.count(name) > 1 and _is_ours(name, listener)})
    return found(
        checks.PARAMETERS_ONCE,
        WARN if twice else PASS,
        persisted="twice: " + ", ".join(twice) if twice else "each once",
        fix="leave one of them in " + known(listener.main).path,
        evidence=_file_keys(listener),
    )


def _is_ours(name, listener):
    # type: (str, Listener) -> bool
    return name == listener.name or name.endswith("_" + listener.name)


def _loaded(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    started = known(listener.started)
    files = [(known(one.changed), one.path) for one in listener.files()]
    if not files:
        raise _Skip("There is no listener.ora that could have changed.")
    changed, path = max(files)
    stale = changed > started + _CLOCK
    if stale and grid_reasons(listener, known(facts.clusterware)):
        raise _Skip("The agent of Grid Infrastructure writes this file while listeners run.")
    return found(
        checks.LOADED,
        FAIL if stale else PASS,
        persisted="{0} changed {1}".format(path, _utc(changed)),
        running="started {0}".format(_utc(started)),
        why="The listener was started {0} before {1} changed: it does not know what stands there "
        "now, and a reload reads no endpoint and no rate.".format(_span(changed - started), path),
        fix=_restart_text(listener),
        evidence=_file_keys(listener),
    )


def _restart_text(listener):
    # type: (Listener) -> str
    unit = if_known(listener.unit, None)
    if unit is not None:
        return "systemctl restart " + unit
    return (
        "lsnrctl stop {0}; lsnrctl start {0} (sessions stay), or listener_rate_limit_restart_ok: "
        "true and ./hostproof apply".format(listener.name)
    )


def _editable(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    clusterware = known(facts.clusterware)
    reasons = grid_reasons(listener, clusterware)
    text = "; ".join(reasons)
    if not reasons:
        text = "written by its administrator"
        if clusterware.runs:
            text += "; Grid Infrastructure runs, in another home"
    return found(
        checks.EDITABLE,
        WARN if reasons else PASS,
        persisted=text,
        why="{0}. Hostproof does not edit it: the agent would write it anew.".format(text),
        fix=INSTEAD,
        evidence=_file_keys(listener) + ["processes:ohasd"],
    )


#: What can be done where Grid Infrastructure owns the listener.
INSTEAD = (
    "run a listener of the database home on a port of its own, with its own listener.ora and "
    "RATE_LIMIT, register the services there (LISTENER_NETWORKS or LOCAL_LISTENER) and send the "
    "pools there; or let the pools fill slowly, or share sessions (DRCP)"
)


def _version(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    rates = [one.rate for one in endpoints(listener) if one.rate]
    wants = subject.wanted is not None and bool(subject.wanted.rate)
    if not rates and not wants:
        raise _Skip("Nothing is limited, and the policy asks for no limit.")
    release = known(listener.release)
    status, why = version_problem(release, known(facts.clusterware).cluster)
    return found(
        checks.VERSION,
        status,
        running="release " + ".".join(str(number) for number in release),
        why=why,
        fix="upgrade to 11.2.0.4, 12.1 or later, or take the limit out",
        evidence=["command:release of lsnrctl in " + listener.home],
    )


def version_problem(release, cluster):
    # type: (Tuple[int, ...], bool) -> Tuple[str, str]
    """Status and reason."""
    text = ".".join(str(number) for number in release)
    if release[:2] == (11, 2) and cluster:
        return FAIL, "RATE_LIMIT is not supported in a cluster of 11gR2 ({0}).".format(text)
    if release < LEAK_FIXED:
        return WARN, (
            "The listener of release {0} loses memory each time that the limit is reached (bug "
            "16409926, fixed in 11.2.0.4 and 12.1.0.1), and may stop to take connections (MOS "
            "1085546.1).".format(text)
        )
    return PASS, ""


# -- the rate --------------------------------------------------------------------------------------


def _rate_as_wanted(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener, wanted = _running(subject), subject.wanted
    if wanted is None or wanted.rate is None:
        raise _Skip("The policy wants no rate of this listener.")
    ones = endpoints(listener)
    wrong = [one for one in ones if one.rate != wanted_rate(one, wanted)]
    missing = sorted(set(wanted.ports or ()) - {one.port for one in ones if one.port is not None})
    why = "; ".join(
        [
            "{0} has {1}, not {2}".format(
                one.name(), _rate_text(one.rate), _rate_text(wanted_rate(one, wanted))
            )
            for one in wrong
        ]
        + ["no address has port {0}".format(port) for port in missing]
        + ([] if ones else ["the file has no TCP address that could be limited"])
    )
    return found(
        checks.RATE_AS_WANTED,
        FAIL if why else PASS,
        desired=_wanted_text(wanted),
        persisted=_endpoints_text(ones),
        why=why + ".",
        fix="./hostproof apply --tags listener_rate_limit",
        evidence=_file_keys(listener),
    )


def _wanted_text(wanted):
    # type: (WantedListener) -> str
    if not wanted.rate:
        return "no limit"
    where = "each endpoint" if wanted.scope == "endpoint" else "the listener"
    ports = "" if wanted.ports is None else " of port " + ", ".join(map(str, wanted.ports))
    return "{0} a second at {1}{2}".format(wanted.rate, where, ports)


def _rate_text(rate):
    # type: (Optional[int]) -> str
    return "no limit" if rate is None else "{0} a second".format(rate)


def _endpoints_text(ones):
    # type: (List[Endpoint]) -> str
    if not ones:
        return "no TCP address"
    return ", ".join("{0} {1}".format(one.name(), _rate_text(one.rate)) for one in ones)


def _rate_bound(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    ones = endpoints(listener)
    total = global_rate(listener)
    unbound = [one for one in ones if one.limit is not None and one.rate is None]
    unbound = [one for one in unbound if (one.limit or "").lower() not in ("no", "off", "false")]
    limited = [one for one in ones if one.rate is not None]
    why = None  # type: Optional[str]
    if total is not None and not limited:
        why = (
            "CONNECTION_RATE_{0} is {1}, and no address has RATE_LIMIT: nothing is limited.".format(
                listener.name, total
            )
        )
    elif unbound:
        why = (
            "RATE_LIMIT is {0} at {1}, and there is no CONNECTION_RATE_{2}: nothing is "
            "limited.".format(unbound[0].limit, unbound[0].name(), listener.name)
        )
    elif not limited:
        raise _Skip("No rate stands in the file.")
    return found(
        checks.RATE_BOUND,
        PASS if why is None else FAIL,
        persisted=_written_text(ones, total, listener),
        why=why,
        fix="give each address that is to be limited (RATE_LIMIT=number), or list the listener in "
        "listener_rate_limit_wanted and ./hostproof apply",
        evidence=_file_keys(listener),
    )


def _written_text(ones, total, listener):
    # type: (List[Endpoint], Optional[int], Listener) -> str
    parts = [
        "{0} RATE_LIMIT={1}".format(one.name(), one.limit) for one in ones if one.limit is not None
    ]
    if total is not None:
        parts.append("CONNECTION_RATE_{0}={1}".format(listener.name, total))
    return ", ".join(parts) or "no rate"


def _one_rate(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    ones = endpoints(listener)
    total = global_rate(listener)
    if total is None and not [one for one in ones if one.rate is not None]:
        raise _Skip("No rate stands in the file.")
    numbers = [one for one in ones if one.limit is not None and one.limit.isdecimal()]
    limited = [one for one in ones if one.rate is not None]
    why = None  # type: Optional[str]
    if total is not None and numbers:
        why = "CONNECTION_RATE_{0}={1} counts, not RATE_LIMIT={2} at {3}.".format(
            listener.name, total, numbers[0].limit, numbers[0].name()
        )
    elif total is not None and len(limited) > 1:
        why = (
            "CONNECTION_RATE_{0}={1} is one rate for {2} endpoints: older manuals mean all of them "
            "together, newer ones each of them.".format(listener.name, total, len(limited))
        )
    return found(
        checks.ONE_RATE,
        PASS if why is None else WARN,
        persisted=_written_text(ones, total, listener),
        why=why,
        fix="a number at each address and no CONNECTION_RATE (scope: endpoint)",
        evidence=_file_keys(listener),
    )


def _drain_time(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener, wanted = _running(subject), subject.wanted
    pools = () if wanted is None else wanted.pools
    if not pools:
        raise _Skip("The policy lists no pools of clients for this listener.")
    rates = [one.rate for one in endpoints(listener) if one.rate]
    if wanted is not None and wanted.rate is not None:
        rates = [wanted.rate] if wanted.rate else []
    if not rates:
        raise _Skip("Nothing is limited, so nobody waits.")
    problems, drain = drain_problems(min(rates), subject, listener)
    return found(
        checks.DRAIN_TIME,
        FAIL if problems else PASS,
        desired="below {0} s (INBOUND_CONNECT_TIMEOUT) and {1} s (the pools)".format(
            inbound_timeout(listener), min(pool.timeout_seconds for pool in pools)
        ),
        persisted="{0} connections ÷ {1} a second = {2:g} s".format(
            sum(pool.connections for pool in pools), min(rates), drain
        ),
        why="; ".join(problems) + ".",
        fix="a rate of at least {0}, or longer timeouts, or pools that do not fill at once".format(
            _least_rate(subject, listener)
        ),
        evidence=_file_keys(listener),
    )


def drain_problems(rate, subject, listener):
    # type: (int, Subject, Listener) -> Tuple[List[str], float]
    """Who gives up before the burst is served, in words, and the seconds that it takes."""
    pools = () if subject.wanted is None else subject.wanted.pools
    drain = drain_seconds(rate, tuple(pool.connections for pool in pools))
    inbound = inbound_timeout(listener)
    problems = [
        "pool {0} waits {1} s for a connection, and a burst of all pools takes {2:g} s".format(
            pool.name, pool.timeout_seconds, drain
        )
        for pool in pools
        if drain >= pool.timeout_seconds
    ]
    if pools and inbound and drain >= inbound:
        problems.append(
            "INBOUND_CONNECT_TIMEOUT_{0} is {1} s, and a burst of all pools takes {2:g} s".format(
                listener.name, inbound, drain
            )
        )
    return problems, drain


def _least_rate(subject, listener):
    # type: (Subject, Listener) -> int
    pools = () if subject.wanted is None else subject.wanted.pools
    times = [pool.timeout_seconds for pool in pools]
    inbound = inbound_timeout(listener)
    shortest = min(times + ([inbound] if inbound else []))
    return sum(pool.connections for pool in pools) // shortest + 1


# -- queues ----------------------------------------------------------------------------------------


def _queue_size(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener, wanted = _running(subject), subject.wanted
    ones = [one for one in endpoints(listener) if one.port is not None]
    if not ones:
        raise _Skip("No TCP address stands in the file.")
    size = None if wanted is None else wanted.queuesize
    most = known(facts.somaxconn)
    sockets = known(facts.sockets)
    problems, warnings = [], []  # type: List[str], List[str]
    for one in ones:
        managed = size if wanted is not None and may_be_limited(one, wanted) else None
        asked = one.queuesize or DEFAULT_QUEUE
        if managed is not None and one.queuesize != managed:
            problems.append(
                "{0} has QUEUESIZE {1}, not {2}".format(
                    one.name(), one.queuesize or "not set", managed
                )
            )
        if one.queuesize is not None and one.queuesize > most:
            problems.append(
                "{0} asks for {1}, and net.core.somaxconn cuts it to {2}".format(
                    one.name(), one.queuesize, most
                )
            )
        live = _socket_of(one, sockets)
        if live is not None and live.backlog < min(asked, most) and one.queuesize is not None:
            problems.append(
                "{0} listens with a queue of {1}, not {2}".format(one.name(), live.backlog, asked)
            )
        burst = sum(pool.connections for pool in wanted.pools) if wanted is not None else 0
        if live is not None and burst > live.backlog + 1:
            warnings.append(
                "{0} clients may come at once, and the queue of {1} takes {2}".format(
                    burst, one.name(), live.backlog
                )
            )
    status = FAIL if problems else WARN if warnings else PASS
    return found(
        checks.QUEUE_SIZE,
        status,
        desired=None if size is None else str(size),
        persisted=", ".join(
            "{0} {1}".format(one.name(), one.queuesize or "default") for one in ones
        ),
        running="{0}; net.core.somaxconn {1}".format(
            ", ".join(_socket_text(one, sockets) for one in ones), most
        ),
        why="; ".join(problems + warnings) + ".",
        fix="queuesize in listener_rate_limit_wanted, net.core.somaxconn of at least as much, and "
        "a restart of the listener",
        evidence=_file_keys(listener) + [SOCKETS, "file:" + SOMAXCONN],
    )


def _socket_of(endpoint, sockets):
    # type: (Endpoint, List[Listening]) -> Optional[Listening]
    """The socket of the port; the one with the shortest queue where several addresses listen."""
    ours = [one for one in sockets if one.port == endpoint.port]
    return min(ours, key=lambda one: one.backlog) if ours else None


def _socket_text(endpoint, sockets):
    # type: (Endpoint, List[Listening]) -> str
    live = _socket_of(endpoint, sockets)
    if live is None:
        return "{0} does not listen".format(endpoint.name())
    return "{0} {1}".format(endpoint.name(), live.backlog)


def _queue_overflows(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    if isinstance(facts.overflows, Absent):
        raise _Skip(str(facts.overflows))
    counted = known(facts.overflows)
    ports = {one.port for one in endpoints(listener)}
    full = [one for one in known(facts.sockets) if one.port in ports and one.queued > one.backlog]
    status, why = PASS, None  # type: str, Optional[str]
    if full:
        status = FAIL
        why = "The queue of port {0} is full now: {1} wait, {2} fit.".format(
            full[0].port, full[0].queued, full[0].backlog
        )
    elif counted.dropped:
        status = WARN
        why = (
            "{0} connections of this host found a full queue in {1:g} s; the kernel does not tell "
            "of which port.".format(counted.dropped, counted.seconds)
        )
    return found(
        checks.QUEUE_OVERFLOWS,
        status,
        in_use="{0} in {1:g} s, {2} since boot (the whole host)".format(
            counted.dropped, counted.seconds, counted.since_boot
        ),
        why=why,
        fix="a longer queue (queuesize, net.core.somaxconn), or pools that do not fill at once",
        evidence=["sample:" + SAMPLE, SOCKETS],
    )


def _delayed(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    listener = _running(subject)
    log = unless_absent(facts.logs[listener.pid], None)
    if log is None:
        raise _Skip("There is no listener.log: logging is off, or the listener took no connection.")
    seen = known(log)
    minutes = seen.seconds() / 60.0
    share = 100.0 * seen.delayed / max(1, seen.established + seen.delayed)
    limited = [one.rate for one in endpoints(listener) if one.rate]
    status = PASS
    why = None  # type: Optional[str]
    if seen.delayed and share > policy.delayed_warn_percent:
        status = WARN
        why = (
            "The limit was reached {0} times ({1:.1f} a minute, {2:.1f} % of the connections, at "
            "most {3:g} % is expected): it is too low for the load, or clients connect too "
            "often.".format(
                seen.delayed, seen.delayed / minutes, share, policy.delayed_warn_percent
            )
        )
    elif not seen.delayed and not limited:
        raise _Skip("Nothing is limited.")
    return found(
        checks.DELAYED,
        status,
        desired="at most {0:g} % of the connections".format(policy.delayed_warn_percent),
        in_use="{0} times TNS-01158 and {1} connections in {2:.0f} minutes, at most {3} in one "
        "second".format(seen.delayed, seen.established, minutes, seen.busiest),
        why=why,
        fix="a higher rate, or pools that keep their connections",
        evidence=list(facts.log_keys[listener.pid]),
    )


def _utc(seconds):
    # type: (float) -> str
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def _span(seconds):
    # type: (float) -> str
    if seconds < 120:
        return "{0:.0f} s".format(seconds)
    if seconds < 7200:
        return "{0:.0f} minutes".format(seconds / 60)
    return "{0:.0f} hours".format(seconds / 3600)


_JUDGES = (
    (checks.LISTENER_RUNS, _listener_runs),
    (checks.FILE_READ, _file_read),
    (checks.FILE_UNDERSTOOD, _file_understood),
    (checks.PARAMETERS_ONCE, _parameters_once),
    (checks.RATE_AS_WANTED, _rate_as_wanted),
    (checks.RATE_BOUND, _rate_bound),
    (checks.ONE_RATE, _one_rate),
    (checks.LOADED, _loaded),
    (checks.DRAIN_TIME, _drain_time),
    (checks.VERSION, _version),
    (checks.EDITABLE, _editable),
    (checks.QUEUE_SIZE, _queue_size),
    (checks.DELAYED, _delayed),
    (checks.QUEUE_OVERFLOWS, _queue_overflows),
)  # type: Tuple[Tuple[Check, Judge], ...]
