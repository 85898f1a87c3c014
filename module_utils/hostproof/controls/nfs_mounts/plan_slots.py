# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan for the RPC slots: two drop-ins for a reboot, and the values of the kernel.

Both drop-ins are needed: the module reads its parameters from modprobe.d. If nfs-utils applies
sysctl.d after the module is loaded, the values of sysctl.d win.
"""

from typing import List, NamedTuple, Set

from ...apply.change import FileChange, Refusal, ValueChange, header
from ...apply.mount_state import server_of
from ...collect.answer import known, unless_absent
from ...errors import Absent
from ...parsers.kernel import modprobe_d
from ...parsers.systemd import sysctl_d
from ...probes.systemd import boot
from .facts import Facts
from .policy import NAME, Policy
from .probes import rpc_slots

_HEADER = header(NAME)
_MODULE = "sunrpc"
#: The part of the plan that is about the RPC slots.
SLOTS = "RPC slots"


class SlotsPlan(NamedTuple):
    """The part of a plan (change.Plan) that is about the RPC slots."""

    files: List[FileChange]
    values: List[ValueChange]
    refusals: List[Refusal]
    pending: List[str]


def plan_slots(facts: Facts, policy: Policy, unmounted: Set[str]) -> SlotsPlan:
    """``unmounted`` are the mounts that the rest of the plan makes again."""
    decided = SlotsPlan([], [], [], [])
    if policy.slot_table_entries == 0 or not _is_nfs_used(facts, policy):
        return decided
    required = str(policy.slot_table_entries)
    if any(_at_boot(facts.slots, name) != required for name in rpc_slots.NAMES):
        _plan_files(facts, policy, required, decided)
    for name in rpc_slots.NAMES:
        now = facts.slots.running[name]
        if not isinstance(now, Absent) and str(known(now)) != required:
            decided.values.append(ValueChange(rpc_slots.proc_file(name), required, str(known(now))))
    if decided.refusals:
        refused = [refusal._replace(part=SLOTS) for refusal in decided.refusals]
        return SlotsPlan([], [], refused, [])
    if decided.values:
        decided.pending.extend(_until_mounted_again(facts, unmounted))
    return decided


def _until_mounted_again(facts: Facts, unmounted: Set[str]) -> List[str]:
    servers = {
        server_of(mount.source) for mount in known(facts.mounted) if mount.path not in unmounted
    }
    return [
        f"The new RPC slots reach {server} only after all its mounts were unmounted "
        "and mounted again."
        for server in sorted(servers)
    ]


def _is_nfs_used(facts: Facts, policy: Policy) -> bool:
    return bool(known(facts.mounted) or policy.mounts or known(facts.persisted.entries))


def _at_boot(slots: rpc_slots.Slots, name: str) -> str:
    at_boot = rpc_slots.at_boot(slots, name)
    at_boot.settled()
    return "" if at_boot.winner is None else at_boot.winner.value


def _plan_files(facts: Facts, policy: Policy, required: str, decided: SlotsPlan) -> None:
    words = [f"{name}={required}" for name in rpc_slots.NAMES]
    text = "{0}options {1} {2}\n".format(_HEADER, _MODULE, " ".join(words))
    _write(policy.modprobe_file, text, facts, decided)
    later = rpc_slots.with_modprobe_file(facts.slots, policy.modprobe_file, text)
    if known(facts.slots.sysctl_applied_by) is not None:
        lines = [f"{_MODULE}.{name} = {required}\n" for name in rpc_slots.NAMES]
        text = _HEADER + "".join(lines)
        _write(policy.sysctl_file, text, facts, decided)
        later = later._replace(boot=boot.with_sysctl_file(later.boot, policy.sysctl_file, text))
    for name in rpc_slots.NAMES:
        winner = rpc_slots.at_boot(later, name).winner
        if winner is not None and winner.value != required:
            decided.refusals.append(
                Refusal(
                    f"{policy.modprobe_file} would not win at boot, {winner.place} ({name} = "
                    f"{winner.value}) comes later; remove that, or choose a {NAME}_modprobe_file "
                    f"and {NAME}_sysctl_file that are read after it",
                    None,
                )
            )


def _write(path: str, text: str, facts: Facts, decided: SlotsPlan) -> None:
    """Replace a drop-in, unless it contains settings of others, which would be lost."""
    before = unless_absent(facts.files[path], None)
    if text == before:
        return
    decided.files.append(FileChange(path, text, before))
    lost = [] if before is None or before.startswith(_HEADER) else _other_lines(before, path)
    if lost:
        reason = "{0} holds other settings ({1}), which would be lost: choose another file".format(
            path, ", ".join(lost)
        )
        decided.refusals.append(Refusal(reason, None))


def _other_lines(text: str, path: str) -> List[str]:
    """The lines that set something else than the RPC slots."""
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line and line[0] not in "#;" and not _is_ours(line, path)]


def _is_ours(line: str, path: str) -> bool:
    if "modprobe.d/" in path:
        parsed = modprobe_d.parse(line, path)
        return bool(parsed.options) and all(
            option.module == _MODULE and option.name in rpc_slots.NAMES for option in parsed.options
        )
    own = [sysctl_d.normalize(f"{_MODULE}.{name}") for name in rpc_slots.NAMES]
    assignments = sysctl_d.parse(line, path).assignments
    return bool(assignments) and all(assignment.key in own for assignment in assignments)
