# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the package database, cvuqdisk, and the log of Oracle's preinstall package."""

import re
from typing import List

from ...collect.answer import known
from ...errors import Absent, Unanswered
from ...evaluate.advice import Advice, Ask, Run, Step
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.unix import package_version
from ...parsers.unix.distribution import EL, clean
from ...probes.unix.package_database import Database
from . import package_table
from .facts import CVUQDISK, Facts, log_of
from .policy import NAME, Policy
from .subjects import database_of

rules: Rules[Facts, Policy] = Rules(NAME)

#: The states of dpkg for a complete package and for a removed one.
_WHOLE = ("installed", "config-files", "not-installed")
_FAILED = re.compile(r"\b(?:failed|failure|error|cannot|unable|denied|invalid)\b", re.IGNORECASE)
#: Of setuid, run by the group, written by the group or others: the first two.
_MODE, _AS_SHIPPED = 0o4032, 0o4010
_OINSTALL = "oinstall"


@rules.check(
    "packages.database",
    "The package database is intact",
    "Package database is damaged, or a package is half installed",
    severity="high",
    takes_effect="now",
    why="A damaged database hides packages from CVU, and updates and preinstall packages fail.",
    reference="CVU RPM Package Manager database; rpmdb(8); dpkg(1), --audit",
)
def database(facts: Facts, _policy: Policy) -> Verdict:
    package_db = known(facts.database)
    broken = [package for package in package_db.packages if package.state not in _WHOLE]
    problems = [clean(line) for line in package_db.complaints[:3]]
    problems += [f"{clean(package.name)} is {clean(package.state)}" for package in broken[:10]]
    # A package with pending triggers is whole, and each later run of dpkg processes them.
    is_bad = bool(package_db.complaints) or any(
        not package.state.startswith("triggers-") for package in broken
    )
    return Verdict(
        FAIL if is_bad else WARN if problems else PASS,
        f"{'; '.join(problems) or f'{len(package_db.packages)} packages are listed'}.",
        advice=Advice(_database_steps(package_db, is_bad)),
        persisted="; ".join(problems) or f"{len(package_db.packages)} packages",
        evidence=[package_db.command],
    )


def _database_steps(database: Database, is_bad: bool) -> List[Step]:
    if database.is_dpkg:
        finish = "show the packages that are not complete, and finish them (dpkg --configure -a)"
        return [Run("dpkg", "--audit", text=finish)]
    if not is_bad:
        return [Ask("finish the transaction that was interrupted (dnf history)")]
    return [
        Ask("end each package manager that runs, and back up /var/lib/rpm"),
        Run("rpm", "--rebuilddb", text="rebuild the database"),
    ]


@rules.check(
    "packages.bash",
    "bash has the corrections for CVE-2014-6271 (Shellshock)",
    "bash is vulnerable to CVE-2014-6271 (Shellshock)",
    severity="high",
    takes_effect="now",
    why="Anyone who can set an environment variable, such as a client of a CGI program, runs "
    "commands on the host.",
    reference="RHSA-2014:1306 (EL 5 to 7); ORAchk, Bash vulnerability CVE-2014-6271",
)
def bash(facts: Facts, _policy: Policy) -> Verdict:
    package_db, system = database_of(facts), known(facts.os)
    versions = [clean(package.text) for package in package_db.packages if package.name == "bash"]
    if not versions:
        raise Skip("The package database has no bash.")
    distribution = "EL" if system.name in EL else system.name
    minimum = package_table.BASH.get(
        (distribution, (system.version or (0,))[0]), package_table.BASH_UPSTREAM
    )
    old = [version for version in versions if package_version.compare(version, minimum) < 0]
    if old and minimum == package_table.BASH_UPSTREAM:
        raise Unanswered(
            package_db.command, f"the table has no corrected version of bash for {system.text}"
        )
    return Verdict(
        FAIL if old else PASS,
        f"bash: {', '.join(versions)}.",
        advice=Advice([Ask(f"update bash to {minimum} or later")]),
        desired=f"at least {minimum}",
        persisted=", ".join(versions),
        evidence=[package_db.command],
    )


