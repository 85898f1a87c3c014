# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its latencies: windows of each probe, and what its disks are."""

from typing import Dict, List, NamedTuple, Optional, Sequence

from ...answer import Answer, attempt
from ...errors import HostproofError
from ...host import Host
from ...latency.probe_list import ACTIVE, DISK_READ, PASSIVE, REPORT, Probe
from ...latency.window import Measured, Window
from ...parsers.nfs_options import LINUX
from ...probes import block_storage, nfs_mounted, report_file
from ...probes.block_storage import Storage
from .policy import Policy

PASSIVE_NAME = "passive"
EVIDENCE = "windows:"


class Facts(NamedTuple):
    """``system`` is the name of the system: counters and direct reads are known on Linux alone.

    ``passive`` is None where nothing is to be watched; ``active`` and ``reports`` are by the name
    of the probe. ``storage`` is by device, and by path for reads of files.
    """

    system: Answer[str]
    passive: Optional[Answer[Measured]]
    active: Dict[str, Answer[Measured]]
    reports: Dict[str, Answer[Measured]]
    storage: Dict[str, Answer[Storage]]


def read(host, policy):
    # type: (Host, Policy) -> Facts
    """Measure what the policy names, one after the other; nothing is written."""
    system = attempt(nfs_mounted.read_system, host)
    passive = _passive(host, policy, system)
    active = {}  # type: Dict[str, Answer[Measured]]
    for probe in _of(policy, ACTIVE):
        if policy.seconds and (probe.kind != DISK_READ or system == LINUX):
            active[probe.name] = attempt(_measure, host, probe.name, [probe], policy.seconds)
    found = {
        probe.name: attempt(_read_report, host, probe, policy) for probe in _of(policy, (REPORT,))
    }
    devices = [window.subject for window in _windows(passive) if window.probe == "disk"]
    storage = {name: attempt(block_storage.of_device, host, name) for name in sorted(set(devices))}
    for probe in _of(policy, (DISK_READ,)):
        path = probe.options["path"]
        if probe.name in active:
            storage[path] = attempt(block_storage.of_path, host, path)
    return Facts(system, passive, active, found, storage)


def _of(policy, kinds):
    # type: (Policy, Sequence[str]) -> List[Probe]
    return [probe for probe in policy.probes if probe.kind in kinds]


def _windows(measured):
    # type: (Optional[Answer[Measured]]) -> List[Window]
    if measured is None or isinstance(measured, HostproofError):
        return []
    return measured.windows


def _passive(host, policy, system):
    # type: (Host, Policy, Answer[str]) -> Optional[Answer[Measured]]
    probes = _of(policy, PASSIVE)
    if not probes or not policy.seconds or system != LINUX:
        return None
    return attempt(_measure, host, PASSIVE_NAME, probes, policy.seconds)


def _measure(host, name, probes, seconds):
    # type: (Host, str, List[Probe], float) -> Measured
    """One window of each probe. The counters it reads are not kept: the windows are."""

    def measure():
        # type: () -> Measured
        # A recording is judged without the probes, and on a host each import costs an audit time.
        from ...latency import measuring

        return measuring.measure_here(probes, 1, seconds, 0)

    return host.windows(name, measure)


def _read_report(host, probe, policy):
    # type: (Host, Probe, Policy) -> Measured
    """The windows of a report. Its text is not kept: it holds SQL, and that may hold anything."""

    def measure():
        # type: () -> Measured
        from ...latency import reports

        try:
            text = report_file.read(probe.options["path"])
        except ValueError as problem:
            raise ValueError("{0}: {1}".format(probe.options["path"], problem)) from problem
        told = reports.read(text, None, policy.release, policy.multitenant)
        return Measured(told.windows, told.remarks)

    return host.windows(probe.name, measure)
