# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Oracle releases for which a host is checked, and the table rows for them."""

from typing import List, Optional, Tuple

from ...collect.answer import Answer, known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from ...parsers.unix.package_list import Package
from ...probes.oracle import releases
from ...probes.oracle.releases import Release
from ...probes.unix.package_database import Database
from . import package_table
from .facts import OS_RELEASE, RUNNING_KERNEL, Facts
from .package_table import Row
from .policy import Policy

#: Names of architectures in dpkg, by their kernel names.
_DPKG = {"x86_64": "amd64", "aarch64": "arm64"}
_ANY = ("noarch", "all")


_NO_RELEASE = (
    "Neither packages_release nor hostproof_profile sets a release, and no Oracle home on a "
    "system with /etc/os-release was found."
)


def applies(facts: Facts, policy: Policy) -> None:
    if isinstance(facts.kernel, Absent):
        raise Skip("Not a Linux host: it has no " + RUNNING_KERNEL + ".")
    if not policy.additional and not _has_release(facts, policy):
        raise Skip(_NO_RELEASE)


def _has_release(facts: Facts, policy: Policy) -> bool:
    is_announced = policy.release is not None or policy.profile is not None
    # Without os-release no table applies, which matters only if a release was requested.
    return is_announced or (not isinstance(facts.os, Absent) and releases.has_home(facts.software))


def _releases(facts: Facts, policy: Policy) -> List[Answer[Release]]:
    profile = policy.profile
    if not _has_release(facts, policy):
        raise Skip(_NO_RELEASE)
    return releases.wanted(
        policy.release, None if profile is None else profile.release, facts.software
    )


RELEASES = Subjects(
    _releases,
    name=lambda release: release.label,
    evidence=lambda _release: ("file:" + OS_RELEASE,),
    unknown="home",
)


def table_rows(release: Release, facts: Facts) -> List[Row]:
    """The rows for this distribution, else those of the one with the same packages."""
    system, architecture = known(facts.os), known(facts.architecture)
    for name in (system.name, package_table.SAME_PACKAGES.get(system.name)):
        rows = [
            row
            for row in package_table.ROWS
            if (row.release, row.distribution, row.architecture)
            == (release.name, name, architecture)
            and row.version == system.version[0]
        ]
        if rows:
            return rows
    return []


def required_rows(release: Release, facts: Facts, policy: Policy) -> List[Row]:
    """Requirements of the table for this host. Skip if there are none."""
    grid = policy.profile is not None and policy.profile.grid
    rows = [
        row
        for row in table_rows(release, facts)
        if (grid or row.need != "grid") and row.package not in policy.excluded
    ]
    if not rows:
        raise Skip("The table has no row for this distribution: see packages.listed.")
    return rows


def site_rows(facts: Facts, policy: Policy) -> List[Row]:
    """Requirements of packages_additional."""
    pairs = [_split(word, facts) for word in policy.additional]
    return [
        Row("", "", 0, architecture, name, "", "policy", "packages_additional", "")
        for name, architecture in pairs
    ]


def _split(word: str, facts: Facts) -> Tuple[str, str]:
    """Name and architecture; a dot can be part of a name, such as python3.11."""
    name, dot, architecture = word.rpartition(".")
    if dot and architecture in ("i686", "i386", "noarch", *_DPKG, *_DPKG.values(), "s390x"):
        return name, architecture
    return word, known(facts.architecture)


def database_of(facts: Facts) -> Database:
    return known(facts.database).intact()


def installed(row: Row, database: Database) -> List[Package]:
    """The installed packages that satisfy a row, with any version."""
    architecture = (
        _DPKG.get(row.architecture, row.architecture) if database.is_dpkg else row.architecture
    )
    return [
        package
        for package in database.packages
        if package.name == row.package
        and package.architecture in (architecture, *_ANY)
        and package.is_installed
    ]


def spelled(row: Row, facts: Facts) -> str:
    """A package as the package manager takes it; its architecture if it is another one."""
    if row.architecture == known(facts.architecture):
        return row.package
    return row.package + (":" if known(facts.database).is_dpkg else ".") + row.architecture


def sources(rows: List[Row]) -> Optional[str]:
    references = sorted({row.source + (f", read {row.seen}" if row.seen else "") for row in rows})
    return "; ".join(references) or None
