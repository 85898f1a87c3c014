# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes as Ansible shows a difference: what is there before and after, as lines of text."""

from collections import OrderedDict
from typing import Any, Dict, Iterable, List, Optional, Tuple

from ..collect.command import Command
from ..collect.masking import masked
from ..parsers.nfs import nfs_options
from .change import (
    FOUND_BY_MOUNT,
    TRANSFER_SIZES,
    CommandChange,
    FileChange,
    MountChange,
    MountState,
    Plan,
    encode,
)


def of_plan(plan: Plan) -> List[Dict[str, Any]]:
    """All changes of a plan."""
    mounts: OrderedDict[str, List[MountChange]] = OrderedDict()
    shown = []
    for change in plan.changes:
        if isinstance(change, MountChange):
            mounts.setdefault(change.path, []).append(change)
        elif isinstance(change, FileChange):
            shown.append(as_diff(change.path, change.before, change.content))
        elif isinstance(change, CommandChange):
            after = steps_text(change.make) if change.after is None else change.after
            shown.append(as_diff(change.name, change.before, after))
        else:
            shown.append(as_diff(change.path, change.before, change.value))
    return shown + [_mount_diff(path, changes) for path, changes in mounts.items()]


def _mount_diff(path: str, changes: List[MountChange]) -> Dict[str, Any]:
    """Current and new settings of the mount, limited to the settings that it must have."""
    old, new = changes[0].before, changes[-1].after
    must = changes[-1].must
    before = None if old is None else mount_text(old, tuple(must))
    after = None if new is None else mount_text(new, tuple(must))
    if after is not None:
        # Settings that the new options do not name, but without which the mount fails.
        names = [line.partition("=")[0] for line in after.splitlines()]
        after += "".join(
            "{0}={1}{2}\n".format(name, must[name], " or more" if name in TRANSFER_SIZES else "")
            for name in sorted(must)
            if name not in names
        )
    if before is not None and after is not None:
        after += "# unmounted, then mounted again\n"
    return as_diff("mount of " + path, before, after)


def mount_text(state: MountState, names: Optional[Tuple[str, ...]] = None) -> str:
    """A mount for people, one setting a line; equal texts are equal mounts.

    ``names`` are the settings to tell; all that the kernel shows if it is None.
    """
    settings = nfs_options.effective(nfs_options.parse(state.options), nfs_options.LINUX)
    if names is None:
        names = tuple(
            name
            for name in settings
            if name not in nfs_options.NEVER_GRANTED and name not in FOUND_BY_MOUNT
        )
    lines = [f"source={normal_source(state.source)}"]
    lines += [f"{name}={settings[name]}" for name in sorted(names) if name in settings]
    return "".join(line + "\n" for line in lines)


def normal_source(source: str) -> str:
    """SERVER:/EXPORT as the kernel shows it: without slashes at its end."""
    shortened = source.rstrip("/")
    return shortened + "/" if shortened.endswith(":") else shortened


def steps_text(commands: Iterable[Command]) -> str:
    """Commands for people, where no state is known."""
    return "".join(
        "# {0}: {1}\n".format(command.name, " ".join(command.argv)) for command in commands
    )


def as_diff(path: str, before: Optional[str], after: Optional[str]) -> Dict[str, Any]:
    """One difference as Ansible shows it; None is a file that does not exist."""
    return {
        "before_header": path,
        "after_header": path,
        "before": _text(before and masked(path, before)),
        "after": _text(after and masked(path, after)),
    }


def _text(value: Optional[str]) -> str:
    """Ansible's diff wants lines that end, of text that every terminal takes."""
    if not value:
        return ""
    value = encode(value).decode("utf-8", "replace")
    return value if value.endswith("\n") else value + "\n"
