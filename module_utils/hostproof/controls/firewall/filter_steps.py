# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that make a service of the packet filter accept packets, now and after reboot."""

from typing import Callable, List, Optional, Sequence

from ...collect.answer import if_known
from ...evaluate.advice import Ask, Edit, Run, Step
from .facts import Facts
from .parsers.packets import (
    ACCEPT,
    BLOCKED,
    GROUP,
    INTERFACE,
    OPEN,
    Chain,
    Packet,
    Tables,
    reach,
)
from .policy import Port
from .rule_outcomes import ALL_PACKETS, Interface

_FIREWALLD = ("firewalld", "zones")
_SHOW = "nft list ruleset or iptables-save shows it"


def load(facts: Facts) -> List[Step]:
    """Load the files of the services again. Connections that exist stay."""
    loaders = if_known(facts.loaders, None)
    steps: List[Step] = []
    for unit in loaders.at_boot if loaders is not None else ():
        if unit == "firewalld":
            steps.append(Run("firewall-cmd", "--reload", text="load the files of firewalld"))
        elif unit == "ufw":
            steps.append(Run("ufw", "reload", text="load the files of ufw"))
        elif unit in ("nftables", "iptables"):
            service = f"{unit}.service"
            steps.append(Run("systemctl", "reload", service, text=f"load the file of {service}"))
        else:
            steps.append(Run("systemctl", "restart", f"{unit}.service", text=f"restart {unit}"))
    return steps


def remove(what: str) -> List[Step]:
    """No file has the rule: nothing loads it again."""
    return [Ask(f"remove the rule that {what} where it was added manually: {_SHOW}")]


def open_port(port: Port, way: Interface, facts: Facts, is_reply: bool) -> List[Step]:
    """The steps in the files of each service that drops the port."""
    packet = Packet(port.protocol, port.port, port.direction, way.name, (), way.own)
    name = f"{port.port}/{port.protocol}"
    if port.sources:
        return [Ask(f"accept {name} from {', '.join(port.sources)} in the files")]

    def steps(unit: str, path: str, chain: Chain) -> List[Step]:
        if is_reply:
            return [_replies(unit, path, chain)]
        if port.direction == "out":
            return [Ask(f"accept {name} to other hosts in the output rules of {path or unit}")]
        if unit == "firewalld" and chain.name.startswith("direct"):
            return [Ask(f"remove the direct rule of firewalld that drops {name} (direct.xml)")]
        if unit == "firewalld":
            return _of_zone(port, facts, way)
        if unit == "ufw":
            return [Run("ufw", "allow", name, text=f"accept {name}")]
        rule = f"{port.protocol} dport {port.port} accept"
        if unit != "nftables":
            rule = f"-A INPUT -p {port.protocol} -m {port.protocol} --dport {port.port} -j ACCEPT"
        return [_above(rule, path, chain, "the first rule that drops or rejects")]

    return _in_files(facts, packet, steps)


def open_interface(way: Interface, facts: Facts) -> List[Step]:
    """The steps in the files of each service that drops packets of the interconnect."""
    name = way.name
    if not name:
        return [Ask("accept all packets on the private interfaces (oifcfg getif shows them)")]

    def steps(unit: str, path: str, chain: Chain) -> List[Step]:
        if unit == "firewalld" and chain.hook == "input":
            zone = ("--permanent", "--zone=trusted", f"--change-interface={name}")
            return [
                Run("firewall-cmd", *zone, text=f"put {name} into the zone trusted of firewalld")
            ]
        if unit == "ufw" and chain.hook == "input":
            return [Run("ufw", "allow", "in", "on", name, text=f"accept all packets on {name}")]
        if unit in ("firewalld", "ufw"):
            return [Ask(f"accept all packets to {name} in the output rules of {unit}")]
        is_input = chain.hook in ("input", "prerouting", "ingress")
        rule = f'{"iifname" if is_input else "oifname"} "{name}" accept'
        if unit != "nftables":
            rule = f"-A {chain.name} {'-i' if is_input else '-o'} {name} -j ACCEPT"
        return [_above(rule, path, chain, "all other rules")]

    found: List[Step] = []
    packets = [
        Packet(protocol, None, direction, name, way.networks, way.own)
        for protocol, direction in ALL_PACKETS
    ]
    packets.append(Packet("udp", 42424, "in", name, way.networks, (GROUP,)))
    for packet in packets:
        found += _in_files(facts, packet, steps, all_packets=True)
    return found or [Ask(f"accept all packets of {name} in the files of the packet filter")]


def _in_files(
    facts: Facts,
    packet: Packet,
    steps: Callable[[str, str, Chain], Sequence[Step]],
    all_packets: bool = False,
) -> List[Step]:
    persisted = if_known(facts.persisted, None)
    found: List[Step] = []
    if persisted is None:
        return found
    for unit, tables in persisted.of_unit.items():
        for chain in _dropping(tables, packet, all_packets):
            found += steps(unit, persisted.paths.get(unit, ""), chain)
    return found


def _dropping(tables: Tables, packet: Packet, all_packets: bool) -> List[Chain]:
    """The chains of the kernel that drop the packet or its replies."""
    dropping = []
    for place, chains in tables.items():
        for name, chain in chains.items():
            if not chain.hook:
                continue
            alone = {
                each: other if other is chain else other._replace(hook="")
                for each, other in chains.items()
            }
            state = reach({place: alone}, packet).state
            if state == BLOCKED or (all_packets and state != OPEN):
                dropping.append(chain._replace(name=name))
    return dropping


def _above(rule: str, path: str, chain: Chain, what: str) -> Step:
    if rule.startswith("-A "):
        return Edit(path, what=f"put '{rule}' into {path}, above {what}, and above COMMIT")
    return Edit(path, what=f"put '{rule}' into the chain {chain.name} of {path}, above {what}")


def _replies(unit: str, path: str, chain: Chain) -> Step:
    if unit == "nftables":
        return _above("ct state established,related accept", path, chain, "all other rules")
    if unit in ("iptables", "netfilter-persistent"):
        rule = f"-A {chain.hook.upper()} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"
        return _above(rule, path, chain, "all other rules")
    return Ask(
        f"accept established connections in the {chain.hook} rules of {unit} before it drops"
    )


def _of_zone(port: Port, facts: Facts, way: Interface) -> List[Step]:
    """A port of the zone opens it, unless a rich rule or a policy drops it before."""
    persisted = if_known(facts.persisted, None)
    chains = persisted.of_unit["firewalld"][_FIREWALLD] if persisted is not None else {}
    zone = _zone_of(chains.get(""), way.name)
    name = f"{port.port}/{port.protocol}"
    rows = chains[zone].rules if zone in chains else ()
    trial = Chain("", "input", ACCEPT, rows[:-1])
    packet = Packet(port.protocol, port.port, "in", way.name, (), way.own)
    if reach({("", ""): {**chains, "": trial}}, packet).state == BLOCKED:
        return [Ask(f"remove the rich rule or policy of the zone {zone} that drops {name}")]
    command = ["firewall-cmd", "--permanent", f"--zone={zone}", f"--add-port={name}"]
    return [Run(*command, text=f"open {name} in the zone {zone} of firewalld")]


def _zone_of(dispatch: Optional[Chain], interface: str) -> str:
    for rule in dispatch.rules if dispatch is not None else ():
        is_of = rule.tests and rule.tests[0].kind == INTERFACE and interface in rule.tests[0].values
        if rule.target and (is_of or not rule.tests):
            return rule.target
    return "public"
