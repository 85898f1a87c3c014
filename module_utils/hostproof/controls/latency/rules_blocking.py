# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions of running databases that block others, at the moment of the audit."""

from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN, worst
from .facts import Facts
from .parsers.wait_chains import Blocker, blockers
from .policy import NAME, Policy
from .probes.running_databases import Running
from .subjects import DATABASES

rules: Rules[Facts, Policy] = Rules(NAME)

#: So many sessions behind one warn, as do sessions that wait so long; from experience.
_SESSIONS = 5
_SECONDS = 10.0
#: A session that waits longer fails: clients have given up by then.
_TOO_LONG = 60.0
_SHOWN = 5


@rules.check(
    "latency.wait_chains",
    "No session blocks many others or for long",
    "A session blocks others",
    severity="high",
    takes_effect="now",
    why="All sessions of a chain wait for what the last one waits for.",
    reference="Oracle Database Reference, V$WAIT_CHAINS",
    each=DATABASES,
)
def wait_chains(database: Running, _facts: Facts, _policy: Policy) -> Verdict:
    chains = blockers(known_or_skip(database.links))
    bad = [blocker for blocker in chains if _status(blocker) != PASS]
    shown = "; ".join(_describe_blocker(blocker) for blocker in chains[:_SHOWN])
    more = len(chains) - _SHOWN
    first = bad[0] if bad else None
    return Verdict(
        worst([PASS, *map(_status, chains)]),
        why=" ".join(_why(blocker) for blocker in bad[:_SHOWN]) or None,
        advice=None if first is None else Advice([Ask(_what_to_do(first))]),
        desired=f"fewer than {_SESSIONS} sessions behind one, and none for {_SECONDS:g} s",
        in_use=(shown + (f"; and {more} more" if more > 0 else "")) or "no session is blocked",
        values=None
        if first is None
        else {"waiting_sessions": first.waiting, "longest_wait_seconds": first.seconds},
        evidence=(database.key,),
    )


def _status(blocker: Blocker) -> str:
    if blocker.is_cycle or blocker.seconds >= _TOO_LONG:
        return FAIL
    return WARN if blocker.waiting >= _SESSIONS or blocker.seconds >= _SECONDS else PASS


def _count(blocker: Blocker) -> str:
    return "1 session waits" if blocker.waiting == 1 else f"{blocker.waiting} sessions wait"


def _describe_blocker(blocker: Blocker) -> str:
    return (
        f"{_count(blocker)} for {blocker.session}, at most {blocker.seconds:g} s "
        f"({blocker.signature})"
    )


def _why(blocker: Blocker) -> str:
    if blocker.is_cycle:
        return f"{_count(blocker)} in a cycle with session {blocker.session}: {blocker.signature}."
    itself = f"waits for '{blocker.event}'" if blocker.event else "does not wait: it works"
    return f"{_count(blocker)} for session {blocker.session}, which {itself}: {blocker.signature}."


def _what_to_do(blocker: Blocker) -> str:
    who = f"see V$SESSION and V$SQL of session {blocker.session}"
    if blocker.is_cycle:
        return who + "; end one session of the cycle if the database does not resolve it"
    if blocker.event.startswith("SQL*Net message from client"):
        return who + ": it holds a lock and is idle, so its application must commit earlier"
    if blocker.event.startswith("log file"):
        return "check what the log writes take: see latency.redo_waits and latency.redo_members"
    if blocker.event.startswith(("db file", "direct path", "cell ")):
        return (
            "compare with latency.disk and latency.nfs of the same time; for LOBs see "
            "latency.lob_contention"
        )
    return who
