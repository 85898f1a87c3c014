# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the table and the policy come to on this host: one demand for each parameter."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known, unless_newer
from ...errors import Absent, HostproofError, NotRecorded, Unanswered
from ...evaluate import comparing
from ...evaluate.checking import Skip
from ...evaluate.comparing import AT_MOST, EXACTLY, OTHER_THAN, WITHIN, Numbers, is_met, numbers
from ...parsers.systemd import sysctl_d
from ...probes.oracle.releases import LONG_TERM
from ...probes.systemd import boot as boot_probe
from .facts import Facts, filter_key, proc_file
from .formulas import Amount
from .parameter_table import ADVICE, CLUSTER, DIRECT_NFS, NO_CRASH_KERNEL, POOL, ROWS, Row
from .policy import Policy, Version, Wanted

NO_ORACLE = (
    "No Oracle software was found on this host, and neither hostproof_profile nor "
    "kernel_parameters_releases announces any."
)
#: The family of what only kernel_parameters_values names, and of the reverse path filters.
_SEVERAL = 2
OF_POLICY, REVERSE_PATH = "of_the_policy", "reverse_path"
_POLICY = "kernel_parameters_values"
_STRICT = 1
#: A release of each set of rows.
_RELEASES: Tuple[Version, ...] = ((11, 2), (12, 1), LONG_TERM, (21,), (23,))


class Demand(NamedTuple):
    """The required value of a parameter. ``how`` is the formula with its numbers, or "".

    ``good`` is the value to write if the requirement is not met.
    """

    value: Numbers
    good: Numbers
    how: str


class Parameter(NamedTuple):
    """A parameter of this host. ``key`` is its path below /proc/sys, ``name`` as people write it.

    ``demand`` may hold the error of what its formula needs. ``default`` is what the kernel starts
    with, None where that is not known. ``advice`` is not a demand of Oracle's.

    Where the releases of the homes are not known and demand different values, ``releases`` is that
    error, ``demand`` is the strictest of all, and ``possible`` holds what each release demands.
    ``unsure`` is what keeps open whether the host is one that the parameter is for.
    """

    name: str
    key: str
    family: str
    compare: str
    demand: Answer[Demand]
    severity: str
    source: str
    default: Optional[Numbers] = None
    unless: Optional[str] = None
    live: bool = True
    advice: bool = False
    possible: Tuple[Answer[Optional[Demand]], ...] = ()
    releases: Optional[HostproofError] = None
    unsure: Optional[HostproofError] = None
    room: int = 0

    @property
    def file(self) -> str:
        return proc_file(self.key)

    def meets(self, value: Optional[Numbers]) -> bool:
        return is_met(self.compare, known(self.demand).value, value, self.room)


# -- for whom -------------------------------------------------------------------------------------


def skip_without_oracle(facts: Facts, policy: Policy) -> None:
    """Raise Skip where no kernel has to be ready for anything, or what is unknown."""
    if isinstance(facts.meminfo, Absent):
        raise Skip("Not a Linux host: it has no /proc/meminfo.")
    if not is_announced(policy) and not facts.software.is_there():
        raise Skip(NO_ORACLE)


def is_announced(policy: Policy) -> bool:
    return policy.profile is not None or policy.releases is not None or bool(policy.values)


def releases_of(facts: Facts, policy: Policy) -> List[Version]:
    """The releases whose demands count; raises where one is not known."""
    if policy.releases is not None:
        return list(policy.releases)
    releases = [known(release) for release in known(facts.software.homes).values()]
    if policy.profile is not None and policy.profile.release:
        releases.append(policy.profile.release)
    if not releases and policy.profile is not None:
        releases.append(LONG_TERM)
    if not releases and known(facts.software.monitors):
        raise Unanswered(
            "processes:pmon",
            "an instance runs and no home tells its release: name it in kernel_parameters_releases",
        )
    return releases


def is_for(row: Row, release: Version) -> bool:
    """Whether a row is for a release: as many numbers count as both tell."""

    def pair(bound: Version) -> Tuple[Version, Version]:
        count = min(len(bound), len(release))
        return release[:count], bound[:count]

    since, until = pair(row.since), pair(row.until)
    return since[0] >= since[1] and until[0] <= until[1]


def _is_asked(row: Row, facts: Facts, policy: Policy) -> bool:
    """Whether the host is one that a row is for; raises where that is not known."""
    profile = policy.profile
    if row.only == CLUSTER:
        return (profile is not None and profile.cluster) or bool(known(facts.cluster))
    if row.only == DIRECT_NFS:
        return (profile is not None and profile.direct_nfs) or known(facts.direct_nfs)
    if row.only == NO_CRASH_KERNEL:
        return not unless_newer(facts.crash_kernel, True)
    if row.only == POOL:
        return bool(known(facts.figures.huge)) or _has_pool_at_boot(facts)
    return row.only != ADVICE or profile is not None


