# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: what to change on a host, decided from facts and policy, before anything is written."""

from collections import OrderedDict
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from .command import Command
from .masking import masked
from .parsers import nfs_options


class FileChange(NamedTuple):
    """Make the file hold exactly ``content``; None removes it. ``before`` is what it holds now."""

    path: str
    content: Optional[str]
    before: Optional[str]
    mode: int = 0o644


class ValueChange(NamedTuple):
    """Write ``value`` to a file under /proc or /sys that holds ``before`` now."""

    path: str
    value: str
    before: str


#: What the kernel shows of a mount, but each mount finds out for itself.
FOUND_BY_MOUNT = frozenset(
    ("addr", "clientaddr", "mountaddr", "mountport", "mountproto", "mountvers", "seclabel")
)


#: The bytes of one request, which client and server negotiate.
TRANSFER_SIZES = ("rsize", "wsize")


class MountState(NamedTuple):
    """What is mounted at a path. ``options`` are those that mount(8) takes to make it so."""

    source: str
    fstype: str
    options: str


class MountChange(NamedTuple):
    """Unmount what is at the path (``after`` is None), or mount there (``before`` is None).

    A mount that changes is two changes: mounts of one export share what the first of them
    asked for, so all of them must be gone before any is made again. ``must``: canonical settings
    (parsers/nfs_options.py) that the kernel has to grant; rsize and wsize are the least.
    """

    path: str
    before: Optional[MountState]
    after: Optional[MountState]
    must: Dict[str, str]


class CommandChange(NamedTuple):
    """Bring something from the state ``before`` to ``after`` by running commands.

    ``name`` says what changes, and stands where another change has a path: one word or more, the
    same whenever the same thing changes. ``look`` tells the state at any time, by the first group
    of its ``expected``. ``make`` and ``undo`` are run in their order.

    ``before`` is None where no look can tell whether the change was made (a listener that read
    its file again): it is undone in any case. ``after`` is None where the new state cannot be
    told in advance (the time of a start): any state but ``before`` will do, and once it is undone
    any state. On revert the commands come last, when every file is as it was.

    ``atomic``: where the first command of ``make`` ends with a failure nothing was changed, and
    its undo would fail for the same reason.
    """

    name: str
    before: Optional[str]
    after: Optional[str]
    look: Command
    make: Tuple[Command, ...]
    undo: Tuple[Command, ...]
    atomic: bool = False


def steps_text(commands):
    # type: (Iterable[Command]) -> str
    """Commands for people, where no state can be told."""
    return "".join("# {0}: {1}\n".format(one.name, " ".join(one.argv)) for one in commands)


def active_value(text):
    # type: (str) -> str
    """What a /proc or /sys file says: "always [madvise] never" means madvise."""
    marked = [word[1:-1] for word in text.split() if word[:1] == "[" and word[-1:] == "]"]
    return marked[0] if len(marked) == 1 else text.strip()


Change = Union[FileChange, ValueChange, MountChange, CommandChange]


class Refusal(NamedTuple):
    """Why a plan must not be carried out, with the numbers; ``override`` names the risk taken."""

    reason: str
    override: Optional[str]


class Plan(NamedTuple):
    """``changes`` in the order of writing; ``pending``: what waits for a restart, in words.

    ``at_boot``: values that the next boot will change because of ``changes``; they are
    journaled like a change, so that revert can put them back after that boot.
    """

    changes: List[Change]
    refusals: List[Refusal]
    pending: List[str]
    at_boot: List[ValueChange]

    def diff(self):
        # type: () -> List[Dict[str, Any]]
        """The plan as Ansible shows a difference."""
        mounts = OrderedDict()  # type: OrderedDict[str, List[MountChange]]
        shown = []
        for change in self.changes:
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


def _mount_diff(path, changes):
    # type: (str, List[MountChange]) -> Dict[str, Any]
    """What the mount has now and will have, of all that it must have."""
    old, new = changes[0].before, changes[-1].after
    must = changes[-1].must
    before = None if old is None else mount_text(old, tuple(must))
    after = None if new is None else mount_text(new, tuple(must))
    if after is not None:
        # What nobody asks for in so many words, but the mount fails without it.
        said = [line.partition("=")[0] for line in after.splitlines()]
        after += "".join(
            "{0}={1}{2}\n".format(name, must[name], " or more" if name in TRANSFER_SIZES else "")
            for name in sorted(must)
            if name not in said
        )
    if before is not None and after is not None:
        after += "# unmounted, then mounted again\n"
    return as_diff("mount of " + path, before, after)


def mount_text(state, names=None):
    # type: (MountState, Optional[Tuple[str, ...]]) -> str
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
    lines = ["source={0}".format(normal_source(state.source))]
    lines += ["{0}={1}".format(name, settings[name]) for name in sorted(names) if name in settings]
    return "".join(line + "\n" for line in lines)


def normal_source(source):
    # type: (str) -> str
    """SERVER:/EXPORT as the kernel shows it: without slashes at its end."""
    shortened = source.rstrip("/")
    return shortened + "/" if shortened.endswith(":") else shortened


def as_diff(path, before, after):
    # type: (str, Optional[str], Optional[str]) -> Dict[str, Any]
    """One difference as Ansible shows it; None is a file that does not exist."""
    return {
        "before_header": path,
        "after_header": path,
        "before": _text(before and masked(path, before)),
        "after": _text(after and masked(path, after)),
    }


def _text(value):
    # type: (Optional[str]) -> str
    """Ansible's diff wants lines that end, of text that every terminal takes."""
    if not value:
        return ""
    value = encode(value).decode("utf-8", "replace")
    return value if value.endswith("\n") else value + "\n"


def encode(text):
    # type: (str) -> bytes
    """The bytes of a file's text; those that were not UTF-8 come back as they were (host.py)."""
    return text.encode("utf-8", "surrogateescape")
