# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of log messages: database I/O errors, NFS servers without answer, and their relation."""

import time
from typing import Dict, List, Optional, Tuple

from ...collect.answer import attempt, if_known, known
from ...collect.shell import line
from ...errors import HostproofError, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.mounts import mountinfo
from .facts import SILENCE, Facts, Linux, Subject
from .instance_io_modes import linux_of, mount_of
from .parsers import io_messages
from .parsers.io_messages import Message
from .parsers.nfs_silence import Silence
from .policy import NAME, Policy
from .probes import kernel_messages
from .subjects import INSTANCES, LINUX, MOS

rules: Rules[Facts, Policy] = Rules(NAME)

#: Seconds. A database message this close to a period without answer belongs to it.
_SAME_MINUTE = 60.0
_SILENCE_CHECK = "async_io.nfs_not_responding"
_KERNEL_LOG = "command:" + " ".join(kernel_messages.journal(SILENCE))
_LOOK = [line("./hostproof", "audit", "--tags", "nfs_mounts,async_io")]
_ERRORS = "Oracle Database Error Messages, "
#: Limit of periods without answer in a finding.
_LISTED = 5


@rules.check(
    "async_io.aio_refused",
    "No AIO context request was rejected",
    "An AIO context request was rejected",
    severity="high",
    takes_effect="now",
    why="The process writes synchronously, fails, or loops (10.2.0.5 in ksfdrwat0). The AIO "
    "limit of the host was reached.",
    reference=MOS + " and 1313555.1; " + _ERRORS + "ORA-27090",
    each=INSTANCES,
)
def aio_refused(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    linux_of(facts)
    messages = _messages(subject, io_messages.LIMIT)
    return Verdict(
        FAIL if messages else PASS,
        why=f"{_describe_messages(messages)}: fs.aio-max-nr was reached.",
        fix="raise fs.aio-max-nr (async_io.aio_max_nr)",
        desired="none",
        in_use=_describe_messages(messages) or _none(policy),
        evidence=_log_keys(subject),
        values=_values(messages),
        because_of=("async_io.aio_usage",) if messages else (),
    )


@rules.check(
    "async_io.io_stalled",
    "No database I/O stalled",
    "Database I/O stalled",
    severity="high",
    takes_effect="now",
    why="Storage, or the path to it, did not respond within the timeout. Disabling "
    "asynchronous I/O does not fix this and hides the next outage.",
    reference=_ERRORS + "ORA-27061, ORA-27062 and ORA-27083; M. E. Dawson, Performance Tuning: A "
    "Case Study, 2002",
    each=INSTANCES,
)
def io_stalled(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    linux = linux_of(facts)
    messages = _messages(subject, io_messages.STALLED)
    joined = [
        silence
        for silence in if_known(linux.silences, [])
        if any(_belongs(message, silence) for message in messages)
    ]
    why = _describe_messages(messages)
    if joined:
        why += ", while " + "; ".join(_silence_text(silence, linux) for silence in joined)
    elif messages:
        unknown = isinstance(linux.silences, HostproofError)
        why += ", and the kernel's log " + (
            f"is not known ({linux.silences})" if unknown else "has no silent NFS server then"
        )
    return Verdict(
        FAIL if joined else WARN if messages else PASS,
        why=why + ".",
        fix="check storage and network, not the parameter: the checks of nfs_mounts check "
        "the mount, and its wire ones the way to the server",
        commands=_LOOK,
        desired="none",
        in_use=_describe_messages(messages) or _none(policy),
        evidence=_log_keys(subject) + (_KERNEL_LOG,),
        values=_values(messages),
        because_of=(_SILENCE_CHECK,) if joined else (),
    )


@rules.check(
    "async_io.io_errors",
    "No database I/O failed",
    "Database I/O failed",
    severity="high",
    takes_effect="now",
    why="Data files can go offline. Errors of the storage, or of a file system without "
    "asynchronous or direct I/O, appear in the alert log long before that.",
    reference=_ERRORS + "ORA-27057 to ORA-27103",
    each=INSTANCES,
)
def io_errors(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    linux_of(facts)
    refused = _messages(subject, io_messages.REFUSED)
    failed = _messages(subject, io_messages.FAILED)
    messages = refused + failed
    return Verdict(
        FAIL if messages else PASS,
        why=f"{_describe_messages(messages)}."
        + (" The file system does not support asynchronous or direct I/O." if refused else ""),
        fix="check the storage of the file in the alert log; if the file "
        "system rejects it, move the file",
        desired="none",
        in_use=_describe_messages(messages) or _none(policy),
        evidence=_log_keys(subject),
        values=_values(messages),
    )


@rules.check(
    "async_io.nfs_not_responding",
    "No NFS server of the database stopped responding",
    "An NFS server stopped responding",
    severity="high",
    takes_effect="now",
    why="Every write to the server waits, and the database with it. The database ends if it "
    "reports ORA-27062.",
    reference="nfs(5), timeo and retrans; Linux, net/sunrpc/clnt.c",
    each=LINUX,
)
def nfs_not_responding(linux: Linux, facts: Facts, policy: Policy) -> List[Verdict]:
    has_mount = any(mount.fstype.startswith("nfs") for mount in known(linux.mounts))
    if not has_mount and not if_known(linux.silences, []):
        raise Skip("This host has no NFS mount.")
    silences: List[Silence] = known(linux.silences)
    if not silences:
        return [Verdict(PASS, desired="none", in_use=_none(policy), evidence=[_KERNEL_LOG])]
    by_server: Dict[str, List[Silence]] = {}
    for silence in silences:
        by_server.setdefault(silence.server, []).append(silence)
    return [_of_server(by_server[server], linux, facts, policy) for server in sorted(by_server)]


def _of_server(silences: List[Silence], linux: Linux, facts: Facts, policy: Policy) -> Verdict:
    subjects: List[Subject] = if_known(facts.subjects, [])
    mounts = _mounts_of(silences[0].server, linux)
    users = _users(subjects, mounts, linux)
    texts = []
    for silence in silences[-_LISTED:]:
        message = _database_said(subjects, silence)
        texts.append(_silence_text(silence, linux) + (f"; {message}" if message else ""))
    longest = max(_length(silence, linux) for silence in silences)
    is_open = any(silence.ended is None for silence in silences)
    return Verdict(
        FAIL if is_open or users else WARN,
        why=". ".join(text[:1].upper() + text[1:] for text in texts)
        + (f". Files there are held open by {users}." if users else "."),
        fix="find out why the server did not answer: the checks of nfs_mounts check the mount "
        "and the way to it",
        commands=_LOOK,
        desired=f"none in {policy.message_days} days",
        in_use=f"{len(silences)} times, {longest:.0f} s at most; mounted at "
        + (", ".join(mount.path for mount in mounts) or "no path now"),
        evidence=[_KERNEL_LOG],
        values={"silences": len(silences), "longest_seconds": round(longest)},
        of=silences[0].server,
    )


# -- words ----------------------------------------------------------------------------------------


def _messages(subject: Subject, kind: str) -> List[Message]:
    """Messages of the alert log, and those of trace files that the alert log does not name."""
    log: List[Message] = known_or_skip(subject.messages)
    messages = [message for message in log if message.kind == kind]
    named = {message.process for message in messages}
    traces = attempt(known, subject.traces)
    if not messages:
        known(traces)
    return messages + [
        message
        for message in if_known(traces, [])
        if message.kind == kind and message.process not in named
    ]


def _describe_messages(messages: List[Message]) -> str:
    """ "ORA-27062 2 times from 2002-03-01 01:40:02 to 01:41:30 (orcl_dbw0_4928; 11: ...)"."""
    by_code: Dict[str, List[Message]] = {}
    for message in messages:
        by_code.setdefault(message.code, []).append(message)
    words = []
    for code in sorted(by_code):
        ones = by_code[code]
        times = sorted(message.at for message in ones if message.at is not None)
        about = sorted({message.process for message in ones if message.process})[:3]
        about += sorted({message.errno for message in ones if message.errno is not None})[:2]
        count = "once" if len(ones) == 1 else f"{len(ones)} times"
        words.append(f"{code} {count}{_span(times)}" + (f" ({'; '.join(about)})" if about else ""))
    return ", ".join(words)


def _span(times: List[float]) -> str:
    if not times:
        return " at an unknown time"
    if times[-1] - times[0] < 1:
        return " at " + _utc(times[0])
    return f" from {_utc(times[0])} to {_utc(times[-1])}"


def _utc(at: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
    except (OverflowError, OSError, ValueError):
        raise Unanswered(_KERNEL_LOG, f"{at:g} is not a valid time") from None


def _none(policy: Policy) -> str:
    return f"none in {policy.message_days} days"


def _values(messages: List[Message]) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for message in messages:
        counts[message.code] = counts.get(message.code, 0) + 1
    return counts


def _log_keys(subject: Subject) -> Tuple[str, ...]:
    if isinstance(subject.alert_log, HostproofError):
        return ()
    return ("command:messages of " + str(subject.alert_log),)


# -- silences -------------------------------------------------------------------------------------


def _length(silence: Silence, linux: Linux) -> float:
    return max((silence.ended or known(linux.clock).now) - silence.began, 0.0)


def _silence_text(silence: Silence, linux: Linux) -> str:
    mounts = ", ".join(mount.path for mount in _mounts_of(silence.server, linux))
    until = (
        f"to {_utc(silence.ended)}" if silence.ended is not None else "and has not answered since"
    )
    return (
        f"the NFS server {silence.server}{f' ({mounts})' if mounts else ''} was silent from "
        f"{_utc(silence.began)} {until}, {_length(silence, linux):.0f} s"
        + (", and requests were given up (soft)" if silence.gave_up else "")
    )


def _mounts_of(server: str, linux: Linux) -> List[mountinfo.Mount]:
    """The mounts of a server, found by its name in the mount table or by its address."""
    mounts = []
    for mount in if_known(linux.mounts, []):
        options = mount.super_options.split(",")
        names = {mount.source.rpartition(":")[0].strip("[]")}
        names.update(option[5:] for option in options if option.startswith("addr="))
        if mount.fstype.startswith("nfs") and server in names:
            mounts.append(mount)
    return mounts


def _users(subjects: List[Subject], mounts: List[mountinfo.Mount], linux: Linux) -> str:
    """The processes with open files on these mounts, by name and instance."""
    names = set()
    for subject in subjects:
        if isinstance(subject.writers, HostproofError):
            continue
        for writer in known(subject.writers):
            if any(mount_of(folder, linux) in mounts for folder in writer.folders):
                names.add(f"{writer.process} of {subject.sid} (pid {writer.pid})")
    return ", ".join(sorted(names))


def _belongs(message: Message, silence: Silence) -> bool:
    if message.at is None:
        return False
    last = silence.ended if silence.ended is not None else message.at
    return silence.began - _SAME_MINUTE <= message.at <= last + _SAME_MINUTE


def _database_said(subjects: List[Subject], silence: Silence) -> Optional[str]:
    """Messages of the databases in a period without answer, as one line."""
    words = []
    for subject in subjects:
        messages: List[Message] = if_known(subject.messages, []) + if_known(subject.traces, [])
        there = [message for message in messages if _belongs(message, silence)]
        if there:
            words.append(f"{subject.sid} said {_describe_messages(there)}")
    return "; ".join(words) or None
