# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings on a cluster: what its nodes differ in, with both values and who has them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible.module_utils.hostproof.controls.cluster_nodes import rules_traits
from ansible.module_utils.hostproof.controls.cluster_nodes.facts import GRID_HOME, GRID_PATCHES
from ansible.module_utils.hostproof.evaluate.checking import Rule
from ansible.module_utils.hostproof.evaluate.finding import (
    ERROR,
    FAIL,
    PASS,
    SKIP,
    WARN,
    Check,
    make_finding,
)

from . import pace
from .nodes import Cluster, Node, Verdict
from .remedies import remedy_of

#: Traits that must be equal now; a difference in others has an effect only after a failover.
#: Clusterware of another patch level than that of the cluster does not start (CRS-6706).
_FAILS = ("mtu ", "huge_pages", "uid_gid ", "disk ", GRID_PATCHES)
#: Tolerance for numbers that vary between equal machines, as a share of the largest value. The
#: kernel reserves a varying amount of memory at boot.
_TOLERANCE = {"memory_mib": 0.01}
#: Maximum spread of measured values, from the lowest to the highest, in the unit of the name.
_SPREAD = {"clock_offset_ms": 100.0}

_TRAITS: tuple[Rule, ...] = (
    rules_traits.software,
    rules_traits.hardware,
    rules_traits.huge_pages,
    rules_traits.network,
    rules_traits.clock,
    rules_traits.accounts,
)

SAME = "the same on all nodes"
#: Kilobytes, from 100 MB.
_AMOUNT = re.compile(r"([0-9]{6,18})")
_ONE_NODE = "each address on one node"
#: Addresses that a finding names, of those that several nodes have.
_MOST_ADDRESSES = 8

#: Statuses between which a difference is nobody's fault: what does not apply to one of them.
_EQUAL = (PASS, SKIP)


class Same(NamedTuple):
    """Nodes that have the same value."""

    value: object
    hosts: list[str]


def findings_on(cluster: Cluster) -> list[dict[str, Any]]:
    """The findings on a cluster, as a line of findings.jsonl has them."""
    found_here = [_complete(cluster)]
    for rule in _TRAITS:
        found_here += _traits(cluster, rule.check)
    found_here.append(_addresses(cluster))
    found_here += _disks(cluster)
    found_here += _verdicts(cluster)
    return found_here


def _complete(cluster: Cluster) -> dict[str, Any]:
    check = rules_traits.complete.check
    seen = ", ".join(node.host for node in cluster.nodes)
    expected = ", ".join(cluster.expected) or None
    if cluster.missing:
        names = ", ".join(cluster.missing)
        why = f"{names} has no result, so the nodes of {cluster.name} cannot be compared."
        fix = f"audit {names} too, in this run or in a run whose report is joined with this one"
        return _cluster_finding(check, ERROR, why, fix=fix, desired=expected, running=seen)
    if not cluster.expected and len(cluster.nodes) < 2:
        why = "Only one node is known: set cluster_nodes_expected to say which there are."
        return _cluster_finding(check, ERROR, why, fix="set cluster_nodes_expected", running=seen)
    return _cluster_finding(check, PASS, desired=expected, running=seen)


def _trait(check: Check, name: str, nodes: list[Node], names: list[str]) -> list[dict[str, Any]]:
    if pace.is_pace(name):
        return _pace(check, name, {node.host: node.traits[check.id].get(name) for node in nodes})
    by_host = {node.host: _trait_of(node, check, name) for node in nodes}
    bad = WARN if _is_spare(name, names, by_host) else FAIL
    return differences(check, name, by_host, bad)


