# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of /etc/hosts, and whether localhost leads to the loopback interface."""

import ipaddress
import re
from typing import Dict, List, Optional, Set, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, NotRecorded
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Layer, Rules, Verdict, layered
from ...evaluate.finding import status_for
from ...probes.net import devices
from .facts import HOSTS, Cluster, Facts
from .parsers.hosts_file import Entry, Hosts
from .parsers.hosts_file import parse as hosts_parsed
from .policy import NAME, Policy
from .probes.cloud_init import Template
from .subjects import listed, short, skip_unmanaged

rules: Rules[Facts, Policy] = Rules(NAME)

LOOPBACK = "127.0.0.1"
#: The variables of a template: of Jinja, and of Cheetah in old versions of cloud-init.
_VARIABLE = re.compile(r"\{\{\s*(?:fqdn|hostname)\s*\}\}|\$\{?(?:fqdn|hostname)\}?")
#: fe00::0 is "ip6-localnet" in the files of Debian and SUSE.
_UNUSED = ipaddress.ip_network("fe00::/16")


@rules.check(
    "name_resolution.hosts_file",
    "/etc/hosts is valid, and localhost is the loopback",
    "/etc/hosts has errors or does not last, or localhost is not loopback",
    severity="high",
    takes_effect="now",
    why="The installer and Clusterware connect to localhost. If /etc/hosts has two addresses for "
    "a name, programs use different ones. The resolver ignores an invalid line. cloud-init writes "
    "the file again at each reboot where manage_etc_hosts is set.",
    reference="PRVH-01541 (one address per name); PRVG-13362 (127.0.0.1/8 on the loopback "
    "interface); INS-06101 (localhost); hosts(5); cloud-init, Update Etc Hosts",
)
def hosts_file(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("hosts_file", policy)
    hosts = Hosts([], []) if isinstance(facts.hosts, Absent) else facts.hosts
    template = facts.template
    place = HOSTS if not isinstance(template, Template) else template.path
    faults, remarks, steps = _lines(facts, if_known(hosts, Hosts([], [])), place)
    also: List[Tuple[str, Answer[object]]] = []
    if isinstance(hosts, HostproofError):
        faults, remarks, steps = [], [], []
    else:
        answer = attempt(_lost, facts, hosts)
        also = [("cloud-init", answer)]
        if if_known(answer, ""):
            remarks.append(known(answer))
            steps += [] if not isinstance(template, Template) else _in_template(template)
    has_loopback = attempt(_has_loopback, facts)
    here = "is on lo" if if_known(has_loopback, True) else "is missing"
    wrong = [] if if_known(has_loopback, True) else [f"no loopback interface has {LOOPBACK}/8"]
    running = Ask(f"give the interface lo the address {LOOPBACK}/8, and remove what took it away")
    local = [entry.address for entry in if_known(hosts, Hosts([], [])).entries if localhost(entry)]
    return layered(
        persisted=Layer(
            hosts if isinstance(hosts, HostproofError) else f"localhost is {listed(local)}",
            status_for(faults, remarks),
            HOSTS,
        ),
        running=Layer(
            has_loopback if isinstance(has_loopback, HostproofError) else f"{LOOPBACK}/8 {here}",
            status_for(wrong),
            "interfaces",
        ),
        also=also,
        why=f"{'; '.join((faults + remarks + wrong)[:12])}.",
        advice=Advice(both=[*steps, running], persisted=steps, running=[running]),
        desired=f"localhost is {LOOPBACK}, one address per name and family, no invalid line",
        evidence=["file:" + HOSTS, devices.ADDRESSES_KEY],
    )


def _lines(facts: Facts, hosts: Hosts, place: str) -> Tuple[List[str], List[str], List[Step]]:
    """Faults and remarks on the lines of the file, and the steps that correct them in ``place``."""
    local = [entry.address for entry in hosts.entries if localhost(entry)]
    astray = [address for address in local if not ipaddress.ip_address(address).is_loopback]
    cluster = if_known(facts.cluster, Cluster(None, (), (), ""))
    members = {short(member) for member in (if_known(facts.own, ""), *cluster.members) if member}
    faults, remarks = [], []
    steps: List[Step] = []
    # The right line first: without any, localhost has no address.
    if LOOPBACK not in local:
        remarks.append(f"no line leads from localhost to {LOOPBACK}")
        steps.append(Edit(place, f"{LOOPBACK} localhost"))
    if astray:
        faults.append(f"localhost leads to {listed(astray)}")
        what = f"remove the name localhost from the line of {listed(astray)} in {place}"
        steps.append(Edit(place, what=what))
    for name, addresses in _several(hosts).items():
        message = f"{name[:80]} has the addresses {listed(addresses)}"
        (faults if short(name) in members else remarks).append(message)
        what = f"leave {name[:80]} on one line of {place}, that of its right address"
        steps.append(Edit(place, what=what))
    if hosts.passed_over:
        numbers = listed([str(number) for number in hosts.passed_over])
        remarks.append(f"lines that count for nothing: {numbers}")
        steps.append(Edit(HOSTS, what=f"correct or remove the lines {numbers} of {HOSTS}"))
    return faults, remarks, steps


def localhost(entry: Entry) -> bool:
    return entry.has("localhost")


def _lost(facts: Facts, hosts: Hosts) -> str:
    """What cloud-init changes in the file at the next reboot; "" for nothing."""
    template: Optional[Template] = known(facts.template)
    if template is None:
        return ""
    own = short(known(facts.own))
    removed, is_moved = _changed_by(template, dict(_pairs(hosts, own)), own)
    texts = []
    if removed:
        numbers = listed([str(number) for number in sorted(removed)])
        texts.append(f"cloud-init removes the lines {numbers} at the next reboot")
    if is_moved:
        texts.append(f"cloud-init leads {own[:80]} to the loopback interface at the next reboot")
    return "; ".join(texts)


def _changed_by(
    template: Template, here: Dict[Tuple[str, str], int], own: str
) -> Tuple[Set[int], bool]:
    """The lines that are removed, and whether the host's own name gets another address."""
    if template.text is None or isinstance(template.text, (Absent, NotRecorded)):
        # Every template of cloud-init leads the name of the host to the loopback interface.
        is_moved = not any(name == own and _is_special(address) for address, name in here)
        others = {line for (address, _name), line in here.items() if not _is_special(address)}
        return set() if template.is_line else others, is_moved
    text = _VARIABLE.sub(lambda _match: own, known(template.text))
    there = {pair for pair, _line in _pairs(hosts_parsed(text), own)}
    removed = {line for pair, line in here.items() if pair not in there}
    return removed, any(name == own and (address, name) not in here for address, name in there)


def _pairs(hosts: Hosts, own: str) -> List[Tuple[Tuple[str, str], int]]:
    """Each address with each of its names, and the line; all forms of the host's name are one."""
    return [
        ((entry.address, own if short(name) == own else name.lower()), entry.line)
        for entry in hosts.entries
        for name in entry.names
    ]


def _is_special(address: str) -> bool:
    """An address of the loopback interface, or one of those that every file has for IPv6."""
    parsed = ipaddress.ip_address(address)
    return parsed.is_loopback or parsed.is_multicast or parsed in _UNUSED


def _in_template(template: Template) -> List[Step]:
    if template.is_line:
        return [Ask(f"set manage_etc_hosts: false ({template.place})")]
    return [
        Edit(
            template.path,
            what=f"put the lines of {HOSTS} into the template in {template.path}, or set "
            f"manage_etc_hosts: false ({template.place})",
        )
    ]


def _has_loopback(facts: Facts) -> bool:
    here = known(facts.addresses)
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
