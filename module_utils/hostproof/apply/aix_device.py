# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""One AIX device for the module aix_attributes: its state, what to change, and the results."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ..collect.answer import Answer, attempt, if_known
from ..collect.host import Host
from ..errors import HostproofError
from ..parsers.number import clipped
from ..probes.unix import sys_parm
from .aix_attributes import (
    BOTH,
    NEXT_BOOT,
    NOW,
    SYSTEM,
    Attributes,
    change,
    change_now,
    differing,
    problems,
    read,
    together,
)
from .change import CommandChange


class Device(NamedTuple):
    """Attributes in the database, and what the kernel uses of those that it shows.

    ``running`` is empty where none of them is known, and holds the error where it failed.
    """

    odm: Attributes
    running: Answer[Dict[str, str]]


def read_device(host: Host, device: str, names: Tuple[str, ...]) -> Device:
    """Raises Unanswered with lsattr's words where the device or an attribute is not there."""
    kernel_names = tuple(name for name in names if device == SYSTEM and name in sys_parm.NUMBERS)
    running: Answer[Dict[str, str]] = {}
    if kernel_names:
        running = attempt(_read_running, host, kernel_names)
    return Device(read(host, device, names), running)


def _read_running(host: Host, names: Tuple[str, ...]) -> Dict[str, str]:
    return {name: str(value) for name, value in sys_parm.read(host, names).items()}


def wanted_change(device: Device, required: Dict[str, str], when: str) -> Optional[CommandChange]:
    """The one chdev for what differs, None where nothing does.

    Raises HostproofError with every reason why the device would not take a value.
    """
    reasons = problems(device.odm, required, prior(device, when))
    if reasons:
        raise HostproofError("rejected, nothing was changed: {0}".format("; ".join(reasons)))
    made = _change_of(device, required, when)
    reasons = [] if made is None else _marks_problems(device, required, when)
    if reasons:
        raise HostproofError("rejected, nothing was changed: {0}".format("; ".join(reasons)))
    return made


def _change_of(device: Device, required: Dict[str, str], when: str) -> Optional[CommandChange]:
    if when == NEXT_BOOT:
        return change(device.odm, required, when)
    current = if_known(device.running, {})
    if when == BOTH and differing(device.odm, required):
        return change(device.odm, required, when, current)
    running = prior(device, NOW)
    late = {name for name in required if required[name] != running[name]}
    if when == BOTH:
        # The database holds all of it; what the kernel shows may still differ.
        late.intersection_update(current)
    else:
        # The running value of an attribute without a source is unknown: set it too.
        late.update(set(required) - set(current))
    if not late:
        return None
    new = {name: required[name] for name in together(device.odm.device, sorted(late), required)}
    tell = sys_parm.values_command(tuple(current)) if current and set(new) <= set(current) else None
    return change_now(device.odm, new, running if tell is None else current, tell)


def _marks_problems(device: Device, required: Dict[str, str], when: str) -> List[str]:
    """Conflicts between the marks of a layer: only one of them is set, or both are invalid.

    The checks of chdev are not documented, and it reads the database, not the kernel."""
    if device.odm.device != SYSTEM or not set(required) & set(sys_parm.NUMBERS):
        return []
    layers: List[Tuple[str, Dict[str, str]]] = []
    if when != NOW:
        layers.append(("database", device.odm.values))
    if when != NEXT_BOOT:
        layers.append(("kernel", if_known(device.running, {})))
    reasons = []
    for layer, values in layers:
        marks = dict(values, **required)
        high, low = marks.get("maxpout", ""), marks.get("minpout", "")
        if not (high.isdecimal() and low.isdecimal()) or clipped(high) == clipped(low) == 0:
            continue
        if clipped(low) >= clipped(high) or 0 in (clipped(low), clipped(high)):
            reasons.append(
                f"maxpout {high} and minpout {low} would meet in the {layer}: give both, with "
                "minpout below maxpout, or both 0"
            )
    return reasons


def with_partners(device: str, names: Tuple[str, ...]) -> Tuple[str, ...]:
    """The names with those that they are checked with: of the kernel's marks always both."""
    if device == SYSTEM and set(names) & set(sys_parm.NUMBERS):
        return names + tuple(name for name in sys_parm.NUMBERS if name not in names)
    return names


def only(device: Device, names: Tuple[str, ...]) -> Device:
    """The same of these names only."""
    odm, running = device.odm, device.running
    return Device(
        odm._replace(
            values={name: odm.values[name] for name in names},
            settable={name: odm.settable[name] for name in names},
            legal={name: odm.legal[name] for name in names},
        ),
        running
        if isinstance(running, HostproofError)
        else {name: running[name] for name in running if name in names},
    )


def prior(device: Device, when: str) -> Dict[str, str]:
    """What a task would bring back: the database's values; for NOW the kernel's, where known."""
    values = dict(device.odm.values)
    if when == NOW:
        values.update(if_known(device.running, {}))
    return values


def shown(device: Device) -> Dict[str, Any]:
    """The results of a task."""
    legal = device.odm.legal
    return {
        "configured": device.odm.values,
        "running": if_known(device.running, {}),
        "legal": {
            name: None if isinstance(legal[name], HostproofError) else str(legal[name])
            for name in legal
        },
    }