def _has_pool_at_boot(facts: Facts) -> bool:
    """Whether a place is known that sets a pool: without one, nothing is required."""
    at_boot = attempt(boot_probe.sysctl_at_boot, facts.boot, "vm/nr_hugepages")
    winner = None if isinstance(at_boot, HostproofError) else at_boot.winner
    value = None if winner is None else numbers(winner.value)
    return value is not None and value > (0,)


# -- what -----------------------------------------------------------------------------------------


def parameters(facts: Facts, policy: Policy) -> List[Parameter]:
    """Every parameter that the table or the policy requires for here; raises what is unknown."""
    return _for_releases(releases_of(facts, policy), facts, policy)


def judged_parameters(facts: Facts, policy: Policy) -> List[Parameter]:
    """As ``parameters``; with a profile, the homes may be unknown. Skip where none applies."""
    skip_without_oracle(facts, policy)
    releases = attempt(releases_of, facts, policy)
    if not isinstance(releases, HostproofError) or policy.profile is None:
        return _for_releases(known(releases), facts, policy)
    announced = [policy.profile.release] if policy.profile.release else []
    each = [
        {
            parameter.key: parameter
            for parameter in _for_releases([*announced, release], facts, policy)
        }
        for release in _RELEASES
    ]
    strictest = _for_releases([*announced, *_RELEASES], facts, policy)
    return [_of_any_release(parameter, each, releases) for parameter in strictest]


def _of_any_release(
    parameter: Parameter, each: List[Dict[str, Parameter]], problem: HostproofError
) -> Parameter:
    demands = [by_key[parameter.key].demand if parameter.key in by_key else None for by_key in each]
    if all(demand == parameter.demand for demand in demands):
        return parameter
    return parameter._replace(possible=tuple(demands), releases=problem)


def _for_releases(releases: List[Version], facts: Facts, policy: Policy) -> List[Parameter]:
    rows, unsure = _asked_rows(releases, facts, policy)
    own = {sysctl_d.normalize(entry.name): entry for entry in policy.values}
    judged = [_of_rows(key, some, facts, own.pop(key, None)) for key, some in rows.items()]
    judged += [_of_policy(key, entry, facts) for key, entry in own.items()]
    judged += [
        _of_rows(key, [row], facts, None)._replace(unsure=problem)
        for key, (problem, row) in unsure.items()
        if key not in [parameter.key for parameter in judged]
    ]
    # A row of a later release than the recording: nothing of it was read.
    judged = [one for one in judged if not isinstance(facts.running[one.key], NotRecorded)]
    names = [parameter.key for parameter in judged]
    return judged + [
        parameter for parameter in _filters(facts, policy) if parameter.key not in names
    ]


def _asked_rows(
    releases: List[Version], facts: Facts, policy: Policy
) -> Tuple[Dict[str, List[Row]], Dict[str, Tuple[HostproofError, Row]]]:
    """The rows that this host needs; error and row if that is unknown; both by key."""
    rows: Dict[str, List[Row]] = {}
    unsure: Dict[str, Tuple[HostproofError, Row]] = {}
    for row in ROWS:
        if not any(is_for(row, release) for release in releases):
            continue
        asked = attempt(_is_asked, row, facts, policy)
        key = sysctl_d.normalize(row.name)
        if isinstance(asked, HostproofError):
            unsure[key] = (asked, row)
        elif asked:
            rows.setdefault(key, []).append(row)
    return rows, unsure


def _of_rows(key: str, rows: List[Row], facts: Facts, required: Optional[Wanted]) -> Parameter:
    first = rows[0]
    default = attempt(_default, first, facts)
    parameter = Parameter(
        name=first.name,
        key=key,
        family=first.family,
        compare=first.compare,
        demand=attempt(_demand, rows, facts),
        severity=first.severity,
        source="; ".join(row.source for row in rows),
        default=None if isinstance(default, HostproofError) else default,
        unless=None if first.unless is None else sysctl_d.normalize(first.unless),
        live=first.live,
        advice=first.only == ADVICE or first.warns,
        room=first.room,
    )
    if required is None:
        return parameter
    # A parameter of the policy is required, regardless of other recommendations.
    return parameter._replace(
        compare=required.compare or _compare_of(parameter, required),
        demand=Demand(required.value, required.value, "by " + _POLICY),
        advice=False,
        unless=None,
        room=0,
    )


def _compare_of(parameter: Parameter, required: Wanted) -> str:
    """One number of the policy for a range of the table is the most; where the table only
    excludes a value, it is the value."""
    is_range = parameter.compare == WITHIN and len(required.value) == 1
    if parameter.compare == OTHER_THAN:
        return EXACTLY
    return AT_MOST if is_range else parameter.compare


def _of_policy(key: str, required: Wanted, facts: Facts) -> Parameter:
    """A parameter of the policy without a row for this host; other data of the table still
    apply."""
    row = next((item for item in ROWS if sysctl_d.normalize(item.name) == key), None)
    if row is not None:
        return _of_rows(key, [row], facts, required)
    return Parameter(
        name=required.name,
        key=key,
        family=OF_POLICY,
        compare=required.compare or EXACTLY,
        demand=Demand(required.value, required.value, "by " + _POLICY),
        severity="medium",
        source=f"the policy, {_POLICY}",
    )


