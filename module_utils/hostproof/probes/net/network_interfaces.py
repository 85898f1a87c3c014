# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network interfaces of storage and interconnect, and the paths that use them.

A path leads from this host to an NFS, iSCSI or NVMe server. It uses a kernel device (a VLAN, a
bond, a bridge) and the interfaces below it, which have the cables. Sources: kernel
Documentation/ABI/testing/sysfs-class-net; Oracle Clusterware Administration, oifcfg.
"""

import ipaddress
import re
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ...collect import identity
from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.net import bonding, ethtool_permanent, ip_addr, ip_neigh, ip_route, proc_net_tcp
from ...parsers.net.address import is_address
from ...parsers.number import clipped
from ..nfs import nfs_mounted, nfs_persisted
from . import devices

_NEIGHBOURS = ["ip", "neigh", "show"]
_ISCSI = "/sys/class/iscsi_connection"
_SESSIONS = "/sys/class/iscsi_session"
#: Where open-iscsi keeps what a session is bound to: Red Hat's place, and Debian's.
_IFACES = ("/var/lib/iscsi/ifaces", "/etc/iscsi/ifaces")
_NVME = "/sys/class/nvme"
STORAGE, INTERCONNECT, PUBLIC = "storage", "interconnect", "public"
_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
_SSHD = r"(^|/)sshd\b"


class Nic(NamedTuple):
    """An interface with a cable, or an interface of a virtual machine.

    ``driver`` is None if it has no separate one. ``mac`` is the address in use, ``permanent_mac``
    the address of the hardware, None if it is not reported. ``speed`` is in Mb/s, None if unknown.
    ``carrier`` is also False if the interface is administratively down. ``bond`` is the bond that
    it is a member of.
    """

    name: str
    driver: Optional[str]
    mac: Optional[str]
    permanent_mac: Optional[str]
    speed: Optional[int]
    duplex: Optional[str]
    mtu: Optional[int]
    carrier: Optional[bool]
    bond: Optional[str]
    evidence: Tuple[str, ...]


class Path(NamedTuple):
    """A way that matters. ``what`` says what goes there, in words.

    ``address`` is the other end, "" where there is none in particular. ``mac`` is the neighbour's
    where the address is on the link. ``mtu`` is that of the device, ``learned_mtu`` what the
    kernel has learned of the way. ``nics`` are the names of the interfaces below.
    """

    role: str
    what: str
    address: str
    device: str
    gateway: Optional[str]
    mac: Optional[str]
    mtu: Optional[int]
    learned_mtu: Optional[int]
    nics: Tuple[str, ...]
    evidence: Tuple[str, ...]


class Interfaces(NamedTuple):
    """``unknown`` are reasons why there may be more paths than these.

    ``logins`` are the names of interfaces that carry an active ssh session.
    """

    nics: Dict[str, Nic]
    bonds: Dict[str, Answer[bonding.Bond]]
    paths: List[Path]
    unknown: List[HostproofError]
    logins: Answer[Tuple[str, ...]]

    def roles_of(self, name: str) -> Tuple[str, ...]:
        roles = {path.role for path in self.paths if name in path.nics}
        return tuple(role for role in (STORAGE, INTERCONNECT, PUBLIC) if role in roles)


class _Aim(NamedTuple):
    """``over`` is the interface that it is bound to, "" where the kernel's route counts."""

    role: str
    what: str
    address: str
    evidence: Tuple[str, ...]
    over: str = ""


