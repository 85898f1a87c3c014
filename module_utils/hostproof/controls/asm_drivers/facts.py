# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers of ASM disks: packages, modules of both kernels, configuration, io_uring."""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.unix import distribution, os_release
from ...probes.oracle import releases
from ...probes.systemd import boot as boot_probe
from .policy import Policy

KERNEL = "/proc/sys/kernel/osrelease"
OS_RELEASE = "/etc/os-release"
GRUBBY = ["grubby", "--default-kernel"]
PACKAGES = ("oracleasm-support", "oracleasmlib")
RPM = ["rpm", "-q", "--qf", "%{NAME} %{VERSION}\\n", *PACKAGES]
CONFIG = "/etc/sysconfig/oracleasm"
IO_URING = "/proc/sys/kernel/io_uring_disabled"
IO_URING_KEY = "kernel/io_uring_disabled"
UNIT = ["systemctl", "show", "-p", "UnitFileState", "oracleasm.service"]
AFD_CONFIG = "/etc/oracleafd.conf"
#: Names of modules: ASMLIB, ASMFD.
ASMLIB, ASMFD = "oracleasm", "oracleafd"
#: Valid names of kernel packages, because the name becomes a command argument.
_RELEASE = re.compile(r"[0-9][A-Za-z0-9._+-]{0,99}\Z")


def modinfo(release: str, module: str) -> List[str]:
    return ["modinfo", "-k", release, "-F", "filename", module]


class Facts(NamedTuple):
    """``default_kernel`` is the kernel of the next boot, Absent without grubby.

    ``packages`` maps installed packages of ASMLIB to versions. ``loaded`` are modules that the
    kernel has, ``modules`` whether a kernel has a module, by (kernel, module). ``io_uring`` is
    the number of io_uring_disabled."""

    kernel: Answer[str]
    default_kernel: Answer[str]
    os: Answer[distribution.Distribution]
    packages: Answer[Dict[str, str]]
    loaded: Dict[str, Answer[bool]]
    modules: Dict[str, Answer[bool]]
    afd_configured: Answer[bool]
    config: Answer[str]
    unit: Answer[str]
    io_uring: Answer[int]
    io_uring_at_boot: Answer[Optional[str]]
    software: releases.Software


def read(host: Host, _policy: Policy) -> Facts:
    """Read all facts for the checks."""
    kernel = attempt(lambda: host.read_text(KERNEL).strip())
    is_linux = not isinstance(kernel, Absent)

    def of_linux(reading: Callable[..., object], *arguments: object) -> Any:
        # No command of Linux runs on another system.
        return attempt(reading, *arguments) if is_linux else kernel

    packages = of_linux(_packages, host)
    loaded = {
        module: of_linux(_has_folder, host, f"/sys/module/{module}") for module in (ASMLIB, ASMFD)
    }
    configured = of_linux(_has_file, host, AFD_CONFIG)
    has_asmlib = bool(if_known(packages, {}))
    has_asmfd = if_known(loaded[ASMFD], False) or if_known(configured, False)
    default = of_linux(_default_kernel, host)
    kernels = [release for release in (kernel, default) if isinstance(release, str)]
    modules = [module for module, there in ((ASMLIB, has_asmlib), (ASMFD, has_asmfd)) if there]
    return Facts(
        kernel=kernel,
        default_kernel=default,
        os=attempt(lambda: distribution.of(os_release.parse(host.read_text(OS_RELEASE)))),
        packages=packages,
        loaded=loaded,
        modules={
            f"{release} {module}": attempt(_has_module, host, release, module)
            for release in dict.fromkeys(kernels)
            for module in modules
        },
        afd_configured=configured,
        config=attempt(host.read_text, CONFIG),
        unit=of_linux(_unit, host) if has_asmlib else "",
        io_uring=attempt(host.read_number, IO_URING),
        io_uring_at_boot=attempt(_at_boot, host) if has_asmlib else None,
        software=releases.read_software(host),
    )


def _packages(host: Host) -> Dict[str, str]:
    """rpm ends with the number of packages that are not installed, and prints a line for each."""
    output = attempt(host.run, RPM)
    if isinstance(output, Absent):
        return {}
    if re.search("^error: ", known(output).stderr, re.MULTILINE):
        # It then calls every package "not installed".
        raise Unanswered("command:" + " ".join(RPM), "the package database is damaged")
    packages = {}
    lines = known(output).stdout.splitlines()
    for line in lines:
        words = line.split()
        if len(words) == 2 and words[0] in PACKAGES:
            packages[words[0]] = words[1]
    missing = sum("is not installed" in line for line in lines)
    if len(packages) + missing < len(PACKAGES):
        raise Unanswered("command:" + " ".join(RPM), "rpm did not answer for every package")
    return packages


def _has_folder(host: Host, path: str) -> bool:
    answer = attempt(host.list_dir, path)
    return not isinstance(answer, Absent) and known(answer) is not None


def _has_file(host: Host, path: str) -> bool:
    answer = attempt(host.stat, path)
    return not isinstance(answer, Absent) and known(answer) is not None


def _default_kernel(host: Host) -> str:
    output = host.run(GRUBBY)
    release = output.stdout.strip().rpartition("vmlinuz-")[2]
    if output.rc != 0 or not _RELEASE.match(release):
        raise Unanswered("command:" + " ".join(GRUBBY), "grubby names no file vmlinuz-RELEASE")
    return release


def _has_module(host: Host, release: str, module: str) -> bool:
    """modinfo ends with 1 where the kernel has no such module."""
    if not _RELEASE.match(release):
        raise Unanswered("file:" + KERNEL, "the release of the kernel has an unusual form")
    output = host.run(modinfo(release, module))
    if output.rc not in (0, 1):
        raise Unanswered("command:" + " ".join(modinfo(release, module)), "modinfo did not answer")
    return output.rc == 0


def _unit(host: Host) -> str:
    return host.read_output(UNIT).strip().partition("UnitFileState=")[2]


def _at_boot(host: Host) -> Optional[str]:
    outcome = boot_probe.sysctl_at_boot(boot_probe.read_boot(host), IO_URING_KEY)
    outcome.settled()
    return None if outcome.winner is None else outcome.winner.value


def is_configured(facts: Facts) -> bool:
    """Whether the configuration starts the driver at boot."""
    if isinstance(facts.config, HostproofError) and not isinstance(facts.config, Absent):
        raise facts.config
    rows = re.findall(r"^\s*ORACLEASM_ENABLED=[\"']?(\w*)", unless_absent(facts.config, ""), re.M)
    return rows[-1:] == ["true"]
