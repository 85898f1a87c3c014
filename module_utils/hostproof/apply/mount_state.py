# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An NFS mount as a plan names it: what makes it again as it is, and its server."""

from typing import Iterable

from ..parsers.nfs import nfs_options
from ..probes.nfs.nfs_mounted import Mounted
from .change import FOUND_BY_MOUNT, MountState


def state_of(mounted: Mounted, requested: Iterable[str] = ()) -> MountState:
    """What makes the mount again as it is.

    ``requested`` are names in the policy or fstab although a mount can find them for itself (the
    mountproto that a firewall lets through).
    """
    dropped = FOUND_BY_MOUNT.difference(requested)
    settings = nfs_options.parse(mounted.options)
    kept = {name: value for name, value in settings.items() if name not in dropped}
    return MountState(mounted.source, mounted.fstype, ",".join(nfs_options.words(kept)))


def server_of(source: str) -> str:
    """The server of SERVER:/EXPORT."""
    return source.partition(":/")[0]
