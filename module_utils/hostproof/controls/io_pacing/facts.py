# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of I/O pacing: on AIX the marks in each layer, on Linux the dirty limits."""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...apply import aix_attributes
from ...apply.aix_attributes import Attributes
from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, ParseError, Unanswered, kind_of
from ...parsers.kernel import meminfo
from ...parsers.mounts import aix_filesystems, aix_mount_options, mount_command
from ...parsers.nfs.nfs_options import AIX, LINUX
from ...parsers.number import clipped
from ...probes.nfs import nfs_mounted
from ...probes.oracle import monitors
from ...probes.systemd import boot as boot_probe
from ...probes.unix import aix_said, sys_parm
from .parsers import lparstat, oslevel, proc_stat
from .policy import Pair, Policy
from .probes import powerha
from .probes.powerha import PowerHa

DEVICE = "sys0"
NAMES = ("maxpout", "minpout")
FILESYSTEMS = "/etc/filesystems"
DEFAULT = "default"
MOUNT = ["mount"]
OSLEVEL = ["oslevel", "-s"]
LPARSTAT = ["lparstat"]

VM = "/proc/sys/vm/"
DIRTY = ("dirty_background_bytes", "dirty_background_ratio", "dirty_bytes", "dirty_ratio")
BLOCK = "/sys/block"
STAT = "/proc/stat"
CPU_SAMPLE = "cpu_use"
#: Disks that no writer waits for: memory, and files that are on another disk.
_NO_DISK = re.compile(r"^(loop|ram|zram)\d+$")


class Override(NamedTuple):
    """The marks that a mount option sets for one file system; None where it sets only the other."""

    path: str
    maxpout: Optional[str]
    minpout: Optional[str]

    def __str__(self) -> str:
        marks = [
            f"{name}={value}"
            for name, value in (("maxpout", self.maxpout), ("minpout", self.minpout))
            if value is not None
        ]
        return "{0}: {1}".format(self.path, " ".join(marks))

    def pair(self) -> Optional[Pair]:
        """As numbers; None where one is missing or is not a number."""
        if self.maxpout is None or self.minpout is None:
            return None
        if not (self.maxpout.isdecimal() and self.minpout.isdecimal()):
            return None
        return Pair(clipped(self.maxpout), clipped(self.minpout))


class Mounts(NamedTuple):
    """``overrides`` by mount point; ``unpaced`` are mounts whose options bypass the page cache.

    ``options`` are those of each mount point with an override, without the override.
    """

    overrides: Dict[str, Override]
    unpaced: List[Tuple[str, str]]
    options: Dict[str, str]


class Aix(NamedTuple):
    """An AIX host. What could not be read holds the error instead (answer.py)."""

    odm: Answer[Attributes]
    running: Answer[Pair]
    level: Answer[oslevel.Level]
    powerha: Answer[PowerHa]
    cpu: Answer[lparstat.Cpu]
    persisted_mounts: Answer[Mounts]
    live_mounts: Answer[Mounts]
    tunables: Answer[Dict[str, str]]


class Linux(NamedTuple):
    """A Linux host: bytes or percent by name, and the writeback throttle of each disk in µs.

    ``free_cpu`` is the idle part of all CPUs in the window, in percent. It is Absent on a host
    without a running instance, and without a window."""

    dirty: Answer[Dict[str, int]]
    available: Answer[int]
    boot: boot_probe.Boot
    throttle: Answer[Dict[str, str]]
    free_cpu: Answer[float]


