# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reboot will set: every place that can hold a kernel setting, in the order of boot.

Sources: sysctl.d(5) and tmpfiles.d(5) of systemd; tuned-main.conf(5) (``reapply_sysctl``) and
TuneD, tuned/plugins/plugin_sysctl.py, plugin_sysfs.py and plugin_vm.py; sysctl(8) of procps;
kernel-parameters.rst (``sysctl.*``). The numbers are read as the kernel does (sysctl_number).
"""

import os.path
import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, NotRecorded, Unanswered
from ...parsers import glob_pattern
from ...parsers.kernel import kernel_cmdline, sysctl_number
from ...parsers.shell import command_effects, script_lines, shell_words
from ...parsers.systemd import conf_d, sysctl_d, tmpfiles_d, tuned
from . import boot_scripts, boot_services, conf_files, unit_files
from .boot_scripts import Command

SYSCTL_CONF = "/etc/sysctl.conf"
#: TuneD applies these files again. It also reads /run/sysctl.d, which is empty after a reboot.
TUNED_SYSCTL = "/etc/sysctl.d/"
PROFILE_FOLDERS = ("/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned")
PROC_SYS = "/proc/sys/"
#: The options of TuneD's plugin vm that set sysctls (plugin_vm.py since 2.25).
_TUNED_VM = ("dirty_bytes", "dirty_ratio", "dirty_background_bytes", "dirty_background_ratio")
SYSCTL_SERVICE = "systemd-sysctl.service"
TMPFILES_SERVICE = "systemd-tmpfiles-setup.service"
SYSCTL_CREDENTIALS = tuple(
    f"{place}/credstore{kind}/sysctl.extra"
    for place in ("/etc", "/usr/local/lib", "/usr/lib")
    for kind in ("", ".encrypted")
)
_LOADED_BY = "loaded by "
#: Instead of the value of an option that sets a part of what is required: no option holds it.
_PART = "\0"
_THP_OPTIONS = ("transparent_hugepages", "transparent_hugepage")


#: Parameters of the kernel that decide whether a service starts.
OF_SERVICES = r"systemd\.(?:mask|wants)"
#: Parameters of the kernel that set a value that is checked here.
_OF_KERNEL = re.compile(
    r"(?:hugepages|(?:default_)?hugepagesz|transparent_hugepage|thp_anon"
    rf"|{OF_SERVICES})$|sysctl[./]"
)


class Setting(NamedTuple):
    """A value and the place that gives it, for people: "/etc/sysctl.d/97-oracle.conf:3"."""

    value: str
    place: str


class Write(NamedTuple):
    """One write of a reboot, in the order of time.

    ``value`` is None where it is unknown. ``certain`` is whether the write surely happens
    at this point. ``note`` says what makes it, where the place alone does not. ``by_tuned``: a
    value such as ``>5`` depends on the value at that moment. ``decimal``: the file is one of
    /sys/kernel/mm/hugepages, which takes decimal numbers alone.
    """

    value: Optional[str]
    place: str
    certain: bool = True
    note: Optional[str] = None
    by_tuned: bool = False
    decimal: bool = False


class SysctlTree(NamedTuple):
    """What sysctl reads at boot (``assignments``, in order) and what it does not read.

    ``reapplied`` is what TuneD sets again after its own values, in its order. ``links`` maps the
    files that are links to the file that they lead to. ``credentials`` are the files of the
    credential sysctl.extra with their text, None if it is encrypted or cannot be read.
    """

    assignments: List[sysctl_d.Assignment]
    unread: List[sysctl_d.Assignment]
    reapplied: Answer[List[sysctl_d.Assignment]]
    links: Dict[str, str]
    credentials: Tuple[Tuple[str, Optional[str]], ...] = ()


class Tuned(NamedTuple):
    """The active TuneD profile with everything it includes, as one list of sections.

    ``machine`` is what uname_regex is compared with. ``commands`` are those of its scripts.
    ``known_whole`` is the error of whatever could add to the profile and was not read.
    """

    names: List[str]
    units: List[tuned.Unit]
    variables: Answer[Dict[str, str]]
    reapply_sysctl: bool
    machine: Answer[str]
    commands: Answer[List[Command]]
    known_whole: Answer[bool]


NO_TUNED = Tuned([], [], {}, True, "", [], True)


class Boot(NamedTuple):
    """Everything that can set a kernel value at boot; unknown parts hold their error.

    ``sysctl_off`` and ``tmpfiles_off`` say why no service applies sysctl.d and tmpfiles.d, and are
    "" where one does. ``loaded`` are files that a command loads into the kernel by name. ``added``
    are the parameters of the kernel that TuneD changes at the next reboot, with an error for each:
    ``cmdline`` does not have them yet.
    """

    sysctl: Answer[SysctlTree]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]
    tmpfiles: Answer[List[tmpfiles_d.Entry]]
    tuned: Answer[Tuned]
    rc_local: Answer[List[Command]]
    others: Answer[List[Command]]
    loaded: Dict[str, Answer[str]]
    sysctl_off: Answer[str] = ""
    tmpfiles_off: Answer[str] = ""
    added: Tuple[Tuple[str, HostproofError], ...] = ()


def parameters(boot: Boot, concerns: str) -> boot_services.Params:
    """The kernel's parameters at the next reboot; raises if one that ``concerns`` matches will
    change, or one that starts services. ``concerns`` is a pattern of whole names."""
    for name, problem in boot.added:
        if re.match(f"(?:{concerns}|{OF_SERVICES})$", name):
            raise problem
    return known(boot.cmdline)


def read_boot(host: Host) -> Boot:
    cmdline_now = attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline")))
    others = attempt(boot_scripts.read_others, host)
    active = attempt(read_tuned, host)
    added = _added_by_tuned(if_known(cmdline_now, []), active)
    of_services = [problem for name, problem in added if re.match(OF_SERVICES + "$", name)]
    cmdline = of_services[0] if of_services else cmdline_now
    rc_local = attempt(_read_rc_local, host, cmdline)
    by_tuned = [] if isinstance(active, HostproofError) else active.commands
    commands: List[Command] = []
    for some in (rc_local, others, by_tuned):
        commands.extend([] if isinstance(some, HostproofError) else some)
    units = attempt(lambda: boot_services.Units(host, known(cmdline)))
    off = {name: attempt(_why_off, units, name) for name in (SYSCTL_SERVICE, TMPFILES_SERVICE)}
    for name in off:
        # Earlier releases did not read the services where TuneD adds a parameter.
        unit = attempt(host.real_path, f"/usr/lib/systemd/system/{name}") if added else None
        if isinstance(unit, NotRecorded) and not of_services:
            off[name] = ""
    return Boot(
        sysctl=attempt(_read_sysctl, host),
        sysctl_off=off[SYSCTL_SERVICE],
        cmdline=cmdline_now,
        added=added,
        tmpfiles=attempt(conf_files.read_tmpfiles, host),
        tmpfiles_off=off[TMPFILES_SERVICE],
        tuned=active,
        rc_local=rc_local,
        others=others,
        loaded={
            path: attempt(host.read_text, path)
            for path in boot_scripts.loaded_files(commands)
            if not re.search("[*?\\[]", path)
        },
    )


def _added_by_tuned(
    params: boot_services.Params, active: Answer[Tuned]
) -> Tuple[Tuple[str, HostproofError], ...]:
    """The parameters of the kernel that TuneD changes at the next reboot."""
    added: List[Tuple[str, HostproofError]] = []
    if isinstance(active, HostproofError):
        return ()
    for unit in active.units:
        if not unit.enabled or unit.type != "bootloader":
            continue
        for name, option in unit.options.items():
            if not name.startswith("cmdline"):
                continue
            text = tuned.expand(tuned.unquoted(option.value), if_known(active.variables, {}))
            for word, value in kernel_cmdline.parse(text.lstrip("+-") + "\n"):
                is_same = ((word, value) in params) != text.startswith("-")
                if _OF_KERNEL.match(word) and not is_same:
                    reason = (
                        f"{option.path} changes {word} on the kernel command line ({name}), and "
                        "the running kernel was started without that"
                    )
                    added.append((word, Unanswered("file:" + option.path, reason)))
    return tuple(added)


def _read_rc_local(host: Host, cmdline: Answer[boot_services.Params]) -> List[Command]:
    commands = boot_scripts.read_rc_local(host)
    return [] if commands and _why_idle(host, "rc-local.service", known(cmdline)) else commands


def _why_idle(host: Host, name: str, params: boot_services.Params) -> str:
    # Recordings of 0.1.0 do not have the directories of units.
    if isinstance(attempt(host.list_dir, unit_files.FOLDERS[0]), NotRecorded):
        return ""
    return boot_services.Units(host, params).why_idle(name)


def _why_off(units: Answer[boot_services.Units], service: str) -> str:
    return known(units).why_not_started(service, "sysinit.target")


def with_sysctl_file(boot: Boot, path: str, text: str) -> Boot:
    """What boot would set if the file at ``path`` held ``text``: a plan must know if it wins."""
    tree = known(boot.sysctl)
    others = [assignment for assignment in tree.assignments if assignment.path != path]
    changed = sorted(
        others + list(sysctl_d.parse(text, path).assignments),
        key=lambda assignment: (
            assignment.path == SYSCTL_CONF,
            assignment.path.rsplit("/", 1)[-1],
        ),
    )
    reapplied = tree.reapplied
    if not isinstance(reapplied, HostproofError) and path.startswith(TUNED_SYSCTL):
        reapplied = sorted(
            [assignment for assignment in reapplied if assignment.path != path]
            + sysctl_d.parse_plain(text, path),
            key=lambda assignment: (
                assignment.path == SYSCTL_CONF,
                assignment.path.rsplit("/", 1)[-1],
            ),
        )
    return boot._replace(sysctl=tree._replace(assignments=changed, reapplied=reapplied))


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
    named = [] if resolution.winner is None else [_write_of(resolution.winner)]
    by_sysctl = _unless_off(named, boot.sysctl_off)
    by_tmpfiles = tmpfiles_writes(boot, PROC_SYS + name)
    writes += by_sysctl.writes
    if not by_sysctl.idle:
        writes += _by_credential(boot, tree, key)
    writes += by_tmpfiles.writes
    targets = (PROC_SYS + name,) + tuple(files)
    result = outcome(
        writes + later_writes(boot, targets), key, lambda text: read_value(name, text), tree.links
    )
    unread = sysctl_d.resolve(tree.unread, key)
    ignored = list(unread.losers) + [unread.winner]
    if known(boot.tuned).reapply_sysctl and _has_sysctl(known(boot.tuned)):
        # TuneD reads it, so that it is among the writes.
        ignored = []

    def texts(assignments: Sequence[Optional[sysctl_d.Assignment]], why: str) -> List[str]:
        lines = [
            _write_of(assignment)
            for assignment in assignments
            if assignment is not None and assignment.value is not None
        ]
        winner = result.winner
        return [
            _as_text(line) + why
            for line in lines
            if winner is None or not _is_same(line.place, winner.place, tree.links)
        ]

    never = texts(resolution.losers, "") + by_sysctl.idle + by_tmpfiles.idle
    losers = never + [loser for loser in result.losers if loser not in never]
    losers += texts(ignored, " (not read at boot)")
    unknown = unseen(boot) or by_sysctl.unknown or by_tmpfiles.unknown
    off = "" if isinstance(boot.sysctl_off, HostproofError) else boot.sysctl_off
    return result._replace(losers=losers, unknown=unknown, off=off)


def _by_credential(boot: Boot, tree: SysctlTree, key: str) -> List[Write]:
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
            writes.append(_write_of(winner)._replace(certain=False))
    return writes


def _names_of(name: str) -> str:
    """The pattern of the kernel's parameters that set a path below /proc/sys."""
    return "sysctl[./]" + "[./]".join(map(re.escape, name.split("/")))


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
    return _unless_off(writes, boot.tmpfiles_off)


