# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls that a profile requires: a host on which one of them checks nothing is not ready."""

from collections.abc import Mapping
from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import SKIP, make_finding
from ansible.module_utils.hostproof.evaluate.profiles import PROFILES, Profile

from .report.store import PROFILE

#: The beginning of the reason for which a control of Linux skips its checks elsewhere.
_NOT_LINUX = "Not a Linux host"
_OF_EVERY_PROFILE = (
    "accounts",
    "hugepages",
    "kernel_parameters",
    "memory_pressure",
    "name_resolution",
    "packages",
    "platform",
    "process_limits",
    "space",
    "time_sync",
)


def notice(
    policies: Mapping[str, Mapping[str, Any]], findings: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """The finding that names the required controls of which every check was skipped, or None."""
    used = {name for policy in policies.values() if (name := _profile_in(policy))}
    profile = PROFILES[used.pop()] if len(used) == 1 else None
    if profile is None:
        return None
    idle = [name for name in required(profile) if name in policies and _is_idle(name, findings)]
    if not idle:
        return None
    names = ", ".join(idle)
    why = (
        f"hostproof_profile requires checks of {names}, and all of them were skipped. {PROFILE.why}"
    )
    return make_finding(PROFILE, SKIP, why=why)._replace(takes_effect=None).as_dict()


def _profile_in(policy: Mapping[str, Any]) -> str | None:
    """The profile of the host; a control can have another variable of that name."""
    name = policy.get("profile")
    return name if isinstance(name, str) and PROFILES.get(name) is not None else None


def required(profile: Profile) -> list[str]:
    """The controls that a profile requires."""
    more = ["interconnect"] if profile.cluster else []
    more += ["nfs_mounts"] if profile.direct_nfs else []
    return sorted([*_OF_EVERY_PROFILE, *more])


def _is_idle(control: str, findings: list[dict[str, Any]]) -> bool:
    reasons = [finding for finding in findings if finding["control"] == control]
    return all(finding["status"] == SKIP for finding in reasons) and not all(
        finding["why"].startswith(_NOT_LINUX) for finding in reasons
    )
