# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle releases for which a host is checked, and its distribution and kernels."""

import re
from typing import List, Optional, Tuple

from ...collect.answer import Answer, known
from ...errors import Absent, Unanswered
from ...evaluate.checking import Skip, Subjects
from ...parsers.kernel import kernel_release
from ...parsers.unix import distribution
from ...parsers.unix.distribution import EL, Distribution, clean, numbers
from ...probes.oracle import releases
from ...probes.oracle.oracle_parameters import Version
from ...probes.oracle.releases import Release
from .facts import OS_RELEASE, RUNNING_KERNEL, Facts
from .policy import Policy
from .supported_systems import UEK_LINES

_TAG = re.compile(r"[.-](el|fc|amzn)(\d+)")
#: Kernels of ELRepo, and those for real time, have the tag of the distribution too.
_FOREIGN = re.compile(r"elrepo|[.+]rt")
_LONGEST = 20


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host: it has no " + RUNNING_KERNEL + ".")
    is_announced = policy.release is not None or policy.profile is not None
    if is_announced or policy.target_os is not None:
        return
    # Without os-release no table applies, which matters only if a release was requested.
    if isinstance(facts.os, Absent) or not releases.has_home(facts.software):
        raise Skip(
            "Neither platform_release nor hostproof_profile names a release to check for, and no "
            f"Oracle home on a system with {OS_RELEASE} was found."
        )


def _releases(facts: Facts, policy: Policy) -> List[Answer[Release]]:
    profile = policy.profile
    return releases.wanted(
        policy.release, None if profile is None else profile.release, facts.software
    )


RELEASES = Subjects(
    _releases,
    name=lambda release: release.label,
    evidence=lambda _release: ("file:" + OS_RELEASE, "file:" + RUNNING_KERNEL),
    unknown="home",
)


def target_of(facts: Facts, policy: Policy) -> Distribution:
    """The distribution of hostproof_target_os, else the one of the host."""
    host = distribution.of(known(facts.os))
    return distribution.target(policy.target_os, host) or distribution_of(facts)


def distribution_of(facts: Facts) -> Distribution:
    """Distribution in os-release. Raises if the running kernel is of another one."""
    problem = contradiction(facts)
    if problem is not None:
        raise Unanswered("file:" + OS_RELEASE, problem)
    return distribution.of(known(facts.os))


def contradiction(facts: Facts) -> Optional[str]:
    """A sentence about the contradiction of os-release and the running kernel. None without one."""
    system = distribution.of(known(facts.os))
    kernel = clean(known(facts.kernel))
    tag = _TAG.search(kernel)
    if tag is None:
        return None
    expected = f"el{system.version[0]}" if system.name in EL else "another kernel"
    if tag.group(1) + tag.group(2) == expected:
        return None
    if system.name not in EL and tag.group(1) != "el":
        return None
    return (
        f"{OS_RELEASE} names {system.text} and the running kernel {kernel} was built for "
        f"{tag.group(1)}{tag.group(2)}; in a container the kernel is that of its host"
    )


def line_of(kernel: str, system: Distribution) -> str:
    """The kernel line as in the table rows. "" if the table does not have it."""
    release = kernel_release.parse(kernel)
    if release.is_uek:
        is_oracle = system.name == "OL"
        return UEK_LINES.get((release.major, release.minor), "") if is_oracle else ""
    tag = None if _FOREIGN.search(kernel) else _TAG.search(kernel)
    # A default boot kernel may be of another distribution than the installed one.
    if system.name in EL and tag and "".join(tag.groups()[:2]) == f"el{system.version[0]}":
        return "RHCK" if system.name == "OL" else "RHEL"
    return "SLES" if system.name == "SLES" and kernel.endswith("-default") else ""


def fits(version: Version, minimum: str) -> bool:
    """Whether a version is at least the minimum. Missing numbers count as 0."""
    return _padded(version) >= _padded(numbers(minimum))


def _padded(version: Version) -> Tuple[int, ...]:
    return version + (0,) * (_LONGEST - len(version))
