# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Traits of a node that must be equal on all nodes of a cluster."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from ...collect import identity
from ...collect.answer import (
    Answer,
    attempt,
    existing,
    if_known,
    known,
    unless_absent,
    unless_newer,
)
from ...collect.command import Command
from ...collect.host import Host, Stat
from ...errors import Absent, HostproofError, NotRecorded, Unanswered, kind_of
from ...parsers.kernel import meminfo
from ...parsers.net import ip_addr
from ...parsers.oracle import crsconfig_params
from ...parsers.unix import os_release
from ...probes.kernel import numa
from ...probes.net import devices
from ...probes.nfs import nfs_files
from ...probes.oracle import clusterware, monitors, oracle_homes, time_zones
from ...probes.unix import limits
from .parsers import cpuinfo
from .policy import Policy
from .probes import interface_versions

RELEASE = "/proc/sys/kernel/osrelease"
CORE_PATTERN = "/proc/sys/kernel/core_pattern"
CORE_USES_PID = "/proc/sys/kernel/core_uses_pid"
OS_RELEASE = "/etc/os-release"
CPUINFO = "/proc/cpuinfo"
MEMINFO = "/proc/meminfo"
CLOCK_SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
NODE = ["uname", "-n"]

#: Time daemons. octssd.bin is the one of Clusterware (CTSS), active if there is no other daemon.
TIME_DAEMONS = r"(^|/)(chronyd|ntpd|systemd-timesyncd|octssd\.bin)$"
_DAEMON = re.compile(TIME_DAEMONS)
_PATCH = re.compile(r"^\d+$")

#: The traits of the home of Clusterware and of its patches.
GRID_HOME = "Grid home"
GRID_PATCHES = "patches of Grid Infrastructure"

#: root, and the owners of Oracle software with the names from Oracle's installation guides.
ACCOUNTS = ("root", "oracle", "grid")

SCP = "/usr/bin/scp"
#: It asks for nothing, changes no file of the account, forwards nothing, and ends soon.
_SSH_OPTIONS = tuple(
    text
    for option in (
        *("BatchMode=yes", "StrictHostKeyChecking=yes", "UpdateHostKeys=no", "ConnectTimeout=5"),
        *("ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "ControlPath=none"),
        *("PermitLocalCommand=no", "LogLevel=ERROR"),
    )
    for text in ("-o", option)
)
_SSH_SECONDS = 15.0
#: Nodes on which accounts log in, and characters of a message.
_MOST_NODES, _LONGEST = 64, 160
_HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}\Z")

#: Traits by name. A value is a number or a text, or None if the node does not have the trait.
Traits = Dict[str, Answer[Union[int, str, None]]]


class Cluster(NamedTuple):
    """``nodes`` are the names of all configured nodes, ``node`` is the name of this host."""

    name: str
    node: str
    nodes: Tuple[str, ...]
    evidence: Tuple[str, ...]


class Ssh(NamedTuple):
    """``logins`` are the results by account and node: "" after a login, otherwise its problem.
    ``scp`` is an error if there is no program."""

    logins: Dict[Tuple[str, str], Answer[str]]
    scp: Answer[Stat]


class Facts(NamedTuple):
    """``cluster`` is None if the host is not a node of a cluster."""

    cluster: Answer[Optional[Cluster]]
    software: Traits
    hardware: Traits
    huge_pages: Traits
    network: Traits
    addresses: Traits
    clock: Traits
    accounts: Traits
    ssh: Ssh


def read(host: Host, policy: Policy) -> Facts:
    cluster = attempt(_read_cluster, host, policy)
    if cluster is None:
        return Facts(None, {}, {}, {}, {}, {}, {}, {}, Ssh({}, Unanswered("", "not read")))
    memory = attempt(lambda: meminfo.parse(host.read_text(MEMINFO)))
    return Facts(
        cluster=cluster,
        software=_read_software(host),
        hardware={
            "cpu_model": attempt(lambda: cpuinfo.parse(host.read_text(CPUINFO)).model),
            "cpus": attempt(lambda: cpuinfo.parse(host.read_text(CPUINFO)).online),
            "memory_mib": attempt(lambda: known(memory)["MemTotal"] >> 20),
        },
        huge_pages=_read_huge_pages(host, memory),
        network=_read_network(host),
        addresses={"addresses": attempt(_read_addresses, host)},
        clock=_read_clock(host, cluster),
        accounts=_read_accounts(host),
        ssh=_read_ssh(host, policy, cluster),
    )


