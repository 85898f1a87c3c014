# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans pre_page_sga in the spfile of running instances. Instances are not restarted."""

from functools import partial
from typing import List, Optional, Tuple

from ...apply.change import (
    Change,
    Plan,
    Refusal,
    idle,
    independent,
)
from ...apply.parameter_change import stored_change
from ...collect.answer import known
from ...parsers.oracle import pfile
from ...probes.oracle.sqlplus import Entries, entries_of
from .facts import Facts, Subject
from .parameter_values import (
    FALSE,
    TRUE,
    all_huge,
    default,
    has_use_large_pages,
    is_deprecated,
    next_place,
    next_value,
    pages_now,
    pages_text,
    release,
    running_value,
    walks_at_each_login,
)
from .policy import AUTO, UNMANAGED, Policy

_NAME = "pre_page_sga"


def plan(facts: Facts, policy: Policy) -> Plan:
    """Changes for the next start of instances. Raises if required facts are unknown."""
    if policy.value == UNMANAGED:
        return idle("pre_page_sga_value is unmanaged.")
    subjects = known(facts.subjects)
    if not subjects:
        return idle("The host has no instance.")
    return independent(
        (subject.sid, partial(_plan_one, subject, facts, policy)) for subject in subjects
    )


_DEPRECATED = (
    "{0} is release {1}, in which pre_page_sga is deprecated (since 19.22 and in 23ai) and must "
    "not be set: remove its entries (ALTER SYSTEM RESET) and set pre_page_sga_value to auto"
)
_TEXT_FILE = (
    "{0} was started with a text file: write '*.pre_page_sga={1}' into {2} manually, or create a "
    "spfile (CREATE SPFILE FROM PFILE)"
)


def _plan_one(subject: Subject, facts: Facts, policy: Policy) -> Plan:
    changes: List[Change] = []
    refusals: List[Refusal] = []
    pending: List[str] = []
    plan = Plan(changes, refusals, pending, [])
    coming = next_value(subject, _NAME)
    required = _wanted(subject, facts, policy, coming)
    if subject.running is not None and running_value(subject, _NAME) != required:
        pending.append(
            f"{subject.sid} runs with pre_page_sga {running_value(subject, _NAME)} until it is "
            "restarted."
        )
    if coming == required:
        return plan
    version = known(subject.version)
    if not walks_at_each_login(version) and is_deprecated(version):
        refusals.append(Refusal(_DEPRECATED.format(subject.sid, release(version)), None))
        return plan
    if required == TRUE:
        refusals.extend(_guard(subject, facts, policy))
    if subject.running is None:
        pending.append(
            f"{subject.sid} is down, and only the running instance can change its spfile: start it "
            f"and apply again (next start: pre_page_sga {coming}, required {required})."
        )
        return plan
    answer = known(subject.asked)
    if answer.spfile is None:
        place = next_place(subject.database)
        refusals.append(Refusal(_TEXT_FILE.format(subject.sid, required, place), None))
        return plan
    stored = [(entry.sid, entry.name, entry.value) for entry in answer.stored]
    before = entries_of(stored, _NAME, subject.sid)
    after = _entries_with(required, before, subject.sid, answer.version)
    changes.append(
        stored_change(
            known(subject.database.target), _NAME, before, after, float(policy.sqlplus_timeout)
        )
    )
    return plan


def _entries_with(required: str, before: Entries, sid: str, version: Tuple[int, ...]) -> Entries:
    if required == TRUE and walks_at_each_login(version):
        # Only the pages of this instance are known, so TRUE is not set for other nodes.
        return [before[0], (sid, TRUE)]
    for_all = dict(before)[pfile.ALL]
    if for_all is not None or default(_NAME, version) != required:
        for_all = required
    return [(pfile.ALL, for_all), (sid, None)]


def _wanted(subject: Subject, facts: Facts, policy: Policy, coming: str) -> str:
    """The value for the next start. "auto" keeps a value that fits the release and the pages."""
    if policy.value != AUTO:
        return policy.value
    walks = walks_at_each_login(known(subject.version))
    if walks and coming == TRUE and not all_huge(subject, facts):
        return FALSE
    return coming


def _guard(subject: Subject, facts: Facts, policy: Policy) -> List[Refusal]:
    """Rejections of TRUE on a release in which every login touches the whole SGA."""
    version = known(subject.version)
    if not walks_at_each_login(version):
        return []
    if not all_huge(subject, facts):
        return [Refusal(_reason(subject, facts), None)]
    only = has_use_large_pages(version) and next_value(subject, "use_large_pages") == "ONLY"
    if only or policy.allow_small_pages_at_next_start:
        return []
    return [
        Refusal(
            f"{subject.sid} has its whole SGA in huge pages now, but use_large_pages is not ONLY: "
            "after a start with a too small pool, every login would touch 4 KiB pages",
            "allow_small_pages_at_next_start",
        )
    ]


def _reason(subject: Subject, facts: Facts) -> str:
    pages = pages_now(subject, facts)
    pages_in: Optional[str] = "it is down, so its pages are not known"
    if pages is not None:
        pages_in = pages_text(pages, known(facts.pool).page_size)
    return (
        f"{subject.sid} is release {release(known(subject.version))}, in which every login "
        f"touches every page of the SGA, and not the whole SGA is in huge pages ({pages_in}): "
        "with pre_page_sga=TRUE each login would take seconds"
    )