@rules.check(
    "packages.cvuqdisk",
    "cvuqdisk is installed",
    "cvuqdisk is missing or old",
    severity="high",
    takes_effect="now",
    why="CVU finds shared disks with it. Without it CVU cannot verify ASM disks (PRVG-11550).",
    reference="Grid Infrastructure Installation Guide, Installing the cvuqdisk RPM; CVU PRVG-11550",
)
def cvuqdisk(facts: Facts, policy: Policy) -> Verdict:
    _only_in_a_cluster(policy)
    package_db = database_of(facts)
    versions = [
        clean(package.text) for package in package_db.packages if package.name == "cvuqdisk"
    ]
    is_met = any(
        package_version.compare(version, package_table.CVUQDISK) >= 0 for version in versions
    )
    state = ", ".join(versions) or "not installed"
    return Verdict(
        PASS if is_met else FAIL,
        f"cvuqdisk: {state}.",
        advice=Advice(
            [
                Ask(
                    "install the package of cv/rpm in the Grid home, with CVUQDISK_GRP set to the "
                    "group of the inventory"
                )
            ]
        ),
        desired=f"at least {package_table.CVUQDISK}",
        persisted=state,
        evidence=[package_db.command],
    )


@rules.check(
    "packages.cvuqdisk_group",
    "cvuqdisk is setuid root, for the inventory group",
    "cvuqdisk is not setuid root, or of another group",
    severity="high",
    takes_effect="now",
    why="Only the group of the program can run it as root. CVU of another owner cannot read disks.",
    reference="Grid Infrastructure Installation Guide, Installing the cvuqdisk RPM (CVUQDISK_GRP)",
    because_of=("packages.cvuqdisk",),
)
def cvuqdisk_group(facts: Facts, policy: Policy) -> Verdict:
    _only_in_a_cluster(policy)
    helper = known(facts.cvuqdisk)
    if isinstance(helper.stat, Absent):
        raise Skip(f"{CVUQDISK} does not exist: see packages.cvuqdisk.")
    stat, group = known(helper.stat), known(helper.group)
    expected = known(helper.inventory_group) or _OINSTALL
    state = f"{stat.mode:04o}, uid {stat.uid}, group {clean(group)}"
    is_met = group == expected and stat.uid == 0 and stat.mode & _MODE == _AS_SHIPPED
    return Verdict(
        PASS if is_met else FAIL,
        f"{CVUQDISK} has {state}.",
        advice=Advice(
            [
                Ask(
                    "install the package of cv/rpm in the Grid home again, with "
                    f"CVUQDISK_GRP={clean(expected)} in the environment"
                )
            ]
        ),
        desired=f"4755, uid 0, group {clean(expected)}",
        persisted=state,
        evidence=["stat:" + CVUQDISK],
    )


def _only_in_a_cluster(policy: Policy) -> None:
    if policy.profile is None or not policy.profile.cluster:
        raise Skip("Only a cluster node needs it, and the profile is not one of a cluster node.")


@rules.check(
    "packages.preinstall",
    "Oracle's preinstall package completed without errors",
    "Log of the preinstall package is missing or has errors",
    severity="medium",
    takes_effect="now",
    why="The package changes kernel settings, limits and accounts once, while it is installed. "
    "It does not repeat a step that failed.",
    reference="Oracle Database Installation Guide for Linux, Oracle Database Preinstallation RPM",
)
def preinstall(facts: Facts, _policy: Policy) -> Verdict:
    database_of(facts)
    if not facts.logs:
        raise Skip("No preinstall package of Oracle is installed. None is required.")
    problems = []
    for name, log in facts.logs.items():
        if isinstance(log, Absent) or not known(log).strip():
            problems.append(f"{name} has no log, or an empty one")
            continue
        lines = [line for line in known(log).splitlines() if _FAILED.search(line)]
        if lines:
            problems.append(f"{name}: {len(lines)} lines, first: {clean(lines[0])}")
    return Verdict(
        WARN if problems else PASS,
        f"{'; '.join(problems) or 'The log has no errors'}.",
        advice=Advice(
            [
                Ask(
                    "audit kernel_parameters, process_limits and accounts, which check what the "
                    "package sets, and correct what they find"
                )
            ]
        ),
        persisted=", ".join(sorted(facts.logs)),
        evidence=["file:" + log_of(name) for name in facts.logs],
    )
