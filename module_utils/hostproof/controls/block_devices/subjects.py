# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Subjects of the checks: device nodes, partitions, queues, multipath maps, iSCSI sessions."""

from typing import List, Tuple

from ...collect.answer import Answer
from ...evaluate.checking import Subjects
from .facts import ASM_KEY, STATUS, TABLE, Facts, Used
from .policy import Policy
from .probes.disks import Disk
from .probes.iscsi import Session
from .required_values import Target, is_owned, targets, with_problem

_NOTHING = "Neither ASM nor an instance uses a disk that the policy manages."


def _none(facts: Facts, policy: Policy) -> str:
    if policy.devices is not None and not facts.used:
        return "No device of this host matches block_devices_devices."
    if facts.drivers:
        return f"ASMLIB or ASMFD manages the disks of ASM: {facts.drivers[0]}."
    return _NOTHING


def _owned(facts: Facts, _policy: Policy) -> List[Answer[Used]]:
    return with_problem([device for device in facts.used if is_owned(device)], facts)


def _partitions(facts: Facts, _policy: Policy) -> List[Answer[Used]]:
    return with_problem([device for device in facts.used if device.partition is not None], facts)


def _targets(facts: Facts, _policy: Policy) -> List[Answer[Target]]:
    return with_problem(targets(facts), facts)


def _maps(facts: Facts, _policy: Policy) -> List[Answer[Disk]]:
    return with_problem(facts.maps(), facts)


def _of_node(device: Used) -> Tuple[str, ...]:
    keys = ("stat:" + device.node, "lines:udev_block")
    return keys if device.asm is None else (ASM_KEY, *keys)


def _of_target(target: Target) -> Tuple[str, ...]:
    return ("file:" + target.disk.file("queue/scheduler"), "lines:udev_block")


def _of_map(_one: Disk) -> Tuple[str, ...]:
    return tuple("command:" + " ".join(argv) for argv in (TABLE, STATUS))


IN_USE: Subjects[Facts, Policy, Used] = Subjects(
    lambda facts, _policy: with_problem(facts.used, facts),
    none=_none,
    name=lambda device: str(device.node),
    evidence=_of_node,
)
NODES = Subjects(_owned, none=_none, name=lambda device: str(device.node), evidence=_of_node)
PARTITIONS = Subjects(
    _partitions,
    none="No disk that Oracle uses is a partition.",
    name=lambda device: str(device.node),
    evidence=lambda device: (f"link:/sys/class/block/{device.name}",),
)
QUEUES = Subjects(
    _targets, none=_none, name=lambda target: str(target.disk.title), evidence=_of_target
)
MAPS = Subjects(
    _maps,
    none="No disk that Oracle uses is on a multipath map.",
    name=lambda disk: str(disk.title),
    evidence=_of_map,
)
SESSIONS: Subjects[Facts, Policy, Session] = Subjects(
    lambda facts, _policy: with_problem(facts.sessions, facts),
    none="No disk that Oracle uses has an iSCSI session.",
    name=lambda session: str(session.title),
    evidence=lambda session: (str(session.key),),
)
