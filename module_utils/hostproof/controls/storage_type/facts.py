# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the storage of the database, from the host and from the SNMP agents."""

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known
from ...collect.host import Host
from ...errors import HostproofError
from ...parsers.nfs import nfs_options
from ...probes.nfs import nfs_mounted
from ...probes.oracle import oracle_homes
from ...snmp import tools as snmp
from ...snmp.tools import Target
from .parsers import ontap_console, ontap_ems
from .policy import FilerFile, Policy
from .snmp import database_snmp, storage_agent, storage_health, storage_match, storage_rules
from .snmp.snmp_targets import Address
from .snmp.storage_agent import NO_ANSWER, RECOGNISED, Storage
from .snmp.storage_definitions import Part
from .snmp.storage_health import Health
from .snmp.storage_match import Catalogue

#: Number of agents that are queried in parallel. Timeouts of silent agents then overlap.
_AT_ONCE = 32


class Mount(NamedTuple):
    """An NFS mount: exported directory, mount point, and options in effect."""

    export: str
    path: str
    settings: Answer[Dict[str, str]]


class Server(NamedTuple):
    """One address with its product and health. ``mounts`` are the NFS mounts from it."""

    target: str
    mounts: Tuple[Mount, ...]
    storage: Storage
    health: Optional[Health]

    @property
    def exports(self) -> Tuple[str, ...]:
        return tuple(mount.export for mount in self.mounts)


class Facts(NamedTuple):
    """The facts of the host. An Answer is a value or the error that replaces it."""

    exports: Answer[Dict[str, Tuple[Mount, ...]]]
    servers: List[Server]
    cells: Answer[List[str]]
    library: Answer[database_snmp.Library]
    trace: Answer[List[database_snmp.Line]]
    layouts: List[Tuple[FilerFile, Answer[List[ontap_ems.Layout]]]]
    consoles: List[Tuple[FilerFile, Answer[ontap_console.Console]]]


def read(host: Host, policy: Policy) -> Facts:
    """Query every server. The second reading of the counters is last, after the sample window."""
    exports = attempt(read_exports, host) if policy.query_nfs_servers else {}
    cells = attempt(database_snmp.read_cells, host)
    homes = if_known(attempt(oracle_homes.read_homes, host, ()), [])
    agents = _addresses_of(policy, if_known(exports, {}), if_known(cells, []))
    deadline = snmp.Deadline(policy.snmp_total_timeout)
    targets = [
        policy.target(address)._replace(patience=snmp.Patience(policy.snmp_agent_timeout, deadline))
        for address, _mounted in agents
    ]
    # Loading the product families is slow, so they are loaded only if an agent is queried.
    catalogue = storage_match.catalogue_of(policy.definitions) if agents else None
    servers = storage_agent.in_parallel(
        lambda number: _read_server(host, policy, catalogue, targets[number], agents[number][1]),
        range(len(agents)),
        _AT_ONCE,
    )
    library = attempt(database_snmp.read_library, host, homes)
    trace: Answer[List[database_snmp.Line]] = []
    if servers or isinstance(exports, HostproofError):
        trace = attempt(database_snmp.read_trace, host, policy.trace_dir)
    if policy.window_seconds and any(server.health for server in servers):
        host.wait_for_window("storage_type", policy.window_seconds)
        deadline.put_off(policy.window_seconds)
        servers = [_read_again(host, *pair) for pair in zip(targets, servers)]
    layouts = [(log, attempt(_read_layouts, host, log.file)) for log in policy.ems_logs]
    consoles = [
        (output, attempt(_read_console, host, output.file)) for output in policy.console_files
    ]
    return Facts(exports, servers, cells, library, trace, layouts, consoles)


def _read_console(host: Host, file: str) -> ontap_console.Console:
    return ontap_console.parse(host.read_text(file, ontap_console.kept))


def _read_layouts(host: Host, file: str) -> List[ontap_ems.Layout]:
    return ontap_ems.parse(host.read_text(file, ontap_ems.kept))


def read_exports(host: Host) -> Dict[str, Tuple[Mount, ...]]:
    """The address of each NFS server, and the mounts from it."""
    system = nfs_mounted.read_system(host)
    mounted = nfs_mounted.read_mounted(host, system)
    exports: Dict[str, Tuple[Mount, ...]] = {}
    for mount in mounted:
        name, _, directory = mount.source.rpartition(":/")
        address = re.search(r"(?:^|,)addr=([^,]+)", mount.options)
        server = address.group(1) if address else name.strip("[]")
        if server:
            settings = attempt(_settings, mount.options, system)
            exported = Mount("/" + directory, mount.path, settings)
            exports[server] = exports.get(server, ()) + (exported,)
    return exports


def _settings(options: str, system: str) -> Dict[str, str]:
    return nfs_options.effective(nfs_options.parse(options), system)


def _addresses_of(
    policy: Policy, exports: Dict[str, Tuple[Mount, ...]], cells: List[str]
) -> List[Tuple[Address, Tuple[Mount, ...]]]:
    """The agents to query: NFS servers and the policy's addresses, without Exadata cells.

    Several agents may run on one address. The mounts are assigned to one of them
    (``_of_mounts``). An agent without usable credentials is not queried; a finding reports the
    unusable entry of the policy."""
    listed: Dict[str, List[Address]] = {}
    for address in policy.addresses:
        listed.setdefault(address.address, []).append(address)
    agents: List[Tuple[Address, Tuple[Mount, ...]]] = []
    for server in sorted(exports):
        entries = listed.pop(server, [Address(server)])
        serves = _of_mounts(entries, policy.snmp_port)
        agents += [(entry, exports[server] if entry is serves else ()) for entry in entries]
    agents += [(entry, ()) for name in sorted(listed) for entry in listed[name]]
    return [
        (address, mounted)
        for address, mounted in agents
        if address.address not in cells and address.credentials in policy.snmp_credentials
    ]


def _of_mounts(entries: List[Address], usual_port: int) -> Address:
    """The agent on an NFS server's address: the one at the usual port, otherwise the first."""
    usual = (entry for entry in entries if entry.port in (None, usual_port))
    return next(usual, entries[0])


def _read_server(
    host: Host,
    policy: Policy,
    catalogue: Optional[Catalogue],
    target: Target,
    mounts: Tuple[Mount, ...],
) -> Server:
    storage = storage_agent.identify_agent(host, target, policy.of_database, catalogue)
    health = None
    # An unknown agent may be storage. A server of an NFS mount is always storage of this host.
    maybe = storage_rules.STORAGE_ROLES + (storage_rules.UNKNOWN,)
    if storage.outcome != NO_ANSWER and (storage.role in maybe or mounts):
        parts: Tuple[Part, ...] = ()
        if catalogue is not None and storage.outcome == RECOGNISED:
            parts = storage_match.health_of(catalogue, storage.vendor, storage.product)
        health = storage_health.read_first(host, target, storage.product or "", parts)
    return Server(target.name, mounts, storage, health)


def _read_again(host: Host, target: Target, server: Server) -> Server:
    if server.health is None:
        return server
    product = server.storage.product or ""
    return server._replace(health=storage_health.read_again(host, target, product, server.health))
