# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a setting of a daemon of systemd is changed so that it counts."""

from typing import Optional

from ...evaluate.advice import Edit
from ...parsers.systemd.systemd_unit import Assignment

_NAME = "oracle.conf"


def set_in_drop_in(folder: str, section: str, line: str, place: Optional[Assignment]) -> Edit:
    """A drop-in of ours, or the file of the administrator that sets the key now.

    ``place`` is the setting that counts: a drop-in with a later name would still count."""
    path, name = (place.path, place.path.rpartition("/")[2]) if place is not None else ("", "")
    if path.startswith("/etc/"):
        return Edit(path, what=f"put '{line}' in place of {path}:{place.line if place else 0}")
    # A file of a package is not changed. Drop-ins of all directories are read by their names.
    is_drop_in = path.rpartition("/")[0].endswith(".d")
    ours = f"{folder}/" + (f"zz-{name}" if is_drop_in and name > _NAME else _NAME)
    return Edit(ours, what=f"put '[{section}]' and '{line}' into {ours}")
