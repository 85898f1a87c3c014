# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks and NFS mounts: what the kernel counted of them."""

from typing import Dict, List, Sequence, Tuple

from ...collect.answer import Answer, existing
from ...collect.measured import Measured, Window
from ...errors import HostproofError, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, undetermined
from ...evaluate.finding import PASS, SKIP, Check
from ...latency.probe_list import DISK, IN_TICKS, NFS, NO_DISK, NO_NFS, TOO_FEW
from ...probes.kernel.block_storage import Storage
from .facts import EVIDENCE, PASSIVE_NAME, Facts
from .figures import milliseconds, tick_of
from .grading import (
    Graded,
    around,
    grade_window,
    limits_of,
    reference_of,
    status_of,
    values_of,
    verdict_of,
)
from .measurement.disk_counters import FEWEST
from .policy import NAME, Policy
from .subjects import IOSTATS, need_linux, need_window
from .thresholds import Subject

rules: Rules[Facts, Policy] = Rules(NAME)

_KEY = EVIDENCE + PASSIVE_NAME
_NOTHING = (
    "./hostproof audit --tags latency in a relevant hour; hostproof_window_seconds is the "
    "length of the window"
)
_DISK_FIX = (
    "compare with latency_probes disk_read and the array's own figures; a queue above 1 is load, "
    "not the disk"
)
#: Maximum number of devices within the limits that a finding lists.
_SHOWN = 20


@rules.check(
    "latency.disk",
    "Disk latency is within the limits",
    "Disk latency exceeds the limits",
    severity="high",
    takes_effect="now",
    why="The database waits for each block that it reads and for each redo write at commit.",
    reference=IOSTATS
    + "; Oracle Database 2 Day + Performance Tuning Guide, Setting the DBIO_EXPECTED Parameter",
)
def disk(facts: Facts, policy: Policy) -> List[Verdict]:
    """One for each disk that is beyond a limit, one for all others, one for the idle."""
    measured = _watched(DISK, facts, policy)
    verdicts: List[Verdict] = []
    within: List[Tuple[str, List[Graded]]] = []
    values: Dict[str, float] = {}
    idle: List[str] = []
    for name, windows in _by_subject(measured, DISK).items():
        storage = facts.storage.get(name, Unanswered(_KEY, "the kind of " + name))
        if all(window.p50 is None for window in windows):
            idle.append(_idle(name, windows))
            continue
        if isinstance(storage, HostproofError):
            verdicts.append(undetermined(storage, name))
            continue
        graded = _graded_disk(windows, storage, policy)
        if status_of(graded) == PASS:
            within.append((name, graded))
            if len(within) <= _SHOWN:
                values.update(values_of(name, windows))
        else:
            title = f"{name} ({storage.kind})"
            evidence = (_KEY,) + storage.evidence
            remarks = _in_ticks(windows) + around(windows)
            verdict = verdict_of(disk.check, graded, title, _DISK_FIX, evidence, remarks)
            verdicts.append(verdict._replace(values=values_of(name, windows) or None))
    verdicts += _failed(measured, "disk")
    if within:
        verdicts.append(_within(disk.check, within, facts.storage)._replace(values=values))
    if idle or (not verdicts and NO_DISK in measured.remarks):
        verdicts.append(_too_few(idle, "disk"))
    if not verdicts:
        raise Unanswered(_KEY, "no disk was measured")
    return verdicts


def _graded_disk(windows: List[Window], storage: Storage, policy: Policy) -> List[Graded]:
    graded: List[Graded] = []
    for window in windows:
        subject = Subject(DISK, storage.kind, window.layer)
        if window.p50 is not None:
            graded += grade_window(window, subject, policy.thresholds, window.layer)
    return graded