def _traits(cluster: Cluster, check: Check) -> list[dict[str, Any]]:
    """A finding for each trait that differs or is not known of a node; one where all agree."""
    unjudged = [node.host for node in cluster.nodes if check.id not in node.traits]
    findings = []
    if unjudged:
        why = f"{', '.join(unjudged)} has no data: audit it again with the control cluster_nodes."
        findings.append(_cluster_finding(check, ERROR, why))
    nodes = [node for node in cluster.nodes if check.id in node.traits]
    names = list(dict.fromkeys(name for node in nodes for name in node.traits[check.id]))
    # After out-of-place patching, the Grid home of one node is an unused home of another.
    homes = {f"patches {node.traits[check.id].get(GRID_HOME)}" for node in nodes}
    for name in names:
        if name not in homes:
            findings += _trait(check, name, nodes, names)
    return findings or [_all_alike(cluster, check, f"{len(names)} values are equal")]


def _is_spare(name: str, names: Collection[str], by_host: Mapping[str, Any]) -> bool:
    """Whether it is the MTU of an interface that has no address and that some nodes do not have."""
    device = name.removeprefix("mtu ")
    values = set(by_host.values())
    has_none = "none" in values and len(values) == 2
    return has_none and device != name and not {"subnets", f"subnets {device}"} & set(names)


def _addresses(cluster: Cluster) -> dict[str, Any]:
    """The finding on addresses that several nodes have."""
    check = rules_traits.addresses.check
    owners: dict[str, list[str]] = {}
    unknown = []
    for node in cluster.nodes:
        listed = node.traits.get(check.id, {}).get("addresses")
        if not isinstance(listed, str):
            unknown.append(node.host)
            continue
        for address in dict.fromkeys(filter(None, listed.split(", "))):
            owners.setdefault(address, []).append(node.host)
    shared = [f"{item} on {', '.join(hosts)}" for item, hosts in owners.items() if len(hosts) > 1]
    if shared:
        return _cluster_finding(
            check,
            FAIL,
            f"{'; '.join(shared[:_MOST_ADDRESSES])}. {check.why}",
            fix="give each node a separate address, or waive an address of a network that nodes do "
            "not share",
            desired=_ONE_NODE,
            running=f"{len(shared)} addresses on several nodes",
        )
    if unknown:
        why = f"The addresses of {', '.join(unknown)} are unknown: audit them again."
        return _cluster_finding(check, ERROR, why, desired=_ONE_NODE)
    return _all_alike(cluster, check, f"{len(owners)} addresses are different", _ONE_NODE)


def _disks(cluster: Cluster) -> list[dict[str, Any]]:
    """The findings on ASM disks that a node lacks, or that have another size there."""
    check = rules_traits.asm_disks.check
    if not any(node.disks for node in cluster.nodes):
        return [
            _cluster_finding(
                check, SKIP, "No node has reported a disk of ASM (control block_devices)."
            )
        ]
    silent = [node.host for node in cluster.nodes if not node.disks]
    findings = []
    if silent:
        why = f"The ASM disks of {', '.join(silent)} are unknown."
        fix = "start ASM or an instance there, or list its disks in block_devices_devices"
        findings.append(_cluster_finding(check, ERROR, why, fix=fix, desired=SAME))
    by_host = {node.host: node.disks for node in cluster.nodes if node.disks}
    serials = list(dict.fromkeys(name for disks in by_host.values() for name in disks))
    for name in serials:
        # A disk without a serial number is not known to be another one.
        sizes = {
            host: disks.get(name, None if None in disks.values() else "none")
            for host, disks in by_host.items()
        }
        findings += differences(check, name, sizes)
    return findings or [_all_alike(cluster, check, f"{len(serials)} disks are equal")]


def _all_alike(cluster: Cluster, check: Check, what: str, desired: str = SAME) -> dict[str, Any]:
    """A pass where every node was seen: what one is like that was not, it is unknown."""
    if len(cluster.nodes) > 1 and not cluster.missing:
        return _cluster_finding(check, PASS, desired=desired, running=f"{what} on all nodes")
    who = ", ".join(cluster.missing) or "any other node"
    seen = ", ".join(node.host for node in cluster.nodes)
    return _cluster_finding(
        check,
        ERROR,
        f"Nothing is known of {who} to compare with.",
        desired=desired,
        running=f"{what} on {seen}",
        because_of=[rules_traits.complete.check.id],
    )


