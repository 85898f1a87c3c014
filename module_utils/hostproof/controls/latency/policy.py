# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes, latency limits and time limits: the variables of the role and their checks."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from ...collect.window import LOAD, TRAFFIC, shares
from ...errors import PolicyError
from ...evaluate.fields import Field, checked_by, decimal, flag, reader, window
from ...evaluate.policy import WINDOW_VARIABLE, PolicyValues, oracle_release
from ...latency import budget, probe_list
from ...latency.probe_list import DISK_READ, POOL, TCP, Probe
from .measurement import traffic
from .thresholds import Threshold, threshold_from

NAME = "latency"

#: How the probes that do not only look go with others in a window.
HOW = {TCP: TRAFFIC, POOL: TRAFFIC, DISK_READ: LOAD}

#: Seconds of the window that each of them must get: less would tell nothing.
LEAST_TURN = 1


class Rate(NamedTuple):
    """Transactions a second that one session was measured to do, without a pool that validates.

    ``round_trip_ms`` is the round trip that it had then; None for the one that is measured now.
    """

    per_second: float
    round_trip_ms: Optional[float]


class Budget(NamedTuple):
    """A transaction: its number of round trips, and the rest of its time.

    The rest is ``think_time_ms``, or is computed from ``measured``; one of both is None.
    ``per_second`` is the required rate of one session, None without a requirement. Validation in
    a connection pool adds ``validation_round_trips`` round trips and ``validation_ms``.
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


def _probes(values: PolicyValues, name: str) -> Tuple[Probe, ...]:
    probes: List[Probe] = []
    seconds = values.window()
    for place, item in values.places(name, "a list of dictionaries such as {probe: disk}"):
        with values.entry(name, place):
            probes.append(probe_list.check_probe(item, place + 1, probes, "latency_probes"))
    if seconds:
        kinds = [HOW[probe.kind] for probe in probes if probe.kind in HOW]
        turn = shares(kinds, seconds).turn
        if turn < LEAST_TURN:
            raise PolicyError(
                f"latency_probes has {len(kinds)} probes that send or read by themselves, one "
                f"after the other: {WINDOW_VARIABLE} {seconds:g} leaves {turn:.2g} s to each, and "
                f"it must be {LEAST_TURN} s; raise it, or list fewer"
            )
        traffic.check_probes(probes, 1, turn, "latency_probes")
    return tuple(probes)


def _thresholds(values: PolicyValues, name: str) -> Tuple[Threshold, ...]:
    value = values[name]
    if not isinstance(value, (list, tuple)):
        raise values.error(name, f"must be a list of limits, not {value!r}")
    thresholds: List[Threshold] = []
    for number, item in enumerate(value, 1):
        try:
            thresholds.append(threshold_from(item))
        except ValueError as problem:
            raise PolicyError(f"latency_{name}, item {number}: {problem}") from problem
    return tuple(thresholds)


def _budget(values: PolicyValues, name: str) -> Optional[Budget]:
    value = values[name]
    if not value:
        return None
    if not isinstance(value, dict) or set(value) - set(_BUDGET):
        raise values.error(
            name, "must be a dictionary of {0}, not {1!r}".format(", ".join(_BUDGET), value)
        )
    known = {key: item for key, item in value.items() if item is not None}
    if "round_trips" not in known:
        raise values.error(name, "needs round_trips")
    if ("think_time_ms" in known) == ("measured_per_second" in known):
        raise values.error(
            name, "needs think_time_ms or, instead of it, measured_per_second: one of both"
        )
    if "measured_round_trip_ms" in known and "measured_per_second" not in known:
        raise values.error(name, "measured_round_trip_ms belongs to measured_per_second")
    round_trips = _positive(values, known, "round_trips", 0)
    rate = _rate(values, known, round_trips) if "measured_per_second" in known else None
    trips = _optional(values, known, "validation_round_trips", None)
    return Budget(
        round_trips,
        _optional(values, known, "think_time_ms", None),
        rate,
        _optional(values, known, "per_second", 0),
        1.0 if trips is None else trips,
        _optional(values, known, "validation_ms", None) or 0.0,
    )


def _rate(values: PolicyValues, value: Dict[str, Any], round_trips: float) -> Rate:
    rate = Rate(
        _positive(values, value, "measured_per_second", 0),
        _optional(values, value, "measured_round_trip_ms", 0),
    )
    if rate.round_trip_ms is not None:
        try:
            budget.think_time(rate.per_second, rate.round_trip_ms, round_trips)
        except ValueError as problem:
            raise values.error("budget", f"measured_per_second: {problem}") from problem
    return rate


def _optional(
    values: PolicyValues, value: Dict[str, Any], name: str, above: Optional[int]
) -> Optional[float]:
    return _positive(values, value, name, above) if name in value else None


def _positive(
    values: PolicyValues, value: Dict[str, Any], name: str, above: Optional[int]
) -> float:
    """A number since 0, or above 0 where ``above`` is 0."""
    try:
        number = -1.0 if isinstance(value[name], bool) else float(value[name])
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number < 1e9 or (above is not None and number <= above):
        expected = "a number of 0 or more" if above is None else "a number above 0"
        raise values.error("budget", f"{name} must be {expected}, not {value[name]!r}")
    return number


def _release(values: PolicyValues, name: str) -> Optional[str]:
    value = values[name]
    text = str(value)
    if text == "auto":
        return None
    if oracle_release(value) is None or not text.replace(".", "").isdecimal():
        raise values.error(name, f"must be auto or a release such as 19 or 12.2, not {value!r}")
    return text


_MULTITENANT: Dict[str, Optional[bool]] = {"auto": None, "yes": True, "no": False}


def _multitenant(values: PolicyValues, name: str) -> Optional[bool]:
    value = values[name]
    # YAML makes a truth value of yes and no.
    text = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    if not isinstance(text, str) or text not in _MULTITENANT:
        raise values.error(name, f"must be auto, yes or no, not {value!r}")
    return _MULTITENANT[text]


_YES_OR_NO: Any = Field(_multitenant, "str", choices=tuple(_MULTITENANT))


class Policy(NamedTuple):
    """The role's variables.

    ``window_seconds`` 0 measures nothing. ``extra_thresholds`` are part of ``thresholds`` too, at
    its end. ``budget`` is None where there is none. ``release`` and ``multitenant`` are what
    reports do not tell; None is unknown. ``lob_warn_percent`` and ``lob_fail_percent`` are of the
    database's time. ``logical_reads_per_core`` is the least a second, 0 for none; an instance or a
    cell may do ``instance_percent`` less than the others.
    """

    probes: Tuple[Probe, ...] = checked_by(_probes, "list")
    """The measurements. Each is a dictionary with C(probe) and the options of that probe. The
    default, C(disk) and C(nfs), reads counters of the kernel and sends nothing.

    C(disk_read) reads C(path) without the page cache. C(tcp) measures round trips to C(host)
    and C(port). C(pool) measures checkouts of C(data_source) of the WildFly or JBoss EAP in
    C(home) as C(user). C(report) reads an AWR or other report at C(path). C(sqlnet) counts the
    requests and responses of live connections of C(port); C(tcp) with C(payload=auto) uses their
    sizes.

    Default: [{probe: disk}, {probe: nfs}]
    """
    window_seconds: float = window()
    """Length of the window of an audit. Probes with I/O or traffic take turns within it, and each
    needs one second or more. All controls share one sampling window of 1 to 600 seconds. C(0)
    disables it.

    Default: 10
    """
    thresholds: Tuple[Threshold, ...] = checked_by(_thresholds, "list")
    """Latency limits, each a dictionary with C(probe), C(figure) (C(p50), C(p90), C(p99),
    C(mean)), C(warn_ms) and optionally C(fail_ms), C(storage) (C(hdd), C(ssd), C(nvme),
    C(virtual), C(nfs), C(any)), C(layer), C(size), C(event) and C(source). What you set takes
    the place of the whole table.

    Default: thresholds.yml
    """
    extra_thresholds: Tuple[Threshold, ...] = checked_by(_thresholds, "list")
    """Additional limits; they override equally specific entries of the table.

    Default: []
    """
    budget: Optional[Budget] = checked_by(_budget, "dict")
    """A transaction, as C(round_trips) and C(think_time_ms), and optionally C(per_second), what one
    session must reach. Needs a C(tcp) probe.

    Instead of C(think_time_ms), C(measured_per_second) is what one session was measured to do, and
    C(measured_round_trip_ms) the round trip it had then; without it, the one that is measured now.

    C(validation_round_trips) (1) and C(validation_ms) (0) describe a connection pool that validates
    at each request: the round trips of a validation, and the time of its statement in the database.

    Default: {}
    """
    query_instances: bool = flag()
    """Query each running database, as its owner with sqlplus: its parameters of LOBs and
    prefetch, and sessions that block others.

    Default: true
    """
    release: Optional[str] = checked_by(_release, "str")
    """The release of the database, such as C(19), where a report does not tell it; C(auto) leaves
    that unknown.

    Default: auto
    """
    multitenant: Optional[bool] = _YES_OR_NO
    """Whether the database is multitenant; C(auto) takes it from the report.

    Default: auto
    """
    lob_warn_percent: float = decimal(0.1, 100)
    """From which percentage of the database's time on waits for LOBs and their space, or for the
    redo log, warn, in the reports that C(latency_probes) names.

    Default: 5
    """
    lob_fail_percent: float = decimal(0.1, 100)
    """From which on they fail; Oracle Enterprise Manager warned of C(enq: HW - contention) at 20.

    Default: 20
    """
    logical_reads_per_core: float = decimal(0, 1e9)
    """Minimum logical reads per second and core, in the reports whose probe has C(cores). C(0)
    is not a limit.

    Default: 0
    """
    instance_percent: float = decimal(0.1, 99)
    """Tolerated difference in percent of an instance of a cluster report, or of an Exadata cell,
    from the others.

    Default: 5
    """
    cell_slow_ms: float = decimal(1, 10000)
    """The duration in milliseconds that makes a request below 64 KiB to an Exadata cell disk slow,
    in the dumps C(iolstats) that C(latency_probes) names.

    Default: 50
    """
    cell_flash_slow_ms: float = decimal(0.1, 10000)
    """The same for cell disks on flash and persistent memory, whose names begin with C(FD_) or
    C(PM_).

    Default: 5
    """
    cell_slow_percent: float = decimal(0.01, 100)
    """The percentage of those requests that may be slow.

    Default: 1
    """


def _together(policy: Policy, values: PolicyValues) -> Policy:
    if policy.lob_fail_percent < policy.lob_warn_percent:
        raise values.error(
            "lob_fail_percent",
            f"must not be below latency_lob_warn_percent ({policy.lob_warn_percent:g})",
        )
    return policy._replace(thresholds=policy.thresholds + policy.extra_thresholds)


policy_from = reader(NAME, Policy, _together)
