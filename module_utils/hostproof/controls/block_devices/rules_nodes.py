# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the owner of ASM devices, now and after a udev event, and of partition alignment."""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import attempt, existing, if_known, known
from ...errors import HostproofError
from ...evaluate.checking import Judged, Rules, Skip, Verdict, failing, verdict_or_error
from ...evaluate.finding import FAIL, PASS, WARN, status_for
from ...parsers.systemd.udev_rules import comparing
from .device_steps import remedy, step_of_node
from .facts import ASM_KEY, DRIVERS, Facts, Used
from .policy import NAME, Policy
from .probes import disks
from .required_values import GROUP, MODE, OWNER, number_of, owner_of, persisted_values
from .subjects import NODES, PARTITIONS

rules: Rules[Facts, Policy] = Rules(NAME)

#: Bytes. Blocks of arrays and SSDs are aligned to this size.
_MEBIBYTE = 1 << 20
_PUBLIC = 0o007
_OWN = 0o600
_OTHERS_WRITE = 0o002
#: Sectors in a MiB.
_SECTORS = 2048
#: What begins the names of values that the nodes of a cluster compare.
_OF_DISK = "disk "
_MOST_NAMED = 8


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
    required, stat = owner_of(used, facts), known(used.stat)
    problems, warnings = [], []
    now = (stat.uid, stat.gid, stat.mode & 0o777)
    if any(value not in (None, has) for value, has in zip(required, now)):
        problems.append(f"it is {stat.uid}:{stat.gid} {now[2]:04o}")
    if required.mode != now[2] and now[2] & _PUBLIC:
        problems.append(f"all accounts can use it (mode {now[2]:04o})")
    is_wrong_now = bool(problems)
    answer = attempt(_at_boot, used, facts) if used.opened is None else _by_hand(used)
    if isinstance(answer, HostproofError) and not is_wrong_now:
        raise answer
    persisted, lost, unsafe = if_known(answer, (f"unknown: {answer}", [], []))
    problems += lost
    warnings += unsafe
    is_wrong = bool(problems or warnings)
    fix, commands = _fix_of_owner(used, facts, policy, bool(lost)) if is_wrong else ("", [])
    return Verdict(
        status_for(problems, warnings),
        why="; ".join(problems + warnings) + ".",
        fix=fix,
        commands=commands,
        desired=required.text() + (" (as ASM runs)" if used.entry is None else ""),
        persisted=persisted,
        running=f"{stat.uid}:{stat.gid} {now[2]:04o}",
        in_use=used.by,
        failing_layer=failing(running=is_wrong_now, persisted=bool(lost or unsafe)),
    )


def _fix_of_owner(used: Used, facts: Facts, policy: Policy, is_lost: bool) -> Tuple[str, List[str]]:
    if used.opened is not None:
        return f"set the owner of {used.node} in a udev rule, and use that node in ASM", []
    compared = [] if if_known(facts.old_udev, True) else comparing(if_known(facts.rules, []))
    if is_lost and compared:
        return f"replace == by = for OWNER, GROUP and MODE in {compared[0]}", []
    return remedy(step_of_node, used, facts, policy)


@rules.check(
    "block_devices.labels",
    "Labels of ASMLIB and ASMFD belong to the account of ASM",
    "Label of ASMLIB or ASMFD has a wrong owner or mode",
    severity="critical",
    takes_effect="now",
    why="ASM does not find a disk whose label it cannot open, and an account that can write to the "
    "label can overwrite the disk.",
    reference="oracleasm(8), configure; Cluster Verification Utility, Device Checks for ASM; "
    "ORAchk, Verify ASM disk permissions",
)
def labels(facts: Facts, _policy: Policy) -> Judged:
    if not facts.labels:
        known(facts.found)
        raise Skip(
            "ASM uses no label of ASMLIB or ASMFD, or block_devices_devices lists the disks."
        )
    return [verdict_or_error(_label, path, facts, of=path) for path in sorted(facts.labels)]


def _label(path: str, facts: Facts) -> Verdict:
    stat, owner = known(facts.labels[path]), facts.asm_owner
    mode = stat.mode & 0o777
    if path.startswith(DRIVERS[0]):
        is_good = owner in (None, stat.uid) and mode & _OWN == _OWN and not mode & _PUBLIC
        desired = "readable and writable for its owner, not for others"
        fix = "set ORACLEASM_UID and ORACLEASM_GID (oracleasm configure -i), and rescan"
    else:
        # It is a file with the path of the disk, which the driver opens.
        is_good = stat.uid in (0, stat.uid if owner is None else owner) and not mode & _OTHERS_WRITE
        desired = "not writable for others"
        fix = "label the disk again (asmcmd afd_scan), or set owner and mode"
    account = "the account of ASM" if owner is None else f"uid {owner}"
    return Verdict(
        PASS if is_good else FAIL,
        f"{path} is {stat.uid}:{stat.gid} {mode:04o}.",
        fix=fix,
        desired=f"owner {account}, {desired}",
        running=f"{stat.uid}:{stat.gid} {mode:04o}",
        evidence=["stat:" + path, ASM_KEY],
    )


