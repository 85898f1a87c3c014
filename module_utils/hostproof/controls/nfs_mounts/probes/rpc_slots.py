# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RPC slot tables of the NFS client: what the kernel uses for new mounts, and what boot sets.

The limits are parameters of the module sunrpc and also sysctls, but those exist only once the
module is loaded. Sources: Linux, net/sunrpc/xprtsock.c; modprobe.d(5), modules-load.d(5);
nfs-utils, systemd/50-nfs.conf (modprobe.d) and systemd/60-nfs.rules (udev), which apply sysctl.d
when the module is loaded.
"""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, known, unless_absent
from ....collect.host import Host
from ....errors import HostproofError, Unanswered, kind_of
from ....parsers.kernel import kernel_cmdline, modprobe_d, sysctl_number
from ....parsers.systemd import conf_d, sysctl_d, udev_rules
from ....probes.kernel.module_files import Modprobe, read_modprobe
from ....probes.systemd import boot_services, conf_files
from ....probes.systemd.boot import (
    OF_SERVICES,
    PROC_SYS,
    Boot,
    SysctlAtBoot,
    Write,
    later_writes,
    outcome,
    parameters,
    read_boot,
    read_value,
    tmpfiles_writes,
    unseen,
)

ENTRIES = "tcp_slot_table_entries"
MAXIMUM = "tcp_max_slot_table_entries"
NAMES = (ENTRIES, MAXIMUM)

MODULES_SERVICE = "systemd-modules-load.service"
_MODULE = "sunrpc"
_LOADED_AT_BOOT = conf_d.directories("modules-load.d")
_UDEV_RULES = conf_d.directories("udev/rules.d")


class Slots(NamedTuple):
    """``running`` maps NAMES to the value now; Absent while the module is not loaded.

    ``sysctl_applied_by`` is the place that applies sysctl.d to the module at boot, None if none.
    """

    running: Dict[str, Answer[int]]
    modprobe: Answer[Modprobe]
    boot: Boot
    sysctl_applied_by: Answer[Optional[str]]


def read_slots(host: Host) -> Slots:
    modprobe = attempt(read_modprobe, host)
    next_boot = read_boot(host)
    return Slots(
        running={name: attempt(host.read_number, proc_file(name)) for name in NAMES},
        modprobe=modprobe,
        boot=next_boot,
        sysctl_applied_by=attempt(lambda: _applied_by(host, known(modprobe), next_boot)),
    )


def proc_file(name: str) -> str:
    return f"/proc/sys/{_MODULE}/{name}"


def at_boot(slots: Slots, name: str) -> SysctlAtBoot:
    """The value of one of NAMES after a reboot, with the place that wins and those that lose.

    In the order of boot: modprobe.d, ``sunrpc.NAME=`` on the kernel command line, sysctl.d where
    something applies it once the module is loaded, tuned, rc.local. Raises what is unknown.
    """
    key = f"{_MODULE}.{name}"
    parameters = _parameters(slots, name)
    applied_by = known(slots.sysctl_applied_by)
    writes = _sysctl(slots.boot, key)
    unused: List[str] = []
    if applied_by is None:
        unused = [
            f"{write.place} = {write.value} (nothing applies it once {_MODULE} is loaded)"
            for write in writes
        ]
        writes = []
    target = PROC_SYS + sysctl_d.normalize(key)
    # Whether the module is there by then is unknown: before, its keys do not exist.
    targets = [target, f"/sys/module/{_MODULE}/parameters/{name}"]
    later = [write for path in targets for write in tmpfiles_writes(slots.boot, path).writes]
    later += later_writes(_without(slots.boot, applied_by), targets)
    writes.extend(write._replace(certain=False) for write in later)

    def read(text: str) -> Tuple[Optional[str], Optional[str]]:
        return read_value(sysctl_d.normalize(key), text)

    result = outcome(parameters + writes, key, read, {})
    return result._replace(losers=result.losers + unused, unknown=unseen(slots.boot))


def _without(boot: Boot, applied_by: Optional[str]) -> Boot:
    """The boot without the command that applies sysctl.d, whose turn is known."""
    if applied_by is None or isinstance(boot.others, HostproofError):
        return boot
    path = re.sub(":[0-9]+$", "", applied_by)
    return boot._replace(others=[other for other in boot.others if other.actor != path])


def _parameters(slots: Slots, name: str) -> List[Write]:
    """The values that the module gets at load, in order. Raises for one that prevents the load."""
    resolution = modprobe_d.resolve(known(slots.modprobe).options, _MODULE, name)
    options = list(resolution.losers) + ([resolution.winner] if resolution.winner else [])
    parameters = [Write(option.value or "", f"{option.path}:{option.line}") for option in options]
    key = f"{_MODULE}.{name}"
    from_kernel = kernel_cmdline.last(known(slots.boot.cmdline), key)
    if from_kernel is not None:
        parameters.append(Write(from_kernel, "kernel command line " + key))
    return [parameter._replace(value=_number(parameter, name)) for parameter in parameters]


def _number(parameter: Write, name: str) -> str:
    """The number that the kernel makes of a parameter: it reads + there, unlike sysctl."""
    text, place = parameter.value or "", parameter.place
    number = sysctl_number.read_parameter(text, sysctl_number.SLOTS).value
    if number is None:
        raise Unanswered(
            "file:" + place.rsplit(":", 1)[0] if place.startswith("/") else "file:/proc/cmdline",
            f"{place} gives {name} the value {kind_of(text)}, with which the "
            f"kernel does not load {_MODULE}: without it nothing is mounted by NFS",
        )
    return str(number)


def with_modprobe_file(slots: Slots, path: str, text: str) -> Slots:
    """The slots as if the file at ``path`` held ``text``: a plan must know if it wins.

    ``path`` is in the first of modprobe_d.DIRECTORIES, so it masks others of its name.
    """
    modprobe = known(slots.modprobe)
    parsed = modprobe_d.parse(text, path)
    masked = _file_name(path)
    options = [option for option in modprobe.options if _file_name(option.path) != masked]
    installs = [install for install in modprobe.installs if _file_name(install.path) != masked]
    return slots._replace(
        modprobe=Modprobe(
            sorted(options + parsed.options, key=lambda item: _file_name(item.path)),
            sorted(installs + parsed.installs, key=lambda item: _file_name(item.path)),
        )
    )


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _sysctl(boot: Boot, key: str) -> List[Write]:
    """The lines of sysctl.d and sysctl.conf for a key, the one that wins last.

    procps' sysctl applies them to the module, and unlike systemd it reads sysctl.conf too.
    """
    tree = known(boot.sysctl)
    resolution = sysctl_d.resolve(tree.assignments + tree.unread, key)
    lines = list(resolution.losers) + ([resolution.winner] if resolution.winner else [])
    return [Write(line.value or "", f"{line.path}:{line.line}") for line in lines]


def _applied_by(host: Host, modprobe: Modprobe, next_boot: Boot) -> Optional[str]:
    """The place that applies sysctl.d to the module, or that loads it before sysctl.d is read."""
    command = modprobe_d.install(modprobe.installs, _MODULE)
    if command is not None and "sysctl" in command.command:
        return f"{command.path}:{command.line}"
    return _loaded_early(host, next_boot) or _udev_rule(host)


def _loaded_early(host: Host, next_boot: Boot) -> Optional[str]:
    """The line of modules-load.d that loads the module before systemd-sysctl.service starts.

    None if there is no such line, or if one of the two services does not start after a reboot.
    """
    for path in conf_d.effective_files(_LOADED_AT_BOOT, conf_files.paths(host, _LOADED_AT_BOOT)):
        text = unless_absent(attempt(host.read_text, path), "")
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() == _MODULE:
                services = boot_services.Units(host, parameters(next_boot, OF_SERVICES))
                if known(next_boot.sysctl_off) or services.why_not_started(
                    MODULES_SERVICE, "sysinit.target"
                ):
                    return None
                return f"{path}:{number}"
    return None


def _udev_rule(host: Host) -> Optional[str]:
    seen: List[str] = []
    for folder in _UDEV_RULES:
        for name in unless_absent(attempt(host.list_dir, folder), []):
            if name in seen or not re.search(r"(nfs|sunrpc).*\.rules$", name):
                continue
            seen.append(name)
            path = f"{folder}/{name}"
            text = unless_absent(attempt(host.read_text, path, record=udev_rules.kept), "")
            text = text.replace("\\\n", " ")
            for line in text.splitlines():
                _before, key, rest = line.partition('KERNEL=="sunrpc"')
                if key and "sysctl" in rest and not line.startswith("#"):
                    return path
    return None
