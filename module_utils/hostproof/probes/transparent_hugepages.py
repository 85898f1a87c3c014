# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transparent huge pages: what is in force and what the next boot will choose.

Source: Documentation/admin-guide/mm/transhuge.rst; tuned's plugin_vm, which leaves the
setting alone when the kernel command line has transparent_hugepage=.
"""

from typing import List, NamedTuple, Optional

from ..answer import Answer, attempt, known
from ..host import Host
from ..parsers import bracketed, kernel_cmdline, kernel_config, tmpfiles_d
from .boot import Boot, Setting, rc_local_lines

SYSFS = "/sys/kernel/mm/transparent_hugepage/enabled"
MODES = ("always", "madvise", "never")


class ThpAtBoot(NamedTuple):
    """``winner`` is None where neither a setting nor the kernel's own default can be seen."""

    winner: Optional[Setting]
    losers: List[str]


def read_mode(host):
    # type: (Host) -> str
    """The mode in force. Absent: the kernel has no transparent huge pages at all."""
    return str(bracketed.parse(host.read_text(SYSFS)).active)


def read_kernel_default(host, release):
    # type: (Host, str) -> Setting
    """The mode that the kernel was built with; Absent where /boot does not keep its config."""
    path = "/boot/config-" + release
    options = kernel_config.parse(host.read_text(path))
    for mode in MODES:
        if options.get("CONFIG_TRANSPARENT_HUGEPAGE_" + mode.upper()) == "y":
            return Setting(mode, "kernel default ({0})".format(path))
    return Setting("never", "kernel default ({0})".format(path))


def at_boot(boot, kernel_default):
    # type: (Boot, Optional[Answer[Setting]]) -> ThpAtBoot
    """The mode after the next boot, by the order in which the places act."""
    candidates = []  # type: List[Setting]
    if isinstance(kernel_default, Setting):
        candidates.append(kernel_default)
    from_kernel = kernel_cmdline.last(known(boot.cmdline), "transparent_hugepage")
    if from_kernel is not None:
        candidates.append(Setting(from_kernel, "kernel command line transparent_hugepage="))
    candidates.extend(
        Setting((entry.argument or "").strip(), "{0}:{1}".format(entry.path, entry.line))
        for entry in tmpfiles_d.writes(known(boot.tmpfiles), SYSFS)
    )
    by_tuned = known(boot.tuned).option("vm", ["transparent_hugepages", "transparent_hugepage"])
    if by_tuned is not None and from_kernel is None:
        candidates.append(by_tuned)
    candidates.extend(rc_local_lines(boot, ["transparent_hugepage/enabled"]))
    losers = ["{0} = {1}".format(loser.place, loser.value) for loser in candidates[:-1]]
    return ThpAtBoot(candidates[-1] if candidates else None, losers)


def rivals(boot, path):
    # type: (Boot, str) -> List[str]
    """The places that would still decide the mode if the tmpfiles.d file at ``path`` set it."""
    places = [
        "{0}:{1}".format(entry.path, entry.line)
        for entry in tmpfiles_d.writes(known(boot.tmpfiles), SYSFS)
        if entry.path != path
    ]
    without = boot._replace(tmpfiles=[])
    winner = at_boot(without, None).winner
    if winner is not None and not winner.place.startswith("kernel command line"):
        places.append(winner.place)
    return places


def read_default(host, release):
    # type: (Host, Answer[str]) -> Answer[Setting]
    """read_kernel_default for a release that may itself be unknown."""
    return attempt(lambda: read_kernel_default(host, known(release)))
