# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connections of a mount; the RPC slots, which are the whole host's, now and after a
reboot."""

from typing import List, Optional, Tuple

from ...apply.mount_state import server_of
from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Edit
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.nfs.nfs_options import LINUX
from ...parsers.number import clipped
from ...probes.nfs.nfs_traffic import EVIDENCE
from .checked_mounts import judged_mounts, why_none
from .facts import Facts
from .mount_fixes import Again
from .mount_layers import Layers, persisted_words
from .plan_slots import SLOTS
from .policy import NAME, Policy
from .probes import rpc_slots
from .probes.rpc_slots import ENTRIES, MAXIMUM, NAMES
from .subjects import MOUNTS_OF_ANY_CLASS, NETAPP, NFS_5

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "nfs_mounts.nconnect",
    "Mount has the requested number of connections",
    "Mount does not have the requested number of connections",
    severity="low",
    takes_effect="remount",
    why="The first mount of a server determines the number of connections of all its mounts.",
    reference=NFS_5 + ", nconnect",
    each=MOUNTS_OF_ANY_CLASS,
)
def nconnect(layers: Layers, facts: Facts, _policy: Policy) -> Verdict:
    """Whether a mount has the connections that the policy or its persisted entry requests."""
    evidence = layers.evidence()
    if layers.running is None:
        raise Skip(f"{layers.path} is not mounted.", evidence)
    required = layers.wanted.overrides.get("nconnect")
    # Where the policy names a number, what persists it is checked with the other options.
    requested = known(layers.requested) if required is None else None
    goal = _number(required or (requested or {}).get("nconnect"))
    running = _number(layers.running.get("nconnect"))
    traffic = if_known(facts.traffic, None)
    mount = None if traffic is None else traffic.mounts.get(layers.path)
    connections = running if mount is None else mount.connections
    if goal == running == connections == 1:
        raise Skip("No more than one connection is requested.", evidence)
    server = layers.wanted.source.partition(":/")[0]
    return Verdict(
        PASS if running == goal and connections >= goal else WARN,
        why=f"{layers.path} has {connections} connections and not {goal}: the first mount of "
        f"{server} decided for all.",
        advice=Advice([Ask(_connect(layers, running, goal))]),
        desired=f"nconnect={goal}",
        persisted=persisted_words(layers, ["nconnect"]),
        running=f"nconnect={running}",
        values={"wanted": goal, "running": connections},
        in_use=None if mount is None else f"{connections} connections",
        evidence=evidence + (() if mount is None else (EVIDENCE,)),
    )


def _connect(layers: Layers, running: int, goal: int) -> str:
    """More connections do no harm, so they are kept: a reboot would take them."""
    if running > goal:
        return (
            f"decide: nconnect={running} in the options of {layers.path}, where they are persisted "
            f"and in nfs_mounts_mounts, keeps these connections after a reboot; nconnect={goal} "
            "comes with the next mount after all mounts of the server were unmounted"
        )
    server = layers.wanted.source.partition(":/")[0]
    return (
        f"stop what uses the mounts of {server}, unmount all of them, then mount them with "
        f"nconnect={goal}"
    )


def _number(text: Optional[str]) -> int:
    return clipped(text) if text and text.isdecimal() else 1


# -- RPC slots ------------------------------------------------------------------------------------


#: Defaults of the kernel (net/sunrpc/xprtsock.c).
_DEFAULTS = {ENTRIES: 2, MAXIMUM: 65536}


def _skip_unless_judged(facts: Facts, policy: Policy) -> None:
    if known(facts.system) != LINUX:
        raise Skip("Only the NFS client of Linux has these limits.")
    if policy.slot_table_entries == 0:
        raise Skip("nfs_mounts_slot_table_entries is 0: not managed.")
    if not judged_mounts(facts, policy):
        raise Skip(why_none(facts))


@rules.check(
    "nfs_mounts.slot_tables_persisted",
    "RPC slots are limited after reboot",
    "RPC slots are not limited as requested after reboot",
    severity="medium",
    takes_effect="reboot",
    why="The client sends up to 65,536 requests at once and overloads the server.",
    reference=NETAPP + ", NFS TCP slot tables; SUSE 000019281",
)
def slot_tables_persisted(facts: Facts, policy: Policy) -> Verdict:
    _skip_unless_judged(facts, policy)
    at_boot = {name: rpc_slots.at_boot(facts.slots, name) for name in NAMES}
    values, texts, places = [], [], []
    for name in NAMES:
        winner = at_boot[name].winner
        number = int(winner.value) if winner else _DEFAULTS[name]
        values.append((name, number))
        where = winner.place if winner else "the kernel's default"
        texts.append(f"{name} = {number} ({where})")
        if where.startswith("/"):
            places.append(where)
    status, wrong = _verdict(values, policy.slot_table_entries)
    if status != FAIL:
        for name in NAMES:
            at_boot[name].settled()
    losers = [loser for name in NAMES for loser in at_boot[name].losers]
    why = "At the next reboot {0}.".format(", ".join(wrong))
    if losers:
        why += " What does not count: {0}.".format("; ".join(losers))
    return layered(
        persisted=Layer(", ".join(texts), status),
        why=why,
        running=Layer(_in_words(facts)),
        advice=_advice_of_limits(places, policy),
        desired=_desired(policy),
        values=dict(values),
        evidence=["file:" + place.rpartition(":")[0] for place in places]
        + ["dir:/etc/modprobe.d", "file:/proc/cmdline"],
    )


def _advice_of_limits(places: List[str], policy: Policy) -> Advice:
    """``places`` are those that set the limits now."""
    own = (policy.modprobe_file, policy.sysctl_file)
    foreign = sorted({place for place in places if not place.startswith(own)})
    return Advice(
        [
            *(Edit(place, what=f"remove the sunrpc options from {place}") for place in foreign),
            Apply(NAME, SLOTS, f"options sunrpc {_words(policy)} in {policy.modprobe_file}"),
        ]
    )


def _words(policy: Policy) -> str:
    return " ".join(f"{name}={policy.slot_table_entries}" for name in NAMES)


@rules.check(
    "nfs_mounts.slot_tables_running",
    "RPC slots are limited in the running kernel",
    "RPC slots are not limited as requested in the running kernel",
    severity="medium",
    takes_effect="remount",
    why="The client can overload the server. New limits apply only after all mounts of the "
    "server are unmounted and mounted again.",
    reference=NETAPP + ", NFS TCP slot tables; SUSE 000019281",
    because_of=("nfs_mounts.slot_tables_persisted",),
)
def slot_tables_running(facts: Facts, policy: Policy) -> Verdict:
    _skip_unless_judged(facts, policy)
    running = facts.slots.running
    if all(isinstance(running[name], Absent) for name in NAMES):
        raise Skip("The kernel has not loaded sunrpc: nothing is mounted.")
    required = policy.slot_table_entries
    values = [(name, if_known(running[name], 0)) for name in NAMES if not _is_error(running[name])]
    status, wrong = _verdict(values, required)
    parts = ["In the kernel {0}.".format(", ".join(wrong))] if wrong else []
    used = attempt(_used, facts)
    older = [(path, slots) for path, slots in if_known(used, []) if slots > required]
    if older:
        # A limit reaches only servers that are mounted after it was set.
        parts.append(f"Mounted before the limit: {_used_in_words(older)} slots of one connection.")
    again = _mounted_again(older, facts)
    limits = ", ".join(f"sunrpc.{name} = {required}" for name in reversed(NAMES))
    return layered(
        running=Layer(_in_words(facts), status),
        in_use=_layer_in_use(used, older, bool(wrong)),
        also=[(f"sunrpc.{name}", running[name]) for name in NAMES],
        advice=Advice(
            both=[Apply(NAME, SLOTS, f"{limits} in the running kernel"), again], in_use=[again]
        ),
        why=" ".join(parts),
        desired=_desired(policy),
        values=dict(values + [(path + " slots", slots) for path, slots in if_known(used, [])]),
        evidence=["file:" + rpc_slots.proc_file(name) for name in NAMES] + _sampled(facts),
    )


def _used_in_words(used: List[Tuple[str, int]]) -> str:
    return ", ".join(f"{path} has used {slots}" for path, slots in used)


def _layer_in_use(
    used: Answer[List[Tuple[str, int]]], older: List[Tuple[str, int]], is_wrong: bool
) -> Optional[Layer]:
    if isinstance(used, HostproofError):
        return Layer(used, PASS)
    # Where the limits are wrong, what was used below them explains nothing.
    shown = _used_in_words(older if older or is_wrong else used)
    return Layer(shown, FAIL if older else PASS) if shown else None


def _mounted_again(older: List[Tuple[str, int]], facts: Facts) -> Again:
    servers = {mount.path: server_of(mount.source) for mount in known(facts.mounted)}
    older_servers = {servers[path] for path, _slots in older if path in servers}
    return Again(
        "stop what uses the mounts of {0}, unmount all of them and mount them again, or reboot "
        "the host".format(", ".join(sorted(older_servers or set(servers.values()))))
    )


def _is_error(answer: Answer[int]) -> bool:
    return isinstance(answer, HostproofError)


def _desired(policy: Policy) -> str:
    return ", ".join(f"{name} = {policy.slot_table_entries}" for name in NAMES)


def _verdict(values: List[Tuple[str, int]], required: int) -> Tuple[str, List[str]]:
    """The limit above decides about the flood, the number at the start only about a warm-up."""
    status, wrong = PASS, []
    for name, value in values:
        if value == required:
            continue
        wrong.append(f"{name} is {value}, not {required}")
        if name == MAXIMUM and value > required:
            status = FAIL
        elif status == PASS:
            status = WARN
    return status, wrong


def _in_words(facts: Facts) -> str:
    return ", ".join(
        "{0} = {1}".format(name, if_known(facts.slots.running[name], "unknown")) for name in NAMES
    )


def _used(facts: Facts) -> List[Tuple[str, int]]:
    """(path, the most slots that a connection of it ever used), where the kernel shows."""
    traffic = unless_absent(facts.traffic, None)
    mounts = traffic.mounts.values() if traffic else ()
    return sorted((mount.path, mount.max_slots) for mount in mounts if mount.max_slots is not None)


def _sampled(facts: Facts) -> List[str]:
    traffic = if_known(facts.traffic, None)
    return list(traffic.evidence) if traffic else []
