# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: what to change on a host, decided from facts and policy, before anything is written."""

from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from ..collect.command import Command


class FileChange(NamedTuple):
    """Make the file hold exactly ``content``; None removes it. ``before`` is what it holds now.

    ``owner``: the uid that the file and the directories on the way must be of, or else root's; None
    for whoever owns them, who then does the work (guarded.py).
    """

    path: str
    content: Optional[str]
    before: Optional[str]
    mode: int = 0o644
    owner: Optional[int] = None


def header(control: str) -> str:
    """The first line of every file that a role writes as a whole, which shows it for its own."""
    return f"# Written by Hostproof (role {control}): change the policy, not this file.\n"


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
    requested, so all of them must be gone before any is made again. ``must``: canonical settings
    (parsers/nfs/nfs_options.py) that the kernel has to grant; rsize and wsize are the least.
    """

    path: str
    before: Optional[MountState]
    after: Optional[MountState]
    must: Dict[str, str]


class CommandChange(NamedTuple):
    """Bring something from the state ``before`` to ``after`` by running commands.

    ``name`` says what changes, and is where another change has a path: one word or more, the
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


def active_value(text: str) -> str:
    """What a /proc or /sys file states: "always [madvise] never" means madvise."""
    marked = [word[1:-1] for word in text.split() if word[:1] == "[" and word[-1:] == "]"]
    return marked[0] if len(marked) == 1 else text.strip()


Change = Union[FileChange, ValueChange, MountChange, CommandChange]


class Refusal(NamedTuple):
    """Why a plan must not be carried out, with the numbers; ``override`` names the risk taken."""

    reason: str
    override: Optional[str]


class Plan(NamedTuple):
    """``changes`` in the order of writing; ``pending``: what waits for a restart, in words.

    ``at_boot``: values that the next reboot will change because of ``changes``; they are
    journaled like a change, so that revert can restore them after that reboot.
    """

    changes: List[Change]
    refusals: List[Refusal]
    pending: List[str]
    at_boot: List[ValueChange]


def encode(text: str) -> bytes:
    """The bytes of a file's text; those that were not UTF-8 come back as they were (host.py)."""
    return text.encode("utf-8", "surrogateescape")
