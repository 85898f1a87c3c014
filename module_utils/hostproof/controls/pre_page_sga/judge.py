# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what an instance asked for by its release and by the pages that it was really given."""

from typing import Callable, List, Optional, Sequence, Tuple

from ...answer import attempt, if_known, known
from ...errors import Absent, Denied, HostError, HostproofError, Unanswered
from ...finding import ERROR, FAIL, PASS, SKIP, WARN, Check, Finding, found
from ...parsers import pfile
from ...parsers.alert_log_large_pages import PageSize
from ...parsers.size import human
from ...probes.oracle_parameters import NoStart
from . import checks
from .facts import Facts, Subject, evidence_of
from .policy import AUTO, UNMANAGED, Policy
from .values import (
    AUTO_ONLY_SINCE,
    FALSE,
    SMALL_PAGE,
    TRUE,
    has_use_large_pages,
    next_entries,
    next_place,
    next_text,
    next_value,
    pages_now,
    pages_text,
    release,
    running_value,
    shown,
    walk,
    walks_at_each_login,
    wholly_huge,
)

#: Status, and the sentence that says why; None leaves the check's own.
Verdict = Tuple[str, Optional[str]]

_DOWN = "It does not run."
_STATIC = ("pre_page_sga", "use_large_pages", "lock_sga")


def judge(facts, policy):
    # type: (Facts, Policy) -> List[Finding]
    """Every check for every instance. What needs an unknown fact becomes an error."""
    if isinstance(facts.subjects, Absent):
        return [found(check, SKIP, why="Not a Linux host.") for check in checks.CHECKS]
    if isinstance(facts.subjects, HostproofError):
        return [_undetermined(check, facts.subjects) for check in checks.CHECKS]
    if not facts.subjects:
        why = "No instance runs here, and neither pre_page_sga_instances nor oratab lists one."
        return [found(check, SKIP, why=why) for check in checks.CHECKS]
    return [
        _judge_one(check, judge_one, subject, facts, policy)
        for check, judge_one in _JUDGES
        for subject in facts.subjects
    ]


def _judge_one(check, judge_one, subject, facts, policy):
    # type: (Check, Callable[[Subject, Facts, Policy], Finding], Subject, Facts, Policy) -> Finding
    try:
        finding = judge_one(subject, facts, policy)
    except HostproofError as problem:
        finding = _undetermined(check, problem)
    evidence = finding.evidence or evidence_of(subject)
    return finding._replace(
        title="{0}: {1}".format(subject.sid, finding.title), evidence=tuple(evidence)
    )


def _undetermined(check, problem):
    # type: (Check, HostproofError) -> Finding
    key = problem.key if isinstance(problem, HostError) else "policy"
    return found(
        check,
        ERROR,
        why="Could not be determined: {0}.".format(str(problem).rstrip(".")),
        fix="run again with --become (root may ask as the owner)"
        if isinstance(problem, Denied)
        else None,
        evidence=[] if key == "policy" else [key],
    )


# -- pre_page_sga ---------------------------------------------------------------------------------


