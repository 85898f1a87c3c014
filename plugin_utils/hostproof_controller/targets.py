# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readiness for another release or distribution: --target-release and --target-os."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.hostproof.evaluate.finding import SKIP, make_finding
from ansible.module_utils.hostproof.evaluate.profiles import PROFILES, TARGET_SYSTEMS

from .report.store import TARGET
from .report.text import shorten

#: The variables of a target, and the one that the release of a target replaces.
RELEASE, SYSTEM = "hostproof_target_release", "hostproof_target_os"
PROFILE = "hostproof_profile"
RELEASES = ("19c", "23ai", "26ai")
SYSTEMS = TARGET_SYSTEMS


def variables_of(release: str | None, system: str | None) -> dict[str, str]:
    """The variables of the options. The releases of an inventory must not win."""
    variables = {}
    if release is not None:
        variables = dict.fromkeys((RELEASE, "packages_release", "platform_release"), release)
    return variables if system is None else {**variables, SYSTEM: system}


def profile_of(profile: object, release: object) -> object:
    """The profile of the target release, of the same kind as the host's.

    Without a profile the least is required; a cluster is then found on the host. The control
    rejects a release that no profile has.
    """
    of_host = PROFILES.get(profile) if isinstance(profile, str) else None
    kind = "single"
    if of_host is not None and of_host.grid:
        kind = "rac" if of_host.cluster else "restart"
    return f"oracle_{release}_{kind}"


def notice(release: object, system: object) -> dict[str, Any] | None:
    """The finding that the verdict is about a target; None without one."""
    words = [str(value) for value in (release, system) if value not in (None, "none")]
    if not words:
        return None
    why = f"The target is {shorten(' on '.join(words), 100)}. {TARGET.why}"
    return make_finding(TARGET, SKIP, why=why)._replace(takes_effect=None).as_dict()
