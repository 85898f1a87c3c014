# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each place writes to a kernel file at boot: tmpfiles.d, credentials, TuneD, scripts."""

import os.path
import re
from typing import List, NamedTuple, Optional, Sequence

from ....collect.answer import Answer, known
from ....errors import Absent, HostproofError
from ....parsers import glob_pattern
from ....parsers.shell import command_effects, shell_words
from ....parsers.systemd import sysctl_d, tmpfiles_d, tuned
from ..boot_scripts import Command
from .model import PROC_SYS, Boot, SysctlTree, Tuned, Write, as_text, write_of

#: The options of TuneD's plugin vm that set sysctls (plugin_vm.py since 2.25).
_TUNED_VM = ("dirty_bytes", "dirty_ratio", "dirty_background_bytes", "dirty_background_ratio")
LOADED_BY = "loaded by "

#: Instead of the value of an option that sets a part of what is required: no option holds it.
_PART = "\0"
_THP_OPTIONS = ("transparent_hugepages", "transparent_hugepage")


def by_credential(boot: Boot, tree: SysctlTree, key: str) -> List[Write]:
    """What systemd-sysctl since 252 applies after its files: the credential sysctl.extra."""
    writes = [
        Write(None, f"kernel command line {word}=sysctl.extra", False)
        for word, value in known(boot.cmdline)
        if word.startswith("systemd.set_credential")
        and (value or "").partition(":")[0] == "sysctl.extra"
    ]
    for path, text in tree.credentials:
        if text is None:
            writes.append(Write(None, path, False))
            continue
        winner = sysctl_d.resolve(sysctl_d.parse(text, path).assignments, key).winner
        if winner is not None:
            writes.append(write_of(winner)._replace(certain=False))
    return writes


class Applied(NamedTuple):
    """What a service writes at boot. ``idle`` are the lines that it does not write, with the
    reason. ``unknown`` is the error where it is unknown whether the service starts."""

    writes: List[Write]
    idle: List[str]
    unknown: Optional[HostproofError]


def tmpfiles_writes(boot: Boot, target: str) -> Applied:
    """What tmpfiles.d writes to a file at boot."""
    writes = [
        Write(value, f"{entry.path}:{entry.line}", certain)
        for entry in tmpfiles_d.writes(known(boot.tmpfiles), target)
        for value, certain in [tmpfiles_d.written(entry)]
    ]
    return unless_off(writes, boot.tmpfiles_off)


def unless_off(writes: List[Write], off: Answer[str]) -> Applied:
    if not writes or off == "":
        return Applied(writes, [], None)
    if isinstance(off, HostproofError):
        return Applied(writes, [], off)
    return Applied([], [f"{as_text(write)} (not applied at boot: {off})" for write in writes], None)


def later_writes(boot: Boot, targets: Sequence[str], tuned_vm: bool = True) -> List[Write]:
    """What TuneD and then scripts write to any of the targets, which are paths of one value.

    A target with "node0" represents every node: what is written there is a part of the value.
    ``tuned_vm``: whether TuneD sets transparent huge pages (it does not where the command line
    of the kernel does).
    """
    by_tuned = _tuned_writes(boot, targets, tuned_vm)
    commands = list(known(boot.rc_local))
    for some in (boot.others, known(boot.tuned).commands):
        commands.extend([] if isinstance(some, HostproofError) else some)
    # To set the profile that is active changes nothing.
    same = r"tuned-adm\s+profile\s+" + re.escape(" ".join(known(boot.tuned).names)) + r"\s*$"
    acting = [
        (command, writes)
        for command in commands
        if not re.search(same, command.text)
        for writes in [_writes_of(boot, command, targets)]
        if writes
    ]
    # Nothing orders them among each other, nor with TuneD.
    alone = len({command.actor for command, _writes in acting}) == 1 and not by_tuned
    return by_tuned + [
        write._replace(certain=write.certain and command.certain and alone)
        for command, writes in acting
        for write in writes
    ]


def _writes_of(boot: Boot, command: Command, targets: Sequence[str]) -> List[Write]:
    writes: List[Write] = []
    for effect in command.effects:
        if effect.kind == command_effects.LOAD:
            for key in _keys_of(targets):
                if effect.pattern is None or _fits(effect.pattern, key):
                    writes.extend(_loaded(boot, effect.files, key, command))
            continue
        matching = [target for target in targets if _reaches(effect.target, target)]
        if matching:
            # A pattern may reach other files as well, but what it writes is the value here too.
            exact = effect.target in targets
            note = None if exact and effect.value is not None else "by " + command.words()
            value = None if _is_part(matching) else effect.value
            writes.append(
                Write(value, command.place, exact, note, decimal=_is_decimal(matching[-1]))
            )
    return writes


def _keys_of(targets: Sequence[str]) -> List[str]:
    """The sysctl keys of the targets that are below /proc/sys."""
    return [target[len(PROC_SYS) :] for target in targets if target.startswith(PROC_SYS)]


def _is_part(reached: List[str]) -> bool:
    """Whether a value that reaches these files is that of one node alone."""
    return all("/node0/" in target for target in reached)


def _is_decimal(path: str) -> bool:
    """Whether a file is one that takes decimal numbers alone."""
    return "/hugepages/hugepages-" in path


def _fits(pattern: str, key: str) -> bool:
    """Whether sysctl's --pattern, an extended regular expression, lets a key through."""
    try:
        return re.search(pattern, key.replace("/", ".")) is not None
    except re.error:
        return True


