# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cause of a slow or repeated request: the network, the server, or unknown.

UDP: the client retransmits a request if there is no answer within the timeout. A slow server
answers both copies, and the second answer matches no request (a bad xid). So few bad xids mean that
requests or answers were lost. As many bad xids as retransmissions mean that the server was slow.

TCP hides losses from RPC; there, the segments of the connections show them. TCP measures the round
trip until the acknowledgement, which a server may delay until it sends its answer. So the average
is an upper bound for the network, and the minimum of the last minutes is its latency.

Sources: M. Dawson, Performance Tuning: A Case Study, Sys Admin, June 2002 (UDP); kernel
net/sunrpc/xprt.c, xprt_lookup_rqst() and xprt_complete_rqst(); tcp(7); RFC 6298.
"""

from typing import Dict, NamedTuple, Optional, Tuple

from ...collect.answer import if_known
from ...errors import HostproofError
from ...evaluate.finding import ERROR, FAIL, WARN
from ...probes.nfs.nfs_traffic import ConnectionDelta, MountTraffic, Traffic
from .policy import Policy

NETWORK = "network"
SERVER = "server"

#: Below this share of bad xids the retransmissions of UDP were not for a slow server.
BAD_XIDS_OF_A_SLOW_SERVER = 0.5
#: A share of fewer events than these says nothing.
FEWEST_EVENTS = 3
#: Segments that arrive out of order behind one that was lost: one for small requests (5% lost were
#: 6% out of order), dozens where data streams.
OUT_OF_ORDER_PER_LOSS = 5.0
#: TCP sends a segment again after so long at the latest, unless that is lost too (TCP_RTO_MIN).
SEGMENT_TIMEOUT_MS = 200.0

#: Server, version and the client's ends: mounts where these agree share one transport.
_Key = Tuple[Optional[str], str, Tuple[str, ...]]


class Wire(NamedTuple):
    """The traffic with what must be summed over the mounts that share a transport."""

    traffic: Traffic
    by_transport: Dict[_Key, int]


class Cause(NamedTuple):
    """The problem and its cause: NETWORK, SERVER, or None if the numbers do not show it.

    ``status`` is None if there is no problem, ERROR if that is unknown.
    """

    status: Optional[str]
    words: str
    culprit: Optional[str]


def wire_of(traffic: Traffic) -> Wire:
    sums: Dict[_Key, int] = {}
    for mount in traffic.mounts.values():
        key = _key(mount)
        sums[key] = sums.get(key, 0) + mount.all_retransmissions
    return Wire(traffic, sums)


def retransmissions_of_transport(wire: Wire, mount: MountTraffic) -> int:
    """Bad xids and reconnects are counted for the transport: so must be what they explain."""
    return wire.by_transport[_key(mount)]


def _key(mount: MountTraffic) -> _Key:
    return (mount.server, mount.version, mount.transports)


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def share(part: int, whole: int, what: str) -> str:
    """ "12 of 4000 requests (0.30%)" """
    return f"{part} of {whole} {what} ({percent(part, whole):.2f} %)"


def server_name(mount: MountTraffic) -> str:
    return mount.server or mount.source.rpartition(":")[0].rstrip(":") or "the server"


# -- UDP ------------------------------------------------------------------------------------------


def udp_culprit(wire: Wire, mount: MountTraffic) -> Cause:
    """Why requests over UDP were sent again; only where some were."""
    again = retransmissions_of_transport(wire, mount)
    numbers = f"{mount.bad_xids} answers came twice (bad xids) for {again} retransmissions"
    if mount.bad_xids >= BAD_XIDS_OF_A_SLOW_SERVER * again:
        words = f"{numbers}: the server is slow, it answers both copies"
        return Cause(None, words, SERVER)
    words = f"{numbers}: frames are lost on the way"
    tcp = if_known(wire.traffic.tcp, None)
    if tcp is not None and tcp.reassembly_failures:
        words += f"; this host could not put {tcp.reassembly_failures} fragmented packets together"
    return Cause(None, words, NETWORK)


# -- TCP ------------------------------------------------------------------------------------------


def tcp_path(wire: Wire, mount: MountTraffic, policy: Policy) -> Cause:
    """Whether segments are lost between this host and the server.

    Uses the connections to the server if ss showed them, otherwise the counters of the whole host,
    which cannot identify the server. ERROR if neither is known, or if the counters of the host are
    inconclusive.
    """
    connections = if_known(wire.traffic.connections, {})
    if mount.server in connections:
        path = _own_connections(connections[mount.server], mount, policy)
    else:
        path = _whole_host(wire, mount, policy)
    if mount.server in connections and connections[mount.server].out_of_order is not None:
        disorder = _own_disorder(connections[mount.server], mount, policy)
    else:
        disorder = _disorder_of_host(wire, policy)
    if disorder is None:
        return path
    status = FAIL if FAIL in (path.status, disorder.status) else WARN
    return Cause(status, f"{path.words}; {disorder.words}", NETWORK)


def _own_connections(delta: ConnectionDelta, mount: MountTraffic, policy: Policy) -> Cause:
    # Kernels before 4.2 count no segments: each request was one at least.
    sent = mount.sends if delta.segments_sent is None else delta.segments_sent
    words = "TCP sent {0} to {1} again".format(
        share(delta.segments_retransmitted, sent, "segments"), server_name(mount)
    )
    status = _status(delta.segments_retransmitted, sent, policy, 1.0)
    if not status:
        return Cause(None, words, None)
    return Cause(status, words + ": segments are lost on the way (network)", NETWORK)


def _own_disorder(delta: ConnectionDelta, mount: MountTraffic, policy: Policy) -> Optional[Cause]:
    """Only the server counts its retransmissions; this host sees them as out-of-order segments."""
    disordered, received = delta.out_of_order or 0, delta.data_received or mount.receives
    status = _status(disordered, received, policy, OUT_OF_ORDER_PER_LOSS)
    if not status:
        return None
    words = (
        "{0} from {1} arrived out of order: segments are lost or overtaken on the way (network)"
    ).format(share(disordered, received, "segments"), server_name(mount))
    return Cause(status, words, NETWORK)


def _disorder_of_host(wire: Wire, policy: Policy) -> Optional[Cause]:
    tcp = if_known(wire.traffic.tcp, None)
    if tcp is None or tcp.segments_out_of_order is None:
        return None
    disordered, received = tcp.segments_out_of_order, tcp.segments_received
    if not _status(disordered, received, policy, OUT_OF_ORDER_PER_LOSS):
        return None
    words = (
        "{0} of the whole host arrived out of order: segments are lost or overtaken on the way "
        "(network), from whom is unknown"
    ).format(share(disordered, received, "segments"))
    return Cause(WARN, words, NETWORK)


def _whole_host(wire: Wire, mount: MountTraffic, policy: Policy) -> Cause:
    tcp = wire.traffic.tcp
    if isinstance(tcp, HostproofError):
        words = f"whether TCP segments are lost is unknown ({_no_connection(wire, mount)}; {tcp})"
        return Cause(ERROR, words, None)
    words = "TCP sent {0} of the whole host again".format(
        share(tcp.segments_retransmitted, tcp.segments_sent, "segments")
    )
    status = _status(tcp.segments_retransmitted, tcp.segments_sent, policy, 1.0)
    if status:
        # Others use the network too, and maybe another way: that is a hint and no proof.
        words += (
            ": segments are lost on the way (network), to whom is unknown "
            f"({_no_connection(wire, mount)})"
        )
        return Cause(WARN, words, NETWORK)
    if _status(tcp.segments_retransmitted, mount.sends, policy, 1.0):
        words += (
            f"; whether these went to {server_name(mount)} is unknown "
            f"({_no_connection(wire, mount)})"
        )
        return Cause(ERROR, words, None)
    return Cause(None, words, None)


def _no_connection(wire: Wire, mount: MountTraffic) -> str:
    connections = wire.traffic.connections
    if isinstance(connections, HostproofError):
        return str(connections)
    return f"ss shows no connection to {server_name(mount)}"


def _status(part: int, whole: int, policy: Policy, factor: float) -> Optional[str]:
    if part < FEWEST_EVENTS:
        return None
    if percent(part, whole) >= policy.tcp_retransmission_fail_percent * factor:
        return FAIL
    if percent(part, whole) >= policy.tcp_retransmission_warn_percent * factor:
        return WARN
    return None


# -- slow answers ---------------------------------------------------------------------------------


def why_slow(wire: Wire, mount: MountTraffic, rtt_ms: float, policy: Policy) -> Cause:
    """The cause of answers that took ``rtt_ms`` on average."""
    if mount.protos == ("udp",) and retransmissions_of_transport(wire, mount):
        return udp_culprit(wire, mount)
    if mount.protos != ("tcp",):
        return _unknown(
            "the round trip of {0} is not measured".format(", ".join(mount.protos).upper())
        )
    path = tcp_path(wire, mount, policy)
    connection = if_known(wire.traffic.connections, {}).get(mount.server or "")
    if path.culprit:
        return _in_spite_of_losses(path, connection, mount, rtt_ms, policy) or path
    if connection is None or connection.rtt_ms is None:
        return _unknown(
            f"{path.words}, and the round trip of TCP is unknown ({_no_connection(wire, mount)})"
        )
    whose = _of_round_trip(connection.rtt_ms, connection.least_rtt_ms, rtt_ms, policy)
    return whose._replace(words=f"{whose.words}; {path.words}")


def _in_spite_of_losses(
    path: Cause,
    connection: Optional[ConnectionDelta],
    mount: MountTraffic,
    rtt_ms: float,
    policy: Policy,
) -> Optional[Cause]:
    """A server that is slow even if each loss held up one of these requests for a timeout."""
    if connection is None or connection.rtt_ms is None or not mount.all_ops:
        return None
    losses = connection.segments_retransmitted + (connection.out_of_order or 0)
    held_up = SEGMENT_TIMEOUT_MS * losses / mount.all_ops
    if rtt_ms - connection.rtt_ms - held_up < policy.rtt_warn_ms:
        return None
    words = (
        f"the round trip of TCP is {connection.rtt_ms:.1f} ms of it and losses explain at most "
        f"{held_up:.1f} ms: the server is slow; {path.words}"
    )
    return Cause(None, words, SERVER)


def _unknown(because: str) -> Cause:
    return Cause(None, f"the server or the way to it: {because}", None)


def _of_round_trip(most: float, least: Optional[float], rtt_ms: float, policy: Policy) -> Cause:
    """``most`` and ``least`` are the average and the least round trip of TCP."""
    if rtt_ms - most >= policy.rtt_warn_ms:
        words = f"at most {most:.1f} ms of it are the network's: the server is slow"
        return Cause(None, words, SERVER)
    if least is not None and rtt_ms - least < policy.rtt_warn_ms:
        words = f"at least {least:.1f} ms of it are the network's: the network is slow"
        return Cause(None, words, NETWORK)
    return _unknown(
        "the round trip of TCP is {0:.1f} ms on average and {1} at least, and may hold a late "
        "acknowledgement of the server".format(
            most, "an unknown time" if least is None else f"{least:.1f} ms"
        )
    )
