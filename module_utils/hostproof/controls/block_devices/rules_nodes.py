# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the owner of ASM devices, now and after a udev event, and of partition alignment."""

from typing import List, Tuple

from ...collect.answer import existing, known
from ...evaluate.checking import Rules, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.number import integer
from .facts import Facts, Used
from .policy import NAME, Policy
from .probes import disks
from .steps import remedy, step_of_node
from .subjects import NODES, PARTITIONS
from .wanted import GROUP, MODE, OWNER, lasting, owner_of

rules = Rules(NAME)

#: Bytes. Blocks of arrays and SSDs are aligned to this size.
_MEBIBYTE = 1 << 20
_PUBLIC = 0o007


@rules.check(
    "block_devices.ownership",
    "Device owner, group and mode are correct and persistent",
    "Device owner, group or mode is wrong or not persistent",
    severity="critical",
    takes_effect="now",
    why="ASM does not find the disk (ORA-15075, ORA-15031). Without a udev rule, the device "
    "returns to root at the next udev event or reboot.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Configuring Device "
    "Persistence Manually for Oracle ASM; udev(7)",
    each=NODES,
)
def ownership(used: Used, facts: Facts, policy: Policy) -> Verdict:
    wanted, stat = owner_of(used, facts), known(used.stat)
    problems, warnings = [], []
    now = (stat.uid, stat.gid, stat.mode & 0o777)
    if any(one not in (None, has) for one, has in zip(wanted, now)):
        problems.append(f"it is {stat.uid}:{stat.gid} {now[2]:04o}")
    if wanted.mode != now[2] and now[2] & _PUBLIC:
        problems.append(f"all accounts can use it (mode {now[2]:04o})")
    is_wrong_now = bool(problems)
    persisted, lost, unsafe = _at_boot(used, facts) if used.opened is None else _by_hand(used)
    problems += lost
    warnings += unsafe
    status = FAIL if problems else WARN if warnings else PASS
    fix, commands = remedy(step_of_node, used, facts, policy) if status != PASS else ("", [])
    if used.opened is not None:
        fix, commands = f"set the owner of {used.node} in a udev rule, and use that node in ASM", []
    return Verdict(
        status,
        why="; ".join(problems + warnings) + ".",
        fix=fix,
        commands=commands,
        desired=wanted.text() + (" (as ASM runs)" if used.entry is None else ""),
        persisted=persisted,
        running=f"{stat.uid}:{stat.gid} {now[2]:04o}",
        in_use=used.by,
        failing_layer=failing(running=is_wrong_now, persisted=bool(lost or unsafe)),
    )


def _by_hand(used: Used) -> Tuple[str, List[str], List[str]]:
    """Texts for a device node that udev did not create."""
    lost = f"udev did not create {used.opened} (mknod, raw), so it does not exist after reboot"
    return "no udev rule creates it", [lost], []


def _at_boot(used: Used, facts: Facts) -> Tuple[str, List[str], List[str]]:
    """Text of the owner that the udev rules set, its errors, and its possible errors."""
    wanted = owner_of(used, facts)
    found = lasting(used, facts, known(facts.rules))
    texts, lost, unsafe = [], [], []
    for key, want in ((OWNER, wanted.uid), (GROUP, wanted.gid), (MODE, wanted.mode)):
        if want is None:
            continue
        one, always = found[key]
        if one is None:
            lost.append(f"no udev rule sets its {key}")
            continue
        texts.append(f"{key} {one.value} from {one.place}")
        if _number(key, one.value, facts) != want:
            lost.append(f"udev sets its {key} to {one.value} ({one.place})")
        elif not always:
            unsafe.append(f"{one.place} sets {key} only when it is added, not at other events")
        elif not one.by_identity:
            unsafe.append(
                f"{one.place} matches the kernel name, which another disk can have after a reboot"
            )
    return "; ".join(texts) or "no udev rule: owned by root after reboot", lost, unsafe[:1]


def _number(key: str, text: str, facts: Facts) -> int:
    """The uid, gid or mode in the text of a rule. -1 if it is not the required one."""
    if key == MODE:
        return integer(text, 8)
    if text.isdecimal():
        return integer(text)
    name = f"{key.lower()} {text}"
    if name in facts.accounts:
        return int(known(facts.accounts[name]))
    return -1


@rules.check(
    "block_devices.alignment",
    "Partition is aligned to the physical blocks of the disk",
    "Partition is misaligned",
    severity="medium",
    takes_effect="reboot",
    why="A database block spans two blocks of the array, which must read both to write one.",
    reference="Linux, Documentation/ABI/stable/sysfs-block, alignment_offset, optimal_io_size",
    each=PARTITIONS,
)
def alignment(used: Used, facts: Facts, _policy: Policy) -> Verdict:
    part = existing(used.partition)
    disk = facts.disks[used.below[0]]
    physical, optimal = disk.number(disks.PHYSICAL), disk.number(disks.OPTIMAL)
    is_off = part.offset != 0 or part.start % max(physical, 1) != 0
    coarse = max(optimal, 1) if optimal else _MEBIBYTE
    status = FAIL if is_off else PASS if part.start % coarse == 0 else WARN
    return Verdict(
        status,
        why=f"It begins at byte {part.start}. Physical blocks have {physical} bytes, the best "
        f"alignment is {coarse}.",
        fix="create the partition again at 1 MiB while the disk is empty",
        desired=f"a multiple of {physical} bytes, better of {coarse}",
        running=f"{part.start} bytes, {part.offset} bytes after a block boundary",
    )
