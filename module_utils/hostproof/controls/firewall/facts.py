# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packet filter rules of the kernel and of the files, and programs that listen."""

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_absent
from ...collect.command import PATH
from ...collect.host import Host
from ...errors import Absent, HostproofError, ParseError, Unanswered
from ...evaluate import profiles
from ...parsers.net import ip_addr
from ...probes.net import devices
from ...probes.oracle import clusterware
from .parsers import iptables_save, nft_json, sockets
from .parsers.packets import BLOCKED, Packet, Tables, networks_of, reach
from .policy import Policy
from .probes import loaders, nft_file, ufw, zones
from .probes.loaders import Loaders

KERNEL = "/proc/sys/kernel/osrelease"
NFT = ["nft", "-j", "list", "ruleset"]
SAVE, LEGACY = ["iptables-save"], ["iptables-legacy-save"]
#: The tables of iptables-legacy, which nft does not list.
LEGACY_TABLES = "/proc/net/ip_tables_names"
_MODULE = "/sys/module/nf_tables"
FILES: Dict[str, Tuple[str, ...]] = {
    "nftables": ("/etc/sysconfig/nftables.conf", "/etc/nftables.conf"),
    "iptables": ("/etc/sysconfig/iptables",),
    "netfilter-persistent": ("/etc/iptables/rules.v4",),
}
_SHOWN = "command:" + " ".join(loaders.SHOW)
#: A port, an interface and a sender that no rule names: what happens to all others.
_OTHER = Packet("tcp", 4, interface="?", remote=tuple(networks_of("240.0.0.1")))


class Persisted(NamedTuple):
    """``of_unit`` are the tables of each unit that loads them, ``paths`` their files.

    ``gaps`` are the loaders whose rules are not known. ``foreign`` are tables of the kernel that
    are not those of a unit which loads rules."""

    of_unit: Dict[str, Tables]
    paths: Dict[str, str]
    gaps: List[HostproofError]
    foreign: Tables

    @property
    def by_script(self) -> bool:
        """Whether a script can change what a service loads."""
        return any(getattr(gap, "key", "") == loaders.LINES_KEY for gap in self.gaps)

    @property
    def tables(self) -> Tables:
        return {
            (unit, " ".join(place)): chains
            for unit, tables in self.of_unit.items()
            for place, chains in tables.items()
        }


class Facts(NamedTuple):
    """``loaders`` load rules at boot. Without one, ``persisted`` has no tables.

    ``cluster`` is whether the host is a node of a cluster, None without a sign of it; ``css`` is
    whether its daemon runs. ``private`` are the interfaces of the interconnect."""

    kernel: Answer[str]
    running: Answer[Tables]
    loaders: Answer[Loaders]
    persisted: Answer[Persisted]
    sockets: Answer[List[sockets.Socket]]
    cluster: Answer[Optional[bool]]
    css: Answer[bool]
    private: Answer[List[str]]
    addresses: Answer[List[ip_addr.Address]]


def read(host: Host, policy: Policy) -> Facts:
    """Read all facts for the checks."""
    kernel = attempt(host.read_text, KERNEL)
    if isinstance(kernel, Absent):
        # No command of Linux runs on another system.
        return Facts(kernel, kernel, kernel, kernel, kernel, None, False, kernel, kernel)
    boot = attempt(loaders.read, host)
    running = attempt(_running, host)
    announced = profiles.announces_node(policy.profile)
    return Facts(
        kernel=kernel,
        running=running,
        loaders=boot,
        persisted=boot
        if isinstance(boot, HostproofError)
        else attempt(_persisted, host, boot, if_known(running, {})),
        sockets=attempt(lambda: sockets.parse(host.read_output(sockets.ARGV))),
        cluster=attempt(clusterware.in_cluster, host, announced),
        css=attempt(lambda: bool(clusterware.css_daemons(host))),
        private=attempt(clusterware.private_interfaces, host),
        addresses=attempt(devices.read_addresses, host),
    )


