# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requirements for each disk and device node, the values now, and the values after reboot."""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import Answer, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.checking import S, Skip
from ...parsers import glob_pattern
from ...parsers.kernel import bracketed, kernel_cmdline
from ...parsers.number import integer
from ...parsers.systemd import tuned
from ...parsers.systemd.udev_rules import Assigned, Lookup, Outcome, outcome
from .facts import ASM_GROUP, Facts, Rules, Used
from .policy import Device
from .probes import disks
from .probes.disks import Disk

#: Oracle Grid Infrastructure Installation Guide, Configuring Device Persistence Manually.
ASM_MODE = 0o660
OWNER, GROUP, MODE = NODE = ("OWNER", "GROUP", "MODE")
#: Schedulers that Oracle and array vendors accept, in old and new kernels.
ACCEPTED = ("none", "mq-deadline", "noop", "deadline")


class Target(NamedTuple):
    """A disk or multipath map, and the policy of the device above it."""

    disk: Disk
    entry: Optional[Device]
    #: The map of a path.
    path_of: Optional[Disk]


class Wanted(NamedTuple):
    """A file in sysfs and its accepted values in order of preference."""

    key: str
    values: Tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.key} {' or '.join(self.values)}"


def attribute(key: str) -> str:
    """The udev assignment key of a file such as "queue/scheduler"."""
    return f"ATTR{{{key}}}"


def targets(facts: Facts) -> List[Target]:
    """All disks and multipath maps below the used devices. Layers in between have no queue."""
    by_name: Dict[str, Target] = {}
    for used in facts.used:
        for name in used.below:
            disk = facts.disks[name]
            if disk.slaves and not disk.is_multipath:
                continue
            above = [multipath for multipath in facts.maps() if name in multipath.slaves]
            before = by_name.get(name)
            if before is None or before.entry is None:
                by_name[name] = Target(disk, used.entry, above[0] if above else None)
    return [by_name[name] for name in sorted(by_name)]


def settings(target: Target) -> List[Wanted]:
    """Queue settings that the policy requires. A map inherits the request size of its paths."""
    entry = target.entry
    if entry is None:
        return []
    result = []
    if entry.scheduler:
        result.append(Wanted(disks.SCHEDULER, entry.scheduler))
    numbers = (
        (disks.REQUESTS, entry.nr_requests),
        (disks.DEPTH, entry.queue_depth),
        (disks.SECTORS, None if target.disk.is_multipath else entry.max_sectors_kb),
        (disks.ROTATIONAL, None if entry.rotational is None else int(entry.rotational)),
    )
    result += [Wanted(key, (str(number),)) for key, number in numbers if number is not None]
    # Only SCSI devices have a queue depth of the device.
    return [
        setting for setting in result if not isinstance(target.disk.values[setting.key], Absent)
    ]


def value_of(disk: Disk, key: str) -> str:
    """The value in force."""
    text = known(disk.values[key])
    return bracketed.parse(text).active if "[" in text else str(text)


def offered(disk: Disk) -> Sequence[str]:
    """The schedulers that the kernel offers for a disk."""
    text = known(disk.values[disks.SCHEDULER])
    return bracketed.parse(text).options if "[" in text else (text,)


# -- at boot --------------------------------------------------------------------------------------


def with_file(rules: Rules, path: str, text: str) -> Rules:
    """The rules with ``text`` as the content of the file at ``path``."""
    changed = [rule for rule in rules if rule[0] != path] + [(path, text)]
    return sorted(changed, key=lambda rule: rule[0].rpartition("/")[2])


def require_certain(result: Outcome, what: str) -> Optional[Assigned]:
    """The effective assignment, None without one. Raises if only a reboot can show it."""
    winner = result.winner
    for doubt in result.doubts:
        if doubt.script:
            raise Unanswered(
                "lines:udev_block",
                f"{doubt.place} runs {doubt.script}, and which owner, group or mode it sets for "
                f"{what} is not known: set them by OWNER=, GROUP= and MODE= of a rule instead",
            )
        if winner is None or doubt.value != winner.value:
            raise Unanswered(
                "lines:udev_block",
                f"whether {doubt.place} ({doubt.value}) is for {what} is not known: its "
                "condition is "
                "only known in a udev event",
            )
    return winner


def node_at_boot(used: Used, facts: Facts, rules: Rules, action: str) -> Dict[str, Outcome]:
    """Owner, group and mode by the rules for an event: "add", or "change", which occurs when a
    process closes the device after writing."""
    values = facts.disks[used.below[0]].values
    record = known(used.udev)
    look = disks.lookup(used.name, record, values, (action,))
    return outcome(rules, NODE, look, known(facts.old_udev))


def persisted_values(
    used: Used, facts: Facts, rules: Rules
) -> Dict[str, Tuple[Optional[Assigned], bool]]:
    """The assignment of owner, group and mode, and whether it applies to every event.

    Properties of a device mapper device are known at a "change" event, never at "add".
    """
    later = node_at_boot(used, facts, rules, "change")
    first = later if used.name.startswith("dm-") else node_at_boot(used, facts, rules, "add")
    stat = known(used.stat)
    now = (stat.uid, stat.gid, stat.mode & 0o777)
    assignments = {}
    for key, want, has in zip(NODE, owner_of(used, facts), now):
        if want is None or want == has:
            later[key], first[key] = (
                _without_scripts(result, key, want, facts) for result in (later[key], first[key])
            )
        assignment = require_certain(later[key], used.node)
        assignments[key] = (
            (assignment, True)
            if assignment is not None
            else (require_certain(first[key], used.node), False)
        )
    return assignments


