# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pages that instances need, now and at their next start.

Source: My Oracle Support 401749.1 for the number of pages.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError, Unanswered
from ...parsers.oracle import oratab
from ...parsers.size import human
from ...probes.oracle import next_start
from ...probes.oracle.next_start import Database, NextSga
from .facts import Facts
from .policy import Policy
from .probes.huge_page_pool import in_pages


class Part(NamedTuple):
    """A number of pages, and the bytes of SGA in them. ``rounding`` of the pages are those that
    MOS 401749.1 adds to a segment that fills its pages, ``margin`` are those of the policy."""

    pages: int
    sga: int
    rounding: int = 0
    margin: int = 0


class Need(NamedTuple):
    """Pages that the instances need. ``text`` is the calculation, ``sga`` the bytes in them.

    ``now`` is the need of the policy and the running instances without their next start. ``raised``
    are texts about instances whose next start needs more than now. ``only``: one of these does not
    start with small pages. ``stopped`` are the additional pages if all stopped instances start, not
    only those that start together. ``unknown`` is the reason if the need can be higher.
    ``rounding`` and ``margin`` are parts of ``pages`` that no instance uses (Part)."""

    pages: int
    sga: int
    text: str
    now: int = 0
    raised: Tuple[str, ...] = ()
    only: bool = False
    stopped: int = 0
    unknown: Optional[HostproofError] = None
    rounding: int = 0
    margin: int = 0

    @property
    def enough(self) -> int:
        """Pages with which nothing is missing: segments that exist need no rounding."""
        return self.pages - self.rounding

    @property
    def used(self) -> int:
        """Pages that the instances use. Fewer are a failure, the others are a margin."""
        return self.enough - self.margin


class Start(NamedTuple):
    """The next start of an instance: its additional need, and a text about it if there is any."""

    growth: Part
    coming: NextSga
    words: str


def need(facts: Facts, policy: Policy) -> Optional[Need]:
    """The pool that policy, running instances and next starts require; None without any of them.

    A running SGA needs floor(segment / page) + 1 pages for each segment of at least a page
    (MOS 401749.1), plus the growth at its next start. An instance that is down needs its size
    rounded up, plus a few pages, because the number of its segments is not known yet.
    """
    page = known(facts.pool).page_size
    starts, unknown = next_starts(facts, policy, page)
    running = known(facts.instances)
    stopped = {} if policy.instances is not None else _stopped(starts, running)
    if not any((running, policy.instances, stopped)):
        # Further instances in oratab are possible, so a need of zero is not certain.
        return None if unknown is None else Need(0, 0, "not known", unknown=unknown)
    now = _parts(facts, policy, page, starts, grown=False)
    parts = _parts(facts, policy, page, starts, grown=True)
    counted = _counted(stopped, facts)
    parts.update((sid + " (down)", stopped[sid].growth) for sid in counted)
    if unknown is None and len(stopped) > 1 and isinstance(facts.at_boot, HostproofError):
        unknown = facts.at_boot
    raised = [start for start in starts.values() if start.words]
    return _sum_up(parts, policy, page)._replace(
        now=_sum_up(now, policy, page).pages,
        raised=tuple(sorted(start.words for start in raised)),
        only=any(start.coming.only for start in raised),
        stopped=sum(start.growth.pages for sid, start in stopped.items() if sid not in counted),
        unknown=unknown,
    )


def _stopped(starts: Dict[str, Start], running: Sequence[Any]) -> Dict[str, Start]:
    active = {instance.sid for instance in running}
    return {sid: start for sid, start in starts.items() if sid not in active}


def _counted(stopped: Dict[str, Start], facts: Facts) -> List[str]:
    """The stopped instances that count: those that start together at boot time, or the largest one
    if it needs more pages than they do."""
    pages = {sid: start.growth.pages for sid, start in stopped.items()}
    together = [sid for sid in sorted(pages) if sid in if_known(facts.at_boot, [])]
    largest = sorted(pages, key=lambda sid: (-pages[sid], sid))[:1]
    is_enough = sum(pages[sid] for sid in together) >= sum(pages[sid] for sid in largest)
    return together if is_enough else largest


def sga_floor(facts: Facts, policy: Policy) -> int:
    """Bytes in huge pages of all instances; 0 if none is known. Raises if it can be more."""
    needed = need(facts, policy)
    if needed is None:
        return 0
    known(needed.unknown)
    return int(needed.pages * known(facts.pool).page_size)


