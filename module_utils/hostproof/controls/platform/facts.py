# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the platform: distribution, kernels, architecture, SELinux, default target."""

import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.host import Host, Output, Stat
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.kernel import kernel_cmdline
from ...parsers.number import integer
from ...parsers.unix import os_release
from ...probes.kernel import page_size
from ...probes.oracle import releases
from ...probes.unix import one_line
from .policy import Policy

OS_RELEASE = "/etc/os-release"
RUNNING_KERNEL = "/proc/sys/kernel/osrelease"
ENFORCE = "/sys/fs/selinux/enforce"
SELINUX = "/etc/selinux/config"
CMDLINE = "/proc/cmdline"
GRUBBY = ["grubby", "--default-kernel"]
UNAME = ["uname", "-m"]
DEFAULT_TARGET = ["systemctl", "get-default"]
ACTIVE_TARGETS = ["systemctl", "is-active", "multi-user.target", "graphical.target"]
CLOCK = ["date", "+%s %z"]
#: Programs that record metrics. The brackets keep a shell with this command from being found.
RECORDERS = ["pgrep", "-l", "-f", "[O]SWatcher|[E]xaWatcher|[p]mlogger|[o]sysmond"]
#: Their process names, without the suffixes .sh and .bin.
_RECORDERS = ("OSWatcher", "ExaWatcher", "pmlogger", "osysmond")
#: A shell with such a command line can run the script, or another program with such an argument.
_SHELLS = ("bash", "dash", "ksh", "ksh93", "mksh", "sh")
#: The state of the mitigation that a kernel with retpoline has.
SPECTRE = "/sys/devices/system/cpu/vulnerabilities/spectre_v2"
#: What the installer of Clusterware copies the software to other nodes with.
REMOTE_COPY = ("/usr/bin/ssh", "/usr/bin/scp")
#: Directories in which sar begins a file each day.
SAR = ("/var/log/sa", "/var/log/sysstat")
_SUFFIX = re.compile(r"\.(sh|bin)\Z")
_MODE = re.compile(r"^SELINUX=[ \t]*((?i:enforcing|permissive|disabled))", re.MULTILINE)
_IMAGE = "vmlinuz-"
_MOST_NAMES = 8
_ARCHITECTURE = re.compile(r"\.(x86_64|aarch64|s390x|ppc64le)\Z")


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    ``default_kernel`` is the kernel release that the boot loader will start. ``enforce``
    is 1 for enforcing, 0 for permissive, Absent without SELinux. ``active`` are the active targets
    of multi-user.target and graphical.target. ``now`` is the host's time in seconds since the
    epoch. ``sar`` has the time of the last change by directory, ``recorders`` are process names.
    ``spectre`` is the state of the mitigation, ``remote_copy`` has programs by their paths."""

    os: Answer[Dict[str, str]]
    kernel: Answer[str]
    default_kernel: Answer[str]
    architecture: Answer[str]
    page_size: Answer[int]
    software: releases.Software
    enforce: Answer[int]
    selinux: Answer[Optional[str]]
    cmdline: Answer[List[Tuple[str, Optional[str]]]]
    target: Answer[str]
    active: Answer[List[str]]
    now: Answer[int]
    sar: Dict[str, Answer[float]]
    recorders: Answer[List[str]]
    spectre: Answer[str]
    remote_copy: Dict[str, Answer[Stat]]


def read(host: Host, _policy: Policy) -> Facts:
    """Read all facts for the checks."""
    kernel = attempt(lambda: host.read_text(RUNNING_KERNEL).strip())

    def of_linux(reading: Callable[[], object]) -> Any:
        # No command of Linux runs on another system.
        return kernel if isinstance(kernel, Absent) else attempt(reading)

    return Facts(
        os=attempt(lambda: os_release.parse(host.read_text(OS_RELEASE))),
        kernel=kernel,
        default_kernel=of_linux(lambda: _read_default_kernel(host)),
        architecture=of_linux(lambda: _read_architecture(host, kernel)),
        page_size=of_linux(lambda: page_size.read(host)),
        software=releases.read_software(host),
        enforce=attempt(host.read_number, ENFORCE),
        selinux=attempt(lambda: _selinux_mode(host.read_text(SELINUX))),
        cmdline=attempt(lambda: kernel_cmdline.parse(host.read_text(CMDLINE))),
        target=of_linux(lambda: one_line.read(host, DEFAULT_TARGET)),
        active=of_linux(lambda: _read_active(host)),
        now=of_linux(lambda: integer(one_line.read(host, CLOCK).split()[0])),
        sar={path: attempt(lambda p=path: host.stat(p).mtime) for path in SAR},
        recorders=of_linux(lambda: _read_recorders(host)),
        spectre=attempt(lambda: host.read_text(SPECTRE).strip()),
        remote_copy={path: attempt(host.stat, path) for path in REMOTE_COPY},
    )


def _unanswered(argv: List[str], output: Output) -> Unanswered:
    command = " ".join(argv)
    return Unanswered("command:" + command, f"{command} ended with {output.rc} and no usable line")


def _read_default_kernel(host: Host) -> str:
    path = one_line.read(host, GRUBBY)
    _folder, image, release = path.rpartition(_IMAGE)
    if not image or not release:
        raise Unanswered("command:" + " ".join(GRUBBY), "grubby names no file vmlinuz-RELEASE")
    return release


def _read_architecture(host: Host, kernel: Answer[str]) -> str:
    """Output of uname -m, or else the suffix of the kernel release."""
    machine = attempt(one_line.read, host, UNAME)
    if isinstance(machine, HostproofError):
        match = _ARCHITECTURE.search(if_known(kernel, ""))
        return match.group(1) if match else known(machine)
    return machine


def _read_active(host: Host) -> List[str]:
    """Read the lines: the exit code of systemctl is an error if a target is not active."""
    output = host.run(ACTIVE_TARGETS)
    states = output.stdout.split()
    if len(states) != 2:
        raise _unanswered(ACTIVE_TARGETS, output)
    return [name for name, state in zip(ACTIVE_TARGETS[2:], states) if state == "active"]


def _read_recorders(host: Host) -> List[str]:
    """Names of the processes; pgrep ends with 1 where there is none.

    An editor of a recorder's file has a recorder in its command line, but another process name.
    """
    output = host.run(RECORDERS)
    if output.rc not in (0, 1):
        raise _unanswered(RECORDERS, output)
    names = [line.partition(" ")[2].strip() for line in output.stdout.splitlines()]
    recorders = sorted({name for name in names if _SUFFIX.sub("", name) in _RECORDERS})
    shells = [name for name in names if name in _SHELLS]
    if shells and not recorders:
        raise Unanswered(
            "command:" + " ".join(RECORDERS), f"{shells[0]} may run a recorder, or only name one"
        )
    return recorders[:_MOST_NAMES]


def _selinux_mode(text: str) -> Optional[str]:
    """The first SELINUX= with a mode, None without one (libselinux, selinux_getenforcemode())."""
    match = _MODE.search(text)
    return match.group(1).lower() if match else None
