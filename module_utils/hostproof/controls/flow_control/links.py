# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path from a host to its filer, cable by cable: PAUSE of one end must be obeyed by the other.

PAUSE works between the two ends of one cable. A path from host over switch to filer has two cables,
each with a separate verdict. Discards of a switch need the whole path: a filer that is faster than
the host overruns the switch port in front of the host. Only PAUSE that the switch sends and the
filer obeys slows it down. Sources: IEEE 802.3, annex 31B; Performance Tuning: A Case Study (Sys
Admin, June 2002), The Network Examined.

The functions compare sides and return verdicts; they read nothing."""

from typing import Any, Iterable, List, NamedTuple, Optional, Tuple

from ...evaluate.checking import Verdict
from ...evaluate.finding import ERROR, FAIL, PASS, SKIP, STATUSES, WARN
from .snmp.ethernet_port import FULL, HALF, Delta, Pause, Port

NO_SWITCH = "flow_control_switches is empty: no switch was queried."


class Side(NamedTuple):
    """One end of a cable.

    ``pause`` is in force and ``wanted`` is configured; None is unknown. ``speed`` is in Mb/s.
    ``delta`` counts frames received (in) and sent (out) within the sample. ``seen`` are PAUSE
    frames since the counters started: received, sent.
    """

    name: str
    pause: Optional[Pause]
    wanted: Optional[Pause]
    speed: Optional[int]
    duplex: Optional[str]
    mtu: Optional[int]
    up: Optional[bool]
    delta: Delta
    seen: Tuple[Optional[int], Optional[int]]

    @property
    def text(self) -> str:
        """The end as part of a chain: "sw1 Gi1/0/1 [rx on tx off, 1000 Mb/s full]"."""
        words = [mode_of(self)]
        if self.up is False:
            words.append("down")
        elif self.speed is None and self.duplex is None:
            words.append("speed unknown")
        else:
            speed = "speed unknown" if self.speed is None else f"{self.speed} Mb/s"
            words.append(speed + ("" if self.duplex is None else " " + self.duplex))
        return "{0} [{1}]".format(self.name, ", ".join(words))


class Path(NamedTuple):
    """From an interface of the host to a filer. An unknown side is None, and its ``why`` is the
    reason. ``switched``: the policy names switches; otherwise no switch was queried.
    """

    host: Side
    host_port: Optional[Side]
    filer_port: Optional[Side]
    filer: Optional[Side]
    switched: bool
    why_no_host_port: str
    why_no_filer_port: str
    why_no_filer: str

    @property
    def chain(self) -> str:
        """The whole path in one line: <-> is a cable, ... the path inside the switches."""
        parts = [self.host.text]
        if self.switched:
            parts += [" <-> ", _text(self.host_port, "switch port unknown")]
        if self.filer is None and self.filer_port is None and not self.why_no_filer:
            return "".join(parts)
        parts.append(" ... ")
        if self.switched:
            parts += [_text(self.filer_port, "switch port unknown"), " <-> "]
        parts.append(_text(self.filer, "filer unknown"))
        return "".join(parts)


def side_of(name: str, port: Port) -> Side:
    """A port that an agent showed."""
    return Side(
        name=name,
        pause=port.oper,
        wanted=port.admin,
        speed=port.speed,
        duplex=port.duplex,
        mtu=port.mtu,
        up=port.up,
        delta=port.delta,
        seen=(port.before.in_pause, port.before.out_pause),
    )


def bundled(sides: List[Side]) -> Side:
    """The ports of an aggregate as one end, for a path whose cable cannot be identified.

    Values that differ between the ports are unknown. Counters are added up.
    """
    if len(sides) == 1:
        return sides[0]
    seen = [side.seen for side in sides]
    alike = {
        name: _common(sides, name) for name in ("pause", "wanted", "speed", "duplex", "mtu", "up")
    }
    return Side(
        name=" + ".join(side.name for side in sides),
        delta=_total([side.delta for side in sides]),
        seen=(_sum(received for received, _ in seen), _sum(sent for _, sent in seen)),
        **alike,
    )


def _total(deltas: List[Delta]) -> Delta:
    return Delta(
        deltas[0].seconds,
        _sum(delta.in_pause for delta in deltas),
        _sum(delta.out_pause for delta in deltas),
        _sum(delta.in_discards for delta in deltas),
        _sum(delta.out_discards for delta in deltas),
        next((delta.fault for delta in deltas if delta.fault), ""),
    )


def _common(sides: List[Side], name: str) -> Any:
    values = {getattr(side, name) for side in sides}
    return values.pop() if len(values) == 1 else None


def mode_of(side: Side) -> str:
    """The PAUSE mode in force as text. If it is unknown: the configured mode and the counters."""
    if side.pause is not None:
        return side.pause.text
    words = ["PAUSE unknown"]
    if side.wanted is not None:
        words.append(f"set to {side.wanted.text}")
    counted = _frames(side)
    if counted:
        words.append(counted)
    return "; ".join(words)


def worst(verdicts: List[Verdict]) -> Verdict:
    """One verdict for all: the worst status, with the reasons of all verdicts that do not pass."""
    if not verdicts:
        return Verdict(ERROR, "Nothing is known about this cable.")
    status = min((verdict.status for verdict in verdicts), key=STATUSES.index)
    bad = [verdict for verdict in verdicts if verdict.status != PASS] or verdicts
    bad.sort(key=lambda verdict: STATUSES.index(verdict.status))
    reasons = [verdict.why for verdict in bad if verdict.why]
    fixes = dict.fromkeys(verdict.fix for verdict in bad if verdict.fix)
    return Verdict(status, " ".join(reasons), "; ".join(filter(None, fixes)) or None)


# -- a cable --------------------------------------------------------------------------------------


def not_one_cable(
    near: Tuple[str, Optional[int]], far: Tuple[str, Optional[int]]
) -> Optional[Verdict]:
    """Error if two ends (name, Mb/s) cannot be on the same cable, else None."""
    if not near[1] or not far[1] or near[1] == far[1]:
        return None
    return Verdict(
        ERROR,
        "{0} has {1} Mb/s and {2} has {3} Mb/s, so they are not the two ends of one cable: the "
        "port leads to another switch, or the switch learned the address long ago.".format(
            *(near + far)
        ),
        "add the switch at the end of the cable to flow_control_switches",
    )


def judge_cable(near: Side, far: Side) -> Verdict:
    """Whether each end obeys what the other sends."""
    for side in (near, far):
        if side.up is False:
            return Verdict(SKIP, f"{side.name} is down.")
    cable = not_one_cable((near.name, near.speed), (far.name, far.speed))
    if cable is not None:
        return cable
    duplex = _judge_duplex(near, far)
    if duplex is not None:
        return duplex
    pairs = ((near, far), (far, near))
    ignored = [pair for pair in pairs if _is_ignored(*pair)]
    if ignored:
        return Verdict(
            FAIL,
            " ".join(_ignored_text(*pair) for pair in ignored),
            "; or ".join(_ignored_fix(*pair) for pair in ignored),
        )
    if near.pause is None or far.pause is None:
        return _unknown_mode(near, far)
    return Verdict(PASS, _agreement(near, far))


def _judge_duplex(near: Side, far: Side) -> Optional[Verdict]:
    half = [side for side in (near, far) if side.duplex == HALF]
    if not half:
        return None
    if len(half) == 1 and FULL in (near.duplex, far.duplex):
        other = far if half[0] is near else near
        return Verdict(
            FAIL,
            f"{half[0].name} is half duplex and {other.name} is full duplex: one end is forced "
            "and the other negotiates. Frames are lost in late collisions, and PAUSE is not in "
            "use.",
            "set both ends to negotiate, or both to the same speed and duplex",
        )
    return Verdict(
        FAIL,
        "{0}: half duplex, so PAUSE is not in use, even if it is set.".format(
            " and ".join(side.name for side in half)
        ),
        "set both ends to negotiate full duplex",
    )


def _is_ignored(sender: Side, receiver: Side) -> bool:
    """Whether the sender is known to send what the receiver is known not to obey."""
    if receiver.pause is None or receiver.pause.rx:
        return False
    if sender.pause is not None:
        return sender.pause.tx
    return bool(sender.delta.out_pause)


def _ignored_text(sender: Side, receiver: Side) -> str:
    counted = ""
    if sender.delta.out_pause:
        counted = f" ({sender.delta.out_pause} frames {_window(sender.delta)})"
    return (
        f"{sender.name} sends PAUSE{counted} that {receiver.name} does not obey: when its buffers "
        "are full, it drops frames."
    )


def _ignored_fix(sender: Side, receiver: Side) -> str:
    return f"let {receiver.name} obey PAUSE (rx on), or let {sender.name} not send it (tx off)"


def _unknown_mode(near: Side, far: Side) -> Verdict:
    unknown = [side for side in (near, far) if side.pause is None]
    sentences = []
    for side in unknown:
        counted = _frames(side)
        sentences.append(
            "The PAUSE mode of {0} is unknown; {1}.".format(
                side.name, "counted: " + counted if counted else "it counts no PAUSE frames"
            )
        )
    known_ones = [side for side in (near, far) if side.pause is not None]
    sentences += [f"{side.name} has {mode_of(side)}." for side in known_ones]
    return Verdict(
        ERROR,
        " ".join(sentences),
        "check the port itself (show interface flowcontrol), because its agent does not show it",
    )


def _agreement(near: Side, far: Side) -> str:
    """Why the cable passes. Settings without effect are included."""
    if near.pause is None or far.pause is None:
        raise AssertionError
    if not any(near.pause + far.pause):
        return "Neither end sends or obeys PAUSE."
    sentences = []
    for sender, receiver in ((near, far), (far, near)):
        if sender.pause is None or receiver.pause is None:
            raise AssertionError
        if sender.pause.tx:
            sentences.append(f"{receiver.name} obeys what {sender.name} sends.")
        elif receiver.pause.rx:
            sentences.append(
                f"{receiver.name} would obey PAUSE, but {sender.name} does not send it."
            )
    return " ".join(sentences)


# -- what a switch discards -----------------------------------------------------------------------


def judge_discards(path: Path, limit: int, sampled: bool = False) -> List[Tuple[Side, Verdict]]:
    """Verdicts on the frames that the switch ports discarded within the sample. ``sampled``: the
    ports were read twice, so a missing counter is unknown."""
    verdicts = []
    ends = (
        (path.host_port, path.host, path.filer_port, path.filer),
        (path.filer_port, path.filer, path.host_port, path.host),
    )
    for port, end, other_port, other in ends:
        if port is None:
            continue
        sent, received = port.delta.out_discards or 0, port.delta.in_discards or 0
        if sent > limit:
            verdicts.append((port, _judge_out_discards(port, end, other_port, other)))
        if received > limit:
            verdicts.append((port, _judge_in_discards(port)))
        if sampled and port.delta.out_discards is None:
            verdicts.append((port, _judge_uncounted(port, end, other_port, other)))
    return verdicts


def _judge_uncounted(
    port: Side, end: Optional[Side], other_port: Optional[Side], other: Optional[Side]
) -> Verdict:
    """Verdict on a port whose discards are unknown. It does not pass if a faster end sends to the
    port, or if the agent should have returned the counter."""
    if port.delta.fault:
        return Verdict(
            ERROR,
            f"What {port.name} discards could not be determined: {port.delta.fault}.",
            "query the switch again; check the port itself (show interface counters errors)",
        )
    slow, fast, source = _speed(end, port), _speed(other, other_port), other or other_port
    if slow is None or fast is None or source is None or fast <= slow:
        return Verdict(PASS, f"What {port.name} discards was not counted.")
    return Verdict(
        ERROR,
        f"What {port.name} discards was not counted (its agent has no Out-Discards, or they "
        f"began again), so whether traffic of the {fast} Mb/s end ({source.name}) overruns the "
        f"port buffers at the {slow} Mb/s end is unknown.",
        "check the port itself (show interface counters errors)",
    )


def _judge_out_discards(
    port: Side, end: Optional[Side], other_port: Optional[Side], other: Optional[Side]
) -> Verdict:
    """Verdict on frames toward ``end`` that its switch port discarded."""
    discarded = "{0} discarded {1} frames toward {2} {3} (Out-Discards)".format(
        port.name,
        port.delta.out_discards,
        "the other end" if end is None else end.name,
        _window(port.delta),
    )
    slow = _speed(end, port)
    fast = _speed(other, other_port)
    source = other or other_port
    slowed = _is_slowed(other_port, other)
    if slow is None or fast is None or source is None or fast <= slow:
        return Verdict(
            WARN,
            "{0}: it receives more than it can forward{1}.".format(
                discarded, "" if slowed else ", and PAUSE does not slow down the senders"
            ),
            "find the hosts that send bursts to this port; each lost frame is retransmitted",
        )
    pause = {
        True: "although it obeys PAUSE from the switch",
        False: "and no PAUSE slows it down",
        None: "and whether PAUSE slows it down is unknown",
    }[slowed]
    return Verdict(
        FAIL,
        f"{discarded}: traffic pushed from the {fast} Mb/s end of the connection ({source.name}) "
        f"is overrunning the port buffers at the {slow} Mb/s end, {pause}.",
        "connect both ends with the same speed; until then use NFS over TCP instead of UDP, and "
        "PAUSE that the switch sends and the faster end obeys",
    )


def _judge_in_discards(port: Side) -> Verdict:
    return Verdict(
        WARN,
        "{0} discarded {1} frames that came in {2} (In-Discards): the switch has no buffer for "
        "them{3}.".format(
            port.name,
            port.delta.in_discards,
            _window(port.delta),
            ", and sends no PAUSE" if port.pause is not None and not port.pause.tx else "",
        ),
        "find the port to which the switch forwards these frames: its buffer is full",
    )


def _is_slowed(port: Optional[Side], end: Optional[Side]) -> Optional[bool]:
    """Whether PAUSE slows down this end: the switch must send it and the end must obey it."""
    modes = (
        None if port is None or port.pause is None else port.pause.tx,
        None if end is None or end.pause is None else end.pause.rx,
    )
    if False in modes:
        return False
    return None if None in modes else True


def _speed(end: Optional[Side], port: Optional[Side]) -> Optional[int]:
    """The speed of a cable, from either end."""
    for side in (end, port):
        if side is not None and side.speed:
            return side.speed
    return None


# -- words ----------------------------------------------------------------------------------------


def _text(side: Optional[Side], otherwise: str) -> str:
    return otherwise if side is None else side.text


def _frames(side: Side) -> str:
    """PAUSE frames of an end: within the sample, and since its counters started."""
    words = []
    delta = side.delta
    if delta.in_pause is not None or delta.out_pause is not None:
        words.append(
            f"{_count(delta.in_pause)} frames received and {_count(delta.out_pause)} sent "
            f"{_window(delta)}"
        )
    if any(count is not None for count in side.seen):
        words.append(
            "{0} received and {1} sent since it counts".format(
                *(_count(count) for count in side.seen)
            )
        )
    return ", ".join(words)


def _count(number: Optional[int]) -> str:
    return "?" if number is None else str(number)


def _window(delta: Delta) -> str:
    return "of late" if delta.seconds is None else f"within {delta.seconds:.1f} s"


def _sum(numbers: Iterable[Optional[int]]) -> Optional[int]:
    """The sum of the known numbers; None if no number is known."""
    there = [number for number in numbers if number is not None]
    return sum(there) if there else None
