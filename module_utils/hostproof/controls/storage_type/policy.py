# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which storage to ask and how, and its limits: the role's variables and their checks.

Credentials are secrets: what is said of them never holds a value.
"""

from typing import Dict, NamedTuple, Tuple

from ...evaluate.fields import (
    absolute_path,
    checked_by,
    decimal,
    entries,
    flag,
    reader,
    whole_number,
    window,
)
from ...evaluate.policy import PolicyValues
from ...snmp import tools
from ...snmp.tools import Credentials, Target
from .snmp import snmp_targets, storage_agent, storage_definitions, storage_rules
from .snmp.snmp_targets import Address
from .snmp.storage_definitions import Rule

NAME = "storage_type"


def _credentials(given: PolicyValues, name: str) -> Dict[str, Credentials]:
    try:
        snmp_targets.check_names_of_credentials(given[name])
    except ValueError as problem:
        raise given.error(name, str(problem)) from problem
    credentials = {}
    for one, how in given.named(name, "a dictionary of names"):
        with given.entry(name, one):
            credentials[str(one)] = snmp_targets.credentials_of(str(one), how)
    return credentials


def _addresses(given: PolicyValues, name: str) -> Tuple[Address, ...]:
    """Each of them asks with credentials that there are; one agent is asked in one way."""
    names = sorted(_credentials(given, "credentials"))
    usual = ("None", str(given["port"]))
    return given.entries(
        name,
        lambda item: snmp_targets.address_of(item, names),
        key=lambda one: one.address if str(one.port) in usual else f"{one.address}:{one.port}",
        takes="a list of addresses",
    )


def _media(given: PolicyValues, name: str) -> Dict[str, str]:
    takes = "a dictionary of addresses, each {0}".format(" or ".join(storage_rules.MEDIA))
    media = {}
    for address, one in given.named(name, takes):
        with given.entry(name, address):
            if not isinstance(one, str) or one not in storage_rules.MEDIA:
                raise given.error(name, f"must be {takes}, not {one!r}")
        media[str(address)] = one
    return media


def _definitions(given: PolicyValues, name: str) -> Tuple[Rule, ...]:
    """Families of storage of the user's own, which come before those of the house."""
    try:
        return storage_definitions.read_definitions(given[name])
    except ValueError as problem:
        raise given.error(name, str(problem)) from problem


def _folder(given: PolicyValues, name: str) -> str:
    path = str(given[name])
    if not path.startswith("/"):
        raise given.error(name, "must be a whole path")
    return path


def _address(given: PolicyValues, name: str) -> str:
    try:
        return tools.check_address(str(given[name]))
    except ValueError as problem:
        raise given.error(name, str(problem)) from problem


class EmsLog(NamedTuple):
    """A file of this host that holds messages of the filer at ``address``."""

    file: str = absolute_path()
    address: str = checked_by(_address, "str")


class Policy(NamedTuple):
    """The role's variables (roles/storage_type/meta/argument_specs.yml)."""

    nfs_servers: bool = flag()
    addresses: Tuple[Address, ...] = checked_by(_addresses, "list")
    definitions: Tuple[Rule, ...] = checked_by(_definitions, "list")
    port: int = whole_number(1, 65535)
    timeout: float = decimal(0.1, 60)
    retries: int = whole_number(0, 10)
    agent_seconds: float = decimal(1, 3600)
    agents_seconds: float = decimal(1, 3600)
    ems_logs: Tuple[EmsLog, ...] = entries(EmsLog)
    require_hcc: bool = flag()
    space_warn: int = whole_number(0, 100)
    space_critical: int = whole_number(0, 100)
    media: Dict[str, str] = checked_by(_media, "dict")
    window_seconds: float = window()
    discards_limit: int = whole_number()
    cpu_limit: int = whole_number(1, 100)
    failed_disks_limit: int = whole_number()
    rebuilding_limit: int = whole_number()
    trace_folder: str = checked_by(_folder, "path")
    credentials: Dict[str, Credentials] = checked_by(_credentials, "dict")

    def target(self, address: Address) -> Target:
        return snmp_targets.target_of(
            address, self.credentials, self.port, self.timeout, self.retries
        )

    @property
    def of_database(self) -> Credentials:
        """What the database asks with: its own entry, or else public."""
        return snmp_targets.oracle_credentials(self.credentials, storage_agent.ORACLE_CREDENTIALS)


def _limits_of_space(policy: Policy, given: PolicyValues) -> Policy:
    if policy.space_critical and policy.space_critical < policy.space_warn:
        raise given.error("space_critical", "must not be below storage_type_space_warn")
    return policy


policy_from = reader(NAME, Policy, _limits_of_space)
