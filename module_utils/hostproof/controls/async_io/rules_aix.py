# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of AIX: AIO limits, concurrent I/O by mount option and by parameter, and hdisks."""

from typing import Dict, List, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...collect.shell import line
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, Run, Step, Wait
from ...evaluate.checking import Rules, Skip, Verdict, verdict_or_error
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.mounts import aix_mount_options, mount_command
from ...probes.unix import aix_said
from .facts import AIO_DEVICE, AIO_NAMES, DISK_NAMES, MOUNT, Aix, Facts, Subject
from .instance_io_modes import OPTIONS, persisted
from .policy import NAME, Policy
from .subjects import AIX, AIX_GUIDE, REFERENCE

rules: Rules[Facts, Policy] = Rules(NAME)

#: Minimum that Oracle requires on AIX (installation guides 12.2 and 19c).
MAXREQS = 65536
_SET_ALL = Ask(f"set {OPTIONS} to setall in the parameter file of every instance")
_IOO = "command:" + " ".join(aix_said.IOO)
_PERFORMANCE = "AIX Performance Management, "


@rules.check(
    "async_io.aix_aio",
    "AIX accepts enough concurrent AIO requests",
    "AIX AIO limit is too low, or an AIO fast path is off",
    severity="high",
    takes_effect="now",
    why="When all requests are in use, lio_listio returns EAGAIN, and the database waits and "
    "retries.",
    reference=AIX_GUIDE + "; " + _PERFORMANCE + "Tuning asynchronous disk I/O",
    each=AIX,
)
def aix_aio(aix: Aix, facts: Facts, policy: Policy) -> Verdict:
    tunables = known(aix.tunables)
    if "aio_maxreqs" in tunables:
        return _by_ioo(tunables)
    return _by_device(known(aix.aio_device))


def _by_ioo(tunables: Dict[str, str]) -> Verdict:
    """AIX 6.1 and later: asynchronous I/O is always available, and its limits are tunables."""
    maxreqs = aix_said.number(tunables, "aio_maxreqs", _IOO)
    shown = ", ".join(f"{name} {tunables[name]}" for name in tunables if name.startswith("aio_"))
    off = [
        name
        for name in ("aio_fastpath", "aio_fsfastpath")
        if tunables.get(name, "1").strip() == "0"
    ]
    return Verdict(
        FAIL if maxreqs < MAXREQS or off else PASS,
        why=f"aio_maxreqs is {maxreqs}"
        + (f", and {' and '.join(off)} is off: an aioserver handles each request" if off else "")
        + ".",
        advice=Advice(
            [
                Run("ioo", "-p", "-o", f"{name}={value}", text=f"set {name} to {value} for good")
                for name, value in (
                    *([("aio_maxreqs", MAXREQS)] if maxreqs < MAXREQS else []),
                    *((name, 1) for name in off),
                )
            ]
        ),
        desired=f"aio_maxreqs at least {MAXREQS}, the fast paths on",
        running=shown,
        evidence=[_IOO],
        values={"aio_maxreqs": maxreqs},
    )


def _by_device(attributes: Dict[str, str]) -> Verdict:
    """AIX before 6.1: asynchronous I/O is a device that must be configured."""
    key = _lsattr_key(AIO_DEVICE, AIO_NAMES)
    maxreqs = aix_said.number(attributes, "maxreqs", key)
    is_off = attributes["autoconfig"] != "available"
    wanted = ["autoconfig=available"] if is_off else []
    wanted += [f"maxreqs={MAXREQS}"] if maxreqs < MAXREQS else []
    options = [word for pair in wanted for word in ("-a", pair)]
    text = f"set {' and '.join(wanted)} of {AIO_DEVICE}"
    return Verdict(
        FAIL if is_off or maxreqs < MAXREQS else PASS,
        why=f"{AIO_DEVICE} has autoconfig {attributes['autoconfig']} and maxreqs {maxreqs}.",
        advice=Advice([Run("chdev", "-P", "-l", AIO_DEVICE, *options, text=text), Wait("reboot")]),
        desired=f"autoconfig available, maxreqs at least {MAXREQS}",
        persisted=", ".join(f"{name} {attributes[name]}" for name in AIO_NAMES),
        evidence=[key],
        values={"maxreqs": maxreqs},
    )


@rules.check(
    "async_io.aix_cio",
    "Concurrent I/O is set only by filesystemio_options",
    "Concurrent I/O is set by mount options, or inconsistently",
    severity="high",
    takes_effect="remount",
    why="The mount option forces concurrent I/O on every program, also on those that need the "
    "cache. One program that opens a file without O_CIO forces it through the cache for all.",
    reference=REFERENCE
    + ", FILESYSTEMIO_OPTIONS; My Oracle Support 257338.1 and 272520.1; "
    + _PERFORMANCE
    + "Concurrent I/O",
    each=AIX,
)
def aix_cio(aix: Aix, facts: Facts, policy: Policy) -> Verdict:
    around = _around(known(aix.mounts))
    subjects: List[Subject] = known(facts.subjects)
    homes = _homes_within(around, subjects)
    answers = {subject.sid: attempt(_persisted, subject) for subject in subjects}
    direct = [sid for sid, value in answers.items() if value in ("setall", "directio")]
    values = {value for value in answers.values() if isinstance(value, str)}
    mixed = [f"{OPTIONS} differs: " + _listed(answers)] if len(values) > 1 else []
    problems = homes + _problems_of_mounts(around, direct) + mixed
    if not problems:
        for value in answers.values():
            known(value)
    return Verdict(
        FAIL if homes else WARN if problems else PASS,
        why="; ".join(problems) + ".",
        advice=_advice_of_cio(around, bool(mixed or (around and not direct))),
        desired=f"no cio or dio in the mounts, one {OPTIONS} for all instances",
        persisted=_listed(answers) or None,
        running=", ".join(f"{path} {option}" for path, option in around)
        or "no mount with cio or dio",
        evidence=["command:" + " ".join(MOUNT)],
    )


