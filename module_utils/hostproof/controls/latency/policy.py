# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to measure, and how long it may take: the role's variables, checked."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ...errors import PolicyError
from ...latency import budget, probe_list, traffic
from ...latency.probe_list import Probe
from ...policy import PolicyValues
from .thresholds import Threshold, threshold_from

NAME = "latency"

#: An audit must stay short: how long it may watch.
MOST_SECONDS = 60


class Rate(NamedTuple):
    """Transactions a second that one session was measured to do, without a pool that validates.

    ``round_trip_ms`` is the round trip that it had then; None for the one that is measured now.
    """

    per_second: float
    round_trip_ms: Optional[float]


class Budget(NamedTuple):
    """A transaction: how often it waits for an answer, and what else takes its time.

    What else is ``think_time_ms``, or what ``measured`` leaves beside the round trips: one of both
    is None. ``per_second`` is what one session must reach, None where nothing is wanted. A pool
    that validates waits ``validation_round_trips`` times, and ``validation_ms`` for the statement.
    """

    round_trips: float
    think_time_ms: Optional[float]
    measured: Optional[Rate]
    per_second: Optional[float]
    validation_round_trips: float
    validation_ms: float


#: The keys of the variable, as the documentation names them.
_BUDGET = (
    "round_trips",
    "think_time_ms",
    "measured_per_second",
    "measured_round_trip_ms",
    "per_second",
    "validation_round_trips",
    "validation_ms",
)


class Policy(NamedTuple):
    """The role's variables (roles/latency/meta/argument_specs.yml), checked.

    ``seconds`` 0 measures nothing. ``more_thresholds`` are part of ``thresholds`` too, at its end.
    ``budget`` is None where there is none. ``release`` and ``multitenant`` are what reports do not
    tell; None is unknown.
    """

    probes: Tuple[Probe, ...]
    seconds: float
    thresholds: Tuple[Threshold, ...]
    more_thresholds: Tuple[Threshold, ...]
    budget: Optional[Budget]
    release: Optional[str]
    multitenant: Optional[bool]


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    more = _thresholds(given, "more_thresholds")
    seconds = given.decimal("seconds", 0, MOST_SECONDS)
    if 0 < seconds < 1:
        raise given.error("seconds", "must be 0 or from 1 to {0}".format(MOST_SECONDS))
    return Policy(
        probes=tuple(_probes(given, seconds)),
        seconds=seconds,
        thresholds=tuple(_thresholds(given, "thresholds") + more),
        more_thresholds=tuple(more),
        budget=_budget(given),
        release=_release(given),
        multitenant=_multitenant(given),
    )


def _probes(given, seconds):
    # type: (PolicyValues, float) -> List[Probe]
    probes = probe_list.check_probes(given["probes"], "latency_probes")
    if seconds:
        traffic.check_probes(probes, 1, seconds, "latency_probes")
    return probes


def _thresholds(given, name):
    # type: (PolicyValues, str) -> List[Threshold]
    value = given[name]
    if not isinstance(value, (list, tuple)):
        raise given.error(name, "must be a list of limits, not {0!r}".format(value))
    found = []  # type: List[Threshold]
    for number, one in enumerate(value, 1):
        try:
            found.append(threshold_from(one))
        except ValueError as problem:
            raise PolicyError(
                "latency_{0}, item {1}: {2}".format(name, number, problem)
            ) from problem
    return found


def _budget(given):
    # type: (PolicyValues) -> Optional[Budget]
    value = given["budget"]
    if not value:
        return None
    if not isinstance(value, dict) or set(value) - set(_BUDGET):
        raise given.error(
            "budget", "must be a dictionary of {0}, not {1!r}".format(", ".join(_BUDGET), value)
        )
    known = {name: one for name, one in value.items() if one is not None}
    if "round_trips" not in known:
        raise given.error("budget", "needs round_trips")
    if ("think_time_ms" in known) == ("measured_per_second" in known):
        raise given.error(
            "budget", "needs think_time_ms or, instead of it, measured_per_second: one of both"
        )
    if "measured_round_trip_ms" in known and "measured_per_second" not in known:
        raise given.error("budget", "measured_round_trip_ms belongs to measured_per_second")

    def number(name, above):
        # type: (str, Optional[int]) -> Optional[float]
        return _positive(given, known, name, above) if name in known else None

    round_trips = _positive(given, known, "round_trips", 0)
    rate = None  # type: Optional[Rate]
    if "measured_per_second" in known:
        rate = Rate(
            _positive(given, known, "measured_per_second", 0), number("measured_round_trip_ms", 0)
        )
        if rate.round_trip_ms is not None:
            try:
                budget.think_time(rate.per_second, rate.round_trip_ms, round_trips)
            except ValueError as problem:
                raise given.error("budget", "measured_per_second: {0}".format(problem)) from problem
    trips = number("validation_round_trips", None)
    return Budget(
        round_trips,
        number("think_time_ms", None),
        rate,
        number("per_second", 0),
        1.0 if trips is None else trips,
        number("validation_ms", None) or 0.0,
    )


def _positive(given, value, name, above):
    # type: (PolicyValues, Dict[str, Any], str, Optional[int]) -> float
    """A number from 0 on, or above 0 where ``above`` is 0."""
    try:
        number = -1.0 if isinstance(value[name], bool) else float(value[name])
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < 1e9 or (above is not None and number <= above):
        wanted = "a number of 0 or more" if above is None else "a number above 0"
        raise given.error("budget", "{0} must be {1}, not {2!r}".format(name, wanted, value[name]))
    return number


def _release(given):
    # type: (PolicyValues) -> Optional[str]
    value = given["release"]
    text = str(value)
    if text == "auto":
        return None
    if not all(part.isdecimal() for part in text.split(".")):
        raise given.error(
            "release", "must be auto or a release such as 19 or 12.2, not {0!r}".format(value)
        )
    return text


def _multitenant(given):
    # type: (PolicyValues) -> Optional[bool]
    choices = {"auto": None, "yes": True, "no": False}  # type: Dict[str, Optional[bool]]
    value = given["multitenant"]
    # YAML makes a truth value of yes and no.
    text = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    if text not in choices:
        raise given.error("multitenant", "must be auto, yes or no, not {0!r}".format(value))
    return choices[text]
