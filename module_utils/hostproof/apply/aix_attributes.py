# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Attributes of AIX devices: what to change, by which chdev, and how to tell that it was taken.

The configuration database (ODM) says what a device is configured with after reboot; what it
uses now can differ. chdev without a flag changes both, with -P the database only, with -T the
device only. Sources: AIX Commands Reference, chdev and lsattr.
"""

import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ..collect.answer import Answer, attempt
from ..collect.command import Command, squeezed, state_of
from ..collect.host import Host
from ..errors import HostproofError, Unanswered
from ..parsers.unix import lsattr
from ..probes.unix import sys_parm
from .change import CommandChange

NOW = "now"
NEXT_BOOT = "next_boot"
BOTH = "both"

#: What chdev gets for it.
FLAGS: Dict[str, Tuple[str, ...]] = {NOW: ("-T",), NEXT_BOOT: ("-P",), BOTH: ()}

#: The device whose attributes are the kernel's own.
SYSTEM = "sys0"

#: Seconds. IBM: who stops chdev can destroy the database, so it is never stopped for being slow.
CHDEV_TIMEOUT = 24 * 3600.0

_DEVICE = re.compile(r"^[A-Za-z][A-Za-z0-9_.-]*\Z")
#: chdev takes several pairs in one -a, with blanks between: this in a value may be such a pair.
_SECOND_PAIR = re.compile(r"\s([A-Za-z][\w.%-]*)=")
_ATTRIBUTE = re.compile(r"^[A-Za-z][A-Za-z0-9_.%-]*\Z")


class Attributes(NamedTuple):
    """Some attributes of a device in the database.

    ``text`` is what lsattr printed of them, with runs of blanks as one. ``values`` are exact,
    blanks included. ``legal`` holds the error where lsattr shows no legal values.
    """

    device: str
    text: str
    values: Dict[str, str]
    settable: Dict[str, bool]
    legal: Dict[str, Answer[lsattr.Legal]]


def texts(values: Dict[str, Any]) -> Dict[str, str]:
    """Values as chdev takes them, from YAML's: a truth value is AIX's true or false."""
    strings = {}
    for name, value in values.items():
        if isinstance(value, bool):
            strings[str(name)] = str(value).lower()
        elif isinstance(value, (str, int, float)):
            strings[str(name)] = str(value).strip()
        else:
            raise ValueError(f"the value of {name} must be one text or number")
    return strings


def check_names(device: str, names: Iterable[str], required: Dict[str, str]) -> None:
    """Raise ValueError for what no AIX device or attribute is called, and for no attribute."""
    if not _DEVICE.match(device):
        raise ValueError(f"{device!r} is not the name of a device; use one that lsdev shows")
    if not list(names):
        raise ValueError("no attribute is given; name at least one")
    for name in names:
        if not _ATTRIBUTE.match(name):
            raise ValueError(f"{name!r} is not the name of an attribute of {device}")
    for name, value in required.items():
        if not value.isprintable():
            raise ValueError(f"the value of {name} has characters that do not print")
        second = _SECOND_PAIR.search(value)
        if second is not None:
            raise ValueError(
                f"the value of {name} holds {second.group(1)}=, which chdev would take for "
                "another attribute; give that one its own entry"
            )


def attributes_command(device: str, names: Tuple[str, ...]) -> Command:
    """Read the attributes from the device database with lsattr; its state is
    ``Attributes.text``."""
    argv = ["lsattr", "-E", "-l", device]
    for name in names:
        argv += ["-a", name]
    return Command(
        name=" ".join(argv),
        argv=tuple(argv),
        expected=r"\A([\s\S]*\S[\s\S]*)\Z",
        squeezed=True,
    )


def read_rows(host: Host, device: str, names: Tuple[str, ...]) -> List[lsattr.Row]:
    """The rows of just these attributes. Unanswered with lsattr's words where one is not there."""
    command = attributes_command(device, names)
    key = "command:" + command.name
    output = host.run(list(command.argv))
    try:
        text = state_of(command, output)
    except HostproofError as problem:
        raise Unanswered(key, str(problem)) from problem
    rows = lsattr.parse(text)
    if sorted(row.name for row in rows) != sorted(names):
        raise Unanswered(
            key,
            "lsattr shows {0} of {1}, not {2}".format(
                ", ".join(row.name for row in rows), device, ", ".join(names)
            ),
        )
    return rows


