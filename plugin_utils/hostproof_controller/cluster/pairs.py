# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Differences between two hosts, which are compared as the nodes of a cluster are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ansible.module_utils.hostproof.evaluate.finding import PASS, SKIP, subject_of

from .comparison import layer_of, traits_that_differ
from .nodes import Node, State, Verdict, node_of

#: Where the other host does not have what was checked.
MISSING = "-"
#: Controls whose running values are measurements, which differ at any time.
_MEASURED = ("latency", "space", "storage_type")


class Row(NamedTuple):
    """``layer`` is empty for a trait and for a subject that only one host has."""

    control: str
    setting: str
    layer: str
    first: str
    second: str


def differences(first: State, second: State) -> list[Row]:
    """By control. Traits are compared where both hosts are nodes of clusters."""
    kept: dict[object, object] = {}
    nodes = [node_of(state, kept, running=True) for state in (first, second)]
    rows = [*_rows_of_traits(nodes)]
    #: Checks by control and subject, such as an instance or a mount, that only one host has.
    alone: dict[tuple[str, str], list[int]] = {}
    for key in dict.fromkeys(key for node in nodes for key in node.verdicts):
        check_id, title = key
        control, subject = check_id.partition(".")[0], subject_of(title) or ""
        one, other = (node.verdicts.get(key) for node in nodes)
        if subject and (one is None or other is None):
            counts = alone.setdefault((control, subject), [0, 0])
            counts[one is None] += 1
            continue
        for layer, begin, end in _of_check(control, one, other):
            rows.append(Row(control, f"{check_id} {subject}".rstrip(), layer, begin, end))
    for (control, subject), counts in alone.items():
        rows.append(Row(control, subject, "", *map(_counted, counts)))
    return sorted(rows, key=lambda row: (row.control, row.setting))


def _rows_of_traits(nodes: list[Node]) -> Iterator[Row]:
    for check_id, name, values in traits_that_differ(nodes):
        shown = (MISSING if values[node.host] is None else str(values[node.host]) for node in nodes)
        yield Row(check_id.partition(".")[0], name, "", *shown)


def _counted(count: int) -> str:
    return f"{count} check{'s' if count > 1 else ''}" if count else MISSING


def _of_check(
    control: str, one: Verdict | None, other: Verdict | None
) -> Iterator[tuple[str, str, str]]:
    """Layer and values of the layers that differ; the status where no layer shows the reason."""
    first, second = (verdict.status if verdict else MISSING for verdict in (one, other))
    statuses = {first, second}
    if statuses <= {PASS, SKIP} and SKIP in statuses:
        return
    if one is None or other is None or SKIP in statuses:
        if statuses - {SKIP, MISSING}:
            yield "status", first, second
        return
    differing = [*_layers_that_differ(control, one, other)]
    yield from differing
    if not differing and first != second:
        yield "status", first, second


def _layers_that_differ(
    control: str, one: Verdict, other: Verdict
) -> Iterator[tuple[str, str, str]]:
    for layer in ["desired", "persisted", *(["running"] if control not in _MEASURED else [])]:
        if len(layer_of({"1": one, "2": other}, layer)) > 1:
            yield layer, getattr(one, layer) or "nothing", getattr(other, layer) or "nothing"
