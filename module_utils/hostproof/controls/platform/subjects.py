# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which Oracle releases a host is checked, and what its distribution and kernels are."""

import re
from typing import List, NamedTuple, Optional, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.checking import Skip, Subjects
from ...parsers.kernel import kernel_release
from ...parsers.number import clipped
from ...probes.oracle.oracle_parameters import Version
from ...probes.oracle.releases import LONG_TERM
from .facts import OS_RELEASE, RUNNING_KERNEL, Facts
from .policy import Policy
from .table import DISTRIBUTIONS, REBUILDS, UEK_LINES

EL = ("OL", "RHEL")
_TAG = re.compile(r"[.-](el|fc|amzn)(\d+)")
#: The upstream version and the build: numbers up to the first field that is none.
_NUMBERS = re.compile(r"\d+(?:[.-]\d+)*")
_LONGEST = 20


class Release(NamedTuple):
    """An Oracle release by the name of the books, and the installed version where a home has it."""

    name: str
    installed: Optional[Version]

    @property
    def label(self) -> str:
        return self.name if self.installed is None else f"{self.name} ({dotted(self.installed)})"


class Distribution(NamedTuple):
    """``name`` is as in the rows, "" where no row can be for it. ``text`` is for people."""

    name: str
    version: Version
    text: str
    rebuild: bool


def dotted(version: Version) -> str:
    return ".".join(str(number) for number in version)


def numbers(text: str) -> Version:
    """The leading numbers of a version: "5.15.0-1.43.el9uek" is (5, 15, 0, 1, 43)."""
    match = _NUMBERS.match(text)
    if match is None:
        return ()
    return tuple(clipped(one) for one in re.split("[.-]", match.group(0))[:_LONGEST])


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host: it has no " + RUNNING_KERNEL + ".")
    if policy.release is None and policy.profile is None:
        raise Skip("Neither platform_release nor hostproof_profile names a release to check for.")


def name_of(version: Version) -> str:
    """The name that the books give a version; its number where the table has no row for it."""
    if version[0] == 23:
        return "26ai" if len(version) > 1 and version[1] >= 26 else "23ai"
    return {19: "19c", 21: "21c"}.get(version[0], dotted(version))


def _releases(facts: Facts, policy: Policy) -> List[object]:
    """The release that is announced, else those of the homes, else the one of LONG_TERM."""
    announced = policy.release
    if announced is None and policy.profile is not None and policy.profile.release:
        announced = name_of(policy.profile.release)
    if announced is not None:
        homes = if_known(facts.software.homes, {}).values()
        versions = sorted({home for home in homes if isinstance(home, tuple)})
        same = [Release(announced, one) for one in versions if name_of(one) == announced]
        return [*same] or [Release(announced, None)]
    found: List[object] = []
    installed = facts.software.homes
    if isinstance(installed, HostproofError) and policy.profile is not None:
        # The profile announces a database, so the host is checked. The unknown homes are an error.
        return [Release(name_of(LONG_TERM), None), installed]
    for home in known(installed).values():
        one = Release(name_of(home), home) if isinstance(home, tuple) else home
        if one not in found:
            found.append(one)
    return found or [Release(name_of(LONG_TERM), None)]


RELEASES = Subjects(
    _releases,
    name=lambda release: release.label,
    evidence=lambda _release: ("file:" + OS_RELEASE, "file:" + RUNNING_KERNEL),
    unknown="home",
)


def distribution_of(facts: Facts) -> Distribution:
    """By os-release. Raises where the distribution and the running kernel contradict each other."""
    problem = contradiction(facts)
    if problem is not None:
        raise Unanswered("file:" + OS_RELEASE, problem)
    return _said(facts)


def _said(facts: Facts) -> Distribution:
    variables = known(facts.os)
    identity, version = variables.get("ID", ""), variables.get("VERSION_ID", "")
    text = clean(variables.get("PRETTY_NAME") or f"{identity} {version}")
    rebuild = identity in REBUILDS
    name = "RHEL" if rebuild else DISTRIBUTIONS.get(identity, "")
    if name and not numbers(version):
        raise Unanswered("file:" + OS_RELEASE, OS_RELEASE + " has no version in VERSION_ID")
    return Distribution(name, numbers(version), text, rebuild)


def clean(text: str) -> str:
    """Text of the host, short and without control characters."""
    return "".join(one for one in text if one.isprintable())[:80].strip()


def contradiction(facts: Facts) -> Optional[str]:
    """One sentence, None where os-release and the running kernel fit together."""
    said = _said(facts)
    kernel = clean(known(facts.kernel))
    tag = _TAG.search(kernel)
    if tag is None:
        return None
    wanted = f"el{said.version[0]}" if said.name in EL else "another kernel"
    if tag.group(1) + tag.group(2) == wanted:
        return None
    if said.name not in EL and tag.group(1) != "el":
        return None
    return (
        f"{OS_RELEASE} names {said.text} and the running kernel {kernel} was built for "
        f"{tag.group(1)}{tag.group(2)}; in a container the kernel is that of its host"
    )


def line_of(kernel: str, distribution: Distribution) -> str:
    """The kernel line as the rows name it; "" where it is none that the table knows."""
    release = kernel_release.parse(kernel)
    if release.is_uek:
        is_oracle = distribution.name == "OL"
        return UEK_LINES.get((release.major, release.minor), "") if is_oracle else ""
    tag = _TAG.search(kernel)
    # A default boot kernel may be of another distribution than the installed one.
    if (
        distribution.name in EL
        and tag
        and "".join(tag.groups()[:2]) == f"el{distribution.version[0]}"
    ):
        return "RHCK" if distribution.name == "OL" else "RHEL"
    return "SLES" if distribution.name == "SLES" and kernel.endswith("-default") else ""


def fits(version: Version, minimum: str) -> bool:
    """Whether a version is at least the minimum; numbers that are not told count as 0."""
    return _padded(version) >= _padded(numbers(minimum))


def _padded(version: Version) -> Tuple[int, ...]:
    return version + (0,) * (_LONGEST - len(version))
