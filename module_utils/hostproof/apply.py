# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Carries out a plan, and puts back what the change journal holds.

Every change is journaled before it is made and read back after. Whatever goes wrong on the
way, a short grant of the kernel included, everything of this plan is put back before the
error is raised.
"""

import base64
import os
from typing import Any, Dict, List, NamedTuple, Optional, Set

from .change import FileChange, Plan, ValueChange, active_value
from .errors import HostproofError
from .journal import Entry, Journal, Transaction, describe_file, digest, missing_folders
from .writer import Writer


class Refused(HostproofError):
    """The plan would hurt the host; nothing was changed."""


class NotGranted(HostproofError):
    """The host did not take a change; what was changed before has been put back."""


def refuse(plan, prefix):
    # type: (Plan, str) -> None
    """Raise Refused with every reason, and for each the variable that takes the risk."""
    reasons = _odd_targets(plan)
    for refusal in plan.refusals:
        override = refusal.override
        reasons.append(
            refusal.reason
            + (
                ""
                if override is None
                else " (or accept that: {0}_{1}: true)".format(prefix, override)
            )
        )
    if reasons:
        raise Refused("refused, nothing was changed: " + "; ".join(reasons))


def _odd_targets(plan):
    # type: (Plan) -> List[str]
    """What stands in the place of a file to write and is none.

    A link to /dev/null masks a drop-in: writing through it would put a file in the device's place.
    """
    paths = [change.path for change in plan.changes if isinstance(change, FileChange)]
    return [
        "{0} {1}: move it away, or choose another file".format(
            path, "is no regular file" if os.path.exists(path) else "is a link that leads nowhere"
        )
        for path in paths
        if os.path.lexists(path) and not os.path.isfile(path)
    ]


def apply_plan(plan, control, journal, writer):
    # type: (Plan, str, Journal, Writer) -> None
    """Make every change of the plan, or none."""
    if not plan.changes:
        return
    name = journal.begin(control)
    try:
        # All of it before the first change: after a crash in between, a boot may already set
        # values from the new files, and revert must know the old ones.
        for change in plan.at_boot + plan.changes:
            journal.record(name, change)
        for change in plan.changes:
            if isinstance(change, FileChange):
                _write_file(change, writer)
            else:
                _write_value(change, writer)
    except (HostproofError, OSError) as problem:
        raise NotGranted(_put_back_after(problem, name, journal, writer)) from problem


def _put_back_after(problem, name, journal, writer):
    # type: (Exception, str, Journal, Writer) -> str
    """Undo a plan that failed half way, and say how that went."""
    try:
        put_back(journal.transaction(name), writer)
        journal.close(name)
    except (HostproofError, OSError) as second:
        return "{0}; putting back the old state failed too: {1}; run revert".format(problem, second)
    return "{0}; the old state is back".format(problem)


def _write_file(change, writer):
    # type: (FileChange, Writer) -> None
    for folder in missing_folders(change.path):
        writer.make_folder(folder)
    if change.content is None:
        writer.remove_file(change.path)
        return
    content = change.content.encode("utf-8")
    kept = describe_file(change.path)
    if kept is None:
        writer.write_file(change.path, content, change.mode)
    else:
        writer.write_file(change.path, content, kept["mode"], kept["uid"], kept["gid"])
    if _content_of(describe_file(change.path)) != content:
        raise NotGranted("{0} does not hold what was written to it".format(change.path))


def _write_value(change, writer):
    # type: (ValueChange, Writer) -> None
    writer.write_value(change.path, change.value)
    granted = read_value(change.path)
    if granted != change.value:
        raise NotGranted(
            "{0}: asked for {1}, the kernel granted {2}".format(change.path, change.value, granted)
        )


def read_value(path):
    # type: (str) -> str
    """What a file under /proc or /sys says now."""
    with open(path) as stream:
        return active_value(stream.read())


class Restored(NamedTuple):
    """One state that revert puts (or, in check mode, would put) back."""

    path: str
    now: Optional[str]
    before: Optional[str]


def restorations(transactions):
    # type: (List[Transaction]) -> List[Restored]
    """What putting the transactions back would change, in that order; nothing is written.

    Later restorations of a path win, so only the last one of each path counts.
    """
    last = {}  # type: Dict[str, Restored]
    for transaction in transactions:
        for entry in reversed(transaction.entries):
            if entry.kind == "folder":
                continue
            now = _text(_state_of(entry))
            last.pop(entry.path, None)
            last[entry.path] = Restored(entry.path, now, _text(_before_of(entry)))
    return [one for one in last.values() if one.now != one.before]


def refuse_lost_edits(transactions, overwrite):
    # type: (List[Transaction], bool) -> None
    """Raise Refused if somebody changed a file after Hostproof did: revert would lose that."""
    edited = set() if overwrite else _edited_files(transactions)
    if edited:
        raise Refused(
            "refused, nothing was changed: {0} was edited after Hostproof wrote it; move your edit "
            "elsewhere, or accept its loss with hostproof_revert_overwrite: true".format(
                ", ".join(sorted(edited))
            )
        )


def _edited_files(transactions):
    # type: (List[Transaction]) -> Set[str]
    """Files that are in no journaled state now, or that an apply found as no apply left them."""
    states = {}  # type: Dict[str, Set[Optional[str]]]
    found = {}  # type: Dict[str, Optional[str]]
    edited = set()
    for transaction in transactions:
        for entry in reversed(transaction.entries):
            if entry.kind != "file":
                continue
            left = {_digest_of(entry.before), entry.after}
            if entry.path in found and found[entry.path] not in left:
                edited.add(entry.path)
            found[entry.path] = _digest_of(entry.before)
            states.setdefault(entry.path, set()).update(left)
    now = {path: _digest_of(describe_file(path)) for path in states}
    return edited | {path for path in states if now[path] not in states[path]}


def revert(transactions, journal, writer):
    # type: (List[Transaction], Journal, Writer) -> None
    """Put every path back to its oldest state, and close the transactions (newest first).

    States in between are not passed through: a host must not be made to take a pool again that
    it could not keep, only to give it up at once.
    """
    oldest = []  # type: List[Entry]
    for transaction in reversed(transactions):
        known_paths = {entry.path for entry in oldest}
        oldest.extend(entry for entry in transaction.entries if entry.path not in known_paths)
    if transactions:
        put_back(transactions[0]._replace(entries=oldest), writer)
    for transaction in transactions:
        journal.close(transaction.name)


def put_back(transaction, writer):
    # type: (Transaction, Writer) -> None
    """Restore every state of the transaction, newest first, and read each back.

    One that cannot be restored keeps no other from it: NotGranted names them in the end.
    """
    problems = []
    for entry in reversed(transaction.entries):
        try:
            _RESTORE[entry.kind](entry, writer)
        except (NotGranted, OSError) as problem:
            problems.append(str(problem))
    if problems:
        raise NotGranted("; ".join(problems))


def _restore_file(entry, writer):
    # type: (Entry, Writer) -> None
    before = entry.before
    if before is None:
        if os.path.isdir(os.path.dirname(entry.path)):
            writer.remove_file(entry.path)
    elif describe_file(entry.path) != before:
        content = base64.b64decode(before["content"])
        writer.write_file(entry.path, content, before["mode"], before["uid"], before["gid"])
    else:
        writer.remove_unfinished(entry.path)
    if describe_file(entry.path) != before:
        raise NotGranted("{0} could not be put back".format(entry.path))


def _restore_value(entry, writer):
    # type: (Entry, Writer) -> None
    if read_value(entry.path) == entry.before:
        return
    writer.write_value(entry.path, entry.before)
    granted = read_value(entry.path)
    if granted != entry.before:
        raise NotGranted(
            "{0}: asked for the old {1}, the kernel granted {2}; run revert again when memory is "
            "free".format(entry.path, entry.before, granted)
        )


def _restore_folder(entry, writer):
    # type: (Entry, Writer) -> None
    if os.path.isdir(entry.path) and not os.listdir(entry.path):
        writer.remove_folder(entry.path)


_RESTORE = {"file": _restore_file, "value": _restore_value, "folder": _restore_folder}


def _state_of(entry):
    # type: (Entry) -> Any
    if entry.kind == "value":
        return read_value(entry.path) if os.path.exists(entry.path) else None
    return _content_of(describe_file(entry.path))


def _before_of(entry):
    # type: (Entry) -> Any
    return entry.before if entry.kind == "value" else _content_of(entry.before)


def _content_of(described):
    # type: (Optional[Dict[str, Any]]) -> Optional[bytes]
    return None if described is None else base64.b64decode(described["content"])


def _digest_of(described):
    # type: (Optional[Dict[str, Any]]) -> Optional[str]
    content = _content_of(described)
    return None if content is None else digest(content)


def _text(state):
    # type: (Any) -> Optional[str]
    return state.decode("utf-8", "replace") if isinstance(state, bytes) else state
