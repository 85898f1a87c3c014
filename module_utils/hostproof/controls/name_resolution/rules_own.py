# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's own name: its form, where it leads, what leads back, and where listeners listen."""

import re
from typing import List, Tuple

from ...collect.answer import if_known, known
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Edit, Step, Wait
from ...evaluate.checking import Layer, Rules, Skip, Verdict, layered
from ...evaluate.finding import status_for
from ...parsers.net.ip_addr import Address
from ...probes.net import devices
from ...probes.net.host_names import Found
from .facts import HOSTNAME, HOSTS, SOCKETS, STATIC, Cluster, Endpoint, Facts
from .parsers.hosts_file import Entry
from .policy import NAME, Policy
from .probes.cloud_init import Template
from .subjects import GUIDE, in_hosts, listed, places, short, skip_unmanaged, strays

rules: Rules[Facts, Policy] = Rules(NAME)

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\Z")
_NAMES = GUIDE + "IP Name and Address Requirements"
_CLUSTER_NAME = 15
LOOPBACK = "127.0.0.1"
_ANY = ("0.0.0.0", "*", "[::]")
_RENAME = Ask(
    "choose a valid name before software is installed (hostnamectl set-hostname); a node of a "
    "cluster is deleted and added again to get another name"
)
_SMALL = Ask(
    "choose a name in small letters if no software is installed yet (hostnamectl set-hostname), "
    "and keep the name otherwise"
)
_AT_CLUSTER = Ask("choose another name when Clusterware is configured again")


def _faults(name: str) -> List[str]:
    """What RFC 952 and RFC 1123 have against a name."""
    labels = name.split(".")
    faults = [f"{label[:70]!r} is not a label" for label in labels if not _LABEL.match(label)]
    faults += [f"{label[:20]}... has {len(label)} letters" for label in labels if len(label) > 63]
    if "_" in name:
        faults = [f"{name[:80]} has an underscore"]
    if labels[0].lower() == "localhost":
        faults.append("it is localhost")
    return faults


def _faults_of_host(own: str, later: str, cluster: Cluster) -> Tuple[List[str], List[str]]:
    """The faults of the present name of the host, and of that after a reboot."""
    members = {short(member) for member in cluster.members}
    is_known_later = short(later) in members and short(own) not in members
    now = [f"{own[:80]}: {fault}" for fault in _faults(own)]
    if is_known_later:
        now.append(f"{own[:80]} is not a node of the cluster, and {later[:80]} is one")
    boot = [] if is_known_later or later == own else [f"a reboot brings {later[:80]}"]
    if now and later != own:
        # The name of now is invalid, so the one of the file is checked by itself.
        boot = [f"{later[:80]}: {fault}" for fault in _faults(later)]
    return now, boot


def _faults_of_cluster(cluster: Cluster, own: Tuple[str, ...]) -> List[str]:
    """The faults of the names of SCAN, of nodes other than ``own``, and of the cluster."""
    faults = [
        f"{host[:80]}: {fault}"
        for host in dict.fromkeys((*cluster.scan, *cluster.members))
        if host not in own
        for fault in _faults(host)
    ]
    name = cluster.name or ""
    if name and (len(name) > _CLUSTER_NAME or not _LABEL.match(name)):
        faults.append(f"the cluster's name {name[:40]} is not of up to 15 letters and digits")
    elif name[:1].isdigit():
        faults.append(f"the cluster's name {name[:40]} begins with a digit")
    return faults


