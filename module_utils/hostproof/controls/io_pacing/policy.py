# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host should hold back its buffered writers: the role's variables and their checks.

Source of the rule for the pair: AIX Performance Management, Synchronous I/O tunable parameters.
"""

import re
from typing import Dict, NamedTuple, Optional, Tuple

from ...evaluate.fields import checked_by, entries, flag, reader, size, whole_number, window
from ...evaluate.policy import PolicyValues

NAME = "io_pacing"

AUTO = "auto"
NONE = "none"
UNMANAGED = "unmanaged"
DEFAULT = "default"
INTERMEDIATE = "intermediate"
CUSTOM = "custom"
OFF = "off"

Version = Tuple[int, ...]


class Pair(NamedTuple):
    """The two marks, in pages of pending writes to one file; 0 and 0 is not a pacing.

    A thread that writes to a file with ``maxpout`` pages pending sleeps until ``minpout`` are left.
    """

    maxpout: int
    minpout: int

    def __str__(self) -> str:
        return f"maxpout={self.maxpout} minpout={self.minpout}"


class Profile(NamedTuple):
    """A named pair and its trade in a sentence."""

    pair: Pair
    trade: str


PROFILES = {
    DEFAULT: Profile(
        Pair(8193, 4096),
        "AIX's own since 6.1: only a flood of writes to one file is held back, so large writes run "
        "at the speed of the storage.",
    ),
    INTERMEDIATE: Profile(
        Pair(513, 256),
        "A compromise: a writer is held back after 2 MiB pending in a file, so other programs keep "
        "their turn and large writes lose some speed.",
    ),
    "legacy_hacmp": Profile(
        Pair(33, 24),
        "Required by HACMP up to 5.4: its heartbeat is scheduled under any load, and large "
        "writes run at about half their speed.",
    ),
    OFF: Profile(
        Pair(0, 0),
        "No pacing: one writer can keep every other program of the host waiting for the disks.",
    ),
}


def rule_problem(pair: Pair) -> Optional[str]:
    """What IBM's rule states against the pair, None if nothing: "minpout ... must be below ..."."""
    return order_problem(pair) or step_problem(pair)


def order_problem(pair: Pair) -> Optional[str]:
    """What the kernel itself rejects."""
    if pair == Pair(0, 0):
        return None
    if 0 in pair:
        return "maxpout {0} and minpout {1}: both are 0 (no pacing) or neither".format(*pair)
    if pair.minpout >= pair.maxpout:
        return "minpout {1} must be below maxpout {0}".format(*pair)
    return None


def step_problem(pair: Pair) -> Optional[str]:
    """What IBM says that the values should be; AIX takes others anyway."""
    if pair == Pair(0, 0):
        return None
    if pair.maxpout % 4 != 1:
        return f"maxpout {pair.maxpout} must be a multiple of 4 plus 1"
    if pair.minpout % 4 != 0:
        return f"minpout {pair.minpout} must be a multiple of 4"
    if pair.minpout > pair.maxpout - 4:
        return "minpout {1} must be at least 4 below maxpout {0}".format(*pair)
    return None


def _profile(values: PolicyValues, name: str) -> str:
    if values[name] is False:
        return OFF  # YAML makes a truth value of an off without quotes
    return values.one_of(name, (AUTO, *PROFILES, CUSTOM))


def _powerha(values: PolicyValues, name: str) -> Version:
    """ "7.2.3" or "5.4.1"; two numbers at least, for 7.1 is where the heartbeat changed."""
    value = values[name]
    if value == NONE:
        return ()
    # HACMP 4 to PowerHA 7, and room for what comes.
    if isinstance(value, bool) or not re.match(r"(?:[4-9]|1\d)(\.\d{1,6}){1,5}\Z", str(value)):
        raise values.error(name, f"must be auto, none or a release such as 7.2.3, not {value!r}")
    return tuple(int(number) for number in str(value).split("."))


def _mount_point(values: PolicyValues, name: str) -> str:
    path = str(values[name])
    if not path.startswith("/"):
        raise values.error(name, f"{path!r} must be a mount point")
    return path.rstrip("/") or "/"


class AllowedMarks(NamedTuple):
    """The marks that one file system is allowed to have for itself."""

    path: str = checked_by(_mount_point, "path")
    maxpout: int = whole_number()
    minpout: int = whole_number()


def _by_the_rule(override: AllowedMarks, values: PolicyValues) -> AllowedMarks:
    problem = rule_problem(Pair(override.maxpout, override.minpout))
    if problem is not None:
        name, _, words = problem.partition(" ")
        raise values.error(name, words)
    return override