def _trait_of(node: Node, check: Check, name: str) -> object:
    """Its value; "none" if the node does not have this trait, None if that is unknown."""
    traits = node.traits[check.id]
    # If a value could not be read, the missing trait may be the unread one.
    return traits.get(name, None if None in traits.values() else "none")


def differences(
    check: Check, name: str, by_host: Mapping[str, Any], bad: str = FAIL
) -> list[dict[str, Any]]:
    """The findings on a value by host: where it differs, and where it is None, not known.

    ``bad`` is the status of a difference that has an effect now.
    """
    title = f"{name}: {check.title}"
    findings = []
    unknown = [host for host, value in by_host.items() if value is None]
    known = {host: value for host, value in by_host.items() if value is not None}
    if unknown:
        why = (
            f"{name} is unknown for {', '.join(unknown)}: the finding of the node shows the reason."
        )
        findings.append(_cluster_finding(check, ERROR, why, title=title, desired=SAME))
    groups = alike(known, _TOLERANCE.get(name, 0))
    if len(groups) > 1 and not _is_within(known.values(), _SPREAD.get(name)):
        findings.append(
            _cluster_finding(
                check,
                bad if name.startswith(_FAILS) else WARN,
                f"{odd_one_out(groups)}. {check.why}",
                title=title,
                desired=SAME,
                fix=remedy_of(name, known, odd_nodes(groups)),
                running=_listed(groups),
                values=dict(sorted(known.items())),
            )
        )
    return findings


