# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Costs and risks of foreground and background validation, for findings and for apply."""

from typing import Optional

CHECKER, SQL = "valid-connection-checker-class-name", "check-valid-connection-sql"
SORTER, FLUSH = "exception-sorter-class-name", "flush-strategy"
MATCH, BEHIND, MILLIS = "validate-on-match", "background-validation", "background-validation-millis"

#: For IronJacamar. The texts of the other pools are in file_pools.py.
AFTER_FAILURE = ", 1 with EntirePool and a sorter that knows the error"
BOTH_SIDES = (
    "the foreground costs a round trip at each checkout and hands out no dead connection. The "
    "background costs none, but hands out connections that died for up to 1.5 times its interval. "
    "It needs an exception sorter that knows the database's errors, flush-strategy EntirePool, a "
    "short interval and an application that retries"
)


def both_sides(trip: Optional[float], most: str, sides: str, after_failure: str) -> str:
    """The sides with the numbers of one pool: the round trip in ms, and its maximum size, "" for
    none."""
    saved = "one round trip (pool_validation_round_trip_ms is unknown)"
    if trip is not None:
        saved = f"{trip:g} ms"
    requests = f"up to {most} requests" if most else "as many requests as it has connections"
    return (
        f"{sides}. The background saves {saved} a request; after a failover {requests} get a dead "
        f"connection (the maximum size){after_failure}"
    )