@rules.check(
    "latency.nfs",
    "NFS latency is within the limits",
    "NFS latency exceeds the limits",
    severity="high",
    takes_effect="now",
    why="A database on NFS waits for the server as it would for a disk.",
    reference="kernel net/sunrpc/stats.c; nfsiostat(8), avg RTT and avg exe",
    because_of=("nfs_mounts.latency",),
)
def nfs(facts: Facts, policy: Policy) -> List[Verdict]:
    """One for each mount with enough requests, and one for all idle ones."""
    measured = _watched(NFS, facts, policy)
    if NO_NFS in measured.remarks:
        raise Skip("No NFS file system is mounted here.", (_KEY,))
    verdicts: List[Verdict] = []
    mounts: Dict[str, List[Window]] = {}
    for name, windows in _by_subject(measured, NFS).items():
        mounts.setdefault(name.rpartition(" ")[0], []).extend(windows)
    idle: List[str] = []
    for path, windows in mounts.items():
        samples = [window for window in windows if window.p50 is not None]
        if not samples:
            idle.append(_idle(path, [entry for entry in windows if entry.layer == "server"]))
            continue
        graded: List[Graded] = []
        for window in samples:
            operation = str(window.conditions.get("operation", ""))
            words = {"server": "RTT", "user": "execute", "host": "client"}
            label = f"{operation} {words.get(window.layer, window.layer)}"
            subject = Subject(NFS, "nfs", window.layer)
            graded += [
                item
                for item in grade_window(window, subject, policy.thresholds, label)
                if item.limit is not None
            ]
        verdicts.append(
            verdict_of(
                nfs.check,
                graded or [Graded(SKIP, "", "no limit", None)],
                path,
                "check nfs_mounts.latency, which shows the cause; compare with the filer's figures",
                (_KEY,),
                around(samples),
            )._replace(values=values_of(path, samples))
        )
    verdicts += _failed(measured, "nfs")
    if idle:
        verdicts.append(_too_few(idle, "mount"))
    if not verdicts:
        raise Unanswered(_KEY, "no mount was measured")
    return verdicts


def _watched(kind: str, facts: Facts, policy: Policy) -> Measured:
    """The kernel counters of a probe, or the reason why there are none."""
    if kind not in [probe.kind for probe in policy.probes]:
        raise Skip(f"latency_probes does not name {kind}.")
    need_linux(facts)
    need_window(policy)
    return existing(facts.passive)


def _by_subject(measured: Measured, probe: str) -> Dict[str, List[Window]]:
    found_by: Dict[str, List[Window]] = {}
    for window in measured.windows:
        if window.probe == probe and window.conditions.get("mode") == "passive":
            found_by.setdefault(window.subject, []).append(window)
    return found_by


def _in_ticks(windows: Sequence[Window]) -> List[str]:
    """What to mind of a device whose time the kernel counts in ticks."""
    ticks = [tick_of(window) for window in windows]
    text = "The kernel counts its time in ticks: a mean can be up to {0} too long or too short"
    return [text.format(milliseconds(tick)) for tick in ticks if tick is not None][:1]


def _failed(measured: Measured, kind: str) -> List[Verdict]:
    """Devices and mounts that could not be measured, without idle or inexact ones."""
    harmless = (NO_DISK, NO_NFS)
    return [
        undetermined(Unanswered(_KEY, remark))
        for remark in measured.remarks
        if remark.startswith((kind + ":", kind + " "))
        and remark not in harmless
        and TOO_FEW not in remark
        and IN_TICKS not in remark
    ]


def _within(
    check: Check, ones: List[Tuple[str, List[Graded]]], storage: Dict[str, Answer[Storage]]
) -> Verdict:
    """One finding for all devices within the limits, because hosts may have hundreds."""
    everything = [item for _, graded in ones for item in graded]
    evidence: List[str] = [_KEY]
    for name, _ in ones:
        kind = storage[name]
        if not isinstance(kind, HostproofError):
            evidence += [key for key in kind.evidence if key not in evidence]
    texts = [
        "{0}: {1}".format(name, ", ".join(item.figure_text for item in graded))
        for name, graded in ones
    ]
    more = "" if len(texts) <= _SHOWN else f"; and {len(texts) - _SHOWN} more"
    return Verdict(
        PASS,
        desired=limits_of(everything),
        in_use="; ".join(texts[:_SHOWN]) + more,
        evidence=evidence,
        reference=reference_of(check, everything),
    )


def _idle(name: str, windows: Sequence[Window]) -> str:
    counts = [f"{window.n} {_operation(window)}" for window in windows]
    return "{0}: {1}".format(name, ", ".join(counts) or "nothing")


def _operation(window: Window) -> str:
    return str(window.conditions.get("operation") or window.layer) + ("s" if window.n != 1 else "")


def _too_few(idle: List[str], what: str) -> Verdict:
    if not idle:
        return Verdict(SKIP, f"This host has no {what}.", evidence=(_KEY,))
    return Verdict(
        SKIP,
        why="Too few requests to measure: {0} {1} had fewer than {2} in each interval.".format(
            len(idle), what + ("s" if len(idle) != 1 else ""), FEWEST
        ),
        fix=_NOTHING,
        of="Idle",
        in_use="; ".join(idle[:_SHOWN])
        + ("" if len(idle) <= _SHOWN else f"; and {len(idle) - _SHOWN} more"),
        evidence=(_KEY,),
    )