def _unless_off(writes: List[Write], off: Answer[str]) -> Applied:
    if not writes or off == "":
        return Applied(writes, [], None)
    if isinstance(off, HostproofError):
        return Applied(writes, [], off)
    return Applied(
        [], [f"{_as_text(write)} (not applied at boot: {off})" for write in writes], None
    )


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
        text = write.value
        if text is not None and write.by_tuned:
            before = "" if winner is None else winner.value or ""
            current = int(before) if before.isdecimal() else None
            text = tuned.assigned(text, current)
            if text is None:
                losers.append(_as_text(write))
                continue
        value: Optional[str] = None
        note: Optional[str] = None
        if text is not None:
            value, note = read_decimal(text) if write.decimal else read(text)
        if text is not None and value is None:
            losers.append(f"{_as_text(write)} (the kernel rejects it: {note})")
            refused.append(losers[-1])
            continue
        if not write.certain or value is None:
            if winner is None or value != winner.value:
                doubts.append(write)
            continue
        if winner is not None and not _is_same(winner.place, write.place, links):
            losers.append(_as_text(winner))
        winner, doubts, refused = write._replace(value=value), [], []
        parts = [f"written {text!r}, {note}"] if note and value != text else []
        remark = "; ".join(parts + ([write.note] if write.note else [])) or None
    if doubts:
        raise _unsure(doubts[-1], what, winner)
    unique: List[str] = []
    for loser in losers:
        same = winner is not None and _is_same(loser.partition(" = ")[0], winner.place, links)
        if loser not in unique and not same:
            unique.append(loser)
    setting = None if winner is None else Setting(winner.value or "", winner.place)
    later = winner is not None and (winner.note or "").startswith(_LOADED_BY)
    return SysctlAtBoot(setting, unique, remark, None, tuple(refused), later)


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


