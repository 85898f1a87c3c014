# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""IP interfaces of AIX and Solaris that carry storage and the interconnect.

Sources: AIX Commands Reference and Oracle Solaris man pages, route; Oracle Clusterware
Administration and Deployment Guide, location of ocr.loc.
"""

import ipaddress
import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ....collect.answer import attempt, known
from ....collect.host import Host, Output
from ....errors import Absent, HostproofError, Unanswered, kind_of
from ....parsers.net.address import is_address
from ....parsers.nfs.nfs_options import AIX, SOLARIS
from ....probes.net.network_interfaces import INTERCONNECT, STORAGE
from ....probes.nfs import nfs_mounted, nfs_persisted
from ..parsers import route_get

#: Files with the location of the Oracle Cluster Registry. They exist on hosts of a cluster.
_OCR = {AIX: "/etc/oracle/ocr.loc", SOLARIS: "/var/opt/oracle/ocr.loc"}


class Route(NamedTuple):
    """``interface`` is the IP interface. ``address`` is the queried address of the other end, ""
    for the interconnect. ``gateway`` is None if the other end is on the link."""

    role: str
    what: str
    address: str
    interface: str
    gateway: Optional[str]
    evidence: Tuple[str, ...]


def read_routes(
    host: Host, system: str, interconnect: Optional[Sequence[str]]
) -> Tuple[List[Route], List[HostproofError]]:
    """The routes, and the reasons if routes can be missing. ``interconnect`` is from the policy."""
    routes: List[Route] = []
    unknown: List[HostproofError] = []
    servers: Dict[str, Tuple[List[str], Tuple[str, ...]]] = {}
    for read in (_mounted, _at_boot):
        mounts = attempt(read, host, system)
        if isinstance(mounts, HostproofError):
            unknown.append(mounts)
            continue
        for server, path, evidence in mounts:
            paths, _ = servers.setdefault(server, ([], evidence))
            if path not in paths:
                paths.append(path)
    for server in sorted(servers):
        paths, evidence = servers[server]
        what = ", ".join("NFS " + path for path in paths)
        route = attempt(_route_to, host, STORAGE, what, server, evidence)
        if isinstance(route, HostproofError):
            unknown.append(route)
        elif route is not None:
            routes.append(route)
    private = attempt(_interconnect, host, system, interconnect)
    if isinstance(private, HostproofError):
        unknown.append(private)
    else:
        routes += private
    return routes, unknown


def _mounted(host: Host, system: str) -> List[Tuple[str, str, Tuple[str, ...]]]:
    return [
        (_server(mount.source), mount.path, mount.evidence)
        for mount in nfs_mounted.read_mounted(host, system)
    ]


def _at_boot(host: Host, system: str) -> List[Tuple[str, str, Tuple[str, ...]]]:
    return [
        (_server(entry.source), entry.path, entry.evidence)
        for entry in known(nfs_persisted.read_persisted(host, system).entries)
        if entry.at_boot and _server(entry.source)
    ]


def printed(host: Host, argv: List[str]) -> str:
    """Output of a command. Raises if the command does not exist: this is not an empty output."""
    output = _run(host, argv)
    if output.rc != 0:
        key = "command:" + " ".join(argv)
        raise Unanswered(key, f"{argv[0]} ended with {output.rc}: {_words(output)}")
    return output.stdout


def _run(host: Host, argv: List[str]) -> Output:
    output = attempt(host.run, argv)
    if isinstance(output, Absent):
        raise Unanswered("command:" + " ".join(argv), f"the command {argv[0]} was not found")
    ran: Output = known(output)
    return ran


def _words(output: Output) -> str:
    return " ".join((output.stdout + output.stderr).split())[:200]


def _server(source: str) -> str:
    return source.rpartition(":/")[0].strip("[]")


def _route_to(
    host: Host, role: str, what: str, address: str, evidence: Tuple[str, ...]
) -> Optional[Route]:
    """The route to an address. None for an address of this host."""
    argv = ["route", "-n", "get", address]
    key = "command:" + " ".join(argv)
    if not re.match(r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$", address):
        raise Unanswered(key, f"{kind_of(address)} is not the name of a server")
    output = _run(host, argv)
    if output.rc != 0:
        raise Unanswered(key, f"no route to {address} is known: {_words(output)}")
    route = route_get.parse(output.stdout)
    if route.interface.startswith("lo"):
        return None
    named = route.address if is_address(route.address) else address
    return Route(role, what, named, route.interface, route.gateway, evidence + (key,))


def _interconnect(host: Host, system: str, items: Optional[Sequence[str]]) -> List[Route]:
    if items is None:
        place = _OCR[system]
        if isinstance(attempt(host.stat, place), Absent):
            return []
        raise Unanswered(
            "stat:" + place,
            f"{place} says that Clusterware is configured, and which interfaces it uses is not "
            f"asked on {system}: name them in flow_control_interconnect",
        )
    routes = []
    for item in items:
        if "/" not in item:
            routes.append(Route(INTERCONNECT, "interconnect", "", item, None, ()))
            continue
        network = ipaddress.ip_network(item)
        first = str(next(iter(network.hosts()), network.network_address))
        route = _route_to(host, INTERCONNECT, "interconnect " + item, first, ())
        # A gateway means that this host is not in the network.
        if route is not None and route.gateway is None:
            routes.append(route._replace(address=""))
    return routes
