# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning a file of sysctl.d: what to write, what the kernel gets now, and if the file would win.

A file that would not win must not be written: it would look right and do nothing.
"""

from typing import Callable, List, NamedTuple, Optional, Sequence, Set

from ..collect.answer import Answer, attempt
from ..parsers.systemd import sysctl_d
from ..probes.systemd import boot as boot_probe
from ..probes.systemd.boot import Boot
from .change import FileChange, Refusal, ValueChange


class Sysctl(NamedTuple):
    """A key of sysctl, its file, and what it should be and is. ``files`` are others, below /sys,
    that reboot could set the same by. ``part`` is that of a Refusal."""

    key: str
    path: str
    value: str
    now: str
    files: Sequence[str] = ()
    part: str = ""


class File(NamedTuple):
    """A file of sysctl.d. ``before`` is what it holds, None if it is not there; ``variable`` is
    the one that chooses it. Lines of our own file for the keys ``kept`` stay as they are."""

    path: str
    header: str
    before: Optional[str]
    variable: str
    kept: Sequence[str] = ()


class Planned(NamedTuple):
    files: List[FileChange]
    values: List[ValueChange]
    refusals: List[Refusal]


#: Whether a value is as good as the required one.
Enough = Callable[[str, str], bool]

#: The value that reboot gives to a key; None where nothing sets it.
AtBoot = Callable[[Boot, str], Optional[str]]


def value_at_boot(boot: Boot, key: str) -> Optional[str]:
    at_boot = boot_probe.sysctl_at_boot(boot, key)
    at_boot.settled()
    return None if at_boot.winner is None else at_boot.winner.value


def _is_enough(enough: Enough, value: Answer[Optional[str]], sysctl: Sysctl) -> bool:
    return isinstance(value, str) and enough(value, sysctl.value)


def _keeping(file: File, sysctls: Sequence[Sysctl], parts: Set[str]) -> File:
    """The file, whose lines for these parts stay as they are."""
    kept = [sysctl.key for sysctl in sysctls if sysctl.part in parts]
    return file._replace(kept=[*file.kept, *kept])


def plan(
    boot: Boot,
    file: File,
    sysctls: Sequence[Sysctl],
    enough: Enough = str.__eq__,
    at_boot: AtBoot = value_at_boot,
) -> Planned:
    """``enough(value, wanted)`` says of a value that it need not be changed."""

    others = boot_probe.with_sysctl_file(boot, file.path, "")
    # A parameter that another file already sets as required is left to that file.
    own = [
        sysctl
        for sysctl in sysctls
        if not _is_enough(enough, attempt(at_boot, others, sysctl.key), sysctl)
    ]
    lines = [f"{sysctl.key} = {sysctl.value}\n" for sysctl in own] + kept_lines(file)
    content = file.header + "".join(sorted(lines))
    later = boot_probe.with_sysctl_file(boot, file.path, content)
    # An unknown state at boot is raised: it is not known which file would win.
    refusals = [
        _loses(later, file, sysctl)
        for sysctl in own
        if not _is_enough(enough, at_boot(later, sysctl.key), sysctl)
    ]
    refused = {refusal.part for refusal in refusals} - {""}
    if refused:
        # The others do not depend on a setting that would lose.
        rest = [sysctl for sysctl in sysctls if sysctl.part not in refused]
        planned = plan(boot, _keeping(file, sysctls, refused), rest, enough, at_boot)
        return planned._replace(refusals=refusals + planned.refusals)
    managed = [sysctl.key for sysctl in sysctls] + list(file.kept)
    refusals += others_in(file.path, file.before, file.header, managed)
    # A drop-in of ours that nothing is left for may hold an old value that still wins.
    is_changed = (lines or file.before is not None) and content != file.before
    return Planned(
        [FileChange(file.path, content, file.before)] if is_changed else [],
        [
            ValueChange(sysctl.path, sysctl.value, sysctl.now)
            for sysctl in sysctls
            if not enough(sysctl.now, sysctl.value)
        ],
        refusals,
    )


def kept_lines(file: File) -> List[str]:
    """The lines of our own file for the keys that this plan does not set."""
    text = file.before or ""
    keys = [sysctl_d.normalize(key) for key in file.kept]
    return [
        line + "\n"
        for line in (text.splitlines() if text.startswith(file.header) else [])
        for assignment in sysctl_d.parse(line, file.path).assignments
        if assignment.key in keys
    ]


def _loses(boot: Boot, file: File, sysctl: Sysctl) -> Refusal:
    at_boot = boot_probe.sysctl_at_boot(boot, sysctl.key, sysctl.files)
    at_boot.settled()
    return Refusal(
        boot_probe.why_it_loses(at_boot, file.path, sysctl.key, file.variable), None, sysctl.part
    )


def others_in(path: str, text: Optional[str], header: str, own: Sequence[str]) -> List[Refusal]:
    """The file is replaced as a whole: settings that were added by others would be lost."""
    if text is None or text.startswith(header):
        return []
    return lost_settings(path, sysctl_d.other_keys(text, own))


def lost_settings(path: str, lost: Sequence[str]) -> List[Refusal]:
    if not lost:
        return []
    reason = f"{path} holds other settings ({', '.join(lost)}), which would be lost: choose "
    return [Refusal(reason + "another file", None)]