def _write_of(assignment: sysctl_d.Assignment) -> Write:
    return Write(assignment.value, f"{assignment.path}:{assignment.line}")


def _as_text(write: Write) -> str:
    return f"{write.place} = {write.value}"


# -- what comes after systemd ---------------------------------------------------------------------


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
            keys = [target[len(PROC_SYS) :] for target in targets if target.startswith(PROC_SYS)]
            for key in keys:
                if effect.pattern is None or _fits(effect.pattern, key):
                    writes.extend(_loaded(boot, effect.files, key, command))
            continue
        matching = [target for target in targets if _reaches(effect.target, target)]
        if matching:
            # A pattern may reach other files as well, but what it writes is the value here too.
            is_part = all("/node0/" in target for target in matching)
            exact = effect.target in targets
            note = None if exact and effect.value is not None else "by " + command.words()
            value = None if is_part else effect.value
            writes.append(
                Write(value, command.place, exact, note, decimal=_is_decimal(matching[-1]))
            )
    return writes


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
    tree = known(boot.sysctl)
    note = _LOADED_BY + command.words()
    lines: List[sysctl_d.Assignment] = []
    for path in files:
        if path in (command_effects.PROCPS, command_effects.SYSTEMD):
            lines.extend(tree.assignments)
            lines.extend(tree.unread if path == command_effects.PROCPS else [])
            continue
        folder = path.rpartition("/")[0]
        is_pattern = re.search("[*?\\[]", path) is not None
        if not path.startswith("/") or (is_pattern and folder not in sysctl_d.DIRECTORIES):
            return [Write(None, command.place, False, "by " + command.words())]
        read = [
            assignment
            for assignment in tree.assignments + tree.unread
            if glob_pattern.fits(assignment.path, path)
        ]
        if read or path not in boot.loaded:
            lines.extend(read)
            continue
        text = boot.loaded[path]
        if isinstance(text, Absent):
            continue
        if isinstance(text, HostproofError):
            return [Write(None, command.place, False, "by " + command.words())]
        lines.extend(sysctl_d.parse(text, path).assignments)
    named = [line for line in lines if line.key == key and line.value is not None]
    winner = sysctl_d.resolve(lines, key).winner
    chosen = named or ([winner] if winner is not None else [])
    return [_write_of(line)._replace(note=note) for line in chosen]


