# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges disks and NFS mounts: what the kernel counted, and reads of named files."""

from typing import Callable, Dict, List, Optional, Sequence, Tuple

from ...answer import Answer
from ...errors import HostproofError, Unanswered
from ...finding import PASS, SKIP, Check, Finding, found
from ...latency.probe_list import (
    DISK,
    DISK_READ,
    IN_TICKS,
    NFS,
    NO_DISK,
    NO_NFS,
    TOO_FEW,
    Probe,
)
from ...latency.window import Measured, Window
from ...parsers.nfs_options import LINUX
from ...parsers.size import human
from ...probes.block_storage import Storage
from ...probes.disk_counters import FEWEST
from . import checks
from .facts import EVIDENCE, PASSIVE_NAME, Facts
from .figures import milliseconds, tick_of
from .grading import (
    Graded,
    around,
    finding_of,
    grade_window,
    limits_of,
    reference_of,
    status_of,
    unknown,
)
from .policy import Policy
from .thresholds import Subject

_KEY = EVIDENCE + PASSIVE_NAME
_NOTHING = (
    "./hostproof audit --tags latency in the hour that counts; latency_seconds is how long it "
    "watches"
)
_DISK_FIX = (
    "compare with latency_probes disk_read and the array's own figures; a queue above 1 is load, "
    "not the disk"
)


def not_watched(check, kind, facts, policy):
    # type: (Check, str, Facts, Policy) -> Optional[Finding]
    """Why there is nothing passive to judge of a probe; None where there is."""
    if kind not in [probe.kind for probe in policy.probes]:
        return found(check, SKIP, why="latency_probes does not name {0}.".format(kind))
    reason = _no_linux(check, facts)
    if reason is not None:
        return reason
    if not policy.seconds:
        return found(check, SKIP, why="latency_seconds is 0: nothing is measured.")
    if isinstance(facts.passive, HostproofError):
        return unknown(check, facts.passive)
    return None


def _no_linux(check, facts):
    # type: (Check, Facts) -> Optional[Finding]
    if isinstance(facts.system, HostproofError):
        return unknown(check, facts.system)
    if facts.system != LINUX:
        return found(check, SKIP, why="It is measured on Linux alone, not on " + facts.system + ".")
    return None