class Facts(NamedTuple):
    """``system`` as uname prints it. ``aix`` and ``linux`` are None on any other system."""

    system: Answer[str]
    aix: Optional[Aix]
    linux: Optional[Linux]


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything that the checks and the plan need; nothing is written."""
    system = attempt(nfs_mounted.read_system, host)
    return Facts(
        system=system,
        aix=_read_aix(host) if system == AIX else None,
        linux=_read_linux(host, policy) if system == LINUX else None,
    )


# -- AIX ------------------------------------------------------------------------------------------


def odm_pair(attributes: Attributes) -> Pair:
    return Pair(*(clipped(attributes.values[name]) for name in NAMES))


def _read_aix(host: Host) -> Aix:
    return Aix(
        odm=attempt(_read_odm, host),
        running=attempt(_read_running, host),
        level=attempt(lambda: oslevel.parse(host.read_output(OSLEVEL))),
        powerha=attempt(powerha.read, host),
        cpu=attempt(lambda: lparstat.parse(host.read_output(LPARSTAT))),
        persisted_mounts=attempt(_read_filesystems, host),
        live_mounts=attempt(_read_mounts, host),
        tunables=attempt(aix_said.tunables, host),
    )


def _read_odm(host: Host) -> Attributes:
    rows = aix_attributes.read_rows(host, DEVICE, NAMES)
    for row in rows:
        if not row.first_word.isdecimal():
            raise ParseError("lsattr", f"{row.name} {kind_of(row.first_word)} is not a number")
    legal = {name: attempt(aix_attributes.read_legal, host, DEVICE, name) for name in NAMES}
    text = host.run(list(aix_attributes.attributes_command(DEVICE, NAMES).argv)).stdout
    return aix_attributes.of_words(DEVICE, text, rows, legal)


def _read_running(host: Host) -> Pair:
    values = sys_parm.read(host, NAMES)
    return Pair(*(values[name] for name in NAMES))


def _read_filesystems(host: Host) -> Mounts:
    stanzas = aix_filesystems.parse(host.read_text(FILESYSTEMS))
    # A stanza inherits missing attributes from the stanza "default", which is not a file system.
    default = "".join(
        stanza.attributes.get("options", "") for stanza in stanzas if stanza.name == DEFAULT
    )
    return _mounts(
        (stanza.name, stanza.attributes.get("options", default))
        for stanza in stanzas
        if stanza.name != DEFAULT
    )


def _read_mounts(host: Host) -> Mounts:
    mounts = mount_command.parse(AIX, host.read_output(MOUNT))
    return _mounts((mount.path, mount.options) for mount in mounts)


def _mounts(pairs: Iterable[Tuple[str, str]]) -> Mounts:
    """The last entry of each mount point: that mount is on top."""
    overrides: Dict[str, Override] = {}
    unpaced: Dict[str, str] = {}
    others: Dict[str, str] = {}
    for path, text in pairs:
        options = aix_mount_options.parse(text)
        for known_path in (overrides, unpaced, others):
            known_path.pop(path, None)
        if any(name in options for name in NAMES):
            overrides[path] = Override(path, *(_value(options, name) for name in NAMES))
            others[path] = aix_mount_options.without_options(text, NAMES)
        around = [name for name in ("cio", "dio") if name in options]
        if around:
            unpaced[path] = ",".join(around)
    return Mounts(overrides, sorted(unpaced.items()), others)


def _value(options: Dict[str, Optional[str]], name: str) -> Optional[str]:
    return (options[name] or "") if name in options else None


# -- Linux ----------------------------------------------------------------------------------------


def _read_linux(host: Host, policy: Policy) -> Linux:
    return Linux(
        dirty=attempt(lambda: {name: host.read_number(VM + name) for name in DIRTY}),
        available=attempt(_read_available, host),
        boot=boot_probe.read_boot(host),
        throttle=attempt(_read_throttle, host),
        free_cpu=attempt(_read_free_cpu, host, policy),
    )


def _read_free_cpu(host: Host, policy: Policy) -> float:
    if not policy.window_seconds:
        raise Absent("policy", "hostproof_window_seconds is 0: the CPU is not watched")
    if not monitors.monitors(host):
        raise Absent(monitors.PMON_KEY, "no instance runs here")
    sample = host.sample(CPU_SAMPLE, [STAT], [], policy.window_seconds)
    key = "file:" + STAT
    if key in sample.errors:
        raise Unanswered(key, sample.errors[key])
    before, after = proc_stat.parse(sample.first[key]), proc_stat.parse(sample.second[key])
    total, free = after.total - before.total, after.free - before.free
    if total <= 0 or not 0 <= free <= total:
        raise Unanswered(key, "the time of the CPUs went backwards or stood still")
    return 100.0 * free / total


def _read_available(host: Host) -> int:
    rows = meminfo.parse(host.read_text("/proc/meminfo"))
    if "MemAvailable" not in rows:
        raise ParseError("meminfo", "there is no MemAvailable row")
    return rows["MemAvailable"]


def _read_throttle(host: Host) -> Dict[str, str]:
    """wbt_lat_usec of each disk that has it: an old kernel has none."""
    latencies = {}
    for disk in unless_absent(attempt(host.list_dir, BLOCK), []):
        if not _NO_DISK.match(disk):
            text = attempt(host.read_text, f"{BLOCK}/{disk}/queue/wbt_lat_usec")
            if not isinstance(text, HostproofError):
                latencies[disk] = text.strip()
            elif not isinstance(text, Absent) and "Invalid argument" not in str(text):
                known(text)
    return latencies
