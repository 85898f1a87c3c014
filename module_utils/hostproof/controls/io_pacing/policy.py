# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a host should hold back its buffered writers: the role's variables, checked.

Source of the rule for the pair: AIX Performance Management, Synchronous I/O tunable parameters.
"""

import re
from typing import Any, Dict, NamedTuple, Optional, Tuple

from ...policy import PolicyValues

NAME = "io_pacing"

AUTO = "auto"
NONE = "none"
UNMANAGED = "unmanaged"
DEFAULT = "default"
CUSTOM = "custom"
OFF = "off"

Version = Tuple[int, ...]


class Pair(NamedTuple):
    """The two marks, in pages of pending writes to one file; 0 and 0 is no pacing.

    A thread that writes to a file with ``maxpout`` pages pending sleeps until ``minpout`` are left.
    """

    maxpout: int
    minpout: int

    def __str__(self):
        # type: () -> str
        return "maxpout={0} minpout={1}".format(self.maxpout, self.minpout)


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
    "intermediate": Profile(
        Pair(513, 256),
        "A compromise: a writer is held back after 2 MiB pending in a file, so other programs keep "
        "their turn and large writes lose some speed.",
    ),
    "legacy_hacmp": Profile(
        Pair(33, 24),
        "What HACMP up to 5.4 asked for: its heartbeat gets its turn under any load, and large "
        "writes run at about half their speed.",
    ),
    OFF: Profile(
        Pair(0, 0),
        "No pacing: one writer can keep every other program of the host waiting for the disks.",
    ),
}


def rule_problem(pair):
    # type: (Pair) -> Optional[str]
    """What IBM's rule says against the pair, None if nothing: "minpout ... must be below ..."."""
    return order_problem(pair) or step_problem(pair)


def order_problem(pair):
    # type: (Pair) -> Optional[str]
    """What the kernel itself refuses."""
    if pair == Pair(0, 0):
        return None
    if 0 in pair:
        return "maxpout {0} and minpout {1}: both are 0 (no pacing) or neither".format(*pair)
    if pair.minpout >= pair.maxpout:
        return "minpout {1} must be below maxpout {0}".format(*pair)
    return None


def step_problem(pair):
    # type: (Pair) -> Optional[str]
    """What IBM says that the values should be; AIX takes others all the same."""
    if pair == Pair(0, 0):
        return None
    if pair.maxpout % 4 != 1:
        return "maxpout {0} must be a multiple of 4 plus 1".format(pair.maxpout)
    if pair.minpout % 4 != 0:
        return "minpout {0} must be a multiple of 4".format(pair.minpout)
    if pair.minpout > pair.maxpout - 4:
        return "minpout {1} must be at least 4 below maxpout {0}".format(*pair)
    return None


class Policy(NamedTuple):
    """The role's variables (roles/io_pacing/meta/argument_specs.yml), checked.

    ``maxpout`` and ``minpout`` are what the profile comes to. ``powerha_version`` is None for
    "auto" and () where there is none. ``cpu_headroom`` is per cent of the CPU that nobody uses,
    None for "auto". ``filesystems`` are the overrides allowed, by mount point. ``dirty_limit`` is
    bytes, None for "unmanaged".
    """

    profile: str
    maxpout: int
    minpout: int
    powerha_version: Optional[Version]
    cpu_headroom: Optional[int]
    filesystems: Dict[str, Pair]
    deadman_risk_ok: bool
    dirty_limit: Optional[int]

    @property
    def wanted(self):
        # type: () -> Pair
        return Pair(self.maxpout, self.minpout)

    @property
    def trade(self):
        # type: () -> str
        """What the wanted pair costs and gives; of a custom one nothing is known."""
        return PROFILES[self.profile].trade if self.profile in PROFILES else ""