# -- TuneD ----------------------------------------------------------------------------------------


def _has_sysctl(active: Tuned) -> bool:
    return any(unit.type == "sysctl" and unit.enabled for unit in active.units)


def _tuned_writes(boot: Boot, targets: Sequence[str], tuned_vm: bool) -> List[Write]:
    """Section by section; after each of the plugin sysctl the files of sysctl come again."""
    active = known(boot.tuned)
    writes: List[Write] = []
    for unit in active.units:
        if not unit.enabled or unit.type not in ("sysctl", "sysfs", "vm"):
            continue
        options = _options_for(unit, targets, tuned_vm)
        runs = _acts_here(unit, active) if options or unit.type == "sysctl" else True
        if runs is False:
            continue
        for option, by_sysctl in options:
            place = f"tuned profile {option.path}"
            value = option.value
            if "${" in value:
                value = tuned.expand(value, known(active.variables))
            decimal = unit.type == "sysfs" and any(_is_decimal(target) for target in targets)
            write = Write(value, place, runs is True, None, by_sysctl, decimal)
            if value == _PART:
                write = write._replace(value=None, note="a node's part of it")
            elif tuned.uses_function(value):
                write = write._replace(value=None, note="by a function of TuneD, " + value[:80])
            writes.append(write)
        if unit.type == "sysctl" and active.reapply_sysctl:
            names = [target[len(PROC_SYS) :] for target in targets if target.startswith(PROC_SYS)]
            for assignment in known(known(boot.sysctl).reapplied):
                if assignment.key in names:
                    note = "TuneD applies it after its own values (reapply_sysctl)"
                    writes.append(_write_of(assignment)._replace(note=note, certain=runs is True))
    return writes


