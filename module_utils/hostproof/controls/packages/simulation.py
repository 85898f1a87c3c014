# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The transaction of apply. It is simulated only if the policy lets apply install packages and a
package is missing."""

import re
from contextlib import suppress
from typing import Callable, List, NamedTuple, Optional, Tuple

from ...collect.answer import attempt, known
from ...collect.host import Host
from ...errors import Unanswered
from ...evaluate.checking import Skip
from ...parsers.unix.distribution import clean
from . import facts as facts_of_host
from .facts import Facts
from .parsers import transaction
from .parsers.transaction import Transaction
from .policy import Policy
from .subjects import RELEASES, applies, database_of, installed, required_rows, site_rows, spelled


class Manager(NamedTuple):
    """``install`` and ``simulate`` take names. ``codes`` are the exit codes of a simulation."""

    install: Tuple[str, ...]
    simulate: Tuple[str, ...]
    codes: Tuple[int, ...]
    parse: Callable[[str], Transaction]


def _manager(program: str, *options: str) -> Manager:
    # Without an answer to the question, dnf and yum end with 1.
    install = (program, "-y", *options, "install")
    simulate = (program, "--assumeno", *options, "install")
    return Manager(install, simulate, (0, 1), transaction.parse_dnf)


APT = Manager(
    ("apt-get", "-y", "--no-install-recommends", "install"),
    ("apt-get", "--simulate", "--no-install-recommends", "install"),
    (0,),
    transaction.parse_apt,
)
DNF = _manager("dnf", "--setopt=install_weak_deps=False")
YUM = _manager("yum")
ZYPPER = Manager(
    ("zypper", "--non-interactive", "install", "--no-recommends"),
    ("zypper", "--non-interactive", "--xmlout", "install", "--no-recommends", "--dry-run"),
    (0,),
    transaction.parse_zypper,
)
_SECONDS = 300.0
#: As apt-get, dnf, yum and zypper tell why they cannot do it.
_PROBLEM = re.compile(
    r"^(?:E: |Error: |No package .* available|<message type=\"error\">)[^<\n]*", re.MULTILINE
)


def manager_of(facts: Facts) -> Manager:
    system = known(facts.os)
    if known(facts.database).is_dpkg:
        return APT
    if system.name == "SLES":
        return ZYPPER
    return YUM if system.version[:1] == (7,) else DNF


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks and the plan."""
    facts = facts_of_host.read(host, policy)
    if not policy.install:
        return facts
    return facts._replace(simulated=attempt(_simulate, host, facts, policy))


def missing(facts: Facts, policy: Policy) -> List[str]:
    """The missing packages, as the package manager takes their names."""
    try:
        applies(facts, policy)
    except Skip:
        return []
    rows = site_rows(facts, policy)
    with suppress(Skip):
        for release in RELEASES.find(facts, policy):
            with suppress(Skip):
                rows += required_rows(known(release), facts, policy)
    names = {spelled(row, facts) for row in rows if not installed(row, database_of(facts))}
    return sorted(names)


def _simulate(host: Host, facts: Facts, policy: Policy) -> Optional[Transaction]:
    """None where nothing is missing, or the packages belong to an image."""
    names = missing(facts, policy)
    if not names or known(facts.image_mode):
        return None
    manager = manager_of(facts)
    argv = [*manager.simulate, *names]
    output = host.run(argv, timeout=_SECONDS)
    problems = _PROBLEM.findall(output.stdout + output.stderr)
    if output.rc not in manager.codes or problems:
        problem = clean(problems[0]) if problems else f"it ended with {output.rc}"
        raise Unanswered("command:" + " ".join(argv), f"{argv[0]}: {problem}")
    return manager.parse(output.stdout)
