# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The value that is left after every write of a reboot, and the place that gives it."""

import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ....collect.answer import Answer, known
from ....errors import HostproofError, Unanswered
from ....parsers.kernel import kernel_cmdline, sysctl_number
from ....parsers.systemd import sysctl_d, tuned
from .model import PROC_SYS, Boot, Setting, Write, as_text, parameters, write_of
from .writes import LOADED_BY, by_credential, has_sysctl, later_writes, tmpfiles_writes, unless_off


class SysctlAtBoot(NamedTuple):
    """``winner`` is None if nothing sets the key. ``losers`` are other settings with the reason.

    The value of the winner is the value that the kernel sets; ``remark`` is a note about it.
    ``refused`` are the last writes, if the kernel would reject them. ``later``: a script loads the
    file of the winner, so no other name of a file would help. ``off`` is the reason why sysctl.d is
    not applied. ``unknown`` is the error of places that were not read and could still change the
    value: a verdict that depends on a good winner has to call settled() first."""

    winner: Optional[Setting]
    losers: List[str]
    remark: Optional[str] = None
    unknown: Optional[HostproofError] = None
    refused: Tuple[str, ...] = ()
    later: bool = False
    off: str = ""

    def settled(self) -> None:
        """Raise what is unknown: from here on the winner is taken to be all there is."""
        known(self.unknown)


def setting_text(
    at_boot: Answer[Any], nothing: str = "nothing sets it (0)", remarks: bool = True
) -> str:
    """The persisted layer of a setting of the kernel: ``nothing`` where no place sets it.

    ``at_boot`` is a SysctlAtBoot or has the same fields (ThpAtBoot).
    """
    if isinstance(at_boot, HostproofError):
        return "unknown"
    text = nothing
    if at_boot.winner is not None:
        text = f"{at_boot.winner.value} from {at_boot.winner.place}"
        text += f" ({at_boot.remark})" if remarks and at_boot.remark else ""
    return text + ("; not used: " + ", ".join(at_boot.losers) if at_boot.losers else "")


def why_it_loses(at_boot: SysctlAtBoot, path: str, key: str, variable: str) -> str:
    """Why the drop-in at ``path`` does not decide ``key``, and what to do; ``variable`` names it.

    Such a file must not be written: it would look right and do nothing.
    """
    winner = at_boot.winner
    if at_boot.off:
        return f"{path} would not be applied at boot: {at_boot.off}; start the service at boot"
    if winner is None:
        rejected = " and ".join(at_boot.refused)
        return f"{path} would not win at boot, {rejected} comes later; correct or remove that"
    remark = f": {at_boot.remark}" if at_boot.remark else ""
    what = "take it out there, for no file of sysctl.d is read after it"
    if winner.place.startswith(sysctl_d.DIRECTORIES) and not at_boot.later:
        what = f"remove that, or choose a {variable} that is read after it"
    return (
        f"{path} would not win at boot, {winner.place} ({key} = {winner.value}) comes "
        f"later{remark}; {what}"
    )


#: What a kernel file makes of a text: (the value or None if rejected, a remark or None).
Reader = Callable[[str], Tuple[Optional[str], Optional[str]]]


def sysctl_at_boot(boot: Boot, key: str, files: Sequence[str] = ()) -> SysctlAtBoot:
    """The value of a sysctl key after boot, with the place that wins.

    In the order of boot: ``sysctl.KEY=`` on the kernel command line, sysctl.d, tmpfiles.d
    writes, TuneD (which then applies /etc/sysctl.d and sysctl.conf again), and last
    what rc.local, units and cron run. ``files`` are other files, below /sys, that TuneD or those
    could set the same value by. Raises what is unknown; see SysctlAtBoot.unknown.
    """
    tree = known(boot.sysctl)
    name = sysctl_d.normalize(key)
    resolution = sysctl_d.resolve(tree.assignments, key)
    writes = [
        Write(value, "kernel command line " + parameter)
        for parameter, value in kernel_cmdline.sysctls(parameters(boot, _names_of(name)), name)
    ]
    # systemd writes the last assignment alone, so that nothing is left if the kernel rejects it.
    # Without systemd procps writes each of them, which comes to the same but for that.
    named = [] if resolution.winner is None else [write_of(resolution.winner)]
    by_sysctl = unless_off(named, boot.sysctl_off)
    by_tmpfiles = tmpfiles_writes(boot, PROC_SYS + name)
    writes += by_sysctl.writes
    if not by_sysctl.idle:
        writes += by_credential(boot, tree, key)
    writes += by_tmpfiles.writes
    targets = (PROC_SYS + name,) + tuple(files)
    result = outcome(
        writes + later_writes(boot, targets), key, lambda text: read_value(name, text), tree.links
    )
    unread = sysctl_d.resolve(tree.unread, key)
    ignored = list(unread.losers) + [unread.winner]
    if known(boot.tuned).reapply_sysctl and has_sysctl(known(boot.tuned)):
        # TuneD reads it, so that it is among the writes.
        ignored = []
    never = _losers(resolution.losers, result.winner, tree.links)
    never += by_sysctl.idle + by_tmpfiles.idle
    losers = never + [loser for loser in result.losers if loser not in never]
    losers += [text + " (not read at boot)" for text in _losers(ignored, result.winner, tree.links)]
    unknown = unseen(boot) or by_sysctl.unknown or by_tmpfiles.unknown
    off = "" if isinstance(boot.sysctl_off, HostproofError) else boot.sysctl_off
    return result._replace(losers=losers, unknown=unknown, off=off)


