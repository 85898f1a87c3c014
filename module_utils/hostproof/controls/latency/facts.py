# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host shows of its latencies: windows of each probe, and what its disks are."""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host, LiveHost, Measure
from ...collect.measured import Measured, Window
from ...collect.window import QUIET
from ...errors import Absent, HostproofError
from ...latency.probe_list import ACTIVE, DISK, DISK_READ, NFS, PASSIVE, REPORT, SQLNET, Probe
from ...parsers.nfs.nfs_options import LINUX
from ...probes.kernel import block_storage
from ...probes.kernel.block_storage import Storage
from ...probes.nfs import nfs_mounted
from ...probes.oracle import io_writers
from .policy import HOW, Policy
from .probes import report_file, running_databases
from .probes.running_databases import Running

PASSIVE_NAME = "passive"
EVIDENCE = "windows:"


class Member(NamedTuple):
    """A redo log file that LGWR of an instance holds open.

    ``places`` are the subjects of the windows that count its writes: devices, or an NFS mount.
    """

    sid: str
    path: str
    places: Answer[Tuple[str, ...]]


class Facts(NamedTuple):
    """``system`` is the name of the system: counters and direct reads are known on Linux only.

    ``passive`` is None where nothing must be watched; ``active`` (with sqlnet) and ``reports`` are
    by the name of the probe. ``storage`` is by device, and by path for reads of files.
    ``databases`` are those that run; Absent if the policy forbids queries, or on systems other than
    Linux. ``redo`` is empty where no instance writes redo logs to files."""

    system: Answer[str]
    passive: Optional[Answer[Measured]]
    active: Dict[str, Answer[Measured]]
    reports: Dict[str, Answer[Measured]]
    storage: Dict[str, Answer[Storage]]
    databases: Answer[List[Running]]
    redo: Answer[Tuple[Member, ...]]


def read(host: Host, policy: Policy) -> Facts:
    """Measure what the policy names, all in one window; nothing is written."""
    system = attempt(nfs_mounted.read_system, host)
    probes = _of(policy, ACTIVE) if policy.window_seconds else []
    measures = [_active(entry) for entry in probes if entry.kind != DISK_READ or system == LINUX]
    is_counted = bool(policy.window_seconds) and system == LINUX
    if is_counted:
        measures += [_sqlnet(entry) for entry in _of(policy, (SQLNET,))]
    looking = _of(policy, PASSIVE) if is_counted else []
    if looking:
        measures.insert(0, _passive(looking))
    active = host.measure(measures, policy.window_seconds)
    passive = active.pop(PASSIVE_NAME, None)
    reports = {
        probe.name: attempt(_read_report, host, probe, policy) for probe in _of(policy, (REPORT,))
    }
    read_paths = [
        probe.options["path"] for probe in _of(policy, (DISK_READ,)) if probe.name in active
    ]
    storage = _storage(host, _windows(passive), read_paths)
    databases = attempt(_read_databases, host, system, policy)
    redo: Answer[Tuple[Member, ...]] = ()
    if looking:
        redo = attempt(_read_redo, host, _windows(passive))
    return Facts(system, passive, active, reports, storage, databases, redo)


def _storage(host: Host, windows: List[Window], paths: List[str]) -> Dict[str, Answer[Storage]]:
    devices = {window.subject for window in windows if window.probe == "disk"}
    storage = {name: attempt(block_storage.of_device, host, name) for name in sorted(devices)}
    storage.update((path, attempt(block_storage.of_path, host, path)) for path in paths)
    return storage


def _read_redo(host: Host, windows: List[Window]) -> Tuple[Member, ...]:
    """The redo log members, from the open files of LGWR and its workers."""
    holders = io_writers.read_holders(host)
    if all(process.files is None for process in holders.processes):
        return ()
    by_sid = io_writers.writers(host, holders, io_writers.machine_of(host))
    return tuple(
        Member(sid, member.path, attempt(_places_of, host, member.path, windows))
        for sid, writers in sorted(by_sid.items())
        for member in io_writers.files_of(
            writer for writer in writers if not io_writers.is_dbwr(writer)
        ).get(io_writers.REDO, [])
    )