def read_interfaces(
    host: Host, interconnect: Optional[Sequence[str]], every: bool = False
) -> Interfaces:
    """Read a Linux host. ``interconnect`` lists interfaces or networks; None uses Clusterware.

    ``every`` reads all interfaces with a separate device, also those that no known path needs.
    Absent if the host has no /sys/class/net.
    """
    names = host.list_dir(devices.CLASS)
    aims, unknown = _read_aims(host)
    neighbours = if_known(attempt(_read_neighbours, host), [])
    paths: List[Path] = []
    for aim in _once(aims):
        path = attempt(_path_to, host, aim, neighbours, names)
        if isinstance(path, HostproofError):
            unknown.append(path)
        elif path is not None:
            paths.append(path)
    addresses = attempt(devices.read_addresses, host)
    private = attempt(devices.private, host, interconnect, "flow_control_interconnect")
    if isinstance(private, HostproofError):
        unknown.append(private)
    else:
        paths += [
            _device_path(host, INTERCONNECT, device, what, names, (devices.ADDRESSES_KEY,))
            for device, what in private
        ]
    carrying = {name for path in paths for name in path.nics}
    public = if_known(attempt(lambda: _publics(host, known(addresses), names, carrying)), [])
    paths += public
    nic_names = sorted({name for path in paths for name in path.nics})
    if every:
        nic_names = sorted(set(nic_names).union(name for name in names if _has_device(host, name)))
    nics, bonds = _read_nics(host, nic_names)
    logins = attempt(lambda: _read_logins(host, names, known(addresses)))
    return Interfaces(nics, bonds, paths, unknown, logins)


# -- what matters ---------------------------------------------------------------------------------


def _read_aims(host: Host) -> Tuple[List[_Aim], List[HostproofError]]:
    """The addresses that matter, and the errors in place of others."""
    readers: Sequence[Callable[[Host], Sequence[Answer[_Aim]]]] = (
        *(_nfs_aims, _nfs_boot_aims),
        *(_iscsi_aims, _nvme_aims),
    )
    answers: List[Answer[_Aim]] = []
    for read in readers:
        result = attempt(read, host)
        answers += [result] if isinstance(result, HostproofError) else result
    aims = [answer for answer in answers if isinstance(answer, _Aim)]
    return aims, [answer for answer in answers if isinstance(answer, HostproofError)]


def _nfs_aims(host: Host) -> List[_Aim]:
    aims = []
    for mount in nfs_mounted.read_mounted(host, nfs_mounted.LINUX):
        address = re.search(r"(?:^|,)addr=([^,]+)", mount.options)
        server = mount.source.rpartition(":/")[0].strip("[]")
        aims.append(
            _Aim(
                STORAGE,
                f"NFS {mount.path}",
                address.group(1) if address else server,
                mount.evidence,
            )
        )
    return aims


def _nfs_boot_aims(host: Host) -> List[_Aim]:
    """Mounts after a reboot that are not mounted now: the names of their servers are resolved."""
    mounted = {mount.path for mount in nfs_mounted.read_mounted(host, nfs_mounted.LINUX)}
    persisted = nfs_persisted.read_persisted(host, nfs_mounted.LINUX)
    aims = []
    for entry in known(persisted.entries):
        server = entry.source.rpartition(":/")[0].strip("[]")
        if entry.at_boot and entry.path not in mounted and server:
            for address in resolve(host, server):
                aims.append(_Aim(STORAGE, "NFS " + entry.path, address, entry.evidence))
    return aims


def resolve(host: Host, server: str) -> List[str]:
    """The addresses of a name; an address is its own."""
    if is_address(server.partition("%")[0]):
        return [server]
    output = host.run(["getent", "ahosts", server])
    addresses = [line.split()[0] for line in output.stdout.splitlines() if line.strip()]
    if output.rc != 0 or not addresses:
        raise Unanswered("command:getent ahosts " + server, f"{server} has no address")
    return sorted(set(addresses))[:4]


def plain(address: str) -> str:
    """An address as Python writes it, without its zone; what is none stays as it is."""
    bare = address.partition("%")[0]
    return str(ipaddress.ip_address(bare)) if is_address(bare) else address


def _iscsi_aims(host: Host) -> List[Answer[_Aim]]:
    """The targets; a session whose interface is not known does not hide the others."""
    aims: List[Answer[_Aim]] = []
    for name in unless_absent(attempt(host.list_dir, _ISCSI), []):
        place = f"{_ISCSI}/{name}/address"
        address = unless_absent(attempt(host.read_text, place), "").strip()
        if is_address(address.partition("%")[0]):
            over = attempt(_bound_to, host, name)
            if isinstance(over, HostproofError):
                aims.append(over)
            else:
                aims.append(_Aim(STORAGE, "iSCSI target", address, ("file:" + place,), over))
    return aims


