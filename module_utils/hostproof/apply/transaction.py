# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out a plan, and restores what the change journal holds.

Every change is journaled before it is made and read back after. Whatever goes wrong on the
way, a short grant of the kernel included, everything of this plan is restored before the
error is raised.
"""

import base64
import errno
import os
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple, TypeVar

from ..collect import command, guarded
from ..collect.answer import attempt
from ..collect.host import Host
from ..errors import HostproofError
from ..evaluate.policy import WINDOW_FIELD
from . import file_attributes, mounting
from .change import (
    CommandChange,
    FileChange,
    MountChange,
    MountState,
    Plan,
    Refusal,
    ValueChange,
    active_value,
    encode,
)
from .difference import mount_text, normal_source, steps_text
from .journal import Entry, Journal, Transaction, describe_file, digest, missing_folders
from .writer import Writer

#: Where systemd takes mounts from; it goes on with what it read until it is told to read again.
UNIT_SOURCES = ("/etc/fstab", "/etc/systemd/system/")


#: Characters of a value of the kernel.
_VALUE_LIMIT = 1024 * 1024


class Refused(HostproofError):
    """The plan would harm the host; nothing was changed."""


class NotGranted(HostproofError):
    """The host did not take a change; what was changed before has been restored."""


class NotMade(NotGranted):
    """A command failed that then changes nothing: of ``change`` there is nothing to undo."""

    def __init__(self, change: CommandChange, problem: HostproofError) -> None:
        super().__init__(str(problem))
        self.change = change


F = TypeVar("F")


def plan_of(
    read: Callable[[Host, Any], F], plan: Callable[[F, Any], Plan], host: Host, policy: Any
) -> Plan:
    """The plan of a control for this host. None rests on rates, so that no window is waited for."""
    if WINDOW_FIELD in policy._fields:
        policy = policy._replace(**{WINDOW_FIELD: 0.0})
    return plan(read(host, policy), policy)


def refuse(plan: Plan, prefix: str, journal: Optional[Journal] = None) -> None:
    """Raise Refused with every reason, and for each the variable that takes the risk.

    The reason against a part is one only if the plan has nothing else (left_out).
    ``journal`` is that of this host, if it is not at the usual place.
    """
    journal = journal or Journal(Writer())
    reasons = _unreplaceable_targets(plan, journal)
    if plan.changes:
        reasons += journal.obstacles()
    reasons += mounting.obstacles(
        [change for change in plan.changes if isinstance(change, MountChange)]
    )
    reasons += _reasons(
        (refusal for refusal in plan.refusals if not (refusal.part and plan.changes)), prefix
    )
    if reasons:
        raise Refused("rejected, nothing was changed: " + "; ".join(reasons))


def left_out(plan: Plan, prefix: str) -> List[str]:
    """Why parts of the plan are not carried out, a sentence for each."""
    parts = (refusal for refusal in plan.refusals if refusal.part)
    return [f"Not changed: {reason}." for reason in _reasons(parts, prefix)]


def _reasons(refusals: Iterable[Refusal], prefix: str) -> List[str]:
    """Each reason once: it can speak against several parts."""
    reasons: List[str] = []
    for refusal in refusals:
        override = refusal.override
        accept = "" if override is None else f" (or accept that: {prefix}_{override}: true)"
        reason = refusal.reason.rstrip(".") + accept
        if reason not in reasons:
            reasons.append(reason)
    return reasons


def _unreplaceable_targets(plan: Plan, journal: Journal) -> List[str]:
    """Files that cannot be replaced with all that they have, and what is no file.

    A link to /dev/null masks a drop-in: writing through it would put a file in the device's place.
    """
    reasons = []
    for change in plan.changes:
        if isinstance(change, FileChange):
            reasons.extend(_unreplaceable_reasons(change, journal))
    return reasons


def _unreplaceable_reasons(change: FileChange, journal: Journal) -> List[str]:
    path = change.path
    try:
        kind = guarded.as_owner(path, guarded.kind, change.owner)
        if kind == "missing" and guarded.as_owner(path, guarded.kind, follow=False) == "link":
            return [f"{path} is a link that leads nowhere: move it away, or choose another file"]
        if kind in ("file", "missing"):
            return _obstacles(change, journal)
    except HostproofError as problem:
        return [str(problem)]
    except OSError as problem:
        return [f"{path}: {problem.strerror or problem}"]
    return [f"{path} is not a regular file: move it, or choose another file"]


def _obstacles(change: FileChange, journal: Journal) -> List[str]:
    obstacle = guarded.as_owner(change.path, file_attributes.obstacle, change.owner)
    if obstacle is not None:
        return [str(obstacle)]
    links = guarded.as_owner(change.path, file_attributes.hard_links, change.owner)
    if links is not None:
        number, device, inode = links
        if number - journal.originals_of(device, inode) > 1:
            return [
                f"{change.path} has more than one name (hard links), and the others would keep the "
                "old content: make it a separate file"
            ]
    return []


def apply_plan(plan: Plan, control: str, journal: Journal, writer: Writer) -> None:
    """Make every change of the plan, or none."""
    if plan.changes:
        with journal.exclusive_lock("apply of " + control):
            _refuse_stale(plan, journal)
            _apply(plan, control, journal, writer)


def _refuse_stale(plan: Plan, journal: Journal) -> None:
    """Raise Refused if the host changed after the plan was created. Sampling takes time, and the
    plan would overwrite a change that was made during that time."""
    odd = _unreplaceable_targets(plan, journal)
    if odd:
        raise Refused("rejected, nothing was changed: " + "; ".join(odd))
    stale = [
        change.path
        for change in plan.changes
        if isinstance(change, FileChange)
        and _content_of(describe_file(change.path, change.owner))
        != (None if change.before is None else encode(change.before))
    ]
    stale += [
        change.path
        for change in plan.changes
        if isinstance(change, ValueChange) and read_value(change.path) != change.before
    ]
    stale += mounting.changed_since(
        [change for change in plan.changes if isinstance(change, MountChange)]
    )
    if stale:
        raise Refused(
            "rejected, nothing was changed: {0} changed after the plan was made; "
            "apply again".format(", ".join(stale))
        )


def _apply(plan: Plan, control: str, journal: Journal, writer: Writer) -> None:
    name = journal.begin(control)
    try:
        # All of it before the first change: after a crash in between, a reboot may already set
        # values from the new files, and revert must know the old ones.
        for change in plan.at_boot + plan.changes:
            if isinstance(change, MountChange):
                journal.record_folders(name, _missing_mount_point(change, plan))
            journal.record(name, change)
        _carry_out(plan, writer)
    except (HostproofError, OSError) as problem:
        raise NotGranted(_put_back_after(problem, name, journal, writer)) from problem


def _carry_out(plan: Plan, writer: Writer) -> None:
    stale_units = False
    for change in plan.changes:
        if isinstance(change, FileChange):
            _write_file(change, writer)
            stale_units = stale_units or change.path.startswith(UNIT_SOURCES)
            continue
        if stale_units:
            # Before any mount: systemd would mount what it read before.
            writer.reload_units()
            stale_units = False
        if isinstance(change, MountChange):
            for folder in _missing_mount_point(change, plan):
                writer.make_folder(folder)
            mounting.carry_out(change, _old_mounts(plan).get(change.path), writer)
        elif isinstance(change, CommandChange):
            _run_commands(change, writer)
        else:
            _write_value(change, writer)
    if stale_units:
        writer.reload_units()


def _old_mounts(plan: Plan) -> Dict[str, MountState]:
    """Mounts that the plan unmounts, by path."""
    mounts = [change for change in plan.changes if isinstance(change, MountChange)]
    return {change.path: change.before for change in mounts if change.before is not None}


def _missing_mount_point(change: MountChange, plan: Plan) -> List[str]:
    """Directories to create for a mount. The directory of a mounted path exists. It is not checked,
    because its server may not answer."""
    if change.after is None or change.path in _old_mounts(plan):
        return []
    return missing_folders(change.path + "/")


def _put_back_after(problem: Exception, name: str, journal: Journal, writer: Writer) -> str:
    """Undo a plan that failed half way, and say how that went."""
    try:
        transaction = journal.transaction(name)
        if isinstance(problem, NotMade):
            unmade = ("command", problem.change.name)
            entries = [entry for entry in transaction.entries if (entry.kind, entry.path) != unmade]
            transaction = transaction._replace(entries=entries)
        put_back(transaction, writer)
        journal.close(name)
    except (HostproofError, OSError) as second:
        return f"{problem}; restoring the old state failed too: {second}; run revert"
    return f"{problem}; the old state is restored"


def _write_file(change: FileChange, writer: Writer) -> None:
    for folder in missing_folders(change.path):
        writer.make_folder(folder)
    if change.content is None:
        writer.remove_file(change.path)
        return
    content = encode(change.content)
    kept = describe_file(change.path, change.owner)
    if kept is None:
        writer.write_file(change.path, content, change.mode)
    else:
        writer.write_file(
            change.path, content, kept["mode"], kept["uid"], kept["gid"], kept["attributes"]
        )
    current = describe_file(change.path, change.owner)
    if _content_of(current) != content:
        raise NotGranted(f"{change.path} does not hold what was written to it")
    if kept is not None and not file_attributes.is_as(
        current, dict(kept, content=_base64(content))
    ):
        raise NotGranted(f"{change.path} has not the owner, mode and attributes that it had")


def _write_value(change: ValueChange, writer: Writer) -> None:
    writer.write_value(change.path, change.value)
    granted = read_value(change.path)
    if granted != change.value:
        raise NotGranted(f"{change.path}: requested {change.value}, the kernel granted {granted}")


def _run_commands(change: CommandChange, writer: Writer) -> None:
    for number, step in enumerate(change.make):
        try:
            writer.run(step)
        except command.Failed as problem:
            if change.atomic and number == 0:
                raise NotMade(change, problem) from problem
            raise
    state = writer.run(change.look)
    if state == change.before if change.after is None else state != change.after:
        raise NotGranted(
            "{0}: requested {1}, found {2}".format(
                change.name, change.after or "another state", state
            )
        )


def read_value(path: str) -> str:
    """What a file under /proc or /sys says now."""
    with open(path) as stream:
        return active_value(stream.read(_VALUE_LIMIT))


class Restored(NamedTuple):
    """One state that revert puts (or, in check mode, would put) back."""

    path: str
    now: Optional[str]
    before: Optional[str]


def transactions_to_revert(
    transactions: List[Transaction], keep: List[str], only: Optional[List[str]] = None
) -> List[Transaction]:
    """The transactions (newest first) but those named in ``keep``; with ``only`` no others than
    those. Refused where one that stays is newer than any that is restored: it may rest on that."""
    left = [transaction for transaction in transactions if transaction.name not in keep]
    if only is not None:
        left = [transaction for transaction in left if transaction.name in only]
    staying = {transaction.name for transaction in transactions} - {
        transaction.name for transaction in left
    }
    newer = sorted(name for name in staying if left and name > left[-1].name)
    if newer:
        raise Refused(
            "rejected, nothing was changed: {0} came after {1}, so this cannot be reverted "
            "alone; revert that first, or all of it with latency_gate_revert_later: true".format(
                ", ".join(newer), left[-1].name
            )
        )
    return left


def restorations(transactions: List[Transaction]) -> List[Restored]:
    """Changes that restoring the transactions in that order would make; nothing is written.

    Later restorations of a path win, so only the last one of each path counts.
    """
    last: Dict[str, Restored] = {}
    for transaction in transactions:
        for entry in reversed(transaction.entries):
            if entry.kind == "folder":
                continue
            now = _text(_state_of(entry))
            last.pop(entry.path, None)
            last[entry.path] = Restored(entry.path, now, _text(_before_of(entry)))
    return [restoration for restoration in last.values() if restoration.now != restoration.before]


def refuse_if_edited_since(transactions: List[Transaction], overwrite: bool) -> None:
    """Raise Refused if a file or mount was changed after Hostproof changed it: revert would
    overwrite that change."""
    edited = set() if overwrite else _edited_files(transactions) | _other_mounts(transactions)
    if edited:
        raise Refused(
            "rejected, nothing was changed: {0} was edited after Hostproof wrote it; move "
            "your edit "
            "elsewhere, or accept its loss with hostproof_revert_overwrite: true".format(
                ", ".join(sorted(edited))
            )
        )


def refuse_in_use(transactions: List[Transaction]) -> None:
    """Raise Refused if a database uses what revert would unmount, and umount would not notice."""
    using = mounting.used_by_direct_nfs(_oldest_mounts(transactions))
    if using:
        raise Refused(
            "rejected, nothing was changed: in use is {0}; stop that first".format("; ".join(using))
        )


def _oldest_mounts(transactions: List[Transaction]) -> List[Tuple[str, Optional[MountState]]]:
    entries = [entry for transaction in reversed(transactions) for entry in transaction.entries]
    return _mounts_before(Transaction("", "", entries))


def _other_mounts(transactions: List[Transaction]) -> Set[str]:
    """What is mounted where Hostproof mounted, but neither by it nor before it."""
    sources: Dict[str, Set[str]] = {}
    for entry in [entry for transaction in transactions for entry in transaction.entries]:
        if entry.kind == "mount":
            known = sources.setdefault(entry.path, set())
            before = _mount_of(entry)
            if before is not None:
                known.add(normal_source(before.source))
            if entry.after is not None:
                known.add(normal_source(entry.after.split(" ")[0]))
    return set(mounting.others(_oldest_mounts(transactions), sources))


def _edited_files(transactions: List[Transaction]) -> Set[str]:
    """Files that are in no journaled state now, or that an apply found as no apply left them."""
    states: Dict[str, Set[Optional[str]]] = {}
    digests: Dict[str, Optional[str]] = {}
    edited = set()
    for transaction in transactions:
        for entry in reversed(transaction.entries):
            if entry.kind != "file":
                continue
            left = {_digest_of(entry.before), entry.after}
            if entry.path in digests and digests[entry.path] not in left:
                edited.add(entry.path)
            digests[entry.path] = _digest_of(entry.before)
            states.setdefault(entry.path, set()).update(left)
    now = {path: _digest_of(describe_file(path)) for path in states}
    return edited | {path for path in states if now[path] not in states[path]}


def revert(transactions: List[Transaction], journal: Journal, writer: Writer) -> None:
    """Put every path back to its oldest state, and close the transactions (newest first).

    States in between are not passed through: a host must not be made to take a pool again that
    it could not keep, only to give it up at once.
    """
    if transactions:
        with journal.exclusive_lock(
            "revert of " + ", ".join(sorted({transaction.control for transaction in transactions}))
        ):
            _revert(transactions, journal, writer)


def _revert(transactions: List[Transaction], journal: Journal, writer: Writer) -> None:
    oldest: List[Entry] = []
    for transaction in reversed(transactions):
        # A mount point that was made and what was mounted on it have the same path.
        known = {(entry.kind, entry.path) for entry in oldest}
        oldest.extend(
            entry for entry in transaction.entries if (entry.kind, entry.path) not in known
        )
    put_back(transactions[0]._replace(entries=oldest), writer)
    for transaction in transactions:
        journal.close(transaction.name)


def put_back(transaction: Transaction, writer: Writer) -> None:
    """Restore every state of the transaction, newest first, and read each back.

    Changed mounts are unmounted before the files are restored, and mounted again afterwards. They
    share the options of the first mount, and systemd must know the old files by then. A failed
    restore does not stop the others: NotGranted lists the failures at the end.
    """
    mounts = _mounts_before(transaction)
    problems = mounting.unmount_changed(mounts, writer)
    entries = list(reversed(_first_values(transaction.entries)))
    # Commands run last: a command may cause a service to read a file, which must be restored.
    entries.sort(key=lambda entry: entry.kind == "command")
    for entry in entries:
        if entry.kind == "mount":
            continue
        try:
            _RESTORE[entry.kind](entry, writer)
        except PermissionError as problem:
            problems.append(_obstacle_to(entry) or str(problem))
        except (HostproofError, OSError) as problem:
            problems.append(str(problem))
    if any(e.kind == "file" and e.path.startswith(UNIT_SOURCES) for e in transaction.entries):
        try:
            writer.reload_units()
        except (HostproofError, OSError) as problem:
            problems.append(str(problem))
    problems += mounting.mount_missing(mounts, writer)
    if problems:
        raise NotGranted("; ".join(problems))


def _first_values(entries: List[Entry]) -> List[Entry]:
    """Only the first entry of each value: the kernel may reject the values in between now."""
    seen: Set[str] = set()
    oldest = []
    for entry in entries:
        if entry.kind != "value" or entry.path not in seen:
            oldest.append(entry)
        if entry.kind == "value":
            seen.add(entry.path)
    return oldest


def _mounts_before(transaction: Transaction) -> List[Tuple[str, Optional[MountState]]]:
    """What was mounted at each path before the transaction: the first entry of a path counts."""
    before: Dict[str, Optional[MountState]] = {}
    for entry in transaction.entries:
        if entry.kind == "mount":
            before.setdefault(entry.path, _mount_of(entry))
    return list(before.items())


def _mount_of(entry: Entry) -> Optional[MountState]:
    return None if entry.before is None else MountState(**entry.before)


def _restore_file(entry: Entry, writer: Writer) -> None:
    before = entry.before
    if before is None:
        writer.remove_file(entry.path)
    elif file_attributes.is_as(describe_file(entry.path), before):
        writer.remove_unfinished(entry.path)
    elif entry.original is None or not writer.put_original(entry.original, entry.path, before):
        _write_before(entry, writer)
    current = describe_file(entry.path)
    if (current is not None) if before is None else not file_attributes.is_as(current, before):
        raise NotGranted(f"{entry.path} could not be restored")


def _obstacle_to(entry: Entry) -> Optional[str]:
    """Why a file cannot be restored, if its attributes show it, for example immutable."""
    if entry.kind != "file":
        return None
    obstacle = attempt(guarded.as_owner, entry.path, file_attributes.obstacle)
    return obstacle if isinstance(obstacle, str) else None


def _write_before(entry: Entry, writer: Writer) -> None:
    """On another file system than the journal's, or as another account, this needs space."""
    before = entry.before
    content = base64.b64decode(before["content"])
    metadata = before["mode"], before["uid"], before["gid"], before.get("attributes")
    try:
        writer.write_file(entry.path, content, *metadata)
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NotGranted(
            f"{entry.path}: its file system is full; free {len(content) // 1024 + 64} KiB and one "
            "file there, then run revert again"
        ) from problem


