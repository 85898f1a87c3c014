# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of the cluster: SCAN by DNS, and what this node is told of nodes and VIPs. The same
answers on all nodes are compared when the run has ended, from ``values``
(plugin_utils/hostproof_controller/cluster)."""

import ipaddress
from typing import Any, Dict, List, Optional, Set

from ...collect.answer import if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Rules, Skip, Subjects, Verdict, undetermined
from ...evaluate.finding import FAIL, PASS, status_for
from ...probes.net import devices
from ...probes.net.host_names import Found
from .facts import HOSTS, Facts, of_server
from .parsers.dns_message import NO_SUCH_NAME
from .parsers.hosts_file import Entry
from .parsers.resolv_conf import Resolver
from .policy import NAME, Policy
from .probes import tcp_connections
from .probes.name_service import key_of
from .subjects import (
    GUIDE,
    asks_dns,
    in_hosts,
    listed,
    persisted,
    places,
    short,
    skip_unmanaged,
    strays,
)

rules: Rules[Facts, Policy] = Rules(NAME)

_SILENT = "is silent"
#: The servers are queried for IPv4 addresses only.
_NO_IPV4 = "has no IPv4 address"

_NONE = (
    "No name of a cluster is known: no Clusterware was configured here that names any, and "
    "name_resolution_scan_names and name_resolution_cluster_names name none."
)


def _scans(facts: Facts, policy: Policy) -> List[str]:
    skip_unmanaged("scan", policy)
    return list(known(facts.cluster).scan)


def _members(facts: Facts, policy: Policy) -> List[str]:
    skip_unmanaged("cluster_names", policy)
    return list(known(facts.cluster).members)


SCANS = Subjects(_scans, none=_NONE, name=str)


def _scan_listeners(facts: Facts, policy: Policy) -> List[str]:
    skip_unmanaged("scan_listeners", policy)
    if policy.scan_port is None:
        raise Skip("name_resolution_scan_port is unmanaged: an audit opens no connection.")
    return list(known(facts.cluster).scan)


SCAN_LISTENERS = Subjects(_scan_listeners, none=_NONE, name=str)
MEMBERS = Subjects(_members, none=_NONE, name=str)


def _values(name: str, lookup: Any) -> Dict[str, Any]:
    """The values to compare with those of other nodes; the order may differ."""
    addresses = sorted(lookup.addresses) if isinstance(lookup, Found) else None
    return {f"addresses of {name}": None if addresses is None else listed(addresses)}


@rules.check(
    "name_resolution.scan",
    "Every name server returns all SCAN addresses",
    "SCAN addresses are incomplete, inconsistent or in /etc/hosts",
    severity="high",
    takes_effect="now",
    why="Lookups fail on a server that does not know the SCAN. With /etc/hosts, clients get "
    "one address and lose the cluster with that node.",
    reference=GUIDE + "Confirming the DNS Configuration for SCAN; PRVG-10048",
    each=SCANS,
    because_of=("name_resolution.name_servers", "name_resolution.search_order"),
)
def scan(name: str, facts: Facts, policy: Policy) -> Verdict:
    lookup: Found = known(facts.found[name])
    # The queries of the servers depend on it.
    known(facts.own)
    resolver: Resolver = known(facts.resolver)
    expected = policy.scan_address_count
    lines = in_hosts(facts, name)
    replies: Dict[str, Any] = {}
    if asks_dns(facts):
        replies = {server: _addresses_or_reason(facts, server, name) for server in resolver.servers}
    problems = _scan_problems(facts, lookup, lines, replies, expected)
    if not problems and lookup.addresses and not _ipv4(lookup):
        unknown = Unanswered(
            "command:getent ahosts " + name,
            f"no server is queried for IPv6, and {name} has only these",
        )
        return undetermined(unknown)._replace(values=_values(name, lookup))
    outside = _outside(lookup, [address.network for address in known(facts.addresses)])
    remarks = [f"of no network of this host: {listed(outside)}"] if outside else []
    why = "; ".join(problems + remarks)
    return Verdict(
        status_for(problems, remarks),
        f"{why}.",
        advice=Advice(_scan_steps(name, facts, expected, lines, problems)),
        desired=f"{expected} addresses by DNS",
        persisted=persisted(lines),
        running=f"{listed(lookup.addresses)}; "
        + "; ".join(
            f"{server}: {text if isinstance(text, str) else listed(text)}"
            for server, text in replies.items()
        ),
        evidence=["command:getent ahosts " + name, "file:" + HOSTS]
        + [key_of(server, form) for server in resolver.servers for form in facts.asked[name]],
        values=_values(name, lookup),
    )


def _ipv4(lookup: Found) -> Set[str]:
    return {text for text in lookup.addresses if ":" not in text}


def _scan_problems(
    facts: Facts, lookup: Found, lines: List[Entry], replies: Dict[str, Any], expected: int
) -> List[str]:
    """The problems of the replies of the servers, and of the addresses that this host resolves."""
    ipv4 = _ipv4(lookup)
    is_ipv6 = bool(lookup.addresses) and not ipv4
    without = {server: text for server, text in replies.items() if isinstance(text, str)}
    answers = {server: set(text) for server, text in replies.items() if server not in without}
    problems = [] if asks_dns(facts) else ["DNS is not asked"]
    problems += [
        f"{server} {text}" for server, text in without.items() if text != _NO_IPV4 or not is_ipv6
    ]
    problems += _differing(answers, expected)
    if lines:
        problems.append(f"{HOSTS} has it, which hides DNS{places(lines)}")
    elif not lookup.addresses:
        problems.append("this host does not find it")
    elif answers and ipv4 not in answers.values():
        problems.append("this host resolves other addresses than its name servers return")
    if is_ipv6 and len(lookup.addresses) != expected:
        problems.append(f"this host resolves {len(lookup.addresses)} of {expected} addresses")
    return problems


def _differing(answers: Dict[str, Set[str]], expected: int) -> List[str]:
    """The servers with another number of addresses, and whether they differ from each other."""
    problems = [
        f"{server} has {len(those)} of {expected} addresses"
        for server, those in answers.items()
        if len(those) != expected
    ]
    if len(set(map(frozenset, answers.values()))) > 1:
        problems.append("the servers do not say the same")
    return problems


def _scan_steps(
    name: str, facts: Facts, expected: int, lines: List[Entry], problems: List[str]
) -> List[Step]:
    if not problems:
        return [Ask(f"compare the addresses of {name} in DNS with the networks of the cluster")]
    steps: List[Step] = []
    if any(not problem.startswith(HOSTS) for problem in problems):
        text = f"give {name} its {expected} addresses (A or AAAA records) on every name server"
        steps.append(Ask(text))
    if not asks_dns(facts):
        steps.append(Ask("let the line hosts: of /etc/nsswitch.conf query DNS"))
    if lines:
        numbers = listed([str(entry.line) for entry in lines])
        # Until DNS has the records, clients on this host need the line.
        what = f"remove {name} from {HOSTS} (line {numbers}) of every node when DNS has it"
        steps.append(Edit(HOSTS, what=what))
    return steps


def _addresses_or_reason(facts: Facts, server: str, name: str) -> Any:
    """The addresses that a server has, or in words why it has none."""
    try:
        reply = of_server(facts, server, name)
    except Absent as problem:
        return f"{_SILENT} ({str(problem).rstrip('.')})"
    if not reply.addresses:
        does = "knows no such name" if reply.code == NO_SUCH_NAME else _NO_IPV4
        return does if reply.code in (0, NO_SUCH_NAME) else f"answers with code {reply.code}"
    return reply.addresses


@rules.check(
    "name_resolution.scan_listeners",
    "SCAN listeners accept TCP connections from this host",
    "A SCAN listener accepts no TCP connection from this host",
    severity="high",
    takes_effect="now",
    why="Clients on this node, and the database of the node that registers there, do not reach the "
    "SCAN listener.",
    reference=GUIDE + "SCAN; CVU Checking TCP connectivity to SCAN Listeners",
    each=SCAN_LISTENERS,
    because_of=("name_resolution.scan", "firewall.ports"),
)
def scan_listeners(name: str, facts: Facts, policy: Policy) -> Verdict:
    lookup: Found = known(facts.found[name])
    connections = known(facts.connections)
    if not lookup.addresses:
        raise Unanswered("command:getent ahosts " + name, f"{name} does not resolve")
    results = {address: connections[address] for address in lookup.addresses}
    closed = [
        f"{address}: {text}" for address, text in results.items() if text != tcp_connections.OPEN
    ]
    return Verdict(
        FAIL if closed else PASS,
        f"Port {policy.scan_port}: {listed(closed)}.",
        advice=Advice(
            [
                Ask(
                    "start the SCAN listener of the address (srvctl start scan_listener), or open "
                    f"port {policy.scan_port} in the firewall of the node that has the address"
                )
            ]
        ),
        desired=f"connections to port {policy.scan_port}",
        in_use=f"{len(results) - len(closed)} of {len(results)} addresses accept one",
        evidence=[tcp_connections.KEY, "command:getent ahosts " + name],
    )


@rules.check(
    "name_resolution.cluster_names",
    "All node and VIP names of the cluster resolve correctly",
    "A node or VIP name of the cluster does not resolve correctly",
    severity="high",
    takes_effect="now",
    why="When a service moves to that node, this node connects to itself or to nothing.",
    reference=GUIDE + "IP Name and Address Requirements; MOS 1054902.1; CVU VIP "
    "Subnet configuration check, PRVG-10048",
    each=MEMBERS,
    because_of=(
        "name_resolution.name_servers",
        "name_resolution.search_order",
        "name_resolution.hostname_address",
    ),
)
def cluster_names(name: str, facts: Facts, _policy: Policy) -> Verdict:
    answer = facts.found[name]
    if isinstance(answer, HostproofError):
        return undetermined(answer)._replace(values=_values(name, answer))
    lookup: Found = answer
    astray = strays(lookup.addresses)
    shared = _sharing(facts, name, lookup)
    replies = _by_server(facts, name)
    problems = _member_problems(lookup, astray, shared) + _disagreement(replies)
    is_vip = name in known(facts.cluster).vips
    if is_vip and not problems:
        problems = _outside_public(facts, lookup)
    return Verdict(
        status_for(problems),
        f"{'; '.join(problems)}.",
        advice=Advice(_record_steps(facts, name, [] if astray else shared)),
        desired=f"a separate address{' in the public subnet' if is_vip else ''}, as "
        f"{known(facts.cluster).source} names it",
        # Not in separate layers: layers are compared, but a node may have a line only in its file.
        running=f"{listed(lookup.addresses, 'not resolved')}; {persisted(in_hosts(facts, name))}",
        evidence=["command:getent ahosts " + name, "file:" + HOSTS]
        + [key_of(server, form) for server in replies for form in facts.asked_members[name]]
        + ([devices.ADDRESSES_KEY] if is_vip or shared else []),
        values=_values(name, lookup),
    )


def _member_problems(lookup: Found, astray: List[str], shared: List[str]) -> List[str]:
    if not lookup.addresses:
        return ["it does not resolve"]
    if astray:
        return [f"it leads to {listed(astray)}"]
    return [f"{listed(shared)} has the same address"] if shared else []


def _sharing(facts: Facts, name: str, lookup: Found) -> List[str]:
    """The other members with an address of this one."""
    return [
        other
        for other in known(facts.cluster).members
        if other != name
        and isinstance(facts.found.get(other), Found)
        and set(known(facts.found[other]).addresses) & set(lookup.addresses)
    ]


def _record_steps(facts: Facts, name: str, shared: List[str]) -> List[Step]:
    """The records to correct. Where names share an address, it belongs to one of them."""
    if not shared:
        return [_record(facts, name)]
    names = [name, *shared]
    holder = _holder(facts, names)
    if holder is not None:
        return [_record(facts, other) for other in names if other != holder]
    return [
        Ask(
            f"find out which of {listed(names)} the address belongs to (ip addr show on that node, "
            "srvctl config vip), and correct the records of the others"
        )
    ]


def _holder(facts: Facts, names: List[str]) -> Optional[str]:
    """The name that the address of this host belongs to; None where that is not known.

    The first address of a subnet is the node's. One that Clusterware started, a VIP, is secondary.
    """
    own = if_known(facts.own, "")
    mine = [other for other in names if short(other) == short(own)]
    here = if_known(facts.addresses, [])
    first = {address.address for address in here if not address.is_secondary}
    second = {address.address for address in here if address.is_secondary}
    shares = set.intersection(*(set(known(facts.found[other]).addresses) for other in names))
    if mine and shares & first:
        return mine[0]
    vips = [other for other in names if other in known(facts.cluster).vips]
    return vips[0] if mine and shares & second and len(vips) == 1 else None


def _record(facts: Facts, name: str) -> Step:
    lines = in_hosts(facts, name)
    if lines:
        numbers = listed([str(entry.line) for entry in lines])
        return Edit(
            HOSTS,
            what=f"correct the address of {name} in {HOSTS} (line {numbers}) of every node, and "
            "its A record where DNS has one",
        )
    return Ask(f"correct the A record of {name} in DNS, or its line in {HOSTS} of every node")


def _by_server(facts: Facts, name: str) -> Dict[str, Any]:
    """The addresses of a name by name server, or in words why it has none. Silent servers are left
    out."""
    replies = {
        server: _addresses_or_reason(facts, server, name)
        for server in known(facts.resolver).servers
        if name in facts.asked_members and (server, facts.asked_members[name][0]) in facts.replies
    }
    return {
        server: reply for server, reply in replies.items() if not str(reply).startswith(_SILENT)
    }


def _disagreement(replies: Dict[str, Any]) -> List[str]:
    """The problem if some name servers know a name and others do not. A name may be in no DNS."""
    answers = {server: reply for server, reply in replies.items() if not isinstance(reply, str)}
    if not answers:
        return []
    problems = [f"{server} {reply}" for server, reply in replies.items() if isinstance(reply, str)]
    if len({tuple(sorted(answer)) for answer in answers.values()}) > 1:
        texts = [f"{server} {listed(answer)}" for server, answer in answers.items()]
        problems.append(f"the name servers do not say the same: {', '.join(texts)}")
    return problems


def _outside(lookup: Found, networks: List[Any]) -> List[str]:
    addresses = [(text, ipaddress.ip_address(text)) for text in lookup.addresses]
    return [text for text, address in addresses if not any(address in net for net in networks)]


def _outside_public(facts: Facts, vip: Found) -> List[str]:
    """The problem of a VIP outside the subnets of the interface that has the address of this
    host's name."""
    own = known(facts.found[known(facts.own)])
    addresses = known(facts.addresses)
    names = {address.interface for address in addresses if address.address in own.addresses}
    public = [
        address.network
        for address in addresses
        if address.interface in names
        and not address.network.is_loopback
        and not address.network.is_link_local
    ]
    if not public:
        raise Unanswered(
            devices.ADDRESSES_KEY,
            "the public subnet is unknown: no interface has an address of this host's name",
        )
    outside = _outside(vip, public)
    subnets = listed(sorted({str(network) for network in public}))
    return [f"{listed(outside)} is outside the public subnet {subnets}"] if outside else []
