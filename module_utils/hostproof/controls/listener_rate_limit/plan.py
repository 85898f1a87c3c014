# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans the smallest edit of listener.ora that limits a listener as the policy says."""

from typing import Dict, List, NamedTuple, Tuple

from ...answer import if_known, known
from ...change import Change, CommandChange, FileChange, Plan, Refusal
from ...command import Command
from ...errors import Absent, HostproofError
from ...finding import PASS
from ...parsers import oracle_net
from ...parsers.oracle_net import Edit
from ...probes.listeners import Listener, NetFile
from .facts import (
    Clusterware,
    Endpoint,
    Facts,
    Subject,
    endpoint_of,
    endpoints,
    global_rate,
    grid_reasons,
    look,
    may_be_limited,
    subjects,
    wanted_rate,
)
from .judge import INSTEAD, drain_problems, version_problem
from .policy import PROTOCOLS, Policy, WantedListener

_COMPLETED = "The command completed successfully"
#: lsnrctl stop says this where nothing runs: what it was asked for is done.
_STOPPED = _COMPLETED + "|TNS-12541|TNS-01101"


def plan(facts, policy):
    # type: (Facts, Policy) -> Plan
    """The changes that make the listeners as the policy says; raises what it would guess."""
    work = _Work()
    if policy.wanted is None:
        work.pending.append("listener_rate_limit_wanted is auto: nothing is changed.")
        return work.plan()
    for subject in subjects(facts, policy):
        if subject.wanted is None:
            continue
        if subject.listener is None:
            work.refusals.append(
                Refusal(
                    "listener {0} does not run, so the file that it reads is not known: start it, "
                    "or take it out of listener_rate_limit_wanted".format(subject.name),
                    None,
                )
            )
            continue
        _plan_one(subject, subject.listener, subject.wanted, facts, policy, work)
    return work.plan()


class _Work:
    """What the plan holds so far. Listeners of one file are edited one after the other."""

    def __init__(self):
        # type: () -> None
        self.files = {}  # type: Dict[str, _Edited]
        self.commands = []  # type: List[Change]
        self.refusals = []  # type: List[Refusal]
        self.pending = []  # type: List[str]

    def plan(self):
        # type: () -> Plan
        changes = [
            FileChange(path, one.net.text, one.before)
            for path, one in sorted(self.files.items())
            if one.net.text != one.before
        ]  # type: List[Change]
        return Plan(changes + self.commands, self.refusals, self.pending, [])


class _Edited(NamedTuple):
    before: str
    net: oracle_net.NetFile


def _plan_one(subject, listener, wanted, facts, policy, work):
    # type: (Subject, Listener, WantedListener, Facts, Policy, _Work) -> None
    if wanted.rate is None and wanted.queuesize is None:
        return
    main = known(listener.main)
    if isinstance(main.net, Absent):
        work.refusals.append(
            Refusal(
                "listener {0} runs without a listener.ora ({1} does not exist): write one with its "
                "addresses first".format(subject.title, main.path),
                None,
            )
        )
        return
    known(main.net)
    current = work.files.setdefault(main.path, _Edited(known(main.text), known(main.net)))
    new = _edited(listener, wanted, current.net, main)
    changed = new.text != current.net.text
    if changed or not _is_as_wanted(listener, wanted):
        refusals = _guards(subject, listener, wanted, facts, policy)
        if refusals:
            work.refusals.extend(refusals)
            return
        work.files[main.path] = current._replace(net=new)
    if changed or _is_stale(listener):
        if grid_reasons(listener, known(facts.clusterware)):
            work.pending.append(
                "{0} was started before its file changed, and belongs to Grid Infrastructure: "
                "srvctl stop and start listener".format(subject.title)
            )
            return
        _plan_restart(subject, listener, facts, policy, changed, work)


def _is_as_wanted(listener, wanted):
    # type: (Listener, WantedListener) -> bool
    ones = endpoints(listener)
    ports = {one.port for one in ones}
    if (wanted.rate or wanted.queuesize) and not ones or set(wanted.ports or ()) - ports:
        return False
    return all(
        (wanted.rate is None or one.rate == wanted_rate(one, wanted))
        and (
            wanted.queuesize is None
            or not may_be_limited(one, wanted)
            or one.queuesize == wanted.queuesize
        )
        for one in ones
    )


