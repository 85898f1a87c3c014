# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts for the checks and the plan. Only this file of the control reads from a host."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known
from ...collect.command import Command, state_of
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.net import proc_net_snmp
from ...parsers.net.listening_sockets import Listening
from ...parsers.oracle import listener_log
from ...probes.net import listening
from ...probes.oracle import clusterware as installed
from ...probes.oracle import listeners as probe
from ...probes.oracle import oracle_homes, will_start
from ...probes.oracle.listeners import Listener
from ...probes.oracle.will_start import NextListener
from . import valid_nodes
from .edit import edited, is_as_wanted, is_stale
from .endpoints import endpoints
from .policy import Policy, WantedListener

SOMAXCONN = "/proc/sys/net/core/somaxconn"
NETSTAT = "/proc/net/netstat"
SAMPLE = "listener_queues"
SOCKETS = listening.KEY

#: It runs in a cluster and with Oracle Restart.
CLUSTERWARE = r"(^|/)ohasd\.bin$"


#: Where a home has the file of its listeners.
_OF_HOME = "/network/admin/" + probe.FILE


class Overflows(NamedTuple):
    """Connections of the whole host dropped at a full queue, in ``seconds`` and since boot."""

    seconds: float
    dropped: int
    since_boot: int


class Clusterware(NamedTuple):
    """Grid Infrastructure. ``cluster`` is False for Oracle Restart."""

    runs: bool
    cluster: bool
    home: Optional[str]


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    The keys of ``logs``, ``nodes`` and ``states`` are pids. A state is the start date that lsnrctl
    shows. It is read only if the plan may restart the listener. ``definitions`` are files that
    define a listener of the policy that is not running, by name. ``coming`` are the running
    listeners and those that start at boot time, ``stopped`` the others of the policy, by name, if
    one home defines them. The keys of ``nodes`` are names and homes.
    """

    listeners: Answer[List[Listener]]
    logs: Dict[int, Answer[listener_log.Log]]
    states: Dict[int, Answer[str]]
    clusterware: Answer[Clusterware]
    sockets: Answer[List[Listening]]
    somaxconn: Answer[int]
    overflows: Answer[Overflows]
    log_keys: Dict[int, Tuple[str, ...]]
    definitions: Dict[str, Answer[List[str]]]
    nodes: Dict[Tuple[str, str], Answer[valid_nodes.Nodes]]
    coming: List[NextListener]
    stopped: Dict[str, Listener]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    listeners = attempt(probe.read_listeners, host)
    running = if_known(listeners, [])
    touched = [listener for listener in running if _may_be_touched(listener, policy)]
    coming = will_start.read_listeners(host, attempt(will_start.read_starts, host), running)
    every = [one.listener for one in coming]
    definitions = {
        name: attempt(_find_definitions, host, name, policy)
        for name in sorted({entry.name for entry in policy.listeners or ()})
        if name not in [listener.name for listener in running]
    }
    stopped = _read_stopped(host, definitions, [listener.name for listener in every])
    every += stopped.values()
    return Facts(
        listeners=listeners,
        logs={
            listener.pid: attempt(probe.read_log, host, listener, policy.log_tail)
            for listener in running
        },
        states={listener.pid: attempt(_read_state, host, listener) for listener in touched},
        clusterware=attempt(_read_clusterware, host),
        sockets=attempt(listening.read, host) if running else _none(SOCKETS),
        somaxconn=attempt(host.read_number, SOMAXCONN),
        overflows=attempt(_read_overflows, host, policy, bool(running)),
        log_keys={listener.pid: _log_keys(host, listener, policy) for listener in running},
        definitions=definitions,
        nodes={key_of(listener): attempt(valid_nodes.read, host, listener) for listener in every},
        coming=coming,
        stopped=stopped,
    )


def _read_stopped(
    host: Host, definitions: Dict[str, Answer[List[str]]], others: List[str]
) -> Dict[str, Listener]:
    """By name; those that one home alone defines."""
    stopped = {}
    for name, paths in definitions.items():
        homes = [path[: -len(_OF_HOME)] for path in if_known(paths, []) if path.endswith(_OF_HOME)]
        if len(homes) == 1 and name not in others:
            stopped[name] = will_start.read_stopped_listener(host, name, homes[0])
    return stopped


def key_of(listener: Listener) -> Tuple[str, str]:
    return listener.name, listener.home


def _find_definitions(host: Host, name: str, policy: Policy) -> List[str]:
    homes = oracle_homes.read_homes(host, policy.oracle_homes)
    return probe.find_definitions(host, name, [home.path for home in homes])


def _may_be_touched(listener: Listener, policy: Policy) -> bool:
    """Whether the plan may restart the listener. Only then it is queried with lsnrctl."""
    if not policy.allow_restart:
        return False
    fitting = [entry for entry in policy.listeners or () if fits(entry, listener)]
    return any(attempt(_needs_a_start, listener, entry) is not False for entry in fitting)


def _needs_a_start(listener: Listener, required: WantedListener) -> bool:
    main = known(listener.main)
    net = known(main.net)
    changed = edited(listener, required, net, main).text != net.text
    return changed or not is_as_wanted(listener, required) or is_stale(listener)


def fits(required: WantedListener, listener: Listener) -> bool:
    return required.name == listener.name and required.home in (None, listener.home)


def start_date_command(listener: Listener) -> Command:
    """The command that reads the start date from the listener. It opens one connection."""
    return listener.command(
        f"status of listener {listener.name} of {listener.home}",
        "status",
        r"^Start Date\s+(\S.*\S)\s*$",
    )


def _read_state(host: Host, listener: Listener) -> str:
    query = start_date_command(listener)
    return state_of(query, host.ask(query))


def _log_keys(host: Host, listener: Listener, policy: Policy) -> Tuple[str, ...]:
    argv = attempt(probe.log_argv, host, listener, policy.log_tail)
    return () if isinstance(argv, HostproofError) else ("command:" + " ".join(argv),)


def _none(key: str) -> Absent:
    return Absent(key, "no listener runs")


def _read_clusterware(host: Host) -> Clusterware:
    home = installed.read_home(host)
    runs = bool(host.processes("ohasd", CLUSTERWARE, identity.ORACLE))
    return Clusterware(runs, bool(installed.in_cluster(host)), home)


def _read_overflows(host: Host, policy: Policy, runs: bool) -> Overflows:
    key = "sample:" + SAMPLE
    if not runs:
        raise _none(key)
    if policy.window_seconds == 0:
        raise Absent(key, "hostproof_window_seconds is 0: the counters are not checked")
    sample = host.sample(SAMPLE, [NETSTAT], [], policy.window_seconds)
    source = "file:" + NETSTAT
    if source in sample.errors:
        raise Unanswered(key, sample.errors[source])
    counts = []
    for text in (sample.first[source], sample.second[source]):
        counters = proc_net_snmp.parse(text).get("TcpExt", {})
        if "ListenOverflows" not in counters:
            raise Unanswered(key, NETSTAT + " has no TcpExt ListenOverflows")
        counts.append(counters["ListenOverflows"])
    return Overflows(sample.seconds, counts[1] - counts[0], counts[1])


# -- evaluation of facts ---------------------------------------------------------------------------


def grid_reasons(listener: Listener, clusterware: Clusterware) -> List[str]:
    """Reasons why Grid Infrastructure manages the file. Empty if it does not."""
    reasons = []
    for net_file in listener.files():
        lines = probe.agent_lines(known(net_file.net), listener.name)
        if lines:
            reasons.append(
                "the agent wrote line {0} of {1}".format(
                    ", ".join(str(line) for line in lines), net_file.path
                )
            )
    if clusterware.home is not None and listener.home == clusterware.home:
        reasons.append(f"{listener.home} is the home of Grid Infrastructure")
    if reasons and not endpoints(listener):
        reasons.append("the file has no TCP address: the agent adds it at run time")
    return reasons
