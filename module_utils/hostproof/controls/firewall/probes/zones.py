# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The chains that firewalld creates from its zones, policies and direct rules.

Sources: firewalld.zone(5), firewalld.policy(5), firewalld.direct(5), firewalld.conf(5); Fedora 32
release notes (what iptables accepts is still subject to the rules of firewalld in nftables).
"""

import re
from typing import Dict, List, Optional, Tuple

from ....collect.answer import attempt, known, unless_absent
from ....collect.host import Host
from ....errors import Absent, Unanswered
from ..parsers import firewalld_zone, iptables_save
from ..parsers.firewalld_zone import Direct, Opened, RichRule, Zone
from ..parsers.packets import (
    ACCEPT,
    DROP,
    FROM,
    INTERFACE,
    NEVER,
    NOT_READ,
    STATE,
    Chain,
    Rule,
    Tables,
    Test,
)

FOLDER = "/etc/firewalld"
_SHIPPED = "/usr/lib/firewalld"
#: Connections of NetworkManager assign their interface to a zone, also by firewall-cmd.
_CONNECTIONS = (
    "/etc/NetworkManager/system-connections/*",
    "/etc/sysconfig/network-scripts/*",
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\Z")
_OPENS = (
    Rule((Test(STATE, frozenset({"established", "related"})),), ACCEPT),
    Rule((Test(INTERFACE, frozenset({"lo"})),), ACCEPT),
)
#: Chains of the kernel to which direct rules add; firewalld calls its own from there.
_BASE = {"INPUT": "input", "INPUT_direct": "input", "OUTPUT": "output", "OUTPUT_direct": "output"}


def read(host: Host) -> Tables:
    conf = str(unless_absent(attempt(host.read_text, f"{FOLDER}/firewalld.conf"), ""))
    default = _setting(conf, "DefaultZone", "public")
    drifts = _setting(conf, "AllowZoneDrifting", "no").lower() in ("yes", "true")
    zones, assigned = _zones(host, default)
    policies = _policies(host)
    chains = {
        name: _chain_of(host, name, zone, policies, drifts and bool(zone.sources))
        for name, zone in zones.items()
    }
    bound = {name: (*zone.interfaces, *assigned.get(name, [])) for name, zone in zones.items()}
    rules = [*_OPENS, *_calls_of_zones(host, zones, bound, drifts), Rule((), "goto", default)]
    chains[""] = Chain("", "input", DROP, tuple(rules))
    outgoing: List[Rule] = []
    for number, policy in enumerate(policies):
        if "HOST" in policy.ingress:
            name = f"policy {number}"
            chains[name] = Chain(name, "", ACCEPT, tuple(_rules_of(host, policy)))
            outgoing += [Rule(tests, "jump", name) for tests in _to(policy, bound, default)]
    chains["to others"] = Chain("to others", "output", ACCEPT, (*_OPENS, *outgoing))
    return _with_direct(host, conf, chains)


def _calls_of_zones(
    host: Host, zones: Dict[str, Zone], bound: Dict[str, Tuple[str, ...]], drifts: bool
) -> List[Rule]:
    """The rules that lead to the zones: those for sources come before those for interfaces."""
    ranked = sorted(zones.items(), key=lambda pair: pair[1].priority)
    rules: List[Rule] = []
    for name, zone in ranked:
        call = "jump" if drifts and zone.target == "default" else "goto"
        rules += [Rule((test,), call, name) for test in _sources(host, zone)]
    for name, _zone in ranked:
        # An interface without a name is one of a connection that names its card otherwise.
        rules += [
            Rule(
                (Test(INTERFACE, frozenset({each} - {""}), text=each or f"zone {name}"),),
                "goto",
                name,
            )
            for each in bound[name]
        ]
    return rules


def _to(policy: Zone, bound: Dict[str, Tuple[str, ...]], default: str) -> List[Tuple[Test, ...]]:
    """The tests of packets that leave to a zone of the policy. The default zone has each interface
    that no other zone has."""
    if "ANY" in policy.egress:
        return [()]
    found: List[Tuple[Test, ...]] = []
    for name in policy.egress:
        found += [(Test(INTERFACE, frozenset({each} - {""})),) for each in bound.get(name, ())]
        if name == default:
            others = {each for zone, names in bound.items() if zone != name for each in names}
            rest = Test(INTERFACE, frozenset(others - {""}), negated=True)
            found.append((rest,) if others - {""} else ())
    return found


def _setting(conf: str, name: str, default: str) -> str:
    return str((re.findall(rf"^{name}=(\S+)", conf, re.MULTILINE) or [default])[-1])


def _zones(host: Host, default: str) -> Tuple[Dict[str, Zone], Dict[str, List[str]]]:
    """The zones in use, and the interfaces of each that a connection assigns."""
    names = unless_absent(attempt(host.list_dir, f"{FOLDER}/zones"), [])
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
    return used, assigned


def _assigned(host: Host) -> Dict[str, List[str]]:
    found = host.find_lines("zones", _CONNECTIONS, r"^\s*(?:zone|ZONE|interface-name|DEVICE)\s*=")
    if found.unread:
        raise Unanswered("lines:zones", f"{sorted(found.unread)[0]} can assign a zone: run as root")
    assigned: Dict[str, List[str]] = {}
    for path, lines in sorted(found.lines.items()):
        is_script = "/network-scripts/" in path
        if is_script and "/ifcfg-" not in path:
            continue
        values = {
            key.strip().lower(): value.strip().strip("\"'")
            for _number, text in lines
            for key, _equals, value in [text.partition("=")]
        }
        zone = values.get("zone")
        if zone:
            name = values.get("device" if is_script else "interface-name", "")
            assigned.setdefault(zone, []).append(name)
    return assigned


def _zone(host: Host, name: str) -> Zone:
    return firewalld_zone.parse_zone(_file(host, "zones", name))


def _file(host: Host, kind: str, name: str) -> str:
    if not _NAME.match(name):
        raise Unanswered(f"dir:{FOLDER}", "a zone or a service has an unusual name")
    paths = [f"{folder}/{kind}/{name}.xml" for folder in (FOLDER, _SHIPPED)]
    for path in paths:
        text = attempt(host.read_text, path)
        if not isinstance(text, Absent):
            return str(known(text))
    raise Unanswered("file:" + paths[0], f"firewalld is enabled and {paths[0]} does not exist")


def _policies(host: Host) -> List[Zone]:
    """Policies of the administrator for packets to and from the host, by priority."""
    names = unless_absent(attempt(host.list_dir, f"{FOLDER}/policies"), [])
    policies = [
        firewalld_zone.parse_policy(host.read_text(f"{FOLDER}/policies/{name}"))
        for name in sorted(names)
        if name.endswith(".xml")
    ]
    return sorted(
        (policy for policy in policies if not policy.is_disabled),
        key=lambda policy: policy.priority,
    )


def _sources(host: Host, zone: Zone) -> List[Test]:
    return [
        _of_set(host, Test(FROM, text=source))
        if source.startswith("ipset:")
        else Test(FROM, frozenset({source}))
        for source in zone.sources
    ]


def _of_set(host: Host, test: Test) -> Test:
    """The test with the addresses of its ipset, if firewalld has them in a file."""
    name = test.text.partition("ipset:")[2]
    if not name:
        return test
    entries = firewalld_zone.parse_ipset(_file(host, "ipsets", name))
    if entries is None:
        return test
    if not entries and not test.negated:
        return Test(NEVER)
    # No packet comes from this address.
    return test._replace(values=frozenset(entries or ["255.255.255.255"]))


def _chain_of(host: Host, name: str, zone: Zone, policies: List[Zone], drifts: bool) -> Chain:
    def of_policies(is_first: bool) -> List[Rule]:
        return [
            rule
            for policy in policies
            if "HOST" in policy.egress and {"ANY", name} & set(policy.ingress)
            if (policy.priority < 0) == is_first
            for rule in _rules_of(host, policy)
        ]

    rules = [*of_policies(True), *_rules_of(host, zone._replace(target="")), *of_policies(False)]
    if zone.target == "ACCEPT":
        rules.append(Rule((), ACCEPT))
    elif zone.target != "default" or not drifts:
        rules.append(Rule((), DROP))
    return Chain(name, "", DROP, tuple(rules))


def _rules_of(host: Host, zone: Zone) -> List[Rule]:
    """By priority; of one priority denials come first (firewalld.richlanguage(5))."""
    ranked = [((0, True), Rule((test,), ACCEPT)) for test in _tests(host, zone.opened)]
    for rich in zone.rich:
        ranked += [((rich.priority, rule.verdict == ACCEPT), rule) for rule in _of_rich(host, rich)]
    ranked.sort(key=lambda pair: pair[0])
    targets = {"ACCEPT": ACCEPT, "DROP": DROP, "REJECT": DROP}
    last = [Rule((), targets[zone.target])] if zone.target in targets else []
    return [*(rule for _rank, rule in ranked), *last]


def _of_rich(host: Host, rich: RichRule) -> List[Rule]:
    if rich.action not in ("accept", "drop", "reject"):
        return []
    more = tuple(_of_set(host, test) for test in rich.tests)
    tests = _tests(host, rich.opened)
    if not tests and not more:
        tests = [Test(NOT_READ, text="rich rule")]
    verdict = ACCEPT if rich.action == "accept" else DROP
    return [Rule((test, *more), verdict) for test in tests] or [Rule(more, verdict)]


def _tests(host: Host, opened: Opened, depth: int = 0) -> List[Test]:
    tests = list(opened.tests)
    for service in opened.services if depth < 3 else ():
        inside = firewalld_zone.parse_service(_file(host, "services", service))
        tests += _tests(host, inside, depth + 1)
    return tests


def _with_direct(host: Host, conf: str, chains: Dict[str, Chain]) -> Tables:
    used = _direct_rules(host)
    inside = {name: Chain(name, "", DROP, rows) for name, rows in used.items() if name not in _BASE}
    bases = {
        hook: tuple(rule for name, rows in used.items() if _BASE.get(name) == hook for rule in rows)
        for hook in ("input", "output")
    }
    backend = _setting(conf, "FirewallBackend", "")
    if backend == "iptables" or (conf and not backend):
        # Direct rules are in the chains of firewalld, before those of its zones. Releases without
        # that setting accept no replies before them.
        for name, hook in (("", "input"), ("to others", "output")):
            rows = chains[name].rules
            place = len(_OPENS) if backend or hook == "input" else 0
            rows = (*rows[:place], *bases[hook], *rows[place:])
            chains[name] = chains[name]._replace(rules=rows)
        return {("firewalld", "zones"): {**inside, **chains}}
    for hook, rows in bases.items():
        inside["direct " + hook] = Chain("direct " + hook, hook, ACCEPT, rows)
    return {("firewalld", "zones"): chains, ("firewalld", "direct"): inside}


def _direct_rules(host: Host) -> Dict[str, Tuple[Rule, ...]]:
    """The direct rules of each chain, by priority."""
    path = f"{FOLDER}/direct.xml"
    text = unless_absent(attempt(host.read_text, path), "")
    rules = firewalld_zone.parse_direct(str(text)) if text else []
    own: Dict[str, List[Rule]] = {}
    for direct in sorted(rules, key=lambda rule: rule.priority):
        if direct.family == "ipv4" and not _is_passive(direct):
            name, rule = _direct_rule(path, direct)
            own.setdefault(name, []).append(rule)
    return {name: tuple(each) for name, each in own.items()}


def _is_passive(direct: Direct) -> bool:
    """Whether it changes addresses, or decides nothing in a table other than filter."""
    if direct.table == "nat" or re.match(r"-t nat\s", direct.words):
        return True
    if direct.table not in ("raw", "mangle", "security") or not direct.chain:
        return False
    return iptables_save.rule_of(f"-A {direct.chain} {direct.words}")[1].verdict in ("", ACCEPT)


def _direct_rule(path: str, direct: Direct) -> Tuple[str, Rule]:
    words: Optional[str] = f"-A {direct.chain} {direct.words}"
    table = direct.table
    if not direct.chain:
        match = re.match(r"(?:-t (\w+) )?(?:-A|--append) (\S+) (.*)", direct.words)
        table = (match.group(1) or "filter") if match else ""
        words = f"-A {match.group(2)} {match.group(3)}" if match else None
    if table != "filter" or words is None:
        raise Unanswered("file:" + path, f"{path} has direct rules that are not read")
    name, rule = iptables_save.rule_of(words)
    if re.match(r"(?:IN|OUT|FWD[IO]?)_", name):
        raise Unanswered("file:" + path, f"{path} has direct rules in a chain of a zone")
    return name, rule
