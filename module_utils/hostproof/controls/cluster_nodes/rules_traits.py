# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node says of itself. Which node is the odd one out only a whole run can tell: the
controller compares the ``values`` of these findings when every host has answered, and its findings
on the cluster are of the same checks (plugin_utils/hostproof_controller/cluster)."""

from typing import Any, Dict, List

from ...collect.answer import existing
from ...errors import HostproofError
from ...evaluate.checking import Rules, Verdict, undetermined
from ...evaluate.finding import SKIP
from .facts import CPUINFO, MEMINFO, OS_RELEASE, RELEASE, Facts, Traits
from .policy import NAME, Policy

rules = Rules(NAME)

LATER = "Nodes are compared when the run has ended: see the cluster."
WHY = "A node that differs from its peers behaves differently when work moves to it."
BOOK = "Oracle Grid Infrastructure Installation Guide, requirements for all nodes"


@rules.check(
    "cluster_nodes.complete",
    "Every node of the cluster was judged",
    severity="high",
    takes_effect="now",
    why="A node that nobody looked at can be the one that fails.",
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
    "All nodes run the same software",
    severity="high",
    takes_effect="reboot",
    why=WHY,
    reference=BOOK + "; Clusterware Administration and Deployment Guide, patching",
)
def software(facts: Facts, _policy: Policy) -> Verdict:
    return _said(facts.software, ["file:" + RELEASE, "file:" + OS_RELEASE])


@rules.check(
    "cluster_nodes.hardware",
    "All nodes have the same processors and memory",
    severity="low",
    takes_effect="reboot",
    why="The smallest node decides what a service may take when it moves there.",
    reference=BOOK + ", hardware",
)
def hardware(facts: Facts, _policy: Policy) -> Verdict:
    return _said(facts.hardware, ["file:" + CPUINFO, "file:" + MEMINFO])


@rules.check(
    "cluster_nodes.huge_pages",
    "All nodes have the same pool of huge pages",
    severity="high",
    takes_effect="reboot",
    why="An instance that moves to a node without huge pages takes small ones, or does not start.",
    reference="Oracle Database Administrator's Reference for Linux, HugePages",
)
def huge_pages(facts: Facts, _policy: Policy) -> Verdict:
    return _said(facts.huge_pages, ["file:" + MEMINFO])


@rules.check(
    "cluster_nodes.network",
    "All nodes have the same MTU, driver and firmware, and find the same by names",
    severity="high",
    takes_effect="now",
    why="With unequal MTU large messages of the interconnect are lost or cut into pieces; with "
    "unequal names nodes connect to other addresses than their peers listen on.",
    reference=BOOK + ", network interfaces",
)
def network(facts: Facts, _policy: Policy) -> Verdict:
    return _said(facts.network, ["dir:/sys/class/net"])


@rules.check(
    "cluster_nodes.clock",
    "All nodes keep time in the same way",
    severity="medium",
    takes_effect="service_restart",
    why="Nodes whose clocks drift apart are evicted, and their logs cannot be read side by side.",
    reference=BOOK + ", cluster time synchronization",
)
def clock(facts: Facts, _policy: Policy) -> Verdict:
    return _said(facts.clock, ["processes:time", "link:/etc/localtime"])


@rules.check(
    "cluster_nodes.check_results",
    "Every check says the same of all nodes",
    severity="medium",
    takes_effect="now",
    why="What is right on one node and wrong on its peer was changed by hand, or was missed there.",
    reference="docs/controls/cluster_nodes.md",
)
def check_results(_facts: Facts, _policy: Policy) -> Verdict:
    return Verdict(SKIP, LATER)


def _said(traits: Traits, evidence: List[str]) -> Verdict:
    """Its traits as values; those that are not known are null, and make it an error."""
    values: Dict[str, Any] = {}
    unknown: List[HostproofError] = []
    for name, answer in traits.items():
        if isinstance(answer, HostproofError):
            unknown.append(answer)
            values[name] = None
        else:
            values[name] = "none" if answer is None else answer
    told = "; ".join(f"{name}: {value}" for name, value in values.items() if value is not None)
    verdict = Verdict(SKIP, LATER, evidence=evidence)
    if unknown:
        verdict = undetermined(unknown[0])
    return verdict._replace(running=told or None, values=values)