def read_legal(host: Host, device: str, name: str) -> lsattr.Legal:
    """What lsattr -R says that the attribute may be."""
    argv = ["lsattr", "-R", "-l", device, "-a", name]
    output = host.run(argv)
    if output.rc != 0:
        message = " ".join((output.stdout + output.stderr).split())
        raise Unanswered("command:" + " ".join(argv), message or "lsattr -R gave no answer")
    return lsattr.parse_legal(output.stdout)


def read(host: Host, device: str, names: Tuple[str, ...]) -> Attributes:
    """Attributes whose values may hold blanks, which divide the columns of lsattr, too.

    So each value is requested alone, and must be what its row begins with.
    """
    rows = {row.name: row for row in read_rows(host, device, names)}
    values: Dict[str, str] = {}
    for name in names:
        argv = ["lsattr", "-E", "-l", device, "-a", name, "-F", "value"]
        key = "command:" + " ".join(argv)
        output = host.run(argv)
        lines = [line for line in output.stdout.split("\n") if line.strip()]
        if output.rc != 0 or len(lines) > 1:
            message = " ".join((output.stdout + output.stderr).split())
            raise Unanswered(key, f"lsattr shows no single value of {name}: {message}")
        values[name] = lines[0].strip() if lines else ""
        if not rows[name].has(values[name]):
            raise Unanswered(key, f"lsattr shows two values of {name} of {device}")
    output = host.run(list(attributes_command(device, names).argv))
    return Attributes(
        device,
        squeezed(output.stdout),
        values,
        {name: rows[name].settable for name in names},
        {name: attempt(read_legal, host, device, name) for name in names},
    )


def of_words(
    device: str, text: str, rows: List[lsattr.Row], legal: Dict[str, Answer[lsattr.Legal]]
) -> Attributes:
    """Attributes whose values hold no blank, such as numbers: the rows tell enough."""
    return Attributes(
        device,
        squeezed(text),
        {row.name: row.first_word for row in rows},
        {row.name: row.settable for row in rows},
        legal,
    )


def problems(
    attributes: Attributes, required: Dict[str, str], now: Optional[Dict[str, str]] = None
) -> List[str]:
    """Why the device would not take the values, as far as lsattr shows; one sentence each.

    ``now`` is what is there, if it is not what the database holds.
    """
    there = attributes.values if now is None else now
    reasons = []
    for name in required:
        if required[name] == there[name]:
            continue
        legal = attributes.legal[name]
        if not attributes.settable[name]:
            reasons.append(f"{name} of {attributes.device} cannot be changed by a user")
        elif isinstance(legal, lsattr.Legal) and not legal.allows(required[name]):
            reasons.append(
                f"{name} of {attributes.device} cannot be {required[name]!r}: it takes {legal}"
            )
    return reasons


def differing(attributes: Attributes, required: Dict[str, str]) -> Dict[str, str]:
    """Those of the required values that the database does not hold; whole values are compared."""
    return {name: required[name] for name in required if required[name] != attributes.values[name]}


def chdev(device: str, values: Dict[str, str], when: str) -> Command:
    """One chdev for all of them. It exits with 0 and says "DEVICE changed", or it has failed."""
    argv = ["chdev", "-l", device]
    for name, value in values.items():
        argv += ["-a", f"{name}={value}"]
    argv += FLAGS[when]
    return Command(
        name=" ".join(argv),
        argv=tuple(argv),
        expected=rf"^{re.escape(device)} changed\s*$",
        timeout=CHDEV_TIMEOUT,
    )