def _homes_within(around: List[Tuple[str, str]], subjects: List[Subject]) -> List[str]:
    return [
        f"the home of {subject.sid} is in {path} ({option})"
        for subject in subjects
        for path, option in around
        if _lies_in(if_known(subject.database.home, ""), path)
    ]


def _problems_of_mounts(around: List[Tuple[str, str]], direct: List[str]) -> List[str]:
    """``direct`` are the instances that open their files so by themselves."""
    reason = f"and {', '.join(direct)} opens its files so by {OPTIONS}"
    if not direct:
        reason = "which forces it on every program"
    return [f"{path} is mounted with {option}, {reason}" for path, option in around]


def _advice_of_cio(around: List[Tuple[str, str]], sets_all: bool) -> Advice:
    again = "stop what uses it, and mount it again"
    return Advice(
        [
            *([_SET_ALL] if sets_all else []),
            *(
                Ask(f"take {option} out of the options of {path}, {again}")
                for path, option in around
            ),
        ]
    )


def _around(mounts: List[mount_command.Mount]) -> List[Tuple[str, str]]:
    """Mounts whose options bypass the page cache. Of stacked mounts only the topmost."""
    last = {mount.path: aix_mount_options.parse(mount.options) for mount in mounts}
    return [
        (path, "cio" if "cio" in options else "dio")
        for path, options in sorted(last.items())
        if "cio" in options or "dio" in options
    ]


def _lies_in(path: str, mount: str) -> bool:
    return (path + "/").startswith(mount.rstrip("/") + "/") and mount != "/"


def _persisted(subject: Subject) -> str:
    value, _layer = persisted(subject, OPTIONS)
    return "not set" if value is None else value


def _listed(answers: Dict[str, Answer[str]]) -> str:
    return ", ".join(
        f"{sid} {'unknown' if isinstance(answers[sid], HostproofError) else answers[sid]}"
        for sid in sorted(answers)
    )


@rules.check(
    "async_io.aix_hdisks",
    "hdisks have enough queue depth and use all paths",
    "An hdisk has too small a queue depth or uses only one path",
    severity="medium",
    takes_effect="reboot",
    why="Requests beyond queue_depth wait on the host. fail_over and single_path send all "
    "requests over one path.",
    reference="AIX, MPIO device management; J. Wartak, AIX disk I/O pacing vs PowerHA, 2011 "
    "(queue_depth by the NetApp Host Attachment Kit)",
    each=AIX,
)
def aix_hdisks(aix: Aix, facts: Facts, policy: Policy) -> List[Verdict]:
    disks = known(aix.disks)
    if not disks:
        raise Skip("lsdev lists no hdisk.")
    return [verdict_or_error(_disk, disk, disks[disk], policy, of=disk) for disk in sorted(disks)]


def _disk(disk: str, answer: Answer[Dict[str, str]], policy: Policy) -> Verdict:
    attributes = known(answer)
    key = _lsattr_key(disk, DISK_NAMES)
    depth = aix_said.number(attributes, "queue_depth", key)
    algorithm, reserve = attributes["algorithm"], attributes["reserve_policy"]
    problems = []
    if depth < policy.hdisk_queue_depth:
        problems.append(
            f"queue_depth is {depth}, and the policy requires {policy.hdisk_queue_depth}"
        )
    if algorithm == "fail_over":
        problems.append("algorithm fail_over uses one path at a time")
    elif reserve == "single_path":
        problems.append(f"reserve_policy single_path reserves the disk, and {algorithm} cannot")
    change = _change(disk, depth, algorithm, reserve, policy)
    return Verdict(
        WARN if problems else PASS,
        why="; ".join(problems) + ".",
        advice=Advice(
            [
                Ask("check with the vendor of the storage that it supports the new values"),
                Step(f"change {disk} after a reboot", change),
                Wait("reboot"),
            ]
        ),
        desired=f"queue_depth at least {policy.hdisk_queue_depth}, all paths, no reservation",
        persisted=f"queue_depth {depth}, algorithm {algorithm}, reserve_policy {reserve}",
        evidence=[key],
        values={"queue_depth": depth},
    )


def _change(disk: str, depth: int, algorithm: str, reserve: str, policy: Policy) -> List[str]:
    pairs = []
    if reserve == "single_path":
        pairs.append("reserve_policy=no_reserve")
    if algorithm == "fail_over":
        pairs.append("algorithm=shortest_queue")
    if depth < policy.hdisk_queue_depth:
        pairs.append(f"queue_depth={policy.hdisk_queue_depth}")
    words = [word for pair in pairs for word in ("-a", pair)]
    return [line("chdev", "-P", "-l", disk, *words)] if words else []


def _lsattr_key(device: str, names: Tuple[str, ...]) -> str:
    words = [word for name in names for word in ("-a", name)]
    return "command:" + " ".join(["lsattr", "-E", "-l", device] + words)