def _options_for(
    unit: tuned.Unit, targets: Sequence[str], tuned_vm: bool
) -> List[Tuple[tuned.Option, bool]]:
    """The options of a section that write to one of the targets, and if the plugin is sysctl."""
    options: List[Tuple[tuned.Option, bool]] = []
    for name, option in unit.options.items():
        value = option.value
        if unit.type == "sysctl":
            if PROC_SYS + name.replace(".", "/") in targets:
                options.append((option._replace(value=tuned.unquoted(value)), True))
        elif unit.type == "sysfs":
            reached = [target for target in targets if _reaches(os.path.normpath(name), target)]
            if reached:
                part = all("/node0/" in target for target in reached)
                options.append((option._replace(value=_PART) if part else option, False))
        elif name in _TUNED_VM:
            if value.strip().endswith("%"):
                name, value = name.replace("_bytes", "_ratio"), value.strip()[:-1]
            if PROC_SYS + "vm/" + name in targets:
                options.append((option._replace(value=value), False))
        elif name in _THP_OPTIONS and tuned_vm and targets[0].endswith("_hugepage/enabled"):
            options.append((option, False))
    return options


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


# -- reading --------------------------------------------------------------------------------------


def _read_sysctl(host: Host) -> SysctlTree:
    paths = conf_files.paths(host, sysctl_d.DIRECTORIES)
    read = conf_d.effective_files(sysctl_d.DIRECTORIES, paths)
    assignments: List[sysctl_d.Assignment] = []
    texts: Dict[str, str] = {}
    links: Dict[str, str] = {}
    maybe_links: List[str] = []
    for path in read:
        text = conf_files.text_of_link(host, path)
        if text is None:
            continue
        texts[path] = text
        real = attempt(host.real_path, path)
        if isinstance(real, HostproofError):
            maybe_links.append(path)
        elif real != path:
            links[path] = real
        assignments.extend(sysctl_d.parse(text, path).assignments)
    credentials: List[Tuple[str, Optional[str]]] = []
    for path in SYSCTL_CREDENTIALS:
        # None: not there. A text that is encrypted or cannot be read is not known.
        credential = attempt(unless_absent, attempt(host.read_text, path), None)
        if credential is not None:
            is_unknown = ".encrypted/" in path or isinstance(credential, HostproofError)
            credentials.append((path, None if is_unknown else known(credential)))
    own = unless_absent(attempt(host.read_text, SYSCTL_CONF), "")
    rest = sysctl_d.parse(own, SYSCTL_CONF).assignments
    reapplied = attempt(_read_reapplied, host, paths, texts, own)
    # A file with the same text sets the same values, whether it is a link to sysctl.conf or not.
    is_copy = any(texts[path] == own for path in maybe_links)
    if is_copy or SYSCTL_CONF in list(texts) + list(links.values()):
        return SysctlTree(assignments, [], reapplied, links, tuple(credentials))
    if unless_absent(attempt(host.list_dir, "/run/systemd/system"), None) is None:
        # Without systemd the reboot scripts run procps' sysctl, which reads this file last.
        return SysctlTree(assignments + rest, [], reapplied, links)
    return SysctlTree(assignments, rest, reapplied, links, tuple(credentials))


