# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts of a report are nodes of one cluster, and what they stated of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple, Protocol

#: The control whose findings state what a node is, and the check that states of which cluster.
NAME = "cluster_nodes"
COMPLETE = "cluster_nodes.complete"
#: The check whose findings state to which database a pool connects.
SESSIONS = "pool_validation.sessions"
#: The check whose values are the exports of datafiles that a host mounts.
SHARED_EXPORT = "nfs_mounts.shared_export"
#: The check whose values are the ASM disks that a node has open, by their serial numbers.
ASM_DISKS = "block_devices.asm_disks"
_SOFTWARE = "cluster_nodes.software"
_ADDRESSES = "cluster_nodes.addresses"
#: Checks of other controls that measure a node, with the check that compares the values.
_MEASURED = {
    "time_sync.offset": "cluster_nodes.clock",
    "latency.logical_reads": "cluster_nodes.hardware",
    "latency.disk_read": "cluster_nodes.hardware",
    "latency.tcp": "cluster_nodes.network",
    "name_resolution.scan": "cluster_nodes.network",
    "name_resolution.cluster_names": "cluster_nodes.network",
}

#: A host states the name of its cluster: no more of it than a name has.
_NO_NAME = re.compile(r"[^A-Za-z0-9._ -]")
_LONGEST = 100

#: The instance that is before the title of a finding: a name of at most 15 and a number.
_INSTANCE = re.compile(r"([A-Za-z][A-Za-z0-9_$]{0,13}?)[0-9]{1,2}(?=: )")


class State(Protocol):
    """A host of a report (report/store)."""

    @property
    def name(self) -> str:
        """The name of the host."""

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Its findings."""


class Verdict(NamedTuple):
    """Result of a check on a node, with the layers that a policy or an administrator sets."""

    status: str
    desired: str | None
    persisted: str | None
    running: str | None = None


class Node(NamedTuple):
    """``traits`` by the id of their check, and ``verdicts`` by id and title of theirs.

    ``disks`` are the sizes of ASM disks by serial number, None where the control did not run.
    """

    host: str
    own_name: str
    traits: dict[str, dict[str, Any]]
    verdicts: dict[tuple[str, str], Verdict]
    disks: dict[str, Any] | None

    def is_called(self, name: str) -> bool:
        """By the inventory or by itself, with or without a domain."""
        return any(is_same(name, own) for own in (self.host, self.own_name))


class Cluster(NamedTuple):
    """``expected`` are the names of the nodes that it has, as far as any node knows them."""

    name: str
    nodes: list[Node]
    expected: list[str]

    @property
    def missing(self) -> list[str]:
        return [name for name in self.expected if not any(n.is_called(name) for n in self.nodes)]


def cluster_of(findings: Iterable[dict[str, Any]]) -> str | None:
    """The cluster that a host states it is a node of."""
    values = _finding_of_cluster(findings).get("values") or {}
    return plain(values["cluster"]) if values.get("cluster") else None


def plain(name: Any) -> str:
    """A name from a host's answer, without characters that are invalid in names."""
    return _NO_NAME.sub("?", str(name))[:_LONGEST]


def _finding_of_cluster(findings: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return next((finding for finding in findings if finding["check"] == COMPLETE), {})


def clusters_of(states: Iterable[State]) -> list[Cluster]:
    """The clusters, by name. Equal texts of several nodes are held once."""
    kept: dict[object, object] = {}
    nodes: dict[str, list[Node]] = {}
    expected: dict[str, dict[str, None]] = {}
    for state in states:
        name = cluster_of(state.findings)
        if name is None:
            continue
        values = _finding_of_cluster(state.findings)["values"]
        nodes.setdefault(name, []).append(node_of(state, kept))
        names = [node.strip() for node in str(values.get("nodes") or "").split(",")]
        expected.setdefault(name, {}).update((node, None) for node in names if node)
    return [Cluster(name, nodes[name], list(expected[name])) for name in sorted(nodes)]


def node_of(state: State, kept: dict[Any, Any], *, running: bool = False) -> Node:
    """What a host stated of itself. ``kept`` holds equal texts once; ``running``: with the running
    values, which two nodes under different load need not share."""
    own_name = str((_finding_of_cluster(state.findings).get("values") or {}).get("node") or "")
    traits = _traits_of(state.findings)
    bare = partial(_without_names, _names_of(state.name, own_name, traits))
    alone = _alone(state.findings)
    verdicts: dict[tuple[str, str], Verdict] = {}
    for finding in state.findings:
        if finding["control"] == NAME:
            continue
        title, desired, persisted = finding["title"], finding["desired"], finding["persisted"]
        instance = alone.get((finding["check"], title))
        if instance is not None:
            sid, common = re.compile(rf"\b{re.escape(instance[0])}\b"), f"{instance[1]}*"
            title = sid.sub(common, title, count=1)
            desired, persisted = (text and sid.sub(common, text) for text in (desired, persisted))
        key = (finding["check"], title)
        status = (finding["waiver"] or {}).get("was") or finding["status"]
        verdict = Verdict(
            status, bare(desired), bare(persisted), bare(finding["running"]) if running else None
        )
        verdicts[kept.setdefault(key, key)] = kept.setdefault(verdict, verdict)
    return Node(state.name, own_name, traits, verdicts, _disks_of(state.findings))


def _traits_of(findings: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    own = [entry for entry in findings if entry["control"] == NAME]
    traits = {entry["check"]: dict(entry["values"]) for entry in own if entry["values"]}
    for finding in findings:
        compared_by = _MEASURED.get(finding["check"], "")
        if compared_by in traits and finding["values"]:
            measured = {name: value for name, value in finding["values"].items() if name != "unit"}
            traits[compared_by].update(measured)
    return traits


def _disks_of(findings: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    own_findings = [finding for finding in findings if finding["check"] == ASM_DISKS]
    return {
        name: size for finding in own_findings for name, size in (finding["values"] or {}).items()
    } or None


def _alone(findings: Iterable[dict[str, Any]]) -> dict[tuple[str, str], re.Match[str]]:
    """Check and title where a subject such as SALES1 is the only one of SALES and a number: on the
    next node that one is SALES2, and what is required of both, and persisted for both, is alike."""
    by_stem: dict[tuple[str, str], list[tuple[str, re.Match[str]]]] = {}
    for finding in findings:
        instance = _INSTANCE.match(finding["title"])
        if instance is not None:
            stem = finding["check"], instance[1]
            by_stem.setdefault(stem, []).append((finding["title"], instance))
    return {
        (stem[0], names[0][0]): names[0][1] for stem, names in by_stem.items() if len(names) == 1
    }


def _names_of(host: str, own_name: str, traits: dict[str, dict[str, Any]]) -> re.Pattern[str]:
    """What is in texts of one node alone: its names and addresses, and the release of its kernel,
    which is compared by itself."""
    kernel = str(traits.get(_SOFTWARE, {}).get("kernel") or "")
    addresses = str(traits.get(_ADDRESSES, {}).get("addresses") or "").split(", ")
    names = {host, own_name, _short(host), _short(own_name), kernel, *addresses} - {""}
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])", re.IGNORECASE)


def _without_names(names: re.Pattern[str], text: str | None) -> str | None:
    return None if text is None else names.sub("*", text)


def is_same(name: str, other: str) -> bool:
    """Two names with a domain, or two addresses, are of one host only where they are equal."""
    if "." in name and "." in other:
        return name.lower() == other.lower()
    return _short(name) == _short(other)


def _short(name: str) -> str:
    return name.partition(".")[0].lower()
