# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of parameters that decide the page size of the SGA, and when its pages are touched."""

from typing import List, Optional, Sequence, Tuple

from ...collect.answer import attempt, if_known, known
from ...errors import HostproofError, Unanswered, kind_of
from ...evaluate.advice import apply_line
from ...evaluate.checking import Rules, Skip, Verdict, failing
from ...evaluate.finding import ERROR, FAIL, PASS, WARN
from ...parsers.number import clipped
from ...parsers.oracle import pfile
from ...parsers.size import human
from ...probes.oracle.next_start import change_of_parameter, running_sga
from .facts import Facts, Subject
from .parameter_values import (
    AUTO_ONLY_SINCE,
    FALSE,
    TRUE,
    all_huge,
    has_use_large_pages,
    is_deprecated,
    is_short,
    next_entries,
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
from .policy import AUTO, NAME, UNMANAGED, Policy
from .subjects import INSTANCES, REFERENCE

rules: Rules[Facts, Policy] = Rules(NAME)

#: Status and problem. With None the problem text of the check is used.
Grade = Tuple[str, Optional[str]]

MEMORY_TARGETS = ("memory_target", "memory_max_target")


# -- pre_page_sga ---------------------------------------------------------------------------------


@rules.check(
    "pre_page_sga.value",
    "pre_page_sga suits the release and the page size",
    "pre_page_sga does not suit the release or the page size",
    severity="critical",
    takes_effect="instance_restart",
    why="Logins to a large SGA in 4 KiB pages take seconds, and connections queue at the "
    "listener. Up to 11.2, each new process touches every page of the SGA.",
    reference=REFERENCE
    + " 11.2, 12.2, 19c and 23ai, PRE_PAGE_SGA; M. Przepiorowski, Oracle and HugePages, 2012",
    each=INSTANCES,
    because_of=("hugepages.sga_in_huge_pages",),
)
def value(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if policy.value == UNMANAGED:
        raise Skip("pre_page_sga_value is unmanaged.")
    version = known(subject.version)
    own = pfile.for_instance(next_entries(subject.database), "pre_page_sga", subject.sid)
    # Deprecation matters only if the parameter is set, or if the policy requires a value.
    if (own or policy.value != AUTO) and is_deprecated(version):
        return _judge_deprecated(subject, facts, policy, own)
    at_each_login = walks_at_each_login(version)
    running = running_value(subject, "pre_page_sga")
    coming = next_value(subject, "pre_page_sga")
    status, why = _grade_wanted(policy, version, running, coming)
    if at_each_login:
        status, why = _worse((status, why), _grade_walk(subject, facts, running, coming))
    desired = policy.value
    if desired == AUTO:
        desired = "FALSE, or TRUE with the whole SGA in huge pages" if at_each_login else TRUE
        if not at_each_login and not own:
            desired = "not set, the default"
    return Verdict(
        status,
        why=why,
        fix=_fix_of_pre_page(subject, facts, policy, at_each_login),
        commands=[apply_line(NAME)] if _contradicts(coming, policy, at_each_login) else [],
        part=subject.sid,
        desired="{0} ({1})".format(desired, "release " + release(version)),
        persisted=next_text(subject, "pre_page_sga"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
        failing_layer=failing(
            running=_contradicts(running, policy, at_each_login),
            persisted=_contradicts(coming, policy, at_each_login),
        ),
    )


def _contradicts(value: Optional[str], policy: Policy, at_each_login: bool) -> bool:
    """Whether this value of pre_page_sga causes a finding."""
    if at_each_login and policy.value in (AUTO, TRUE):
        return value == TRUE
    return value == FALSE if policy.value == AUTO else value not in (None, policy.value)


def _judge_deprecated(
    subject: Subject, facts: Facts, policy: Policy, own: List[pfile.Entry]
) -> Verdict:
    """Since 19.22 the parameter should not be set at all."""
    version = known(subject.version)
    why = f"Deprecated in {release(version)}: it has little benefit and can cause problems."
    fix = []
    if own:
        fix.append(change_of_parameter(subject.database, "pre_page_sga", None))
        if running_value(subject, "pre_page_sga") == FALSE:
            # The default is TRUE: with it the instance does not need a restart.
            fix[-1] += f"; then restart {subject.sid}"
    if policy.value != AUTO:
        why += f" The policy requires {policy.value}, which apply rejects."
        fix.append("set pre_page_sga_value to auto")
    return Verdict(
        WARN,
        why=why,
        fix="; ".join(fix),
        desired=f"not set (release {release(version)})",
        persisted=next_text(subject, "pre_page_sga"),
        running=running_value(subject, "pre_page_sga") or "down",
        in_use=_pages_layer(subject, facts),
        failing_layer="persisted" if own else None,
    )


def _pages_layer(subject: Subject, facts: Facts) -> Optional[str]:
    """Text of the SGA's page sizes for the in_use layer. It does not affect the status."""
    pages = attempt(pages_now, subject, facts)
    if pages is None:
        return None
    if isinstance(pages, HostproofError) or isinstance(facts.pool, HostproofError):
        return "unknown"
    return pages_text(pages, facts.pool.page_size)


def _grade_wanted(
    policy: Policy, version: Tuple[int, ...], running: Optional[str], coming: str
) -> Grade:
    """Compare with the policy, or with the default of the release."""
    if policy.value != AUTO:
        wrong = [value for value in (running, coming) if value not in (None, policy.value)]
        if wrong:
            return (
                FAIL,
                f"The policy requires {policy.value}; it {_now_and_then(running, coming)}.",
            )
        return PASS, None
    if not walks_at_each_login(version) and FALSE in (running, coming):
        return WARN, (
            "Since 12.1 the default is TRUE, and a background process touches the pages once. The "
            f"instance {_now_and_then(running, coming)}, so the first sessions after a start touch "
            "them and are slow."
        )
    return PASS, None


def _grade_walk(subject: Subject, facts: Facts, running: Optional[str], coming: str) -> Grade:
    """Grade of releases in which every login touches every page, by the number of pages."""
    if TRUE not in (running, coming):
        return PASS, None
    pages = pages_now(subject, facts)
    if pages is None:
        return _grade_walk_of_last_start(subject)
    if not wholly_huge(pages):
        page = known(facts.pool).page_size
        small, huge = walk(pages, page)
        return FAIL, "Every login {0} {1} pages; with huge pages it would be {2}: {3}.".format(
            "touches" if running == TRUE else "will touch", small, huge, pages_text(pages, page)
        )
    if coming == TRUE and not _takes_only_huge_pages(subject):
        return WARN, (
            "The whole SGA is in huge pages now, but use_large_pages is not ONLY: after a start "
            "with a too small pool, every login touches 4 KiB pages."
        )
    return PASS, None


def _grade_walk_of_last_start(subject: Subject) -> Grade:
    """Grade of an instance that is down, by its last start and use_large_pages."""
    if _takes_only_huge_pages(subject):
        return PASS, None
    short = [row for row in known(subject.last_start).large if is_short(row)]
    if short or not known(subject.last_start).large:
        return FAIL, "It is down. At its last start not the whole SGA was in huge pages."
    return WARN, (
        "It is down. At its last start the whole SGA was in huge pages, but use_large_pages is not "
        "ONLY: after a start with a too small pool, every login touches 4 KiB pages."
    )


def _takes_only_huge_pages(subject: Subject) -> bool:
    """Whether the next start either uses huge pages for the whole SGA or fails."""
    if not has_use_large_pages(known(subject.version)):
        return False
    return next_value(subject, "use_large_pages") in ("ONLY", "AUTO_ONLY")


def _worse(grade: Grade, other: Grade) -> Grade:
    order = (FAIL, ERROR, WARN, PASS)
    return grade if order.index(grade[0]) < order.index(other[0]) else other


def _now_and_then(running: Optional[str], coming: str) -> str:
    if running is None:
        return f"starts with {coming}"
    if running == coming:
        return f"runs with {running}"
    return f"runs with {running} and will start with {coming}"


def _fix_of_pre_page(subject: Subject, facts: Facts, policy: Policy, at_each_login: bool) -> str:
    running = running_value(subject, "pre_page_sga")
    restart = f"; then restart {subject.sid}"
    if not _contradicts(running, policy, at_each_login):
        restart = ""
    elif not _contradicts(next_value(subject, "pre_page_sga"), policy, at_each_login):
        return f"restart {subject.sid}"
    if policy.value == AUTO and not at_each_login:
        # The default needs no entry. Since 19.22 Oracle recommends to set no entry.
        return change_of_parameter(subject.database, "pre_page_sga", None) + restart
    is_true = next_value(subject, "pre_page_sga") == TRUE
    if policy.value == AUTO and is_true and if_known(attempt(all_huge, subject, facts), False):
        return _fix_that_keeps_true(subject)
    value = policy.value if policy.value != AUTO else FALSE
    owner = subject.sid if at_each_login and value == TRUE else pfile.ALL
    if owner == pfile.ALL:
        return change_of_parameter(subject.database, "pre_page_sga", value) + restart
    return f"as SYSDBA: ALTER SYSTEM SET pre_page_sga={value} SCOPE=SPFILE SID='{owner}'" + restart


def _fix_that_keeps_true(subject: Subject) -> str:
    """TRUE with the whole SGA in huge pages was fastest in measurements. ONLY ensures it."""
    if not has_use_large_pages(known(subject.version)):
        return "keep pre_page_sga=TRUE, and the pool as large as the SGA (control hugepages)"
    change = _change_of_large_pages(subject, "ONLY")
    return f"keep pre_page_sga=TRUE; then {_in_order(subject, change)}"


# -- related parameters ---------------------------------------------------------------------------


@rules.check(
    "pre_page_sga.use_large_pages",
    "use_large_pages makes the instance use huge pages",
    "use_large_pages does not ensure huge pages",
    severity="high",
    takes_effect="instance_restart",
    why="TRUE falls back to 4 KiB pages silently if the pool is too small, and FALSE never "
    "uses huge pages. An unknown value prevents the next start (ORA-27107).",
    reference=REFERENCE + ", USE_LARGE_PAGES; ORA-27107",
    each=INSTANCES,
    because_of=(
        "hugepages.memlock_in_force",
        "hugepages.pool_covers_sga",
        "hugepages.shm_group",
    ),
)
def use_large_pages(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if policy.use_large_pages == UNMANAGED:
        raise Skip("pre_page_sga_use_large_pages is unmanaged.")
    version = known(subject.version)
    if not has_use_large_pages(version):
        raise Skip(f"Release {release(version)} has no use_large_pages.")
    running = running_value(subject, "use_large_pages")
    coming = next_value(subject, "use_large_pages")
    grade: Grade = (PASS, None)
    wrong = []
    for value, when, layer in (
        (running, "It runs with", "running"),
        (coming, "The next start uses", "persisted"),
    ):
        if value is not None:
            current = _grade_large_pages(value, when, policy, version)
            grade = _worse(grade, current)
            wrong += [layer] if current[0] != PASS else []
    if policy.use_large_pages == AUTO and grade[0] == PASS and TRUE in (running, coming):
        pages = pages_now(subject, facts)
        if pages is not None and not wholly_huge(pages):
            grade = WARN, "With TRUE the instance silently fell back to 4 KiB pages."
    return Verdict(
        grade[0],
        why=grade[1],
        fix=_fix_of_large_pages(subject, policy, wrong),
        desired="ONLY, or TRUE while the whole SGA is in huge pages"
        if policy.use_large_pages == AUTO
        else policy.use_large_pages,
        persisted=next_text(subject, "use_large_pages"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
        failing_layer=wrong[0] if wrong else "in_use",
    )


def _fix_of_large_pages(subject: Subject, policy: Policy, wrong: Sequence[str]) -> str:
    """The change if the next start needs one, and the restart if the instance does."""
    value = "ONLY" if policy.use_large_pages == AUTO else policy.use_large_pages
    change = "" if wrong == ["running"] else _change_of_large_pages(subject, value)
    steps = [change if value == FALSE else _in_order(subject, change)]
    if wrong != ["persisted"]:
        steps.append(f"restart {subject.sid}")
    return "; then ".join(filter(None, steps))


def _in_order(subject: Subject, change: str) -> str:
    """The order in which no start fails: with ONLY, a start without memlock or pages ends with
    ORA-27125 or ORA-27102."""
    steps = [_memlock_step(subject), "size the pool (hugepages.pool_covers_sga)", change]
    return "; then ".join(filter(None, steps))


def _memlock_step(subject: Subject) -> str:
    running = subject.database.running
    limit = None if running is None else if_known(running.limits, {}).get("Max locked memory")
    sga = running_sga(subject.database) or 0
    if limit is not None and (limit.soft is None or limit.soft >= sga):
        return "keep the memlock limit that it has"
    return (
        "first allow the memlock limit where the instance is started "
        "(hugepages.memlock_in_force): without it a start with ONLY fails"
    )


def _change_of_large_pages(subject: Subject, value: str) -> str:
    """With memory_target, ONLY prevents the start (ORA-27138): reset it first."""
    steps = [change_of_parameter(subject.database, "use_large_pages", value)]
    used = [name for name in MEMORY_TARGETS if next_value(subject, name) != "0"]
    if used and known(subject.version)[0] >= 11:
        reason = f"(ORA-27138: huge pages exclude {' and '.join(used)})"
        steps.insert(0, f"{_end_of_amm(subject)} {reason}")
    return ", then ".join(steps)


def _end_of_amm(subject: Subject) -> str:
    sizes = [
        change_of_parameter(subject.database, name, "SIZE")
        for name in ("sga_target", "pga_aggregate_target")
    ]
    resets = [change_of_parameter(subject.database, name, None) for name in MEMORY_TARGETS]
    return "; ".join(step for step in sizes + resets if step)


def _grade_large_pages(value: str, when: str, policy: Policy, version: Tuple[int, ...]) -> Grade:
    text = f"{when} {value}"
    known_values = (TRUE, FALSE, "ONLY", "AUTO", "AUTO_ONLY")
    if value not in known_values:
        raise Unanswered("policy", f"use_large_pages is {kind_of(value)}")
    if value == "AUTO_ONLY" and version < AUTO_ONLY_SINCE:
        return FAIL, text + ", which exists only since 19c: the instance will not start."
    if policy.use_large_pages != AUTO:
        if value == policy.use_large_pages:
            return PASS, None
        return FAIL, f"{text}, the policy requires {policy.use_large_pages}."
    if value == FALSE:
        return FAIL, text + ": huge pages are never used."
    if value == "AUTO":
        return WARN, text + ": later releases and updates reject it (ORA-27107) and do not start."
    if value == "AUTO_ONLY":
        return WARN, text + (
            ": the pages are requested at each start. That fails if memory is fragmented or "
            "several instances start at the same time. Oracle recommends ONLY."
        )
    return PASS, None


@rules.check(
    "pre_page_sga.memory_target",
    "memory_target and memory_max_target are not set",
    "memory_target or memory_max_target is set",
    severity="high",
    takes_effect="instance_restart",
    why="The SGA is in /dev/shm, where it never uses huge pages (ORA-27138 with "
    "use_large_pages=ONLY).",
    reference=REFERENCE + ", USE_LARGE_PAGES and MEMORY_TARGET; ORA-27138",
    each=INSTANCES,
)
def memory_target(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if policy.memory_target == UNMANAGED:
        raise Skip("pre_page_sga_memory_target is unmanaged.")
    version = known(subject.version)
    if version[0] < 11:
        raise Skip(f"Release {release(version)} has no memory_target.")
    names = MEMORY_TARGETS
    running = [running_value(subject, name) for name in names]
    coming = [next_value(subject, name) for name in names]
    bad = _is_any_set([*running, *coming])
    why = None
    if bad and has_use_large_pages(version) and _takes_only_huge_pages(subject):
        why = "memory_target and use_large_pages=ONLY exclude each other: ORA-27138 at the start."
    return Verdict(
        FAIL if bad else PASS,
        why=why,
        fix="; then ".join(
            [_end_of_amm(subject)] * _is_any_set(coming)
            + [f"restart {subject.sid}"] * _is_any_set(running)
        ),
        desired="0",
        persisted=_both(names, coming),
        running="down" if subject.running is None else _both(names, running),
        values={
            f"{layer}_{name}": clipped(value)
            for layer, sizes in (("persisted", coming), ("running", running))
            for name, value in zip(names, sizes)
            if value is not None
        },
        failing_layer=failing(running=_is_any_set(running), persisted=bad),
    )


def _is_any_set(sizes: Sequence[Optional[str]]) -> bool:
    return any(size not in (None, "0") for size in sizes)


def _both(names: Tuple[str, ...], values: Sequence[Optional[str]]) -> str:
    return ", ".join(f"{name} {shown(name, value)}" for name, value in zip(names, values))


@rules.check(
    "pre_page_sga.lock_sga",
    "lock_sga suits the page size of the SGA",
    "lock_sga does not suit the page size of the SGA",
    severity="medium",
    takes_effect="instance_restart",
    why="The instance can fail to start (ORA-00847 with memory_target), or cannot lock an SGA "
    "above the memlock limit. Huge pages are never paged out.",
    reference=REFERENCE
    + ", LOCK_SGA; ORA-00847; kernel Documentation/admin-guide/mm/hugetlbpage.rst",
    each=INSTANCES,
    because_of=("pre_page_sga.memory_target", "hugepages.memlock_in_force"),
)
def lock_sga(subject: Subject, facts: Facts, policy: Policy) -> Verdict:
    if policy.lock_sga == UNMANAGED:
        raise Skip("pre_page_sga_lock_sga is unmanaged.")
    wanted = FALSE if policy.lock_sga == AUTO else policy.lock_sga
    running = running_value(subject, "lock_sga")
    coming = next_value(subject, "lock_sga")
    values = [value for value in (running, coming) if value is not None]
    grade: Grade = (PASS, None)
    if policy.lock_sga != AUTO and any(value != policy.lock_sga for value in values):
        grade = FAIL, f"The policy requires {policy.lock_sga}."
    if TRUE in values:
        grade = _worse(grade, _grade_lock(subject, facts, coming))
    return Verdict(
        grade[0],
        why=grade[1],
        fix="; then ".join(
            step
            for step, is_needed in (
                (change_of_parameter(subject.database, "lock_sga", wanted), coming != wanted),
                (f"restart {subject.sid}", running not in (None, wanted)),
            )
            if is_needed
        ),
        desired="FALSE, because huge pages are always locked"
        if policy.lock_sga == AUTO
        else policy.lock_sga,
        persisted=next_text(subject, "lock_sga"),
        running=running or "down",
        in_use=_pages_layer(subject, facts),
        failing_layer=failing(running=running not in (None, wanted), persisted=coming != wanted),
    )


def _grade_lock(subject: Subject, facts: Facts, coming: str) -> Grade:
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
        return (
            FAIL,
            f"memlock is {human(limit.soft)}, the SGA {human(total)}: the next start cannot lock "
            "it.",
        )
    return PASS, None
