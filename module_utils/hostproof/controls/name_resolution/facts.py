# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of names: its files, and what it and its name servers answer."""

import re
from itertools import chain
from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import HostproofError, ParseError, Unanswered
from ...parsers.net import ip_addr
from ...parsers.net.listening_sockets import Listening
from ...parsers.oracle import crsconfig_params
from ...probes.net import devices, host_names, listening
from ...probes.net.host_names import Found
from ...probes.nfs import nfs_files
from ...probes.oracle import clusterware, listeners, oracle_homes, releases
from .parsers import hosts_file, nsswitch, resolv_conf
from .parsers.dns_message import Reply
from .policy import MOST, Policy
from .probes import cloud_init, name_service, tcp_connections
from .probes.zeroconf import Proxyt, Zeroconf, read_proxyt
from .probes.zeroconf import read as read_zeroconf

HOSTNAME = "/proc/sys/kernel/hostname"
STATIC = "/etc/hostname"
HOSTS = "/etc/hosts"
NSSWITCH = "/etc/nsswitch.conf"
RESOLV_CONF = "/etc/resolv.conf"
SOCKETS = listening.KEY
#: Maximum number of search domains that are used (glibc before 2.26 used six).
_SEARCHED = 6
_WRITER = re.compile(
    r"^[#;].*?(NetworkManager|systemd-resolved|resolvconf|netconfig|cloud-init|dhclient|dhcpcd)",
    re.MULTILINE | re.IGNORECASE,
)


class Cluster(NamedTuple):
    """``name`` is None where the host is in no cluster that it knows; ``members`` are public names
    and those of VIPs, ``vips`` the latter as Clusterware has them. ``source`` says in words who
    named them."""

    name: Optional[str]
    scan: Tuple[str, ...]
    members: Tuple[str, ...]
    source: str
    vips: Tuple[str, ...] = ()


class Endpoint(NamedTuple):
    """Where listener.ora has a listener listen."""

    listener: str
    name: str
    port: str
    evidence: Tuple[str, ...]


class Facts(NamedTuple):
    """What the host showed. Every Answer may hold the error that replaces it.

    Where ``wanted`` is not true nothing else was queried. ``writer`` is who says in resolv.conf
    that it writes it. ``template`` is what cloud-init writes to /etc/hosts, None where it does not.
    ``replies`` are by server and name, ``asked`` by a name the forms of it that
    servers were queried."""

    wanted: Answer[bool]
    own: Answer[str] = ""
    static: Answer[Optional[str]] = None
    hosts: Answer[hosts_file.Hosts] = hosts_file.Hosts([], [])
    template: Answer[Optional[cloud_init.Template]] = None
    order: Answer[Optional[List[nsswitch.Source]]] = None
    resolver: Answer[resolv_conf.Resolver] = ParseError("resolv.conf", "not asked")
    writer: str = ""
    addresses: Answer[List[ip_addr.Address]] = []
    cluster: Answer[Cluster] = Cluster(None, (), (), "")
    endpoints: Answer[List[Endpoint]] = []
    sockets: Answer[List[Listening]] = []
    found: Dict[str, Answer[Found]] = {}
    back: Dict[str, Answer[Tuple[str, ...]]] = {}
    asked: Dict[str, Tuple[str, ...]] = {}
    asked_members: Dict[str, Tuple[str, ...]] = {}
    replies: Dict[Tuple[str, str], Answer[Reply]] = {}
    connections: Answer[Dict[str, str]] = {}
    zeroconf: Zeroconf = Zeroconf((), 0, (), False)
    proxyt: Proxyt = Proxyt(False, 0)