def _amount(value: object, facts: Facts) -> Optional[Amount]:
    if value is None:
        return None
    if callable(value):
        return value(facts.figures)
    return Amount(numbers(str(value)) or (), "")


def _default(row: Row, facts: Facts) -> Optional[Numbers]:
    """The value of the table that the kernel starts with."""
    amount = _amount(row.default, facts) if known(facts.kernel).major >= row.kernel else None
    return None if amount is None else amount.value


def _demand(rows: List[Row], facts: Facts) -> Demand:
    amounts = [_amount(row.value, facts) or Amount((), "") for row in rows]
    value = comparing.strictest(rows[0].compare, [amount.value for amount in amounts])
    good = numbers(rows[0].good) if rows[0].good else None
    how = "; ".join(amount.how for amount in amounts if amount.how)
    return Demand(value, good or value, how)


def _filters(facts: Facts, policy: Policy) -> List[Parameter]:
    """The reverse path filter of each interface of the interconnect.

    A strict filter (1) drops what comes in by another interface than answers would leave by. The
    kernel takes the larger of the interface's value and that of "all". With a single private
    interface there is no other way, and the kernel's default (1) is right.
    """
    interfaces = if_known(facts.interconnect, ())
    if len(interfaces) < _SEVERAL:
        return []
    return [
        Parameter(
            name=filter_key(interface)
            if "." in interface
            else filter_key(interface).replace("/", "."),
            key=filter_key(interface),
            family=REVERSE_PATH,
            compare=OTHER_THAN,
            demand=Demand((_STRICT,), (2,), "the larger of its value and that of all counts"),
            severity="critical",
            source="Oracle Grid Infrastructure Installation Guide for Linux, Multiple Private "
            "Interconnects and Oracle Linux; kernel Documentation/networking/ip-sysctl.rst",
        )
        for interface in interfaces
        if policy.profile is None or policy.profile.cluster or policy.interconnect
    ]


# -- values ---------------------------------------------------------------------------------------


def running_of(parameter: Parameter, facts: Facts) -> Optional[Numbers]:
    """What counts in the kernel now; None where it is not a numbers."""
    value = numbers(known(facts.running[parameter.key]))
    if parameter.family != REVERSE_PATH or value is None:
        return value
    everywhere = numbers(known(facts.running[filter_key("all")]))
    return (max(value[0], everywhere[0]),) if everywhere else None


def at_boot_of(parameter: Parameter, boot: boot_probe.Boot) -> boot_probe.SysctlAtBoot:
    """The place that decides it at the next reboot; raises where that is unknown."""
    return boot_probe.sysctl_at_boot(boot, parameter.key)


def value_at_boot(parameter: Parameter, boot: boot_probe.Boot) -> Optional[Numbers]:
    """What will count after a reboot: by its place, else the kernel's own; None: unknown."""
    at_boot = at_boot_of(parameter, boot)
    if parameter.family != REVERSE_PATH:
        value = None if at_boot.winner is None else numbers(at_boot.winner.value)
        own = parameter.default
        # A line with fewer numbers leaves the others as they are (proc_dointvec).
        if value is not None and own is not None:
            value += own[len(value) :]
        return value if at_boot.winner is not None else own
    if at_boot.winner is None:
        # An interface that comes later takes what "default" is by then.
        at_boot = boot_probe.sysctl_at_boot(boot, filter_key("default"))
    everywhere = boot_probe.sysctl_at_boot(boot, filter_key("all"))
    values = [
        numbers("0" if setting.winner is None else setting.winner.value)
        for setting in (at_boot, everywhere)
    ]
    return (max(value[0] for value in values if value),) if all(values) else None


def counts_instead(parameter: Parameter, facts: Facts) -> Optional[str]:
    """The setting that makes a parameter ineffective: vm.dirty_bytes for vm.dirty_ratio."""
    return counts_instead_now(parameter, facts) or counts_instead_at_boot(parameter, facts)


def counts_instead_now(parameter: Parameter, facts: Facts) -> Optional[str]:
    """What makes it count for nothing in the running kernel."""
    if parameter.unless is None:
        return None
    name = parameter.unless.replace("/", ".")
    now = facts.running[parameter.unless]
    if not isinstance(now, Absent) and numbers(known(now)) not in (None, (0,)):
        return f"{name} is {known(now)}, which counts instead."
    return None


def counts_instead_at_boot(parameter: Parameter, facts: Facts) -> Optional[str]:
    """What makes it count for nothing after a reboot."""
    if parameter.unless is None:
        return None
    name = parameter.unless.replace("/", ".")
    winner = boot_probe.sysctl_at_boot(facts.boot, parameter.unless).winner
    if winner is not None and winner.value != "0":
        return (
            f"{name} is {winner.value} at the next reboot ({winner.place}), which counts instead."
        )
    return None
