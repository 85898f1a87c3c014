# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ethernet port of another machine as its SNMP agent shows it: PAUSE, speed, duplex, losses.

Sources: IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635). A mode that the agent does not return, or a
number that the MIB does not define, is unknown. Counters run since the agent started, so only the
difference of two readings describes the sample.
"""

from typing import List, NamedTuple, Optional, Tuple

from ....collect.host import Host
from ....snmp import tools as snmp
from ....snmp.snmp_output import Value
from ....snmp.tools import Target, Values, printable

FULL, HALF = "full", "half"

_INTERFACE, _EXTENDED = "1.3.6.1.2.1.2.2.1.", "1.3.6.1.2.1.31.1.1.1."
_ETHERLIKE, _PAUSE = "1.3.6.1.2.1.10.7.2.1.", "1.3.6.1.2.1.10.7.10.1."
UPTIME = "1.3.6.1.2.1.1.3.0"

#: Columns by ifIndex.
DESCRIPTION, TYPE, MTU = _INTERFACE + "2", _INTERFACE + "3", _INTERFACE + "4"
SPEED, ADDRESS, STATUS = _INTERFACE + "5", _INTERFACE + "6", _INTERFACE + "8"
IN_DISCARDS, OUT_DISCARDS = _INTERFACE + "13", _INTERFACE + "19"
NAME, HIGH_SPEED = _EXTENDED + "1", _EXTENDED + "15"
ALIAS, DISCONTINUITY = _EXTENDED + "18", _EXTENDED + "19"
DUPLEX = _ETHERLIKE + "19"
PAUSE_ADMIN, PAUSE_OPER = _PAUSE + "1", _PAUSE + "2"
IN_PAUSE, OUT_PAUSE, IN_PAUSE_64, OUT_PAUSE_64 = (_PAUSE + column for column in "3456")

_COUNTER32 = 2**32
_LONGEST = 80

#: ifType of interfaces that bundle ports (IANAifType-MIB).
AGGREGATE = 161


class Pause(NamedTuple):
    """As in ethtool: ``rx`` obeys received PAUSE frames, ``tx`` sends them."""

    rx: bool
    tx: bool

    @property
    def text(self) -> str:
        return "rx {0} tx {1}".format(*("on" if flag else "off" for flag in self))


#: dot3PauseAdminMode and dot3PauseOperMode. Their numbering is not that of ethtool.
PAUSE_MODES = {
    1: Pause(rx=False, tx=False),
    2: Pause(rx=False, tx=True),
    3: Pause(rx=True, tx=False),
    4: Pause(rx=True, tx=True),
}
_DUPLEX = {2: HALF, 3: FULL}


class Counters(NamedTuple):
    """Frames since the agent started, from the view of the port. None: the agent has no counter.

    ``uptime`` is the agent's clock in hundredths of a second; ``discontinuity`` is that clock at
    the last reset of the port's counters."""

    in_pause: Optional[int]
    out_pause: Optional[int]
    in_discards: Optional[int]
    out_discards: Optional[int]
    uptime: Optional[int]
    discontinuity: Optional[int]


class Delta(NamedTuple):
    """Differences between two readings; None is unknown. ``seconds`` is from the agent's clock.

    ``fault`` is the reason if the readings cannot be compared, else "".
    """

    seconds: Optional[float]
    in_pause: Optional[int]
    out_pause: Optional[int]
    in_discards: Optional[int]
    out_discards: Optional[int]
    fault: str = ""


#: Reasons for a missing rate.
FROZEN = "the agent's clock (sysUpTime) did not move between the two readings"
UNREAD = "the second reading of its counters got no answer"

#: The port was read only once.
UNSEEN = Delta(None, None, None, None, None)


class Port(NamedTuple):
    """A port and its two readings. ``speed`` is in Mb/s, ``mtu`` in bytes; None is unknown.

    ``number`` is its ifIndex, 0 without one. ``aggregate``: it bundles other ports. ``etherlike``:
    the agent lists it in EtherLike-MIB, so it is a physical port and not a layer above one.
    ``admin`` is the configured mode, ``oper`` the mode in force. ``after`` is None until the second
    reading. ``unread``: the second reading got no answer.
    """

    number: int
    name: str
    description: str
    alias: str
    aggregate: bool
    etherlike: bool
    up: Optional[bool]
    speed: Optional[int]
    duplex: Optional[str]
    mtu: Optional[int]
    admin: Optional[Pause]
    oper: Optional[Pause]
    before: Counters
    after: Optional[Counters]
    evidence: Tuple[str, ...]
    unread: bool = False

    @property
    def delta(self) -> Delta:
        if self.unread:
            return UNSEEN._replace(fault=UNREAD)
        return UNSEEN if self.after is None else difference(self.before, self.after)


# -- reading --------------------------------------------------------------------------------------

#: Limit above which a speed is invalid.
_MOST_MEGABITS = 10000000
_COUNTED = (IN_PAUSE, OUT_PAUSE, IN_PAUSE_64, OUT_PAUSE_64, IN_DISCARDS, OUT_DISCARDS)
_CLOCKS = (DISCONTINUITY,)
_OF_ETHERLIKE = (DUPLEX, PAUSE_ADMIN, PAUSE_OPER, IN_PAUSE, OUT_PAUSE)
_STATE = (
    DESCRIPTION,
    NAME,
    ALIAS,
    TYPE,
    STATUS,
    SPEED,
    HIGH_SPEED,
    DUPLEX,
    MTU,
    PAUSE_ADMIN,
    PAUSE_OPER,
)


