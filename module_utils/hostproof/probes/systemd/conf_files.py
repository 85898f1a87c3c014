# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The *.conf files that systemd reads after a reboot, and their content.

/run is empty after a reboot, so files below it are left out."""

from typing import List, Optional, Sequence

from ...collect.answer import attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent
from ...parsers.systemd import conf_d, systemd_unit, tmpfiles_d


def read_tmpfiles(host: Host) -> List[tmpfiles_d.Entry]:
    """Every line that systemd-tmpfiles reads, in its order."""
    entries: List[tmpfiles_d.Entry] = []
    directories = tmpfiles_d.DIRECTORIES
    for path in conf_d.effective_files(directories, paths(host, directories)):
        entries.extend(tmpfiles_d.parse(text_of_link(host, path) or "", path))
    return entries


def paths(host: Host, folders: Sequence[str]) -> List[str]:
    """Every *.conf of the directories; a directory that is another directory's link is read
    once."""
    all_paths: List[str] = []
    seen = set()
    for folder in _kept_after_reboot(folders):
        names = unless_absent(attempt(host.list_dir, folder), [])
        if not names:
            continue
        # The target only prevents that one directory is read twice. It may be unknown: the first
        # file of each name is the one that counts.
        real = if_known(attempt(host.real_path, folder), folder)
        if real not in seen:
            seen.add(real)
            all_paths.extend(f"{folder}/{name}" for name in names if name.endswith(".conf"))
    return all_paths


def text_of_link(host: Host, path: str) -> Optional[str]:
    """The text of a listed file, or None where a dangling link leads nowhere (systemd skips it)."""
    text = attempt(host.read_text, path)
    return None if isinstance(text, Absent) else str(known(text))


def read_settings(host: Host, name: str) -> List[systemd_unit.Unit]:
    """Settings of systemd after a reboot ("logind.conf"): the main file, then its drop-ins.

    The main file in the first directory wins (systemd-system.conf(5))."""
    places = _kept_after_reboot(conf_d.directories("systemd"))
    units = []
    for folder in places:
        text = attempt(host.read_text, f"{folder}/{name}")
        if not isinstance(text, Absent):
            units.append(systemd_unit.parse(known(text), f"{folder}/{name}"))
            break
    drop_ins = tuple(f"{folder}/{name}.d" for folder in places)
    return units + units_of(host, conf_d.effective_files(drop_ins, paths(host, drop_ins)))


def units_of(host: Host, files: Sequence[str]) -> List[systemd_unit.Unit]:
    """What listed files hold; a dangling link holds nothing."""
    return [systemd_unit.parse(text_of_link(host, path) or "", path) for path in files]


def _kept_after_reboot(folders: Sequence[str]) -> List[str]:
    return [folder for folder in folders if not folder.startswith("/run/")]
