# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install what is missing, in one transaction of the package manager, and remove only that."""

from typing import List, Tuple

from ...apply.change import CommandChange, Plan, Refusal, idle
from ...collect.answer import known
from ...collect.command import Command
from ...errors import HostproofError
from .facts import IMAGE_MODE, Facts
from .parsers.transaction import Transaction
from .policy import Policy
from .simulation import manager_of, missing

_SECONDS = 3600.0
#: Fails if one of the packages was installed after planning, because revert must not remove it.
_NONE_YET = {
    False: 'for one; do ! rpm -q --quiet "$one" || exit 1; done',
    True: 'for one; do ! dpkg-query -W "$one" >/dev/null 2>&1 || exit 1; done',
}
#: rpm -e removes all packages or none, and fails for one that is not installed: an interrupted
#: installation left some out.
_ERASE = (
    'for one; do shift; rpm -q --quiet "$one" && set -- "$@" "$one"; done; '
    '[ $# = 0 ] || exec rpm -e "$@"'
)


def plan(facts: Facts, policy: Policy) -> Plan:
    """Plan the installation if packages_install is true. Raises if required facts are unknown."""
    names = missing(facts, policy)
    if not names:
        return Plan([], [], [], [])
    text = ", ".join(names)
    if not policy.install:
        return idle(f"packages_install is false: apply does not install {text}.")
    if known(facts.image_mode):
        return _refused(
            f"{IMAGE_MODE} exists: the packages belong to an image. Add {text} to the image and "
            "build it again."
        )
    if isinstance(facts.simulated, HostproofError):
        return _refused(
            f"The package manager cannot install {text}: {facts.simulated}. Add a repository, or "
            "list packages that the host does not need in packages_excluded."
        )
    transaction = facts.simulated
    if transaction is None:
        return _refused("The installation was not simulated.")
    return Plan(
        [_change(names, transaction, facts)], _refusals(names, transaction, facts, policy), [], []
    )


def _refused(reason: str) -> Plan:
    return Plan([], [Refusal(reason, None)], [], [])


def _refusals(
    names: List[str], transaction: Transaction, facts: Facts, policy: Policy
) -> List[Refusal]:
    refusals = []
    database = known(facts.database)
    mark = ":" if database.is_dpkg else "."
    there = {package.name + mark + package.architecture for package in database.packages}
    partly = [package for package in transaction.installed if package in there]
    if partly:
        refusals.append(
            Refusal(
                f"The host has configuration files or another version of {', '.join(partly)}, and "
                "revert would remove them. Purge or install the packages manually.",
                None,
            )
        )
    plain = {_name_of(package) for package in transaction.installed}
    absent = [name for name in names if name not in plain and name not in transaction.installed]
    if absent:
        refusals.append(
            Refusal(
                f"No repository has {', '.join(absent)}. Add a repository, or list it in "
                "packages_excluded.",
                None,
            )
        )
    if transaction.removed:
        reason = f"The installation would remove {', '.join(transaction.removed)}."
        refusals.append(Refusal(reason, None))
    if transaction.upgraded and not policy.upgrades:
        refusals.append(
            Refusal(
                f"The installation would change the version of {', '.join(transaction.upgraded)}, "
                "and revert cannot bring the old versions back.",
                "upgrades",
            )
        )
    return refusals


def _name_of(package: str) -> str:
    return package.rpartition(":" if ":" in package else ".")[0]


def _change(names: List[str], transaction: Transaction, facts: Facts) -> CommandChange:
    manager = manager_of(facts)
    packages = tuple(
        sorted(transaction.installed, key=lambda package: (_name_of(package), package))
    )
    is_dpkg = known(facts.database).is_dpkg
    look, before, after = (_dpkg_states if is_dpkg else _rpm_states)(packages, facts)
    install = Command(
        "install the packages",
        (*manager.install, *names),
        environment={"DEBIAN_FRONTEND": "noninteractive"} if is_dpkg else {},
        timeout=_SECONDS,
    )
    # The name holds every package: what another apply installs is another change.
    name = "packages " + " ".join(packages)
    check = Command(
        "check that none of the packages is installed",
        ("sh", "-c", _NONE_YET[is_dpkg], "sh", *packages),
    )
    undo = _undo(packages, is_dpkg)
    return CommandChange(name, before, after, look, (check, install), undo, atomic=True)


def _undo(packages: Tuple[str, ...], is_dpkg: bool) -> Tuple[Command, ...]:
    title = "remove the packages"
    if not is_dpkg:
        argv = ("sh", "-c", _ERASE, "sh", *packages)
        return (Command(title, argv, timeout=_SECONDS),)
    # dpkg removes what it can and then fails: first check that no other package depends on them.
    return (
        Command(
            "check that no other package needs them", ("dpkg", "--no-act", "--purge", *packages)
        ),
        Command(title, ("dpkg", "--purge", *packages), timeout=_SECONDS),
    )


def _rpm_states(packages: Tuple[str, ...], _facts: Facts) -> Tuple[Command, str, str]:
    """rpm -q ends with the number of packages that are not installed.

    With a damaged database it reports an error, and calls every package not installed."""
    look = Command(
        "look up the packages",
        ("rpm", "-q", "--queryformat", "%{NAME}.%{ARCH}\\n", *packages),
        expected=r"(?s)\A(?!.*^error: )((?:\S+\n|package \S+ is not installed\n)*)",
        codes=tuple(range(256)),
    )
    before = "".join(f"package {package} is not installed\n" for package in packages)
    return look, before, "".join(package + "\n" for package in packages)


def _dpkg_states(packages: Tuple[str, ...], facts: Facts) -> Tuple[Command, str, str]:
    """dpkg-query ends with 1 where it does not know a package, and lists by name."""
    look = Command(
        "look up the packages",
        ("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}:${Architecture}\\n", *packages),
        expected=r"\A((?:[a-z-]+ [^\s:]+:\S+\n)*)",
        codes=(0, 1),
    )
    states = {
        f"{package.name}:{package.architecture}": package.state
        for package in known(facts.database).packages
    }
    before = "".join(f"{states[package]} {package}\n" for package in packages if package in states)
    return look, before, "".join(f"installed {package}\n" for package in packages)
