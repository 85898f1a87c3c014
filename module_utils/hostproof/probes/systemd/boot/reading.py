# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads every place that can set a kernel value at boot."""

import re
from typing import List, Tuple

from ....collect.answer import Answer, attempt, if_known, known
from ....collect.host import Host
from ....errors import HostproofError, NotRecorded, Unanswered
from ....parsers.kernel import kernel_cmdline
from ....parsers.systemd import tuned
from .. import boot_scripts, boot_services, conf_files
from ..boot_scripts import Command
from .model import OF_SERVICES, Boot, Tuned
from .sysctl_files import read_sysctl
from .tuned_profile import read_tuned

SYSCTL_SERVICE = "systemd-sysctl.service"
TMPFILES_SERVICE = "systemd-tmpfiles-setup.service"

#: Parameters of the kernel that set a value that is checked here.
_OF_KERNEL = re.compile(
    r"(?:hugepages|(?:default_)?hugepagesz|transparent_hugepage|thp_anon"
    rf"|{OF_SERVICES})$|sysctl[./]"
)


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
        sysctl=attempt(read_sysctl, host),
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
    return (
        []
        if commands and boot_services.why_idle(host, "rc-local.service", known(cmdline))
        else commands
    )


def _why_off(units: Answer[boot_services.Units], service: str) -> str:
    return known(units).why_not_started(service, "sysinit.target")