def read(host: Host, policy: Policy) -> Facts:
    """Look at everything; where no Oracle is, and none announced, no name is queried."""
    required = attempt(_is_wanted, host, policy)
    if required is not True:
        return Facts(required)
    own = attempt(_read_own, host)
    text = attempt(host.read_text, RESOLV_CONF)
    lines = attempt(host.read_text, HOSTS)
    resolver = attempt(lambda: resolv_conf.parse(unless_absent(text, "")))
    cluster = attempt(_read_cluster, host, policy)
    endpoints = attempt(_read_endpoints, host)
    members = if_known(cluster, Cluster(None, (), (), ""))
    names = [if_known(own, ""), *members.scan, *members.members]
    names += [endpoint.name for endpoint in if_known(endpoints, [])]
    lookups = host_names.look_up(host, [name for name in dict.fromkeys(names) if name][: 2 * MOST])
    own_found = lookups.get(if_known(own, ""))
    addresses = own_found.addresses if isinstance(own_found, Found) else ()
    queries = _forms(members.scan, own, own_found, resolver)
    asked_members = _forms(members.members, own, own_found, resolver) if members.members else {}
    replies = _ask_servers(host, resolver, queries, asked_members)
    return Facts(
        wanted=True,
        own=own,
        static=attempt(_read_static, host),
        hosts=attempt(lambda: hosts_file.parse(known(lines))),
        template=attempt(cloud_init.read, host, if_known(lines, "")),
        order=attempt(_read_order, host),
        resolver=resolver,
        writer=if_known(attempt(_writer, host, if_known(text, "")), ""),
        addresses=attempt(devices.read_addresses, host),
        cluster=cluster,
        endpoints=endpoints,
        sockets=attempt(listening.read, host) if if_known(endpoints, []) else [],
        found=lookups,
        back=host_names.look_back(host, addresses[:8]),
        asked=queries,
        asked_members=asked_members,
        replies=replies,
        connections=attempt(_connect, host, policy, members.scan, lookups),
        zeroconf=read_zeroconf(host),
        proxyt=read_proxyt(host),
    )


def _ask_servers(
    host: Host,
    resolver: Answer[resolv_conf.Resolver],
    queries: Dict[str, Tuple[str, ...]],
    queries_of_members: Dict[str, Tuple[str, ...]],
) -> Dict[Tuple[str, str], Answer[Reply]]:
    servers = resolver.servers if isinstance(resolver, resolv_conf.Resolver) else ()
    questions = list(dict.fromkeys(chain.from_iterable(queries.values())))
    replies = name_service.ask_servers(host, servers, questions)
    more = dict.fromkeys(chain.from_iterable(queries_of_members.values()))
    # A silent server costs seconds for each name, and name_servers reports it.
    live = [server for server in servers if _answers(replies, server)]
    unasked = [form for form in more if form not in questions]
    replies.update(name_service.ask_servers(host, live, unasked))
    return replies


def _read_own(host: Host) -> str:
    name = host.read_text(HOSTNAME).strip()
    if not name:
        raise Unanswered("file:" + HOSTNAME, "the kernel has no host name: set one")
    return name


def _read_static(host: Host) -> Optional[str]:
    """The name of hostname(5): the first line that is neither empty nor a comment."""
    text = unless_absent(attempt(host.read_text, STATIC), "") or ""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in lines if line and not line.startswith("#")), None)


def _is_wanted(host: Host, policy: Policy) -> bool:
    host.read_text(HOSTNAME)  # of Linux only
    named = policy.profile is not None or policy.scan_names or policy.cluster_names
    if named or if_known(attempt(clusterware.read_home, host), None) is not None:
        return True
    software = releases.read_software(host)
    # One of them is enough: the other can be unknown.
    signs = attempt(host.processes, "tnslsnr", listeners.TNSLSNR, identity.ORACLE)
    if if_known(signs, []) or if_known(software.monitors, []):
        return True
    if isinstance(software.monitors, HostproofError) and oracle_homes.are_listed(host):
        return True
    return software.is_there()


def _read_order(host: Host) -> Optional[List[nsswitch.Source]]:
    text: str = unless_absent(attempt(host.read_text, NSSWITCH), "")
    return nsswitch.parse_hosts(text)


def _writer(host: Host, text: str) -> str:
    """The target of resolv.conf if it is a link, and the program named in it as its writer, or
    ""."""
    target = if_known(attempt(host.real_path, RESOLV_CONF), RESOLV_CONF)
    match = _WRITER.search(text[:4096])
    words = [target] if target != RESOLV_CONF else []
    return ", ".join(words + ([match.group(1)] if match else []))


