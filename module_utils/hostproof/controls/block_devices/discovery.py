# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next discovery of ASM finds by its disk string: the map in use, or its paths too.

Sources: Oracle Automatic Storage Management Administrator's Guide. ASM_DISKSTRING: only disks are
found that ASM can read and write. Disk Discovery Rules: a disk group is not mounted if one of its
disks is found by several paths.
"""

from typing import List, NamedTuple, Optional, Sequence

from ...collect.answer import Answer, attempt, known
from ...collect.host import Stat
from ...errors import HostproofError, NotRecorded
from ...evaluate.advice import Ask, Step
from ...evaluate.checking import Layer
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from .facts import Facts, Used
from .probes.disk_string import DiskString

#: Devices that a text names.
_MOST = 6


class Discovered(NamedTuple):
    """The persisted layer, and the steps that change it."""

    layer: Layer
    steps: Sequence[Step]


def discovered(
    used: Used, facts: Facts, above: Optional[str], is_path: bool
) -> Optional[Discovered]:
    """None where no disk string was read, or the device is neither a map nor a path of one."""
    string = facts.string
    if used.asm is None or string is None or isinstance(string, NotRecorded):
        return None
    if is_path:
        # The steps of the layer in use name the disk string.
        shown = string if isinstance(string, HostproofError) else string.text()
        return Discovered(Layer(shown, status_for(named_string(used, facts) is not None)), ())
    return None if above is None else _of_map(used, facts, string, above)


def _of_map(used: Used, facts: Facts, string: Answer[DiskString], above: str) -> Discovered:
    """The paths of the map that ASM can open, or else whether the string finds the map."""
    nodes = facts.path_nodes.get(used.name, [])
    answers = [(node.name, attempt(_can_open, node.stat, used.asm, facts)) for node in nodes]
    found = [name for name, answer in answers if answer is True]
    unknown = [answer for _name, answer in answers if isinstance(answer, HostproofError)]
    if unknown and not found:
        return Discovered(Layer(unknown[0], PASS), ())
    if isinstance(string, HostproofError):
        closed = f"ASM can open no path of {above}"
        return Discovered(Layer(string if found else closed, PASS), ())
    text = string.text()
    steps = _steps(string, facts)
    if found:
        paths = f"ASM can open {_few(found)}, by which the next discovery finds {above} again"
        return Discovered(Layer(f"{text}: {paths}", FAIL if string.patterns else WARN), steps)
    names = attempt(_names, used, facts)
    if isinstance(names, HostproofError):
        return Discovered(Layer(names, PASS), ())
    if string.is_of_devices() and not any(map(string.finds, names)):
        return Discovered(Layer(f"{text}: it matches no name of {used.node}", WARN), steps)
    return Discovered(Layer(text, PASS), ())


def named_string(used: Used, facts: Facts) -> Optional[str]:
    """The words about a disk string that finds the device in use; None for one that does not."""
    string = facts.string
    if not isinstance(string, DiskString):
        return ""
    names = attempt(_names, used, facts)
    if string.patterns and isinstance(names, list) and not any(map(string.finds, names)):
        return None
    return f" ({string.text()})"


def _names(used: Used, facts: Facts) -> List[str]:
    names = [used.node, *known(used.udev).links]
    first = facts.disks[used.below[0]] if used.below else None
    if first is not None and first.dm_name is not None and first.name == used.name:
        names.append("/dev/mapper/" + first.dm_name)
    return names + ([used.opened] if used.opened else [])


def _can_open(answer: Answer[Stat], uid: int, facts: Facts) -> bool:
    """Whether ASM can read and write a node: by its owner, its group or as any other account."""
    stat = known(answer)
    if stat.uid == uid:
        return stat.mode & 0o600 == 0o600
    if stat.mode & 0o060 == 0o060 and stat.gid in known(facts.asm_groups[uid]):
        return True
    return stat.mode & 0o006 == 0o006


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST]) + (" and others" if len(names) > _MOST else "")


def _steps(string: DiskString, facts: Facts) -> List[Step]:
    devices = _few(sorted({one.stable for one in facts.used if one.asm is not None}))
    is_text = string.place.rpartition("/")[2].startswith("init")
    how = f"in {string.place}" if is_text else "with asmcmd dsset"
    return [
        Ask(
            f"set asm_diskstring {how} to patterns that match the devices of all disk groups "
            f"({devices}) and none of their paths"
        )
    ]
