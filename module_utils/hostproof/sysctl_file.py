# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning a file of sysctl.d: what to write, what the kernel gets now, and if the file would win.

A file that would not win must not be written: it would look right and do nothing.
"""

from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from .answer import attempt
from .change import FileChange, Refusal, ValueChange
from .parsers.systemd import sysctl_d
from .probes.systemd import boot as boot_probe
from .probes.systemd.boot import Boot


class Sysctl(NamedTuple):
    """A key of sysctl, its file, and what it should be and is."""

    key: str
    path: str
    value: str
    now: str


class File(NamedTuple):
    """A file of sysctl.d. ``before`` is what it holds, None if it is not there; ``variable`` is
    the one that chooses it."""

    path: str
    header: str
    before: Optional[str]
    variable: str


class Planned(NamedTuple):
    files: List[FileChange]
    values: List[ValueChange]
    refusals: List[Refusal]


#: Whether what boot gives is as good as the wanted value.
Enough = Callable[[str, str], bool]


def plan(boot: Boot, file: File, wanted: Sequence[Sysctl], enough: Enough) -> Planned:
    """``enough(value, wanted)`` says of a value that it need not be changed."""
    others = boot_probe.with_sysctl_file(boot, file.path, "")
    # What another place already sets as wanted, whatever happens, stays with that place.
    own = [one for one in wanted if not _is_enough(others, one, enough)]
    content = file.header + "".join(f"{one.key} = {one.value}\n" for one in sorted(own))
    later = boot_probe.with_sysctl_file(boot, file.path, content)
    refusals = [_loses(later, file, one) for one in own if not _is_enough(later, one, enough)]
    refusals += _others_in(file, [one.key for one in wanted])
    is_changed = (own or file.before is not None) and content != file.before
    return Planned(
        [FileChange(file.path, content, file.before)] if is_changed else [],
        [
            ValueChange(one.path, one.value, one.now)
            for one in wanted
            if not enough(one.now, one.value)
        ],
        refusals,
    )


def _is_enough(boot: Boot, one: Sysctl, enough: Enough) -> bool:
    value = attempt(_at_boot, boot, one.key)
    return isinstance(value, str) and enough(value, one.value)


def _at_boot(boot: Boot, key: str) -> Optional[str]:
    at_boot = boot_probe.sysctl_at_boot(boot, key)
    at_boot.settled()
    return None if at_boot.winner is None else at_boot.winner.value


def _loses(boot: Boot, file: File, one: Sysctl) -> Refusal:
    at_boot = boot_probe.sysctl_at_boot(boot, one.key)
    at_boot.settled()
    winner = at_boot.winner
    if winner is None:
        why = f"{' and '.join(at_boot.refused)} comes later; correct or remove that"
        return Refusal(f"{file.path} would not win at boot, {why}", None)
    remark = f": {at_boot.remark}" if at_boot.remark else ""
    what = "take it out there, for no file of sysctl.d is read after it"
    if winner.place.startswith(sysctl_d.DIRECTORIES) and not at_boot.later:
        what = f"remove that, or choose a {file.variable} that is read after it"
    return Refusal(
        f"{file.path} would not win at boot, {winner.place} ({one.key} = {winner.value}) comes "
        f"later{remark}; {what}",
        None,
    )


def _others_in(file: File, own: Sequence[str]) -> List[Refusal]:
    """The file is written as a whole: what somebody else set in it would be gone."""
    text = file.before or ""
    if text.startswith(file.header):
        return []
    keys: Tuple[str, ...] = tuple(map(sysctl_d.normalize, own))
    lost = [one.key for one in sysctl_d.parse(text, file.path).assignments if one.key not in keys]
    if not lost:
        return []
    reason = f"{file.path} holds other settings ({', '.join(lost)}), which would be lost: choose "
    return [Refusal(reason + "another file", None)]
