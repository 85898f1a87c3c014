# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that the checks of a site compare, each read from its source."""

import os
from functools import partial
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.command import Command, Output
from ...collect.host import Host
from ...collect.masking import masked
from ...collect.masking_rules import BLANK
from ...errors import Absent, Unanswered
from ...parsers.mounts import fstab, mountinfo
from ...parsers.systemd import sysctl_d
from ...probes.systemd import boot as boot_probe
from ...probes.unix import package_database
from . import patterns
from .policy import RUNNING, STOPPED, CustomCheck, Policy

FSTAB = "/etc/fstab"
MOUNTINFO = "/proc/self/mountinfo"
#: The account that runs commands without as_root.
NOBODY = "nobody"
MOUNTED, NOT_MOUNTED, SET, NOT_SET = "mounted", "not mounted", "set", "not set"
#: Characters of a value, and matching lines of a file or an output.
_MOST_VALUE, _MOST_LINES = 4096, 200
#: States of unit files (systemctl(1), is-enabled) that start the unit at boot, and that do not: a
#: link in /run does not survive a reboot. Other units decide for the other states, such as static.
_ENABLED = ("enabled",)
_DISABLED = ("disabled", "masked", "enabled-runtime", "transient")


class Layer(NamedTuple):
    """The values of one layer, and the evidence keys that they rest on. ``values`` is None where
    the source does not have the layer. Every value must meet the comparison."""

    values: Answer[Optional[Tuple[str, ...]]]
    evidence: Tuple[str, ...] = ()


NO_LAYER = Layer(None)


class Reading(NamedTuple):
    persisted: Layer
    running: Layer


class Facts(NamedTuple):
    """Values of the sources by check id."""

    readings: Dict[str, Reading]


def read(host: Host, policy: Policy) -> Facts:
    """Read the source of every check; nothing is written."""
    reader = _Reader(host)
    return Facts({check.id: reader.read(check) for check in policy.checks})