def _pace(check: Check, name: str, by_host: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Only who was measured is compared: what is wrong with a measurement its own finding
    states."""
    slow = pace.slower(name, by_host)
    if not slow:
        return []
    known = {host: value for host, value in by_host.items() if value is not None}
    return [
        _cluster_finding(
            check,
            WARN,
            f"{', '.join(slow)} {'is' if len(slow) == 1 else 'are'} slower than the others under "
            "the same load.",
            title=f"{name}: {check.title}",
            desired=SAME,
            fix="compare the nodes: huge pages, processors, drivers, paths, mount options",
            running="; ".join(f"{value} on {host}" for host, value in sorted(known.items())),
            values=known,
        )
    ]


def _verdicts(cluster: Cluster) -> list[dict[str, Any]]:
    """Findings for checks with different results on the nodes; every node has these checks.

    Differences in one control between the same nodes are in one finding.
    """
    check = rules_traits.check_results.check
    first, *others = cluster.nodes
    shared = [key for key in first.verdicts if all(key in node.verdicts for node in others)]
    by_control: dict[tuple[str, str], list[_Difference]] = {}
    for check_id, title in shared:
        layers = {node.host: node.verdicts[check_id, title] for node in cluster.nodes}
        difference = _layer_that_differs(layers)
        if difference:
            layer, groups = difference
            control = check_id.partition(".")[0]
            entry = _Difference(check_id, title, layer, groups)
            by_control.setdefault((control, odd_one_out(groups)), []).append(entry)
    if by_control:
        return [_as_finding(check, *where, found_here) for where, found_here in by_control.items()]
    if not shared:
        return [_cluster_finding(check, SKIP, "No other control checked all nodes.", desired=SAME)]
    return [_all_alike(cluster, check, f"{len(shared)} findings are equal")]


class _Difference(NamedTuple):
    """Values of a check in one layer, or its statuses, with the nodes that have each."""

    check_id: str
    title: str
    layer: str
    groups: list[Same]

    def __str__(self) -> str:
        return f"{self.check_id} ({self.layer}): {_listed(self.groups)}"


def _as_finding(
    check: Check, control: str, who: str, differences: list[_Difference]
) -> dict[str, Any]:
    ids = list(dict.fromkeys(difference.check_id for difference in differences))
    return _cluster_finding(
        check,
        WARN,
        f"{who}. {check.why}",
        title=f"{control}: {check.title}",
        desired=SAME,
        fix=f"./hostproof explain {ids[0]}",
        running="; ".join(map(str, differences)),
        because_of=ids,
    )


def _layer_that_differs(by_host: Mapping[str, Verdict]) -> tuple[str, list[Same]] | None:
    """The status, or else what is required, or else what the next reboot brings."""
    statuses = {host: finding.status for host, finding in by_host.items()}
    if not set(statuses.values()) <= set(_EQUAL):
        groups = alike(statuses)
        if len(groups) > 1:
            return "status", groups
    if SKIP in statuses.values():
        return None
    for layer in ("desired", "persisted"):
        groups = layer_of(by_host, layer)
        if len(groups) > 1:
            return layer, groups
    return None


def layer_of(by_host: Mapping[str, Verdict], layer: str) -> list[Same]:
    """The hosts by what they have in a layer."""
    texts = {host: getattr(finding, layer) or "nothing" for host, finding in by_host.items()}
    is_of_memory = layer == "desired" and all(text.endswith(" kB") for text in texts.values())
    return alike(texts, _TOLERANCE["memory_mib"] if is_of_memory else 0)


def traits_that_differ(nodes: list[Node]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Check, name and values by host of the traits that every node stated and that differ."""
    for rule in _TRAITS:
        check = rule.check
        if not all(check.id in node.traits for node in nodes):
            continue
        for name in dict.fromkeys(name for node in nodes for name in node.traits[check.id]):
            values = {node.host: _trait_of(node, check, name) for node in nodes}
            groups = alike(values, _TOLERANCE.get(name, 0))
            is_measured = pace.is_pace(name) or _is_within(values.values(), _SPREAD.get(name))
            if len(groups) > 1 and not is_measured:
                yield check.id, name, values


def alike(by_host: Mapping[str, Any], tolerance: float = 0) -> list[Same]:
    """The hosts by what they have, most hosts first."""
    groups: list[Same] = []
    for host, value in sorted(by_host.items()):
        for group in groups:
            if _equal(group.value, value, tolerance):
                group.hosts.append(host)
                break
        else:
            groups.append(Same(value, [host]))
    return sorted(groups, key=lambda group: -len(group.hosts))


def _is_within(values: Collection[object], spread: float | None) -> bool:
    """Whether measured numbers are within the permitted spread; False for other values."""
    numbers = [number for number in values if isinstance(number, (int, float))]
    if spread is None or len(numbers) != len(list(values)):
        return False
    return max(numbers) - min(numbers) <= spread


def _equal(value: Any, other: Any, tolerance: float) -> bool:
    if tolerance and isinstance(value, str) and isinstance(other, str):
        # A share of memory: the odd parts are numbers.
        parts, others = _AMOUNT.split(value), _AMOUNT.split(other)
        return len(parts) == len(others) and all(
            _equal(int(part), int(others[at]), tolerance) if at % 2 else part == others[at]
            for at, part in enumerate(parts)
        )
    numbers = isinstance(value, (int, float)) and isinstance(other, (int, float))
    if tolerance and numbers:
        return abs(value - other) <= tolerance * max(abs(value), abs(other))
    return bool(value == other)


def odd_one_out(groups: list[Same]) -> str:
    """Sentence that names the nodes that differ from the majority, if there is a majority."""
    odd = odd_nodes(groups)
    if not odd:
        return "The nodes differ, and no value is that of most"
    return f"{', '.join(odd)} {'is' if len(odd) == 1 else 'are'} not like the others"


def odd_nodes(groups: list[Same]) -> list[str]:
    """The nodes that differ from the majority; none if no value is that of most."""
    most, *others = groups
    if len(most.hosts) == len(others[0].hosts):
        return []
    return [host for group in others for host in group.hosts]


def _listed(groups: Iterable[Same]) -> str:
    return "; ".join(f"{group.value} on {', '.join(group.hosts)}" for group in groups)


def _cluster_finding(
    check: Check, status: str, why: str | None = None, **more: Any
) -> dict[str, Any]:
    return make_finding(check, status, why=why, **more).as_dict()
