# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that udev reads, and what it keeps of a block device.

Sources: udev(7), rules files; systemd, src/libsystemd/sd-device (the database in /run/udev/data);
Linux, Documentation/ABI/testing/sysfs-uevent.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host
from ...errors import Unanswered
from ...parsers import kept_lines
from ...parsers.systemd import udev_rules
from ...parsers.systemd.conf_d import directories

#: /run is empty after a reboot.
RULE_FOLDERS = tuple(
    folder for folder in directories("udev/rules.d") if not folder.startswith("/run/")
)
#: Keys of a device that many distributions use in rules and that exist only in an event.
_OF_EVENT = re.compile(r"\.|DM_COOKIE|DM_NOSCAN|DM_DISABLE|UDEV_|SYNTH_")
_ENV = re.compile(r"ENV\{(.+)\}\Z")
_ATTRIBUTE = re.compile(r"ATTR\{(.+)\}\Z")


class Known(NamedTuple):
    """What udev knows of a block device: ``properties`` as rules see them (ENV), the names of its
    links below /dev, and how the kernel counts it (8:0)."""

    number: str
    properties: Dict[str, str]
    links: Tuple[str, ...]


def files(host: Host, folders: Sequence[str], suffix: str) -> List[str]:
    """By name, whatever the directory; of one name that of the first directory. Links of
    directories (/lib to /usr/lib) hide nothing."""
    chosen: Dict[str, str] = {}
    for folder in folders:
        for name in unless_absent(attempt(host.list_dir, folder), []):
            if name.endswith(suffix) and not name.startswith("."):
                chosen.setdefault(name, f"{folder}/{name}")
    return [chosen[name] for name in sorted(chosen)]


def read_rules(host: Host, name: str, pattern: str) -> List[Tuple[str, str]]:
    """Path and text of the rules files that hold a line of the pattern, in the order of udev.

    ``name`` represents the search in the evidence (lines:NAME).
    """
    paths = files(host, RULE_FOLDERS, ".rules")
    search = host.find_lines(name, paths, pattern, record=_nothing)
    if search.unread:
        raise Unanswered("lines:" + name, f"{search.unread[0]} could not be read")
    holding = [path for path in paths if path in search.lines]
    # As a whole, for a rule may be continued, or be left out by another (GOTO).
    return [(path, host.read_text(path, record=udev_rules.kept)) for path in holding]


def _nothing(_path: str, _line: str) -> str:
    """The number of the line shows that the file has one."""
    return kept_lines.LEFT_OUT


def read_known(host: Host, name: str) -> Known:
    """What udev keeps of a block device by its kernel name."""
    folder = f"/sys/class/block/{name}"
    number = host.read_text(folder + "/dev").strip()
    properties = {"SUBSYSTEM": "block", "DEVNAME": f"/dev/{name}"}
    links = []
    properties.update(_pairs(host.read_text(folder + "/uevent").splitlines()))
    text = str(unless_absent(attempt(host.read_text, "/run/udev/data/b" + number), ""))
    for line in text.splitlines():
        if line.startswith("S:"):
            links.append("/dev/" + line[2:])
    kept = [line[2:] for line in text.splitlines() if line.startswith("E:")]
    properties.update(_pairs(kept))
    return Known(number, properties, tuple(links))


def _pairs(lines: Sequence[str]) -> Dict[str, str]:
    return {key: value for key, equals, value in (line.partition("=") for line in lines) if equals}


def lookup_of(
    name: str, device: Known, attributes: Dict[str, Optional[str]], actions: Tuple[str, ...]
) -> udev_rules.Lookup:
    """What rules find of the device. ``attributes`` are those of sysfs that are known."""
    plain = {
        "KERNEL": (name,),
        "SUBSYSTEM": ("block",),
        "ACTION": actions,
        "SYMLINK": tuple(link[len("/dev/") :] for link in device.links) or ("",),
    }

    def lookup(key: str) -> Optional[Sequence[str]]:
        if key in plain:
            return plain[key]
        of_event = _ENV.match(key)
        if of_event is not None:
            variable = of_event.group(1)
            if _OF_EVENT.match(variable):
                return None
            return (device.properties.get(variable, ""),)
        attribute = _ATTRIBUTE.match(key)
        value = attributes.get(attribute.group(1)) if attribute is not None else None
        return None if value is None else (value,)

    return lookup
