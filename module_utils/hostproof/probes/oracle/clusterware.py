# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Grid Infrastructure is installed, as its root.sh wrote it down."""

from typing import Optional

from ...answer import attempt, unless_absent
from ...host import Host
from ..nfs import nfs_files

#: Linux, Solaris.
OLR = ("/etc/oracle/olr.loc", "/var/opt/oracle/olr.loc")


def read_home(host: Host) -> Optional[str]:
    """The home that olr.loc names; None where there is none."""
    home: Optional[str] = None
    for path in OLR:
        text = unless_absent(attempt(nfs_files.read_text, host, path), "")
        for line in text.split("\n"):
            name, _, value = line.partition("=")
            if name.strip() == "crs_home" and value.strip():
                home = value.strip().rstrip("/")
    return home