def _without_scripts(result: Outcome, key: str, want: Optional[int], facts: Facts) -> Outcome:
    """Without own scripts where they decide nothing: no value is required, or the node has the one
    that a rule sets too."""
    winner = result.winner
    if want is not None and (winner is None or number_of(key, winner.value, facts) != want):
        return result
    return result._replace(doubts=tuple(doubt for doubt in result.doubts if not doubt.script))


def value_at_boot(disk: Disk, key: str, facts: Facts, rules: Rules) -> Optional[Assigned]:
    """The assignment of a value at boot. TuneD runs after udev. None: the kernel's default."""
    assigned = _of_tuned(disk, facts) if key == disks.SCHEDULER else None
    if assigned is None:
        name = attribute(key)
        look: Lookup = disk.lookup("add", "change")
        assigned = require_certain(outcome(rules, (name,), look)[name], disk.title)
    if assigned is None and key == disks.SCHEDULER:
        assigned = _of_kernel(disk, facts)
    for unit in known(facts.tuned).units:
        for path, option in unit.options.items():
            path = path if unit.type == "sysfs" and unit.enabled else ""
            if glob_pattern.fits(f"/sys/block/{disk.name}/{key}", path):
                assigned = Assigned(option.value, f"tuned profile {option.path}", True)
    return _of_later(disk, key, facts) or assigned


def _of_later(disk: Disk, key: str, facts: Facts) -> Optional[Assigned]:
    """The last line that sets the value after udev. It must set the value that the disk has."""
    assigned = None
    for place, line in known(facts.later):
        of = re.findall(r"/(?:class/)?block/([\w-]+)/", line)
        if f"/{key}" not in line or (of and disk.name not in of):
            continue
        value = value_of(disk, key)
        if value not in re.findall(r"[\w-]+", line):
            raise Unanswered(
                "file:" + place.rpartition(":")[0],
                f"{place} may set {key} of {disk.name} to another value: set it by a udev rule",
            )
        assigned = Assigned(value, place, True)
    return assigned


def _of_kernel(disk: Disk, facts: Facts) -> Optional[Assigned]:
    """elevator= of the kernel command line, which the single-queue schedulers alone follow."""
    legacy = {"noop", "deadline", "cfq"}.intersection(offered(disk))
    value = kernel_cmdline.last(known(facts.cmdline), "elevator") if legacy else None
    return Assigned(value, "elevator= of /proc/cmdline", True) if value in legacy else None


def _of_tuned(disk: Disk, facts: Facts) -> Optional[Assigned]:
    """The elevator of TuneD's plugin disk, which ignores device mapper devices."""
    active = known(facts.tuned)
    assignment = None
    for unit in active.units:
        option = unit.options.get("elevator")
        if unit.type != "disk" or not unit.enabled or option is None or disk.dm_name:
            continue
        place = f"tuned profile {option.path}"
        if "devices_udev_regex" in unit.about or "${" in option.value:
            raise Unanswered(
                "file:/etc/tuned/active_profile", f"whether {place} is for {disk.name} is not known"
            )
        devices = unit.about.get("devices")
        if devices is None or tuned.device_fits(devices.value, disk.name):
            assignment = Assigned(option.value, place, True)
    return assignment


# -- owners ---------------------------------------------------------------------------------------


class Owner(NamedTuple):
    """Required owner, group and mode of a device node, as numbers. None: no requirement."""

    uid: Optional[int]
    gid: Optional[int]
    mode: Optional[int]

    def text(self) -> str:
        parts = ["-" if number is None else str(number) for number in (self.uid, self.gid)]
        return ":".join(parts) + (" " + ("-" if self.mode is None else f"{self.mode:04o}"))


def owner_of(used: Used, facts: Facts) -> Owner:
    """The required owner: from the policy, else the account of the ASM instance that has the device
    open, with group asmadmin (if the host has it) and mode 0660 as in Oracle's guide. Raises if it
    is unknown."""
    entry = used.entry
    if entry is None or (entry.owner, entry.group, entry.mode) == (None, None, None):
        if used.asm is None:
            return Owner(None, None, None)
        group = facts.accounts.get("group " + ASM_GROUP)
        has_group = group is not None and not isinstance(group, Absent)
        return Owner(used.asm, known(group) if has_group else None, ASM_MODE)
    return Owner(
        known(facts.accounts["owner " + entry.owner]) if entry.owner else None,
        known(facts.accounts["group " + entry.group]) if entry.group else None,
        entry.mode,
    )


def number_of(key: str, text: str, facts: Facts) -> int:
    """The uid, gid or mode in the text of a rule. -1 if it is not the required one."""
    if key == MODE:
        return integer(text, 8)
    if text.isdecimal():
        return integer(text)
    name = f"{key.lower()} {text}"
    if name in facts.accounts:
        return int(known(facts.accounts[name]))
    return -1


def is_owned(used: Used) -> bool:
    """Whether ASM or the policy requires an owner."""
    entry = used.entry
    return used.asm is not None or (
        entry is not None and (entry.owner, entry.group, entry.mode) != (None, None, None)
    )


def skip_elsewhere(facts: Facts, _policy: object) -> None:
    if not facts.linux:
        raise Skip("Not a Linux host: it has no /sys/class/block.")


def with_problem(subjects: Iterable[S], facts: Facts) -> List[Answer[S]]:
    """The known subjects, and the error if others can be hidden."""
    problem: Answer[bool] = facts.found
    return [*subjects, *([problem] if isinstance(problem, HostproofError) else [])]
