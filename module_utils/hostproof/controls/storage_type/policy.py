# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's variables: addresses, credentials and limits of the storage, with validation.

Credentials are secrets: error messages never contain their values.
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


def _credentials(values: PolicyValues, name: str) -> Dict[str, Credentials]:
    try:
        snmp_targets.check_names_of_credentials(values[name])
    except ValueError as problem:
        raise values.error(name, str(problem)) from problem
    credentials = {}
    for key, how in values.named(name, "a dictionary of names"):
        with values.entry(name, key):
            credentials[str(key)] = snmp_targets.credentials_of(str(key), how)
    return credentials


def _addresses(values: PolicyValues, name: str) -> Tuple[Address, ...]:
    """The addresses. Each must use defined credentials, and an agent must not be listed twice."""
    names = sorted(_credentials(values, "snmp_credentials"))
    usual = ("None", str(values["snmp_port"]))
    return values.entries(
        name,
        lambda item: snmp_targets.address_of(item, names),
        key=lambda address: (
            address.address if str(address.port) in usual else f"{address.address}:{address.port}"
        ),
        takes="a list of addresses",
    )


def _media(values: PolicyValues, name: str) -> Dict[str, str]:
    takes = "a dictionary of addresses, each {0}".format(" or ".join(storage_rules.MEDIA))
    media = {}
    for address, medium in values.named(name, takes):
        with values.entry(name, address):
            if not isinstance(medium, str) or medium not in storage_rules.MEDIA:
                raise values.error(name, f"must be {takes}, not {medium!r}")
        media[str(address)] = medium
    return media


def _definitions(values: PolicyValues, name: str) -> Tuple[Rule, ...]:
    """The user's own storage families, which precede the built-in ones."""
    try:
        return storage_definitions.read_definitions(values[name])
    except ValueError as problem:
        raise values.error(name, str(problem)) from problem


def _folder(values: PolicyValues, name: str) -> str:
    path = str(values[name])
    if not path.startswith("/"):
        raise values.error(name, "must be a whole path")
    return path


def _address(values: PolicyValues, name: str) -> str:
    try:
        return tools.check_address(str(values[name]))
    except ValueError as problem:
        raise values.error(name, str(problem)) from problem


class FilerFile(NamedTuple):
    """A file on this host with output of the filer at ``address``."""

    file: str = absolute_path()
    address: str = checked_by(_address, "str")


