# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of AIO contexts and open file flags of the writing processes, from /proc."""

from typing import Dict, List

from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...parsers.size import human
from ...probes.oracle.io_writers import CONTROL, DATA, KEYS, REDO, TEMPORARY, OpenFile
from .facts import MEMINFO, Facts, Linux, Subject
from .instance_io_modes import (
    DIRECT_NFS,
    DRIVER,
    cache_text,
    examples,
    expected,
    files,
    has_context,
    has_direct_nfs,
    linux_of,
    mode,
    page_cache,
    places,
    writers,
)
from .policy import NAME, Policy
from .probes import aio
from .subjects import INSTANCES, LINUX_GUIDE

rules: Rules[Facts, Policy] = Rules(NAME)

#: Kinds of files in file systems that DBWR and LGWR write, in the order of the report.
_KINDS = (DATA, TEMPORARY, REDO, CONTROL)
_OPTIONS_CHECK = "async_io.filesystemio_options"


@rules.check(
    "async_io.contexts",
    "DBWR and LGWR have AIO contexts",
    "A DBWR or LGWR process has no AIO context",
    severity="high",
    takes_effect="instance_restart",
    why="The process writes one request after another, even if its parameters are correct. "
    "Asynchronous I/O requires a context from io_setup or io_uring.",
    reference="proc_pid_maps(5); Linux, fs/aio.c; " + LINUX_GUIDE,
    each=INSTANCES,
)
def contexts(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    linux = linux_of(facts)
    ones = writers(subject)
    without = [writer.process for writer in ones if not has_context(writer)]
    asynchronous, _direct, by = expected(subject, policy.filesystemio_options)
    number, events = aio.sum_of(ring for writer in ones for ring in writer.rings)
    urings = sum(writer.urings for writer in ones)
    shown = f"{number} contexts of {events} events at most"
    shown += f", {urings} rings of io_uring" if urings else ""
    if without and has_direct_nfs(subject, linux):
        raise Skip(f"{', '.join(without)}: {DIRECT_NFS} does their I/O and needs no context.")
    if without and not asynchronous:
        return Verdict(
            SKIP,
            f"{by[:1].upper()}{by[1:]}, or disk_asynch_io FALSE: no context is required.",
            in_use=shown,
        )
    return Verdict(
        WARN if without else PASS,
        why=f"{', '.join(without)} of {subject.sid} has no context, although {by}: it writes "
        "synchronously, or has not written since its start.",
        fix="check again after the instance has written; then check libaio "
        "(ldd $ORACLE_HOME/bin/oracle) and for async_io.aio_usage",
        desired="a context in each of " + ", ".join(writer.process for writer in ones),
        running=by,
        in_use=shown,
        values={"contexts": number, "events_at_most": events, "io_urings": urings},
        failing_layer="in_use",
    )


@rules.check(
    "async_io.direct_files",
    "Database files bypass the page cache",
    "Database files are read and written through the page cache",
    severity="high",
    takes_effect="instance_restart",
    why="Each block is in memory twice, and native asynchronous I/O blocks. Reads from the "
    "cache also hide slow storage.",
    reference="open(2), O_DIRECT; proc_pid_fdinfo(5); " + LINUX_GUIDE,
    each=INSTANCES,
)
def direct_files(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    linux = linux_of(facts)
    held = _in_file_systems(subject, linux)
    _asynchronous, direct, by = expected(subject, policy.filesystemio_options)
    buffered = {
        kind: [open_file for open_file in some if not open_file.flags.direct]
        for kind, some in held.items()
    }
    some = _all_of(buffered)
    cache = page_cache(linux) if some else 0
    return Verdict(
        (FAIL if direct else WARN) if some else PASS,
        why=f"{_counted(buffered)} of {subject.sid} are open without O_DIRECT, "
        f"{'although' if direct else 'as'} {by}: {examples(some)}. "
        + (f"{cache_text(linux)[:1].upper()}{cache_text(linux)[1:]}." if some else ""),
        fix="restart the instance if the parameter was changed since; otherwise the file system "
        "rejects O_DIRECT (tmpfs, some FUSE and ecryptfs do): move the files"
        if direct
        else f"see {_OPTIONS_CHECK}",
        desired="O_DIRECT on each file",
        running=by,
        in_use=f"{_counted(held)} open; {_counted(buffered) or 'none'} through the page cache"
        + (f" ({human(cache)} at most)" if some else ""),
        evidence=KEYS + ("file:" + MEMINFO,),
        values=_values(held, buffered, cache),
        because_of=() if direct or not some else (_OPTIONS_CHECK,),
        failing_layer="in_use",
    )


@rules.check(
    "async_io.durable_files",
    "Redo, control and data files are open with O_DSYNC or O_SYNC",
    "Redo, control or data files are open without O_DSYNC and O_SYNC",
    severity="critical",
    takes_effect="instance_restart",
    why="A power failure can lose committed transactions. Without these flags a write can "
    "complete while its data is still in a volatile cache.",
    reference="open(2), O_DSYNC and O_SYNC; proc_pid_fdinfo(5)",
    each=INSTANCES,
)
def durable_files(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    held = _in_file_systems(subject, linux_of(facts))
    # Temporary files are not needed after a crash, so they may lose data.
    counted = {kind: some for kind, some in held.items() if kind != TEMPORARY}
    if not any(counted.values()):
        raise Skip(f"Only temporary files of {subject.sid} are open in file systems.", KEYS)
    loose = {
        kind: [open_file for open_file in some if not open_file.flags.sync]
        for kind, some in counted.items()
    }
    some = _all_of(loose)
    cached = [open_file for open_file in some if not open_file.flags.direct]
    return Verdict(
        FAIL if cached else WARN if some else PASS,
        why=f"{_counted(loose)} of {subject.sid} are open without O_DSYNC and O_SYNC: "
        f"{examples(some)}."
        + ("" if cached else " They bypass the page cache, but not the cache of the disk."),
        fix="find the program that opens them: the database itself uses O_DSYNC on file systems",
        desired="O_DSYNC or O_SYNC on each file",
        in_use=f"{_counted(counted) or 'none'} open; {_counted(loose) or 'none'} without it; "
        + mode(subject).text(),
        evidence=KEYS,
        values={"without_sync": len(some)},
    )


def _in_file_systems(subject: Subject, linux: Linux) -> Dict[str, List[OpenFile]]:
    """The open files in file systems by kind. Skip if the files are on other storage."""
    held = {kind: some for kind, some in files(subject).items() if kind in _KINDS}
    if held:
        return held
    where = places(subject, linux)
    if DRIVER in where:
        raise Skip(f"It uses files through {DRIVER}: descriptors do not show the mode of writes.")
    raise Skip(f"Its files are on {' and '.join(where)}, not in a file system.")


def _all_of(by_kind: Dict[str, List[OpenFile]]) -> List[OpenFile]:
    """In the order of the report."""
    return [open_file for kind in _KINDS for open_file in by_kind.get(kind, [])]


def _counted(by_kind: Dict[str, List[OpenFile]]) -> str:
    """ "12 data and 3 redo files"."""
    words = [f"{len(by_kind[kind])} {kind}" for kind in _KINDS if by_kind.get(kind)]
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words) + (
        " files" if words else ""
    )


def _values(
    held: Dict[str, List[OpenFile]], buffered: Dict[str, List[OpenFile]], cache: int
) -> Dict[str, int]:
    values = {f"{kind}_open": len(some) for kind, some in held.items()}
    values.update({f"{kind}_buffered": len(some) for kind, some in buffered.items()})
    values["page_cache_bytes"] = cache
    return values
