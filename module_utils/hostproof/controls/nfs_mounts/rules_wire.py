# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health of the mounts: how fast they answered while watched, and who held them up.

Everything here is of the seconds between two readings: what the counters say of the time since the
mount was made is never checked. What Direct NFS carries passes these counters by."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Rules, Skip, Subjects, Verdict, known_or_skip, undetermined
from ...evaluate.finding import ERROR, FAIL, PASS, WARN
from ...parsers.number import integer
from ...probes.nfs.nfs_traffic import EVIDENCE, MountTraffic, OpRates
from . import diagnosis
from .checked_mounts import judged_mounts
from .diagnosis import FEWEST_EVENTS, Cause, Wire, percent, server_name, share
from .facts import Facts
from .policy import NAME, Policy
from .subjects import MOUNTS

rules: Rules[Facts, Policy] = Rules(NAME)

NAMES = ("READ", "WRITE")
#: A queue this many times as long as the answer takes is not waiting for the server.
QUEUE_OF_ANSWERS = 2
#: The least that a request over UDP waits before it is sent again (RPC_RTO_MIN: HZ / 10).
UDP_TIMEOUT_MS = 100.0

_SIZES = re.compile(r"(?:^|,)[rw]size=(\d{1,8})(?=,|$)")
#: Of Ethernet without jumbo frames.
_MTU = 1500

_NETWORK_FIX = (
    "check drops and errors of the interfaces (ip, ethtool -S), of the ports of the switches "
    "and of the server"
)
_LOGS_FIX = "check the kernel messages about NFS and the log of the server of the same minute"
_NETWORK = Run("ip", "-s", "-s", "link", text=_NETWORK_FIX)
_STEPS: Dict[Optional[str], List[Step]] = {
    diagnosis.NETWORK: [_NETWORK],
    diagnosis.SERVER: [Ask("check the server: its load, its disks and its other clients")],
    None: [Step(_LOGS_FIX, ["dmesg | grep -i nfs"]), _NETWORK],
}
_SS_STEP = Ask("install ss (package iproute or iproute2) and audit again")


class Watched(NamedTuple):
    """A mount, and the traffic of all of them. ``transfer`` is the larger of rsize and wsize."""

    path: str
    is_mounted: bool
    wire: Answer[Wire]
    transfer: Optional[int] = None


def _watched(facts: Facts, policy: Policy) -> List[Watched]:
    wire = attempt(lambda: diagnosis.wire_of(known(facts.traffic)))
    return [
        Watched(
            mount.wanted.path,
            mount.mounted is not None,
            wire,
            None if mount.mounted is None else _transfer(mount.mounted.options),
        )
        for mount in judged_mounts(facts, policy)
    ]


def _sampled(watched: Watched) -> Tuple[str, ...]:
    """Where the traffic is not known, whatever the error says of its place."""
    is_unknown = isinstance(watched.wire, HostproofError) and not isinstance(watched.wire, Absent)
    return (EVIDENCE,) if watched.is_mounted and is_unknown else ()


WATCHED = Subjects(
    _watched, none=MOUNTS.none, name=lambda watched: str(watched.path), evidence=_sampled
)


def _traffic_of(watched: Watched) -> Tuple[Wire, MountTraffic]:
    if not watched.is_mounted:
        raise Skip(f"{watched.path} is not mounted.")
    wire: Wire = known_or_skip(watched.wire)
    mount = wire.traffic.mounts.get(watched.path)
    if mount is None:
        raise Unanswered(EVIDENCE, f"{watched.path} has no counters in mountstats")
    return wire, mount


# -- enough to check by ---------------------------------------------------------------------------


def _no_verdict(wire: Wire, mount: MountTraffic, policy: Policy) -> Optional[str]:
    """Why the window says nothing of a mount, or None where it states enough."""
    seconds = wire.traffic.seconds
    if mount.remounted:
        return (
            f"No verdict: the mount or its connections were replaced within the {seconds:.0f} "
            "s of the sample; audit again."
        )
    ops = [mount.ops[name] for name in NAMES if name in mount.ops]
    requests = sum(rates.ops for rates in ops)
    if requests < policy.sample_minimum_ops and not any(_busy(rates, seconds) for rates in ops):
        return (
            f"No traffic, no verdict: {requests} reads and writes in {seconds:.0f} s, fewer than "
            f"{policy.sample_minimum_ops} (nfs_mounts_sample_minimum_ops). What Direct NFS "
            "carries is not counted here."
        )
    return None