def least_need(facts: Facts, policy: Policy, page: int) -> Need:
    """Minimum need: the running databases at their next start, as far as it is known."""
    active = {instance.sid for instance in known(facts.instances)}
    starts = {
        sid: start
        for sid, start in next_starts(facts, policy, page)[0].items()
        if sid in active and start.coming.size
    }
    parts = {sid: _rounded_up(start.coming.size, page) for sid, start in starts.items()}
    return _sum_up(parts, policy, page)._replace(
        raised=tuple(sorted(start.words for start in starts.values() if start.words)),
        only=any(start.coming.only for start in starts.values()),
    )


def next_starts(
    facts: Facts, policy: Policy, page: int
) -> Tuple[Dict[str, Start], Optional[HostproofError]]:
    """The known next starts of databases, and the first reason why one is unknown."""
    if isinstance(facts.databases, HostproofError):
        return {}, facts.databases
    listed = [entry.sid for entry in policy.instances or ()]
    read = [database.sid for database in facts.databases]
    # If instances are not queried, the policy must list running databases.
    problems: List[Optional[HostproofError]] = [
        _unreported(instance.sid, "hugepages_query_instances is false")
        for instance in known(facts.instances)
        if instance.kind in next_start.KINDS and instance.sid not in read + listed
    ]
    starts: Dict[str, Start] = {}
    for database in facts.databases:
        start = attempt(_next_start, database, page, policy)
        if isinstance(start, Start):
            starts[database.sid] = start
        problems.append(_why_unknown(database, start, database.sid in listed))
    problems += [facts.hidden] if isinstance(facts.hidden, HostproofError) else []
    return starts, next((one for one in problems if one is not None), None)


def _why_unknown(
    database: Database, start: Answer[Start], is_listed: bool
) -> Optional[HostproofError]:
    """Why the next start is not known; None if it is, or if the policy has its size."""
    if isinstance(start, Start):
        is_known = start.coming.exact or is_listed
        return None if is_known else _unreported(database.sid, start.coming.source)
    if isinstance(start, Absent) and is_listed:
        return None
    return _unmapped(database, start) if database.running is None else start


def _unreported(sid: str, because: str) -> Unanswered:
    return Unanswered(
        "policy",
        f"the SGA of {sid} at its next start is not known ({because}): list it in "
        "hugepages_instances",
    )


def _unmapped(database: Database, problem: HostproofError) -> Unanswered:
    return Unanswered(
        "file:" + oratab.PATHS[0],
        f"oratab lists {database.sid}, which does not run; the SGA of its next start is not known "
        f"({str(problem).rstrip('.')}): list the instance in hugepages_instances",
    )


def _next_start(database: Database, page: int, policy: Policy) -> Start:
    coming = next_start.next_sga(database)
    if next_start.refuses_large_pages(database):
        coming = coming._replace(size=0, stated=0, exact=True)
    now = next_start.running_sga(database) or 0
    if next_start.runs_without_large_pages(database):
        now = 0
    running = database.running
    held = None if running is None else if_known(running.segments, None)
    if held is not None and not any(segment.size >= page for segment in held):
        now = 0  # Automatic Memory Management: its SGA is in no segment yet
    size = max(next_start.grows_to(now, coming) - now, 0)
    extra = policy.extra_pages_per_instance if size and not now else 0
    takes = f"takes {human(coming.size)}"
    words = f"{database.sid}, which is down, {takes} when it starts ({coming.source})"
    if running is not None:
        words = f"{database.sid} {takes} at its next start ({coming.source}), {human(now)} now"
    return Start(_rounded_up(size, page, extra), coming, words if size else "")


def _parts(
    facts: Facts, policy: Policy, page: int, starts: Dict[str, Start], grown: bool
) -> Dict[str, Part]:
    """Need of each instance by name. ``grown``: at its next start, otherwise now."""
    if policy.instances is None:
        return _parts_that_run(facts, page, starts, grown)
    growth = {sid: start.growth for sid, start in starts.items()} if grown else {}
    parts = _listed_parts(facts, policy, page)
    for sid in sorted(set(growth).difference(running.sid for running in known(facts.instances))):
        parts[sid] = max(parts[sid], growth[sid])
    counted: List[Part] = []
    unread = False
    for running in known(facts.instances):
        name = running.sid
        more = growth.get(name, Part(0, 0))
        if name not in parts:
            name += " (running, not listed)"
            parts[name] = _plus(pages_of(known(running.segments), page), more)
        elif isinstance(running.segments, HostproofError):
            unread = True
        else:
            # A running SGA can be larger than the listed size.
            now = pages_of(running.segments, page)
            parts[name] = max(parts[name], _plus(now, more))
        counted.append(parts[name])
    if unread:
        # Without root the owners of segments are unknown, but their total is known.
        total = pages_that_run(facts, page)
        missing = total.pages - sum(part.pages for part in counted)
        if missing > 0:
            beyond = max(total.sga - sum(part.sga for part in counted), 0)
            parts["running beyond that"] = Part(missing, beyond)
    return parts