@rules.check(
    "name_resolution.hostname",
    "Host and cluster names are valid and persistent",
    "Host or cluster name is invalid or not persistent",
    severity="high",
    takes_effect="reboot",
    why="Clusterware rejects names with an underscore. After a name change at reboot, the "
    "listener, the cluster and agents no longer find their name.",
    reference=_NAMES + " (RFC 952: no underscores); RFC 1123, section 2.1; hostname(5)",
)
def hostname(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("hostname", policy)
    own: str = known(facts.own)
    cluster = if_known(facts.cluster, Cluster(None, (), (), ""))
    static = facts.static or ""
    later = if_known(static, "") or own
    is_kept = later == own
    now, boot = _faults_of_host(own, later, cluster)
    others = _faults_of_cluster(cluster, (own, later))
    capitals = f"{own[:80]} has capitals, which tools of Oracle stumbled over (bug 5168043)"
    remarks = [capitals] if own != own.lower() else []
    no_name = f"{STATIC} has no name: the program that sets the host name can change it"
    unset = [no_name] if static == "" else []
    change = _name_steps(own, later, now, boot, remarks, unset)
    after = [_AT_CLUSTER] if others else []
    return layered(
        persisted=Layer(
            static if isinstance(static, HostproofError) else static[:255] or "nothing",
            status_for(boot or (is_kept and now), unset or (is_kept and remarks)),
            STATIC,
        ),
        running=Layer(own[:255], status_for(now + others, remarks)),
        also=[("cluster names", facts.cluster)],
        why=f"{'; '.join(now + others + boot + remarks + unset)}.",
        advice=Advice(both=[*change, *after], persisted=change, running=after),
        desired="small letters, digits and hyphens, at most 63 a label",
        evidence=["file:" + HOSTNAME, "file:" + STATIC],
    )


def _name_steps(
    own: str, later: str, now: List[str], boot: List[str], remarks: List[str], unset: List[str]
) -> List[Step]:
    """The steps for the faults of the name now and after a reboot."""
    if not now and (boot or unset):
        # Another name in the file never renames a host that has software.
        return [Edit(STATIC, own)]
    if now and (boot or later == own):
        return [_RENAME]
    return [_SMALL] if remarks else []


@rules.check(
    "name_resolution.hostname_address",
    "Hostname resolves to an address that other hosts reach",
    "Hostname does not resolve to an address that other hosts reach",
    severity="high",
    takes_effect="listener_restart",
    why="A listener binds to the loopback address and no other host can connect. Instances do "
    "not register, and Clusterware rejects the node.",
    reference="MOS 1054902.1 (127.0.0.1 is localhost alone); " + _NAMES,
)
def hostname_address(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("hostname_address", policy)
    own: str = known(facts.own)
    answer: Found = known(facts.found[own])
    here: List[Address] = known(facts.addresses)
    owned = {address.address: address.interface for address in here}
    astray = strays(answer.addresses)
    foreign = [address for address in answer.addresses if address not in (*owned, *astray)]
    lines = in_hosts(facts, own, answer.name)
    problems = []
    if not answer.addresses:
        problems.append(f"{own} does not resolve")
    if astray:
        problems.append(f"{own} leads to {listed(astray)}{places(_with(lines, astray))}")
    if foreign:
        problems.append(f"no interface has {listed(foreign)}{places(_with(lines, foreign))}")
    texts = [
        f"{address} ({owned[address]})" if address in owned else address
        for address in answer.addresses
    ]
    return Verdict(
        status_for(problems),
        f"{'; '.join(problems)}.",
        advice=Advice([_address_step(facts, own, _with(lines, [*astray, *foreign]))]),
        desired="addresses of this host's interfaces, none of the loopback",
        persisted=f"in {HOSTS}" if lines else f"not in {HOSTS}",
        running=f"{answer.name or own}: {listed(texts)}",
        evidence=["command:getent ahosts " + own, "file:" + HOSTS, devices.ADDRESSES_KEY],
    )


def _with(lines: List[Entry], addresses: List[str]) -> List[Entry]:
    return [line for line in lines if line.address in addresses]


def _address_step(facts: Facts, own: str, wrong: List[Entry]) -> Step:
    """The step that gives the host its public address, instead of the ``wrong`` lines."""
    if not wrong:
        return Ask(f"give {own} the public address of this host in DNS, or in a line of {HOSTS}")
    if isinstance(facts.template, Template):
        return Edit(
            facts.template.path,
            what=f"set manage_etc_hosts: false ({facts.template.place}), then give {own} the "
            f"public address of this host in {HOSTS}",
        )
    numbers = listed([str(line.line) for line in wrong])
    return Edit(
        HOSTS,
        what=f"give {own} the public address of this host in {HOSTS} (line {numbers}), and "
        f"leave {LOOPBACK} to localhost",
    )


@rules.check(
    "name_resolution.reverse_lookup",
    "Reverse lookup of the host's addresses returns its name",
    "Reverse lookup does not return the hostname",
    severity="medium",
    takes_effect="now",
    why="Programs that do reverse lookups (sshd, audits, agents) see the wrong name or hang.",
    reference="getent(1), hosts; RFC 1912, section 2.1",
    because_of=("name_resolution.hostname_address",),
)
def reverse_lookup(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("reverse_lookup", policy)
    own: str = known(facts.own)
    answer: Found = known(facts.found[own])
    if not facts.back:
        raise Skip(f"{own} has no address.")
    backs = {address: known(names) for address, names in facts.back.items()}
    silent = [address for address, names in backs.items() if not names]
    wrong = [address for address, names in backs.items() if short(own) not in map(short, names)]
    others = [f"{address} is {backs[address][0]}" for address in wrong if backs[address]]
    problems = others + [f"{address} has no name" for address in silent]
    # A line of localhost can have the name too: then localhost is the canonical name.
    name = answer.name if answer.name and short(answer.name) == short(own) else own
    return Verdict(
        status_for(others, silent),
        f"{'; '.join(problems[:8])}.",
        advice=Advice([Ask(_reverse_step(own, name, wrong))]),
        desired=name,
        running="; ".join(f"{address}: {listed(names)}" for address, names in backs.items()),
        evidence=["command:getent hosts " + address for address in backs],
    )


def _reverse_step(own: str, name: str, wrong: List[str]) -> str:
    """What makes the ``wrong`` addresses lead to the name."""
    public = [address for address in wrong if address not in strays(wrong)]
    if short(own) == "localhost":
        return f"correct name_resolution.hostname first: the host is named {own}"
    if public:
        return (
            f"correct the PTR record of {listed(public)} in DNS to {name}, or put the name first "
            f"in its line of {HOSTS}"
        )
    return f"correct name_resolution.hostname_address first: {own} leads to {listed(wrong)}"


@rules.check(
    "name_resolution.listener_address",
    "Listeners use addresses that other hosts reach",
    "A listener uses an address that other hosts cannot reach",
    severity="high",
    takes_effect="listener_restart",
    why="Only this host can connect. A listener that started with a loopback address keeps it "
    "until it is restarted.",
    reference="Oracle Database Net Services Reference, listener.ora, HOST; ss(8)",
    because_of=("name_resolution.hostname_address",),
)
def listener_address(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("listener_address", policy)
    endpoints: List[Endpoint] = known(facts.endpoints)
    if not endpoints:
        raise Skip("No listener that runs has the name of a host in its listener.ora.")
    owned = [address.address for address in known(facts.addresses)]
    problems, answers, bound = [], [], []
    names: List[str] = []
    restart: List[str] = []
    for endpoint in endpoints:
        answer: Found = known(facts.found[endpoint.name])
        answers.append(f"{endpoint.name}: {listed(answer.addresses, 'no address')}")
        leads = _where_it_leads(answer, owned)
        if leads:
            problems.append(f"{endpoint.listener}: {endpoint.name} {leads}")
            names.append(endpoint.name)
        sockets = [s.address for s in known(facts.sockets) if str(s.port) == endpoint.port]
        bound.append(f"{listed(sorted(set(sockets)))} port {endpoint.port[:5]}")
        listens = _where_it_listens(endpoint, sockets)
        if listens:
            problems.append(f"{endpoint.listener} {listens}")
            restart.append(endpoint.listener)
    return Verdict(
        status_for(problems),
        f"{'; '.join(dict.fromkeys(problems))}.",
        advice=Advice(
            [
                *(
                    Ask(f"correct the address of {name} in {HOSTS} or DNS")
                    for name in dict.fromkeys(names)
                ),
                *(
                    Wait("listener_restart", f"the listener {name}")
                    for name in dict.fromkeys(restart)
                ),
            ]
        ),
        desired="an address of this host's interfaces",
        persisted=listed([f"{endpoint.listener} HOST={endpoint.name}" for endpoint in endpoints]),
        running="; ".join(dict.fromkeys(answers)),
        in_use="; ".join(dict.fromkeys(bound)),
        evidence=[key for endpoint in endpoints for key in endpoint.evidence] + [SOCKETS],
    )


def _where_it_leads(answer: Found, owned: List[str]) -> str:
    """Where a name of a listener leads; "" to an address of this host that others reach."""
    astray = strays(answer.addresses)
    if astray:
        return f"leads to {listed(astray)}"
    if not answer.addresses:
        return "does not resolve"
    is_here = set(answer.addresses) & set(owned)
    return "" if is_here else f"is {answer.addresses[0]}, of another host"


def _where_it_listens(endpoint: Endpoint, sockets: List[str]) -> str:
    """Where a listener listens instead; "" on its port, for other hosts."""
    if not sockets:
        return f"does not listen on port {endpoint.port[:5]}"
    if any(s in _ANY or not strays([s.strip("[]").split("%")[0]]) for s in sockets):
        return ""
    return f"listens on {listed(sorted(set(sockets)))} alone"