def _read_cluster(host: Host, policy: Policy) -> Cluster:
    """As the policy has it, else as root.sh of Grid Infrastructure was told."""
    if policy.scan_names is not None and policy.cluster_names is not None:
        return Cluster(None, policy.scan_names, policy.cluster_names, "the policy")
    home = clusterware.read_home(host)
    config = crsconfig_params.parse("")
    if home is not None:
        config = crsconfig_params.parse(
            nfs_files.read_text(host, home + crsconfig_params.FILE, record=crsconfig_params.kept)
        )
    scan = (config.scan,) if config.scan else ()
    members = config.nodes + config.vips if config.cluster else ()
    if len(members) > MOST:
        raise ParseError("crsconfig_params", f"more than {MOST} names of nodes and VIPs")
    return Cluster(
        name=config.cluster if config.nodes else None,
        scan=scan if policy.scan_names is None else policy.scan_names,
        members=members if policy.cluster_names is None else policy.cluster_names,
        source="crsconfig_params of Clusterware",
        vips=config.vips if config.cluster else (),
    )


def _read_endpoints(host: Host) -> List[Endpoint]:
    """Hostnames in listener.ora; addresses need no name resolution."""
    endpoints = []
    for listener in listeners.read_listeners(host):
        for parameter in listener.parameters(listener.name):
            for address in parameter.inside("ADDRESS"):
                name, port = address.text("HOST") or "", address.text("PORT") or ""
                if name and host_names.is_name(name) and not _is_dotted_number(name):
                    evidence = [key for file in listener.files() for key in file.evidence()]
                    endpoints.append(Endpoint(listener.name, name, port, tuple(evidence)))
    if len(endpoints) > MOST:
        raise ParseError("listener.ora", f"more than {MOST} addresses")
    return endpoints


def _is_dotted_number(name: str) -> bool:
    return name.replace(".", "").isdecimal()


def _forms(
    scan: Tuple[str, ...],
    own: Answer[str],
    own_found: Optional[Answer[Found]],
    resolver: Answer[resolv_conf.Resolver],
) -> Dict[str, Tuple[str, ...]]:
    """The names to ask servers for: SCANs, else the own one; each as programs complete it."""
    if isinstance(resolver, HostproofError) or isinstance(own, HostproofError):
        return {}
    canonical = own_found.name if isinstance(own_found, Found) else ""
    names = scan or ((canonical,) if "." in canonical else (own,))
    domain = own.partition(".")[2] or canonical.partition(".")[2]
    search = resolver.search[:_SEARCHED] or ((domain,) if domain else ())
    return {name: _completed(name, search) for name in names}


def _completed(name: str, search: Tuple[str, ...]) -> Tuple[str, ...]:
    if "." in name or not search:
        return (name,)
    return tuple(f"{name}.{suffix.strip('.')}" for suffix in search)


def _connect(
    host: Host, policy: Policy, scan: Tuple[str, ...], lookups: Dict[str, Answer[Found]]
) -> Dict[str, str]:
    """Opens connections, only if the policy has a port."""
    if policy.scan_port is None:
        return {}
    named = [lookups[name] for name in scan if name in lookups]
    addresses = [text for lookup in named if isinstance(lookup, Found) for text in lookup.addresses]
    unique = list(dict.fromkeys(addresses))[:MOST]
    return tcp_connections.connect_to(host, unique, policy.scan_port) if unique else {}


def _answers(replies: Dict[Tuple[str, str], Answer[Reply]], server: str) -> bool:
    return any(key[0] == server and isinstance(reply, Reply) for key, reply in replies.items())


def of_server(facts: Facts, server: str, name: str) -> Reply:
    """What a server states of a name: its first form with addresses, else one that exists."""
    forms = facts.asked.get(name) or facts.asked_members[name]
    replies = [known(facts.replies[server, form]) for form in forms]
    return min(replies, key=lambda reply: (not reply.addresses, reply.code))
