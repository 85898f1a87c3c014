# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of instance parameters: values now and at the next start."""

from typing import Optional

from ...collect.answer import attempt, known
from ...collect.shell import line
from ...errors import HostproofError
from ...evaluate.advice import Advice, Ask, apply_line
from ...evaluate.checking import Rules, Skip, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle.next_start import change_of_parameter
from .facts import Facts, Subject, evidence_of
from .instance_io_modes import (
    ASYNC,
    OPTIONS,
    SLAVES,
    is_governed,
    linux_of,
    mode,
    persisted,
    places,
    running,
)
from .policy import NAME, Policy
from .subjects import INSTANCES, LINUX_GUIDE, REFERENCE

rules: Rules[Facts, Policy] = Rules(NAME)

_RESTART = "restart the instance: the parameter is static"


@rules.check(
    "async_io.filesystemio_options",
    "filesystemio_options matches the policy",
    "filesystemio_options differs from the policy",
    severity="high",
    takes_effect="instance_restart",
    why="On file systems, database I/O can be synchronous or pass through the page cache. The "
    "default value differs by platform and release.",
    reference=REFERENCE + ", FILESYSTEMIO_OPTIONS; " + LINUX_GUIDE,
    each=INSTANCES,
)
def filesystemio_options(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    required = policy.filesystemio_options
    if required is None:
        raise Skip("async_io_filesystemio_options is unmanaged.")
    if subject.database.running is None:
        return _of_next_start(subject, required)
    where = places(subject, linux_of(facts))
    now = running(subject, OPTIONS)
    if not is_governed(where):
        raise Skip(
            f"Its files are on {' and '.join(where)}, where {OPTIONS} ({now}) has no effect: "
            "only disk_asynch_io controls asynchronous I/O.",
            evidence_of(subject),
        )
    then, layer = persisted(subject, OPTIONS)
    wrong = [
        text
        for text, differs in (
            (f"It runs with {now}", now != required),
            (f"its next start uses {then}", then is not None and then != required),
        )
        if differs
    ]
    return Verdict(
        FAIL if wrong else PASS,
        why=f"{', and '.join(wrong)}; {required} is required. Its files are on "
        f"{' and '.join(where)}.",
        fix=_steps(
            change_of_parameter(subject.database, OPTIONS, required) if then != required else "",
            _RESTART if now != required else "",
        ),
        commands=[apply_line(NAME)] if then != required else [],
        part=subject.sid,
        desired=required,
        persisted=layer,
        running=now,
        in_use=mode(subject).text(),
        failing_layer=failing(running=now != required, persisted=bool(wrong)),
    )


def _steps(*steps: str) -> str:
    """Steps of a fix. Only an instance that runs with a wrong value needs the restart."""
    return "; then ".join(filter(None, steps))


def _of_next_start(subject: Subject, required: str) -> Verdict:
    """Verdict for an instance that is down, or if only its parameter files are known."""
    then, layer = persisted(subject, OPTIONS)
    if then is None:
        raise Skip(
            f"{subject.sid} is not running, and {layer}: the default depends on release and "
            "platform."
        )
    files = (persisted(subject, "control_files")[0] or "").lstrip("('\" ")
    if files.startswith("+"):
        raise Skip(f"{subject.sid} is not running, and its control files are in ASM: {layer}.")
    is_known = files.startswith("/")
    where = "" if is_known else ", unless its files are in ASM"
    return Verdict(
        PASS if then == required else FAIL if is_known else WARN,
        why=f"Its next start uses {then}; {required} is required{where}.",
        advice=Advice([Ask(_before_the_start(subject, required))]),
        wrong=frozenset(["persisted"]),
        desired=required,
        persisted=layer,
    )


def _before_the_start(subject: Subject, required: str) -> str:
    """An instance that is down changes its spfile only after STARTUP NOMOUNT (ORA-01034)."""
    change = change_of_parameter(subject.database, OPTIONS, required)
    if known(subject.database.file).is_text:
        return change
    return f"STARTUP NOMOUNT; then {change}; then SHUTDOWN, and start {subject.sid} as usual"


@rules.check(
    "async_io.disk_asynch_io",
    "disk_asynch_io is TRUE",
    "disk_asynch_io is FALSE, now or after the next instance start",
    severity="high",
    takes_effect="instance_restart",
    why="All database I/O becomes synchronous, including I/O in ASM. FALSE overrides "
    "filesystemio_options.",
    reference=REFERENCE + ", DISK_ASYNCH_IO",
    each=INSTANCES,
)
def disk_asynch_io(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    then, layer = persisted(subject, ASYNC)
    if subject.database.running is None:
        return Verdict(
            FAIL if then == "false" else PASS,
            why=f"{subject.sid} is not running, and its next start disables asynchronous I/O "
            f"({ASYNC}=FALSE).",
            fix=f"remove {ASYNC} from the parameter file before the instance is started; see "
            "async_io.io_stalled for the cause of the crash",
            desired="TRUE",
            persisted=layer,
        )
    now = running(subject, ASYNC)
    off = [
        text
        for text, is_off in (
            ("It runs without asynchronous I/O", now == "false"),
            ("its next start disables it", then == "false"),
        )
        if is_off
    ]
    return Verdict(
        FAIL if off else PASS,
        why=f"{' and '.join(off)} ({ASYNC}=FALSE). A server that did not answer "
        "(ORA-27062) is not a "
        "reason for it: see async_io.io_stalled.",
        fix=_steps(
            change_of_parameter(subject.database, ASYNC, None) if then == "false" else "",
            _RESTART if now == "false" else "",
        ),
        desired="TRUE",
        persisted=layer,
        running=now.upper(),
        failing_layer=failing(running=now == "false", persisted=bool(off)),
    )


@rules.check(
    "async_io.io_slaves",
    "I/O slaves are not in use",
    "I/O slaves are in use (dbwr_io_slaves is not 0)",
    severity="medium",
    takes_effect="instance_restart",
    why="The instance has a single DBWR, and writes the members of a redo log group one after "
    "another. I/O slaves are only a stopgap while asynchronous I/O is off.",
    reference=REFERENCE + ", DBWR_IO_SLAVES; M. E. Dawson, Performance Tuning: A Case Study, 2002",
    each=INSTANCES,
)
def io_slaves(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    then, layer = persisted(subject, SLAVES)
    is_down = subject.database.running is None
    now = None if is_down else running(subject, SLAVES)
    slaves = max(now or "0", then or "0", key=_count)
    is_off = attempt(
        lambda: persisted(subject, ASYNC)[0] or "true" if is_down else running(subject, ASYNC)
    )
    why = f"{SLAVES} is {slaves}"
    values = {SLAVES: _count(slaves)}
    if not values[SLAVES]:
        return Verdict(PASS, desired="0", persisted=layer, running=now, values=values)
    if isinstance(is_off, HostproofError):
        why += f", and whether {ASYNC} is TRUE is not known"
    elif known(is_off) == "false":
        why += (
            f" and {ASYNC} FALSE, a workaround for storage that did not respond: redo members are "
            "written one after the other"
        )
    else:
        why += f" with {ASYNC}=TRUE: it forces one DBWR and has no advantage"
    return Verdict(
        WARN,
        why=why + ".",
        fix=_steps(
            "first fix the storage (async_io.nfs_not_responding, async_io.io_stalled)",
            *(change_of_parameter(subject.database, name, None) for name in (SLAVES, ASYNC)),
            _RESTART if _count(now) else "",
        ),
        commands=[line("./hostproof", "audit", "--tags", "nfs_mounts,async_io")],
        desired="0",
        persisted=layer,
        running=now,
        values=values,
        failing_layer=failing(running=_count(now) > 0, persisted=_count(then) > 0),
    )


def _count(text: Optional[str]) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else 0