def policy_from(values):
    # type: (Dict[str, Any]) -> Policy
    """A Policy from the role's variables without their prefix; PolicyError names the variable."""
    given = PolicyValues(NAME, values, Policy._fields)
    profile, pair = _marks(given)
    return Policy(
        profile=profile,
        maxpout=pair.maxpout,
        minpout=pair.minpout,
        powerha_version=_powerha(given),
        cpu_headroom=None
        if given["cpu_headroom"] == AUTO
        else given.whole_number("cpu_headroom", 0, 100),
        filesystems=_filesystems(given),
        deadman_risk_ok=given.flag("deadman_risk_ok"),
        dirty_limit=None if given["dirty_limit"] == UNMANAGED else given.size("dirty_limit"),
    )


def _profile(given):
    # type: (PolicyValues) -> str
    if given["profile"] is False:
        return OFF  # YAML makes a truth value of an off without quotes
    return given.one_of("profile", tuple(PROFILES) + (CUSTOM,))


def _marks(given):
    # type: (PolicyValues) -> Tuple[str, Pair]
    """Marks that are given are never dropped for a profile's: they are the policy, or an error."""
    profile = _profile(given)
    named = [name for name in ("maxpout", "minpout") if given[name] != AUTO]
    if profile in PROFILES and not named:
        return profile, PROFILES[profile].pair
    for name in ("maxpout", "minpout"):
        if name not in named:
            raise given.error(
                name,
                "must be given, too: {0}".format(
                    "{0}_{1} is, and the two go together".format(NAME, named[0])
                    if named
                    else "{0}_profile is custom, which takes both marks".format(NAME)
                ),
            )
    pair = _custom(given)
    if profile in PROFILES and pair == PROFILES[profile].pair:
        return profile, pair
    if profile not in (DEFAULT, CUSTOM):
        raise given.error(
            "profile",
            "is {0} ({1}), and {2}_maxpout and {2}_minpout say {3}: leave one of them out".format(
                profile, PROFILES[profile].pair, NAME, pair
            ),
        )
    return CUSTOM, pair


def _custom(given):
    # type: (PolicyValues) -> Pair
    pair = Pair(given.whole_number("maxpout"), given.whole_number("minpout"))
    problem = rule_problem(pair)
    if problem is not None:
        name = "minpout" if problem.startswith("minpout") else "maxpout"
        raise given.error(name, "is against AIX's rule: {0}".format(problem))
    return pair


def _powerha(given):
    # type: (PolicyValues) -> Optional[Version]
    """ "7.2.3" or "5.4.1"; two numbers at least, for 7.1 is where the heartbeat changed."""
    value = given["powerha_version"]
    if value == AUTO:
        return None
    if value == NONE:
        return ()
    if isinstance(value, bool) or not re.match(r"^\d+(\.\d+)+$", str(value)):
        raise given.error(
            "powerha_version",
            "must be auto, none or a release such as 7.2.3, not {0!r}".format(value),
        )
    return tuple(int(number) for number in str(value).split("."))


def _filesystems(given):
    # type: (PolicyValues) -> Dict[str, Pair]
    value = given["filesystems"]
    if not isinstance(value, (list, tuple)):
        raise given.error("filesystems", "must be a list of {path, maxpout, minpout}")
    allowed = {}  # type: Dict[str, Pair]
    for item in value:
        if not isinstance(item, dict) or set(item) != {"path", "maxpout", "minpout"}:
            raise given.error(
                "filesystems", "has {0!r}, which needs path, maxpout and minpout".format(item)
            )
        path = str(item["path"])
        if not path.startswith("/"):
            raise given.error("filesystems", "{0!r} must be a mount point".format(path))
        path = path.rstrip("/") or "/"
        if path in allowed:
            raise given.error("filesystems", "lists {0} twice".format(path))
        allowed[path] = _allowed_pair(given, path, item)
    return allowed


def _allowed_pair(given, path, item):
    # type: (PolicyValues, str, Dict[str, Any]) -> Pair
    for name in ("maxpout", "minpout"):
        if isinstance(item[name], bool) or not str(item[name]).isdecimal():
            raise given.error(
                "filesystems",
                "{0}: {1} must be a whole number, not {2!r}".format(path, name, item[name]),
            )
    pair = Pair(int(item["maxpout"]), int(item["minpout"]))
    problem = rule_problem(pair)
    if problem is not None:
        raise given.error("filesystems", "{0}: {1}".format(path, problem))
    return pair