def _read_cluster(host: Host, policy: Policy) -> Optional[Cluster]:
    if policy.name == "none":
        return None
    name, nodes, evidence = policy.name, policy.expected, []
    if name is None or nodes is None:
        # A name in the policy is enough: then an unreadable configuration is not an error.
        installed = attempt(_installed, host)
        if isinstance(installed, HostproofError):
            if name is None:
                raise installed
        elif installed is not None:
            config, key = installed
            name = name or config.cluster
            nodes = config.nodes if nodes is None else nodes
            evidence.append(key)
    if name is None:
        return None
    node = host.run(NODE)
    return Cluster(name, node.stdout.strip(), nodes or (), ("command:uname -n", *evidence))


def _installed(host: Host) -> Optional[Tuple[crsconfig_params.Config, str]]:
    """The configuration of Grid Infrastructure and its evidence key. None without a cluster."""
    home = _grid_home(host)
    if home is None:
        return None
    path = home + crsconfig_params.FILE
    text = attempt(nfs_files.read_text, host, path, record=crsconfig_params.kept)
    if isinstance(text, Absent) and clusterware.read_home(host) is None:
        return None
    text = known(text)
    config = crsconfig_params.parse(text)
    # With Oracle Restart the file exists but contains no nodes.
    return (config, "command:cat " + path) if config.cluster and config.nodes else None


def _grid_home(host: Host) -> Optional[str]:
    """The home of olr.loc; where no file names one, the one that runs, or that of the inventory or
    of ASM in oratab."""
    home = clusterware.read_home(host)
    if home is not None:
        return home
    running = unless_newer(attempt(clusterware.css_daemons, host), [])
    named = sorted({clusterware.home_of(daemon) for daemon in running}) or [
        entry.path
        for entry in if_known(attempt(oracle_homes.read_homes, host, ()), [])
        if entry.clusterware or any(sid.startswith("+ASM") for sid in entry.sids)
    ]
    if len(named) > 1:
        raise Unanswered(
            "file:" + clusterware.OLR[0],
            f"{clusterware.OLR[0]} does not exist, and {' and '.join(named)} are Grid homes",
        )
    return named[0] if named else None


def _read_software(host: Host) -> Traits:
    traits: Traits = {
        "kernel": attempt(lambda: host.read_text(RELEASE).strip()),
        "os": attempt(lambda: os_release.parse(host.read_text(OS_RELEASE)).get("PRETTY_NAME", "")),
        "core_pattern": attempt(lambda: host.read_text(CORE_PATTERN).strip()),
        "core_uses_pid": attempt(host.read_number, CORE_USES_PID),
    }
    homes = attempt(oracle_homes.read_homes, host, ())
    traits["oracle_homes"] = attempt(lambda: ", ".join(home.path for home in known(homes)))
    grid = attempt(_grid_home, host)
    if grid is not None:
        # oratab has a line of it only where ASM was configured manually or by an old release.
        traits[GRID_HOME] = grid
        traits[GRID_PATCHES] = (
            grid if isinstance(grid, HostproofError) else attempt(_read_patches, host, grid)
        )
    for home in if_known(homes, []):
        if home.path != grid:
            traits[f"patches {home.path}"] = attempt(_read_patches, host, home.path)
    return traits


def _read_patches(host: Host, home: str) -> str:
    """Numbers of the patches in the inventory of the home; raises where it has no inventory."""
    names = unless_absent(attempt(host.list_dir, home + "/inventory/oneoffs"), None)
    if names is None:
        # A home that does not exist, or is not mounted, can have patches.
        unless_newer(attempt(host.list_dir, home + "/inventory"), [])
        return ""
    return ", ".join(sorted(name for name in names if _PATCH.match(name)))


def _read_huge_pages(host: Host, memory: Answer[Dict[str, int]]) -> Traits:
    pool = attempt(lambda: meminfo.pool(known(memory)))
    if isinstance(pool, HostproofError):
        return {"huge_pages": pool}
    traits: Traits = {"huge_pages": pool.total, "huge_page_size_kib": pool.page_size >> 10}
    nodes = attempt(numa.read_node_pools, host, pool.page_size)
    if isinstance(nodes, HostproofError):
        traits["huge_pages_by_numa_node"] = nodes
    elif nodes:
        traits["huge_pages_by_numa_node"] = ", ".join(f"{node.name} {node.pages}" for node in nodes)
    return traits


def _read_network(host: Host) -> Traits:
    interfaces = attempt(interface_versions.read, host)
    if isinstance(interfaces, HostproofError):
        return {"interfaces": interfaces}
    traits: Traits = {}
    for interface in interfaces:
        traits[f"mtu {interface.name}"] = interface.mtu
        if interface.bonding is not None:
            traits[f"bonding {interface.name}"] = interface.bonding
        if interface.has_card:
            driver = interface.driver
            traits[f"driver {interface.name}"] = attempt(lambda d=driver: known(d).name)
            traits[f"firmware {interface.name}"] = attempt(lambda d=driver: known(d).firmware)
    addresses = attempt(_addresses_of_nodes, host, [interface.name for interface in interfaces])
    if isinstance(addresses, HostproofError):
        return {**traits, "subnets": addresses}
    subnets: Dict[str, Set[str]] = {}
    for address in addresses:
        # A subnet of one address differs between nodes.
        if address.network.num_addresses > 1:
            subnets.setdefault(address.interface, set()).add(str(address.network))
    for name, several in subnets.items():
        traits[f"subnets {name}"] = ", ".join(sorted(several))
    return traits