def _busy(rates: OpRates, seconds: float) -> bool:
    """Whether a few requests took half of the time: a slow server has few, because it is slow."""
    taken = rates.ops * (rates.execute_ms or 0.0)
    return rates.ops >= FEWEST_EVENTS and taken >= 1000 * seconds / 2


def _judged_ops(wire: Wire, mount: MountTraffic, policy: Policy) -> List[Tuple[str, OpRates]]:
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


def _times(mount: MountTraffic) -> str:
    """ "READ 120.0/s 0.9 MiB/s, queue 0.1, answer 3.0, in all 3.1 ms; WRITE none" """
    words = []
    for name in NAMES:
        rates = mount.ops.get(name)
        if rates is None or not rates.ops:
            words.append(name + " none")
            continue
        word = (
            f"{name} {rates.per_second:.1f}/s {_tenths(rates.mib_per_second)} MiB/s, queue "
            f"{_tenths(rates.queue_ms)}, answer {_tenths(rates.rtt_ms)}, in all "
            f"{_tenths(rates.execute_ms)} ms"
        )
        if rates.errors:
            word += f", {rates.errors} errors"
        words.append(word)
    return "; ".join(words)


def _tenths(number: Optional[float]) -> str:
    return "not told" if number is None else f"{number:.1f}"


def _raise_if_lost(wire: Wire, mount: MountTraffic, policy: Policy, names: Tuple[str, ...]) -> None:
    """Raise where a counter that the verdict rests on ran over: what is not told is not a pass."""
    lost = [name for name in NAMES if name in mount.untold]
    for name, rates in _judged_ops(wire, mount, policy):
        lost += [f"{name} ({counter})" for counter in rates.untold if counter in names]
    if lost:
        raise Unanswered(
            EVIDENCE,
            "the counters of {0} of {1} fell below 0 or went backwards, so they are not used; a "
            "new mount resets them".format(", ".join(lost), mount.path),
        )


# -- latency --------------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.latency",
    "Response time of reads and writes is within the limits",
    "Response time of reads or writes exceeds the limits",
    severity="high",
    takes_effect="now",
    why="Every wait of the database for a block includes this time.",
    reference="kernel net/sunrpc/stats.c; M. Dawson, Performance Tuning: A Case Study (30 ms)",
    each=WATCHED,
    because_of=("nfs_mounts.client_queue", "nfs_mounts.retransmissions"),
)
def latency(watched: Watched, _facts: Facts, policy: Policy) -> Verdict:
    wire, mount = _traffic_of(watched)
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        return _unanswered(wire, mount, no_verdict)
    slow = [
        (rates.rtt_ms, name)
        for name, rates in _judged_ops(wire, mount, policy)
        if rates.rtt_ms is not None and rates.rtt_ms >= policy.rtt_warn_ms
    ]
    status, why = PASS, ""
    steps: List[Step] = []
    if not slow:
        _raise_if_lost(wire, mount, policy, ("rtt_ms",))
    if slow:
        rtt_ms, name = max(slow)
        cause = diagnosis.why_slow(wire, mount, rtt_ms, policy)
        status = FAIL if rtt_ms >= policy.rtt_fail_ms else WARN
        why = f"{name} of {mount.path} takes {rtt_ms:.1f} ms from request to answer: {cause.words}."
        steps = _STEPS[cause.culprit]
    return Verdict(
        status,
        why=why,
        advice=Advice(steps),
        desired=f"answers within {policy.rtt_warn_ms:g} ms on average",
        in_use=_times(mount),
        values={
            f"{name.lower()}_ms": round(rates.rtt_ms, 3)
            for name, rates in _judged_ops(wire, mount, policy)
            if rates.rtt_ms is not None
        },
        evidence=wire.traffic.evidence,
    )


