# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The purpose of a host (``hostproof_profile``), from which controls derive their policies.

The variables of a control override the profile.
"""

from typing import Dict, NamedTuple, Optional, Tuple


class Profile(NamedTuple):
    """``release`` is what is announced next to what the host has; () leaves that to the host.

    ``cluster``: a node of Real Application Clusters. ``direct_nfs``: its datafiles are on NFS.
    ``grid``: Grid Infrastructure runs on it, for a cluster or for Oracle Restart.
    """

    release: Tuple[int, ...]
    cluster: bool
    direct_nfs: bool
    grid: bool


def announces_node(profile: Optional[Profile]) -> Optional[bool]:
    """Whether a profile states that the host is a node of a cluster; None without a profile."""
    return profile.cluster if profile is not None else None


#: Distributions that ``hostproof_target_os`` takes: ID of os-release and major version.
TARGET_SYSTEMS: Tuple[str, ...] = ("ol8", "ol9", "ol10", "rhel8", "rhel9", "rhel10", "sles15")

PROFILES: Dict[str, Optional[Profile]] = {
    "none": None,
    "rac_nfs": Profile((), True, True, True),
    "rac_asm": Profile((), True, False, True),
}
for _name, _release in ("19c", (19,)), ("23ai", (23,)), ("26ai", (23, 26)):
    for _kind in "single", "rac", "restart":
        PROFILES[f"oracle_{_name}_{_kind}"] = Profile(
            _release, _kind == "rac", False, _kind != "single"
        )
