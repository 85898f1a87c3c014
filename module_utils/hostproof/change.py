# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan: what to change on a host, decided from facts and policy, before anything is written."""

from typing import Any, Dict, List, NamedTuple, Optional, Union


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


def active_value(text):
    # type: (str) -> str
    """What a /proc or /sys file says: "always [madvise] never" means madvise."""
    marked = [word[1:-1] for word in text.split() if word[:1] == "[" and word[-1:] == "]"]
    return marked[0] if len(marked) == 1 else text.strip()


Change = Union[FileChange, ValueChange]


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
        return [
            as_diff(
                change.path,
                change.before,
                change.content if isinstance(change, FileChange) else change.value,
            )
            for change in self.changes
        ]


def as_diff(path, before, after):
    # type: (str, Optional[str], Optional[str]) -> Dict[str, Any]
    """One difference as Ansible shows it; None is a file that does not exist."""
    return {
        "before_header": path,
        "after_header": path,
        "before": _text(before),
        "after": _text(after),
    }


def _text(value):
    # type: (Optional[str]) -> str
    """Ansible's diff wants lines that end."""
    if not value:
        return ""
    return value if value.endswith("\n") else value + "\n"
