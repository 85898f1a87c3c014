# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The path from a host to its filer, cable by cable: what one end sends the other must obey.

PAUSE goes from one end of a cable to the other and no further, so a path host, switch, filer has
two cables, each with a verdict of its own. Frames that a switch discards are judged with the whole
path in view: a filer that is faster than the host overruns the port in front of the host, and
only PAUSE from the switch that the filer obeys would slow it down. Sources: IEEE 802.3, annex 31B;
Performance Tuning: A Case Study (Sys Admin, June 2002), The Network Examined.

Nothing here looks at a host: sides in, words out.
"""

from typing import Iterable, List, NamedTuple, Optional, Tuple

from ...finding import ERROR, FAIL, PASS, SKIP, STATUSES, WARN
from ...probes.ethernet_port import FULL, HALF, Delta, Pause, Port


class Side(NamedTuple):
    """One end of a cable.

    ``pause`` is what is in force and ``wanted`` what somebody set, None where nobody knows;
    ``speed`` is in Mb/s. ``delta`` counts what this end received (in) and sent (out) of late.
    ``seen`` are PAUSE frames since its counters began: received, sent.
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
    def text(self):
        # type: () -> str
        """The end in a chain: "sw1 Gi1/0/1 [rx on tx off, 1000 Mb/s full]"."""
        words = [mode_of(self)]
        if self.up is False:
            words.append("down")
        elif self.speed is None and self.duplex is None:
            words.append("speed unknown")
        else:
            speed = "speed unknown" if self.speed is None else "{0} Mb/s".format(self.speed)
            words.append(speed + ("" if self.duplex is None else " " + self.duplex))
        return "{0} [{1}]".format(self.name, ", ".join(words))


