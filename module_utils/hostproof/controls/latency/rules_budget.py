# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the round trip leaves a session for its transactions."""

from typing import Tuple

from ...collect.answer import known
from ...collect.measured import Window
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Verdict
from ...evaluate.finding import PASS, WARN
from ...latency import budget
from . import figures
from .facts import Facts
from .policy import NAME, Budget, Policy
from .subjects import WITH_BUDGET, WORDS, Probed, no_answer

rules: Rules[Facts, Policy] = Rules(NAME)

#: What validation in the background costs. IronJacamar (WildFly, EAP): its
#: validator looks each half of background-validation-millis at what it did not see for all of it.
_STALE = (
    "hands out connections that died since its last check (in WildFly for up to 1.5 times "
    "background-validation-millis, and forever if that is 0). The application gets the error, so "
    "it must open a new connection and repeat the transaction"
)


@rules.check(
    "latency.round_trip_budget",
    "Round-trip time allows the required transaction rate",
    "Round-trip time is too long for the required transaction rate",
    severity="medium",
    takes_effect="now",
    why="A session that waits for each reply is limited by its round trips, however fast the "
    "server is.",
    reference="transactions a second of one session = 1 / (round trips * round trip time + think "
    "time)",
    each=WITH_BUDGET,
    because_of=("latency.tcp",),
)
def round_trip_budget(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """What the measured round trip allows a session."""
    settings: Budget = policy.budget  # type: ignore[assignment] # WITH_BUDGET: there is one
    measured = known(subject.answer)
    result = budget.felt(measured)
    if result is None:
        raise no_answer(subject, measured)
    window, microseconds = result
    round_trip = microseconds / 1000.0
    try:
        elsewhere, source = _elsewhere(settings, round_trip)
    except ValueError as problem:
        raise Unanswered(subject.key, str(problem)) from problem
    room = budget.budget(round_trip, settings.round_trips, elsewhere)
    required = settings.per_second
    enough = required is None or room.per_second >= required
    allowed = (
        f"a round trip of {figures.milliseconds(microseconds)} ({WORDS[window.layer]}): at most "
        f"{_rate(room.per_second)} transactions a second of one session, "
        f"{room.network_share * 100:.0f} % of their time on the way{_sizes(window)}"
    )
    validation = budget.validation_cost(
        round_trip, settings.validation_round_trips, settings.validation_ms
    )
    return Verdict(
        PASS if enough else WARN,
        why=f"{subject.target}: {allowed}; {_rate(required or 0.0)} are required.",
        advice=Advice(
            [
                Ask(
                    "make fewer round trips (array fetches and binds, statements in one block) or "
                    "their way shorter (more sessions do not make one faster). A pool that "
                    "validates in the background, not at each request, saves that round trip, and "
                    + _STALE
                )
            ]
        ),
        desired="{0:g} round trips and {1:.3g} ms elsewhere{2} for each{3}".format(
            settings.round_trips,
            elsewhere,
            source,
            "" if required is None else f", {_rate(required)} a second",
        ),
        running="a pool that validates at each request adds {0} to each: {1} instead of {2}; one "
        "that validates in the background does not, and may hand out dead connections".format(
            *[
                figures.milliseconds(value * 1000.0)
                for value in (validation, room.transaction + validation, room.transaction)
            ]
        ),
        in_use=allowed,
        evidence=(subject.key,),
    )


def _sizes(window: Window) -> str:
    """The sizes of a round trip that has those of live connections."""
    port = window.conditions.get("payload_port")
    if not isinstance(port, int):
        return ""
    return "; requests of {0} and responses of {1} bytes, the means of port {2}".format(
        window.size, window.conditions.get("reply_size"), port
    )


def _elsewhere(settings: Budget, round_trip: float) -> Tuple[float, str]:
    """Milliseconds of a transaction that are not on the way, and where they are from in words.

    ValueError where one session cannot have the rate that was measured.
    """
    rate = settings.measured
    if rate is None:
        return settings.think_time_ms or 0.0, ""
    at = round_trip if rate.round_trip_ms is None else rate.round_trip_ms
    left = budget.think_time(rate.per_second, at, settings.round_trips)
    return (
        left,
        f" (what {_rate(rate.per_second)} a second at {figures.milliseconds(at * 1000.0)} leave)",
    )


def _rate(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