def _listed_parts(facts: Facts, policy: Policy, page: int) -> Dict[str, Part]:
    # The segments of an instance that runs are known: it needs no margin for them.
    exact = {
        running.sid
        for running in known(facts.instances)
        if not isinstance(running.segments, HostproofError)
    }
    return {
        entry.sid: _rounded_up(
            entry.sga, page, 0 if entry.sid in exact else policy.extra_pages_per_instance
        )
        for entry in policy.instances or ()
    }


def _parts_that_run(
    facts: Facts, page: int, starts: Dict[str, Start], grown: bool
) -> Dict[str, Part]:
    small = _without_large_pages(facts)
    running = [current for current in known(facts.instances) if current.sid not in small]
    if not running and not any(starts[sid].growth.pages for sid in small if sid in starts):
        return {}
    names = ", ".join(instance.sid for instance in running)
    total = pages_that_run(facts, page)
    # Without segments the next start can still give the size: it can end AMM.
    reported = all(current.sid in starts and starts[current.sid].coming.size for current in running)
    if not _are_listed(running, facts, page) or not (total.pages or reported):
        raise Unanswered(
            "file:/proc/sysvipc/shm",
            f"{names} runs, but its SGA is not among the host's SysV segments (Automatic Memory "
            "Management, or a container): list it in hugepages_instances",
        )
    parts = {names: total} if total.pages else {}
    if grown:
        parts.update(_growing(facts, starts))
    return parts


def _growing(facts: Facts, starts: Dict[str, Start]) -> Dict[str, Part]:
    return {
        instance.sid + " at its next start": starts[instance.sid].growth
        for instance in known(facts.instances)
        if instance.sid in starts and starts[instance.sid].growth.pages
    }


def _are_listed(running: Sequence[Any], facts: Facts, page: int) -> bool:
    """Whether the host lists the large segments that the instances have mapped."""
    listed = {segment.shmid for segment in known(facts.segments)}
    return all(
        segment.shmid in listed
        for instance in running
        for segment in if_known(instance.segments, [])
        if segment.size >= page
    )


def _rounded_up(size: int, page: int, extra: int = 0) -> Part:
    return Part(-(-size // page) + extra, size, margin=extra)


def _plus(part: Part, other: Part) -> Part:
    return Part(*map(sum, zip(part, other)))


def pages_that_run(facts: Facts, page: int) -> Part:
    """All large segments of the accounts that own instances."""
    uids = {instance.uid for instance in known(facts.instances)}
    if not uids:
        return Part(0, 0)
    small = _without_large_pages(facts)
    apart = {
        segment.shmid
        for instance in known(facts.instances)
        if instance.sid in small
        for segment in if_known(instance.segments, [])
    }
    segments = [segment for segment in known(facts.segments) if segment.uid in uids]
    return pages_of([segment for segment in segments if segment.shmid not in apart], page)


def _without_large_pages(facts: Facts) -> List[str]:
    """The running databases with use_large_pages=FALSE, which do not use the pool."""
    return [
        database.sid
        for database in if_known(facts.databases, [])
        if next_start.runs_without_large_pages(database)
    ]


def pages_of(segments: Sequence[Any], page: int) -> Part:
    """Pages of the segments that are large enough for huge pages."""
    large = [segment.size for segment in segments if segment.size >= page]
    filled = sum(size % page == 0 for size in large)
    return Part(sum(size // page + 1 for size in large), sum(large), rounding=filled)


def _sum_up(parts: Dict[str, Part], policy: Policy, page: int) -> Need:
    pages = sum(part.pages for part in parts.values()) + policy.spare_pages
    text = " + ".join(f"{name} {parts[name].pages}" for name in sorted(parts))
    if policy.spare_pages:
        text += f" + spare {policy.spare_pages}"
    return Need(
        pages,
        sum(part.sga for part in parts.values()),
        f"{in_pages(pages)} ({human(pages * page)}: {text})",
        rounding=sum(part.rounding for part in parts.values()),
        margin=sum(part.margin for part in parts.values()) + policy.spare_pages,
    )