def _read_reapplied(
    host: Host, paths: List[str], texts: Dict[str, str], own: str
) -> List[sysctl_d.Assignment]:
    """What TuneD applies again: it knows neither patterns nor - and reads sysctl.conf last."""
    assignments: List[sysctl_d.Assignment] = []
    for path in sorted(path for path in paths if path.startswith(TUNED_SYSCTL)):
        text = texts[path] if path in texts else conf_files.text_of_link(host, path)
        assignments.extend(sysctl_d.parse_plain(text or "", path))
    return assignments + sysctl_d.parse_plain(own, SYSCTL_CONF)


def read_tuned(host: Host) -> Tuned:
    """The active profile with what it includes; none where TuneD is not started at boot."""
    active = attempt(host.read_text, "/etc/tuned/active_profile")
    if isinstance(active, Absent):
        return NO_TUNED
    names = tuned.active_profiles(known(active))
    is_chosen = bool(names) or _chooses_itself(host)
    if is_chosen and not _starts_tuned(host):
        # The file stays behind when the service is switched off.
        return NO_TUNED._replace(names=[name + " (tuned is not started at boot)" for name in names])
    if not names and is_chosen:
        raise Unanswered(
            "file:/etc/tuned/active_profile",
            "no profile of TuneD is set, so it takes the one that it recommends at its start: set "
            "one with tuned-adm profile, or none with tuned-adm off",
        )
    mode = attempt(_mode_of, host)
    if names and mode == "auto":
        names = _recommended(host)
    more = attempt(host.read_text, "/etc/tuned/post_loaded_profile")
    if not isinstance(more, HostproofError):
        names = names + tuned.active_profiles(more)
    if not names:
        return NO_TUNED._replace(known_whole=unless_unseen(more))
    main = unless_absent(attempt(host.read_text, "/etc/tuned/tuned-main.conf"), "")
    profiles: List[Tuple[str, tuned.Profile]] = []
    _load_profiles(host, names, tuned.folders(main, PROFILE_FOLDERS), profiles, [])
    units = tuned.merge(profiles)
    values = attempt(
        tuned.variables,
        units,
        lambda path: unless_absent(attempt(host.read_text, os.path.normpath(path)), None),
    )
    return Tuned(
        names=names,
        units=units,
        variables=values,
        reapply_sysctl=tuned.reapply_sysctl(main),
        machine=attempt(_read_machine, host, units),
        commands=attempt(_read_tuned_scripts, host, profiles, units),
        known_whole=mode if isinstance(mode, HostproofError) else unless_unseen(more),
    )


def unless_unseen(answer: Answer[str]) -> Answer[bool]:
    """True where a file was read or is not there; else its error."""
    return attempt(lambda: unless_absent(answer, "") is not None)


def _chooses_itself(host: Host) -> bool:
    """Whether TuneD without an active profile takes the one that it recommends."""
    # Without the file an empty profile counts as none chosen manually.
    return _mode_of(host) != "manual"


def _mode_of(host: Host) -> str:
    return str(unless_absent(attempt(host.read_text, "/etc/tuned/profile_mode"), "")).strip()