def _reaches(pattern: str, path: str) -> bool:
    """Whether a target of a command can be the path: it may hold wildcards and unknown parts."""
    pattern = re.sub("/node[0-9]+/", "/node0/", pattern)
    pieces = re.split("(\0|[*?]|\\[[^]]*\\])", pattern)
    kinds = {shell_words.UNKNOWN: ".*", "*": "[^/]*", "?": "[^/]"}
    expression = "".join(
        kinds.get(piece, "[^/]") if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )
    return re.match(expression + "$", path) is not None


def _loaded(boot: Boot, files: Sequence[str], key: str, command: Command) -> List[Write]:
    """Writes to a key by loading sysctl files, in order."""
    note = LOADED_BY + command.words()
    lines: List[sysctl_d.Assignment] = []
    for path in files:
        found = _assignments_in(boot, path)
        if found is None:
            return [Write(None, command.place, False, "by " + command.words())]
        lines.extend(found)
    named = [line for line in lines if line.key == key and line.value is not None]
    winner = sysctl_d.resolve(lines, key).winner
    chosen = named or ([winner] if winner is not None else [])
    return [write_of(line)._replace(note=note) for line in chosen]


def _assignments_in(boot: Boot, path: str) -> Optional[List[sysctl_d.Assignment]]:
    """The assignments of a file that a command loads; None where they are unknown."""
    tree = known(boot.sysctl)
    if path == command_effects.SYSTEMD:
        return tree.assignments
    if path == command_effects.PROCPS:
        return tree.assignments + tree.unread
    folder = path.rpartition("/")[0]
    is_pattern = re.search("[*?\\[]", path) is not None
    if not path.startswith("/") or (is_pattern and folder not in sysctl_d.DIRECTORIES):
        return None
    read = [
        assignment
        for assignment in tree.assignments + tree.unread
        if glob_pattern.fits(assignment.path, path)
    ]
    if read or path not in boot.loaded:
        return read
    text = boot.loaded[path]
    if isinstance(text, HostproofError):
        return [] if isinstance(text, Absent) else None
    return sysctl_d.parse(text, path).assignments


def has_sysctl(active: Tuned) -> bool:
    return any(unit.type == "sysctl" and unit.enabled for unit in active.units)


def _tuned_writes(boot: Boot, targets: Sequence[str], tuned_vm: bool) -> List[Write]:
    """Section by section; after each of the plugin sysctl the files of sysctl come again."""
    active = known(boot.tuned)
    writes: List[Write] = []
    for unit in active.units:
        if unit.enabled and unit.type in ("sysctl", "sysfs", "vm"):
            options = _options_for(unit, targets, tuned_vm)
            runs = _acts_here(unit, active) if options or unit.type == "sysctl" else True
            if runs is not False:
                own = _writes_of_unit(boot, unit, options, targets)
                writes += [write._replace(certain=runs is True) for write in own]
    return writes


def _writes_of_unit(
    boot: Boot, unit: tuned.Unit, options: Sequence[tuned.Option], targets: Sequence[str]
) -> List[Write]:
    active = known(boot.tuned)
    decimal = unit.type == "sysfs" and any(map(_is_decimal, targets))
    writes = [
        _tuned_write(option, active)._replace(by_tuned=unit.type == "sysctl", decimal=decimal)
        for option in options
    ]
    if unit.type == "sysctl" and active.reapply_sysctl:
        writes += _reapplied(boot, targets)
    return writes


def _reapplied(boot: Boot, targets: Sequence[str]) -> List[Write]:
    keys = _keys_of(targets)
    note = "TuneD applies it after its own values (reapply_sysctl)"
    return [
        write_of(assignment)._replace(note=note)
        for assignment in known(known(boot.sysctl).reapplied)
        if assignment.key in keys
    ]


def _tuned_write(option: tuned.Option, active: Tuned) -> Write:
    value = option.value
    if "${" in value:
        value = tuned.expand(value, known(active.variables))
    write = Write(value, f"tuned profile {option.path}")
    if value == _PART:
        return write._replace(value=None, note="a node's part of it")
    if tuned.uses_function(value):
        return write._replace(value=None, note="by a function of TuneD, " + value[:80])
    return write


def _options_for(unit: tuned.Unit, targets: Sequence[str], tuned_vm: bool) -> List[tuned.Option]:
    """The options of a section that write to one of the targets, with what they write."""
    options: List[tuned.Option] = []
    for name, option in unit.options.items():
        if unit.type == "sysctl":
            if PROC_SYS + name.replace(".", "/") in targets:
                options.append(option._replace(value=tuned.unquoted(option.value)))
        elif unit.type == "sysfs":
            reached = [target for target in targets if _reaches(os.path.normpath(name), target)]
            if reached:
                options.append(option._replace(value=_PART) if _is_part(reached) else option)
        elif name in _TUNED_VM:
            options += _option_of_vm(name, option, targets)
        elif name in _THP_OPTIONS and tuned_vm and targets[0].endswith("_hugepage/enabled"):
            options.append(option)
    return options


def _option_of_vm(name: str, option: tuned.Option, targets: Sequence[str]) -> List[tuned.Option]:
    value = option.value
    if value.strip().endswith("%"):
        name, value = name.replace("_bytes", "_ratio"), value.strip()[:-1]
    return [option._replace(value=value)] if PROC_SYS + "vm/" + name in targets else []


def _acts_here(unit: tuned.Unit, active: Tuned) -> Optional[bool]:
    """Whether the section is for this machine (uname_regex, cpuinfo_regex); None: unsure."""
    if "uname_regex" in unit.about:
        pattern = unit.about["uname_regex"].value
        machine = active.machine
        if isinstance(machine, HostproofError) or "${" in pattern:
            return None
        try:
            if re.search(pattern, machine, re.MULTILINE) is None:
                return False
        except re.error:
            return None
    return None if "cpuinfo_regex" in unit.about else True