def _places_of(host: Host, path: str, windows: List[Window]) -> Tuple[str, ...]:
    place = block_storage.place_of(host, path)
    if place.kind is None:
        counted = [window.subject for window in windows if window.probe == DISK]
        return tuple(block_storage.disks_below(host, place.name, counted))
    mounts = {window.subject.rpartition(" ")[0] for window in windows if window.probe == NFS}
    holding = [mount for mount in mounts if path.startswith(mount.rstrip("/") + "/")]
    return (max(holding, key=len),) if place.kind == block_storage.NFS and holding else ()


def _read_databases(host: Host, system: Answer[str], policy: Policy) -> List[Running]:
    if not policy.query_instances:
        raise Absent("policy", "latency_query_instances is false")
    if known(system) != LINUX:
        raise Absent("policy", "running databases are found on Linux only")
    return running_databases.read(host)


def _of(policy: Policy, kinds: Sequence[str]) -> List[Probe]:
    return [probe for probe in policy.probes if probe.kind in kinds]


def _windows(measured: Optional[Answer[Measured]]) -> List[Window]:
    if measured is None or isinstance(measured, HostproofError):
        return []
    return measured.windows


def _passive(probes: List[Probe]) -> Measure:
    return Measure(PASSIVE_NAME, QUIET, lambda seconds: _measure(probes, seconds))


def _active(probe: Probe) -> Measure:
    # It reads its places once before it counts, which is half of its time.
    part = 0.5 if probe.kind == DISK_READ else 1.0
    return Measure(probe.name, HOW[probe.kind], lambda seconds: _measure([probe], seconds * part))


def _sqlnet(probe: Probe) -> Measure:
    """The sizes of live connections. Their counters and addresses are not kept."""

    def measure(seconds: float) -> Measured:
        from .measurement import sqlnet_sizes

        try:
            sizes = sqlnet_sizes.measure(LiveHost(), probe.options["port"], seconds)
        except sqlnet_sizes.TooFew as problem:
            return Measured([], [str(problem)], {})
        return Measured([], [], sqlnet_sizes.figures(sizes))

    return Measure(probe.name, QUIET, measure)


def _measure(probes: List[Probe], seconds: float) -> Measured:
    """One window of each probe. The counters it reads are not kept: the windows are."""
    # A recording is checked without the probes, and on a host each import costs an audit time.
    from .measurement import measuring

    return measuring.measure_here(probes, seconds)


def _read_report(host: Host, probe: Probe, policy: Policy) -> Measured:
    """The windows of a report. Its text is not kept: it holds SQL, and that may hold anything."""

    def measure() -> Measured:
        from .measurement import cells, lobs, readings, reports, work
        from .parsers import slob_conf

        def text_of(option: str) -> str:
            try:
                return report_file.read(probe.options[option])
            except ValueError as problem:
                raise ValueError(f"{probe.options[option]}: {problem}") from problem

        text = text_of("path")
        earlier = text_of("before") if probe.options["before"] else None
        report = reports.read(text, None, policy.release, policy.multitenant, earlier)
        figures = lobs.figures(report, text)
        figures["kind"] = report.kind
        figures.update(work.figures(report))
        figures.update(cells.figures(report))
        figures.update(readings.figures(report.figures))
        if earlier is not None:
            before = reports.read(earlier, None, policy.release, policy.multitenant)
            figures.update(work.figures(before, work.BEFORE))
        for option, prefix in (("slob_conf", ""), ("slob_conf_before", work.BEFORE)):
            if probe.options[option]:
                for name, value in slob_conf.parse(text_of(option)).items():
                    figures[f"{prefix}{work.SETTING}{name}"] = value
        return Measured(report.windows, report.remarks, figures)

    return host.windows(probe.name, measure)
