# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts about the interconnect: devices, bonds, paths to other nodes, lost packets."""

import ipaddress
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, Unanswered, kind_of
from ...evaluate import profiles
from ...parsers.net import bonding, ip_addr, ip_neigh, ip_route, proc_net_snmp
from ...parsers.number import integer
from ...parsers.oracle import crsconfig_params, pfile
from ...parsers.unix import getent
from ...probes.net import devices, whole_packets
from ...probes.net.whole_packets import ProbeRoute
from ...probes.nfs import nfs_files
from ...probes.oracle import clusterware, next_start, will_start
from .policy import NAME, Peer, Policy
from .probes import group_packets
from .probes.group_packets import Heard

SNMP, NETSTAT = "/proc/net/snmp", "/proc/net/netstat"
SAMPLE = "sample:" + NAME
#: SPEED_UNKNOWN of drivers that print it without its sign.
_UNKNOWN_SPEED = 2**32 - 1
_NEIGHBORS = ["ip", "neigh", "show"]
#: Packets go to at most this number of other nodes.
_MOST_PEERS = 64
_SQLPLUS_SECONDS = 20.0
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}\Z")
LOOPBACK = f"{devices.CLASS}/lo/mtu"
_FILTER = "/proc/sys/net/ipv4/conf/{0}/rp_filter"
FILTER_FILE = "file:" + _FILTER
_ARP_IGNORE = "/proc/sys/net/ipv4/conf/{0}/arp_ignore"
ARP_FILE = "file:" + _ARP_IGNORE


class Device(NamedTuple):
    """A device of the interconnect. ``links`` are the network cards below it, ``speeds``
    their speeds in Mb/s, None if Linux does not know one. ``filter`` is its effective reverse
    path filter, ``arp_ignore`` its effective value, ``flags`` those of the kernel (IFF_NOARP).
    ``down`` are the links that are down now."""

    name: str
    what: str
    mtu: Answer[int]
    links: Answer[Tuple[str, ...]]
    speeds: Dict[str, Answer[Optional[int]]]
    bonds: Answer[Tuple[str, ...]]
    filter: Answer[int]
    arp_ignore: Answer[int]
    flags: Answer[int]
    down: Answer[List[str]]

    @property
    def evidence(self) -> Tuple[str, ...]:
        return (f"file:{devices.CLASS}/{self.name}/mtu",)


class Limited(NamedTuple):
    """The interconnect of an instance by its parameters: ``now``, and ``later`` after its next
    start; None if Clusterware gives it. ``reset`` is how an administrator removes it."""

    sid: str
    now: Answer[Optional[str]]
    later: Answer[Optional[str]]
    reset: str
    key: str


class Registered(NamedTuple):
    """A network of Clusterware on all nodes. ``here`` are the subnets that its interface has."""

    interface: str
    subnet: str
    here: Tuple[str, ...]


class Bond(NamedTuple):
    """``mode`` is the kernel's name of it, for example "active-backup"."""

    name: str
    mode: Answer[str]
    state: Answer[bonding.Bond]


class Route(NamedTuple):
    """Route to a peer. ``own``: the peer is this host. ``mtu`` is the MTU of the device, ``size``
    the size of the test packets in bytes."""

    device: str
    own: bool
    mtu: int
    size: int
    key: str


class Losses(NamedTuple):
    """Growth of the counters of both files in the time window, by group ("Udp") and name."""

    seconds: float
    counted: Dict[str, Dict[str, int]]


