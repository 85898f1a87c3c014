# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ethernet adapters of AIX that carry storage and the interconnect, and their flow control.

The IP interface enN belongs to the adapter entN, which can be a VLAN of an adapter or an
EtherChannel of several. entstat shows the flow control in use. The attribute flow_ctrl in the ODM
is applied at boot. Sources: AIX Commands Reference, entstat, lsattr and lsdev; AIX Communications
Guide, EtherChannel, IEEE 802.3ad Link Aggregation."""

import re
from typing import Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from ....collect.answer import Answer, attempt, if_known
from ....collect.host import Host, Sample
from ....errors import Absent, HostproofError, ParseError, Unanswered, kind_of
from ....parsers.net.bonding import LACP, Bond, Member
from ....parsers.nfs.nfs_options import AIX
from ....parsers.number import clipped
from ....parsers.unix import lsattr
from ....probes.net.network_interfaces import Interfaces, Nic, Path
from ..parsers import entstat
from ..parsers.entstat import Adapter, Statistics
from . import unix_paths
from .nic_pause import SAMPLE, Traffic, grown

_LSDEV = ["lsdev", "-C", "-c", "adapter", "-F", "name"]
#: Message number of lsattr for an attribute that the device does not have.
_NO_ATTRIBUTE = "0514-528"
_ADAPTER = re.compile(r"^ent(\d+)$")
_INTERFACE = re.compile(r"^e[nt](\d+)$")


class Port(NamedTuple):
    """A physical adapter with a cable, or a virtual adapter.

    ``argv`` is the entstat command whose output contains the adapter: that of its EtherChannel.
    ``flow_ctrl`` is the attribute, Absent if the adapter does not have it.
    """

    nic: Nic
    adapter: Adapter
    argv: Tuple[str, ...]
    flow_ctrl: Answer[bool]

    @property
    def key(self) -> str:
        return "command:" + " ".join(self.argv)


def argv_attribute(device: str, attribute: str) -> List[str]:
    return ["lsattr", "-E", "-l", device, "-a", attribute]


def read_adapters(
    host: Host, interconnect: Optional[Sequence[str]], every: bool = False
) -> Tuple[Interfaces, Dict[str, Port]]:
    """The counterpart of network_interfaces.read_interfaces, and flow control of each adapter.

    ``every``: also read adapters that no known path uses.
    """
    routes, unknown = unix_paths.read_routes(host, AIX, interconnect)
    ports: Dict[str, Port] = {}
    bonds: Dict[str, Answer[Bond]] = {}
    paths: List[Path] = []
    for route in routes:
        device = _INTERFACE.match(route.interface)
        if device is None:
            unknown.append(
                Unanswered(
                    route.evidence[-1] if route.evidence else "policy",
                    f"{route.interface} is not an Ethernet interface",
                )
            )
            continue
        mtu = if_known(attempt(_read_mtu, host, "en" + device.group(1)), None)
        names = attempt(_read_below, host, "ent" + device.group(1), mtu, ports, bonds)
        if isinstance(names, HostproofError):
            unknown.append(names)
            continue
        paths.append(
            Path(
                role=route.role,
                what=route.what,
                address=route.address,
                device=route.interface,
                gateway=route.gateway,
                mac=None,
                mtu=mtu,
                learned_mtu=None,
                nics=names,
                evidence=route.evidence,
            )
        )
    if every:
        problem = attempt(_read_every, host, ports, bonds)
        if isinstance(problem, HostproofError):
            unknown.append(problem)
    nics = {name: port.nic for name, port in ports.items()}
    return Interfaces(nics, bonds, paths, unknown, ()), ports


def _read_every(host: Host, ports: Dict[str, Port], bonds: Dict[str, Answer[Bond]]) -> bool:
    """Read all adapters, bundles first: their entstat output contains their members."""
    names = [line.strip() for line in unix_paths.printed(host, _LSDEV).splitlines()]
    devices = sorted(
        {name for name in names if _ADAPTER.match(name)}, key=lambda name: clipped(name[3:])
    )
    whole = {}
    for device in devices:
        if device not in ports and device not in bonds:
            statistics = attempt(_read_statistics, host, device)
            # entstat does not accept the name of a member; the output of its bundle contains it.
            if not isinstance(statistics, HostproofError):
                whole[device] = statistics
    for device in sorted(whole, key=lambda name: whole[name].first.type not in entstat.BUNDLES):
        if device not in ports and whole[device].first.type:
            mtu = if_known(attempt(_read_mtu, host, "en" + device[3:]), None)
            _read_below(host, device, mtu, ports, bonds)
    return True


def _read_statistics(host: Host, device: str) -> Statistics:
    statistics = entstat.parse(unix_paths.printed(host, ["entstat", "-d", device]))
    if statistics.first.name != device:
        raise ParseError("entstat", f"told of {statistics.first.name}, not of {device}")
    return statistics


def _attribute(host: Host, device: str, name: str) -> str:
    """The value of an attribute, one word. Absent if the device does not have the attribute."""
    argv = argv_attribute(device, name)
    key = "command:" + " ".join(argv)
    output = attempt(host.run, argv)
    if not isinstance(output, HostproofError) and _NO_ATTRIBUTE in output.stdout + output.stderr:
        raise Absent(key, f"{device} has no attribute {name}")
    rows = lsattr.parse(unix_paths.printed(host, argv))
    if [row.name for row in rows] != [name]:
        raise Unanswered(key, f"lsattr does not tell {name} of {device}")
    return rows[0].first_word


def _read_mtu(host: Host, interface: str) -> Optional[int]:
    word = _attribute(host, interface, "mtu")
    return clipped(word) if word.isdecimal() and clipped(word) else None


def _read_flow_ctrl(host: Host, device: str) -> bool:
    word = _attribute(host, device, "flow_ctrl")
    if word not in ("yes", "no"):
        raise ParseError("lsattr", f"flow_ctrl of {device} is {kind_of(word)}")
    return word == "yes"


def _read_below(
    host: Host,
    device: str,
    mtu: Optional[int],
    ports: Dict[str, Port],
    bonds: Dict[str, Answer[Bond]],
) -> Tuple[str, ...]:
    """Add the physical adapters below an adapter to ``ports``."""
    seen: Set[str] = set()
    statistics = _read_statistics(host, device)
    while not statistics.first.type:  # a VLAN
        seen.add(device)
        key = "command:" + " ".join(argv_attribute(device, "base_adapter"))
        device = _attribute(host, device, "base_adapter")
        if device in seen or not _ADAPTER.match(device):
            raise Unanswered(key, f"the base of the VLAN is {kind_of(device)}, no other adapter")
        statistics = _read_statistics(host, device)
    argv = ("entstat", "-d", device)
    if statistics.first.type not in entstat.BUNDLES:
        ports[device] = _port(host, statistics.first, None, mtu, argv)
        return (device,)
    if not statistics.members:
        raise Unanswered("command:" + " ".join(argv), f"entstat tells of no member of {device}")
    bonds[device] = _bond(statistics)
    for member in statistics.members:
        ports[member.name] = _port(host, member, device, mtu, argv)
    return tuple(sorted(member.name for member in statistics.members))


def _port(
    host: Host, adapter: Adapter, bond: Optional[str], mtu: Optional[int], argv: Tuple[str, ...]
) -> Port:
    nic = Nic(
        name=adapter.name,
        driver=adapter.type,
        mac=adapter.mac,
        # All members of a bundle show the address of the bundle.
        permanent_mac=adapter.mac if bond is None else None,
        speed=adapter.speed,
        duplex=adapter.duplex,
        mtu=mtu,
        carrier=adapter.up,
        bond=bond,
        evidence=("command:" + " ".join(argv),),
    )
    return Port(nic, adapter, argv, attempt(_read_flow_ctrl, host, adapter.name))


def _bond(statistics: Statistics) -> Bond:
    lacp = statistics.first.type == entstat.LINK_AGGREGATION
    partners = [
        member.lacp.partner for member in statistics.members if member.lacp and member.lacp.partner
    ]
    return Bond(
        mode=LACP if lacp else "EtherChannel",
        active=_active(statistics),
        up=statistics.first.up is not False,
        monitored=True,
        aggregator=1 if lacp else None,
        partner=partners[0] if partners else "",
        members=tuple(_member(member, statistics.backup) for member in statistics.members),
    )


def _active(statistics: Statistics) -> str:
    """The only member that carries the traffic; "" if several do, or if it is not known."""
    if not statistics.backup or statistics.on_backup is None:
        return ""
    if statistics.on_backup:
        return statistics.backup
    primary = [member.name for member in statistics.members if member.name != statistics.backup]
    return primary[0] if len(primary) == 1 else ""


def _member(adapter: Adapter, backup: str) -> Member:
    lacp = adapter.lacp
    return Member(
        name=adapter.name,
        up=adapter.up is not False,
        speed=adapter.speed,
        duplex=adapter.duplex,
        failures=None,
        permanent_mac="",
        # The backup adapter does not take part in LACP.
        aggregator=int(adapter.name == backup or (lacp is not None and lacp.in_use)),
        port=lacp.port if lacp else None,
        partner_port=lacp.partner_port if lacp else None,
    )


# -- two readings ---------------------------------------------------------------------------------


def take_sample(host: Host, ports: Sequence[Port], seconds: float) -> Sample:
    """Read the counters of all adapters twice."""
    commands = sorted({port.argv for port in ports})
    return host.sample(SAMPLE, [], [list(argv) for argv in commands], seconds)


def traffic_of(sample: Sample, port: Port) -> Traffic:
    """Counters of one adapter. Unanswered if they could not be read twice."""
    adapters = []
    for texts in (sample.first, sample.second):
        if port.key not in texts:
            raise Unanswered("sample:" + SAMPLE, "entstat could not be read twice")
        whole = entstat.parse(texts[port.key])
        named = [
            adapter for adapter in (whole.first,) + whole.members if adapter.name == port.nic.name
        ]
        if not named:
            raise Unanswered(
                "sample:" + SAMPLE, f"entstat does not tell of {port.nic.name} any more"
            )
        adapters.append(named[0])
    before, after = adapters
    restarted: List[str] = []
    restarted_drops: List[str] = []
    drops = {}
    for name in sorted(set(before.lost) & set(after.lost)):
        counted = grown(name, before.lost[name], after.lost[name], restarted_drops)
        if counted is not None:
            drops[name] = counted
    rx_pause = grown("XOFF received", before.xoff_received, after.xoff_received, restarted)
    tx_pause = grown("XOFF sent", before.xoff_sent, after.xoff_sent, restarted)
    return Traffic(
        seconds=sample.seconds,
        rx_pause=rx_pause,
        tx_pause=tx_pause,
        drops=drops,
        priority=None,
        evidence=("sample:" + SAMPLE,),
        restarted=tuple(restarted),
        restarted_drops=tuple(restarted_drops),
    )
