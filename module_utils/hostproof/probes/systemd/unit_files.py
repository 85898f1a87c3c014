# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit files of systemd after a reboot, and the order of their drop-ins.

Files below /run do not survive a reboot and are left out, except the directories of generators,
which a reboot fills again. Sources: systemd.unit(5), "Unit File Load Path" and drop-ins;
unit_file_find_dropin_paths() in src/shared/dropin.c."""

import re
from collections import OrderedDict
from typing import Dict, List

from ...collect.answer import attempt, unless_absent
from ...collect.host import Host

GENERATED = "/run/systemd/generator"
#: The directory whose units win is first.
FOLDERS = (
    "/etc/systemd/system.control",
    "/run/systemd/generator.early",
    "/etc/systemd/system",
    "/etc/systemd/system.attached",
    GENERATED,
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)


def names_by_folder(host: Host) -> Dict[str, List[str]]:
    """The files of each directory, in order of precedence. A directory that is a link to another is
    left out."""
    names: Dict[str, List[str]] = OrderedDict()
    for folder in FOLDERS:
        listed = unless_absent(attempt(host.list_dir, folder), [])
        if listed and not any(host.real_path(folder) == host.real_path(other) for other in names):
            names[folder] = listed
    return names


def place_of(names: Dict[str, List[str]], name: str) -> str:
    """The path of the unit file that counts; "" where there is none."""
    for folder, listed in names.items():
        if name in listed:
            return f"{folder}/{name}"
    template = template_of(name)
    return place_of(names, template) if template != name else ""


def template_of(name: str) -> str:
    """ "db@.service" for its instance "db@A.service", and any other name as it is."""
    return re.sub("@[^@]*(?=\\.)", "@", name)


def drop_ins(host: Host, names: Dict[str, List[str]], name: str) -> List[str]:
    """The drop-ins of a unit in the order in which systemd reads them.

    They are read by file name, regardless of their directory. For files with the same name, the
    directory with the higher precedence wins; directories for all units of the type come last."""
    stem, _, kind = name.rpartition(".")
    own = [name + ".d", template_of(name) + ".d"]
    for at in range(len(stem) - 1, 0, -1):
        if stem[at - 1] == "-":
            own.append(f"{stem[:at]}.{kind}.d")
    search = [(folder, sub) for folder in names for sub in own]
    search += [(folder, kind + ".d") for folder in names]
    chosen: Dict[str, str] = {}
    for folder, sub in search:
        if sub not in names[folder]:
            continue
        below = f"{folder}/{sub}"
        for file_name in host.list_dir(below):
            if file_name.endswith(".conf"):
                chosen.setdefault(file_name, f"{below}/{file_name}")
    return [chosen[file_name] for file_name in sorted(chosen)]