def _by_hand(used: Used) -> Tuple[str, List[str], List[str]]:
    """Texts for a device node that udev did not create."""
    lost = f"udev did not create {used.opened} (mknod, raw), so it does not exist after reboot"
    return "no udev rule creates it", [lost], []


def _at_boot(used: Used, facts: Facts) -> Tuple[str, List[str], List[str]]:
    """Text of the owner that the udev rules set, its errors, and its possible errors."""
    required = owner_of(used, facts)
    assignments = persisted_values(used, facts, known(facts.rules))
    texts, lost, unsafe = [], [], []
    for key, want in ((OWNER, required.uid), (GROUP, required.gid), (MODE, required.mode)):
        if want is None:
            continue
        assignment, always = assignments[key]
        if assignment is None:
            lost.append(f"no udev rule sets its {key}")
            continue
        texts.append(f"{key} {assignment.value} from {assignment.place}")
        if number_of(key, assignment.value, facts) != want:
            lost.append(f"udev sets its {key} to {assignment.value} ({assignment.place})")
        elif not always:
            unsafe.append(
                f"{assignment.place} sets {key} only when it is added, not at other events"
            )
        elif not assignment.by_identity:
            unsafe.append(
                f"{assignment.place} matches the kernel name, which another disk can have after a "
                "reboot"
            )
    if lost and not known(facts.old_udev):
        lost += [
            f"{place} compares (==) owner, group or mode instead of setting them, and udev leaves "
            "out the whole rule"
            for place in comparing(known(facts.rules))[:_MOST_NAMED]
        ]
    return "; ".join(texts) or "no udev rule: owned by root after reboot", lost, unsafe[:1]


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


@rules.check(
    "block_devices.asm_disks",
    "Each ASM disk is a separate disk with a serial number",
    "ASM disks are one disk or have no serial number",
    severity="critical",
    takes_effect="now",
    why="ASM finds one disk under two paths (ORA-15020), or a failed path takes the disk away. "
    "Without serial numbers the disks of the nodes cannot be compared.",
    reference="Oracle Automatic Storage Management Administrator's Guide, Oracle ASM and "
    "Multipathing; CVU Device Checks for ASM",
)
def asm_disks(facts: Facts, _policy: Policy) -> Verdict:
    known(facts.found)
    used = [device for device in facts.used if _is_of_asm(device)]
    if not used:
        raise Skip("No process of ASM or of an instance has a disk open.")
    by_serial: Dict[str, List[Used]] = {}
    unnamed = []
    for device in used:
        serial = _serial(device, facts)
        if serial is None:
            unnamed.append(device.node)
        else:
            by_serial.setdefault(serial, []).append(device)
    twice = [
        f"{' and '.join(device.node for device in several)} are {serial}"
        for serial, several in by_serial.items()
        if len(several) > 1
    ]
    problems = twice + [f"{node} has no serial number" for node in unnamed]
    return Verdict(
        status_for(twice, unnamed),
        f"{'; '.join(problems[:_MOST_NAMED])}.",
        fix="use the multipath map instead of its paths in ASM; for a VMware guest set "
        "disk.EnableUUID to TRUE, for a disk of virtio set its serial",
        desired="a serial number for each disk",
        running=f"disks: {len(used)}, serial numbers: {len(by_serial)}",
        in_use=", ".join(sorted({device.by for device in used})[:_MOST_NAMED]),
        values={
            **{
                f"{_OF_DISK}{serial}": _size(several[0], facts)
                for serial, several in by_serial.items()
            },
            **{f"{_OF_DISK}{node}": None for node in unnamed},
        },
        evidence=[ASM_KEY],
    )


def _is_of_asm(used: Used) -> bool:
    if used.entry is not None and used.entry.redundancy is not None:
        return True
    return used.asm is not None or used.by.startswith(("ASM (", "instance "))


def _size(used: Used, facts: Facts) -> str:
    return f"{facts.disks[used.below[0]].number('size') // _SECTORS} MiB"


def _serial(used: Used, facts: Facts) -> Optional[str]:
    """A name of the disk that is the same on every host, with the first byte of a partition."""
    disk = facts.disks[used.below[0]]
    properties = known(disk.known).properties
    serial = disk.dm_uuid[len("mpath-") :] if disk.is_multipath else ""
    serial = serial or properties.get("ID_SERIAL") or properties.get("ID_WWN") or disk.dm_uuid
    if not serial:
        return None
    part = known(used.partition)
    return str(serial) if part is None else f"{serial} from byte {part.start}"