class _Reader:
    """Reads sources. A source that several checks use is read once."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._boot: Optional[boot_probe.Boot] = None
        self._packages: Optional[Answer[package_database.Database]] = None

    def read(self, check: CustomCheck) -> Reading:
        readers: Dict[str, Callable[[CustomCheck], Reading]] = {
            "sysctl": self._sysctl,
            "file": self._file,
            "package": self._package,
            "service": self._service,
            "mount": self._mount,
            "command": self._command,
        }
        return readers[check.source](check)

    def _sysctl(self, check: CustomCheck) -> Reading:
        if self._boot is None:
            self._boot = boot_probe.read_boot(self._host)
        key = sysctl_d.normalize(str(check.sysctl))
        path = boot_probe.PROC_SYS + key
        running = attempt(lambda: (_of_kernel(self._host, path),))
        persisted = attempt(_at_boot, self._boot, key, running)
        return Reading(
            Layer(persisted, ("dir:/etc/sysctl.d", "file:/proc/cmdline")),
            Layer(running, ("file:" + path,)),
        )

    def _file(self, check: CustomCheck) -> Reading:
        path, pattern = str(check.file), str(check.pattern)
        values = attempt(lambda: _values_in(self._host.read_lines(path, pattern), pattern))
        return Reading(Layer(values, (f"file:{pattern} in {path}",)), NO_LAYER)

    def _command(self, check: CustomCheck) -> Reading:
        words = " ".join(check.command)
        name = words if check.as_root else f"{words} (as {NOBODY})"
        # An account other than root cannot run it as another one.
        user = None if check.as_root or os.geteuid() != 0 else NOBODY
        command = Command(name, check.command, user=user, timeout=20.0)
        values = attempt(_printed, self._host, command, check.pattern)
        return Reading(NO_LAYER, Layer(values, ("command:" + command.name,)))

    def _package(self, check: CustomCheck) -> Reading:
        if self._packages is None:
            self._packages = attempt(package_database.read, self._host)
        database = self._packages
        values = attempt(lambda: _versions(known(database), str(check.package)))
        keys = tuple("command:" + " ".join(argv) for argv in package_database.PROGRAMS)
        return Reading(NO_LAYER, Layer(values, keys))

    def _service(self, check: CustomCheck) -> Reading:
        names = ["LoadState", "ActiveState", "UnitFileState"]
        argv = ["systemctl", "show", "-p", ",".join(names), str(check.service)]
        answer = attempt(_properties, self._host, argv, names)
        keys = ("command:" + " ".join(argv),)
        return Reading(
            Layer(attempt(lambda: _at_boot_of_unit(known(answer))), keys),
            Layer(attempt(lambda: _state_of_unit(known(answer))), keys),
        )

    def _mount(self, check: CustomCheck) -> Reading:
        path = fstab.clean_path(str(check.mount))
        mounts = attempt(
            lambda: mountinfo.visible(mountinfo.parse(self._host.read_text(MOUNTINFO)))
        )
        running = attempt(lambda: _mounted(known(mounts), path, check.option))
        entries = attempt(lambda: fstab.parse(self._host.read_text(FSTAB, record=fstab.kept)))
        persisted = attempt(lambda: _in_fstab(known(entries), path, check.option, running))
        return Reading(Layer(persisted, ("file:" + FSTAB,)), Layer(running, ("file:" + MOUNTINFO,)))


# -- sysctl ---------------------------------------------------------------------------------------


def _of_kernel(host: Host, path: str) -> str:
    value = " ".join(host.read_text(path).split())
    return _shown(value, value, path)


def _at_boot(
    boot: boot_probe.Boot, key: str, running: Answer[Optional[Tuple[str, ...]]]
) -> Tuple[str, ...]:
    """The persisted value. Unanswered where no place sets it: the default of the kernel is not
    recorded anywhere."""
    if isinstance(running, Absent):
        raise running
    at_boot = boot_probe.sysctl_at_boot(boot, key)
    at_boot.settled()
    if at_boot.winner is None:
        raise Unanswered("dir:/etc/sysctl.d", f"no place sets {key.replace('/', '.')} at boot")
    value = " ".join(at_boot.winner.value.split())
    return (_shown(value, value),)


# -- files and commands ---------------------------------------------------------------------------


def _values_in(lines: List[str], pattern: str) -> Tuple[str, ...]:
    """The values of the lines, which all match; () without a line."""
    if len(lines) > _MOST_LINES:
        raise Unanswered("", f"more than {_MOST_LINES} lines match the pattern")
    return tuple(patterns.values(lines, pattern)) if lines else ()


def _printed(host: Host, command: Command, pattern: Optional[str]) -> Tuple[str, ...]:
    key = "command:" + command.name
    # The words tell what the output is: cat FILE.
    name = " ".join(command.argv)
    if pattern is not None:
        matching = partial(patterns.lines, pattern=pattern, name=name)
        output = host.ask(command, record=matching)
        _check_ended(output, command)
        lines = matching(output.stdout)
        return _values_in(lines.split("\n") if lines else [], pattern)
    output = host.ask(command)
    _check_ended(output, command)
    text = output.stdout.strip()
    if len(text) > _MOST_VALUE or "\n" in text:
        raise Unanswered(key, f"{command.argv[0]} printed more than one line: use a pattern")
    return (_shown(text, text, name),)


def _check_ended(output: Output, command: Command) -> None:
    if output.rc != 0:
        raise Unanswered(
            "command:" + command.name,
            f"{' '.join(command.argv)} ended with exit code {output.rc}",
        )


def _shown(value: str, text: str, name: str = "") -> str:
    """The value; Unanswered where its text (of ``name``) holds a secret."""
    if BLANK in masked(name, text):
        raise Unanswered("", "the value is a secret, and secrets are neither shown nor compared")
    return value


# -- packages -------------------------------------------------------------------------------------


def _versions(database: package_database.Database, name: str) -> Tuple[str, ...]:
    """The versions that are installed; () for none."""
    listed = database.intact().packages
    return tuple(
        package.version for package in listed if package.name == name and package.is_installed
    )


# -- services -------------------------------------------------------------------------------------


def _properties(host: Host, argv: List[str], names: List[str]) -> Dict[str, str]:
    output = host.run(argv)
    properties = dict(line.split("=", 1) for line in output.stdout.splitlines() if "=" in line)
    if output.rc != 0 or any(name not in properties for name in names):
        raise Unanswered("command:" + " ".join(argv), f"systemctl ended with {output.rc}")
    return properties


def _state_of_unit(unit: Dict[str, str]) -> Tuple[str, ...]:
    if unit["LoadState"] == "not-found":
        return ()
    return (RUNNING if unit["ActiveState"] in ("active", "reloading") else STOPPED,)


def _at_boot_of_unit(unit: Dict[str, str]) -> Tuple[str, ...]:
    """The state after a reboot; Unanswered where systemd does not tell it (static, generated)."""
    if unit["LoadState"] == "not-found":
        return ()
    state = unit["UnitFileState"]
    if state in _ENABLED:
        return (RUNNING,)
    if state in _DISABLED:
        return (STOPPED,)
    raise Unanswered(
        "", f"the unit file is {state or 'missing'}: another unit may start it at boot"
    )


# -- mounts ---------------------------------------------------------------------------------------


def _option_in(options: str, name: str) -> str:
    """The value of an option, SET for one without a value, NOT_SET."""
    result = NOT_SET
    for word in options.split(","):
        key, equals, value = word.partition("=")
        if key == name:
            result = _shown(value, word) if equals else SET
    if name == "rw" and result == NOT_SET and _option_in(options, "ro") == NOT_SET:
        # fstab does not name what is the default (mount(8)).
        return SET
    return result


def _mounted(mounts: List[mountinfo.Mount], path: str, option: Optional[str]) -> Tuple[str, ...]:
    mount = next((candidate for candidate in reversed(mounts) if candidate.path == path), None)
    if option is None:
        return (NOT_MOUNTED if mount is None else MOUNTED,)
    if mount is None:
        return ()
    value = _option_in(mount.options, option)
    return (_option_in(mount.super_options, option) if value == NOT_SET else value,)


def _in_fstab(
    entries: List[fstab.Entry],
    path: str,
    option: Optional[str],
    running: Answer[Optional[Tuple[str, ...]]],
) -> Tuple[str, ...]:
    entry = next((candidate for candidate in reversed(entries) if candidate.path == path), None)
    if entry is None:
        is_there = unless_absent(running, None) not in ((), (NOT_MOUNTED,))
        if is_there:
            raise Unanswered("file:" + FSTAB, f"{FSTAB} does not name {path}: a mount unit may")
        return (NOT_MOUNTED,) if option is None else ()
    if option is not None:
        return (_option_in(entry.options, option),)
    return (NOT_MOUNTED if _option_in(entry.options, "noauto") == SET else MOUNTED,)
