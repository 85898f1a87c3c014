# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transparent huge pages: the mode in force and the mode after reboot.

Source: Documentation/admin-guide/mm/transhuge.rst; mm/huge_memory.c, enabled_store() and
setup_transparent_hugepage(), which take the three words and nothing else; tuned's plugin_vm,
which leaves the setting alone when the kernel command line has transparent_hugepage=.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ....collect.answer import Answer, attempt, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, HostproofError
from ....parsers.kernel import bracketed, kernel_cmdline
from ....parsers.number import integer
from ....probes.systemd.boot import (
    Boot,
    Setting,
    Write,
    later_writes,
    outcome,
    parameters,
    tmpfiles_writes,
    unseen,
)
from ..parsers import kernel_config

FOLDER = "/sys/kernel/mm/transparent_hugepage"
SYSFS = FOLDER + "/enabled"
_OF_SIZE = re.compile(r"hugepages-[0-9]{1,9}kB\Z")
#: Path of Enterprise Linux 6, which old scripts still write.
_SYSFS_EL6 = "/sys/kernel/mm/redhat_transparent_hugepage/enabled"
MODES = ("always", "madvise", "never")


class ThpAtBoot(NamedTuple):
    """The mode after reboot. ``winner`` is None if neither a setting nor the kernel default is
    known.

    ``unknown`` is the error if places were not read: call settled() before the mode is used as
    final."""

    winner: Optional[Setting]
    losers: List[str]
    remark: Optional[str] = None
    unknown: Optional[HostproofError] = None

    def settled(self) -> None:
        """Raise if the mode is uncertain. Call it before the mode is used as final."""
        known(self.unknown)


def read_mode(host: Host) -> str:
    """The mode in force. Absent if the kernel has no transparent huge pages."""
    return str(bracketed.parse(host.read_text(SYSFS)).active)


def read_sizes(host: Host) -> Dict[str, str]:
    """The mode of each size ("hugepages-64kB"). Kernels before 6.8 have none.

    A size with the mode "always" is enabled for every process, independent of the global mode.
    A size without this file is one of the page cache only, for example 8 KiB in kernel 6.18.
    """
    listed = unless_absent(attempt(host.list_dir, FOLDER), [])
    answers = {
        name: attempt(host.read_text, f"{FOLDER}/{name}/enabled")
        for name in listed
        if _OF_SIZE.match(name)
    }
    return {
        name: bracketed.parse(known(answer)).active
        for name, answer in answers.items()
        if not isinstance(answer, Absent)
    }


def always_at_boot(boot: Boot, sizes: Iterable[str]) -> List[str]:
    """Settings that set a size to "always" at boot, as "hugepages-64kB by PLACE"."""
    settings = []
    for name in sorted(sizes):
        path = f"{FOLDER}/{name}/enabled"
        writes = [
            Write(mode, "kernel command line thp_anon=")
            for word, value in parameters(boot, "thp_anon")
            if word.replace("-", "_") == "thp_anon"
            for mode in _modes_of(value or "", int(name[len("hugepages-") : -len("kB")]))
        ]
        writes += tmpfiles_writes(boot, path).writes + later_writes(boot, [path])
        winner = outcome(writes, f"transparent huge pages of {name}", _read_size, {}).winner
        if winner is not None and winner.value == "always":
            settings.append(f"{name} by {winner.place}")
    return settings


def _modes_of(text: str, kilobytes: int) -> List[str]:
    """The modes of a size in thp_anon=, such as 16K-64K,1M:always;2M:never (transhuge.rst)."""
    modes = []
    for part in text.split(";"):
        ranges, _colon, mode = part.rpartition(":")
        for span in ranges.split(","):
            first, dash, last = span.partition("-")
            least, most = _kilobytes(first), _kilobytes(last if dash else first)
            if least is not None and most is not None and least <= kilobytes <= most:
                modes.append(mode)
    return modes


def _kilobytes(text: str) -> Optional[int]:
    """The size as memparse() in lib/cmdline.c reads it: 2M, 2048k, 0x200000."""
    match = re.match(r"(0x[0-9a-f]{1,12}|[0-9]{1,12})([kmg]?)\Z", text.lower())
    if match is None:
        return None
    number = integer(match.group(1), 0 if "x" in text.lower() else 10)
    return number << {"": 0, "k": 10, "m": 20, "g": 30}[match.group(2)] >> 10


def _read_size(text: str) -> Tuple[Optional[str], Optional[str]]:
    word = text.strip()
    takes = (*MODES, "inherit")
    return (word, None) if word in takes else (None, f"it takes {', '.join(takes)}")


def read_kernel_default(host: Host, release: str) -> Setting:
    """The default mode of the kernel. Absent if /boot does not contain its build options."""
    path = "/boot/config-" + release
    options = kernel_config.parse(host.read_text(path))
    for mode in MODES:
        if options.get("CONFIG_TRANSPARENT_HUGEPAGE_" + mode.upper()) == "y":
            return Setting(mode, f"kernel default ({path})")
    return Setting("never", f"kernel default ({path})")


def at_boot(boot: Boot, kernel_default: Optional[Answer[Setting]]) -> ThpAtBoot:
    """The mode after a reboot. The settings are evaluated in the order in which they apply."""
    writes: List[Write] = []
    if isinstance(kernel_default, Setting):
        writes.append(Write(*kernel_default))
    from_kernel = kernel_cmdline.last(
        parameters(boot, "transparent_hugepage"), "transparent_hugepage"
    )
    if from_kernel is not None:
        writes.append(Write(from_kernel, "kernel command line transparent_hugepage="))
    by_tmpfiles = tmpfiles_writes(boot, SYSFS)
    for write in by_tmpfiles.writes:
        writes.append(write if write.value is None else write._replace(value=write.value.strip()))
    writes.extend(later_writes(boot, [SYSFS, _SYSFS_EL6], from_kernel is None))
    result = outcome(writes, "transparent huge pages", _read_word, {})
    losers = result.losers + by_tmpfiles.idle
    return ThpAtBoot(result.winner, losers, result.remark, unseen(boot) or by_tmpfiles.unknown)


def _read_word(text: str) -> Tuple[Optional[str], Optional[str]]:
    """The mode of a written word. The kernel accepts one newline after it (sysfs_streq)."""
    word = text[:-1] if text.endswith("\n") else text
    if word in MODES:
        return word, None
    return None, "it takes {0}".format(", ".join(MODES))


def rivals(boot: Boot, path: str) -> List[str]:
    """Places that would override the mode if the tmpfiles.d file at ``path`` set it."""
    written = [write.place for write in tmpfiles_writes(boot, SYSFS).writes]
    places = [place for place in written if place.rpartition(":")[0] != path]
    without = boot._replace(tmpfiles=[])
    winner = at_boot(without, None).winner
    if winner is not None and not winner.place.startswith("kernel command line"):
        places.append(winner.place)
    return places


def read_default(host: Host, release: Answer[str]) -> Answer[Setting]:
    """read_kernel_default for a release that can be unknown."""
    return attempt(lambda: read_kernel_default(host, known(release)))