class Facts(NamedTuple):
    """``addresses`` of the devices exclude link-local ones. ``public`` are the public interfaces
    of Clusterware with the network cards below each that are not down. The keys of ``routes`` and
    ``ways`` are addresses of peers. A way exists only if packets were sent, and ``heard`` has only
    peers on the private IPv4 networks. ``losses`` is None if the time window is disabled.
    ``public_peers`` are the addresses among the peers that are on the public network. ``others``
    are the addresses of all other devices. ``instances`` are those of databases."""

    devices: Answer[List[Device]]
    addresses: Answer[List[ip_addr.Address]]
    registered: Answer[List[Registered]]
    public: Answer[Dict[str, Tuple[str, ...]]]
    bonds: List[Bond]
    cluster: Answer[bool]
    loopback: Answer[int]
    routes: Dict[str, Answer[Route]]
    ways: Dict[str, Answer[ProbeRoute]]
    heard: Dict[str, Answer[Heard]]
    losses: Optional[Answer[Losses]]
    peers: Answer[Tuple[Peer, ...]]
    public_peers: Tuple[str, ...]
    others: Answer[List[ip_addr.Address]]
    instances: Answer[List[Limited]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts. Packets are sent only to peers in the policy, and to other nodes if it allows
    that. Packets to groups are sent only if there is such a node."""
    interfaces = attempt(_read_devices, host, policy)
    public = attempt(_read_public_peers, host) if policy.test_nodes else ()
    public_peers = if_known(public, ())
    peers = attempt(_read_peers, host, policy, interfaces, public)
    routes = {
        peer.address: attempt(_read_route, host, peer, wanted_mtu(peer, policy, public_peers))
        for peer in if_known(peers, policy.peers)
    }
    sizes = {
        address: route.size
        for address, route in routes.items()
        if isinstance(route, Route) and not route.own
    }
    names = {bond for device in if_known(interfaces, []) for bond in if_known(device.bonds, ())}
    losses = None
    addresses = attempt(_read_addresses, host, if_known(interfaces, []))
    # First, because all nodes do it at the same time: a node that is down delays the echoes.
    heard = _read_heard(host, if_known(addresses, []), sizes, policy.multicast_seconds)
    ways = whole_packets.probe_routes(host, sizes) if sizes else {}
    if policy.window_seconds and if_known(interfaces, []):
        losses = attempt(_read_losses, host, policy.window_seconds)
    return Facts(
        devices=interfaces,
        addresses=addresses,
        registered=attempt(_read_registered, host),
        public=attempt(_read_public, host),
        bonds=[_read_bond(host, name) for name in sorted(names)],
        cluster=attempt(clusterware.may_be_node, host, profiles.announces_node(policy.profile)),
        loopback=attempt(host.read_number, LOOPBACK),
        routes=routes,
        ways=ways,
        heard=heard,
        losses=losses,
        peers=peers,
        public_peers=public_peers,
        others=attempt(_read_others, host, if_known(interfaces, [])),
        instances=attempt(_read_instances, host) if if_known(interfaces, []) else [],
    )


def _read_devices(host: Host, policy: Policy) -> List[Device]:
    names = host.list_dir(devices.CLASS)
    private = devices.private(host, policy.interfaces, "interconnect_interfaces")
    if not private and policy.interfaces is None:
        for gone in clusterware.private_interfaces(host):
            why = f"this host has no {gone}"
            raise Unanswered(clusterware.NETWORKS_KEY, why)
    return [_read_device(host, name, what, names) for name, what in dict(private).items()]


def _read_device(host: Host, name: str, what: str, names: List[str]) -> Device:
    links = attempt(devices.below, host, name, names)
    return Device(
        name=name,
        what=what,
        mtu=attempt(host.read_number, devices.place(name, "mtu")),
        links=links,
        speeds={link: attempt(_read_speed, host, link) for link in if_known(links, ())},
        bonds=attempt(lambda: _bonds_of(host, known(links))),
        filter=attempt(_read_larger, host, _FILTER, name),
        arp_ignore=attempt(_read_larger, host, _ARP_IGNORE, name),
        flags=attempt(_read_flags, host, name),
        down=attempt(lambda: [link for link in known(links) if _is_down(host, link)]),
    )


def _read_addresses(host: Host, interfaces: List[Device]) -> List[ip_addr.Address]:
    """Addresses without link-local ones, also those of Clusterware (fe80::/10, 169.254.0.0/16)."""
    if not interfaces:
        return []  # AIX has no program ip
    names = [device.name for device in interfaces]
    return [
        address._replace(interface=name)
        for address in devices.read_addresses(host)
        for name in [address.interface.partition("@")[0]]
        if name in names and not address.network.is_link_local
    ]


def _read_others(host: Host, interfaces: List[Device]) -> List[ip_addr.Address]:
    if not interfaces:
        return []
    names = [device.name for device in interfaces]
    return [
        address._replace(interface=name)
        for address in devices.read_addresses(host)
        for name in [address.interface.partition("@")[0]]
        if name not in names and not (address.network.is_link_local or address.network.is_loopback)
    ]


def _read_instances(host: Host) -> List[Limited]:
    """Running instances and stopped ones."""
    coming = will_start.read(host, next_start.Asking(_SQLPLUS_SECONDS, None))
    return [_limited(database) for database in [*known(coming.running), *known(coming.stopped)]]


def _limited(database: next_start.Database) -> Limited:
    name = next_start.CLUSTER_PARAMETERS[0]

    def later() -> Optional[str]:
        entry = pfile.effective(next_start.next_entries(database), name, database.sid)
        return entry.value if entry is not None and entry.value else None

    is_down = database.running is None
    return Limited(
        database.sid,
        None if is_down else attempt(lambda: known(database.asked).running.get(name)),
        attempt(later),
        next_start.change_of_parameter(database, name, None),
        (next_start.evidence_of(database) or ("",))[0],
    )


def _read_speed(host: Host, link: str) -> Optional[int]:
    """None if the link is down or the driver does not report its speed (-1, or EINVAL)."""
    path = devices.place(link, "speed")
    text = attempt(host.read_text, path)
    is_invalid = isinstance(text, Unanswered) and "Invalid argument" in str(text)
    if is_invalid or isinstance(text, Absent) or known(text).strip() == "-1":
        return None
    speed = host.read_number(path)
    return speed if 0 < speed < _UNKNOWN_SPEED else None


def _read_registered(host: Host) -> List[Registered]:
    networks = [entry for entry in clusterware.networks(host) if entry.node == "global"]
    addresses = devices.read_addresses(host) if networks else []
    registered = []
    for network in networks:
        clusterware.check_interface(network.interface)
        try:
            subnet = str(ipaddress.ip_address(network.subnet))
        except ValueError as problem:
            why = f"oifcfg getif has {kind_of(network.subnet)} instead of a subnet"
            raise Unanswered(clusterware.NETWORKS_KEY, why) from problem
        here = [
            str(address.network)
            for address in addresses
            if address.interface.partition("@")[0] == network.interface
            and not address.network.is_link_local
        ]
        registered.append(Registered(network.interface, subnet, tuple(here)))
    return registered


def _bonds_of(host: Host, links: Tuple[str, ...]) -> Tuple[str, ...]:
    bonds = {devices.bond_of(host, name) for name in links} - {None}
    return tuple(sorted(str(bond) for bond in bonds))


def _read_larger(host: Host, path: str, device: str) -> int:
    """The kernel uses the larger value of the device's setting and of "all"."""
    return max(host.read_number(path.format(name)) for name in (device, "all"))


def _read_flags(host: Host, device: str) -> int:
    # "0x1003"
    return integer(host.read_text(devices.place(device, "flags")).strip()[2:], 16)


def _is_down(host: Host, link: str) -> bool:
    path = devices.place(link, "operstate")
    return str(unless_absent(attempt(host.read_text, path), "")).strip() == "down"


def _read_public(host: Host) -> Dict[str, Tuple[str, ...]]:
    names = host.list_dir(devices.CLASS)
    public = [
        network.interface for network in clusterware.networks(host) if "public" in network.kinds
    ]
    links = {}
    for name in dict.fromkeys(public):
        clusterware.check_interface(name)
        below = devices.below(host, name, names)
        links[name] = tuple(link for link in below if not _is_down(host, link))
    return links


def _read_bond(host: Host, name: str) -> Bond:
    mode = attempt(devices.bonding_mode, host, name)
    return Bond(name, mode, attempt(devices.read_bond, host, name))


def wanted_mtu(peer: Peer, policy: Policy, public_peers: Tuple[str, ...]) -> Optional[int]:
    """None for the MTU of the device: interconnect_mtu is not that of the public network."""
    return peer.mtu or (None if peer.address in public_peers else policy.mtu)


def _read_peers(
    host: Host, policy: Policy, interfaces: Answer[List[Device]], public: Answer[Tuple[str, ...]]
) -> Tuple[Peer, ...]:
    peers = {peer.address: peer for peer in policy.peers}
    if policy.test_nodes:
        private = [device.name for device in known(interfaces)]
        for address in [*known(public), *_read_neighbors(host, private)]:
            peers.setdefault(address, Peer(address, None))
        if not peers:
            raise Unanswered(
                devices.ADDRESSES_KEY, "no other node is known: list nodes in interconnect_peers"
            )
    if len(peers) > _MOST_PEERS:
        raise Unanswered(devices.ADDRESSES_KEY, f"more than {_MOST_PEERS} other nodes are known")
    return tuple(peers.values())


def _read_neighbors(host: Host, names: List[str]) -> List[str]:
    """The addresses on these devices from which this host has received packets."""
    output = host.read_output(_NEIGHBORS)
    return [
        _node(neighbor.address)
        for neighbor in ip_neigh.parse(output)
        if neighbor.device in names and not is_link_local(neighbor.address)
    ]


def is_link_local(text: str) -> bool:
    return text.lower().startswith(("169.254.", "fe80:"))


def networks_in_words(addresses: Iterable[ip_addr.Address]) -> str:
    return ", ".join(f"{address.interface} {address.network}" for address in addresses)


def overlapping(pairs: Iterable[Tuple[ip_addr.Address, ip_addr.Address]]) -> List[str]:
    """The pairs of addresses whose networks overlap, in words."""
    return [
        f"{address.interface} ({address.network}) and {other.interface} ({other.network})"
        for address, other in pairs
        if address.network.overlaps(other.network)
    ]


def _node(text: str) -> str:
    try:
        return whole_packets.address_of_another(text)
    except ValueError as problem:
        raise Unanswered(devices.ADDRESSES_KEY, str(problem)) from problem


def _read_public_peers(host: Host) -> Tuple[str, ...]:
    """The addresses of the nodes by the names that Clusterware has, this host included."""
    home = clusterware.read_home(host)
    if home is None:
        return ()
    text = nfs_files.read_text(host, home + crsconfig_params.FILE, record=crsconfig_params.kept)
    nodes = []
    for name in crsconfig_params.parse(text).nodes[:_MOST_PEERS]:
        argv = ["getent", "ahosts", name]
        if not _NODE_NAME.match(name):
            raise Unanswered("command:cat " + home, f"{kind_of(name)} is not the name of a node")
        addresses = getent.parse_ahosts(host.run(argv).stdout)[1]
        if not addresses:
            raise Unanswered("command:" + " ".join(argv), f"{name} does not resolve")
        nodes += [_node(address) for address in addresses]
    return tuple(dict.fromkeys(nodes))


def _read_route(host: Host, peer: Peer, wanted_size: Optional[int]) -> Route:
    argv = ["ip", "-o", "route", "get", peer.address]
    key = "command:" + " ".join(argv)
    output = host.run(argv)
    if output.rc != 0:
        raise Unanswered(key, f"there is no route to {peer.address}: {output.stderr.strip()}")
    route = ip_route.parse(output.stdout)
    mtu = host.read_number(devices.place(route.device, "mtu"))
    size = wanted_size or mtu
    return Route(route.device, route.local or route.device == "lo", mtu, min(mtu, size), key)


def _read_heard(
    host: Host, addresses: List[ip_addr.Address], peers: Iterable[str], seconds: float
) -> Dict[str, Answer[Heard]]:
    # A network of two addresses has no broadcast address (RFC 3021).
    own = [
        address
        for address in addresses
        if address.network.version == 4 and address.network.prefixlen <= 30
    ]
    nodes = [
        peer
        for peer in peers
        if any(ipaddress.ip_address(peer) in address.network for address in own)
    ]
    return group_packets.listen(host, own, nodes, seconds) if seconds and nodes else {}


def _read_losses(host: Host, seconds: float) -> Losses:
    sample = host.sample(NAME, [SNMP, NETSTAT], [], seconds)
    counted: Dict[str, Dict[str, int]] = {}
    for path in (SNMP, NETSTAT):
        source = "file:" + path
        if source in sample.errors:
            raise Unanswered(SAMPLE, sample.errors[source])
        first, second = (
            proc_net_snmp.parse(text[source]) for text in (sample.first, sample.second)
        )
        for group, after in second.items():
            before = first.get(group, {})
            grown = {name: after[name] - before[name] for name in after if name in before}
            counted.setdefault(group, {}).update(grown)
    return Losses(sample.seconds, counted)
