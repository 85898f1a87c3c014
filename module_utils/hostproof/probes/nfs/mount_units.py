# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mount units that systemd finds at boot, with their drop-ins, and what pulls them in.

Source: systemd.mount(5).
"""

from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host
from ...errors import Absent, ParseError
from ...parsers.systemd import systemd_unit
from ..systemd import boot_services, unit_files

_PULLS = (".wants", ".requires", ".upholds")
_FSTAB = "/etc/fstab"


class MountUnit(NamedTuple):
    """What systemd makes of the files for one path.

    ``place`` is the unit file ("" where only drop-ins are there, for what fstab generates).
    The values are None where no file sets them; ``set_at`` is the line that sets the options, or
    else the type or source, "" where none does. ``masked`` holds for an empty file or a link to
    /dev/null. ``problem`` says why systemd does not load it, or is "". ``sloppy``: SloppyOptions
    lets mount pass over options that it does not know. ``condition`` says which setting keeps the
    unit from its start, and is "" where none does.
    """

    path: str
    place: str
    what: Optional[str]
    fstype: Optional[str]
    options: Optional[str]
    set_at: str
    masked: bool
    problem: str
    evidence: Tuple[str, ...]
    sloppy: bool = False
    condition: Answer[str] = ""


class Units(NamedTuple):
    """``units`` by path. ``pulled_in`` are names of units that a *.wants or *.requires holds, with
    the units whose start starts them."""

    units: Dict[str, MountUnit]
    pulled_in: Dict[str, Set[str]]

    def starts(self, path: str) -> bool:
        return systemd_unit.unit_name(path) in self.pulled_in

    def starts_on_access(self, path: str) -> bool:
        return systemd_unit.unit_name(path, ".automount") in self.pulled_in


def read_units(host: Host, params: boot_services.Params) -> Units:
    """Every mount unit that does not stem from fstab, and drop-ins for those that do."""
    names = unit_files.names_by_folder(host)
    mounts: Dict[str, MountUnit] = OrderedDict()
    by_kernel = {name for name in boot_services.masked_by_kernel(params) if name.endswith(".mount")}
    for name in sorted(_mount_names(names) | by_kernel):
        unit = _read_unit(host, names, name, params)
        if unit is not None:
            mounts[unit.path] = unit
    pulled_in: Dict[str, Set[str]] = {}
    for folder, listed in names.items():
        for name in listed:
            # Units that the generator of fstab requires are known from fstab.
            if name.endswith(_PULLS) and folder != unit_files.GENERATED:
                for entry in host.list_dir(f"{folder}/{name}"):
                    pulled_in.setdefault(entry, set()).add(name.rpartition(".")[0])
    return Units(mounts, pulled_in)


def pulled_in_by(host: Host, path: str) -> List[str]:
    """Loaded units that require or want the mount of a path, as the running systemd states."""
    name = systemd_unit.unit_name(path)
    output = host.run(["systemctl", "show", "--property=RequiredBy,WantedBy", name])
    lines = output.stdout.splitlines() if output.rc == 0 else []
    return [unit for line in lines for unit in line.partition("=")[2].split()]


def _mount_names(names: Dict[str, List[str]]) -> Set[str]:
    """Of units, and of units that only have a directory of drop-ins."""
    units = set()
    for listed in names.values():
        for name in listed:
            if name.endswith(".mount"):
                units.add(name)
            elif name.endswith(".mount.d") and not name.endswith("-.mount.d"):
                units.add(name[: -len(".d")])
    return units


def _read_unit(
    host: Host, names: Dict[str, List[str]], name: str, params: boot_services.Params
) -> Optional[MountUnit]:
    """None for a unit that a generator made of fstab and that no drop-in changes."""
    place = unit_files.place_of(names, name)
    drop_ins = unit_files.drop_ins(host, names, name)
    files = ([place] if place else []) + drop_ins
    units: List[systemd_unit.Unit] = []
    masked, problem = False, ""
    for path in files:
        text = attempt(host.read_text, path, record=systemd_unit.kept_mount)
        if isinstance(text, Absent):
            continue  # a link that leads nowhere: systemd skips it
        masked = masked or (path == place and not known(text))
        try:
            units.append(systemd_unit.parse(known(text), path))
        except ParseError as error:
            problem = f"{path}: {error}"
    if place.startswith(unit_files.GENERATED + "/") and _comes_from_fstab(units):
        place = ""
        units = units[1:]
    by_kernel = name in boot_services.masked_by_kernel(params)
    if not place and not drop_ins and not by_kernel:
        return None
    evidence = tuple("file:" + path for path in files)
    condition = attempt(boot_services.why_conditions_fail, host, params, name, units)
    unit = _mount_unit(name, place, units, problem, evidence)
    return unit._replace(masked=masked or by_kernel, condition=condition)


def _mount_unit(
    name: str, place: str, units: List[systemd_unit.Unit], problem: str, evidence: Tuple[str, ...]
) -> MountUnit:
    what, where, fstype, options = (
        systemd_unit.last(units, "Mount", key) for key in ("What", "Where", "Type", "Options")
    )
    if where is not None and systemd_unit.unit_name(where.value) != name:
        problem = f"Where={where.value} does not belong to the name of the unit"
    sloppy = systemd_unit.last(units, "Mount", "SloppyOptions")
    changed = [setting for setting in (options, fstype, what) if setting is not None]
    return MountUnit(
        path=systemd_unit.unit_path(name),
        place=place,
        what=None if what is None else what.value.replace("%%", "%"),
        fstype=None if fstype is None else fstype.value,
        options=None if options is None else options.value.replace("%%", "%"),
        set_at=f"{changed[0].path}:{changed[0].line}" if changed else "",
        masked=False,
        problem=problem,
        evidence=evidence,
        sloppy=sloppy is not None and sloppy.value.lower() in systemd_unit.TRUE,
    )


def _comes_from_fstab(units: List[systemd_unit.Unit]) -> bool:
    source = systemd_unit.last(units[:1], "Unit", "SourcePath")
    return source is not None and source.value == _FSTAB
