# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requested state of the disks: validated role variables."""

import re
from typing import NamedTuple, Optional, Tuple

from ...evaluate.fields import (
    checked_by,
    entries,
    flag,
    matching,
    names,
    one_of,
    reader,
    whole_number,
)
from ...evaluate.policy import PolicyValues

NAME = "block_devices"
AUTO = "auto"
NORMAL, HIGH, EXTERNAL = "normal", "high", "external"
RULES = "/etc/udev/rules.d"

#: Characters of a name or pattern (glob_pattern). They have no special meaning in udev rules, into
#: which patterns are not written.
_PATTERN = re.compile(r"(?:/dev/)?[A-Za-z0-9_.:@+=/*?\[\]!^-]{1,200}\Z")
_LIKE = "a name such as asm-data* or /dev/sdb"
_ACCOUNT = re.compile(r"[a-z_][a-z0-9_.-]{0,31}\Z")
_NAMED = "an account or a group such as grid"
_MODE = re.compile(r"0?[0-7]{3}\Z")
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\.rules\Z")


def _pattern(values: PolicyValues, name: str) -> str:
    value = values[name]
    if not isinstance(value, str) or not _PATTERN.match(value) or "/../" in value:
        raise values.error(name, f"{str(value)[:80]!r} must be {_LIKE}")
    if "/" in value.replace("/dev/", "", 1) and not value.startswith("/dev/"):
        raise values.error(name, f"{value[:80]!r} must begin with /dev/, or hold no slash")
    return value


def _mode(values: PolicyValues, name: str) -> int:
    """The mode from an octal text. YAML reads an unquoted number with a leading 0 as octal."""
    value = values[name]
    if not isinstance(value, str) or not _MODE.match(value):
        raise values.error(name, f'must be a text such as "0660", not {value!r}')
    return int(value, 8)


def _rules_file(values: PolicyValues, name: str) -> str:
    folder, _, own = str(values[name]).rpartition("/")
    if folder != RULES or not _FILE.match(own):
        raise values.error(name, f"must be {RULES}/NAME.rules, not {values[name]!r}")
    return str(values[name])


class Device(NamedTuple):
    """Requirements for devices that match a name pattern. ``mode`` are the permission bits,
    ``scheduler`` the accepted schedulers in order of preference."""

    name: str = checked_by(_pattern, "str")
    owner: Optional[str] = matching(_ACCOUNT, _NAMED).optional()
    group: Optional[str] = matching(_ACCOUNT, _NAMED).optional()
    mode: Optional[int] = checked_by(_mode, "str").optional()
    redundancy: Optional[str] = one_of(NORMAL, HIGH, EXTERNAL).optional()
    scheduler: Tuple[str, ...] = names(_WORD.match, "a scheduler such as none").optional(())
    nr_requests: Optional[int] = whole_number(1, 65536).optional()
    queue_depth: Optional[int] = whole_number(1, 65536).optional()
    max_sectors_kb: Optional[int] = whole_number(4, 1048576).optional()
    rotational: Optional[bool] = flag().optional()


class Policy(NamedTuple):
    """The role's variables.

    ``devices`` is None for "auto": devices of ASM and instances, without required values.
    """

    devices: Optional[Tuple[Device, ...]] = entries(Device).none_for(AUTO)
    """The disks. Each entry has C(name), a name or a pattern of names below C(/dev),
    C(/dev/mapper) or C(/dev/disk/by-id), such as C(asm-data*), C(wwn-0x600507*) or C(/dev/sdb).
    The first matching entry applies.

    C(owner), C(group) and C(mode) are those of the device node, such as C(grid), C(asmadmin)
    and C("0660").

    C(redundancy) is that of the disk group: C(normal), C(high) or C(external). The queueing
    time of a multipath map without a path depends on it.

    C(scheduler) is a list of accepted schedulers in order of preference. C(nr_requests),
    C(queue_depth), C(max_sectors_kb) and C(rotational) are set exactly. For a multipath map
    they also apply to its paths.

    C(auto) checks the disks that ASM and instances hold open or store their files on, and
    has no effect.

    Default: auto
    """
    unmanaged: Tuple[str, ...] = names(_PATTERN.match, _LIKE)
    """Names or patterns of disks that another tool manages. They are neither checked nor
    changed.

    Default: []
    """
    min_paths: int = whole_number(1, 64)
    """Minimum number of working paths of a multipath map.

    Default: 2
    """
    activation: str = one_of("now", "reboot")
    """C(now) sets the running values and owners as well, but for the size of requests of a
    multipath map's paths, which the map takes only when it is made. C(reboot) writes the rules
    alone.

    Default: now
    """
    rules_file: str = checked_by(_rules_file, "path")
    """Path of the file of udev rules. Files that sort later override it.

    Default: /etc/udev/rules.d/99-zz-hostproof-block_devices.rules
    """


policy_from = reader(NAME, Policy)
