# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What marks and a busy CPU mean for the heartbeat of PowerHA. Pure.

Before 7.1 the heartbeat is a process like any other, and low marks are what gives it its turn.
Source: J. Wartak, AIX disk I/O pacing vs PowerHA, 2011.
"""

from typing import List, Optional, Tuple

from ...collect.answer import known
from ...errors import HostError, HostproofError, Unanswered
from ...parsers.number import clipped
from .facts import LPARSTAT, Aix, Mounts, Override, odm_pair
from .policy import AUTO, DEFAULT, INTERMEDIATE, Pair, Policy, Version, with_profile
from .probes import powerha as powerha_probe

#: The marks of HACMP: "33/24 or 33/20", and all lower marks.
LEGACY = 33
#: The intermediate marks of IBM, 513/256, and all lower marks: a writer sleeps after 2 MiB are
#: pending for a file, so the heartbeat gets I/O. No measurement shows its maximum delay.
MIDDLE = 513
#: Percent. Wartak: a system should not use more than 80% of its CPUs.
HEADROOM = 20.0

LSLPP_KEY = "command:" + " ".join(powerha_probe.LSLPP)
LPARSTAT_KEY = "command:" + " ".join(LPARSTAT)
_VARIABLE = "io_pacing_powerha_version"


# -- the release ----------------------------------------------------------------------------------


def powerha_version(aix: Aix, policy: Policy) -> Version:
    """The installed version, or the version of the policy if the host does not report it; () for
    none.

    Raises the error of an unknown version, and Unanswered if host and policy contradict each other
    with different marks, because it is not known which one is correct.
    """
    configured = policy.powerha_version
    if isinstance(aix.powerha, HostproofError):
        if configured is None:
            raise aix.powerha
        return configured
    installed: Version = known(aix.powerha).version
    if configured is not None and (
        is_old(configured) != is_old(installed) or (bool(installed) and not configured)
    ):
        raise Unanswered(
            LSLPP_KEY,
            f"{_VARIABLE} says {_name(configured)}, and the host has {_installed_text(aix)}: "
            "correct the variable, or set it to auto",
        )
    return installed


def require_certain(aix: Aix, policy: Policy) -> Policy:
    """The policy with the marks that "auto" means on this host. Raises an unknown release.

    J. Wartak and the manuals of IBM that he names put a host with an old HACMP between its 33/24
    and 8193/4096.
    """
    if policy.profile != AUTO:
        return policy
    return with_profile(policy, INTERMEDIATE if is_old(powerha_version(aix, policy)) else DEFAULT)


def is_old(version: Version) -> bool:
    """Whether the heartbeat is a process like any other."""
    return bool(version) and version < powerha_probe.KERNEL_HEARTBEAT


def powerha_text(aix: Aix, policy: Policy) -> str:
    """The marks of ``powerha_version`` as text."""
    if not isinstance(aix.powerha, HostproofError):
        return _installed_text(aix)
    if policy.powerha_version is None:
        raise aix.powerha
    return f"{_name(policy.powerha_version)} ({_VARIABLE})"


def _installed_text(aix: Aix) -> str:
    there: powerha_probe.PowerHa = known(aix.powerha)
    if not there.version:
        return "no PowerHA"
    active = {True: "active", False: "not active", None: "state not known"}[there.active]
    return f"PowerHA {there.level} ({active})"


def _name(version: Version) -> str:
    if not version:
        return "no PowerHA"
    return "PowerHA {0}".format(".".join(str(number) for number in version))


def powerha_keys(aix: Aix) -> List[str]:
    """Evidence keys of the release, also if the policy had to specify it."""
    if isinstance(aix.powerha, HostproofError):
        return [aix.powerha.key] if isinstance(aix.powerha, HostError) else [LSLPP_KEY]
    return list(known(aix.powerha).evidence)


# -- the marks ------------------------------------------------------------------------------------


def is_tight(pair: Pair) -> bool:
    """Whether the marks are those of an old HACMP, or tighter."""
    return 0 < pair.maxpout <= LEGACY


def is_middling(pair: Pair) -> bool:
    """Whether the marks hold a writer back, though not as tightly as an old HACMP requested."""
    return LEGACY < pair.maxpout <= MIDDLE


def is_middling_mount(override: Override) -> bool:
    maxpout = override.maxpout
    return maxpout is not None and maxpout.isdecimal() and LEGACY < clipped(maxpout) <= MIDDLE


def is_tight_mount(override: Override) -> bool:
    """The same for a mount; False if it does not specify its limit as a number."""
    maxpout = override.maxpout
    return maxpout is not None and maxpout.isdecimal() and 0 < clipped(maxpout) <= LEGACY


def loose_mounts(mounts: Mounts) -> List[Override]:
    """File systems whose own marks do not hold a writer back as an old HACMP needs it."""
    return [
        mounts.overrides[path]
        for path in sorted(mounts.overrides)
        if not is_tight_mount(mounts.overrides[path])
    ]


def known_layers(aix: Aix) -> List[Pair]:
    """The marks of each layer that is known: enough to fail by, not to pass."""
    pairs = []
    if not isinstance(aix.odm, HostproofError):
        pairs.append(odm_pair(aix.odm))
    if not isinstance(aix.running, HostproofError):
        pairs.append(known(aix.running))
    return pairs


def need_all(aix: Aix) -> None:
    """Raise the error of a layer that is not known, before a pass."""
    known(aix.odm)
    known(aix.running)


def why_not_raise(aix: Aix, policy: Policy) -> Optional[str]:
    """Why the required marks must not be set without an explicit override; None if they may be
    set."""
    if is_tight(policy.wanted) or policy.allow_deadman_risk or not _raises(aix, policy):
        return None
    try:
        if not is_old(powerha_version(aix, policy)):
            return None
    except HostproofError as problem:
        configured = policy.powerha_version is not None
        return (
            "{0} would raise the values, and the PowerHA release of the host is unknown ({1}){2}; "
            "{3}".format(
                policy.wanted,
                problem,
                "" if configured else "; give " + _VARIABLE,
                headroom_text(aix, policy),
            )
        )
    return (
        "{0} has a heartbeat that one writer can delay until the deadman switch halts the node, "
        "and {1} {2}; {3}".format(
            powerha_text(aix, policy),
            policy.wanted,
            "may raise the marks of the kernel, which are not known"
            if isinstance(aix.running, HostproofError)
            else "would raise the marks from " + " and ".join(_distinct(known_layers(aix))),
            headroom_text(aix, policy),
        )
    )


def _distinct(pairs: List[Pair]) -> List[str]:
    return [str(pair) for at, pair in enumerate(pairs) if pair not in pairs[:at]]


def _raises(aix: Aix, policy: Policy) -> bool:
    """Whether any layer gets looser marks than it has; one that is not known may."""
    if isinstance(aix.odm, HostproofError) or isinstance(aix.running, HostproofError):
        return True
    return any(_looseness(policy.wanted) > _looseness(pair) for pair in known_layers(aix))


def _looseness(pair: Pair) -> float:
    """No pacing is the loosest."""
    return float("inf") if pair == Pair(0, 0) else float(pair.maxpout)


# -- the CPU --------------------------------------------------------------------------------------


def headroom(aix: Aix, policy: Policy) -> Tuple[float, str]:
    """Unused CPU in percent, and the source of the number. Raises its error if it is unknown."""
    if policy.cpu_headroom is not None:
        return float(policy.cpu_headroom), "io_pacing_cpu_headroom"
    if isinstance(aix.cpu, HostproofError):
        raise Unanswered(
            LPARSTAT_KEY, f"{aix.cpu}; give io_pacing_cpu_headroom for the busiest hour"
        )
    cpu = known(aix.cpu)
    return cpu.idle + cpu.wait, "average since the start; the busiest hour has less"


def headroom_text(aix: Aix, policy: Policy) -> str:
    """Unused CPU, and whether that is sufficient for a heartbeat."""
    try:
        free, source = headroom(aix, policy)
    except HostproofError:
        return "CPU headroom not known; give io_pacing_cpu_headroom for the busiest hour"
    return "CPU headroom {0:.0f}% ({1}){2}".format(
        free, source, "" if free >= HEADROOM else f", below the {HEADROOM:.0f}% to keep"
    )