def _recommended(host: Host) -> List[str]:
    """The profile that TuneD takes at its start in the mode auto, whichever is active now."""
    argv = ["tuned-adm", "recommend"]
    output = host.run(argv)
    names = tuned.active_profiles(output.stdout)
    if output.rc or not names:
        raise Unanswered(
            "command:" + " ".join(argv),
            "TuneD takes the profile that it recommends at its start (profile_mode is auto), and "
            "tuned-adm recommend does not show one: set a profile with tuned-adm profile",
        )
    return names


def _load_profiles(
    host: Host,
    names: Sequence[str],
    folders: Sequence[str],
    profiles: List[Tuple[str, tuned.Profile]],
    loaded: List[str],
) -> None:
    """Included profiles first. A profile may include the profile with the same name in the next
    directory."""
    for name in names:
        pair = _read_profile(host, name, folders, loaded)
        if pair is None:
            continue
        path, profile = pair
        loaded.append(path)
        if any("${" in include for include in profile.includes):
            raise Unanswered("file:" + path, f"{path} includes a profile by a variable or function")
        _load_profiles(host, profile.includes, folders, profiles, loaded)
        profiles.append((path, profile))


def _read_machine(host: Host, units: Sequence[tuned.Unit]) -> str:
    """The uname string of TuneD, if a section matches it."""
    if not any("uname_regex" in unit.about for unit in units):
        return ""
    output = attempt(host.run, ["uname", "-snrvm"])
    if not isinstance(output, HostproofError) and output.rc == 0:
        return str(output.stdout.strip())
    # Enough for the usual regex, which names an architecture.
    release = host.read_text("/proc/sys/kernel/osrelease").strip()
    if release.rpartition(".")[2] in ("x86_64", "aarch64", "ppc64le", "s390x"):
        return "Linux {0} {1}".format(release, release.rpartition(".")[2])
    return str(known(output).stdout)


def _read_tuned_scripts(
    host: Host, profiles: Sequence[Tuple[str, tuned.Profile]], units: Sequence[tuned.Unit]
) -> List[Command]:
    """The commands of the scripts of every loaded profile, and of those that they call."""
    running = {unit.name for unit in units if unit.enabled}
    commands: List[Command] = []
    scripts: List[str] = []
    for path, profile in profiles:
        folder = path.rpartition("/")[0]
        for name, options in profile.sections.items():
            if name not in running:
                continue
            for option in ("script", "script_pre", "script_post"):
                if option in options:
                    script = options[option].replace("${i:PROFILE_DIR}", folder)
                    if "${" in script:
                        raise Unanswered("file:" + path, f"{path} runs a script by a variable")
                    script = os.path.normpath(os.path.join(folder, script))
                    text = unless_absent(
                        attempt(host.read_text, script, record=script_lines.kept), ""
                    )
                    commands.extend(boot_scripts.of_script(script, text, "TuneD"))
                    scripts.append(script)
    return commands + (boot_scripts.read_called(host, scripts, "TuneD") if scripts else [])


def _starts_tuned(host: Host) -> bool:
    """Whether the next reboot starts tuned.service (systemctl(1), is-enabled)."""
    output = host.run(["systemctl", "is-enabled", "tuned.service"])
    if not boot_services.is_enabled("tuned.service", output):
        return False
    cmdline = attempt(lambda: kernel_cmdline.parse(host.read_text("/proc/cmdline")))
    return not _why_idle(host, "tuned.service", if_known(cmdline, []))


def _read_profile(
    host: Host, name: str, folders: Sequence[str], loaded: Sequence[str]
) -> Optional[Tuple[str, tuned.Profile]]:
    """None where it is loaded already, or is not there and may be missing (-NAME)."""
    missing = None
    is_loaded = False
    for folder in folders:
        path = "{0}/{1}/tuned.conf".format(folder, name.lstrip("-").rpartition("/")[2])
        if path in loaded:
            is_loaded = True
            continue
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return path, tuned.parse_profile(known(text), path)
        missing = missing or text
    if is_loaded or name.startswith("-"):
        return None
    raise Absent(
        missing.key if missing else name,
        f"tuned's active profile {name} is in none of its directories; set one with tuned-adm",
    )