def _unanswered(wire: Wire, mount: MountTraffic, no_verdict: str) -> Verdict:
    """Requests that went out while nothing came back: that is not the same as no traffic."""
    silence = "" if mount.remounted or mount.receives else _silence(wire, mount)
    if not silence:
        raise Skip(no_verdict, [EVIDENCE])
    server = server_name(mount)
    return Verdict(
        FAIL,
        why=f"{silence}: no answer came back in {wire.traffic.seconds:.0f} s.",
        advice=Advice(
            [
                Run("ping", "-c", "3", "--", server, text="check that the server is reachable"),
                Run("rpcinfo", "--", server, text="check that its NFS services are registered"),
            ]
        ),
        in_use=f"{mount.sends} requests, no answer",
        values={"unanswered_requests": mount.sends},
        evidence=wire.traffic.evidence,
    )


def _silence(wire: Wire, mount: MountTraffic) -> str:
    """Requests that wait for an unreachable server, as text; empty if none is visible.

    A waiting process sends no more requests. Then only TCP shows the problem: it retransmits or
    tries to connect.
    """
    server = server_name(mount)
    if mount.sends >= FEWEST_EVENTS:
        return f"{mount.sends} requests went out to {server}"
    connection = if_known(wire.traffic.connections, {}).get(mount.server or "")
    if connection is not None and connection.connecting:
        return f"TCP tries to connect to {server}"
    if connection is not None and connection.segments_retransmitted:
        return f"TCP retransmits unacknowledged segments to {server}"
    return ""


# -- queue ----------------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.client_queue",
    "Requests do not queue on the client",
    "Requests queue on the client",
    severity="medium",
    takes_effect="now",
    why="Requests wait longer for a free RPC slot than for the server. More slots or "
    "connections help, a faster server does not.",
    reference="nfsiostat(8); kernel net/sunrpc/stats.c",
    each=WATCHED,
)
def client_queue(watched: Watched, _facts: Facts, policy: Policy) -> Verdict:
    wire, mount = _traffic_of(watched)
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        raise Skip(no_verdict, [EVIDENCE])
    waiting = [
        (rates.queue_ms, rates.rtt_ms, name, rates)
        for name, rates in _judged_ops(wire, mount, policy)
        if rates.queue_ms is not None
        and rates.rtt_ms is not None
        and rates.queue_ms >= policy.queue_warn_ms
        and rates.queue_ms >= QUEUE_OF_ANSWERS * rates.rtt_ms
    ]
    desired = f"a queue below {policy.queue_warn_ms:g} ms or {QUEUE_OF_ANSWERS} times the answer"
    values = {
        f"{name.lower()}_{field}": round(time, 3)
        for name, rates in _judged_ops(wire, mount, policy)
        for field, time in (("queue_ms", rates.queue_ms), ("rtt_ms", rates.rtt_ms))
        if time is not None
    }
    if not waiting:
        _raise_if_lost(wire, mount, policy, ("queue_ms", "rtt_ms"))
        return Verdict(
            PASS,
            desired=desired,
            in_use=_times(mount),
            values=values,
            evidence=wire.traffic.evidence,
        )
    queue_ms, rtt_ms, name, rates = max(waiting)
    waits = (
        f"{name} of {mount.path} waits {queue_ms:.1f} ms in the client for an answer that takes "
        f"{rtt_ms:.1f} ms"
    )
    if not _queues_for_slot(mount) and _explained_by_retransmissions(mount, rates, policy):
        again = share(rates.retransmissions, rates.ops, "requests")
        raise Skip(
            f"{waits}, and {again} were sent again: that is the wait for a timeout and not for a "
            "slot (see nfs_mounts.retransmissions).",
            [EVIDENCE],
        )
    return Verdict(
        WARN,
        why=f"{waits}: {_slots(mount)}.",
        advice=Advice([Ask(_more_slots(mount))]),
        desired=desired,
        in_use=_times(mount),
        values=values,
        evidence=wire.traffic.evidence,
    )


def _explained_by_retransmissions(mount: MountTraffic, rates: OpRates, policy: Policy) -> bool:
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


