# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time zone of the system, and the one with which Clusterware starts instances."""

import re
from typing import Optional

from ...collect.answer import attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, Unanswered
from ..nfs import nfs_files
from . import clusterware

SYSTEM = "/etc/localtime"
NOT_SET = "not set"
_ZONES = "/zoneinfo/"
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}\Z")


def of_system(host: Host) -> str:
    path = attempt(host.real_path, SYSTEM)
    if isinstance(path, Absent):
        return "UTC"
    _, marker, zone = str(known(path)).rpartition(_ZONES)
    if not marker:
        raise Unanswered("link:" + SYSTEM, f"{SYSTEM} is a copy, so it names no zone")
    zone = zone[6:] if zone.startswith("posix/") else zone
    return "UTC" if zone == "Etc/UTC" else zone


def of_clusterware(host: Host, node: str) -> Optional[str]:
    """TZ in the file from which Clusterware starts instances. None without the file."""
    home = clusterware.read_home(host)
    name = node.partition(".")[0]
    if home is None or not _NODE_NAME.match(name):
        return None
    path = f"{home}/crs/install/s_crsconfig_{name}_env.txt"
    text = unless_absent(attempt(nfs_files.read_text, host, path, record=_kept), None)
    if text is None:
        return None
    return next((line[3:] for line in _kept(text).split("\n") if line), NOT_SET)


def _kept(text: str) -> str:
    """Only the line of TZ: the file holds other variables of Clusterware."""
    return "\n".join(line if line.startswith("TZ=") else "" for line in text.split("\n"))