def read_port(host: Host, target: Target, number: int) -> Port:
    """The port with this ifIndex. Raises snmp.NoAnswer."""
    question = f"port {number}"
    columns = _STATE + _COUNTED + _CLOCKS
    values = snmp.get(host, target, question, [UPTIME] + _row(columns, number))

    def number_of(column: str) -> Optional[int]:
        return number_in(values.get(f"{column}.{number}"))

    def text_of(column: str) -> str:
        return text_in(values.get(f"{column}.{number}"))

    status = number_of(STATUS)
    return Port(
        number=number,
        name=text_of(NAME) or text_of(DESCRIPTION) or f"interface {number}",
        description=text_of(DESCRIPTION),
        alias=text_of(ALIAS),
        aggregate=number_of(TYPE) == AGGREGATE,
        etherlike=any(values.get(oid) is not None for oid in _row(_OF_ETHERLIKE, number)),
        up=None if status is None else status == 1,
        speed=_speed(number_of(SPEED), number_of(HIGH_SPEED)),
        duplex=_DUPLEX.get(number_of(DUPLEX) or 0),
        mtu=number_of(MTU) or None,
        admin=PAUSE_MODES.get(number_of(PAUSE_ADMIN) or 0),
        oper=PAUSE_MODES.get(number_of(PAUSE_OPER) or 0),
        before=_counters(number, values),
        after=None,
        evidence=(snmp.key_of(target, question),),
    )


def read_again(host: Host, target: Target, port: Port) -> Port:
    """The same port with a second reading of its counters."""
    question = f"port {port.number} again"
    columns = _COUNTED + _CLOCKS
    values = snmp.get(host, target, question, [UPTIME] + _row(columns, port.number))
    evidence = port.evidence + (snmp.key_of(target, question),)
    return port._replace(after=_counters(port.number, values), evidence=evidence)


def _row(columns: Tuple[str, ...], number: int) -> List[str]:
    return [f"{column}.{number}" for column in columns]


def _speed(bits: Optional[int], megabits: Optional[int]) -> Optional[int]:
    """Mb/s. ifSpeed has its maximum if the speed does not fit. Both are 0 if it is unknown.

    Some agents return bits in the column for megabits (D-Link DES-3028).
    """
    if megabits:
        return megabits if megabits < _MOST_MEGABITS else megabits // 1000000
    if bits and bits < _COUNTER32 - 1:
        return bits // 1000000 or None
    return None


def _counters(number: int, values: Values) -> Counters:
    numbers = {column: number_in(values.get(f"{column}.{number}")) for column in _COUNTED + _CLOCKS}
    return Counters(
        in_pause=_wider(numbers[IN_PAUSE], numbers[IN_PAUSE_64]),
        out_pause=_wider(numbers[OUT_PAUSE], numbers[OUT_PAUSE_64]),
        in_discards=numbers[IN_DISCARDS],
        out_discards=numbers[OUT_DISCARDS],
        uptime=number_in(values.get(UPTIME)),
        discontinuity=numbers[DISCONTINUITY],
    )


def _wider(narrow: Optional[int], wide: Optional[int]) -> Optional[int]:
    """The 64-bit counter, unless the agent never increases it."""
    return narrow if wide is None or (wide == 0 and narrow) else wide


def number_in(value: Optional[Value]) -> Optional[int]:
    """The number of an answer, None for anything else. All objects here are at least 0."""
    if value is None or not isinstance(value.data, int) or value.data < 0:
        return None
    return value.data


def text_in(value: Optional[Value]) -> str:
    """The text of an answer as one line of limited length."""
    return "" if value is None else printable(value.text)[:_LONGEST]


# -- two readings ---------------------------------------------------------------------------------

#: Hundredths of a second. A longer time between two readings means that the agent restarted.
_LONGEST_SAMPLE = 24 * 3600 * 100


def difference(before: Counters, after: Counters) -> Delta:
    """Difference of two readings. Unknown if the counters were reset in between."""
    seconds = None
    if before.uptime is not None and after.uptime is not None:
        # The clock restarts at 0 after 497 days or with the agent; the difference is then large.
        elapsed = (after.uptime - before.uptime) % _COUNTER32
        if not elapsed:
            return UNSEEN._replace(fault=FROZEN)
        if elapsed > _LONGEST_SAMPLE:
            return UNSEEN
        seconds = elapsed / 100.0
    if before.discontinuity != after.discontinuity:
        return UNSEEN._replace(seconds=seconds)
    return Delta(
        seconds,
        _counted(before.in_pause, after.in_pause),
        _counted(before.out_pause, after.out_pause),
        _counted(before.in_discards, after.in_discards),
        _counted(before.out_discards, after.out_discards),
    )


def _counted(before: Optional[int], after: Optional[int]) -> Optional[int]:
    """Difference of a counter. A smaller second value means a wrap at 2^32, or a reset."""
    if before is None or after is None:
        return None
    if after >= before:
        return after - before
    passed = (after - before) % _COUNTER32
    return passed if before < _COUNTER32 and passed < _COUNTER32 // 2 else None