class Policy(NamedTuple):
    """The role's variables."""

    query_nfs_servers: bool = flag()
    """Whether to query the servers of the NFS mounts of the host.

    Default: true
    """
    addresses: Tuple[Address, ...] = checked_by(_addresses, "list", elements="raw")
    """Management addresses of other storage (iSCSI, Fibre Channel). Each is a name or an
    address, or a dictionary with C(address) and optionally C(port) and C(credentials) (a name).
    An entry with the address of an NFS server sets the port and credentials of that server.

    Default: []
    """
    definitions: Tuple[Rule, ...] = checked_by(_definitions, "list", elements="raw")
    """Your own storage families, which precede the built-in ones. Each is a dictionary as described
    in docs/controls/storage_type.md and docs/storage_definitions.schema.json. Load a file of them
    on the controller with C(-e @FILE) or a lookup.

    Default: []
    """
    snmp_port: int = whole_number(1, 65535)
    """The UDP port of each address without its own port.

    Default: 161
    """
    snmp_timeout: float = decimal(0.1, 60)
    """Seconds to wait for each try.

    Default: 2
    """
    snmp_retries: int = whole_number(0, 10)
    """Number of retries after the first try.

    Default: 1
    """
    snmp_agent_timeout: float = decimal(1, 3600)
    """Time limit in seconds for all queries to one agent. Checks without an answer by then are
    C(error).

    Default: 60
    """
    snmp_total_timeout: float = decimal(1, 3600)
    """Time limit in seconds for all agents together. Checks without an answer by then are
    C(error).

    Default: 120
    """
    ems_logs: Tuple[FilerFile, ...] = entries(FilerFile)
    """Files of this host with EMS messages of a filer (its syslog). Each is a dictionary with
    C(file) and C(address), the filer's address as in C(storage_type_addresses). Results of
    C(reallocate measure) are checked, for disks only.

    Default: []
    """
    console_files: Tuple[FilerFile, ...] = entries(FilerFile)
    """Files of this host with saved output of a filer: C(df -g), C(df -Ag) and C(vol options
    VOLUME) of Data ONTAP 7-Mode, C(volume show) and C(storage aggregate show) of ONTAP 9. Each is
    a dictionary with C(file) and C(address), the filer's address as in C(storage_type_addresses).
    C(vol options) must follow its command and the prompt of the filer.

    Default: []
    """
    require_hcc: bool = flag()
    """Whether storage that is not eligible for Hybrid Columnar Compression is a failure.

    Default: false
    """
    space_warn_percent: int = whole_number(0, 100)
    """Use in percent at which an aggregate, pool or volume is a warning. C(0) is 90 for flash, 85
    for disks or unknown media, and 98 for volumes.

    Default: 0
    """
    space_fail_percent: int = whole_number(0, 100)
    """Use in percent at which an aggregate or pool is a failure. C(0) is 98 for flash or unknown
    media, and 90 for disks.

    Default: 0
    """
    media: Dict[str, str] = checked_by(_media, "dict")
    """Media (C(ssd) or C(hdd)) by address, for storage whose model does not determine it.

    Default: {}
    """
    window_seconds: float = window()
    """Seconds between the two readings of discarded packets. One window of 1 to 600 seconds serves
    every control that needs rates; C(0) reads once and checks none.

    Default: 10
    """
    discards_limit: int = whole_number()
    """Packets that an interface may discard between the two readings.

    Default: 0
    """
    cpu_limit: int = whole_number(1, 100)
    """CPU load of the storage in percent that is a warning.

    Default: 80
    """
    failed_disks_limit: int = whole_number()
    """Number of failed disks that is still accepted, if the agent counts them (NETAPP-MIB
    diskFailedCount). The default is 0 because each failed disk reduces redundancy.

    Default: 0
    """
    rebuilding_limit: int = whole_number()
    """Number of disks in a rebuild that is not yet a warning, if the agent counts them (NETAPP-MIB
    diskReconstructingCount).

    Default: 0
    """
    trace_dir: str = checked_by(_folder, "path")
    """The directory that contains the trace files of the database writers.

    Default: /u01/app/oracle/diag/rdbms
    """
    snmp_credentials: Dict[str, Credentials] = checked_by(_credentials, "dict")
    """SNMP credentials by name. C(default) is for every address without C(credentials).
    C(database) is for the query of the database (SNMPv1; community C(public) unless the oranfstab
    of the database sets another one).
    Each has C(version) (C(1), C(2c), C(3)), C(community), or C(user), C(level),
    C(auth_protocol), C(auth_passphrase), C(priv_protocol), C(priv_passphrase), C(context).

    Default: {default: {version: 2c, community: public}}
    Secret: true
    """

    def target(self, address: Address) -> Target:
        return snmp_targets.target_of(
            address, self.snmp_credentials, self.snmp_port, self.snmp_timeout, self.snmp_retries
        )

    @property
    def of_database(self) -> Credentials:
        """The credentials of the database: entry C(database), otherwise community public."""
        return snmp_targets.oracle_credentials(
            self.snmp_credentials, storage_agent.ORACLE_CREDENTIALS
        )


def _limits_of_space(policy: Policy, values: PolicyValues) -> Policy:
    if policy.space_fail_percent and policy.space_fail_percent < policy.space_warn_percent:
        raise values.error(
            "space_fail_percent", "must not be below storage_type_space_warn_percent"
        )
    return policy


policy_from = reader(NAME, Policy, _limits_of_space)
