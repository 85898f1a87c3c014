# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: what to change on a host, decided from facts and policy, before anything is written."""

from collections import OrderedDict
from itertools import chain
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from ..collect.answer import attempt
from ..collect.command import Command
from ..errors import HostproofError


class FileChange(NamedTuple):
    """Replace the content of a file with ``content``; None removes the file. ``before`` is the
    current content.

    ``owner`` is the required uid of the file and of the directories on its path; the default is
    root. None accepts every owner; the change is then made as that owner (guarded.py).
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


#: Options that the kernel shows for a mount although each mount determines them itself.
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
    """Unmount the path (``after`` is None) or mount it (``before`` is None).

    A changed mount needs two changes. Mounts of one export share the options of the first mount, so
    all of them must be unmounted before the first is mounted again. ``must``: canonical settings
    (parsers/nfs/nfs_options.py) that the kernel has to grant; rsize and wsize are minimums.
    """

    path: str
    before: Optional[MountState]
    after: Optional[MountState]
    must: Dict[str, str]


class CommandChange(NamedTuple):
    """Run commands that change a state from ``before`` to ``after``.

    ``name`` describes the change and replaces the path of other changes. It has one or more words
    and is always the same for the same change. ``look`` reads the current state: the first group
    of its ``expected``. ``make`` and ``undo`` are run in their order.

    ``before`` is None if no command can show whether the change was made, for example whether a
    listener read its file again. Such a change is always undone. ``after`` is None if the new state
    is not known in advance, for example a start time. Then every state except ``before`` is
    accepted, and every state after an undo. Revert runs the commands last, after all files are
    restored.

    ``atomic``: a failure of the first command of ``make`` means that nothing was changed. Its undo
    would fail for the same reason.
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
    """Why a plan must not be carried out, with the numbers; ``override`` names the risk taken.

    ``part`` names the independent part of the plan that it is about: the changes of that part are
    not in the plan, and the others are made. "" is the whole plan.
    """

    reason: str
    override: Optional[str]
    part: str = ""


class Plan(NamedTuple):
    """``changes`` in the order of writing; ``pending``: what waits for a restart, in words.

    ``at_boot``: values that the next reboot will change because of ``changes``; they are
    journaled like a change, so that revert can restore them after that reboot.
    ``idle``: the policy requires nothing on this host, and ``pending`` says why.
    """

    changes: List[Change]
    refusals: List[Refusal]
    pending: List[str]
    at_boot: List[ValueChange]
    idle: bool = False


def idle(reason: str) -> Plan:
    """The plan of a control that changes nothing on this host by its policy, with the reason."""
    return Plan([], [], [reason], [], True)


def independent(parts: Iterable[Tuple[str, Callable[[], Plan]]]) -> Plan:
    """The plan of independent parts, each with its name.

    A part that is rejected, or that is not known, leaves out its own changes only. Raises the
    error if no part is known.
    """
    plans: List[Tuple[str, Plan]] = []
    problems: List[HostproofError] = []
    for name, planned in parts:
        plan = attempt(planned)
        if isinstance(plan, HostproofError):
            problems.append(plan)
            plan = Plan([], [not_known(name, plan)], [], [])
        plans.append((name, plan))
    if problems and len(problems) == len(plans):
        raise problems[0]
    made = [plan for _name, plan in plans if not plan.refusals]
    refusals = [refusal._replace(part=name) for name, plan in plans for refusal in plan.refusals]
    return Plan(
        list(chain.from_iterable(plan.changes for plan in made)),
        list(OrderedDict.fromkeys(refusals)),
        list(chain.from_iterable(plan.pending for plan in made)),
        list(chain.from_iterable(plan.at_boot for plan in made)),
    )


def not_known(part: str, problem: HostproofError) -> Refusal:
    """The rejection of a part that cannot be planned."""
    return Refusal(f"{part}: apply cannot plan it: {problem}", None, part)


def encode(text: str) -> bytes:
    """The bytes of a file's text; those that were not UTF-8 come back as they were."""
    return text.encode("utf-8", "surrogateescape")
