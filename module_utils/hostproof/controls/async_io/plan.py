# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans filesystemio_options if the policy allows it. Nothing is restarted.

The control kernel_parameters sets fs.aio-max-nr: the same key in two files would conflict.
"""

import math
from functools import partial
from typing import List

from ...apply.change import Change, Plan, Refusal, idle, independent
from ...apply.parameter_change import stored_change
from ...collect.answer import attempt, if_known, known
from ...parsers.oracle import pfile
from ...parsers.size import human
from ...probes.oracle.next_start import next_place, next_size, running_sga
from ...probes.oracle.sqlplus import entries_of
from .facts import Facts, Linux, Subject
from .instance_io_modes import MODES, OPTIONS, is_governed, page_cache, persisted, places, running
from .policy import Policy
from .probes import aio


def wanted_events(events: aio.Events, facts: Facts, policy: Policy) -> int:
    """The minimum of fs.aio-max-nr: the policy's value, the current use with its growth, or the
    requests that all processes of the databases reserve."""
    growth = math.ceil(events.used * policy.growth_factor)
    return max(policy.aio_max_nr, growth, requests_of_databases(facts))


def requests_of_databases(facts: Facts) -> int:
    """What all processes of databases reserve that run or start together, as far as it is known;
    of those that a person starts one counts."""
    boot = if_known(facts.at_boot, [])
    together, others = 0, [0]
    for subject in if_known(facts.subjects, []):
        size = attempt(next_size, subject.database, "processes")
        if not isinstance(size, int):
            continue
        if subject.database.running is not None or subject.sid in boot:
            together += size
        else:
            others.append(size)
    return (together + max(others)) * aio.REQUESTS


def plan(facts: Facts, policy: Policy) -> Plan:
    """The changes that make the host match the policy. Raises if required facts are unknown."""
    known(facts.system)
    if facts.linux is None:
        return idle("On this system nothing is set: the findings contain the commands.")
    if not known(facts.subjects):
        return idle("The host has no instance that needs it. Nothing is changed.")
    if policy.filesystemio_options is None:
        return Plan([], [], [], [])
    return independent(
        (subject.sid, partial(_plan_one, subject, facts.linux, policy))
        for subject in known(facts.subjects)
    )


def _plan_one(subject: Subject, linux: Linux, policy: Policy) -> Plan:
    """The spfile entry of a running instance, if the policy allows it."""
    sid, required = subject.sid, str(policy.filesystemio_options)
    changes: List[Change] = []
    refusals: List[Refusal] = []
    pending: List[str] = []
    plan = Plan(changes, refusals, pending, [])
    if subject.database.running is None:
        pending.append(f"{sid} is down, and only the running instance can change its spfile.")
        return plan
    if not policy.set_filesystemio_options:
        pending.append(
            f"{OPTIONS} of {sid} is not changed, because "
            "async_io_set_filesystemio_options is false."
        )
        return plan
    if not is_governed(places(subject, linux)):
        return plan
    now = running(subject, OPTIONS)
    then, _layer = persisted(subject, OPTIONS)
    if now != required:
        pending.append(f"{sid} runs with {OPTIONS} {now} until it is restarted.")
    if then == required:
        return plan
    refusals.extend(_guard_cache(subject, linux, policy, now, required, pending))
    answer = known(subject.database.asked)
    if answer.spfile is None:
        place = next_place(subject.database)
        reason = f"{sid} was started with a text file: write '*.{OPTIONS}={required}' into {place}"
        refusals.append(Refusal(reason + " manually", None))
        return plan
    before = entries_of(
        [(entry.sid, entry.name, entry.value) for entry in answer.stored], OPTIONS, sid
    )
    after = [(pfile.ALL, required), (sid, None)]
    changes.append(
        stored_change(
            known(subject.database.target), OPTIONS, before, after, float(policy.sqlplus_timeout)
        )
    )
    return plan


def _guard_cache(
    subject: Subject, linux: Linux, policy: Policy, now: str, required: str, pending: List[str]
) -> List[Refusal]:
    """Rejection if direct I/O would remove a page cache that serves most reads."""
    if MODES.get(now, (False, False))[1] or not MODES[required][1]:
        return []
    cache, sga = page_cache(linux), running_sga(subject.database) or 0
    share = 100.0 * cache / sga if sga else math.inf
    words = (
        f"{subject.sid} has an SGA of {human(sga)}, and the page cache of the host holds "
        f"{human(cache)} now, from which its files are read"
    )
    pending.append(words + f": with {required} they are not.")
    if share <= policy.cache_limit_percent or policy.allow_cache_loss:
        return []
    return [
        Refusal(
            f"{words} ({share:.0f} percent of the SGA, async_io_cache_limit_percent is "
            f"{policy.cache_limit_percent}): {OPTIONS}={required} bypasses it; "
            "make the SGA larger first",
            "allow_cache_loss",
        )
    ]