def _read_addresses(host: Host) -> str:
    names = [interface.name for interface in interface_versions.read(host)]
    return ", ".join(sorted({address.address for address in _addresses_of_nodes(host, names)}))


def _addresses_of_nodes(host: Host, names: Sequence[str]) -> List[ip_addr.Address]:
    """Without link-local addresses, which an interface or Clusterware gives itself."""
    if not names:
        return []  # AIX has no program ip
    return [
        address._replace(interface=name)
        for address in devices.read_addresses(host)
        for name in [address.interface.partition("@")[0]]
        if name in names and not address.network.is_link_local
    ]


def _read_accounts(host: Host) -> Traits:
    """Uid, gid and groups of the account. None if it does not exist."""
    traits: Traits = {}
    for name in ACCOUNTS:
        account = attempt(lambda n=name: limits.read_accounts(host, [n]).get(n))
        if isinstance(account, HostproofError):
            traits[f"uid_gid {name}"] = account
        elif account is None:
            traits[f"uid_gid {name}"] = None
        else:
            traits[f"uid_gid {name}"] = f"{account.uid}:{account.gid}"
            traits[f"groups {name}"] = " ".join(sorted(account.groups))
            gids = attempt(_read_gids, host, name)
            if not isinstance(gids, NotRecorded):
                traits[f"gids {name}"] = gids
    return traits


def _read_gids(host: Host, name: str) -> str:
    return " ".join(sorted(host.read_output(["id", "-G", name]).split()))


def _read_ssh(host: Host, policy: Policy, cluster: Answer[Optional[Cluster]]) -> Ssh:
    """Logs in on other nodes, only if the policy names accounts."""
    logins: Dict[Tuple[str, str], Answer[str]] = {}
    if policy.ssh_accounts and isinstance(cluster, Cluster):
        for node in others(cluster)[:_MOST_NODES]:
            for account in policy.ssh_accounts:
                logins[account, node] = attempt(_log_in, host, account, node)
    return Ssh(logins, attempt(host.stat, SCP))


def others(cluster: Cluster) -> List[str]:
    own = cluster.node.lower()
    return [
        node
        for node in cluster.nodes
        if node.lower() not in (own, own.partition(".")[0])
        and node.partition(".")[0].lower() != own.partition(".")[0]
    ]


def login_of(account: str, node: str) -> str:
    return f"log in on {node} as {account} with ssh"


def _log_in(host: Host, account: str, node: str) -> str:
    name = login_of(account, node)
    if not _HOST_NAME.match(node):
        raise Unanswered("command:" + name, f"{kind_of(node)} is not the name of a node")
    command = Command(
        name, ("ssh", *_SSH_OPTIONS, node, "true"), user=account, timeout=_SSH_SECONDS
    )
    output = host.ask(command)
    message = " ".join(output.stderr.split())[-_LONGEST:]
    if output.rc != 0:
        return message or f"ssh ended with {output.rc}"
    return "its profile prints text, which breaks scp" if output.stdout else ""


def _read_clock(host: Host, cluster: Answer[Optional[Cluster]]) -> Traits:
    source = attempt(lambda: host.read_text(CLOCK_SOURCE).strip())
    return {
        "clock_source": None if isinstance(source, Absent) else source,
        "time_daemon": attempt(_time_daemons, host),
        "time_zone": attempt(time_zones.of_system, host),
        "TZ of Clusterware and instances": attempt(_time_zones_of_oracle, host, cluster),
    }


def _time_zones_of_oracle(host: Host, cluster: Answer[Optional[Cluster]]) -> Optional[str]:
    """TZ in the file from which Clusterware starts instances, and of what runs. None without
    both."""
    configured = time_zones.of_clusterware(host, existing(cluster).node)
    zones = set() if configured is None else {configured}
    for process in clusterware.css_daemons(host) + monitors.monitors(host):
        zones.add(host.environment(process.pid, ["TZ"]).get("TZ") or time_zones.NOT_SET)
    return ", ".join(sorted(zones)) or None


def _time_daemons(host: Host) -> str:
    matches = [
        _DAEMON.search(process.argv0)
        for process in host.processes("time", TIME_DAEMONS, identity.TIME_OR_CLUSTERWARE)
    ]
    return ", ".join(sorted({match.group(2) for match in matches if match})) or "none"
