# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The subjects of the rules of storage_type: one finding per address of a storage system."""

from typing import List, Tuple, Union

from ...collect.answer import Answer, known
from ...errors import HostproofError
from ...evaluate.checking import Skip, Subjects
from ...snmp import tools as snmp
from .facts import Facts, Server
from .parsers.ontap_console import Console
from .policy import FilerFile, Policy
from .snmp import database_snmp
from .snmp.storage_agent import NO_ANSWER
from .snmp.storage_health import Health

ADMIN = "Oracle ZFS Storage Appliance Administration Guide, Configuring for Oracle Database Clients"
LADBI = "Oracle Database Installation Guide for Linux, Enabling HCC on Direct NFS Client"


def _servers(facts: Facts, _policy: Policy) -> List[Server]:
    if facts.servers:
        return facts.servers
    known(facts.exports)
    if isinstance(facts.cells, HostproofError):
        raise Skip("This host has no NFS mounts, and storage_type_addresses is empty.")
    raise Skip(
        f"The storage of this host is Exadata ({len(facts.cells)} cells): cells do not answer SNMP "
        "requests, and they support Hybrid Columnar Compression themselves.",
        ["file:" + database_snmp.CELLS],
    )


def _agents(facts: Facts, policy: Policy) -> List[Server]:
    """The servers. A missing SNMP tool is reported once, not for each server."""
    servers = _servers(facts, policy)
    without = [server for server in servers if server.storage.reason == snmp.TOOL]
    return [server for server in servers if server not in without[1:]]


def _target(server: Server) -> str:
    return server.target


#: A file with saved output of a filer, and its content.
Output = Tuple[FilerFile, Answer[Console]]


def _outputs(facts: Facts, _policy: Policy) -> List[Output]:
    return facts.consoles


OUTPUTS = Subjects(
    _outputs,
    none="storage_type_console_files is empty.",
    name=lambda output: str(output[0].address),
    evidence=lambda output: ("file:" + output[0].file,),
)
SERVERS = Subjects(_servers, name=_target)


def _servers_and_outputs(facts: Facts, policy: Policy) -> List[Union[Server, Output]]:
    """A filer with saved output is checked, whether it or another storage answers SNMP or not."""
    servers: List[Union[Server, Output]] = []
    if facts.servers or not facts.consoles:
        servers += _servers(facts, policy)
    return [*servers, *facts.consoles]


SERVERS_AND_OUTPUTS: Subjects[Facts, Policy, Union[Server, Output]] = Subjects(
    _servers_and_outputs,
    name=lambda one: _target(one) if isinstance(one, Server) else f"{one[0].address} (file)",
    evidence=lambda one: () if isinstance(one, Server) else ("file:" + one[0].file,),
)
AGENTS = Subjects(_agents, name=_target)


def need_answer(server: Server) -> None:
    if server.storage.outcome == NO_ANSWER:
        raise Skip("Not checked: see storage_type.agent_answers.", server.storage.evidence)


def health_of(server: Server) -> Health:
    need_answer(server)
    if server.health is None:
        raise Skip("This address is not storage of this host.")
    return server.health