def _is_stale(listener):
    # type: (Listener) -> bool
    newest = max(known(one.changed) for one in listener.files())
    return bool(newest > known(listener.started) + 1.0)


# -- guards ----------------------------------------------------------------------------------------


def _guards(subject, listener, wanted, facts, policy):
    # type: (Subject, Listener, WantedListener, Facts, Policy) -> List[Refusal]
    clusterware = known(facts.clusterware)
    refusals = _file_guards(subject, listener, wanted, clusterware)
    if refusals or not wanted.rate:
        return refusals
    status, why = version_problem(known(listener.release), clusterware.cluster)
    if status != PASS and not policy.allow_leaking_version:
        refusals.append(Refusal("{0}: {1}".format(subject.title, why), "allow_leaking_version"))
    problems, _drain = drain_problems(wanted.rate, subject, listener)
    if problems and not policy.allow_drain_beyond_timeout:
        refusals.append(
            Refusal(
                "{0}: with {1} a second clients give up and come again: {2}".format(
                    subject.title, wanted.rate, "; ".join(problems)
                ),
                "allow_drain_beyond_timeout",
            )
        )
    return refusals


def _file_guards(subject, listener, wanted, clusterware):
    # type: (Subject, Listener, WantedListener, Clusterware) -> List[Refusal]
    main = known(listener.main)
    reasons = grid_reasons(listener, clusterware)
    if reasons:
        return [
            Refusal(
                "listener.ora of {0} belongs to Grid Infrastructure ({1}), which writes it anew: "
                "{2}".format(subject.title, "; ".join(reasons), INSTEAD),
                None,
            )
        ]
    if not endpoints(listener):
        return [
            Refusal(
                "{0} has no TCP address of {1} that could carry a rate".format(
                    main.path, subject.title
                ),
                None,
            )
        ]
    missing = sorted(set(wanted.ports or ()) - {one.port or 0 for one in endpoints(listener)})
    if missing:
        return [
            Refusal(
                "no address of {0} in {1} has port {2}".format(
                    subject.title, main.path, ", ".join(str(port) for port in missing)
                ),
                None,
            )
        ]
    names = [listener.name, "CONNECTION_RATE_" + listener.name]
    for name in names:
        if len(listener.parameters(name)) > 1:
            return [
                Refusal("{0} stands twice in {1}: leave one of them".format(name, main.path), None)
            ]
        if listener.parameters(name) and not known(main.net).all(name):
            where = [one.path for one in known(listener.included) if known(one.net).all(name)]
            return [
                Refusal(
                    "{0} stands in {1} (IFILE), which hostproof does not edit: move it into "
                    "{2}".format(name, ", ".join(where), main.path),
                    None,
                )
            ]
    return []


# -- the edit --------------------------------------------------------------------------------------


def _edited(listener, wanted, net, main):
    # type: (Listener, WantedListener, oracle_net.NetFile, NetFile) -> oracle_net.NetFile
    """The file as the policy wants it; what is right already stays as it is written."""
    edits = []  # type: List[Edit]
    for one in _endpoints_of(listener, net):
        if may_be_limited(one, wanted) or one.limit is not None:
            edits.extend(_endpoint_edits(one, wanted, net))
    if wanted.rate is not None:
        edits.extend(_global_edits(listener, wanted, net))
    new = oracle_net.edited(net, edits, what=main.path)
    _check(listener, wanted, new, main)
    return new


def _endpoints_of(listener, net):
    # type: (Listener, oracle_net.NetFile) -> List[Endpoint]
    totals = [one.value for one in net.all("CONNECTION_RATE_" + listener.name) if one.value]
    total = int(totals[-1]) if totals and totals[-1].isdecimal() else None
    return [
        endpoint_of(address, (address.text("PROTOCOL") or "").lower(), total, listener)
        for parameter in net.all(listener.name)
        for address in parameter.inside("ADDRESS")
        if (address.text("PROTOCOL") or "").lower() in PROTOCOLS
    ]


