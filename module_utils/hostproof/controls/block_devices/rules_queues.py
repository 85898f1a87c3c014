# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of each disk's queue: scheduler, depth, request size, and rotational flag."""

from typing import List, Sequence, Tuple

from ...collect.answer import if_known, known
from ...evaluate.checking import Rules, Skip, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN
from .device_steps import remedy, step_of_target
from .facts import Facts
from .policy import NAME, Policy
from .probes import disks
from .required_values import ACCEPTED, Target, Wanted, settings, value_at_boot, value_of
from .subjects import QUEUES

rules: Rules[Facts, Policy] = Rules(NAME)

_SYSFS = "Linux, Documentation/ABI/stable/sysfs-block"


def _judge(
    target: Target, wants: Sequence[Wanted], named: bool, facts: Facts, policy: Policy
) -> Verdict:
    """Check values now and after a reboot. If the policy does not name them (``named``), a value
    that no rule sets is the kernel's default and passes."""
    disk = target.disk
    problems: List[str] = []
    is_wrong_now = False
    now, coming = [], []
    for want in wants:
        name, value = want.key.rpartition("/")[2], value_of(disk, want.key)
        now.append(f"{name} {value}")
        if value not in want.values:
            problems.append(f"{name} is {value}")
            is_wrong_now = True
        assignment = value_at_boot(disk, want.key, facts, known(facts.rules))
        coming.append(
            f"{name}: nothing sets it" if assignment is None else f"{name} {assignment.value}"
        )
        if assignment is not None:
            coming[-1] += f" from {assignment.place}"
            if assignment.value not in want.values:
                problems.append(f"{assignment.place} sets {name} to {assignment.value} at boot")
        elif named:
            problems.append(f"nothing sets {name} at boot")
    status = FAIL if problems else PASS
    fix, commands = remedy(step_of_target, target, facts, policy) if problems else ("", [])
    return Verdict(
        status,
        why="; ".join(problems) + ".",
        fix=fix,
        commands=commands,
        desired="; ".join(want.text for want in wants),
        persisted="; ".join(coming),
        running="; ".join(now),
        evidence=["file:" + disk.file(want.key) for want in wants] + ["lines:udev_block"],
        failing_layer=failing(running=is_wrong_now, persisted=True),
    )


@rules.check(
    "block_devices.scheduler",
    "I/O scheduler suits array storage",
    "I/O scheduler does not suit array storage",
    severity="medium",
    takes_effect="now",
    why="Requests of the log writer are delayed. Schedulers such as cfq, bfq and kyber divide "
    "a disk between processes.",
    reference="Oracle Grid Infrastructure Installation Guide for Linux, Setting the Disk I/O "
    "Scheduler; Cluster Verification Utility, PRVG-11976",
    each=QUEUES,
)
def scheduler(target: Target, facts: Facts, policy: Policy) -> Verdict:
    wants = [setting for setting in settings(target) if setting.key == disks.SCHEDULER]
    default = [Wanted(disks.SCHEDULER, ACCEPTED)]
    return _judge(target, wants or default, bool(wants), facts, policy)


@rules.check(
    "block_devices.queue",
    "Queue depth and request size match the policy",
    "Queue depth or request size differs from the policy",
    severity="medium",
    takes_effect="now",
    why="A short queue leaves the array idle, and a long queue delays each request. A path "
    "rejects requests that are too large.",
    reference=_SYSFS + ", nr_requests, max_sectors_kb; the array's host guide",
    each=QUEUES,
)
def queue(target: Target, facts: Facts, policy: Policy) -> Verdict:
    keys = (disks.REQUESTS, disks.DEPTH, disks.SECTORS)
    wants = [setting for setting in settings(target) if setting.key in keys]
    if not wants:
        texts = [
            f"{key.rpartition('/')[2]} {if_known(target.disk.values[key], '-')}" for key in keys
        ]
        raise Skip(f"The policy requires none of them: {', '.join(texts)}.")
    return _judge(target, wants, True, facts, policy)


@rules.check(
    "block_devices.disk_type",
    "Kernel detects the disk type correctly",
    "Kernel reports the wrong disk type (rotational flag)",
    severity="low",
    takes_effect="now",
    why="TuneD, udev rules and the kernel choose an unsuitable I/O scheduler and read-ahead. "
    "They rely on this flag.",
    reference=_SYSFS + ", rotational, write_cache, discard_max_bytes",
    each=QUEUES,
)
def disk_type(target: Target, facts: Facts, policy: Policy) -> Verdict:
    disk = target.disk
    wants = [setting for setting in settings(target) if setting.key == disks.ROTATIONAL]
    text = _describe_target(target)
    if wants:
        verdict = _judge(target, wants, True, facts, policy)
        return verdict._replace(in_use=text)
    spins = known(disk.values[disks.ROTATIONAL]) == "1"
    is_odd = spins and disk.name.startswith(("nvme", "vd", "xvd"))
    return Verdict(
        WARN if is_odd else PASS,
        why="The kernel reports a rotating disk. The hypervisor sets this, or it is wrong.",
        fix="if it is not a rotating disk, set rotational: false for it in block_devices_devices",
        running=text,
        evidence=["file:" + disk.file(disks.ROTATIONAL), "file:" + disk.file(disks.CACHE)],
    )


def _describe_target(target: Target) -> str:
    names: Tuple[Tuple[str, str], ...] = (
        ("rotational", disks.ROTATIONAL),
        ("write cache", disks.CACHE),
        ("discards of bytes", disks.DISCARD),
    )
    values = target.disk.values
    return ", ".join(f"{name} {if_known(values[key], 'not told')}" for name, key in names)
