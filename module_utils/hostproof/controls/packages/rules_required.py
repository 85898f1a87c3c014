# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Required packages: whether they are installed, in which version and how often."""

from datetime import date, timedelta
from typing import List, Optional

from ...collect.answer import known
from ...evaluate.advice import Advice, Apply, Ask, Step
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.unix import package_version
from ...parsers.unix.distribution import clean
from ...probes.oracle.releases import Release
from . import package_table
from .facts import CLOCK, OS_RELEASE, Facts
from .package_table import Row
from .policy import NAME, Policy
from .simulation import manager_of
from .subjects import (
    RELEASES,
    database_of,
    installed,
    required_rows,
    site_rows,
    sources,
    spelled,
    table_rows,
)

rules: Rules[Facts, Policy] = Rules(NAME)

_TABLE = "Oracle Database installation guides for Linux, package tables (package_table.py)"
#: Days after which a row of the table has to be read again.
_OLD = 365
_EPOCH = date(1970, 1, 1)
_IMAGE = "add the packages to the image and build it again: the host is in image mode"


@rules.check(
    "packages.listed",
    "Oracle's books list the packages of this distribution",
    "Oracle's books do not list the packages of this distribution",
    severity="medium",
    takes_effect="now",
    why="Required packages are then unknown. Oracle does not support distributions that its books "
    "do not list.",
    reference=_TABLE,
    each=RELEASES,
)
def listed(release: Release, facts: Facts, policy: Policy) -> Verdict:
    system, architecture = known(facts.os), known(facts.architecture)
    rows = table_rows(release, facts)
    hosts = {
        f"{row.distribution} {row.version} {row.architecture}"
        for row in package_table.ROWS
        if row.release == release.name
    }
    name = rows[0].distribution if rows else ""
    is_own = name == system.name and not system.rebuild and name != "Debian"
    why = (
        f"The table has {len(rows)} packages for {release.name} on {system.text} ({architecture})."
    )
    if rows and not is_own:
        why += f" No book lists this distribution; it is checked as {name} {rows[0].version}."
    return Verdict(
        PASS if rows and is_own else WARN,
        why,
        advice=Advice(
            [Ask("compare the packages of this host with the books of the release manually")]
        ),
        desired=", ".join(sorted(hosts)) or None,
        running=f"{system.text}, {architecture}",
        reference=sources(rows),
        evidence=["file:" + OS_RELEASE],
    )


@rules.check(
    "packages.installer",
    "Packages that OUI and DBCA cannot run without are installed",
    "A package that OUI or DBCA cannot run without is missing",
    severity="critical",
    takes_effect="now",
    why="Without them OUI or DBCA stops, the software does not link, or sqlplus does not start "
    "(libnsl.so.1, libaio.so.1, libcrypt.so.1, an empty font configuration of Java).",
    reference=_TABLE,
    each=RELEASES,
)
def installer(release: Release, facts: Facts, policy: Policy) -> Verdict:
    rows = [row for row in required_rows(release, facts, policy) if row.need == "installer"]
    return _judged(rows, facts, policy)


@rules.check(
    "packages.required",
    "Required packages are installed",
    "A required package is missing",
    severity="high",
    takes_effect="now",
    why="CVU stops an installation for a missing package (PRVF-7532), and later functions fail.",
    reference=_TABLE + "; CVU PRVF-07532",
    each=RELEASES,
)
def required(release: Release, facts: Facts, policy: Policy) -> Verdict:
    rows = [row for row in required_rows(release, facts, policy) if row.need != "installer"]
    return _judged(rows, facts, policy)


@rules.check(
    "packages.site",
    "Packages of the site are installed",
    "A package of packages_additional is missing",
    severity="medium",
    takes_effect="now",
    why="The policy of the site requires it.",
    reference="packages_additional",
)
def site(facts: Facts, policy: Policy) -> Verdict:
    if not policy.additional:
        raise Skip("packages_additional is empty.")
    return _judged(site_rows(facts, policy), facts, policy)


def _judged(rows: List[Row], facts: Facts, policy: Policy) -> Verdict:
    if not rows:
        raise Skip("The table requires no such package for this distribution.")
    database = database_of(facts)
    missing = [row for row in rows if not installed(row, database)]
    certain = [row for row in missing if row.need != "list"]
    text = ", ".join(_describe_row(row, facts) for row in certain or missing)
    others = _names([row for row in missing if row not in certain]) if certain else ""
    why = f"{len(missing)} of {len(rows)} are missing{': ' * bool(missing)}{text}."
    if others:
        why += f" Only installation roles list these: {others}."
    return Verdict(
        (FAIL if certain else WARN) if missing else PASS,
        why,
        advice=Advice(_install_steps(missing, facts, policy)),
        desired=_names(rows),
        persisted=f"missing: {_names(missing)}" if missing else "all",
        reference=sources(missing or rows),
        evidence=[database.command],
    )


