# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packet filter rules of the kernel and of the files, and programs that listen."""

import re
from typing import Dict, List, NamedTuple, Tuple

from ...collect.answer import Answer, attempt, known, unless_absent
from ...collect.host import Host
from ...errors import Absent, HostproofError, ParseError, Unanswered
from .parsers import firewalld_zone, iptables_save, nft_json, nft_text, sockets
from .parsers.firewalld_zone import Opened, Zone
from .parsers.packets import ADDRESS, DROP, LIMIT, NOT_READ, PORT, Chain, Rule, Tables, Test
from .policy import Policy

KERNEL = "/proc/sys/kernel/osrelease"
NFT = ["nft", "-j", "list", "ruleset"]
SAVE, LEGACY = ["iptables-save"], ["iptables-legacy-save"]
#: The tables of iptables-legacy, which nft does not list.
LEGACY_TABLES = "/proc/net/ip_tables_names"
_MODULE = "/sys/module/nf_tables"
UNITS = ("firewalld", "nftables", "iptables", "netfilter-persistent")
SHOW = [
    "systemctl",
    "show",
    "-p",
    "Id",
    "-p",
    "UnitFileState",
    *(f"{unit}.service" for unit in UNITS),
]
FILES: Dict[str, Tuple[str, ...]] = {
    "nftables": ("/etc/sysconfig/nftables.conf", "/etc/nftables.conf"),
    "iptables": ("/etc/sysconfig/iptables",),
    "netfilter-persistent": ("/etc/iptables/rules.v4",),
}
FIREWALLD = "/etc/firewalld"
_SHIPPED = "/usr/lib/firewalld"
#: Connections of NetworkManager assign their interface to a zone, also by firewall-cmd.
_CONNECTIONS = (
    "/etc/NetworkManager/system-connections/*",
    "/etc/sysconfig/network-scripts/*",
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")


class Facts(NamedTuple):
    """``units`` are units that load rules at boot. Without one, ``persisted`` has no tables."""

    kernel: Answer[str]
    running: Answer[Tables]
    units: Answer[Tuple[str, ...]]
    persisted: Answer[Tables]
    sockets: Answer[List[sockets.Socket]]


def read(host: Host, _policy: Policy) -> Facts:
    """Read all facts for the checks."""
    kernel = attempt(host.read_text, KERNEL)
    if isinstance(kernel, Absent):
        # No command of Linux runs on another system.
        return Facts(kernel, kernel, kernel, kernel, kernel)
    units = attempt(_enabled, host)
    running = attempt(_running, host)
    return Facts(
        kernel=kernel,
        running=running,
        units=units,
        persisted=units if isinstance(units, HostproofError) else attempt(_persisted, host, units),
        sockets=attempt(lambda: sockets.parse(_output(host, sockets.ARGV))),
    )


def _output(host: Host, argv: List[str]) -> str:
    output = host.run(argv)
    if output.rc != 0:
        command = " ".join(argv)
        raise Unanswered(
            "command:" + command, f"{command} ended with {output.rc}: {output.stderr.strip()[:200]}"
        )
    return output.stdout


def _running(host: Host) -> Tables:
    legacy = unless_absent(attempt(host.read_text, LEGACY_TABLES), "").split()
    listed = attempt(_output, host, NFT)
    if isinstance(listed, Absent):
        saved = attempt(_output, host, SAVE)
        if not isinstance(saved, Absent):
            return iptables_save.parse(known(saved))
        if legacy or not isinstance(attempt(host.list_dir, _MODULE), Absent):
            raise Unanswered(
                "command:" + " ".join(NFT), "neither nft nor iptables-save is installed"
            )
        return {}
    tables, foreign = nft_json.parse(known(listed) or '{"nftables": []}')
    if foreign:
        # Only iptables-save shows conditions of iptables extensions, nft does not.
        saved_tables = iptables_save.parse(_output(host, SAVE))
        tables = {**tables, **saved_tables}
    if legacy:
        for (_family, name), chains in iptables_save.parse(_output(host, LEGACY)).items():
            tables["legacy", name] = chains
    return tables


def _enabled(host: Host) -> Tuple[str, ...]:
    names = []
    for block in _output(host, SHOW).split("\n\n"):
        rows = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        name = rows.get("Id", "").rpartition(".service")[0]
        if name in UNITS and rows.get("UnitFileState") == "enabled":
            names.append(name)
    return tuple(names)


def _persisted(host: Host, units: Tuple[str, ...]) -> Tables:
    tables: Tables = {}
    for unit in units:
        if unit == "firewalld":
            tables["firewalld", "zones"] = _zones(host)
            continue
        paths = FILES[unit]
        path, text = _first(host, paths)
        parse = nft_text.parse if unit == "nftables" else iptables_save.parse
        try:
            file_tables = parse(text)
        except ParseError as problem:
            raise Unanswered("file:" + path, str(problem)) from problem
        tables.update(
            {(unit, f"{family} {name}"): table for (family, name), table in file_tables.items()}
        )
    return tables


def _first(host: Host, paths: Tuple[str, ...]) -> Tuple[str, str]:
    for path in paths:
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return path, known(text)
    raise Unanswered("file:" + paths[0], f"the unit is enabled and {paths[0]} does not exist")


# -- firewalld ------------------------------------------------------------------------------------


def _zones(host: Host) -> Dict[str, Chain]:
    """The chains that firewalld creates from its zones."""
    _refuse_other_rules(host)
    text = unless_absent(attempt(host.read_text, f"{FIREWALLD}/firewalld.conf"), "")
    default = (re.findall(r"^DefaultZone=(\S+)", text, re.MULTILINE) or ["public"])[-1]
    names = unless_absent(attempt(host.list_dir, f"{FIREWALLD}/zones"), [])
    zones = {name[:-4]: _zone(host, name[:-4]) for name in names if name.endswith(".xml")}
    assigned = _assigned(host)
    for name in (default, *assigned):
        if name not in zones:
            zones[name] = _zone(host, name)
    used = {
        name: zone
        for name, zone in zones.items()
        if zone.bound or name == default or name in assigned
    }
    some = (Test(ADDRESS, frozenset({"a zone"})),)
    dispatch = [Rule(some, "goto", name) for name in used if name != default]
    chains = {name: _chain_of(host, name, zone) for name, zone in used.items()}
    rules = (*dispatch, Rule((), "goto", default))
    return {**chains, "": Chain("", "input", DROP, rules)}


def _assigned(host: Host) -> List[str]:
    found = host.find_lines("zones", _CONNECTIONS, r"^\s*(?:zone|ZONE)\s*=")
    if found.unread:
        raise Unanswered("lines:zones", f"{sorted(found.unread)[0]} can assign a zone: run as root")
    values = [
        text.partition("=")[2].strip().strip("\"'")
        for path, lines in sorted(found.lines.items())
        if "/network-scripts/" not in path or "/ifcfg-" in path
        for _number, text in lines
    ]
    return [value for value in values if value]


def _refuse_other_rules(host: Host) -> None:
    """Direct rules and policies of the host come before its zones, and are not read."""
    folder, direct = f"{FIREWALLD}/policies", f"{FIREWALLD}/direct.xml"
    if re.search("<(?:rule|passthrough)\\b", unless_absent(attempt(host.read_text, direct), "")):
        raise Unanswered("file:" + direct, "firewalld has direct rules, which are not read")
    for name in unless_absent(attempt(host.list_dir, folder), []):
        path = f"{folder}/{name}"
        if name.endswith(".xml") and "HOST" in host.read_text(path):
            raise Unanswered("file:" + path, "firewalld has a policy, which is not read")


def _zone(host: Host, name: str) -> Zone:
    return firewalld_zone.parse_zone(_file(host, "zones", name))


def _file(host: Host, kind: str, name: str) -> str:
    if not _NAME.match(name):
        raise Unanswered(f"dir:{FIREWALLD}", "a zone or a service has an unusual name")
    return _first(host, tuple(f"{folder}/{kind}/{name}.xml" for folder in (FIREWALLD, _SHIPPED)))[1]


def _chain_of(host: Host, name: str, zone: Zone) -> Chain:
    # By priority; of one priority denials come first (firewalld.richlanguage(5)).
    ranked = [((0, True), Rule((test,), "accept")) for test in _tests(host, zone.opened)]
    for rule in zone.rich:
        if rule.action not in ("accept", "drop", "reject"):
            continue
        more = [Test(ADDRESS, frozenset({"a source"}))] if rule.has_source else []
        more += [Test(LIMIT, text=rule.limit)] if rule.limit else []
        tests = _tests(host, rule.opened)
        if not (rule.opened.ports or rule.opened.services):
            tests = [] if rule.has_source else [Test(NOT_READ, text="rich rule")]
        verdict = "accept" if rule.action == "accept" else DROP
        rules = [Rule((test, *more), verdict) for test in tests] or [Rule(tuple(more), verdict)]
        ranked += [((rule.priority, verdict == "accept"), each) for each in rules]
    ranked.sort(key=lambda pair: pair[0])
    policy = Rule((), "accept" if zone.target == "ACCEPT" else DROP)
    return Chain(name, "", DROP, (*(rule for _rank, rule in ranked), policy))


def _tests(host: Host, opened: Opened, depth: int = 0) -> List[Test]:
    tests = [
        Test(PORT, frozenset({protocol}), ((low, high),)) for protocol, low, high in opened.ports
    ]
    for service in opened.services if depth < 3 else ():
        inside = firewalld_zone.parse_service(_file(host, "services", service))
        tests += _tests(host, inside, depth + 1)
    return tests