def _restore_value(entry: Entry, writer: Writer) -> None:
    if not os.path.exists(entry.path):
        return  # its kernel module is not loaded: what it loads with is for the files to say
    if read_value(entry.path) == entry.before:
        return
    writer.write_value(entry.path, entry.before)
    granted = read_value(entry.path)
    if granted != entry.before:
        raise NotGranted(
            f"{entry.path}: requested the old {entry.before}, the kernel granted {granted}; run "
            "revert again when memory is free"
        )


def _restore_folder(entry: Entry, writer: Writer) -> None:
    if mounting.is_remote(entry.path):
        return  # its directories existed before the mount, and reading them can hang
    if guarded.as_owner(entry.path, guarded.is_empty_folder, follow=False):
        writer.remove_folder(entry.path)


def _undo_command(entry: Entry, writer: Writer) -> None:
    before = entry.before["state"]
    look = command.from_dict(entry.before["look"])
    if before is not None and attempt(writer.run, look) == before:
        return
    for step in entry.before["undo"]:
        writer.run(command.from_dict(step))
    state = writer.run(look)
    if before is not None and entry.after is not None and state != before:
        raise NotGranted(f"{entry.path}: requested the old {before}, found {state}")


_RESTORE = {
    "file": _restore_file,
    "value": _restore_value,
    "folder": _restore_folder,
    "command": _undo_command,
}