def _slots(mount: MountTraffic) -> str:
    if mount.backlog is None:
        return "the number of requests that wait for an RPC slot is unknown, its counter overflowed"
    if _queues_for_slot(mount):
        return f"{mount.backlog:.1f} requests on average queue for an RPC slot of the client"
    if _has_sessions(mount):
        return (
            f"none queues for an RPC slot, so they wait for a slot of the NFSv{mount.version} "
            "session"
        )
    return "none queues for an RPC slot, so they wait for the connection or for their credentials"


def _more_slots(mount: MountTraffic) -> str:
    more = f"set more connections (nconnect) in the options of {mount.path} in nfs_mounts_mounts"
    if _queues_for_slot(mount) and mount.protos == ("udp",):
        return "mount it over TCP, or raise sunrpc.udp_slot_table_entries"
    if _queues_for_slot(mount):
        return more + ", or raise nfs_mounts_slot_table_entries, if the server has room for more"
    if _has_sessions(mount):
        return (
            "raise the slots of a session, as far as the server grants them: options nfs "
            "max_session_slots=N in modprobe.d, which counts after the next reboot"
        )
    return more


def _queues_for_slot(mount: MountTraffic) -> bool:
    return mount.backlog is not None and mount.backlog >= 1


def _has_sessions(mount: MountTraffic) -> bool:
    return mount.version not in ("2", "3", "4", "4.0")


# -- retransmissions ------------------------------------------------------------------------------


@rules.check(
    "nfs_mounts.retransmissions",
    "Requests are not retransmitted",
    "Requests or TCP segments are retransmitted",
    severity="high",
    takes_effect="now",
    why="Each retransmitted request has first waited for a timeout.",
    reference="nfsstat(8); M. Dawson, Performance Tuning: A Case Study (2% bad, 0.01% good)",
    each=WATCHED,
)
def retransmissions(watched: Watched, _facts: Facts, policy: Policy) -> Verdict:
    wire, mount = _traffic_of(watched)
    no_verdict = _no_verdict(wire, mount, policy)
    if no_verdict:
        words = "" if mount.remounted else _sent_again_without_traffic(wire, mount)
        if not words:
            raise Skip(no_verdict, [EVIDENCE])
        cause = Cause(WARN, words, None)
    elif mount.protos == ("udp",):
        cause = _over_udp(wire, mount, policy)
        if cause.status is not None and cause.culprit == diagnosis.NETWORK and watched.transfer:
            cause = cause._replace(words=cause.words + _fragments(watched.transfer))
    else:
        cause = _over_connections(wire, mount, policy)
    if cause.status == ERROR:
        unknown = undetermined(Unanswered(EVIDENCE, cause.words))
        return unknown._replace(advice=Advice([_SS_STEP]))
    if mount.untold and cause.status != FAIL:
        # The counters are a lower bound: sufficient only for a fail.
        raise Unanswered(
            EVIDENCE,
            "the counters of {0} of {1} fell below 0 or went backwards; of the other operations "
            "{2}".format(", ".join(mount.untold[:5]), mount.path, cause.words),
        )
    return Verdict(
        cause.status or PASS,
        why=f"{mount.path}: {cause.words}.",
        advice=Advice(_STEPS[cause.culprit]),
        desired=_desired(mount, policy),
        in_use=_sent(wire, mount),
        values=_resent(wire, mount),
        evidence=wire.traffic.evidence,
    )


def _sent_again_without_traffic(wire: Wire, mount: MountTraffic) -> str:
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
    return f"{unfinished} requests of this host were sent again and have no answer yet"


def _over_udp(wire: Wire, mount: MountTraffic, policy: Policy) -> Cause:
    again, of = mount.all_retransmissions, mount.all_ops
    words = "{0} were sent again".format(share(again, of, "requests"))
    if not again or percent(again, of) < policy.retransmission_warn_percent:
        return Cause(None, words, None)
    severe = percent(again, of) >= policy.retransmission_fail_percent and again >= FEWEST_EVENTS
    why = diagnosis.udp_culprit(wire, mount)
    return Cause(FAIL if severe else WARN, f"{words}; {why.words}", why.culprit)