def _endpoint_edits(endpoint, wanted, net):
    # type: (Endpoint, WantedListener, oracle_net.NetFile) -> List[Edit]
    """One edit at most of each of RATE_LIMIT and QUEUESIZE, which stands at the end."""
    edits = []  # type: List[Edit]
    limits, sizes = endpoint.pair.all("RATE_LIMIT"), endpoint.pair.all("QUEUESIZE")
    size = wanted.queuesize if may_be_limited(endpoint, wanted) else None
    new_size = size is not None and not sizes
    if wanted.rate is not None:
        rate = wanted_rate(endpoint, wanted)
        text = None if rate is None else str(rate) if wanted.scope == "endpoint" else "yes"
        if text is None:
            edits += [oracle_net.remove(net, one) for one in limits if _limits(one)]
        elif not limits:
            before = sizes[0] if sizes else None
            edits.append(oracle_net.add_pair(net, endpoint.pair, "RATE_LIMIT", text, before))
        elif (limits[0].value or "").lower() != text:
            edits.append(oracle_net.set_value(limits[0], text))
    if new_size:
        edits.append(oracle_net.add_pair(net, endpoint.pair, "QUEUESIZE", str(size)))
    elif size is not None and sizes[0].value != str(size):
        edits.append(oracle_net.set_value(sizes[0], str(size)))
    return edits


def _limits(pair):
    # type: (oracle_net.Pair) -> bool
    return (pair.value or "").lower() not in ("no", "off", "false")


def _global_edits(listener, wanted, net):
    # type: (Listener, WantedListener, oracle_net.NetFile) -> List[Edit]
    name = "CONNECTION_RATE_" + listener.name
    ones = net.all(name)
    if wanted.scope == "endpoint" or not wanted.rate:
        return [oracle_net.remove(net, one) for one in ones]
    if not ones:
        own = net.all(listener.name)
        after = own[-1] if own else None
        return [oracle_net.add_parameter(net, name, str(wanted.rate), after)]
    last = ones[-1]
    return [] if last.value == str(wanted.rate) else [oracle_net.set_value(last, str(wanted.rate))]


def _check(listener, wanted, net, main):
    # type: (Listener, WantedListener, oracle_net.NetFile, NetFile) -> None
    """An edit that does not do what it was made for is never written."""
    for one in _endpoints_of(listener, net):
        if wanted.rate is not None and one.rate != wanted_rate(one, wanted):
            raise HostproofError(
                "{0}: the edit would give {1} the rate {2}, not {3}; nothing is written".format(
                    main.path, one.name(), one.rate, wanted_rate(one, wanted)
                )
            )


# -- the listener ----------------------------------------------------------------------------------


def _plan_restart(subject, listener, facts, policy, changed, work):
    # type: (Subject, Listener, Facts, Policy, bool, _Work) -> None
    unit = known(listener.unit)
    waits = "{0} takes the change with its next start".format(subject.title)
    if policy.restart_ok and unit is None:
        work.commands.append(_restart(listener, known(facts.states[listener.pid])))
    elif policy.restart_ok:
        work.pending.append("{0}: systemctl restart {1} (it is a service)".format(waits, unit))
    elif policy.reload_ok and changed:
        work.commands.append(_reload(listener))
        work.pending.append(waits + ": a reload reads no endpoint and no rate.")
    else:
        work.pending.append(
            "{0}: lsnrctl stop {1} and lsnrctl start {1} (sessions stay), or "
            "listener_rate_limit_restart_ok: true.".format(waits, listener.name)
        )


def _name(listener):
    # type: (Listener) -> str
    return "listener {0} of {1}".format(listener.name, listener.home)


def _restart(listener, started):
    # type: (Listener, str) -> CommandChange
    """The state is the time of its start, so a restart is told from none."""
    steps = (_stop(listener), _start(listener))
    return CommandChange(_name(listener), started, None, look(listener), steps, steps)


def _stop(listener):
    # type: (Listener) -> Command
    one = listener.command("stop " + _name(listener), "stop", _STOPPED)
    return one._replace(codes=(0, 1))


def _start(listener):
    # type: (Listener) -> Command
    """With the limits that the listener has now: its servers get them from it."""
    one = listener.command("start " + _name(listener), "start", _COMPLETED)
    return one._replace(limits=known(listener.limits))


def _reload(listener):
    # type: (Listener) -> CommandChange
    """Nothing tells whether a listener read its file again, so revert makes it do so once more."""
    step = listener.command("reload " + _name(listener), "reload", _COMPLETED)
    return CommandChange(_name(listener), None, None, look(listener), (step,), (step,))
