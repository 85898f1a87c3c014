# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rule by which systemd picks the *.conf files of its drop-in directories (sysctl.d,
tmpfiles.d).

Source: systemd, conf_files_list() in src/basic/conf-files.c; sysctl.d(5), "Configuration
directories and precedence".
"""

from typing import Dict, List, Tuple


def directories(name: str) -> Tuple[str, ...]:
    """The directories that systemd searches for such files, the one that masks the others first.

    /lib counts on distributions that keep it apart from /usr/lib; elsewhere it is a link to it.
    """
    parents = ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
    return tuple(f"{parent}/{name}" for parent in parents)


def effective_files(search: Tuple[str, ...], paths: List[str]) -> List[str]:
    """The paths that systemd reads, in its reading order.

    Each basename is read once, from the directory that is first in ``search``. The others are
    masked, even if that file is empty or a link to /dev/null. Files are read by basename in byte
    order, regardless of their directory. Hidden files, other suffixes and other directories are not
    read."""
    chosen: Dict[str, str] = {}
    ranks = {folder: rank for rank, folder in enumerate(search)}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in ranks or name.startswith(".") or not name.endswith(".conf"):
            continue
        rival = chosen.get(name)
        if rival is None or ranks[folder] < ranks[rival.rpartition("/")[0]]:
            chosen[name] = path
    return [chosen[name] for name in sorted(chosen)]
