# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outputs that count since a start: nfsstat, mountstats, ethtool -S, ifstat and switch ports.

Two outputs of one kind are before and after: then the difference is told, and not the sums.
"""

from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ....collect.measured import Window
from ....errors import ParseError
from ....parsers.net import ethtool_statistics
from ....parsers.nfs import mountstats
from ..parsers import nfsstat, ontap_ifstat, switch_counters
from .readings import Reading, kept, share
from .report import Report, window

#: Counters by subject and name.
Counters = Dict[str, Dict[str, float]]

_SINCE = "the counters run since a start: a second output as after gives what happened between"
_BETWEEN = "the figures are of the time between the two outputs"
#: Names of counters of mountstats.
_OPERATIONS = ("READ", "WRITE")


class _Kind(NamedTuple):
    """``tell`` gives windows and readings; its flag is whether it is a difference."""

    counters: Callable[[str], Counters]
    tell: Callable[[Counters, bool], Tuple[List[Window], List[Reading]]]


def read(kind: str, text: str, before: Optional[str] = None) -> Report:
    """The figures of ``text``, or what was counted since ``before``."""
    reader = KINDS[kind]
    counters = reader.counters(text)
    remarks = [_SINCE]
    if before is None and kind == "ethtool_statistics" and text.count(_NIC) > 1:
        before = _NIC + text.split(_NIC, 2)[1]
    if before is not None:
        earlier = reader.counters(before)
        counters, gone = _difference(earlier, counters)
        remarks = [_BETWEEN]
        if gone:
            remarks.append("began again or was not there before: {0}".format(", ".join(gone)))
        if not counters:
            raise ParseError("the counters", "none goes on from the output before: they were reset")
    windows, readings = reader.tell(counters, before is not None)
    if not windows and not readings:
        remarks.append("nothing was counted")
    return Report(kind, windows, {"readings": kept(readings)}, remarks)


_NIC = "NIC statistics:"


def _difference(before: Counters, after: Counters) -> Tuple[Counters, List[str]]:
    """What was counted meanwhile; subjects that were reset or are new are named instead."""
    changed: Counters = {}
    gone: List[str] = []
    for subject, counts in after.items():
        earlier = before.get(subject)
        if earlier is None or any(
            counts[name] < earlier[name] for name in counts if name in earlier
        ):
            gone.append(subject)
            continue
        changed[subject] = {
            name: value - earlier[name] for name, value in counts.items() if name in earlier
        }
    return changed, gone


# -- nfsstat --------------------------------------------------------------------------------------


def _of_nfsstat(text: str) -> Counters:
    return {
        f"{calls.side} {calls.transport}".strip(): {
            name: float(value) for name, value in calls.counts.items()
        }
        for calls in nfsstat.parse(text)
    }


def _tell_nfsstat(counters: Counters, _between: bool) -> Tuple[List[Window], List[Reading]]:
    readings: List[Reading] = []
    for subject, counts in counters.items():
        calls = counts.get("calls", 0.0)
        if subject.startswith("server"):
            bad = counts.get("badcalls", 0.0)
            readings.append(
                share("requests_rejected", subject, "requests rejected", bad, calls, "calls")
            )
            continue
        # Solaris counts no retransmissions of a connection, but replies that did not come in time.
        name = "retrans" if "retrans" in counts else "timeouts"
        again = counts.get(name, counts.get("timeout", 0.0))
        words = "requests sent again" if name == "retrans" else "requests timed out"
        late = counts.get("badxids", counts.get("badxid"))
        reading = share("requests_sent_again", subject, words, again, calls, "calls")
        if again and late is not None and name == "retrans":
            # A reply that comes after its request was sent again has no request any more.
            cause = (
                "replies came late: the server is slow"
                if late >= again / 2
                else "hardly a reply came late: requests or replies were lost on the way"
            )
            reading = reading._replace(of=f"{reading.of}; badxids {late:,.0f}: {cause}")
        readings.append(reading)
    return [], readings


# -- mountstats -----------------------------------------------------------------------------------


def _of_mountstats(text: str) -> Counters:
    counters: Counters = {}
    for path, mount in mountstats.parse(text).items():
        # A new mount has a smaller age: its counters began again.
        counts: Dict[str, float] = {"age": float(mount.age)}
        for ops, sent, _timeouts in mount.counts.values():
            if mountstats.is_told(ops) and mountstats.is_told(sent):
                counts["ops"] = counts.get("ops", 0.0) + ops
                counts["again"] = counts.get("again", 0.0) + max(0, sent - ops)
        for name, operation in mount.named.items():
            times = (operation.ops, operation.rtt_ms, operation.execute_ms)
            if all(mountstats.is_told(value) for value in times):
                counts.update({f"{name} {what}": v for what, v in zip(_TIMES, map(float, times))})
        counters[path] = counts
    if not counters:
        raise ParseError("mountstats", "it has no NFS mount with counters")
    return counters


_TIMES = ("ops", "rtt", "execute")


def _tell_mountstats(counters: Counters, _between: bool) -> Tuple[List[Window], List[Reading]]:
    windows: List[Window] = []
    readings: List[Reading] = []
    for path, counts in counters.items():
        seconds = counts["age"] or None
        for name in _OPERATIONS:
            ops = counts.get(f"{name} ops", 0.0)
            if not ops:
                continue
            rtt = 1000.0 * counts[f"{name} rtt"] / ops
            execute = 1000.0 * counts[f"{name} execute"] / ops
            known = {"tool": "mountstats", "mode": "passive"}
            for layer, mean in (("server", rtt), ("host", max(0.0, execute - rtt))):
                windows.append(
                    window("nfs", f"{path} {name}", layer, int(ops), mean, known, seconds=seconds)
                )
        if counts.get("ops"):
            readings.append(
                share(
                    "requests_sent_again",
                    path,
                    "requests sent again",
                    counts["again"],
                    counts["ops"],
                    "requests",
                )
            )
    return windows, readings


# -- frames ---------------------------------------------------------------------------------------


def _frames(
    subject: str, words: str, lost: float, count: Optional[float], between: bool
) -> List[Reading]:
    """Lost frames as a share; as a number where a difference tells it, or no total is known."""
    if between:
        of = "" if not count else f"of {count:,.0f}"
        return [Reading("frames_lost_meanwhile", subject, words, lost, "", of)]
    if not count:
        return [Reading("", subject, words, lost, "", "since the start of the counters")]
    return [share("frames_lost", subject, words, lost, count, "frames")]


def _of_ethtool(text: str) -> Counters:
    pieces = text.split(_NIC)
    text = _NIC + pieces[-1] if len(pieces) > 1 else text.lstrip()
    counted = ethtool_statistics.parse(text)
    return {"interface": {name: float(value) for name, value in counted.items()}}


def _tell_ethtool(counters: Counters, between: bool) -> Tuple[List[Window], List[Reading]]:
    counts = counters["interface"]
    whole = {name: int(value) for name, value in counts.items()}
    readings: List[Reading] = []
    every = ethtool_statistics.of_any_driver(whole)
    for name in every.drops:
        direction = "tx" if name.startswith(("tx", "port_tx", "port.tx")) else "rx"
        total = next(
            (counts[key] for key in _TOTALS[direction] if counts.get(key)),
            None,
        )
        if counts[name] or name == every.drops[0]:
            readings += _frames("interface", f"frames lost, {name},", counts[name], total, between)
    for name in [*every.rx_pause, *every.tx_pause]:
        readings.append(
            Reading(
                "pause_meanwhile" if between else "",
                "interface",
                f"PAUSE frames, {name},",
                counts[name],
                "",
                "" if between else "since the start of the counters",
            )
        )
    return [], readings


_TOTALS = {
    "rx": ("rx_packets", "rx_packets_phy", "rx_ucast_packets", "port.rx_unicast", "rx_unicast"),
    "tx": ("tx_packets", "tx_packets_phy", "tx_ucast_packets", "port.tx_unicast", "tx_unicast"),
}


def _of_ifstat(text: str) -> Counters:
    return {
        interface.name: {
            f"{section.lower()} {name.lower()}": value
            for section, counts in interface.counts.items()
            for name, value in counts.items()
            # A rate is of now, and no counter.
            if "/second" not in name and "/minute" not in name
        }
        for interface in ontap_ifstat.parse(text)
    }


def _tell_ifstat(counters: Counters, between: bool) -> Tuple[List[Window], List[Reading]]:
    readings: List[Reading] = []
    for subject, counts in counters.items():
        for side in ("receive", "transmit"):
            total = counts.get(f"{side} total frames")
            lost = counts.get(f"{side} total errors", 0.0) + counts.get(
                f"{side} total discards", 0.0
            )
            if total or lost:
                readings += _frames(subject, f"{side}: frames lost", lost, total, between)
            paused = [
                counts[f"{side} {name}"] for name in ("xoff", "pause") if f"{side} {name}" in counts
            ]
            if any(paused):
                readings.append(
                    Reading(
                        "pause_meanwhile" if between else "",
                        subject,
                        f"{side}: PAUSE frames",
                        sum(paused),
                        "",
                    )
                )
    return [], readings


#: Counters of frames that a port lost, as CatOS, IOS and NX-OS name them, by direction.
_LOST = {
    "in": ("In-Discard", "In-Discards", "In-Lost", "InDiscards"),
    "out": ("Out-Discard", "Out-Discards", "Out-Lost", "OutDiscards", "Xmit-Err", "Dely-Exced"),
}
#: Errors of receiving, of which the first of IOS is the sum of the others.
_ERRORS = {"in": ("Rcv-Err", "FCS-Err", "Align-Err"), "out": ()}
_SEEN = {
    "in": ("Rcv-Unicast", "Rcv-Multicast", "Rcv-Broadcast", "InUcastPkts", "InMcastPkts"),
    "out": ("Xmit-Unicast", "Xmit-Multicast", "Xmit-Broadcast", "OutUcastPkts", "OutMcastPkts"),
}


def _tell_ports(counters: Counters, between: bool) -> Tuple[List[Window], List[Reading]]:
    readings: List[Reading] = []
    for subject, counts in counters.items():
        for side in ("in", "out"):
            readings += _lost_frames(f"port {subject}", side, counts, between)
    return [], readings


def _lost_frames(port: str, side: str, counts: Dict[str, float], between: bool) -> List[Reading]:
    errors = [name for name in _ERRORS[side] if name in counts]
    names = [name for name in _LOST[side] if name in counts]
    # Frames with an error are in several of these counters.
    names += sorted(errors, key=lambda name: -counts[name])[:1]
    total = sum(counts.get(name, 0.0) for name in _SEEN[side]) or None
    lost = [name for name in names if counts[name]]
    if not names or not (lost or total):
        return []
    words = f"{side}: frames lost" + (f", {' and '.join(lost)}," if lost else "")
    return _frames(port, words, sum(counts[name] for name in names), total, between)


KINDS: Dict[str, _Kind] = {
    "nfsstat": _Kind(_of_nfsstat, _tell_nfsstat),
    "mountstats": _Kind(_of_mountstats, _tell_mountstats),
    "ethtool_statistics": _Kind(_of_ethtool, _tell_ethtool),
    "ifstat": _Kind(_of_ifstat, _tell_ifstat),
    "switch_counters": _Kind(switch_counters.parse, _tell_ports),
}