def _running(host: Host) -> Tables:
    legacy = unless_absent(attempt(host.read_text, LEGACY_TABLES), "").split()
    listed = attempt(host.read_output, NFT)
    if isinstance(listed, Absent):
        saved = attempt(host.read_output, SAVE)
        if not isinstance(saved, Absent):
            return iptables_save.parse(known(saved))
        if legacy or not isinstance(attempt(host.list_dir, _MODULE), Absent):
            raise Unanswered(
                "command:" + " ".join(NFT), f"nft and iptables-save were not found in {PATH}"
            )
        return {}
    tables, foreign = nft_json.parse(known(listed) or '{"nftables": []}')
    if foreign:
        # Only iptables-save shows conditions of iptables extensions, nft does not.
        saved_tables = iptables_save.parse(host.read_output(SAVE))
        tables = {**tables, **saved_tables}
    if legacy:
        for (_family, name), chains in iptables_save.parse(host.read_output(LEGACY)).items():
            tables["legacy", name] = chains
    return tables


def _persisted(host: Host, boot: Loaders, running: Tables) -> Persisted:
    of_unit: Dict[str, Tables] = {}
    paths: Dict[str, str] = {}
    gaps: List[HostproofError] = []
    for unit in boot.at_boot:
        more = attempt(_of_unit, host, unit, paths)
        if isinstance(more, HostproofError):
            gaps.append(more)
        else:
            of_unit[unit] = more
    foreign = _foreign(boot, of_unit, running)
    scripts = if_known(boot.scripts, ())
    if isinstance(boot.scripts, HostproofError):
        gaps.append(boot.scripts)
    elif scripts:
        why = f"{scripts[0]} changes packet filter rules at boot, and its effect is not known"
        gaps.append(Unanswered(loaders.LINES_KEY, why))
    elif boot.is_complete and reach(foreign, _OTHER).state == BLOCKED:
        why = "the kernel drops packets by rules that no unit or script known here loads"
        gaps.append(Unanswered(_SHOWN, why))
    return Persisted(of_unit, paths, gaps, foreign)


def _foreign(boot: Loaders, of_unit: Dict[str, Tables], running: Tables) -> Tables:
    """The tables of the kernel that are not those of a unit which loads rules, or did it."""
    units = {*boot.at_boot, *boot.active}

    def is_of(unit: str, place: Tuple[str, str], names: Set[str]) -> bool:
        if unit == "firewalld":
            return place[1] == unit or any(name.startswith("INPUT_") for name in names)
        if unit == "ufw":
            return any(name.startswith("ufw-") for name in names)
        if unit == "nftables":
            return place in of_unit.get(unit, {place: {}})
        return place[0] in ("ip", "legacy") or unit not in FILES

    return {
        place: chains
        for place, chains in running.items()
        if not any(is_of(unit, place, set(chains)) for unit in units)
    }


def _of_unit(host: Host, unit: str, paths: Dict[str, str]) -> Tables:
    if unit == "firewalld":
        return zones.read(host)
    if unit == "ufw":
        for path in ufw.scripts(host):
            raise Unanswered("file:" + path, f"ufw runs {path}, whose effect is not known")
        return ufw.read(host) or {}
    if unit not in FILES:
        why = f"{unit} loads rules at boot, and Hostproof does not read its files"
        raise Unanswered(_SHOWN, why)
    path, text = _first(host, FILES[unit])
    paths[unit] = path
    try:
        return nft_file.read(host, path, text) if unit == "nftables" else iptables_save.parse(text)
    except ParseError as problem:
        raise Unanswered("file:" + path, f"{path}: {problem}") from problem


def _first(host: Host, paths: Tuple[str, ...]) -> Tuple[str, str]:
    for path in paths:
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return path, known(text)
    raise Unanswered("file:" + paths[0], f"the unit is enabled and {paths[0]} does not exist")