def _losers(
    assignments: Sequence[Optional[sysctl_d.Assignment]],
    winner: Optional[Setting],
    links: Dict[str, str],
) -> List[str]:
    """The assignments of a value, without the line that wins."""
    lines = [
        write_of(assignment)
        for assignment in assignments
        if assignment is not None and assignment.value is not None
    ]
    return [
        as_text(line)
        for line in lines
        if winner is None or not _is_same(line.place, winner.place, links)
    ]


def _names_of(name: str) -> str:
    """The pattern of the kernel's parameters that set a path below /proc/sys."""
    return "sysctl[./]" + "[./]".join(map(re.escape, name.split("/")))


def read_value(name: str, text: str) -> Tuple[Optional[str], Optional[str]]:
    """The value that the kernel sets for ``text``; the key is a path below /proc/sys."""
    if name in sysctl_number.VECTORS:
        numbers = sysctl_number.read_vector(name, text)
        value = None if numbers.values is None else " ".join(str(item) for item in numbers.values)
        return value, numbers.remark
    limits = sysctl_number.LIMITS.get(name)
    if limits is None:
        return text.strip(), None
    number = sysctl_number.read(text, limits)
    return (None if number.value is None else str(number.value)), number.remark


def read_decimal(text: str) -> Tuple[Optional[str], Optional[str]]:
    """What the kernel makes of ``text`` for a file of /sys/kernel/mm/hugepages."""
    number = sysctl_number.read_decimal(text, sysctl_number.UNSIGNED_LONG)
    return (None if number.value is None else str(number.value)), number.remark


def unseen(boot: Boot) -> Optional[HostproofError]:
    """The error of places that may hold commands and were not checked; None if all were."""
    active = known(boot.tuned)
    for answer in (boot.others, active.commands, active.known_whole):
        if isinstance(answer, HostproofError):
            return answer
    return None


def outcome(
    writes: Iterable[Write], what: str, read: Reader, links: Dict[str, str]
) -> SysctlAtBoot:
    """What is left after the writes; raises where it depends on a write that is not certain."""
    winner: Optional[Write] = None
    remark: Optional[str] = None
    losers: List[str] = []
    refused: List[str] = []
    doubts: List[Write] = []
    for write in writes:
        text = _written(write, winner)
        if text is None and write.value is not None:
            losers.append(as_text(write))
            continue
        value, note = _read_by_kernel(write, text, read)
        if text is not None and value is None:
            losers.append(f"{as_text(write)} (the kernel rejects it: {note})")
            refused.append(losers[-1])
            continue
        if not write.certain or value is None:
            if winner is None or value != winner.value:
                doubts.append(write)
            continue
        if winner is not None and not _is_same(winner.place, write.place, links):
            losers.append(as_text(winner))
        winner, doubts, refused = write._replace(value=value), [], []
        remark = _remark(write, text, value, note)
    if doubts:
        raise _unsure(doubts[-1], what, winner)
    return _left(winner, remark, losers, refused, links)


def _written(write: Write, winner: Optional[Write]) -> Optional[str]:
    """The text that is written; None where it is unknown, or where TuneD writes nothing."""
    if write.value is None or not write.by_tuned:
        return write.value
    return tuned.assigned(write.value, _number_of(winner))


def _read_by_kernel(
    write: Write, text: Optional[str], read: Reader
) -> Tuple[Optional[str], Optional[str]]:
    if text is None:
        return None, None
    return read_decimal(text) if write.decimal else read(text)


def _remark(write: Write, text: Optional[str], value: str, note: Optional[str]) -> Optional[str]:
    parts = [f"written {text!r}, {note}"] if note and value != text else []
    return "; ".join(parts + ([write.note] if write.note else [])) or None


def _left(
    winner: Optional[Write],
    remark: Optional[str],
    losers: List[str],
    refused: List[str],
    links: Dict[str, str],
) -> SysctlAtBoot:
    if winner is None:
        return SysctlAtBoot(None, _unique(losers), remark, None, tuple(refused))
    place = winner.place
    others = [
        loser for loser in _unique(losers) if not _is_same(loser.partition(" = ")[0], place, links)
    ]
    later = (winner.note or "").startswith(LOADED_BY)
    setting = Setting(winner.value or "", place)
    return SysctlAtBoot(setting, others, remark, None, tuple(refused), later)


def _number_of(write: Optional[Write]) -> Optional[int]:
    """The value of a write as a number; None where it is not one."""
    value = "" if write is None else write.value or ""
    return int(value) if value.isdecimal() else None


def _unique(texts: Iterable[str]) -> List[str]:
    return list(dict.fromkeys(texts))


def _unsure(doubt: Write, what: str, winner: Optional[Write]) -> Unanswered:
    base = "nothing else sets it" if winner is None else "{0} sets {1}".format(*winner[1::-1])
    to = "to something that it does not show" if doubt.value is None else "to " + doubt.value
    place = doubt.place
    source = re.search("(/\\S*?):[0-9]+", (doubt.note or "") + " " + place)
    return Unanswered(
        "file:" + (source.group(1) if source else place.rsplit(":", 1)[0]),
        "{0} may set {1} {2}{3}, and {4}: it is unknown which one is applied last. Set {1} in one "
        "place only".format(place, what, to, f" ({doubt.note})" if doubt.note else "", base),
    )


def _is_same(place: str, other: str, links: Dict[str, str]) -> bool:
    """Whether two places are one line of one file."""

    def real(text: str) -> Tuple[str, str]:
        path, _colon, line = text.rpartition(":")
        return links.get(path, path), line

    return real(place) == real(other)