def _state_of(entry: Entry) -> Any:
    if entry.kind == "value":
        return read_value(entry.path) if os.path.exists(entry.path) else None
    if entry.kind == "mount":
        mounted = mounting.mounted_now().get(entry.path)
        return None if mounted is None else mount_text(mounting.state_of(mounted))
    if entry.kind == "command":
        return str(attempt(Writer().run, command.from_dict(entry.before["look"])))
    return _content_of(describe_file(entry.path))


def _before_of(entry: Entry) -> Any:
    if entry.kind == "mount":
        mount = _mount_of(entry)
        return None if mount is None else mount_text(mount)
    if entry.kind == "command":
        return _old_state_of(entry)
    return entry.before if entry.kind == "value" else _content_of(entry.before)


def _old_state_of(entry: Entry) -> str:
    """The old state of what a command changed, or how it is undone where none is known."""
    before, look = entry.before["state"], command.from_dict(entry.before["look"])
    if before is not None and (entry.after is not None or attempt(Writer().run, look) == before):
        return str(before)
    return steps_text(command.from_dict(step) for step in entry.before["undo"])


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _content_of(described: Optional[Dict[str, Any]]) -> Optional[bytes]:
    return None if described is None else base64.b64decode(described["content"])


def _digest_of(described: Optional[Dict[str, Any]]) -> Optional[str]:
    content = _content_of(described)
    return None if content is None else digest(content)


def _text(state: Any) -> Optional[str]:
    return state.decode("utf-8", "replace") if isinstance(state, bytes) else state
