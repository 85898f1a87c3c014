# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings with the traits of a node. At the end of a run the controller compares their ``values``
and reports differences as findings of the cluster with the same check ids
(plugin_utils/hostproof_controller/cluster)."""

from typing import Any, Dict, List, Optional, Set, Tuple

from ...collect.answer import existing, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Rules, Skip, Verdict, undetermined
from ...evaluate.finding import FAIL, PASS, SKIP
from ...probes.net import devices
from .facts import (
    ACCOUNTS,
    CORE_PATTERN,
    CORE_USES_PID,
    CPUINFO,
    MEMINFO,
    OS_RELEASE,
    RELEASE,
    SCP,
    Facts,
    Traits,
    login_of,
)
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

LATER = "Nodes are compared when the run has ended: see the cluster."
#: The uid of root, before its gid.
_ROOT = "0:"
_MOST_NAMED = 8
BOOK = "Oracle Grid Infrastructure Installation Guide, requirements for all nodes"


@rules.check(
    "cluster_nodes.complete",
    "Every cluster node has results",
    "A cluster node has no results",
    severity="high",
    takes_effect="now",
    why="Problems on the missing node stay undetected, and the nodes cannot be compared "
    "completely.",
    reference=BOOK,
)
def complete(facts: Facts, _policy: Policy) -> Verdict:
    cluster = existing(facts.cluster)
    nodes = ", ".join(cluster.nodes)
    return Verdict(
        SKIP,
        LATER,
        running=f"{cluster.node} of {cluster.name}" + (f" ({nodes})" if nodes else ""),
        values={"cluster": cluster.name, "node": cluster.node, "nodes": nodes},
        evidence=cluster.evidence,
    )


@rules.check(
    "cluster_nodes.software",
    "Cluster nodes run the same software and patches",
    "Cluster nodes differ in kernel, core files, homes or patches",
    severity="high",
    takes_effect="reboot",
    why="Workload that moves to a node with different software behaves differently there.",
    reference=BOOK + "; Clusterware Administration and Deployment Guide, patching; CVU PRVF-06402 "
    "(core file name pattern)",
)
def software(facts: Facts, _policy: Policy) -> Verdict:
    files = (RELEASE, OS_RELEASE, CORE_PATTERN, CORE_USES_PID)
    return _verdict_for_traits(facts.software, ["file:" + path for path in files])


@rules.check(
    "cluster_nodes.hardware",
    "Cluster nodes have the same CPUs, memory and speed",
    "Cluster nodes differ in CPUs, memory or speed",
    severity="low",
    takes_effect="reboot",
    why="The smallest node limits what a service can use after it moves there.",
    reference=BOOK + ", hardware",
)
def hardware(facts: Facts, _policy: Policy) -> Verdict:
    return _verdict_for_traits(facts.hardware, ["file:" + CPUINFO, "file:" + MEMINFO])


@rules.check(
    "cluster_nodes.huge_pages",
    "Cluster nodes have the same huge page pool",
    "Cluster nodes have different huge page pools",
    severity="high",
    takes_effect="reboot",
    why="An instance that moves to a node without huge pages uses 4 KiB pages or does not start.",
    reference="Oracle Database Administrator's Reference for Linux, HugePages",
)
def huge_pages(facts: Facts, _policy: Policy) -> Verdict:
    return _verdict_for_traits(facts.huge_pages, ["file:" + MEMINFO])


@rules.check(
    "cluster_nodes.network",
    "Cluster nodes have the same network and name resolution",
    "Cluster nodes differ in network setup or name resolution",
    severity="high",
    takes_effect="now",
    why="With different MTUs, large interconnect messages are lost or fragmented. With "
    "different name resolution, nodes connect to addresses where no peer listens.",
    reference=BOOK + ", network interfaces; My Oracle Support 1945838.1 (names and subnets)",
)
def network(facts: Facts, _policy: Policy) -> Verdict:
    return _verdict_for_traits(facts.network, ["dir:" + devices.CLASS, devices.ADDRESSES_KEY])


@rules.check(
    "cluster_nodes.addresses",
    "Every address is on one cluster node only",
    "An address is on several cluster nodes",
    severity="high",
    takes_effect="now",
    why="Packets for the address reach one node or the other, as the ARP cache of the sender has "
    "it.",
    reference="CVU PRVG-1172, PRVG-11067; RFC 5227 (IPv4 Address Conflict Detection)",
)
def addresses(facts: Facts, _policy: Policy) -> Verdict:
    return _verdict_for_traits(facts.addresses, [devices.ADDRESSES_KEY])


@rules.check(
    "cluster_nodes.clock",
    "Cluster nodes keep time in the same way",
    "Cluster nodes differ in time service, time zone or clock offset",
    severity="medium",
    takes_effect="service_restart",
    why="Nodes whose clocks drift apart are evicted, and their logs cannot be compared.",
    reference=BOOK + ", cluster time synchronization",
)
def clock(facts: Facts, _policy: Policy) -> Verdict:
    return _verdict_for_traits(facts.clock, ["processes:time", "link:/etc/localtime"])


@rules.check(
    "cluster_nodes.accounts",
    "Accounts have the same uid, gid and groups on all nodes",
    "Cluster nodes have different uids, gids or groups of an account",
    severity="high",
    takes_effect="login",
    why="Files on shared storage belong to another account on the node with another number.",
    reference=BOOK + ", users and groups; CVU PRVF-04123, PRVF-04020, root user consistency",
)
def accounts(facts: Facts, _policy: Policy) -> Verdict:
    verdict = _verdict_for_traits(
        facts.accounts, [f"command:getent passwd {name}" for name in ACCOUNTS]
    )
    root = str((verdict.values or {}).get("uid_gid root"))
    if ":" not in root or root.startswith(_ROOT):
        return verdict
    return verdict._replace(
        status=FAIL,
        why=f"The uid and gid of root are {root}.",
        advice=Advice(
            [
                Ask(
                    "set the uid and gid of root to 0 in the line of root in /etc/passwd (vipw), "
                    "from a session of root that stays open"
                )
            ]
        ),
        desired="root has uid 0",
    )


@rules.check(
    "cluster_nodes.ssh",
    "Accounts log in on all nodes with ssh and without a password",
    "An account cannot log in on a node with ssh",
    severity="high",
    takes_effect="now",
    why="The installer, patches and the addition of a node copy files to all nodes with ssh.",
    reference=BOOK + ", SSH connectivity; CVU User Equivalence (PRVG-2019), PRVF-00046 (scp)",
)
def ssh(facts: Facts, policy: Policy) -> Verdict:
    logins = facts.ssh.logins
    has_no_scp = isinstance(facts.ssh.scp, Absent)
    if not logins and not has_no_scp:
        if policy.ssh_accounts:
            raise Unanswered("", "no other node is known: set cluster_nodes_expected")
        raise Skip("cluster_nodes_ssh_accounts is empty: an audit logs in nowhere else.")
    results = {pair: if_known(answer, None) for pair, answer in logins.items()}
    problems = [f"{pair[0]} on {pair[1]}: {text}" for pair, text in results.items() if text]
    if has_no_scp:
        problems.insert(0, f"this host has no {SCP}")
    if not problems:
        known(facts.ssh.scp)
        for answer in logins.values():
            known(answer)
    return Verdict(
        FAIL if problems else PASS,
        f"{'; '.join(problems[:_MOST_NAMED])}.",
        advice=Advice(_login_steps(results, has_no_scp)),
        desired="a login of each account on each node",
        running=f"{len([1 for text in results.values() if text == ''])} of {len(logins)} logins",
        evidence=[f"stat:{SCP}", *(f"command:{login_of(*pair)}" for pair in logins)],
    )


def _login_steps(results: Dict[Tuple[str, str], Optional[str]], has_no_scp: bool) -> List[Step]:
    """A step for each kind of problem, by the message of ssh."""
    steps: List[Step] = []
    if has_no_scp:
        steps.append(Ask("install the clients of OpenSSH (openssh-clients)"))
    kinds = (
        ("host key", "Host key verification", "add the host key of {1} to known_hosts of {0}"),
        ("output", "prints text", "remove the output from the profile of {0} on {1}"),
        ("key", "", "add the public key of {0} to its authorized_keys on {1}"),
    )
    shown_pairs: Set[Tuple[str, str]] = set()
    for _kind, sign, text in kinds:
        pairs = [pair for pair, problem in results.items() if problem and sign in problem]
        pairs = [pair for pair in pairs if pair not in shown_pairs]
        shown_pairs.update(pairs)
        for account in sorted({pair[0] for pair in pairs}):
            on = ", ".join(pair[1] for pair in pairs if pair[0] == account)
            steps.append(Ask(text.format(account, on)))
    return steps


@rules.check(
    "cluster_nodes.asm_disks",
    "Every cluster node has the same ASM disks",
    "A cluster node has other ASM disks or sizes",
    severity="critical",
    takes_effect="now",
    why="A disk group is not mounted on a node that lacks one of its disks (ORA-15042).",
    reference="Oracle Automatic Storage Management Administrator's Guide, disk discovery; CVU "
    "Device Checks for ASM",
)
def asm_disks(_facts: Facts, _policy: Policy) -> Verdict:
    return Verdict(SKIP, LATER)


@rules.check(
    "cluster_nodes.check_results",
    "Every check has the same result on all cluster nodes",
    "A check has different results on the cluster nodes",
    severity="medium",
    takes_effect="now",
    why="A setting was changed manually on one node, or a change was missed there.",
    reference="docs/controls/cluster_nodes.md",
)
def check_results(_facts: Facts, _policy: Policy) -> Verdict:
    return Verdict(SKIP, LATER)


def _verdict_for_traits(traits: Traits, evidence: List[str]) -> Verdict:
    """The traits as values. An unknown trait is null, and the finding is an error."""
    values: Dict[str, Any] = {}
    unknown: List[HostproofError] = []
    for name, answer in traits.items():
        if isinstance(answer, HostproofError):
            unknown.append(answer)
            values[name] = None
        else:
            values[name] = "none" if answer is None else answer
    text = "; ".join(f"{name}: {value}" for name, value in values.items() if value is not None)
    verdict = Verdict(SKIP, LATER, evidence=evidence)
    if unknown:
        verdict = undetermined(unknown[0])
    return verdict._replace(running=text or None, values=values)
