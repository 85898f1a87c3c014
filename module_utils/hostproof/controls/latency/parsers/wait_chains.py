# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of v$wait_chains: who waits for whom, and which session all of them wait for in the end.

Source: Oracle Database Reference, V$WAIT_CHAINS.
"""

import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from ....errors import ParseError, kind_of
from ....parsers.oracle.sqlplus_rows import Row

KIND = "chain"
#: The columns of a row, in this order.
COLUMNS = (
    "instance",
    "sid",
    "sess_serial#",
    "blocker_is_valid",
    "blocker_instance",
    "blocker_sid",
    "blocker_sess_serial#",
    "chain_signature",
    "wait_event_text",
    "in_wait_secs",
)

#: More of an event or a signature is not shown.
_MOST_CHARACTERS = 200


class Session(NamedTuple):
    """As the view names one: instance of the cluster, SID and serial number."""

    instance: str
    sid: str
    serial: str

    def __str__(self) -> str:
        return f"{self.sid},{self.serial}"


class Link(NamedTuple):
    """A session, what it waits for, and since when; ``blocker`` is None if no session blocks it."""

    session: Session
    blocker: Optional[Session]
    signature: str
    event: str
    seconds: Optional[float]


class Blocker(NamedTuple):
    """The session at the end of chains: ``waiting`` sessions wait for it, longest ``seconds``.

    ``event`` is what it waits for itself, "" where it does not wait or is not in the rows.
    ``is_cycle``: it waits for one of those that wait for it.
    """

    session: Session
    event: str
    waiting: int
    seconds: float
    signature: str
    is_cycle: bool


def parse(rows: Iterable[Row]) -> List[Link]:
    """The links; ParseError for what is no row of the view."""
    return [_link(row) for row in rows if row.kind == KIND]


def _link(row: Row) -> Link:
    if len(row.fields) != len(COLUMNS):
        raise ParseError("v$wait_chains", "a row that is not whole")
    values = dict(zip(COLUMNS, row.fields))
    if values["blocker_is_valid"] not in ("TRUE", "FALSE"):
        raise ParseError("v$wait_chains", "blocker_is_valid is neither TRUE nor FALSE")
    blocker = None
    if values["blocker_is_valid"] == "TRUE":
        blocker = _session(values, "blocker_")
    seconds = values["in_wait_secs"]
    return Link(
        _session(values, ""),
        blocker,
        _words(values["chain_signature"]),
        _words(values["wait_event_text"]),
        None if seconds is None else float(_number(seconds)),
    )


def _session(values: Dict[str, Optional[str]], prefix: str) -> Session:
    names = ("instance", "sid", "sess_serial#")
    return Session(*(_number(values[prefix + name] or "") for name in names))


def _number(text: str) -> str:
    if not re.match(r"[0-9]{1,12}\Z", text):
        raise ParseError("v$wait_chains", f"no whole number: {kind_of(text)}")
    return text


def _words(text: Optional[str]) -> str:
    return re.sub(r"[^ -~]", "?", text or "")[:_MOST_CHARACTERS]


def blockers(links: Iterable[Link]) -> List[Blocker]:
    """The final blocker of each chain, the one with most waiting sessions first."""
    by_session = {link.session: link for link in links}
    ends: Dict[Tuple[Session, bool], List[Link]] = {}
    for link in by_session.values():
        if link.blocker is not None:
            ends.setdefault(_end(link, by_session), []).append(link)
    result = []
    for (session, is_cycle), waiting in ends.items():
        own = by_session.get(session)
        longest = max(waiting, key=lambda link: link.seconds or 0.0)
        result.append(
            Blocker(
                session,
                "" if own is None else own.event,
                len(waiting),
                longest.seconds or 0.0,
                longest.signature,
                is_cycle,
            )
        )
    return sorted(result, key=lambda blocker: (-blocker.waiting, blocker.session))


def _end(link: Link, by_session: Dict[Session, Link]) -> Tuple[Session, bool]:
    """The session that a chain ends with; of a cycle, its lowest session."""
    seen = [link.session]
    session = link.blocker
    while session is not None and session not in seen:
        seen.append(session)
        following = by_session.get(session)
        session = None if following is None else following.blocker
    if session is None:
        return seen[-1], False
    return min(seen[seen.index(session) :]), True
