# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health of the mounts: how fast they answered while watched, and who held them up.

Everything here is of the seconds between two readings: what the counters say of the time since
the mount was made is never judged. What Direct NFS carries passes these counters by.
"""

from typing import Callable, List, Optional, Tuple

from ...answer import if_known, known
from ...errors import Absent, HostproofError
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...probes.nfs_traffic import EVIDENCE, MountTraffic, OpRates
from . import diagnosis
from .checks import CLIENT_QUEUE, LATENCY, NCONNECT, RETRANSMISSIONS
from .diagnosis import FEWEST_EVENTS, Cause, Wire, percent, server_name, share
from .facts import Facts, JudgedMount
from .layers import layers_of, persisted_words
from .policy import Policy

NAMES = ("READ", "WRITE")
#: A queue this many times as long as the answer takes is not waiting for the server.
QUEUE_OF_ANSWERS = 2
#: The least that a request over UDP waits before it is sent again (RPC_RTO_MIN: HZ / 10).
UDP_TIMEOUT_MS = 100.0

_NETWORK_FIX = (
    "look for drops and errors: ip -s -s link, ethtool -S INTERFACE; the ports of the switches and "
    "of the server"
)
_SERVER_FIX = "look at the server: its load, its disks and its other clients"
_LOGS_FIX = "dmesg | grep -i nfs, and the log of the server of the same minute; " + _NETWORK_FIX
_SS_FIX = "install ss (package iproute or iproute2) and audit again"
_FIXES = {diagnosis.NETWORK: _NETWORK_FIX, diagnosis.SERVER: _SERVER_FIX, None: _LOGS_FIX}

#: Judges one mount that was watched.
Judge = Callable[[Wire, MountTraffic, Policy], Finding]


def judge_latency(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    return _each(LATENCY, _latency, facts, policy, judged)


def judge_client_queue(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    return _each(CLIENT_QUEUE, _client_queue, facts, policy, judged)


def judge_retransmissions(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    return _each(RETRANSMISSIONS, _retransmissions, facts, policy, judged)


def _each(check, judge, facts, policy, judged):
    # type: (Check, Judge, Facts, Policy, List[JudgedMount]) -> List[Finding]
    """One finding for each mount; a mount that cannot be judged does not hide the others."""
    wire = None if isinstance(facts.traffic, HostproofError) else diagnosis.wire_of(facts.traffic)
    findings = []
    for one in judged:
        path = one.wanted.path
        if one.mounted is None:
            finding = _skip(check, "{0} is not mounted.".format(path), ())
        elif wire is None:
            finding = _without_traffic(check, facts)
        elif path not in wire.traffic.mounts:
            finding = _unknown(check, "{0} has no counters in mountstats".format(path))
        else:
            try:
                finding = judge(wire, wire.traffic.mounts[path], policy)
            except HostproofError as problem:
                finding = _unknown(check, str(problem))
        findings.append(finding._replace(title=_title(path, check)))
    return findings


def _title(path, check):
    # type: (str, Check) -> str
    return "{0}: {1}".format(path, check.title)


def _skip(check, why, evidence=(EVIDENCE,)):
    # type: (Check, str, Tuple[str, ...]) -> Finding
    return found(check, SKIP, why=why, evidence=evidence)


def _unknown(check, reason, fix=None):
    # type: (Check, str, Optional[str]) -> Finding
    why = "Could not be determined: {0}.".format(reason)
    return found(check, ERROR, why=why, fix=fix, evidence=[EVIDENCE])


def _without_traffic(check, facts):
    # type: (Check, Facts) -> Finding
    problem = facts.traffic
    if isinstance(problem, Absent):
        return _skip(check, "{0}.".format(problem), ())
    return _unknown(check, str(problem))


# -- enough to judge by ---------------------------------------------------------------------------


def _no_verdict(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Optional[str]
    """Why the window says nothing of a mount, or None where it says enough."""
    seconds = wire.traffic.seconds
    if mount.remounted:
        return (
            "No verdict: the mount or its connections were made anew within the {0:.0f} s of the "
            "sample; audit again.".format(seconds)
        )
    ops = [mount.ops[name] for name in NAMES if name in mount.ops]
    requests = sum(rates.ops for rates in ops)
    if requests < policy.sample_minimum_ops and not any(_busy(rates, seconds) for rates in ops):
        return (
            "No traffic, no verdict: {0} reads and writes in {1:.0f} s, fewer than {2} "
            "(nfs_mounts_sample_minimum_ops). What Direct NFS carries is not counted here.".format(
                requests, seconds, policy.sample_minimum_ops
            )
        )
    return None


def _busy(rates, seconds):
    # type: (OpRates, float) -> bool
    """Whether a few requests took half of the time: a slow server has few, because it is slow."""
    taken = rates.ops * (rates.execute_ms or 0.0)
    return rates.ops >= FEWEST_EVENTS and taken >= 1000 * seconds / 2


def _judged_ops(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> List[Tuple[str, OpRates]]
    """Reads and writes of which there were enough for an average: half of what a mount needs."""
    return [
        (name, mount.ops[name])
        for name in NAMES
        if name in mount.ops
        and (
            2 * mount.ops[name].ops >= policy.sample_minimum_ops
            or _busy(mount.ops[name], wire.traffic.seconds)
        )
    ]


def _times(mount):
    # type: (MountTraffic) -> str
    """ "READ 120.0/s 0.9 MiB/s, queue 0.1, answer 3.0, in all 3.1 ms; WRITE none" """
    words = []
    for name in NAMES:
        rates = mount.ops.get(name)
        if rates is None or not rates.ops:
            words.append(name + " none")
            continue
        speed = "{0:.1f}/s {1:.1f} MiB/s".format(rates.per_second, rates.mib_per_second)
        times = (rates.queue_ms or 0.0, rates.rtt_ms or 0.0, rates.execute_ms or 0.0)
        word = "{0} {1}, queue {2:.1f}, answer {3:.1f}, in all {4:.1f} ms".format(
            name, speed, *times
        )
        if rates.errors:
            word += ", {0} errors".format(rates.errors)
        words.append(word)
    return "; ".join(words)


# -- latency --------------------------------------------------------------------------------------


def _latency(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Finding
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        return _unanswered(wire, mount) or _skip(LATENCY, no_verdict)
    slow = [
        (rates.rtt_ms, name)
        for name, rates in _judged_ops(wire, mount, policy)
        if rates.rtt_ms is not None and rates.rtt_ms >= policy.rtt_warn_ms
    ]
    status, why, fix = PASS, None, None
    if slow:
        rtt_ms, name = max(slow)
        cause = diagnosis.why_slow(wire, mount, rtt_ms, policy)
        status = FAIL if rtt_ms >= policy.rtt_fail_ms else WARN
        why = "{0} of {1} takes {2:.1f} ms from request to answer: {3}.".format(
            name, mount.path, rtt_ms, cause.words
        )
        fix = _FIXES[cause.culprit]
    return found(
        LATENCY,
        status,
        why=why,
        fix=fix,
        desired="answers within {0:g} ms on average".format(policy.rtt_warn_ms),
        in_use=_times(mount),
        evidence=wire.traffic.evidence,
    )


def _unanswered(wire, mount):
    # type: (Wire, MountTraffic) -> Optional[Finding]
    """Requests that went out while nothing came back: that is not the same as no traffic."""
    silence = "" if mount.remounted or mount.receives else _silence(wire, mount)
    if not silence:
        return None
    return found(
        LATENCY,
        FAIL,
        why="{0}: no answer came back in {1:.0f} s.".format(silence, wire.traffic.seconds),
        fix="is the server up and reachable: ping, rpcinfo {0}".format(server_name(mount)),
        in_use="{0} requests, no answer".format(mount.sends),
        evidence=wire.traffic.evidence,
    )


def _silence(wire, mount):
    # type: (Wire, MountTraffic) -> str
    """What waits for a server that does not answer; empty where nothing is seen to wait.

    Whoever waits sends nothing more: then only TCP tells, which sends again or tries to connect.
    """
    server = server_name(mount)
    if mount.sends >= FEWEST_EVENTS:
        return "{0} requests went out to {1}".format(mount.sends, server)
    connection = if_known(wire.traffic.connections, {}).get(mount.server)
    if connection is not None and connection.connecting:
        return "TCP tries to connect to {0}".format(server)
    if connection is not None and connection.segments_retransmitted:
        return "TCP sends to {0} again what nobody acknowledges".format(server)
    return ""


# -- queue ----------------------------------------------------------------------------------------


def _client_queue(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Finding
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        return _skip(CLIENT_QUEUE, no_verdict)
    waiting = [
        (rates.queue_ms, rates.rtt_ms, name, rates)
        for name, rates in _judged_ops(wire, mount, policy)
        if rates.queue_ms is not None
        and rates.rtt_ms is not None
        and rates.queue_ms >= policy.queue_warn_ms
        and rates.queue_ms >= QUEUE_OF_ANSWERS * rates.rtt_ms
    ]
    desired = "a queue below {0:g} ms or {1} times the answer".format(
        policy.queue_warn_ms, QUEUE_OF_ANSWERS
    )
    if not waiting:
        return found(
            CLIENT_QUEUE,
            PASS,
            desired=desired,
            in_use=_times(mount),
            evidence=wire.traffic.evidence,
        )
    queue_ms, rtt_ms, name, rates = max(waiting)
    waits = "{0} of {1} waits {2:.1f} ms in the client for an answer that takes {3:.1f} ms".format(
        name, mount.path, queue_ms, rtt_ms
    )
    if mount.backlog < 1 and _explained_by_retransmissions(mount, rates, policy):
        again = share(rates.retransmissions, rates.ops, "requests")
        return _skip(
            CLIENT_QUEUE,
            "{0}, and {1} were sent again: that is the wait for a timeout and not for a slot (see "
            "nfs_mounts.retransmissions).".format(waits, again),
        )
    return found(
        CLIENT_QUEUE,
        WARN,
        why="{0}: {1}.".format(waits, _slots(mount)),
        fix=_slots_fix(mount),
        desired=desired,
        in_use=_times(mount),
        evidence=wire.traffic.evidence,
    )


def _explained_by_retransmissions(mount, rates, policy):
    # type: (MountTraffic, OpRates, Policy) -> bool
    """Whether the wait for timeouts, which counts as queue, is all that is wrong with it.

    Over TCP a request is sent again only after many seconds or with a new connection, so that one
    of them outweighs a thousand others.
    """
    if not rates.retransmissions or rates.queue_ms is None:
        return False
    if mount.protos != ("udp",):
        return True
    waited = UDP_TIMEOUT_MS * rates.retransmissions / rates.ops
    return rates.queue_ms - waited < policy.queue_warn_ms or waited >= rates.queue_ms / 2


def _slots(mount):
    # type: (MountTraffic) -> str
    if mount.backlog >= 1:
        return "{0:.1f} requests on average queue for an RPC slot of the client".format(
            mount.backlog
        )
    if _has_sessions(mount):
        return "none queues for an RPC slot, so they wait for a slot of the NFSv{0} session".format(
            mount.version
        )
    return "none queues for an RPC slot, so they wait for the connection or for their credentials"


def _slots_fix(mount):
    # type: (MountTraffic) -> str
    if mount.backlog >= 1 and mount.protos == ("udp",):
        return "sunrpc.udp_slot_table_entries, or a mount over TCP"
    if mount.backlog >= 1:
        return "nfs_mounts_slot_table_entries, or nconnect in the options of nfs_mounts_wanted"
    if _has_sessions(mount):
        return "options nfs max_session_slots=N in modprobe.d, as many as the server grants"
    return "nconnect in the options of nfs_mounts_wanted"


def _has_sessions(mount):
    # type: (MountTraffic) -> bool
    return mount.version not in ("2", "3", "4", "4.0")


# -- retransmissions ------------------------------------------------------------------------------


def _retransmissions(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Finding
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        words = "" if mount.remounted else _sent_again_without_traffic(wire, mount)
        if not words:
            return _skip(RETRANSMISSIONS, no_verdict)
        cause = Cause(WARN, words, None)
    elif mount.protos == ("udp",):
        cause = _over_udp(wire, mount, policy)
    else:
        cause = _over_connections(wire, mount, policy)
    if cause.status == ERROR:
        return _unknown(RETRANSMISSIONS, cause.words, _SS_FIX)
    return found(
        RETRANSMISSIONS,
        cause.status or PASS,
        why="{0}: {1}.".format(mount.path, cause.words),
        fix=_FIXES[cause.culprit],
        desired=_desired(mount, policy),
        in_use=_sent(wire, mount),
        evidence=wire.traffic.evidence,
    )


def _sent_again_without_traffic(wire, mount):
    # type: (Wire, MountTraffic) -> str
    """What was sent again although hardly anything ended; empty where nothing was.

    mountstats counts a request when it ends, /proc/net/rpc/nfs at once.
    """
    if mount.all_retransmissions:
        return "{0} were sent again, too few to tell why".format(
            share(mount.all_retransmissions, mount.all_ops, "requests")
        )
    calls = if_known(wire.traffic.calls, None)
    if calls is None or mount.sends <= mount.receives:
        return ""
    unfinished = calls.retransmissions - sum(wire.by_transport.values())
    if unfinished <= 0:
        return ""
    return "{0} requests of this host were sent again and have no answer yet".format(unfinished)


def _over_udp(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Cause
    again, of = mount.all_retransmissions, mount.all_ops
    words = "{0} were sent again".format(share(again, of, "requests"))
    if not again or percent(again, of) < policy.retransmission_warn_percent:
        return Cause(None, words, None)
    severe = percent(again, of) >= policy.retransmission_fail_percent and again >= FEWEST_EVENTS
    why = diagnosis.udp_culprit(wire, mount)
    return Cause(FAIL if severe else WARN, "{0}; {1}".format(words, why.words), why.culprit)


def _over_connections(wire, mount, policy):
    # type: (Wire, MountTraffic, Policy) -> Cause
    """A request over a connection is sent again only after a long timeout or on a new one."""
    causes = []  # type: List[Cause]
    again, of = mount.all_retransmissions, mount.all_ops
    if again:
        severe = percent(again, of) >= policy.retransmission_fail_percent
        words = "{0} were sent again".format(share(again, of, "requests"))
        causes.append(Cause(FAIL if severe and again >= FEWEST_EVENTS else WARN, words, None))
    if mount.reconnects and (
        diagnosis.retransmissions_of_transport(wire, mount) or mount.reconnects > mount.connections
    ):
        # A connection that was idle for minutes is closed, and made anew without harm.
        words = "the connection to {0} was made anew {1} times in {2:.0f} s".format(
            server_name(mount), mount.reconnects, wire.traffic.seconds
        )
        causes.append(Cause(WARN, words, None))
    if mount.protos == ("tcp",):
        path = diagnosis.tcp_path(wire, mount, policy)
        if path.status == ERROR and not causes:
            return path
        if path.status or causes:
            causes.append(path)
        if again and not mount.reconnects and not path.status and _has_connection(wire, mount):
            words = "no connection was made anew: the server let the requests time out"
            causes.append(Cause(None, words, diagnosis.SERVER))
    statuses = [cause.status for cause in causes]
    status = FAIL if FAIL in statuses else WARN if causes else None
    words = "; ".join(cause.words for cause in causes)
    culprits = [cause.culprit for cause in causes if cause.culprit]
    return Cause(status, words, culprits[0] if culprits else None)


def _has_connection(wire, mount):
    # type: (Wire, MountTraffic) -> bool
    """Whether the connections to the server are known, and not only those of the whole host."""
    return mount.server in if_known(wire.traffic.connections, {})


def _desired(mount, policy):
    # type: (MountTraffic, Policy) -> str
    if mount.protos == ("tcp",):
        return "no request twice, below {0:g} % of the segments".format(
            policy.tcp_retransmission_warn_percent
        )
    return "below {0:g} % of the requests twice".format(policy.retransmission_warn_percent)


def _sent(wire, mount):
    # type: (Wire, MountTraffic) -> str
    words = "{0} sent again, {1} timeouts, {2} bad xids".format(
        share(mount.all_retransmissions, mount.all_ops, "requests"),
        mount.all_timeouts,
        mount.bad_xids,
    )
    if mount.protos == ("udp",):
        return words
    words += ", {0} new connections".format(mount.reconnects)
    connection = if_known(wire.traffic.connections, {}).get(mount.server)
    if connection is None:
        return words
    return words + ", {0} of {1} segments sent again, round trip {2} ms".format(
        connection.segments_retransmitted,
        "unknown" if connection.segments_sent is None else connection.segments_sent,
        "unknown" if connection.rtt_ms is None else "{0:.1f}".format(connection.rtt_ms),
    )


# -- connections ----------------------------------------------------------------------------------


def judge_nconnect(facts, policy, judged):
    # type: (Facts, Policy, List[JudgedMount]) -> List[Finding]
    """Whether a mount has the connections that the policy, or else what persists it, asks for."""
    findings = []
    for one in judged:
        try:
            finding = _nconnect(facts, policy, one)
        except HostproofError as problem:
            finding = _unknown(NCONNECT, str(problem))
        findings.append(finding._replace(title=_title(one.wanted.path, NCONNECT)))
    return findings


def _nconnect(facts, policy, one):
    # type: (Facts, Policy, JudgedMount) -> Finding
    layers = layers_of(one, facts, policy)
    evidence = tuple(layers.evidence())
    if layers.running is None:
        return found(
            NCONNECT, SKIP, why="{0} is not mounted.".format(layers.path), evidence=evidence
        )
    wanted = one.wanted.overrides.get("nconnect")
    # Where the policy names a number, what persists it is judged with the other options.
    asked = known(layers.asked) if wanted is None else None
    goal = _number(wanted or (asked or {}).get("nconnect"))
    running = _number(layers.running.get("nconnect"))
    traffic = if_known(facts.traffic, None)
    mount = None if traffic is None else traffic.mounts.get(layers.path)
    connections = running if mount is None else mount.connections
    if goal == running == connections == 1:
        return found(
            NCONNECT, SKIP, why="Nobody asks for more than one connection.", evidence=evidence
        )
    server = layers.wanted.source.partition(":/")[0]
    return found(
        NCONNECT,
        PASS if running == goal and connections >= goal else WARN,
        why="{0} has {1} connections and not {2}: the first mount of {3} decided for all.".format(
            layers.path, connections, goal, server
        ),
        fix="unmount every mount of {0}, then mount them with nconnect={1}".format(server, goal),
        desired="nconnect={0}".format(goal),
        persisted=persisted_words(layers, ["nconnect"]),
        running="nconnect={0}".format(running),
        in_use=None if mount is None else "{0} connections".format(connections),
        evidence=evidence + (() if mount is None else (EVIDENCE,)),
    )


def _number(text):
    # type: (Optional[str]) -> int
    return int(text) if text and text.isdecimal() else 1
