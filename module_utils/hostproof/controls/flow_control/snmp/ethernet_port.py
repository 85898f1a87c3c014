# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An Ethernet port of another machine as its SNMP agent shows it: PAUSE, speed, duplex, losses.

Sources: IF-MIB (RFC 2863), EtherLike-MIB (RFC 3635). A mode that the agent does not have, or a
number that these do not define, is unknown and never a mode. Counters run since the agent
started, so only the difference of two readings says something about now.
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

#: ifType of what bundles ports (IANAifType-MIB).
AGGREGATE = 161


class Pause(NamedTuple):
    """As ethtool means it: ``rx`` obeys PAUSE frames that come, ``tx`` sends them."""

    rx: bool
    tx: bool

    @property
    def text(self) -> str:
        return "rx {0} tx {1}".format(*("on" if one else "off" for one in self))


#: dot3PauseAdminMode and dot3PauseOperMode: the other way round than ethtool counts.
PAUSE_MODES = {
    1: Pause(rx=False, tx=False),
    2: Pause(rx=False, tx=True),
    3: Pause(rx=True, tx=False),
    4: Pause(rx=True, tx=True),
}
_DUPLEX = {2: HALF, 3: FULL}


class Counters(NamedTuple):
    """Frames since the agent started, seen from the port; None where the agent does not count.

    ``uptime`` is the agent's clock in hundredths of a second; ``discontinuity`` is that clock when
    the counters of the port began again."""

    in_pause: Optional[int]
    out_pause: Optional[int]
    in_discards: Optional[int]
    out_discards: Optional[int]
    uptime: Optional[int]
    discontinuity: Optional[int]


class Delta(NamedTuple):
    """What happened between two readings; None is unknown. ``seconds`` by the agent's clock.

    ``fault`` says why two readings tell nothing where they should, "" else.
    """

    seconds: Optional[float]
    in_pause: Optional[int]
    out_pause: Optional[int]
    in_discards: Optional[int]
    out_discards: Optional[int]
    fault: str = ""


#: Why there is no rate.
FROZEN = "the agent's clock (sysUpTime) did not move between the two readings"
UNREAD = "the second reading of its counters got no answer"

#: Where nobody looked twice.
UNSEEN = Delta(None, None, None, None, None)


class Port(NamedTuple):
    """A port and its two readings. ``speed`` is in Mb/s, ``mtu`` in bytes; None is unknown.

    ``number`` is its ifIndex, 0 where it has none. ``aggregate``: it bundles others. ``etherlike``:
    the agent has it in EtherLike-MIB, so frames pass it and it is nothing that is above a port.
    ``admin`` is what somebody set, ``oper`` what is in force. ``after`` is None until the second
    reading, and with ``unread`` where that got no answer.
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

#: No Ethernet is that fast.
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
    """The port with this ifIndex; snmp.NoAnswer if nobody answers."""
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
    """Mb/s. ifSpeed is at its largest where it cannot tell, and both are 0 where none is known.

    There are agents that give bits in the column of megabits (D-Link DES-3028).
    """
    if megabits:
        return megabits if megabits < _MOST_MEGABITS else megabits // 1000000
    if bits and bits < _COUNTER32 - 1:
        return bits // 1000000 or None
    return None


def _counters(number: int, values: Values) -> Counters:
    found = {column: number_in(values.get(f"{column}.{number}")) for column in _COUNTED + _CLOCKS}
    return Counters(
        in_pause=_wider(found[IN_PAUSE], found[IN_PAUSE_64]),
        out_pause=_wider(found[OUT_PAUSE], found[OUT_PAUSE_64]),
        in_discards=found[IN_DISCARDS],
        out_discards=found[OUT_DISCARDS],
        uptime=number_in(values.get(UPTIME)),
        discontinuity=found[DISCONTINUITY],
    )


def _wider(narrow: Optional[int], wide: Optional[int]) -> Optional[int]:
    """The 64-bit counter, but not one that an agent has and does not count."""
    return narrow if wide is None or (wide == 0 and narrow) else wide


def number_in(value: Optional[Value]) -> Optional[int]:
    """The number that an agent gave, None for anything else; no object here is below 0."""
    if value is None or not isinstance(value.data, int) or value.data < 0:
        return None
    return value.data


def text_in(value: Optional[Value]) -> str:
    """What an agent gave, on one line and not longer than a line."""
    return "" if value is None else printable(value.text)[:_LONGEST]


# -- two readings ---------------------------------------------------------------------------------

#: Hundredths of a second: two readings that lie further apart have a restart between them.
_LONGEST_SAMPLE = 24 * 3600 * 100


def difference(before: Counters, after: Counters) -> Delta:
    """What was counted between two readings, unknown where the counters began again meanwhile."""
    seconds = None
    if before.uptime is not None and after.uptime is not None:
        # The clock starts again at 0 after 497 days, or with the agent: then it is far off.
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
    """A counter that went down has passed 2^32, or else somebody cleared it."""
    if before is None or after is None:
        return None
    if after >= before:
        return after - before
    passed = (after - before) % _COUNTER32
    return passed if before < _COUNTER32 and passed < _COUNTER32 // 2 else None