class Path(NamedTuple):
    """From an interface of the host to a filer. A side that nobody knows is None, and its ``why``
    says the reason. ``switched``: the policy names switches; else nobody was asked about one.
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
    def chain(self):
        # type: () -> str
        """The whole path in one line: <-> is a cable, ... what lies inside the switches."""
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


class Verdict(NamedTuple):
    """``status`` of a finding, the sentence for it, and what to do ("" where nothing is)."""

    status: str
    why: str
    fix: str


def side_of(name, port):
    # type: (str, Port) -> Side
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


def bundled(sides):
    # type: (List[Side]) -> Side
    """The ports of an aggregate as one end, where nobody can tell which cable is meant.

    What they do not have in common is unknown, and what they count is added up.
    """
    if len(sides) == 1:
        return sides[0]
    first = sides[0]
    deltas = [side.delta for side in sides]
    return Side(
        name=" + ".join(side.name for side in sides),
        pause=first.pause if len({side.pause for side in sides}) == 1 else None,
        wanted=first.wanted if len({side.wanted for side in sides}) == 1 else None,
        speed=first.speed if len({side.speed for side in sides}) == 1 else None,
        duplex=first.duplex if len({side.duplex for side in sides}) == 1 else None,
        mtu=first.mtu if len({side.mtu for side in sides}) == 1 else None,
        up=first.up if len({side.up for side in sides}) == 1 else None,
        delta=Delta(
            first.delta.seconds,
            _sum(one.in_pause for one in deltas),
            _sum(one.out_pause for one in deltas),
            _sum(one.in_discards for one in deltas),
            _sum(one.out_discards for one in deltas),
        ),
        seen=(_sum(side.seen[0] for side in sides), _sum(side.seen[1] for side in sides)),
    )


def mode_of(side):
    # type: (Side) -> str
    """What is in force, in words; where nobody knows, what was set and what was counted."""
    if side.pause is not None:
        return side.pause.text
    words = ["PAUSE unknown"]
    if side.wanted is not None:
        words.append("set to {0}".format(side.wanted.text))
    counted = _frames(side)
    if counted:
        words.append(counted)
    return "; ".join(words)


def worst(verdicts):
    # type: (List[Verdict]) -> Verdict
    """One verdict for all: the worst status, with what every verdict that is no pass says."""
    if not verdicts:
        return Verdict(ERROR, "Nothing is known about this cable.", "")
    status = min((one.status for one in verdicts), key=STATUSES.index)
    bad = [one for one in verdicts if one.status != PASS] or verdicts
    bad.sort(key=lambda one: STATUSES.index(one.status))
    fixes = list(dict.fromkeys(one.fix for one in bad if one.fix))
    return Verdict(status, " ".join(one.why for one in bad), "; ".join(fixes))


# -- a cable --------------------------------------------------------------------------------------


def not_one_cable(near, far):
    # type: (Tuple[str, Optional[int]], Tuple[str, Optional[int]]) -> Optional[Verdict]
    """Two ends, each a name with Mb/s, that cannot be those of one cable; None where they can."""
    if not near[1] or not far[1] or near[1] == far[1]:
        return None
    return Verdict(
        ERROR,
        "{0} has {1} Mb/s and {2} has {3} Mb/s, so they are not the two ends of one cable: "
        "the port leads to another switch, or the switch learned the address long ago.".format(
            *(near + far)
        ),
        "name the switch that the cable really ends in, in flow_control_switches",
    )


def judge_cable(near, far):
    # type: (Side, Side) -> Verdict
    """Whether each end obeys what the other sends."""
    for side in (near, far):
        if side.up is False:
            return Verdict(SKIP, "{0} is down.".format(side.name), "")
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
    return Verdict(PASS, _agreement(near, far), "")


def _judge_duplex(near, far):
    # type: (Side, Side) -> Optional[Verdict]
    half = [side for side in (near, far) if side.duplex == HALF]
    if not half:
        return None
    if len(half) == 1 and FULL in (near.duplex, far.duplex):
        other = far if half[0] is near else near
        return Verdict(
            FAIL,
            "{0} is half duplex and {1} is full duplex: one end is forced and the other "
            "negotiates. Frames are lost in late collisions, and PAUSE is not in "
            "use.".format(half[0].name, other.name),
            "set both ends to negotiate, or both to the same speed and duplex",
        )
    return Verdict(
        FAIL,
        "{0}: half duplex, so PAUSE is not in use, whatever is set.".format(
            " and ".join(side.name for side in half)
        ),
        "set both ends to negotiate full duplex",
    )


def _is_ignored(sender, receiver):
    # type: (Side, Side) -> bool
    """Whether the sender is known to send what the receiver is known not to obey."""
    if receiver.pause is None or receiver.pause.rx:
        return False
    if sender.pause is not None:
        return sender.pause.tx
    return bool(sender.delta.out_pause)


def _ignored_text(sender, receiver):
    # type: (Side, Side) -> str
    counted = ""
    if sender.delta.out_pause:
        counted = " ({0} frames {1})".format(sender.delta.out_pause, _window(sender.delta))
    return (
        "{0} sends PAUSE{1} that {2} does not obey: when its buffers are full, it drops "
        "frames.".format(sender.name, counted, receiver.name)
    )


def _ignored_fix(sender, receiver):
    # type: (Side, Side) -> str
    return "let {1} obey PAUSE (rx on), or let {0} not send it (tx off)".format(
        sender.name, receiver.name
    )


def _unknown_mode(near, far):
    # type: (Side, Side) -> Verdict
    unknown = [side for side in (near, far) if side.pause is None]
    said = []
    for side in unknown:
        counted = _frames(side)
        said.append(
            "The PAUSE mode of {0} is unknown; {1}.".format(
                side.name, "counted: " + counted if counted else "it counts no PAUSE frames"
            )
        )
    known_ones = [side for side in (near, far) if side.pause is not None]
    said += ["{0} has {1}.".format(side.name, mode_of(side)) for side in known_ones]
    return Verdict(
        ERROR,
        " ".join(said),
        "look at the port itself (show interface flowcontrol), its agent does not tell",
    )


def _agreement(near, far):
    # type: (Side, Side) -> str
    """Why a cable is in order, with what has no effect."""
    assert near.pause is not None and far.pause is not None
    if not any(near.pause + far.pause):
        return "No end sends PAUSE and none obeys it."
    said = []
    for sender, receiver in ((near, far), (far, near)):
        assert sender.pause is not None and receiver.pause is not None
        if sender.pause.tx:
            said.append("{1} obeys what {0} sends.".format(sender.name, receiver.name))
        elif receiver.pause.rx:
            said.append(
                "{1} would obey PAUSE, and {0} sends none.".format(sender.name, receiver.name)
            )
    return " ".join(said)


# -- what a switch discards -----------------------------------------------------------------------


def judge_discards(path, limit, sampled=False):
    # type: (Path, int, bool) -> List[Tuple[Side, Verdict]]
    """What the ports of the switch discarded of late, each with its verdict. ``sampled``: they were
    asked twice, so what is not counted then is unknown."""
    found = []
    ends = (
        (path.host_port, path.host, path.filer_port, path.filer),
        (path.filer_port, path.filer, path.host_port, path.host),
    )
    for port, end, other_port, other in ends:
        if port is None:
            continue
        sent, received = port.delta.out_discards or 0, port.delta.in_discards or 0
        if sent > limit:
            found.append((port, _judge_out_discards(port, end, other_port, other)))
        if received > limit:
            found.append((port, _judge_in_discards(port)))
        if sampled and port.delta.out_discards is None:
            found.append((port, _judge_uncounted(port, end, other_port, other)))
    return found


def _judge_uncounted(port, end, other_port, other):
    # type: (Side, Optional[Side], Optional[Side], Optional[Side]) -> Verdict
    """Nobody knows what a port discards: no pass where a faster end sends to it."""
    slow, fast, source = _speed(end, port), _speed(other, other_port), other or other_port
    if slow is None or fast is None or source is None or fast <= slow:
        return Verdict(PASS, "What {0} discards was not counted.".format(port.name), "")
    return Verdict(
        ERROR,
        "What {0} discards was not counted (its agent has no Out-Discards, or they began anew), so "
        "whether traffic of the {1} Mb/s end ({2}) overruns the port buffers at the {3} Mb/s end "
        "is unknown.".format(port.name, fast, source.name, slow),
        "look at the port itself (show interface counters errors)",
    )


def _judge_out_discards(port, end, other_port, other):
    # type: (Side, Optional[Side], Optional[Side], Optional[Side]) -> Verdict
    """Frames toward ``end`` that the port in front of it had no buffer for."""
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
            "{0}: more comes for it than it can pass on{1}.".format(
                discarded, "" if slowed else ", and no PAUSE slows down who sends"
            ),
            "look who sends to this port in bursts; a retransmission is needed for every frame",
        )
    pause = {
        True: "although it obeys PAUSE from the switch",
        False: "and no PAUSE slows it down",
        None: "and whether PAUSE slows it down is unknown",
    }[slowed]
    return Verdict(
        FAIL,
        "{0}: traffic pushed from the {1} Mb/s end of the connection ({2}) is overrunning the port "
        "buffers at the {3} Mb/s end, {4}.".format(discarded, fast, source.name, slow, pause),
        "network both ends with the same speed; until then NFS over TCP instead of UDP, and PAUSE "
        "that the switch sends and the faster end obeys",
    )


def _judge_in_discards(port):
    # type: (Side) -> Verdict
    return Verdict(
        WARN,
        "{0} discarded {1} frames that came in {2} (In-Discards): the switch has no buffer for "
        "them{3}.".format(
            port.name,
            port.delta.in_discards,
            _window(port.delta),
            ", and sends no PAUSE" if port.pause is not None and not port.pause.tx else "",
        ),
        "look where the switch sends what comes in here: that port is full",
    )


def _is_slowed(port, end):
    # type: (Optional[Side], Optional[Side]) -> Optional[bool]
    """Whether the switch's PAUSE slows down this end: it must be sent, and obeyed."""
    modes = (
        None if port is None or port.pause is None else port.pause.tx,
        None if end is None or end.pause is None else end.pause.rx,
    )
    if False in modes:
        return False
    return None if None in modes else True


