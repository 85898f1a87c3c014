# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the huge pages of the last start, and of changes at the next start."""

from typing import List, Optional, Tuple

from ...collect.answer import attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, SKIP, WARN
from ...parsers.number import clipped
from ...parsers.oracle import pfile
from ...parsers.oracle.alert_log_large_pages import PageSize, Start
from ...parsers.size import human
from ...probes.oracle.alert_logs import NoStart
from ...probes.oracle.next_start import SIZES, grows_to, is_rounded, next_sga, running_sga
from .facts import Facts, Subject
from .parameter_values import (
    FALSE,
    SMALL_PAGE,
    all_huge,
    has_use_large_pages,
    is_short,
    next_entries,
    next_place,
    next_value,
    release,
    running_value,
    shown,
)
from .policy import NAME, Policy
from .subjects import INSTANCES, REFERENCE

rules: Rules[Facts, Policy] = Rules(NAME)

_DOWN = "It is not running."
_NO_FAILURE = "no error about shared memory"
_STATIC = ("pre_page_sga", "use_large_pages", "lock_sga")
#: Parameters that an instance derives from others if they are not set.
_DERIVED = ("memory_max_target", "sga_max_size")


# -- the last start -------------------------------------------------------------------------------


@rules.check(
    "pre_page_sga.granted_at_start",
    "Instance got all requested huge pages at startup",
    "Instance got too few huge pages at startup",
    severity="high",
    takes_effect="instance_restart",
    why="The instance runs slower with 4 KiB pages. Only a few lines of the alert log report it.",
    reference="MOS 2049901.1 and 1392497.1: the large pages in the alert log",
    each=INSTANCES,
    because_of=("hugepages.pool_covers_sga", "hugepages.shm_group", "hugepages.memlock_in_force"),
)
def granted_at_start(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    start = _start_with_large_pages(subject, facts)
    short = [row for row in start.large if is_short(row)]
    why: Optional[str] = None
    if short:
        why = f"It got {_granted_text(short[0])}."
        if start.ordinary is not None:
            why += (
                f" {start.ordinary.granted} pages of 4 KiB "
                f"({human(start.ordinary.granted * SMALL_PAGE)}) were used instead."
            )
    return Verdict(
        FAIL if short else PASS,
        why=why,
        fix="check hugepages.pool_covers_sga, hugepages.memlock_in_force and "
        "hugepages.shm_group, then restart " + subject.sid,
        desired=", ".join(f"{row.asked} pages" for row in start.large),
        in_use=", ".join(_granted_text(row) for row in start.large)
        + ("; memlock " + start.memlock if start.memlock else ""),
        values={
            "requested": sum(row.asked or 0 for row in start.large),
            "granted": sum(row.granted for row in start.large),
            "unit": "pages",
        },
        evidence=[_key(known(subject.alert_log))],
    )


def _start_with_large_pages(subject: Subject, facts: Facts) -> Start:
    """The last start with the large pages that it requested and got; Skip where there are none."""
    version = known(subject.version)
    if not has_use_large_pages(version):
        raise Skip(f"Release {release(version)} does not write large pages to the alert log.")
    if isinstance(subject.last_start, NoStart) and if_known(
        attempt(all_huge, subject, facts), False
    ):
        reason = "The last start is not in the alert log. The pages of pmon are checked instead."
        raise Skip(reason)
    start = known(subject.last_start)
    path = known(subject.alert_log)
    if not start.large:
        if start.use_large_pages == FALSE or _asks_for_none(subject):
            raise Skip("The last start requested no huge pages.")
        why = f"{path} has no lines about large pages after the last start"
        raise Unanswered(_key(path), why)
    unclear = [row for row in start.large if row.asked is None]
    if unclear:
        raise Unanswered(
            _key(path),
            f"{path} contains the number of granted pages ({unclear[0].granted}), but not of "
            "requested pages",
        )
    return start


def _key(alert_log: str) -> str:
    return "command:grep -a -n -e ^Starting ORACLE instance " + alert_log


def _lacks_large_pages(subject: Subject, start: Start) -> bool:
    small = start.ordinary
    if small is None or start.large:
        return False
    # More than it expects are an SGA in ordinary pages: that start got its memory.
    has_sga = start.has_memory or small.granted > (small.asked or 0)
    return bool(start.failures) or (
        not has_sga and _requires_large_pages(subject, start.use_large_pages)
    )


def _requires_large_pages(subject: Subject, at_start: Optional[str]) -> bool:
    """Whether a start with ordinary pages fails (use_large_pages=ONLY), as the log or else the
    parameters of the next start show."""
    if at_start is not None:
        return at_start.upper() in ("ONLY", "AUTO_ONLY")
    coming = attempt(next_sga, subject.database)
    return not isinstance(coming, HostproofError) and coming.only


def _granted_text(page: PageSize) -> str:
    size = "" if page.size is None else f" of {human(page.size)}"
    error = "" if page.error is None else f", {page.error}"
    return f"{page.granted} of {page.asked} pages{size}{error}"


def _asks_for_none(subject: Subject) -> bool:
    """Whether parameters of the instance disable huge pages."""
    if subject.running is not None:
        return (
            running_value(subject, "use_large_pages") == FALSE
            or running_value(subject, "memory_target") != "0"
        )
    return (
        next_value(subject, "use_large_pages") == FALSE
        or next_value(subject, "memory_target") != "0"
    )


@rules.check(
    "pre_page_sga.last_start",
    "Last start of the instance got its shared memory",
    "Last start of the instance failed without shared memory",
    severity="high",
    takes_effect="instance_restart",
    why="The next start fails again while the limit or the parameter is the same.",
    reference="Oracle Database Error Messages, ORA-00845, ORA-27102, ORA-27104, ORA-27106 and "
    "ORA-27125; MOS 465048.1 and 301830.1",
    each=INSTANCES,
    because_of=(
        "hugepages.pool_covers_sga",
        "hugepages.shm_group",
        "kernel_parameters.shared_memory",
        "memory_pressure.dev_shm",
        "process_limits.units",
    ),
)
def last_start(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if subject.running is not None:
        return Verdict(PASS, desired=_NO_FAILURE, in_use="the instance is running")
    if isinstance(subject.last_start, NoStart) or isinstance(subject.alert_log, Absent):
        raise Skip("The alert log shows no start.")
    start = known(subject.last_start)
    path = known(subject.alert_log)
    failures = list(start.failures)
    if _lacks_large_pages(subject, start):
        failures.append("the table of page sizes has 4 KiB pages only")
    return Verdict(
        FAIL if failures else PASS,
        why=f"{path}: {'; '.join(failures)}.",
        fix="check kernel_parameters.shared_memory, hugepages.pool_covers_sga, "
        "hugepages.shm_group, memory_pressure.dev_shm and process_limits.units, then start "
        + subject.sid,
        desired=_NO_FAILURE,
        in_use="; ".join(failures) or "none",
        evidence=[_key(path)],
    )


def _correct(refused: str) -> Ask:
    return Ask(
        f"correct in the parameter file, before the instance is stopped, what a start rejects: "
        f"{refused.rstrip('.')}"
    )


def _decide(sid: str) -> Ask:
    return Ask(
        f"restart {sid} in a maintenance window, or set the old values again with SCOPE=SPFILE"
    )


# -- the next start -------------------------------------------------------------------------------


@rules.check(
    "pre_page_sga.pending_restart",
    "No parameter change is pending until instance restart",
    "Parameter changes are pending until instance restart",
    severity="medium",
    takes_effect="instance_restart",
    why="The next start uses other values than the running instance, or fails. Changes to "
    "static parameters take effect only then.",
    reference=REFERENCE + ", V$SYSTEM_PARAMETER and V$SPPARAMETER",
    each=INSTANCES,
)
def pending_restart(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    refused = next_sga(subject.database).refused
    if subject.running is None and refused is None:
        raise Skip(_DOWN)
    changes, now, then = _pending_changes(subject)
    why = "The next start changes {0}.".format(", ".join(changes))
    if subject.running is not None:
        why = _with_sga(why, subject)
    return Verdict(
        FAIL if refused else WARN if changes else PASS,
        why=why if refused is None else f"The next start fails: {refused}.",
        advice=Advice([_correct(refused) if refused else _decide(subject.sid)]),
        desired="the running values",
        persisted=", ".join(then) or refused or "the same",
        running="down"
        if subject.running is None
        else ", ".join(now) or f"as in {next_place(subject.database)}",
        failing_layer="persisted",
    )


def _with_sga(why: str, subject: Subject) -> str:
    """Add the growth of the SGA, because the huge page pool must cover it."""
    now = running_sga(subject.database) or 0
    coming = grows_to(now, next_sga(subject.database))
    if not coming:
        return why
    return (
        f"{why} Its SGA grows from {human(now)} to {human(coming)}: see hugepages.pool_covers_sga."
    )


def _pending_changes(subject: Subject) -> Tuple[List[str], List[str], List[str]]:
    """Names of parameters that the next start changes, texts of their old and new values."""
    version = known(subject.version)
    names = [name for name in _STATIC if name != "use_large_pages" or has_use_large_pages(version)]
    if version[0] >= 11:
        names += ["memory_max_target", "memory_target"]
    names += ["sga_max_size", "sga_target"]
    if subject.running is None:
        return [], [], []
    changes = [name for name in names if _changes(subject, name)]
    now = [f"{name} {shown(name, running_value(subject, name))}" for name in changes]
    then = [f"{name} {shown(name, next_value(subject, name))}" for name in changes]
    return changes, now, then


def _changes(subject: Subject, name: str) -> bool:
    """Whether the next start changes the value of a parameter."""
    running, coming = running_value(subject, name), next_value(subject, name)
    # A parameter that is not set can have been derived from others at the start.
    derived = (
        pfile.effective(next_entries(subject.database), name, subject.sid) is None
        or name == "sga_max_size"
        and coming == "0"
    )
    if running == coming or (derived and (name in _DERIVED or running == "AUTO_ONLY")):
        return False
    return name not in SIZES or not is_rounded(clipped(running or "0"), clipped(coming or "0"))


@rules.check(
    "pre_page_sga.one_value",
    "Each parameter is set once for the instance",
    "A parameter is set several times for the instance",
    severity="medium",
    takes_effect="instance_restart",
    why="A change to the wrong entry has no effect. An entry for one SID overrides the entry "
    "for *, and the last of two lines overrides the first.",
    reference="Oracle Database Administrator's Guide, About the Server Parameter File; "
    + REFERENCE,
    each=INSTANCES,
)
def one_value(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    names = _STATIC + ("memory_target", "memory_max_target")
    entries = next_entries(subject.database)
    found = [_several(entries, name, subject.sid) for name in names]
    several = [", ".join(map(_entry_text, some)) for some in found if some]
    wins = [
        pfile.effective(entries, name, subject.sid)
        for name in names
        if len(pfile.for_instance(entries, name, subject.sid)) > 1
    ]
    return Verdict(
        WARN if several else PASS,
        why="More than one entry: {0}.{1}".format(
            "; ".join(several),
            " Effective for {0}: {1}.".format(
                subject.sid, ", ".join(_entry_text(entry) for entry in wins if entry is not None)
            )
            if wins
            else " The instances of the database start with different values.",
        ),
        advice=Advice(
            [
                Ask(
                    "keep the entry with the right value, and remove the other (as SYSDBA: ALTER "
                    "SYSTEM RESET NAME SCOPE=SPFILE SID='SID', or its line in a text file)"
                )
            ]
        ),
        desired="one entry each, for all instances",
        persisted="; ".join(several) or f"at most one entry each in {next_place(subject.database)}",
    )


def _several(entries: List[pfile.Entry], name: str, sid: str) -> List[pfile.Entry]:
    """The entries of a parameter that is set several times for the instance, or otherwise for
    another instance; [] if neither."""
    own = pfile.for_instance(entries, name, sid)
    others = [
        entry for entry in entries if entry.name == name and entry.sid not in (pfile.ALL, sid)
    ]
    differing = [entry for entry in others if entry.value.upper() != _value_of(own)]
    return own + differing if len(own) > 1 or (name in _STATIC and differing) else []


def _value_of(entries: List[pfile.Entry]) -> str:
    return entries[-1].value.upper() if entries else ""


def _entry_text(entry: pfile.Entry) -> str:
    place = f" (line {entry.line})" if entry.line else ""
    return f"{entry.sid}.{entry.name}={entry.value}{place}"


@rules.check(
    "pre_page_sga.parameter_file",
    "Next startup reads the parameter file in use",
    "Next startup reads another parameter file, or finds none",
    severity="medium",
    takes_effect="instance_restart",
    why="The instance loses its settings at the next plain startup. The search order is "
    "spfileSID.ora, spfile.ora, initSID.ora.",
    reference="Oracle Database Administrator's Guide, About Initialization Parameter Files and "
    "Startup",
    each=INSTANCES,
)
def parameter_file(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if subject.running is None:
        file = known(subject.file)
        return Verdict(PASS, desired="one file", persisted=file.source)
    answer = known(subject.asked)
    used = answer.spfile or "a text file (pfile)"
    in_asm = (answer.spfile or "").startswith("+")
    if isinstance(subject.file, Absent):
        if in_asm:
            why = "Its dbs directory has no file; Clusterware starts it with the registered one."
            return Verdict(SKIP, why=why, running=used)
        return Verdict(
            WARN,
            why=f"A plain startup finds no parameter file: {subject.file}.",
            fix="create initSID.ora with SPFILE='{0}' in the dbs directory of the home".format(
                answer.spfile or "PATH"
            ),
            desired="the file in use",
            persisted="none",
            running=used,
        )
    if in_asm and isinstance(subject.file, Unanswered) and str(answer.spfile) in str(subject.file):
        # The file points to a spfile in ASM, which only the instance can read. It is in use now.
        return Verdict(PASS, persisted=answer.spfile, running=used)
    file = known(subject.file)
    same = answer.spfile in (file.path, file.source)
    if answer.spfile is None:
        same = not file.source.rpartition("/")[2].startswith("spfile")
    ignored = f" (ignored: {', '.join(file.unused)})" if file.unused else ""
    return Verdict(
        PASS if same else WARN,
        why=f"It runs with {used}; a plain startup uses {file.source}.",
        fix="remove the wrong file, or run CREATE SPFILE FROM MEMORY and restart",
        desired="the file in use",
        persisted=file.source + ignored,
        running=used,
    )
