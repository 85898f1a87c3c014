# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the size of /dev/shm and of free memory on NUMA nodes."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import HostproofError, ParseError, kind_of
from ...evaluate.advice import Advice, Edit, Run
from ...evaluate.checking import Layer, Rules, Skip, Verdict, known_or_skip, layered
from ...evaluate.finding import PASS, WARN, status_for
from ...parsers.kernel import kernel_cmdline
from ...parsers.number import clipped
from ...parsers.size import human
from ...probes.oracle import next_start
from ...probes.oracle.next_start import Database
from .facts import FSTAB, MOUNTS, SHM, Facts
from .policy import NAME, Policy
from .subjects import skip_unmanaged

rules: Rules[Facts, Policy] = Rules(NAME)

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
#: Percentages of memory that is free or cache. A node is exhausted below the first one. That is a
#: finding if the host is above the second one.
_USED_UP, _PLENTY = 1, 10


@rules.check(
    "memory_pressure.dev_shm",
    "/dev/shm is large enough for memory_target",
    "/dev/shm is too small for memory_target, or mounted noexec",
    severity="high",
    takes_effect="remount",
    why="Instances with memory_target do not start (ORA-00845). They keep all of their memory "
    "in /dev/shm.",
    reference="Oracle Database Administrator's Guide, Automatic Memory Management; tmpfs(5)",
    because_of=("pre_page_sga.memory_target",),
)
def dev_shm(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("dev_shm", policy)
    running = {database.sid: target_of(database) for database in known_or_skip(facts.databases)}
    stopped, unknown = _stopped_targets(facts)
    taken = [(sid, target) for sid, target in [*running.items(), *stopped.items()] if target]
    if not taken:
        known(unknown)
        raise Skip("No instance has memory_target, so /dev/shm can have any size.")
    need = sum(target for _sid, target in taken)
    now, options = _mounted(facts)
    coming, place = _at_boot(facts)
    others = if_known(facts.shm_files, 0)
    is_noexec, is_noexec_later = "noexec" in options, "noexec" in _line_at_boot(facts).options
    problems = _too_small(now, others, coming, need)
    problems += ["it is mounted noexec"] * is_noexec
    problems += ["a reboot mounts it noexec"] * is_noexec_later
    remount = _remount(now, need + others, is_noexec)
    in_use = ", ".join(f"{sid} {human(target)}" for sid, target in taken if sid in running)
    return layered(
        persisted=Layer(f"{human(coming)} ({place})", status_for(coming < need or is_noexec_later)),
        running=Layer(human(now), status_for(now - others < need or is_noexec)),
        in_use=Layer(in_use) if in_use else None,
        also=[("next starts", unknown), ("files there", facts.shm_files)],
        why=f"{'; '.join(problems)}, and the instances require {human(need)}.",
        advice=Advice(
            both=[_in_fstab(facts, need), remount],
            persisted=[_in_fstab(facts, need)],
            running=[remount],
        ),
        desired=f"at least {human(need)} ({', '.join(sid for sid, _target in taken)})",
        values={"wanted": need, "running": now, "persisted": coming, "unit": "bytes"},
        evidence=["file:" + MOUNTS, "file:" + FSTAB],
    )


def _too_small(now: int, others: int, coming: int, need: int) -> List[str]:
    problems = []
    if now - others < need:
        used = f", of which other files take {human(others)}" if others else ""
        problems.append(f"it has {human(now)} now{used}")
    if coming < need:
        problems.append(f"it will have {human(coming)} after a reboot")
    return problems


def _remount(now: int, required: int, is_noexec: bool) -> Run:
    if not now:
        return Run("mount", SHM, text=f"mount {SHM}")
    # Without a line in fstab a remount without options would change nothing.
    options = ["remount"] + ["exec"] * is_noexec
    options += [f"size={_in_mebibytes(required)}"] * (now < required)
    return Run("mount", "-o", ",".join(options), SHM, text=f"remount {SHM} with new options")


def _in_mebibytes(size: int) -> str:
    return f"{-(-size // _UNITS['m'])}m"


def _in_fstab(facts: Facts, need: int) -> Edit:
    size = _in_mebibytes(need)
    options, line = _line_at_boot(facts)
    if not line:
        return Edit(FSTAB, f"tmpfs {SHM} tmpfs defaults,size={size} 0 0")
    what = [] if _size_of(",".join(options), facts) >= need else [f"set size={size}"]
    what += ["remove noexec"] if "noexec" in options else []
    return Edit(FSTAB, what=f"{' and '.join(what)} at {FSTAB}:{line}")


def _stopped_targets(facts: Facts) -> Tuple[Dict[str, int], Answer[None]]:
    """memory_target by SID of those that are down: all that dbstart starts, and the largest of the
    others. The second value is the first error."""
    answers = {
        database.sid: attempt(target_of, database) for database in if_known(facts.stopped, [])
    }
    sizes = {sid: size for sid, size in answers.items() if isinstance(size, int) and size}
    boot = if_known(facts.at_boot, [])
    others = sorted((sid for sid in sizes if sid not in boot), key=sizes.__getitem__)
    problems = [
        answer
        for answer in (facts.stopped, facts.at_boot, *answers.values())
        if isinstance(answer, HostproofError)
    ]
    chosen = {sid: sizes[sid] for sid in sizes if sid in boot or sid in others[-1:]}
    return chosen, problems[0] if problems else None


def target_of(database: Database) -> int:
    """Maximum memory of an instance, by its running values and those of its next start."""
    names = ("memory_target", "memory_max_target")
    sizes = [next_start.running_size(database, name) for name in names]
    sizes += [next_start.next_size(database, name) for name in names]
    return max(size or 0 for size in sizes)


def _mounted(facts: Facts) -> Tuple[int, List[str]]:
    """(bytes, options). Without a size option the size is half of memory."""
    mounts = [entry for entry in known(facts.mounts) if entry.path == SHM]
    if not mounts:
        return 0, []
    # The last mount hides earlier ones.
    mount = mounts[-1]
    return _size_of(mount.super_options, facts), mount.options.split(",")


class _Line(NamedTuple):
    """The line of fstab; 0 without one."""

    options: List[str]
    line: int


def _line_at_boot(facts: Facts) -> _Line:
    for entry in reversed(known(facts.fstab)):
        if entry.path == SHM:
            return _Line(entry.options.split(","), entry.line)
    return _Line([], 0)


def _at_boot(facts: Facts) -> Tuple[int, str]:
    options, line = _line_at_boot(facts)
    place = f"{FSTAB}:{line}" if line else "not in fstab: half of memory"
    return _size_of(",".join(options), facts), place


def _size_of(options: str, facts: Facts) -> int:
    memory: int = known(facts.meminfo)["MemTotal"]
    sizes = [option[5:] for option in options.split(",") if option.startswith("size=")]
    if not sizes:
        return memory // 2
    match = re.match(r"(\d+)([kmgt%]?)\Z", sizes[-1].lower())
    if match is None:
        raise ParseError("size of tmpfs", f"{kind_of(sizes[-1])} is not a size")
    number, unit = clipped(match.group(1)), match.group(2)
    # tmpfs(5): 0 means no limit, which is the whole memory.
    if unit == "%":
        return memory * number // 100
    return number * _UNITS[unit] or memory


@rules.check(
    "memory_pressure.numa",
    "No NUMA node is short of memory while others have memory",
    "A NUMA node is short of memory while others have memory",
    severity="medium",
    takes_effect="now",
    why="Processes bound to that node are reclaimed and swapped, although the host has free "
    "memory.",
    reference="kernel Documentation/admin-guide/mm/numa_memory_policy.rst; numactl(8)",
    because_of=("hugepages.numa_split",),
)
def numa(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("numa", policy)
    nodes = known(facts.nodes)
    if len(nodes) < 2:
        raise Skip("There is one memory node." + _switched_off(facts))
    free, total = sum(node.free for node in nodes), sum(node.total for node in nodes)
    has_plenty = free * 100 > total * _PLENTY
    short = [node.name for node in nodes if node.free * 100 < node.total * _USED_UP]
    return Verdict(
        WARN if short and has_plenty else PASS,
        why=f"{', '.join(short)} has less than {_USED_UP}% free, the host has {human(free)}.",
        fix="distribute the memory of that node (hugepages.numa_split), or bind instances to more "
        "nodes",
        desired=f"at least {_USED_UP}% of each node free if {_PLENTY}% of the host are free",
        running=", ".join(
            f"{node.name} {human(node.free)} of {human(node.total)}" for node in nodes
        ),
        values={f"{node.name} free_bytes": node.free for node in nodes},
        evidence=[node.key for node in nodes] + ["file:/proc/cmdline"],
    )


def _switched_off(facts: Facts) -> str:
    value: Optional[str] = kernel_cmdline.last(known(facts.cmdline), "numa")
    return " The kernel was started with numa=off." if value == "off" else ""