def _bound_to(host: Host, connection: str) -> str:
    """The interface of an iSCSI connection (connectionSESSION:NUMBER), "" where none is set."""
    session = connection.replace("connection", "session").partition(":")[0]
    place = f"{_SESSIONS}/{session}/ifacename"
    name = unless_absent(attempt(host.read_text, place), "").strip()
    if name in ("", "default", "<NULL>"):
        return ""
    for folder in _IFACES:
        text = unless_absent(attempt(host.read_text, f"{folder}/{name}"), "")
        device = re.search(r"^iface\.net_ifacename\s*=\s*(\S+)", text, re.MULTILINE)
        if device:
            return device.group(1)
    raise Unanswered(
        "file:" + place,
        f"the iSCSI session {session} is bound to {name}, and no file of open-iscsi says which "
        "interface that is",
    )


def _nvme_aims(host: Host) -> List[_Aim]:
    aims = []
    for name in unless_absent(attempt(host.list_dir, _NVME), []):
        folder = f"{_NVME}/{name}/"
        kind = unless_absent(attempt(host.read_text, folder + "transport"), "").strip()
        if kind in ("tcp", "rdma"):
            place = folder + "address"
            address = re.search(r"traddr=([^,\s]+)", host.read_text(place))
            if address and is_address(address.group(1).partition("%")[0]):
                aims.append(_Aim(STORAGE, "NVMe target", address.group(1), ("file:" + place,)))
    return aims


def _once(aims: List[_Aim]) -> List[_Aim]:
    """One for each address and way there; what goes there is told together."""
    joined: Dict[Tuple[str, str], _Aim] = {}
    for aim in aims:
        first = joined.get((aim.address, aim.over))
        if first is None:
            joined[aim.address, aim.over] = aim
        elif aim.what not in first.what.split(", "):
            joined[aim.address, aim.over] = first._replace(what=first.what + ", " + aim.what)
    return [joined[end] for end in sorted(joined)]


def _path_to(
    host: Host, aim: _Aim, neighbours: List[ip_neigh.Neighbour], names: List[str], source: str = ""
) -> Optional[Path]:
    """None where the address is this host's own. ``source`` is what is sent from, if it is set:
    rules of policy routing may use it."""
    argv = ["ip", "-o", "route", "get", aim.address]
    argv += (["from", source] if source else []) + (["oif", aim.over] if aim.over else [])
    key = "command:" + " ".join(argv)
    output = host.run(argv)
    if output.rc != 0:
        raise Unanswered(key, f"there is no route to {aim.address}: {output.stderr.strip()}")
    route = ip_route.parse(output.stdout)
    if route.local or route.device == "lo":
        return None
    macs = [
        neighbour.mac
        for neighbour in neighbours
        if neighbour.address == aim.address.partition("%")[0] and neighbour.device == route.device
    ]
    return Path(
        role=aim.role,
        what=aim.what,
        address=aim.address,
        device=route.device,
        gateway=route.gateway,
        mac=macs[0] if macs and route.gateway is None else None,
        mtu=if_known(attempt(host.read_number, devices.place(route.device, "mtu")), None),
        learned_mtu=route.mtu,
        nics=devices.below(host, route.device, names),
        evidence=aim.evidence + (key,),
    )


def _read_neighbours(host: Host) -> List[ip_neigh.Neighbour]:
    return ip_neigh.parse(host.run(_NEIGHBOURS).stdout)


def _publics(
    host: Host, addresses: List[ip_addr.Address], names: List[str], carrying: Set[str]
) -> List[Path]:
    """Interfaces with an address that nothing else is known of."""
    devices = sorted(
        {address.interface for address in addresses if not address.network.is_loopback}
    )
    paths = []
    for device in devices:
        name = device.partition("@")[0]
        if name not in names or name == "lo":
            continue
        path = _device_path(host, PUBLIC, name, "addresses of this host", names, ())
        rest = tuple(nic for nic in path.nics if nic not in carrying)
        if rest:
            paths.append(path._replace(nics=rest))
    return paths


def _device_path(
    host: Host, role: str, device: str, what: str, names: List[str], evidence: Tuple[str, ...]
) -> Path:
    return Path(
        role=role,
        what=what,
        address="",
        device=device,
        gateway=None,
        mac=None,
        mtu=if_known(attempt(host.read_number, devices.place(device, "mtu")), None),
        learned_mtu=None,
        nics=devices.below(host, device, names),
        evidence=evidence + (f"dir:{devices.CLASS}/{device}",),
    )


