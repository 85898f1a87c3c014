# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of NFS mounts after a reboot.

Separate from nfs_persisted.py, so that controls that only need the mounts do not load the tables of
options.
"""

from typing import Dict

from ....collect.answer import if_known, known
from ....errors import Absent
from ....parsers.nfs import nfs_options, nfsmount_conf
from ....probes.nfs.nfs_persisted import Entry, Persisted
from ..parsers import mount_refusals


def asked(persisted: Persisted, entry: Entry) -> Dict[str, str]:
    """The canonical settings (parsers/nfs/nfs_options.py) with which an entry is mounted.

    nfsmount.conf is folded in, and numbers are what the kernel reads: timeo=0600 is 384 to most.
    Raises if that is unknown.
    """
    settings = nfs_options.parse(option_text(persisted, entry))
    if not isinstance(persisted.kernel, Absent):
        release = if_known(persisted.kernel, None)
        for name in nfs_options.NUMBERS:
            if name in settings:
                settings[name] = mount_refusals.value_read(settings[name], release)
    if entry.fstype == "nfs4":
        settings.setdefault("vers", "4")
    return settings


def option_text(persisted: Persisted, entry: Entry) -> str:
    """The options with which mount.nfs mounts an entry: as written, and what nfsmount.conf adds."""
    server = entry.source.partition(":/")[0].strip("[]")
    return nfsmount_conf.added(known(persisted.defaults), entry.options, server, entry.path)
