# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about packages: the package database, cvuqdisk, logs of Oracle's preinstall packages."""

from typing import Any, Callable, Dict, NamedTuple, Optional

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host, Stat
from ...errors import Absent, HostproofError
from ...parsers.number import integer
from ...parsers.oracle import oracle_inventory
from ...parsers.unix import distribution, getent, os_release
from ...probes.oracle import releases
from ...probes.unix import one_line, package_database
from .package_table import PREINSTALL
from .parsers.transaction import Transaction
from .policy import Policy

OS_RELEASE = "/etc/os-release"
RUNNING_KERNEL = "/proc/sys/kernel/osrelease"
#: Where it exists, the packages are part of an image (ostree-prepare-root(1)).
IMAGE_MODE = "/run/ostree-booted"
CVUQDISK = "/usr/sbin/cvuqdisk"
UNAME = ["uname", "-m"]
CLOCK = ["date", "+%s %z"]
_LOG = "/var/log/{}/results/orakernel.log"


class Helper(NamedTuple):
    """The program cvuqdisk, the name of its group, and that of the inventory."""

    stat: Answer[Stat]
    group: Answer[str]
    inventory_group: Answer[Optional[str]]


class Facts(NamedTuple):
    """Facts of the host. An Answer can be the error of its reading.

    ``logs`` maps installed preinstall packages of Oracle to their logs. ``simulated`` is the
    transaction of apply (simulation.py), None if apply has nothing to install or must not
    install."""

    kernel: Answer[str]
    os: Answer[distribution.Distribution]
    architecture: Answer[str]
    software: releases.Software
    database: Answer[package_database.Database]
    image_mode: Answer[bool]
    cvuqdisk: Answer[Helper]
    logs: Dict[str, Answer[str]]
    now: Answer[int]
    simulated: Answer[Optional[Transaction]] = None


def log_of(package: str) -> str:
    return _LOG.format(package)


def read(host: Host, _policy: Policy) -> Facts:
    """Read all facts for the checks."""
    kernel = attempt(lambda: host.read_text(RUNNING_KERNEL).strip())

    def of_linux(reading: Callable[[], object]) -> Any:
        # No command of Linux runs on another system.
        return kernel if isinstance(kernel, Absent) else attempt(reading)

    database = of_linux(lambda: package_database.read(host))
    names = () if isinstance(database, HostproofError) else database.packages
    installed = {package.name for package in names}
    return Facts(
        kernel=kernel,
        os=attempt(lambda: distribution.of(os_release.parse(host.read_text(OS_RELEASE)))),
        architecture=of_linux(lambda: one_line.read(host, UNAME)),
        software=releases.read_software(host),
        database=database,
        image_mode=of_linux(lambda: _is_there(host, IMAGE_MODE)),
        cvuqdisk=of_linux(lambda: _read_helper(host)),
        logs={
            name: attempt(host.read_text, log_of(name))
            for name in PREINSTALL.values()
            if name in installed
        },
        now=of_linux(lambda: integer(one_line.read(host, CLOCK).split()[0])),
    )


def _is_there(host: Host, path: str) -> bool:
    return unless_absent(attempt(host.stat, path), None) is not None


def _read_helper(host: Host) -> Helper:
    stat = attempt(host.stat, CVUQDISK)
    return Helper(stat, attempt(_group, host, stat), attempt(_inventory_group, host))


def _group(host: Host, stat: Answer[Stat]) -> str:
    line = one_line.read(host, ["getent", "group", str(known(stat).gid)])
    return getent.parse_group(line)[0].name


def _inventory_group(host: Host) -> Optional[str]:
    for pointer in oracle_inventory.POINTERS:
        text = unless_absent(attempt(host.read_text, pointer), None)
        if text is not None:
            return oracle_inventory.group_of(text)
    return None