def _speed(end, port):
    # type: (Optional[Side], Optional[Side]) -> Optional[int]
    """Of a cable: what the one end says or, else, the other."""
    for side in (end, port):
        if side is not None and side.speed:
            return side.speed
    return None


# -- words ----------------------------------------------------------------------------------------


def _text(side, otherwise):
    # type: (Optional[Side], str) -> str
    return otherwise if side is None else side.text


def _frames(side):
    # type: (Side) -> str
    """What an end counted of PAUSE: of late, and since its counters began."""
    words = []
    delta = side.delta
    if delta.in_pause is not None or delta.out_pause is not None:
        words.append(
            "{0} frames received and {1} sent {2}".format(
                _count(delta.in_pause), _count(delta.out_pause), _window(delta)
            )
        )
    if any(one is not None for one in side.seen):
        words.append(
            "{0} received and {1} sent since it counts".format(*(_count(one) for one in side.seen))
        )
    return ", ".join(words)


def _count(number):
    # type: (Optional[int]) -> str
    return "?" if number is None else str(number)


def _window(delta):
    # type: (Delta) -> str
    return "of late" if delta.seconds is None else "within {0:.1f} s".format(delta.seconds)


def _sum(numbers):
    # type: (Iterable[Optional[int]]) -> Optional[int]
    """Of what is known; None where nothing is."""
    there = [number for number in numbers if number is not None]
    return sum(there) if there else None
