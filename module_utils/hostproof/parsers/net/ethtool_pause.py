# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""``ethtool -a``: an interface's PAUSE settings, as text or JSON; and ``ethtool -A`` in scripts.

rx obeys PAUSE frames that come, tx sends them. Sources: ethtool(8), --show-pause and --pause;
ethtool, netlink/pause.c (the text, the JSON and "negotiated"), ethtool.c, dump_pause().
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...errors import ParseError, kind_of
from ..number import integer, json_tree

_WHAT = "ethtool -a"
_NAME = re.compile(r"[A-Za-z_ ]+$")
_FLAGS = {"on": True, "off": False}
#: Error of the kernel if the driver does not support PAUSE (EOPNOTSUPP), after a text of ethtool.
_UNSUPPORTED = re.compile(r"Operation not supported", re.IGNORECASE)


class Direction(NamedTuple):
    """One truth value for each direction."""

    rx: bool
    tx: bool


class PauseSettings(NamedTuple):
    """What ethtool shows.

    ``negotiated`` is what ethtool works out of what both ends offer, None where it does not tell.
    ``rx_frames`` and ``tx_frames`` are PAUSE frames since the driver counts, None where it does
    not, or where ethtool was not asked (-I).
    """

    autoneg: bool
    rx: bool
    tx: bool
    negotiated: Optional[Direction]
    rx_frames: Optional[int]
    tx_frames: Optional[int]


def is_unsupported(text: str) -> bool:
    """Whether the output of ethtool, errors included, reports that the driver does not support
    it."""
    return _UNSUPPORTED.search(text) is not None


def parse(text: str) -> PauseSettings:
    """The settings of the one interface that was queried, from text or JSON (--json)."""
    if text.lstrip()[:1] == "[":
        return _parse_json(text)
    flags: Dict[str, bool] = {}
    frames: Dict[str, int] = {}
    head = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("Pause parameters for "):
            if head:
                raise ParseError(_WHAT, "more than one interface", number)
            head = True
        elif line.strip():
            _take(line, number, flags, frames)
    missing = [name for name in ("autonegotiate", "rx", "tx") if name not in flags]
    if missing or not head:
        raise ParseError(_WHAT, "there is no {0}".format(", ".join(missing) or "head line"))
    negotiated = None
    if "rx negotiated" in flags and "tx negotiated" in flags:
        negotiated = Direction(flags["rx negotiated"], flags["tx negotiated"])
    return PauseSettings(
        flags["autonegotiate"],
        flags["rx"],
        flags["tx"],
        negotiated,
        frames.get("rx_pause_frames"),
        frames.get("tx_pause_frames"),
    )


def _take(line: str, number: int, flags: Dict[str, bool], frames: Dict[str, int]) -> None:
    """Add the setting or the count of the line."""
    label, _, value = [part.strip() for part in line.partition(":")]
    if ":" not in line or not _NAME.match(label) or len(value.split()) > 1:
        raise ParseError(_WHAT, f"no setting: {kind_of(line)}", number)
    if value in _FLAGS:
        flags[label.lower()] = _FLAGS[value]
    elif value.isdecimal():
        frames[label.lower()] = integer(value)
    elif value:
        raise ParseError(_WHAT, f"{label[:40]} is {kind_of(value)}", number)


def _parse_json(text: str) -> PauseSettings:
    records = json_tree(_WHAT, text)
    if not isinstance(records, list) or len(records) != 1 or not isinstance(records[0], dict):
        raise ParseError(_WHAT, "not one interface")
    record = records[0]
    flags = [record.get(name) for name in ("autonegotiate", "rx", "tx")]
    if not all(isinstance(flag, bool) for flag in flags):
        raise ParseError(_WHAT, "there is no autonegotiate, rx or tx that is true or false")
    negotiated = record.get("negotiated")
    statistics = record.get("statistics")
    return PauseSettings(
        bool(flags[0]),
        bool(flags[1]),
        bool(flags[2]),
        None if negotiated is None else _json_negotiated(negotiated),
        _json_frames(statistics, "rx_pause_frames"),
        _json_frames(statistics, "tx_pause_frames"),
    )


def _json_negotiated(value: object) -> Direction:
    sides = [value.get(name) for name in ("rx", "tx")] if isinstance(value, dict) else []
    if len(sides) != 2 or not all(isinstance(side, bool) for side in sides):
        raise ParseError(_WHAT, "negotiated is not rx and tx, true or false")
    return Direction(bool(sides[0]), bool(sides[1]))


def _json_frames(statistics: object, name: str) -> Optional[int]:
    if statistics is None:
        return None
    value = statistics.get(name) if isinstance(statistics, dict) else statistics
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParseError(_WHAT, f"{name} is not a number of frames")
    return value


# -- ethtool -A -----------------------------------------------------------------------------------


class PauseCommand(NamedTuple):
    """``ethtool -A DEVICE …``; None is what it leaves as it is."""

    device: str
    autoneg: Optional[bool]
    rx: Optional[bool]
    tx: Optional[bool]


def commands_in(text: str) -> List[PauseCommand]:
    """Every ``ethtool -A DEVICE …`` in a line of a script, and its options alone (-A DEVICE …)."""
    return [
        command
        for part in re.split(r"[;&|\n]+", text)
        for command in [_command_of(part.replace('"', " ").replace("'", " ").split())]
        if command is not None
    ]


def _command_of(words: Sequence[str]) -> Optional[PauseCommand]:
    for at, word in enumerate(words):
        if word in ("-A", "--pause") and at + 1 < len(words):
            values: Dict[str, Optional[bool]] = {"autoneg": None, "rx": None, "tx": None}
            rest = words[at + 2 :]
            for name, value in _pairs(rest):
                if name in values and value in _FLAGS:
                    values[name] = _FLAGS[value]
            return PauseCommand(words[at + 1], values["autoneg"], values["rx"], values["tx"])
    return None


def _pairs(words: Sequence[str]) -> List[Tuple[str, str]]:
    return list(zip(words[::2], words[1::2]))
