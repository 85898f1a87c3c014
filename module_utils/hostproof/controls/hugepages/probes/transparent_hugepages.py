# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transparent huge pages: what is in force and what a reboot will choose.

Source: Documentation/admin-guide/mm/transhuge.rst; mm/huge_memory.c, enabled_store() and
setup_transparent_hugepage(), which take the three words and nothing else; tuned's plugin_vm,
which leaves the setting alone when the kernel command line has transparent_hugepage=.
"""

from typing import List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, known
from ....collect.host import Host
from ....errors import HostproofError
from ....parsers.kernel import bracketed, kernel_cmdline
from ....probes.systemd.boot import (
    Boot,
    Setting,
    Write,
    later_writes,
    outcome,
    tmpfiles_writes,
    unseen,
)
from ..parsers import kernel_config

SYSFS = "/sys/kernel/mm/transparent_hugepage/enabled"
#: Enterprise Linux 6 has it here, and scripts that are older than it still try.
_SYSFS_EL6 = "/sys/kernel/mm/redhat_transparent_hugepage/enabled"
MODES = ("always", "madvise", "never")


class ThpAtBoot(NamedTuple):
    """``winner`` is None where neither a setting nor the kernel's own default can be seen.

    ``unknown`` is the error of places that were not checked: who takes the mode for good has to
    call settled() first."""

    winner: Optional[Setting]
    losers: List[str]
    remark: Optional[str] = None
    unknown: Optional[HostproofError] = None

    def settled(self) -> None:
        """Raise what is unknown: from here on the winner is taken to be all there is."""
        known(self.unknown)


def read_mode(host: Host) -> str:
    """The mode in force. Absent: the kernel has no transparent huge pages at all."""
    return str(bracketed.parse(host.read_text(SYSFS)).active)


def read_kernel_default(host: Host, release: str) -> Setting:
    """The mode that the kernel was built with; Absent where /boot does not keep its config."""
    path = "/boot/config-" + release
    options = kernel_config.parse(host.read_text(path))
    for mode in MODES:
        if options.get("CONFIG_TRANSPARENT_HUGEPAGE_" + mode.upper()) == "y":
            return Setting(mode, f"kernel default ({path})")
    return Setting("never", f"kernel default ({path})")


def at_boot(boot: Boot, kernel_default: Optional[Answer[Setting]]) -> ThpAtBoot:
    """The mode after a reboot, by the order in which the places act."""
    writes: List[Write] = []
    if isinstance(kernel_default, Setting):
        writes.append(Write(*kernel_default))
    from_kernel = kernel_cmdline.last(known(boot.cmdline), "transparent_hugepage")
    if from_kernel is not None:
        writes.append(Write(from_kernel, "kernel command line transparent_hugepage="))
    by_tmpfiles = tmpfiles_writes(boot, SYSFS)
    for one in by_tmpfiles.writes:
        writes.append(one if one.value is None else one._replace(value=one.value.strip()))
    writes.extend(later_writes(boot, [SYSFS, _SYSFS_EL6], from_kernel is None))
    found = outcome(writes, "transparent huge pages", _read_word, {})
    losers = found.losers + by_tmpfiles.idle
    return ThpAtBoot(found.winner, losers, found.remark, unseen(boot) or by_tmpfiles.unknown)


def _read_word(text: str) -> Tuple[Optional[str], Optional[str]]:
    """What the kernel makes of a word: one newline may stand behind it (sysfs_streq)."""
    word = text[:-1] if text.endswith("\n") else text
    if word in MODES:
        return word, None
    return None, "it takes {0}".format(", ".join(MODES))


def rivals(boot: Boot, path: str) -> List[str]:
    """The places that would still decide the mode if the tmpfiles.d file at ``path`` set it."""
    written = [one.place for one in tmpfiles_writes(boot, SYSFS).writes]
    places = [place for place in written if place.rpartition(":")[0] != path]
    without = boot._replace(tmpfiles=[])
    winner = at_boot(without, None).winner
    if winner is not None and not winner.place.startswith("kernel command line"):
        places.append(winner.place)
    return places


def read_default(host: Host, release: Answer[str]) -> Answer[Setting]:
    """read_kernel_default for a release that may itself be unknown."""
    return attempt(lambda: read_kernel_default(host, known(release)))
