# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of /etc/hosts, and whether localhost leads to the loopback interface."""

import ipaddress
from typing import Dict, List, Optional

from ...collect.answer import if_known, unless_absent
from ...evaluate.checking import Rules, Verdict, by_layers, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.net import devices
from .facts import HOSTS, Cluster, Facts
from .parsers.hosts_file import Hosts
from .policy import NAME, Policy
from .subjects import listed, short, skip_unmanaged

rules = Rules(NAME)

LOOPBACK = "127.0.0.1"


@rules.check(
    "name_resolution.hosts_file",
    "/etc/hosts is valid, and localhost is the loopback",
    "/etc/hosts has errors, or localhost is not the loopback",
    severity="high",
    takes_effect="now",
    why="The installer and Clusterware connect to localhost. If /etc/hosts has two addresses for "
    "a name, programs use different ones. The resolver ignores an invalid line.",
    reference="PRVH-01541 (one address per name); PRVG-13362 (127.0.0.1/8 on the loopback "
    "interface); INS-06101 (localhost); hosts(5)",
)
def hosts_file(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("hosts_file", policy)
    hosts: Hosts = unless_absent(facts.hosts, Hosts([], []))
    local = [entry.address for entry in hosts.entries if entry.has("localhost")]
    astray = [address for address in local if not ipaddress.ip_address(address).is_loopback]
    cluster = if_known(facts.cluster, Cluster(None, (), (), ""))
    members = {short(member) for member in (if_known(facts.own, ""), *cluster.members) if member}
    faults, remarks = [], []
    if astray:
        faults.append(f"localhost leads to {listed(astray)}")
    if LOOPBACK not in local:
        remarks.append(f"no line leads from localhost to {LOOPBACK}")
    for name, addresses in _several(hosts).items():
        message = f"{name[:80]} has the addresses {listed(addresses)}"
        (faults if short(name) in members else remarks).append(message)
    if hosts.passed_over:
        numbers = listed([str(number) for number in hosts.passed_over])
        remarks.append(f"lines that count for nothing: {numbers}")
    has_loopback = _has_loopback(facts)
    is_wrong_file = bool(faults or remarks)
    if has_loopback is False:
        faults.append(f"no loopback interface has {LOOPBACK}/8")
    verdict = Verdict(
        FAIL if faults else WARN if remarks else PASS,
        f"{'; '.join((faults + remarks)[:12])}.",
        fix=f"give each name one address in {HOSTS}, and localhost {LOOPBACK}",
        desired=f"localhost is {LOOPBACK}, one address per name and family, no invalid line",
        persisted=f"localhost is {listed(local)}",
        running="unknown"
        if has_loopback is None
        else f"{LOOPBACK}/8 is {'on lo' if has_loopback else 'missing'}",
        evidence=["file:" + HOSTS, devices.ADDRESSES_KEY],
        failing_layer=failing(running=has_loopback is False, persisted=is_wrong_file),
    )
    return by_layers(verdict, [("interfaces", facts.addresses)])


def _has_loopback(facts: Facts) -> Optional[bool]:
    """None where the addresses of interfaces are not known."""
    here = if_known(facts.addresses, None)
    if here is None:
        return None
    network = ipaddress.ip_network("127.0.0.0/8")
    return any(address.address == LOOPBACK and address.network == network for address in here)


def _several(hosts: Hosts) -> Dict[str, List[str]]:
    """The names with more than one address of a family, but for localhost: the loopback
    interface has many, and others are named already."""
    by_name: Dict[str, Dict[str, None]] = {}
    for entry in hosts.entries:
        family = ipaddress.ip_address(entry.address).version
        for name in entry.names:
            by_name.setdefault(f"{family} {name.lower()}", {})[entry.address] = None
    return {
        key.partition(" ")[2]: list(addresses)
        for key, addresses in by_name.items()
        if len(addresses) > 1 and key.partition(" ")[2] != "localhost"
    }
