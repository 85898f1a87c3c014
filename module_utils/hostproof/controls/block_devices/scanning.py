# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the next scan of ASMLIB or of the filter driver finds: the map of a label, or a path of it.

Sources: oracleasm(8), ORACLEASM_SCANORDER and ORACLEASM_SCANEXCLUDE ("simple prefixes", without
/dev/); Oracle Grid Infrastructure Installation Guide for Linux, Disk Scan Ordering (the prefix of a
map is that of its alias); Oracle Automatic Storage Management Administrator's Guide, afd_dsset.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import if_known
from ...errors import HostproofError
from ...evaluate.advice import Ask, Step
from ...evaluate.checking import Layer
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import DRIVERS, Facts, Used
from .probes.disk_string import DiskString
from .probes.same_disk import PSEUDO

_LABEL = "ASM (label "
_ORDER, _EXCLUDE = "ORACLEASM_SCANORDER", "ORACLEASM_SCANEXCLUDE"
_FOLDERS = "ORACLEASM_SCAN_DIRECTORIES"


class Scan(NamedTuple):
    """The settings of the next scan, and why it can find a path; "" where it finds the map."""

    layer: Layer
    why: str


def label_of(used: Used) -> Optional[str]:
    """The label by which ASM uses the device; None where it has none."""
    return used.by[len(_LABEL) : -1] if used.by.startswith(_LABEL) else None


def is_filter(used: Used, facts: Facts) -> bool:
    """Whether the label is one of the filter driver."""
    return f"{DRIVERS[1]}disks/{label_of(used)}" in facts.labels


def scanned(used: Used, facts: Facts, above: Optional[str]) -> Optional[Scan]:
    """None where the device has no label, or no setting was read."""
    if label_of(used) is None:
        return None
    paths = paths_of(used, facts) if above else []
    if is_filter(used, facts):
        return _by_filter(used, facts, paths)
    lines = if_known(facts.scan, [])
    return None if not lines else _by_library(used, facts, lines, paths)


def steps(used: Used, facts: Facts) -> List[Step]:
    """The change of the settings with which the next scan finds the map."""
    if is_filter(used, facts):
        return [Ask("set the discovery string of ASMFD to the maps (asmcmd afd_dsset)")]
    name = "emcpower" if any(PSEUDO.match(one) for one in used.below) else "dm"
    return [
        Ask(
            f"set {_ORDER} to the names of the maps ({name}) and {_EXCLUDE} to those of the paths "
            "(sd) in /etc/sysconfig/oracleasm"
        )
    ]


def paths_of(used: Used, facts: Facts) -> List[str]:
    """The paths of the maps and pseudo devices below a device."""
    below = [facts.disks[name] for name in used.below]
    pseudo: Dict[str, str] = if_known(facts.pseudo, {})
    paths = [path for disk in below if disk.is_multipath for path in disk.slaves]
    return paths + sorted(path for path, own in pseudo.items() if own in used.below)


def _by_library(used: Used, facts: Facts, lines: List[str], paths: List[str]) -> Scan:
    values = {
        name.strip(): value.strip("\"' ").split()
        for name, _equals, value in (line.partition("=") for line in lines)
    }
    order, excluded = (
        [_prefix(word) for word in values.get(key, [])] for key in (_ORDER, _EXCLUDE)
    )
    own = _names(used, facts)
    left = [path for path in paths if _rank([path], excluded) == len(excluded)]
    first = min((_rank([path], order) for path in left), default=len(order) + 1)
    folders = [word.rstrip("/") for word in values.get(_FOLDERS, [])]
    text = "; ".join(lines)
    if paths and _rank(own, excluded) < len(excluded):
        why = f"ASMLIB excludes {own[-1]} from its scans ({text})."
        return Scan(Layer(text, FAIL), why)
    if (folders and "/dev" not in folders) or _rank(own, order) < first:
        return Scan(Layer(text, PASS), "")
    return Scan(
        Layer(text, WARN), f"ASMLIB scans {text}: the next scan can find a path before the map."
    )


def _prefix(word: str) -> str:
    return word[len("/dev/") :] if word.startswith("/dev/") else word


def _rank(names: Sequence[str], prefixes: Sequence[str]) -> int:
    """The place of the first prefix that one of the names has; their number without one."""
    return next(
        (at for at, prefix in enumerate(prefixes) if any(n.startswith(prefix) for n in names)),
        len(prefixes),
    )


def _names(used: Used, facts: Facts) -> Tuple[str, ...]:
    """The kernel's name of the device, and its name below /dev/mapper."""
    disk = facts.disks[used.below[0]]
    if disk.dm_name is None:
        return (used.name,)
    return (disk.name, "mapper/" + disk.dm_name, disk.dm_name)


def _by_filter(used: Used, facts: Facts, paths: List[str]) -> Optional[Scan]:
    string = facts.filter_string
    if isinstance(string, HostproofError) or string is None or not paths:
        return None
    found = [path for path in paths if _finds(string, path)]
    text = string.text().replace("asm_diskstring", "afd_diskstring")
    is_own = any(_finds(string, name) for name in _names(used, facts))
    if found and not is_own:
        return Scan(Layer(text, FAIL), f"{text} finds {', '.join(found)}, and not the map.")
    if found:
        why = f"{text} also finds {', '.join(found)}: the next scan can find a path before the map."
        return Scan(Layer(text, WARN), why)
    return Scan(Layer(text, PASS), "")


def _finds(string: DiskString, name: str) -> bool:
    """Also by a partition: the string of the driver names partitions where labels are on them."""
    return string.finds("/dev/" + name) or string.finds(f"/dev/{name}1")
