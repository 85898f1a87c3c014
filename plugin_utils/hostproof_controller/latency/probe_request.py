# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes that a user requested by name, and the series that belong to them.

Other disks and mounts of the host are measured too, but it is not a fault if these are idle.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ansible.module_utils.hostproof.collect.measured import Window
from ansible.module_utils.hostproof.latency.probe_list import (
    ACTIVE,
    DISK,
    DISK_READ,
    IN_TICKS,
    NFS,
    POOL,
    TCP,
    Probe,
    check_probes,
)

from .baseline import Baseline
from .series import Series

#: Why there is no figure of what was counted in units that are longer than it takes.
COARSE = "in many windows all was over within one unit of what the kernel counts"


class RequestedProbe(NamedTuple):
    """``name`` is the user's for it: a probe, or a disk or mount of a probe that only looks."""

    name: str
    probe: Probe
    item: str | None


def asked_of(baseline: Baseline) -> list[RequestedProbe]:
    """Everything that was requested by name."""
    requests = []
    for probe in check_probes(baseline.probes):
        if probe.kind in ACTIVE:
            requests.append(RequestedProbe(probe.name, probe, None))
        items = probe.options.get("devices") or probe.options.get("mounts") or []
        requests += [RequestedProbe(f"{probe.kind} {item}", probe, item) for item in items]
    return requests


def names_of(windows: Iterable[Window]) -> dict[str, set[str]]:
    """The kernel's name of a disk to the links by which it was requested (/dev/mapper/data)."""
    names: dict[str, set[str]] = {}
    for window in windows:
        named = window.conditions.get("named")
        if isinstance(named, list):
            names.setdefault(window.subject, set()).update(str(name) for name in named)
    return names


def serves(series: Series, request: RequestedProbe, names: dict[str, set[str]]) -> bool:
    """Whether a series is of what was requested. ``names`` as names_of() gives them."""
    options = request.probe.options
    if request.probe.kind == TCP:
        target = request.probe.name.split(" ")[1]
        same_mode = series.mode in (None, options["mode"])
        return series.probe == TCP and target == series.subject and same_mode
    if request.probe.kind == DISK_READ:
        return series.size is not None and series.subject == options["path"]
    if request.probe.kind == POOL:
        return series.probe == POOL and request.probe.name == f"{POOL} {series.subject}"
    if request.item is None:
        return False
    if request.probe.kind == NFS:
        return series.probe == NFS and (series.subject + " ").startswith(request.item + " ")
    same = series.subject == request.item or request.item in names.get(series.subject, ())
    return series.probe == DISK and same


def without_answer(
    baseline: Baseline,
    measured: Sequence[Series],
    names: dict[str, set[str]],
    coarse: Sequence[Series] = (),
) -> list[str]:
    """A sentence for each that was requested and that none of the ``measured`` series answers.

    ``coarse`` are those that the kernel counted in units that are too long.
    """
    problems = []
    for request in asked_of(baseline):
        if any(serves(series, request, names) for series in measured):
            continue
        ticks = any(serves(series, request, names) for series in coarse)
        reason = f" ({COARSE})" if ticks else because(baseline.remarks)
        problems.append(f"{request.name} was not measured{reason}")
    return problems


def because(remarks: Sequence[str]) -> str:
    """The remarks in brackets, but for those that state that a figure is inexact: that is no reason
    for its absence."""
    reasons = [remark for remark in remarks if IN_TICKS not in remark]
    return " ({0})".format("; ".join(reasons)) if reasons else ""