class Policy(NamedTuple):
    """The role's variables.

    ``maxpout`` and ``minpout`` are the marks of the profile; with "auto" the installed PowerHA
    decides (heartbeat.settled). ``powerha_version`` is None for "auto" and () for no PowerHA.
    ``cpu_headroom`` is the unused CPU in percent, None for "auto". ``dirty_limit`` is in bytes,
    None for "unmanaged".
    """

    profile: str = checked_by(_profile, "raw")
    """The marks of the host, in pages of pending writes to one file.

    C(auto) is C(intermediate) on a host with PowerHA (HACMP) before 7.1, whose heartbeat is an
    ordinary process, and C(default) on any other.

    C(default) is 8193/4096, the default of AIX since 6.1. It delays only very many writes to
    one file, so large writes run at the speed of the storage.

    C(intermediate) is 513/256. A writer is delayed after 2 MiB of pending writes to a file, so
    other programs get I/O sooner and large writes are a little slower.

    C(legacy_hacmp) is 33/24, the recommendation of HACMP up to 5.4. Its heartbeat works under
    any load, and large writes run at about half their speed.

    C(off) is 0/0. One writer can delay the disk I/O of every other program of the host.

    C(custom) uses C(io_pacing_maxpout) and C(io_pacing_minpout). If both are set, C(auto) and
    C(default) mean C(custom), and any other profile is rejected.

    Default: auto
    """
    maxpout: int = whole_number().none_for(AUTO)
    """Number of pending pages of writes to one file at which a thread that writes to it sleeps.
    A multiple of 4 plus 1, or 0 together with C(io_pacing_minpout); one of the two alone is
    rejected.

    C(auto) is that of the profile.

    Default: auto
    """
    minpout: int = whole_number().none_for(AUTO)
    """Number of pending pages at which the thread continues. A multiple of 4, at least 4 below
    C(io_pacing_maxpout), or 0 together with it.

    C(auto) is that of the profile.

    Default: auto
    """
    powerha_version: Optional[Version] = checked_by(_powerha, "raw").none_for(AUTO)
    """The release of PowerHA (HACMP) on the host, such as C(7.2.3), or C(none).

    The installed release has priority. If the two differ, checks that need the release are
    C(error), and apply rejects higher marks.

    C(auto) uses only the installed release. If it is unknown, checks that need it are C(error).

    Default: auto
    """
    cpu_headroom: Optional[int] = whole_number(0, 100).none_for(AUTO)
    """Idle CPU at peak load in percent, from 0 to 100.

    C(auto) uses the window on Linux, and the average since boot on AIX, which hides peaks.

    Default: auto
    """
    filesystems: Tuple[AllowedMarks, ...] = entries(AllowedMarks, together=_by_the_rule)
    """File systems with separate marks, each with C(path), C(maxpout) and C(minpout). Separate
    marks of any other file system, or different marks, are a finding.

    Default: []
    """
    allow_deadman_risk: bool = flag()
    """Raise the marks (or turn pacing off) under a PowerHA before 7.1, or where its release is not
    known. Under load its heartbeat may come late then, and the deadman switch halts the node.

    Default: false
    """
    dirty_limit: Optional[int] = size().none_for(UNMANAGED)
    """On Linux, amount of dirty pages in the page cache at which writers are suspended, such as
    C(8G); more is a warning. C(unmanaged) does not check it.

    Default: 8G
    """

    window_seconds: float = window()
    """Seconds to watch what needs rates, here the idle time of the CPUs of a Linux host. All
    controls share one window; C(0) disables it.

    Default: 10
    """

    @property
    def wanted(self) -> Pair:
        return Pair(self.maxpout, self.minpout)

    @property
    def trade(self) -> str:
        """What the required pair costs and gives; of a custom one nothing is known."""
        return PROFILES[self.profile].trade if self.profile in PROFILES else ""

    @property
    def overrides(self) -> Dict[str, Pair]:
        """The marks that file systems are allowed to have, by mount point."""
        return {
            filesystem.path: Pair(filesystem.maxpout, filesystem.minpout)
            for filesystem in self.filesystems
        }


def _marks(policy: Policy, values: PolicyValues) -> Policy:
    """Marks that are given are never dropped for a profile's: they are the policy, or an error."""
    profile = policy.profile
    named = [name for name in ("maxpout", "minpout") if values[name] != AUTO]
    if profile == AUTO and not named:
        return with_profile(policy, DEFAULT)._replace(profile=AUTO)
    if profile in PROFILES and not named:
        return with_profile(policy, profile)
    for name in ("maxpout", "minpout"):
        if name not in named:
            because = f"{NAME}_profile is custom, which takes both marks"
            if named:
                because = f"{NAME}_{named[0]} is, and the two go together"
            raise values.error(name, f"must be given, too: {because}")
    pair = policy.wanted
    _require_rule(pair, values)
    if profile in PROFILES and pair == PROFILES[profile].pair:
        return policy
    if profile not in (AUTO, DEFAULT, CUSTOM):
        raise values.error(
            "profile",
            f"is {profile} ({PROFILES[profile].pair}), and {NAME}_maxpout and {NAME}_minpout say "
            f"{pair}: leave one of them out",
        )
    return policy._replace(profile=CUSTOM)


def _require_rule(pair: Pair, values: PolicyValues) -> None:
    problem = rule_problem(pair)
    if problem is not None:
        name = "minpout" if problem.startswith("minpout") else "maxpout"
        raise values.error(name, f"is against AIX's rule: {problem}")


def with_profile(policy: Policy, profile: str) -> Policy:
    """The same with the marks of a profile."""
    pair = PROFILES[profile].pair
    return policy._replace(profile=profile, maxpout=pair.maxpout, minpout=pair.minpout)


policy_from = reader(NAME, Policy, _marks)