def _transfer(options: str) -> Optional[int]:
    sizes = [integer(size) for size in _SIZES.findall(options)]
    return max(sizes) if sizes else None


def _fragments(transfer: int) -> str:
    packets = -(-transfer // _MTU)
    return (
        f"; a transfer of {transfer} bytes is {packets} packets at an MTU of {_MTU}, and the loss "
        "of one repeats all of them"
    )


def _over_connections(wire: Wire, mount: MountTraffic, policy: Policy) -> Cause:
    """A request over a connection is sent again only after a long timeout or on a new one."""
    causes = [*_sent_again(mount, policy), *_replaced(wire, mount)]
    if mount.protos == ("tcp",):
        path = diagnosis.tcp_path(wire, mount, policy)
        if path.status == ERROR and not causes:
            return path
        if path.status or causes:
            causes.append(path)
        is_slow = mount.all_retransmissions and not mount.reconnects and not path.status
        if is_slow and _has_connection(wire, mount):
            words = "no connection was replaced: the server did not answer the requests in time"
            causes.append(Cause(None, words, diagnosis.SERVER))
    return _joined(causes)


def _joined(causes: List[Cause]) -> Cause:
    statuses = [cause.status for cause in causes]
    status = FAIL if FAIL in statuses else WARN if causes else None
    words = "; ".join(cause.words for cause in causes)
    culprits = [cause.culprit for cause in causes if cause.culprit]
    return Cause(status, words, culprits[0] if culprits else None)


def _sent_again(mount: MountTraffic, policy: Policy) -> List[Cause]:
    again, of = mount.all_retransmissions, mount.all_ops
    if not again:
        return []
    severe = percent(again, of) >= policy.retransmission_fail_percent and again >= FEWEST_EVENTS
    words = "{0} were sent again".format(share(again, of, "requests"))
    return [Cause(FAIL if severe else WARN, words, None)]


def _replaced(wire: Wire, mount: MountTraffic) -> List[Cause]:
    """An idle connection is closed after some minutes and opened again, which is harmless."""
    if not mount.reconnects or not (
        diagnosis.retransmissions_of_transport(wire, mount) or mount.reconnects > mount.connections
    ):
        return []
    words = (
        f"the connection to {server_name(mount)} was replaced {mount.reconnects} times in "
        f"{wire.traffic.seconds:.0f} s"
    )
    return [Cause(WARN, words, None)]


def _has_connection(wire: Wire, mount: MountTraffic) -> bool:
    """Whether the connections to the server are known, and not only those of the whole host."""
    return mount.server in if_known(wire.traffic.connections, {})


def _desired(mount: MountTraffic, policy: Policy) -> str:
    if mount.protos == ("tcp",):
        return (
            f"no request twice, below {policy.tcp_retransmission_warn_percent:g} % of the segments"
        )
    return f"below {policy.retransmission_warn_percent:g} % of the requests twice"


def _resent(wire: Wire, mount: MountTraffic) -> Dict[str, Optional[int]]:
    values: Dict[str, Optional[int]] = {
        "requests": mount.all_ops,
        "requests_sent_again": mount.all_retransmissions,
        "new_connections": mount.reconnects,
    }
    connection = if_known(wire.traffic.connections, {}).get(mount.server or "")
    if connection is not None:
        values["segments"] = connection.segments_sent
        values["segments_sent_again"] = connection.segments_retransmitted
    return values


def _sent(wire: Wire, mount: MountTraffic) -> str:
    words = "{0} sent again, {1} timeouts, {2} bad xids".format(
        share(mount.all_retransmissions, mount.all_ops, "requests"),
        mount.all_timeouts,
        mount.bad_xids,
    )
    if mount.protos == ("udp",):
        return words
    words += f", {mount.reconnects} new connections"
    connection = if_known(wire.traffic.connections, {}).get(mount.server or "")
    if connection is None:
        return words
    return words + ", {0} of {1} segments sent again, round trip {2} ms".format(
        connection.segments_retransmitted,
        "unknown" if connection.segments_sent is None else connection.segments_sent,
        "unknown" if connection.rtt_ms is None else f"{connection.rtt_ms:.1f}",
    )