# -- what a device is on ----------------------------------------------------------------------


def _has_device(host: Host, name: str) -> bool:
    return "device" in if_known(attempt(host.list_dir, f"{devices.CLASS}/{name}"), [])


def _read_nics(
    host: Host, names: List[str]
) -> Tuple[Dict[str, Nic], Dict[str, Answer[bonding.Bond]]]:
    """The interfaces, and the bonds that they are in, by name."""
    nics: Dict[str, Nic] = {}
    bonds: Dict[str, Answer[bonding.Bond]] = {}
    for name in names:
        bond = devices.bond_of(host, name)
        if bond is not None and bond not in bonds:
            bonds[bond] = attempt(devices.read_bond, host, bond)
        nics[name] = _read_nic(host, name, bond)
    return nics, bonds


def _read_nic(host: Host, name: str, bond: Optional[str]) -> Nic:
    mac = if_known(attempt(host.read_text, devices.place(name, "address")), "").strip().lower()
    mac = mac if _MAC.match(mac) and mac != "00:00:00:00:00:00" else ""
    link = attempt(host.real_path, devices.place(name, "device/driver"))
    speed = if_known(attempt(host.read_text, devices.place(name, "speed")), "").strip()
    duplex = if_known(attempt(host.read_text, devices.place(name, "duplex")), "").strip()
    return Nic(
        name=name,
        driver=None if isinstance(link, HostproofError) else link.rpartition("/")[2],
        mac=mac or None,
        permanent_mac=if_known(attempt(_read_permanent_mac, host, name), None),
        # The kernel states -1 where it does not know.
        speed=clipped(speed) if speed.isdecimal() and 0 < clipped(speed) < 2**31 else None,
        duplex=duplex if duplex in ("full", "half") else None,
        mtu=if_known(attempt(host.read_number, devices.place(name, "mtu")), None),
        carrier=_read_carrier(host, name),
        bond=bond,
        evidence=tuple(
            "file:" + devices.place(name, attribute) for attribute in ("speed", "duplex", "mtu")
        ),
    )


def _read_permanent_mac(host: Host, name: str) -> Optional[str]:
    """Not what the kernel's bond calls so: that is the address which the member came with."""
    argv = ["ethtool", "-P", name]
    return ethtool_permanent.parse(host.read_output(argv))


def _read_carrier(host: Host, name: str) -> Optional[bool]:
    """The kernel does not answer for an interface that is down (EINVAL)."""
    carrier = if_known(attempt(host.read_text, devices.place(name, "carrier")), "").strip()
    if carrier in ("0", "1"):
        return carrier == "1"
    state = if_known(attempt(host.read_text, devices.place(name, "operstate")), "").strip()
    return False if state == "down" else None


# -- who is logged in -----------------------------------------------------------------------------


def _read_logins(host: Host, names: List[str], addresses: List[ip_addr.Address]) -> Tuple[str, ...]:
    """The interfaces below the routes to those whose connection a process of sshd holds, and those
    that hold this end's address: what comes in need not come the way that goes out."""
    holders = host.open_files("sshd", _SSHD, ("socket:",), identity.OF_ROOT)
    inodes = {path[len("socket:[") : -1] for holder in holders for path in holder.paths}
    nics: Set[str] = set()
    for local, remote in sorted(_ends(host, inodes)):
        if ipaddress.ip_address(remote).is_loopback:
            continue
        path = _path_to(host, _Aim("", "", remote, ()), [], names, local)
        nics.update(path.nics if path is not None else ())
        for address in addresses:
            if ipaddress.ip_address(address.address) == ipaddress.ip_address(local):
                nics.update(devices.below(host, address.interface.partition("@")[0], names))
    return tuple(sorted(nics))


def _ends(host: Host, inodes: Set[str]) -> Set[Tuple[str, str]]:
    """Both addresses of each TCP connection with one of the sockets."""
    ends = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        text = attempt(host.read_text, table)
        if isinstance(text, Absent):
            continue
        for connection in proc_net_tcp.parse(known(text)):
            if connection.state == proc_net_tcp.ESTABLISHED and str(connection.inode) in inodes:
                ends.add((connection.local, connection.remote))
    return ends
