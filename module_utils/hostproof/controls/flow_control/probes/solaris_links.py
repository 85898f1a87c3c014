# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The datalinks of Solaris that carry storage and the interconnect, and their flow control.

Source: Oracle Solaris man pages, dladm(8): show-link, show-phys, show-linkprop -p flowctrl.
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ....collect.answer import Answer, attempt, if_known
from ....collect.host import Host
from ....errors import Absent, HostproofError, Unanswered
from ....parsers.net.bonding import Bond
from ....parsers.nfs.nfs_options import SOLARIS
from ....probes.net.network_interfaces import Interfaces, Nic, Path
from ..parsers import dladm
from .unix_paths import Route, printed, read_routes

_LINKS = ["dladm", "show-link"]
_PHYSICAL = ["dladm", "show-phys"]
_ADDRESSES = ["dladm", "show-phys", "-m"]
_AGGREGATION = "aggr"


class Port(NamedTuple):
    """A physical datalink. ``now`` and ``at_boot`` are its property flowctrl."""

    nic: Nic
    now: Answer[dladm.Property]
    at_boot: Answer[dladm.Property]


def argv_property(link: str, persistent: bool) -> List[str]:
    return ["dladm", "show-linkprop"] + ["-P"] * persistent + ["-p", "flowctrl", link]


def read_links(
    host: Host, interconnect: Optional[Sequence[str]], every: bool = False
) -> Tuple[Interfaces, Dict[str, Port]]:
    """The counterpart of network_interfaces.read_interfaces, and flow control of each link."""
    routes, unknown = read_routes(host, SOLARIS, interconnect)
    if not routes and not every:
        return Interfaces({}, {}, [], unknown, ()), {}
    links = {link.name: link for link in dladm.parse_links(printed(host, _LINKS))}
    physical = {link.name: link for link in dladm.parse_physical(printed(host, _PHYSICAL))}
    addresses = if_known(attempt(lambda: dladm.parse_addresses(printed(host, _ADDRESSES))), {})
    paths = []
    for route in routes:
        path = attempt(_path, route, links, physical)
        if isinstance(path, HostproofError):
            unknown.append(path)
        else:
            paths.append(path)
    names = {name for path in paths for name in path.nics}
    names.update(physical if every else ())
    ports = {
        name: _port(host, physical[name], links, addresses.get(name)) for name in sorted(names)
    }
    state = Absent("command:dladm show-aggr", "the state of aggregations is not read")
    bonds: Dict[str, Answer[Bond]] = {
        port.nic.bond: state for port in ports.values() if port.nic.bond is not None
    }
    nics = {name: port.nic for name, port in ports.items()}
    return Interfaces(nics, bonds, paths, unknown, ()), ports


def _path(route: Route, links: Dict[str, dladm.Link], physical: Dict[str, dladm.Physical]) -> Path:
    key = "command:" + " ".join(_LINKS)
    device = route.interface.partition(":")[0]
    below = _below(device, links, physical)
    if not below:
        raise Unanswered(key, f"{route.interface} is not on a physical link that dladm shows")
    return Path(
        role=route.role,
        what=route.what,
        address=route.address,
        device=device,
        gateway=route.gateway,
        mac=None,
        mtu=links[device].mtu if device in links else None,
        learned_mtu=None,
        nics=below,
        evidence=route.evidence + (key,),
    )


def _below(
    device: str, links: Dict[str, dladm.Link], physical: Dict[str, dladm.Physical]
) -> Tuple[str, ...]:
    """The physical links below a VLAN, a VNIC or an aggregation."""
    names = []
    waiting: List[str] = [device]
    seen: Set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        if name in physical:
            names.append(name)
        elif name in links:
            waiting += links[name].over
    return tuple(sorted(names))


def _port(
    host: Host,
    physical: dladm.Physical,
    links: Dict[str, dladm.Link],
    mac: Optional[str],
) -> Port:
    link = links.get(physical.name)
    over = [
        each.name
        for each in links.values()
        if each.kind == _AGGREGATION and physical.name in each.over
    ]
    bond = over[0] if over else None
    nic = Nic(
        name=physical.name,
        driver=physical.device.rstrip("0123456789") or None,
        # An aggregation uses the address of one of its links; which one is not read.
        mac=mac if bond is None else None,
        permanent_mac=mac if bond is None else None,
        speed=physical.speed,
        duplex=physical.duplex,
        mtu=link.mtu if link is not None else None,
        carrier=physical.up,
        bond=bond,
        evidence=("command:" + " ".join(_PHYSICAL),),
    )
    return Port(
        nic,
        attempt(_read_property, host, physical.name, False),
        attempt(_read_property, host, physical.name, True),
    )


def _read_property(host: Host, name: str, persistent: bool) -> dladm.Property:
    result = dladm.parse_flow_control(printed(host, argv_property(name, persistent)))
    if result.link != name:
        raise Unanswered(
            "command:" + " ".join(argv_property(name, persistent)),
            f"dladm told of {result.link}, not of {name}",
        )
    return result
