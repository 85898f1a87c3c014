# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the RPC slot tables, which are the whole host's: at the next boot, and now."""

from typing import List, Optional, Tuple

from ...answer import if_known, known, unless_absent
from ...errors import Absent
from ...finding import FAIL, PASS, SKIP, WARN, Finding, found
from ...parsers.nfs_options import LINUX
from ...probes import rpc_slots
from ...probes.rpc_slots import ENTRIES, MAXIMUM, NAMES
from .checks import SLOT_TABLES_PERSISTED, SLOT_TABLES_RUNNING
from .facts import Facts
from .layers import Layers
from .policy import Policy
from .wanted import why_none

#: What the kernel takes where nobody sets them (net/sunrpc/xprtsock.c).
_DEFAULTS = {ENTRIES: 2, MAXIMUM: 65536}


def _why_not(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> Optional[str]
    """Why the slots are not judged here; None where they are."""
    if known(facts.system) != LINUX:
        return "Only the NFS client of Linux has these limits."
    if policy.slot_table_entries == 0:
        return "nfs_mounts_slot_table_entries is 0: not managed."
    return None if mounts else why_none(facts)


def _desired(policy):
    # type: (Policy) -> str
    return ", ".join("{0} = {1}".format(name, policy.slot_table_entries) for name in NAMES)


def _verdict(values, wanted):
    # type: (List[Tuple[str, int]], int) -> Tuple[str, List[str]]
    """The limit above decides about the flood, the number at the start only about a warm-up."""
    status, wrong = PASS, []
    for name, value in values:
        if value == wanted:
            continue
        wrong.append("{0} is {1}, not {2}".format(name, value, wanted))
        if name == MAXIMUM and value > wanted:
            status = FAIL
        elif status == PASS:
            status = WARN
    return status, wrong


def judge_slot_tables_persisted(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> Finding
    check = SLOT_TABLES_PERSISTED
    why_not = _why_not(mounts, facts, policy)
    if why_not:
        return found(check, SKIP, why=why_not)
    at_boot = {name: rpc_slots.at_boot(facts.slots, name) for name in NAMES}
    values, texts, evidence, places = [], [], [], []
    for name in NAMES:
        winner = at_boot[name].winner
        number = int(winner.value) if winner and winner.value.isdecimal() else _DEFAULTS[name]
        values.append((name, number))
        where = winner.place if winner else "the kernel's default"
        texts.append("{0} = {1} ({2})".format(name, number, where))
        if winner and winner.place.startswith("/"):
            evidence.append("file:" + winner.place.rpartition(":")[0])
            places.append(winner.place)
    status, wrong = _verdict(values, policy.slot_table_entries)
    losers = [loser for name in NAMES for loser in at_boot[name].losers]
    why = "At the next boot {0}.".format(", ".join(wrong))
    if losers:
        why += " What does not count: {0}.".format("; ".join(losers))
    return found(
        check,
        status,
        why=why,
        fix=_fix(policy, [one for one in places if not one.startswith(policy.modprobe_file)]),
        desired=_desired(policy),
        persisted=", ".join(texts),
        running=_in_words(facts),
        evidence=evidence + ["dir:/etc/modprobe.d", "file:/proc/cmdline"],
    )


def _fix(policy, places):
    # type: (Policy, List[str]) -> str
    words = " ".join("{0}={1}".format(name, policy.slot_table_entries) for name in NAMES)
    fix = "./hostproof apply, or: echo 'options sunrpc {0}' > {1}".format(
        words, policy.modprobe_file
    )
    if places:
        fix += "; and take it out of " + ", ".join(sorted(set(places)))
    return fix


def judge_slot_tables_running(mounts, facts, policy):
    # type: (List[Layers], Facts, Policy) -> Finding
    check = SLOT_TABLES_RUNNING
    why_not = _why_not(mounts, facts, policy)
    if why_not:
        return found(check, SKIP, why=why_not)
    running = facts.slots.running
    if all(isinstance(running[name], Absent) for name in NAMES):
        return found(check, SKIP, why="The kernel has not loaded sunrpc: nothing is mounted.")
    wanted = policy.slot_table_entries
    status, wrong = _verdict([(name, known(running[name])) for name in NAMES], wanted)
    parts = ["In the kernel {0}.".format(", ".join(wrong))] if wrong else []
    used = _used(facts)
    older = ["{0} has used {1}".format(path, slots) for path, slots in used if slots > wanted]
    if older:
        # A limit reaches only servers that are mounted after it was set.
        status = FAIL
        parts.append(
            "Mounted before the limit: {0} slots of one connection.".format(", ".join(older))
        )
    return found(
        check,
        status,
        why=" ".join(parts),
        fix="./hostproof apply, or: {0}; then unmount every mount of the server and mount them "
        "again, or reboot".format(
            "; ".join("sysctl -w sunrpc.{0}={1}".format(name, wanted) for name in reversed(NAMES))
        ),
        desired=_desired(policy),
        running=_in_words(facts),
        # Where the limits are wrong, what was used below them explains nothing.
        in_use=", ".join(older if status != PASS else ["{0} has used {1}".format(*o) for o in used])
        or None,
        evidence=["file:" + rpc_slots.proc_file(name) for name in NAMES] + _sampled(facts),
    )


def _in_words(facts):
    # type: (Facts) -> str
    return ", ".join(
        "{0} = {1}".format(name, if_known(facts.slots.running[name], "unknown")) for name in NAMES
    )


def _used(facts):
    # type: (Facts) -> List[Tuple[str, int]]
    """(path, the most slots that a connection of it ever used), where the kernel tells."""
    traffic = unless_absent(facts.traffic, None)
    mounts = traffic.mounts.values() if traffic else ()
    return sorted((one.path, one.max_slots) for one in mounts if one.max_slots is not None)


def _sampled(facts):
    # type: (Facts) -> List[str]
    traffic = if_known(facts.traffic, None)
    return list(traffic.evidence) if traffic else []