def judge_disk(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each disk that is beyond a limit, one for all others, one for the idle."""
    check = checks.DISK
    reason = not_watched(check, DISK, facts, policy)
    measured = facts.passive
    if reason is not None or measured is None or isinstance(measured, HostproofError):
        return [reason] if reason is not None else []
    findings = []  # type: List[Finding]
    within = []  # type: List[Tuple[str, List[Graded]]]
    idle = []  # type: List[str]
    for name, windows in _by_subject(measured, DISK).items():
        storage = facts.storage.get(name, Unanswered(_KEY, "the kind of " + name))
        if all(window.p50 is None for window in windows):
            idle.append(_idle(name, windows))
            continue
        if isinstance(storage, HostproofError):
            findings.append(unknown(check, storage, name, (_KEY,)))
            continue
        graded = []  # type: List[Graded]
        for window in windows:
            subject = Subject(DISK, storage.kind, window.layer)
            if window.p50 is not None:
                graded += grade_window(window, subject, policy.thresholds, window.layer)
        if status_of(graded) == PASS:
            within.append((name, graded))
        else:
            told = "{0} ({1})".format(name, storage.kind)
            evidence = (_KEY,) + storage.evidence
            remarks = _in_ticks(windows) + around(windows)
            findings.append(finding_of(check, graded, told, _DISK_FIX, evidence, remarks))
    findings += [_beyond(check, remark) for remark in _failed(measured, "disk")]
    if within:
        findings.append(_within(check, within, facts.storage))
    if idle or (not findings and NO_DISK in measured.remarks):
        findings.append(_too_few(check, idle, "disk"))
    if not findings:
        findings.append(unknown(check, Unanswered(_KEY, "no disk was measured"), None, (_KEY,)))
    return findings


def judge_nfs(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each mount with enough requests, and one for all idle ones."""
    check = checks.NFS
    reason = not_watched(check, NFS, facts, policy)
    measured = facts.passive
    if reason is not None or measured is None or isinstance(measured, HostproofError):
        return [reason] if reason is not None else []
    if NO_NFS in measured.remarks:
        return [found(check, SKIP, why="No NFS file system is mounted here.", evidence=(_KEY,))]
    findings = []  # type: List[Finding]
    mounts = {}  # type: Dict[str, List[Window]]
    for name, windows in _by_subject(measured, NFS).items():
        mounts.setdefault(name.rpartition(" ")[0], []).extend(windows)
    idle = []  # type: List[str]
    for path, windows in mounts.items():
        told = [window for window in windows if window.p50 is not None]
        if not told:
            idle.append(_idle(path, [one for one in windows if one.layer == "server"]))
            continue
        graded = []  # type: List[Graded]
        for window in told:
            operation = str(window.conditions.get("operation", ""))
            words = {"server": "RTT", "user": "execute", "host": "client"}
            label = "{0} {1}".format(operation, words.get(window.layer, window.layer))
            subject = Subject(NFS, "nfs", window.layer)
            graded += [
                one
                for one in grade_window(window, subject, policy.thresholds, label)
                if one.limit is not None
            ]
        findings.append(
            finding_of(
                check,
                graded or [Graded(SKIP, "", "no limit", None)],
                path,
                "look at nfs_mounts.latency, which says who makes it late; compare with the "
                "filer's own figures",
                (_KEY,),
                around(told),
            )
        )
    findings += [_beyond(check, remark) for remark in _failed(measured, "nfs")]
    if idle:
        findings.append(_too_few(check, idle, "mount"))
    if not findings:
        findings.append(unknown(check, Unanswered(_KEY, "no mount was measured"), None, (_KEY,)))
    return findings


# -- what has in common what is counted -----------------------------------------------------------


def _by_subject(measured, probe):
    # type: (Measured, str) -> Dict[str, List[Window]]
    found_by = {}  # type: Dict[str, List[Window]]
    for window in measured.windows:
        if window.probe == probe and window.conditions.get("mode") == "passive":
            found_by.setdefault(window.subject, []).append(window)
    return found_by


def _in_ticks(windows):
    # type: (Sequence[Window]) -> List[str]
    """What to mind of a device whose time the kernel counts in ticks."""
    ticks = [tick_of(window) for window in windows]
    told = "The kernel counts its time in ticks: a mean can be up to {0} too long or too short"
    return [told.format(milliseconds(tick)) for tick in ticks if tick is not None][:1]


def _failed(measured, kind):
    # type: (Measured, str) -> List[str]
    """Remarks of a probe on what could not be measured at all, not on what was idle or inexact."""
    harmless = (NO_DISK, NO_NFS)
    return [
        remark
        for remark in measured.remarks
        if remark.startswith((kind + ":", kind + " "))
        and remark not in harmless
        and TOO_FEW not in remark
        and IN_TICKS not in remark
    ]


def _beyond(check, remark):
    # type: (Check, str) -> Finding
    return unknown(check, Unanswered(_KEY, remark), None, (_KEY,))


def _within(check, ones, storage):
    # type: (Check, List[Tuple[str, List[Graded]]], Dict[str, Answer[Storage]]) -> Finding
    """One finding for all that is well: hosts have hundreds of disks."""
    everything = [one for _, graded in ones for one in graded]
    evidence = [_KEY]  # type: List[str]
    for name, _ in ones:
        kind = storage[name]
        if not isinstance(kind, HostproofError):
            evidence += [key for key in kind.evidence if key not in evidence]
    told = ["{0}: {1}".format(name, ", ".join(one.told for one in graded)) for name, graded in ones]
    more = "" if len(told) <= _SHOWN else "; and {0} more".format(len(told) - _SHOWN)
    finding = found(
        check,
        PASS,
        desired=limits_of(everything),
        in_use="; ".join(told[:_SHOWN]) + more,
        evidence=evidence,
    )
    return finding._replace(reference=reference_of(check, everything))


#: How many of those that are well a finding shows.
_SHOWN = 20


def _idle(name, windows):
    # type: (str, Sequence[Window]) -> str
    counts = ["{0} {1}".format(window.n, _operation(window)) for window in windows]
    return "{0}: {1}".format(name, ", ".join(counts) or "nothing")


def _operation(window):
    # type: (Window) -> str
    return str(window.conditions.get("operation") or window.layer) + ("s" if window.n != 1 else "")


def _too_few(check, idle, what):
    # type: (Check, List[str], str) -> Finding
    if not idle:
        return found(check, SKIP, why="This host has no {0}.".format(what), evidence=(_KEY,))
    return found(
        check,
        SKIP,
        why="Too few requests to tell: {0} {1} had fewer than {2} in each interval.".format(
            len(idle), what + ("s" if len(idle) != 1 else ""), FEWEST
        ),
        fix=_NOTHING,
        title="Idle: {0}".format(check.title),
        in_use="; ".join(idle[:_SHOWN])
        + ("" if len(idle) <= _SHOWN else "; and {0} more".format(len(idle) - _SHOWN)),
        evidence=(_KEY,),
    )


# -- reads of files -------------------------------------------------------------------------------


def judge_disk_read(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each file that the policy names."""
    check = checks.DISK_READ
    return _for_each_file(check, facts, policy, _judge_reads)


def judge_host_gap(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """A finding for each file: what a process waits for beyond the device."""
    return _for_each_file(checks.HOST_GAP, facts, policy, _judge_gap)


def _for_each_file(check, facts, policy, judge_one):
    # type: (Check, Facts, Policy, Callable[[Probe, Measured, Storage, Policy], Finding]) -> List[Finding]  # noqa: E501
    probes = [probe for probe in policy.probes if probe.kind == DISK_READ]
    if not probes:
        why = "latency_probes names no disk_read: no file is read unless it is asked for."
        return [found(check, SKIP, why=why)]
    reason = _no_linux(check, facts)
    if reason is not None:
        return [reason]
    if not policy.seconds:
        return [found(check, SKIP, why="latency_seconds is 0: nothing is measured.")]
    findings = []
    for probe in probes:
        measured = facts.active[probe.name]
        path = probe.options["path"]
        storage = facts.storage[path]
        if isinstance(measured, HostproofError):
            findings.append(unknown(check, measured, path, (EVIDENCE + probe.name,)))
        elif isinstance(storage, HostproofError):
            findings.append(unknown(check, storage, path, (EVIDENCE + probe.name,)))
        else:
            findings.append(judge_one(probe, measured, storage, policy))
    return findings


def _label(window):
    # type: (Window) -> str
    return human(window.size or 0)


def _judge_reads(probe, measured, storage, policy):
    # type: (Probe, Measured, Storage, Policy) -> Finding
    windows = [window for window in measured.windows if window.layer == "user"]
    key = EVIDENCE + probe.name
    path = probe.options["path"]
    if not windows:
        why = "; ".join(measured.remarks) or "no read was made"
        return unknown(checks.DISK_READ, Unanswered(key, why), path, (key,))
    graded = []  # type: List[Graded]
    for window in windows:
        subject = Subject(DISK_READ, storage.kind, window.layer, window.size)
        graded += grade_window(window, subject, policy.thresholds, _label(window))
    cached = [_label(window) for window in windows if window.conditions.get("cached")]
    if cached:
        # What did not reach the device is no figure of it, however good.
        said = [remark for remark in measured.remarks if "a cache answered" in remark]
        why = "; ".join(said) or "a cache answered reads of {0}".format(", ".join(cached))
        return unknown(checks.DISK_READ, Unanswered(key, why), path, (key,))
    # What a process waited for is exact where the device's own time is not: host_gap tells that.
    remarks = [
        remark
        for remark in measured.remarks
        if remark.startswith(DISK_READ) and IN_TICKS not in remark
    ]
    return finding_of(
        checks.DISK_READ,
        graded,
        "{0} ({1})".format(path, storage.kind),
        "compare with latency.disk and latency.host_gap, which tell the device from this host; "
        "then with the array's own figures",
        (key,) + storage.evidence,
        remarks + around(windows),
    )


def _judge_gap(probe, measured, storage, policy):
    # type: (Probe, Measured, Storage, Policy) -> Finding
    key = EVIDENCE + probe.name
    path = probe.options["path"]
    windows = [window for window in measured.windows if window.layer == "host"]
    if not windows:
        reads = [window for window in measured.windows if window.layer == "user"]
        if not reads:
            why = "; ".join(measured.remarks) or "no read was made"
            return unknown(checks.HOST_GAP, Unanswered(key, why), path, (key,))
        why = "; ".join(measured.remarks) or "the device tells no time of its own"
        return found(
            checks.HOST_GAP,
            SKIP,
            why="The host's part cannot be told from the device's: {0}.".format(why),
            title="{0}: {1}".format(path, checks.HOST_GAP.title),
            evidence=(key,),
        )
    graded = []  # type: List[Graded]
    for window in windows:
        subject = Subject(DISK_READ, storage.kind, "host", window.size)
        graded += grade_window(window, subject, policy.thresholds, _label(window))
    return finding_of(
        checks.HOST_GAP,
        graded,
        path,
        "look for CPUs that are busy, stolen or asleep (load, steal, C-states): faster storage "
        "does not help",
        (key,),
        around(windows),
    )