def change(
    attributes: Attributes,
    required: Dict[str, str],
    when: str,
    running: Optional[Dict[str, str]] = None,
) -> Optional[CommandChange]:
    """The change of the database (and, for BOTH, of the device); None where it holds all of it.

    ``running`` is what the kernel uses, as far as it shows: for BOTH it is read back and brought
    back as the database is, and what differs in either is in the one chdev.
    """
    if when == NOW:
        raise ValueError("chdev -T leaves the database as it is: see change_now")
    device, there = attributes.device, attributes.values
    if not differing(attributes, required):
        return None
    current = dict(running or {}) if when == BOTH else {}
    late = [name for name in current if name in required and required[name] != current[name]]
    names = together(device, list(differing(attributes, required)) + late, required)
    new = {name: required[name] for name in names}
    shows = attributes_command(device, tuple(there))
    before, after = attributes.text, _with_values(attributes, new)
    if current:
        shows = sys_parm.look_behind(shows, tuple(current))
        before += "\n" + _lines(current)
        after += "\n" + _lines({name: new.get(name, current[name]) for name in current})
    return CommandChange(
        name="{0}: {1}".format(device, " ".join(new)),
        before=before,
        after=after,
        look=shows,
        make=(chdev(device, new, when),),
        undo=_undo(attributes, names, current, when),
    )


def _undo(
    attributes: Attributes, names: List[str], current: Dict[str, str], when: str
) -> Tuple[Command, ...]:
    device, there = attributes.device, attributes.values
    undo = [chdev(device, {name: there[name] for name in names}, when)]
    # chdev makes the kernel use the database; where it did not, that comes back, too.
    other = [name for name in names if name in current and current[name] != there[name]]
    if other:
        kernel = [name for name in current if name in together(device, other, current)]
        undo.append(chdev(device, {name: current[name] for name in kernel}, NOW))
    return tuple(undo)


def together(device: str, names: List[str], values: Dict[str, str]) -> List[str]:
    """The names, in the order of ``values``, with what must not be set without one of them.

    The marks of the kernel go together: one that is right in the database may be wrong in it.
    """
    names = list(names)
    if device == SYSTEM and any(name in sys_parm.NUMBERS for name in names):
        names += list(sys_parm.NUMBERS)
    return [name for name in values if name in names]


def change_now(
    attributes: Attributes,
    required: Dict[str, str],
    running: Dict[str, str],
    tell: Optional[Command],
) -> CommandChange:
    """The change of the device only, until the next reboot.

    ``running`` are the values that come back on revert. ``tell`` tells what the device uses, in
    lines NAME=VALUE; lsattr cannot, so without it nothing reads the change back.
    """
    device = attributes.device
    old = {name: running[name] for name in required}
    return CommandChange(
        name="{0} until reboot: {1}".format(device, " ".join(required)),
        before=None if tell is None else _lines(running),
        after=None if tell is None else _lines(dict(running, **required)),
        look=attributes_command(device, tuple(attributes.values)) if tell is None else tell,
        make=(chdev(device, required, NOW),),
        undo=(chdev(device, old, NOW),),
        atomic=tell is None,
    )


def _lines(values: Dict[str, str]) -> str:
    return "\n".join(f"{name}={values[name]}" for name in values)


def _with_values(attributes: Attributes, new: Dict[str, str]) -> str:
    """What lsattr will print: its rows as they are, with the new values in place of the old."""
    lines = []
    for line in attributes.text.split("\n"):
        name, _, rest = line.partition(" ")
        if name in new:
            old = squeezed(attributes.values[name])
            behind = rest[len(old) :] if old else " " + rest
            value = squeezed(new[name])
            line = name + (" " + value if value else "") + behind
        lines.append(line)
    return "\n".join(lines)