def _names(rows: List[Row]) -> str:
    return ", ".join(row.package for row in rows)


def _describe_row(row: Row, facts: Facts) -> str:
    """A package, and for which other architecture it is installed."""
    packages = [
        package for package in known(facts.database).packages if package.name == row.package
    ]
    others = sorted({clean(package.architecture) for package in packages if package.is_installed})
    return f"{row.package} (only {', '.join(others)})" if others else row.package


def _install_steps(missing: List[Row], facts: Facts, policy: Policy) -> List[Step]:
    if not missing:
        return []
    if known(facts.image_mode):
        return [Ask(_IMAGE)]
    if policy.install:
        return [Apply(NAME)]
    names = " ".join(spelled(row, facts) for row in missing)
    return [Step("install the packages", [f"{manager_of(facts).install[0]} install -y {names}"])]


@rules.check(
    "packages.version",
    "Packages have at least the required version",
    "A package is older than the required version",
    severity="medium",
    takes_effect="now",
    why="CVU stops an installation for a package that is too old (PRVF-7533).",
    reference="CVU PRVF-07533; ORAchk package checks (package_table.py)",
    each=RELEASES,
)
def version(release: Release, facts: Facts, policy: Policy) -> Verdict:
    rows = [row for row in required_rows(release, facts, policy) if row.minimum]
    database = database_of(facts)
    rows = [row for row in rows if installed(row, database)]
    if not rows:
        raise Skip("No installed package has a required version in the table.")
    old: List[Row] = []
    faults = []
    for row in rows:
        newest = _newest(row, facts)
        if newest is not None:
            old.append(row)
            faults.append(f"{row.package} {newest}, required {row.minimum}")
    return Verdict(
        FAIL if old else PASS,
        f"{'; '.join(faults) or f'{len(rows)} packages have a required version'}.",
        advice=Advice(
            [
                Ask(
                    _IMAGE
                    if known(facts.image_mode)
                    else f"update {_names(old)} with the package manager"
                )
            ]
        ),
        desired="; ".join(f"{row.package} {row.minimum}" for row in rows),
        persisted="; ".join(faults) or "all are new enough",
        reference=sources(old or rows),
        evidence=[database.command],
    )


def _newest(row: Row, facts: Facts) -> Optional[str]:
    """The version, where none of the installed ones is new enough."""
    packages = installed(row, known(facts.database))
    is_met = any(package_version.compare(one.version, row.minimum) >= 0 for one in packages)
    return None if is_met else clean(packages[-1].text)


@rules.check(
    "packages.one_version",
    "Each required package is installed once",
    "A required package is installed in several versions",
    severity="medium",
    takes_effect="now",
    why="An interrupted update leaves two versions of a package, and CVU reports it (PRVF-7584).",
    reference="CVU PRVF-07584; dnf(8), repoquery --duplicates",
    each=RELEASES,
)
def one_version(release: Release, facts: Facts, policy: Policy) -> Verdict:
    database = database_of(facts)
    packages = {
        row.package: installed(row, database) for row in required_rows(release, facts, policy)
    }
    several = {name: ones for name, ones in packages.items() if len(ones) > 1}
    text = "; ".join(
        f"{name} {', '.join(clean(package.text) for package in ones)}"
        for name, ones in several.items()
    )
    return Verdict(
        WARN if several else PASS,
        f"{text or 'No required package is installed twice'}.",
        advice=Advice(
            [Ask(f"remove the older version of {', '.join(several)} with the package manager")]
        ),
        persisted=text or "one version each",
        evidence=[database.command],
    )


@rules.check(
    "packages.table_age",
    "The table of packages is at most a year old",
    "Rows of the package table are older than a year",
    severity="low",
    takes_effect="now",
    why="Oracle adds packages and distributions. An old table may pass or reject too much.",
    reference=_TABLE,
    each=RELEASES,
)
def table_age(release: Release, facts: Facts, _policy: Policy) -> Verdict:
    rows = [row for row in package_table.ROWS if row.release == release.name]
    if not rows:
        raise Skip(f"The table has no row for {release.name}.")
    today = _EPOCH + timedelta(seconds=known(facts.now))
    oldest = min(row.seen for row in rows)
    seen = date(*(int(part) for part in oldest.split("-")))
    return Verdict(
        WARN if (today - seen).days > _OLD else PASS,
        f"Rows for {release.name} were read on {oldest}, more than a year before {today}.",
        advice=Advice([Ask("update Hostproof, and compare with the books of the release")]),
        desired=f"read at most {_OLD} days ago",
        running=f"read on {oldest}",
        evidence=["command:" + " ".join(CLOCK)],
    )
