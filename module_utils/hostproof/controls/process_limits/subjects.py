# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the rules of process_limits check: accounts, units and processes."""

from typing import List, Tuple

from ...collect.answer import if_known, known
from ...errors import Absent
from ...evaluate.checking import Skip, Subjects
from ...probes.oracle import processes
from ...probes.unix import limits as limits_probe
from ...probes.unix.limits import LOGIN_EVIDENCE, Account
from .facts import Facts, Running
from .policy import Policy

NO_ORACLE = (
    "No account oracle or grid is on this host, nothing of Oracle runs, and neither "
    "hostproof_profile nor process_limits_accounts announces any."
)
NO_PROCESS = "No instance, listener or Clusterware runs here."
LOGIN = LOGIN_EVIDENCE


def skip_without_oracle(facts: Facts, _policy: Policy) -> None:
    """Raise Skip if the host neither has nor will have Oracle software, or raise an error if that
    is unknown."""
    if isinstance(facts.meminfo, Absent):
        raise Skip("Not a Linux host: it has no /proc/meminfo.")
    is_known = bool(facts.announced or if_known(facts.running, []) or if_known(facts.accounts, {}))
    if not is_known and not known(facts.running) and not known(facts.accounts):
        raise Skip(NO_ORACLE)


def accounts_of(facts: Facts, _policy: Policy) -> List[Account]:
    accounts = known(limits_probe.by_name(facts.accounts, facts.announced))
    return [accounts[name] for name in sorted(accounts)]


def _running(facts: Facts, _policy: Policy) -> List[Running]:
    return list(known(facts.running))


def _evidence(program: Running) -> Tuple[str, ...]:
    folder = f"file:/proc/{program.process.pid}/"
    return (processes.KEY, folder + "limits", folder + "cgroup")


PROCESSES = Subjects(
    _running, none=NO_PROCESS, name=lambda program: str(program.name), evidence=_evidence
)