def _judge_pre_page(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    if policy.wanted == UNMANAGED:
        return found(checks.PRE_PAGE, SKIP, why="pre_page_sga_wanted is unmanaged.")
    version = known(subject.version)
    at_each_login = walks_at_each_login(version)
    running = running_value(subject, "pre_page_sga")
    coming = next_value(subject, "pre_page_sga")
    status, why = _grade_wanted(policy, version, running, coming)
    if at_each_login:
        status, why = _worse((status, why), _grade_walk(subject, facts, running, coming))
    desired = policy.wanted
    if desired == AUTO:
        desired = "FALSE, or TRUE with the whole SGA in huge pages" if at_each_login else TRUE
    return found(
        checks.PRE_PAGE,
        status,
        why=why,
        fix=_fix_of_pre_page(subject, policy, at_each_login),
        desired="{0} ({1})".format(desired, "release " + release(version)),
        persisted=next_text(subject, "pre_page_sga"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
    )


def _pages_layer(subject, facts):
    # type: (Subject, Facts) -> Optional[str]
    """The SGA by its pages, where the verdict does not rest on it: shown if known."""
    if subject.running is None:
        return None
    pages = attempt(pages_now, subject, facts)
    if isinstance(pages, HostproofError) or isinstance(facts.pool, HostproofError):
        return "unknown"
    return pages_text(pages, facts.pool.page_size)


def _grade_wanted(policy, version, running, coming):
    # type: (Policy, Tuple[int, ...], Optional[str], str) -> Verdict
    """Against the policy, or the default of the release."""
    if policy.wanted != AUTO:
        wrong = [value for value in (running, coming) if value not in (None, policy.wanted)]
        if wrong:
            return FAIL, "The policy wants {0}; it {1}.".format(
                policy.wanted, _now_and_then(running, coming)
            )
        return PASS, None
    if not walks_at_each_login(version) and FALSE in (running, coming):
        return WARN, (
            "Since 12.1 the default is TRUE and costs one walk by a background process; it {0}, so "
            "the first sessions after a start pay for each page.".format(
                _now_and_then(running, coming)
            )
        )
    return PASS, None


def _grade_walk(subject, facts, running, coming):
    # type: (Subject, Facts, Optional[str], str) -> Verdict
    """Releases in which every login touches every page: how many pages are that?"""
    if TRUE not in (running, coming):
        return PASS, None
    pages = pages_now(subject, facts)
    if pages is None:
        return _grade_walk_of_last_start(subject)
    if not wholly_huge(pages):
        page = known(facts.pool).page_size
        small, huge = walk(pages, page)
        return FAIL, "Every login {0} {1} pages; in huge pages it would be {2}: {3}.".format(
            "touches" if running == TRUE else "will touch", small, huge, pages_text(pages, page)
        )
    if coming == TRUE and not _takes_only_huge_pages(subject):
        return WARN, (
            "All is in huge pages now, but use_large_pages is not ONLY: a start with a short pool "
            "makes every login walk 4 KiB pages."
        )
    return PASS, None


def _grade_walk_of_last_start(subject):
    # type: (Subject) -> Verdict
    """An instance that is down: what the next start will get is not known, only what may be."""
    if _takes_only_huge_pages(subject):
        return PASS, None
    short = [one for one in known(subject.last_start).large if _is_short(one)]
    if short or not known(subject.last_start).large:
        return FAIL, "It is down; its last start did not get all of the SGA in huge pages."
    return WARN, (
        "It is down; its last start got all of the SGA in huge pages, but use_large_pages is not "
        "ONLY: a start with a short pool makes every login walk 4 KiB pages."
    )


def _takes_only_huge_pages(subject):
    # type: (Subject) -> bool
    """Whether the next start takes huge pages for the whole SGA, or does not happen."""
    if not has_use_large_pages(known(subject.version)):
        return False
    return next_value(subject, "use_large_pages") in ("ONLY", "AUTO_ONLY")


def _worse(one, other):
    # type: (Verdict, Verdict) -> Verdict
    order = (FAIL, ERROR, WARN, PASS)
    return one if order.index(one[0]) < order.index(other[0]) else other


def _now_and_then(running, coming):
    # type: (Optional[str], str) -> str
    if running is None:
        return "starts with {0}".format(coming)
    if running == coming:
        return "runs with {0}".format(running)
    return "runs with {0} and will start with {1}".format(running, coming)


def _fix_of_pre_page(subject, policy, at_each_login):
    # type: (Subject, Policy, bool) -> str
    value = policy.wanted if policy.wanted != AUTO else (FALSE if at_each_login else TRUE)
    owner = subject.sid if at_each_login and value == TRUE else pfile.ALL
    apply = "./hostproof apply"
    if policy.wanted == AUTO and not at_each_login:
        apply = "pre_page_sga_wanted: true and " + apply
    return (
        "{0}, or as SYSDBA: ALTER SYSTEM SET pre_page_sga={1} SCOPE=SPFILE SID='{2}'; "
        "then restart {3}".format(apply, value, owner, subject.sid)
    )


# -- what decides with it -------------------------------------------------------------------------


def _judge_use_large_pages(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.USE_LARGE_PAGES
    if policy.use_large_pages == UNMANAGED:
        return found(check, SKIP, why="pre_page_sga_use_large_pages is unmanaged.")
    version = known(subject.version)
    if not has_use_large_pages(version):
        return found(
            check, SKIP, why="Release {0} has no use_large_pages.".format(release(version))
        )
    running = running_value(subject, "use_large_pages")
    coming = next_value(subject, "use_large_pages")
    verdict = PASS, None  # type: Verdict
    for value, when in ((running, "It runs with"), (coming, "The next start takes")):
        if value is not None:
            verdict = _worse(verdict, _grade_large_pages(value, when, policy, version))
    if policy.use_large_pages == AUTO and verdict[0] == PASS and TRUE in (running, coming):
        pages = pages_now(subject, facts)
        if pages is not None and not wholly_huge(pages):
            verdict = WARN, "With TRUE it fell back to 4 KiB pages without a word."
    return found(
        check,
        verdict[0],
        why=verdict[1],
        fix="size the pool (control hugepages), then as SYSDBA: ALTER SYSTEM SET "
        "use_large_pages={0} SCOPE=SPFILE SID='*'; then restart {1}".format(
            "ONLY" if policy.use_large_pages == AUTO else policy.use_large_pages, subject.sid
        ),
        desired="ONLY, or TRUE while the whole SGA is in huge pages"
        if policy.use_large_pages == AUTO
        else policy.use_large_pages,
        persisted=next_text(subject, "use_large_pages"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
    )


def _grade_large_pages(value, when, policy, version):
    # type: (str, str, Policy, Tuple[int, ...]) -> Verdict
    said = "{0} {1}".format(when, value)
    known_values = (TRUE, FALSE, "ONLY", "AUTO", "AUTO_ONLY")
    if value not in known_values:
        raise Unanswered("policy", "use_large_pages is {0!r}".format(value))
    if value == "AUTO_ONLY" and version < AUTO_ONLY_SINCE:
        return FAIL, said + ", which no release before 19c knows: the instance will not start."
    if policy.use_large_pages != AUTO:
        if value == policy.use_large_pages:
            return PASS, None
        return FAIL, "{0}, the policy wants {1}.".format(said, policy.use_large_pages)
    if value == FALSE:
        return FAIL, said + ": no huge page is ever taken."
    if value == "AUTO":
        return WARN, said + ": later releases and updates refuse it (ORA-27107) and do not start."
    if value == "AUTO_ONLY":
        return WARN, said + (
            ": the pages are requested at each start, which fails where memory is fragmented or "
            "several instances start at once; Oracle advises ONLY."
        )
    return PASS, None


def _judge_memory_target(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.MEMORY_TARGET
    if policy.memory_target == UNMANAGED:
        return found(check, SKIP, why="pre_page_sga_memory_target is unmanaged.")
    version = known(subject.version)
    if version[0] < 11:
        return found(check, SKIP, why="Release {0} has no memory_target.".format(release(version)))
    names = ("memory_target", "memory_max_target")
    running = [running_value(subject, name) for name in names]
    coming = [next_value(subject, name) for name in names]
    bad = any(value not in (None, "0") for value in running + coming)
    why = None
    if bad and has_use_large_pages(version) and _takes_only_huge_pages(subject):
        why = "memory_target and use_large_pages=ONLY exclude each other: ORA-27138 at the start."
    return found(
        check,
        FAIL if bad else PASS,
        why=why,
        fix="as SYSDBA, all with SCOPE=SPFILE SID='*': ALTER SYSTEM SET sga_target=SIZE and "
        "pga_aggregate_target=SIZE, ALTER SYSTEM RESET memory_target and memory_max_target; then "
        "restart " + subject.sid,
        desired="0",
        persisted=_both(names, coming),
        running="down" if subject.running is None else _both(names, running),
    )


def _both(names, values):
    # type: (Tuple[str, ...], Sequence[Optional[str]]) -> str
    return ", ".join(
        "{0} {1}".format(name, shown(name, value)) for name, value in zip(names, values)
    )


def _judge_lock_sga(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.LOCK_SGA
    if policy.lock_sga == UNMANAGED:
        return found(check, SKIP, why="pre_page_sga_lock_sga is unmanaged.")
    running = running_value(subject, "lock_sga")
    coming = next_value(subject, "lock_sga")
    values = [value for value in (running, coming) if value is not None]
    verdict = PASS, None  # type: Verdict
    if policy.lock_sga != AUTO and any(value != policy.lock_sga for value in values):
        verdict = FAIL, "The policy wants {0}.".format(policy.lock_sga)
    if TRUE in values:
        verdict = _worse(verdict, _grade_lock(subject, facts, coming))
    return found(
        check,
        verdict[0],
        why=verdict[1],
        fix="as SYSDBA: ALTER SYSTEM SET lock_sga=FALSE SCOPE=SPFILE SID='*'; then restart "
        + subject.sid,
        desired="FALSE, huge pages are locked anyway"
        if policy.lock_sga == AUTO
        else policy.lock_sga,
        persisted=next_text(subject, "lock_sga"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
    )


def _grade_lock(subject, facts, coming):
    # type: (Subject, Facts, str) -> Verdict
    has_target = known(subject.version)[0] >= 11 and next_value(subject, "memory_target") != "0"
    if coming == TRUE and has_target:
        return FAIL, "lock_sga and memory_target exclude each other: ORA-00847 at the start."
    pages = pages_now(subject, facts)
    if pages is None or subject.running is None:
        return PASS, None
    if wholly_huge(pages):
        return WARN, "The whole SGA is in huge pages, which are never paged out."
    limit = known(subject.running.limits).get("Max locked memory")
    total = pages.huge + pages.small
    if limit is not None and limit.soft is not None and limit.soft < total:
        return FAIL, "memlock is {0}, the SGA {1}: the next start cannot lock it.".format(
            human(limit.soft), human(total)
        )
    return PASS, None


# -- the last start -------------------------------------------------------------------------------


def _judge_granted(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.GRANTED_AT_START
    version = known(subject.version)
    if not has_use_large_pages(version):
        reason = "Release {0} does not tell large pages in the alert log.".format(release(version))
        return found(check, SKIP, why=reason)
    pages = if_known(attempt(pages_now, subject, facts), None)
    if isinstance(subject.last_start, NoStart) and pages is not None and wholly_huge(pages):
        reason = "The alert log does not reach back to the start; the pages are judged from pmon."
        return found(check, SKIP, why=reason)
    start = known(subject.last_start)
    path = known(subject.alert_log)
    if not start.large:
        if start.use_large_pages == FALSE or _asks_for_none(subject):
            return found(check, SKIP, why="The last start asked for no huge pages.")
        raise Unanswered(
            "command:grep -a -n -e ^Starting ORACLE instance " + path,
            "{0} says nothing of large pages after the last start".format(path),
        )
    unclear = [one for one in start.large if one.asked is None]
    if unclear:
        raise Unanswered(
            "command:grep -a -n -e ^Starting ORACLE instance " + path,
            "{0} tells {1} pages granted, but not how many were asked".format(
                path, unclear[0].granted
            ),
        )
    short = [one for one in start.large if _is_short(one)]
    why = None  # type: Optional[str]
    if short:
        why = "It got {0}.".format(_granted_text(short[0]))
        if start.ordinary is not None:
            why += " {0} pages of 4 KiB ({1}) took their place.".format(
                start.ordinary.granted, human(start.ordinary.granted * SMALL_PAGE)
            )
    return found(
        check,
        FAIL if short else PASS,
        why=why,
        fix="look at hugepages.pool_covers_sga, hugepages.memlock_in_force and "
        "hugepages.shm_group, then restart " + subject.sid,
        desired=", ".join("{0} pages".format(one.asked) for one in start.large),
        in_use=", ".join(_granted_text(one) for one in start.large)
        + ("; memlock " + start.memlock if start.memlock else ""),
        evidence=[
            "command:grep -a -n -e ^Starting ORACLE instance " + path,
        ],
    )


def _is_short(page):
    # type: (PageSize) -> bool
    return page.asked is None or page.granted < page.asked or page.error is not None


def _granted_text(page):
    # type: (PageSize) -> str
    size = "" if page.size is None else " of {0}".format(human(page.size))
    error = "" if page.error is None else ", {0}".format(page.error)
    return "{0} of {1} pages{2}{3}".format(page.granted, page.asked, size, error)


def _asks_for_none(subject):
    # type: (Subject) -> bool
    """An instance whose parameters forbid huge pages, in force or at the next start."""
    if subject.running is not None:
        return (
            running_value(subject, "use_large_pages") == FALSE
            or running_value(subject, "memory_target") != "0"
        )
    return (
        next_value(subject, "use_large_pages") == FALSE
        or next_value(subject, "memory_target") != "0"
    )


# -- the next start -------------------------------------------------------------------------------


def _judge_pending(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.PENDING_RESTART
    if subject.running is None:
        return found(check, SKIP, why=_DOWN)
    version = known(subject.version)
    names = [name for name in _STATIC if name != "use_large_pages" or has_use_large_pages(version)]
    if version[0] >= 11:
        names.append("memory_max_target")
    changes, now, then = [], [], []
    for name in names:
        running, coming = running_value(subject, name), next_value(subject, name)
        # What nothing sets may have been derived from others at the start.
        derived = pfile.effective(next_entries(subject), name, subject.sid) is None
        if derived and (name == "memory_max_target" or running == "AUTO_ONLY"):
            continue
        if running != coming:
            changes.append(name)
            now.append("{0} {1}".format(name, shown(name, running)))
            then.append("{0} {1}".format(name, shown(name, coming)))
    return found(
        check,
        WARN if changes else PASS,
        why="The next start changes {0}.".format(", ".join(changes)),
        fix="restart {0} in a window where it can be watched, or set the old value again".format(
            subject.sid
        ),
        desired="as it runs",
        persisted=", ".join(then) or "the same",
        running=", ".join(now) or "as {0} says".format(next_place(subject)),
    )


def _judge_one_value(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.ONE_VALUE
    names = _STATIC + ("memory_target", "memory_max_target")
    entries = next_entries(subject)
    several = []
    for name in names:
        own = pfile.for_instance(entries, name, subject.sid)
        others = [
            one for one in entries if one.name == name and one.sid not in (pfile.ALL, subject.sid)
        ]
        differing = [one for one in others if one.value.upper() != _value_of(own)]
        if len(own) > 1 or (name in _STATIC and differing):
            several.append(", ".join(_entry_text(one) for one in own + differing))
    wins = [
        pfile.effective(entries, name, subject.sid)
        for name in names
        if len(pfile.for_instance(entries, name, subject.sid)) > 1
    ]
    return found(
        check,
        WARN if several else PASS,
        why="More than one entry: {0}.{1}".format(
            "; ".join(several),
            " For {0} counts: {1}.".format(
                subject.sid, ", ".join(_entry_text(one) for one in wins if one is not None)
            )
            if wins
            else " The instances of the database start with different values.",
        ),
        fix="as SYSDBA: ALTER SYSTEM RESET the entry that is not wanted, SCOPE=SPFILE SID='SID'; "
        "in a text file remove its line",
        desired="one entry each, for all instances",
        persisted="; ".join(several) or "at most one entry each in {0}".format(next_place(subject)),
    )


def _value_of(entries):
    # type: (List[pfile.Entry]) -> str
    return entries[-1].value.upper() if entries else ""


def _entry_text(entry):
    # type: (pfile.Entry) -> str
    place = " (line {0})".format(entry.line) if entry.line else ""
    return "{0}.{1}={2}{3}".format(entry.sid, entry.name, entry.value, place)


def _judge_parameter_file(subject, facts, policy):
    # type: (Subject, Facts, Policy) -> Finding
    check = checks.PARAMETER_FILE
    if subject.running is None:
        file = known(subject.file)
        return found(check, PASS, desired="one file", persisted=file.source)
    asked = known(subject.asked)
    used = asked.spfile or "a text file (pfile)"
    if isinstance(subject.file, Absent):
        if asked.spfile is not None and asked.spfile.startswith("+"):
            why = "Its dbs folder names no file; Clusterware starts it with what it has registered."
            return found(check, SKIP, why=why, running=used)
        return found(
            check,
            WARN,
            why="A plain startup finds no parameter file: {0}.".format(subject.file),
            fix="put initSID.ora with SPFILE='{0}' into the dbs folder of the home".format(
                asked.spfile or "PATH"
            ),
            desired="the file in use",
            persisted="none",
            running=used,
        )
    in_asm = (asked.spfile or "").startswith("+")
    if in_asm and isinstance(subject.file, Unanswered) and str(asked.spfile) in str(subject.file):
        # What the file leads to only the instance can read, and it is what it was started with.
        return found(check, PASS, persisted=asked.spfile, running=used)
    file = known(subject.file)
    same = asked.spfile in (file.path, file.source)
    if asked.spfile is None:
        same = not file.source.rpartition("/")[2].startswith("spfile")
    return found(
        check,
        PASS if same else WARN,
        why="It runs with {0}; a plain startup takes {1}.".format(used, file.source),
        fix="remove the file that is not meant, or CREATE SPFILE FROM MEMORY and restart",
        desired="the file in use",
        persisted=file.source
        + (" (not reached: {0})".format(", ".join(file.unused)) if file.unused else ""),
        running=used,
    )


_JUDGES = (
    (checks.PRE_PAGE, _judge_pre_page),
    (checks.USE_LARGE_PAGES, _judge_use_large_pages),
    (checks.GRANTED_AT_START, _judge_granted),
    (checks.MEMORY_TARGET, _judge_memory_target),
    (checks.LOCK_SGA, _judge_lock_sga),
    (checks.PENDING_RESTART, _judge_pending),
    (checks.ONE_VALUE, _judge_one_value),
    (checks.PARAMETER_FILE, _judge_parameter_file),
)
