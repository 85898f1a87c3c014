# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The swap areas that systemd activates after a reboot.

Sources: systemd.swap(5); systemd-fstab-generator(8); kernel-command-line(7), ``systemd.mask=``,
``fstab=`` and ``systemd.swap=``; fstab_node_to_udev_node() and encode_devnode_name() in systemd,
src/shared.
"""

import re
from typing import Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_newer
from ...collect.host import FoundLines, Host
from ...errors import Absent, Denied, HostproofError, NotRecorded, Unanswered
from ...parsers import kept_lines
from ...parsers.mounts import fstab
from ...parsers.number import integer
from ...parsers.systemd import systemd_unit
from ...probes.nfs.mount_needs import why_no_fstab
from ...probes.systemd import boot_scripts, boot_services, unit_files
from .parsers import proc_swaps

FSTAB = "/etc/fstab"
#: The agent of Azure makes a swap file on the resource disk at boot time. It removes one of another
#: size (azurelinuxagent, daemon/resourcedisk/default.py).
WAAGENT = "/etc/waagent.conf"
_OF_WAAGENT = r"^[ \t]*ResourceDisk\.(?:Format|EnableSwap|SwapSizeMB|MountPoint)[ \t]*="
_MIB = 1 << 20
_AGENTS = ("waagent.service", "walinuxagent.service")
_TARGET = "swap.target"
#: An administrator masks units here. The other directories belong to packages and generators.
_OF_ADMINISTRATOR = ("/etc/systemd/system.control", "/etc/systemd/system")
_OF_GENERATORS = "/run/systemd/generator"
_TAGS = ("UUID", "LABEL", "PARTUUID", "PARTLABEL")
#: A character that udev escapes in the name of a link. A class up to U+10FFFF compiles slowly.
_ESCAPED = re.compile(r"(?![A-Za-z0-9#+\-.:=@_])[\x00-\x7f]")


#: ExecStop of a unit acts at its end.
_CHANGES = (
    r"^(?!\s*ExecStop|.{0,200}zram)[^#\n]*"
    r"\b(?:swapo(?:n|ff)|systemctl\s.{0,80}\bstop\s.{0,80}\bswap)\b"
)


class Source(NamedTuple):
    """A line of fstab or a unit. ``inactive``: why it is not used after a reboot; "" if it is.

    ``device`` is the path without links. It is read only if no active area has the name.
    """

    text: str
    unit: str
    inactive: str
    device: Answer[str] = ""


def read(
    host: Host,
    entries: Sequence[fstab.Entry],
    params: boot_services.Params,
    areas: Sequence[proc_swaps.Area],
) -> List[Source]:
    """Every place that activates swap, lines of fstab first. Raises what is unknown."""
    units = boot_services.Units(host, params)
    off = _why_no_swap(units, params)
    sources = []
    for entry in entries:
        if entry.fstype == "swap" and "noauto" not in entry.options.split(","):
            sources.append(_of_line(host, units, entry, why_no_fstab(params) or off))
    known_units = {source.unit for source in sources}
    for unit in sorted(set(_swap_units(units)) - known_units):
        sources.append(Source(unit, unit, off or _why_inactive(units, unit)))
    active = {systemd_unit.unit_name(area.path, ".swap") for area in areas}
    by_device = [_with_device(host, source, active) for source in sources]
    return by_device + _by_waagent(host, units, areas) + _by_scripts(host, units)


def _of_line(host: Host, units: boot_services.Units, entry: fstab.Entry, off: str) -> Source:
    """The swap of a line of fstab. ``off`` is the reason that no line counts, or ""."""
    unit = _unit_of(entry.source)
    inactive = off or _why_masked(units, unit)
    if not inactive and unit_files.drop_ins(host, units.names, unit):
        inactive = units.why_settings_keep(unit)
    return Source(f"{entry.source} ({FSTAB}:{entry.line})", unit, inactive)


def _by_waagent(
    host: Host, units: boot_services.Units, areas: Sequence[proc_swaps.Area]
) -> List[Source]:
    settings = _agent_settings(host)
    if not settings:
        return []
    path = settings.get("MountPoint", "/mnt/resource").rstrip("/") + "/swapfile"
    off = [name for name in ("Format", "EnableSwap") if settings.get(name, "n").lower() != "y"]
    names = " and ".join(f"ResourceDisk.{name}" for name in off)
    inactive = f"it does not set {names} to y" if off else ""
    size = settings.get("SwapSizeMB", "0")
    active = max((megabytes_of(area) for area in areas if area.path == path), default=1)
    if not off and (not size.isdecimal() or integer(size) < active):
        inactive = f"ResourceDisk.SwapSizeMB is {size[:12]}, and {path} is larger"
    if not inactive and all(units.why_not_started(name, "multi-user.target") for name in _AGENTS):
        inactive = "the agent is not started at boot"
    return [Source(f"{path} ({WAAGENT})", systemd_unit.unit_name(path, ".swap"), inactive)]


def _agent_settings(host: Host) -> Dict[str, str]:
    answer = attempt(host.read_lines, WAAGENT, _OF_WAAGENT)
    settings = {}
    for line in [] if isinstance(answer, (Absent, NotRecorded)) else known(answer):
        name, _, value = line.partition("=")
        settings[name.strip().partition(".")[2]] = value.partition("#")[0].strip('" \t\n')
    return settings


def megabytes_of(area: proc_swaps.Area) -> int:
    """The size of its file: the kernel shows it without the first page."""
    return -(-area.size // _MIB)


def _by_scripts(host: Host, units: boot_services.Units) -> List[Source]:
    """The lines of rc.local, units and cron, and of scripts that they call, that may activate an
    area."""
    search = attempt(host.find_lines, "swap", boot_scripts.PLACES, _CHANGES, True, _needed)
    found = unless_newer(search, FoundLines({}, {}, []))
    sources = []
    for path in found.unread:
        raise Denied("file:" + path, f"{path} may not be read: it could change swap at boot")
    for path, lines in found.lines.items():
        origin = found.callers.get(path, path)
        if boot_scripts.runs_at_boot(host, origin) is False or (
            origin in boot_scripts.RC_LOCAL and units.why_idle("rc-local.service")
        ):
            continue
        for number, line in lines:
            place = f"{path}:{number}"
            if "cron" in path and "@reboot" not in line:
                continue
            if re.search("swapoff|stop", line):
                raise Unanswered("file:" + path, f"{place} may deactivate swap at boot")
            unknown = Unanswered("file:" + path, f"the area of {place} is unknown")
            sources.append(Source(f"swapon ({place})", "", "", unknown))
    return sources


def _needed(_path: str, line: str) -> str:
    return kept_lines.needed_words(
        line, lambda text: ("@reboot" in text, bool(re.search("swapoff|stop", text)))
    )


def _with_device(host: Host, source: Source, active: Set[str]) -> Source:
    if source.inactive or source.unit in active:
        return source
    path = systemd_unit.unit_path(source.unit)
    device = attempt(host.real_path, path)
    if isinstance(device, Absent):
        return source._replace(inactive=f"{path} does not exist")
    if isinstance(device, HostproofError) and not path.startswith("/dev/"):
        return source  # as in recordings of earlier releases
    return source._replace(device=device)


def is_in_memory(area: proc_swaps.Area) -> bool:
    """zram is compressed memory and does not add space to memory."""
    return area.path.startswith("/dev/zram")


def not_activated(
    areas: Sequence[proc_swaps.Area], sources: Sequence[Source]
) -> Tuple[List[proc_swaps.Area], int]:
    """Active areas on disk without a source of their device, and the smallest number of them that
    are missing after a reboot: a source of unknown device may activate any of them.
    """
    used = [source for source in sources if not source.inactive]
    devices = [if_known(source.device, None) for source in used]
    units = {source.unit for source in used}
    units.update(systemd_unit.unit_name(path, ".swap") for path in devices if path)
    names = {systemd_unit.unit_name(area.path, ".swap"): area for area in areas}
    unmatched = [
        area for name, area in names.items() if not is_in_memory(area) and name not in units
    ]
    # A path of device mapper that is no link can have the device of any area.
    unknown = [path for path in devices if path is None or path.startswith("/dev/mapper/")]
    return unmatched, max(0, len(unmatched) - len(unknown))


def _unit_of(source: str) -> str:
    tag, separator, value = source.partition("=")
    if separator and tag in _TAGS:
        name = _ESCAPED.sub(lambda match: f"\\x{ord(match.group()):02x}", value.strip('"'))
        source = f"/dev/disk/by-{tag.lower()}/{name}"
    return systemd_unit.unit_name(source, ".swap")


def _swap_units(units: boot_services.Units) -> Iterator[str]:
    for folder, names in units.names.items():
        if folder == unit_files.GENERATED:
            continue  # made from fstab, whose lines are known
        for name in names:
            if name.endswith(".swap"):
                yield name


def _why_no_swap(units: boot_services.Units, params: boot_services.Params) -> str:
    values = [value for name, value in params if name == "systemd.swap" and value is not None]
    if values and values[-1].lower() in systemd_unit.FALSE:
        return f"systemd.swap={values[-1]} on the kernel command line"
    return _why_masked(units, _TARGET)


def _why_masked(units: boot_services.Units, name: str) -> str:
    masks = any(name in units.names.get(folder, ()) for folder in _OF_ADMINISTRATOR)
    return units.why_masked(name) if masks or units.is_masked_by_kernel(name) else ""


def _why_inactive(units: boot_services.Units, name: str) -> str:
    """A generator enables its units; others need a link in a .wants directory."""
    if unit_files.place_of(units.names, name).startswith(_OF_GENERATORS):
        return _why_masked(units, name)
    return units.why_not_started(name, _TARGET)
