# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transaction budget: the effect of the round-trip time on the transactions of one session.

A session that waits for each response needs (round trips * round-trip time + other time) for a
transaction. A faster server does not reduce the first part. All times are in milliseconds.
"""

from typing import NamedTuple, Optional, Tuple

from ..collect.measured import Measured, Window
from .probe_list import REQUEST_RESPONSE


class Budget(NamedTuple):
    """``network_share`` is the network's share of the transaction time, 0 to 1."""

    transaction: float
    per_second: float
    network_share: float


def budget(round_trip: float, round_trips: float, think_time: float) -> Budget:
    """The highest rate of one session. Raises ValueError if the total time is 0."""
    network = round_trip * round_trips
    transaction = network + think_time
    if min(round_trip, round_trips, think_time) < 0 or transaction <= 0:
        raise ValueError("a transaction takes time: give a round trip or a think time above 0")
    return Budget(transaction, 1000.0 / transaction, network / transaction)


def think_time(per_second: float, round_trip: float, round_trips: float) -> float:
    """The time per transaction outside the network, from the measured rate of one session.

    Raises ValueError if the network time exceeds the whole transaction time. Then several sessions
    were active, or a transaction needed fewer round trips.
    """
    if per_second <= 0:
        raise ValueError("the rate must be above 0")
    rest = 1000.0 / per_second - round_trip * round_trips
    if rest < 0:
        raise ValueError(
            f"one session cannot reach {per_second:g} per second with {round_trips:g} round trips "
            f"of {round_trip:g} ms"
        )
    return rest


def validation_cost(round_trip: float, round_trips: float = 1.0, statement: float = 0.0) -> float:
    """The time that connection validation adds to each request.

    ``statement`` is the time that the database needs for the validation statement.
    """
    return round_trip * round_trips + statement


def felt(measured: Measured) -> Optional[Tuple[Window, float]]:
    """The window closest to what a session waits for, and its median in microseconds.

    The process-level time is preferred, then the kernel's, then the network's.
    """
    for layer in ("user", "kernel", "net"):
        for window in measured.windows:
            # The process-level time of a handshake includes more than one round trip.
            is_exchange = window.conditions.get("mode") == REQUEST_RESPONSE
            if (
                window.layer == layer
                and window.p50 is not None
                and (layer != "user" or is_exchange)
            ):
                return window, window.p50
    return None
