# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a round trip's time leaves of a transaction: the budget that users feel.

A session that waits for each answer does one transaction in (round trips * round trip time + time
spent elsewhere). No faster server helps the first part. All times are milliseconds.
"""

from typing import NamedTuple, Optional, Tuple

from ..collect.measured import Measured, Window
from .probe_list import REQUEST_RESPONSE


class Budget(NamedTuple):
    """``network_share`` is the part of a transaction's time that is spent on the way, 0 to 1."""

    transaction: float
    per_second: float
    network_share: float


def budget(round_trip: float, round_trips: float, think_time: float) -> Budget:
    """What one session can do at most. ValueError where nothing would take any time."""
    network = round_trip * round_trips
    transaction = network + think_time
    if min(round_trip, round_trips, think_time) < 0 or transaction <= 0:
        raise ValueError("a transaction takes time: give a round trip or a think time above 0")
    return Budget(transaction, 1000.0 / transaction, network / transaction)


def think_time(per_second: float, round_trip: float, round_trips: float) -> float:
    """What a measured rate of one session leaves for everything but the network.

    ValueError where the network alone would take longer than the rate allows: more than one
    session was at work, or there were fewer round trips.
    """
    if per_second <= 0:
        raise ValueError("a rate is above 0")
    rest = 1000.0 / per_second - round_trip * round_trips
    if rest < 0:
        raise ValueError(
            f"{per_second:g} a second with {round_trips:g} round trips of {round_trip:g} ms: one "
            "session cannot"
        )
    return rest


def validation_cost(round_trip: float, round_trips: float = 1.0, statement: float = 0.0) -> float:
    """What a pool adds to each request that validates its connection first.

    ``statement`` is the time the database takes for the validating statement itself.
    """
    return round_trip * round_trips + statement


def felt(measured: Measured) -> Optional[Tuple[Window, float]]:
    """A round trip as a session feels it, and its median in microseconds.

    The time until its process has the answer, else the network's.
    """
    for layer in ("user", "kernel", "net"):
        for window in measured.windows:
            # The user's time of a handshake holds more than a round trip.
            is_exchange = window.conditions.get("mode") == REQUEST_RESPONSE
            if (
                window.layer == layer
                and window.p50 is not None
                and (layer != "user" or is_exchange)
            ):
                return window, window.p50
    return None
