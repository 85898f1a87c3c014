# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice on Linux's counterpart of I/O pacing: how much may be dirty before writers wait. Pure."""

from typing import Dict, List, Optional

from ...answer import known
from ...errors import HostError, HostproofError
from ...finding import ERROR, PASS, WARN, Finding, found
from ...parsers.size import human
from ...probes.boot import sysctl_at_boot
from .checks import BUFFERED_WRITERS
from .facts import DIRTY, VM, Linux
from .policy import Policy

#: mm/page-writeback.c: what the kernel starts with.
DEFAULTS = {
    "dirty_background_bytes": 0,
    "dirty_background_ratio": 10,
    "dirty_bytes": 0,
    "dirty_ratio": 20,
}

#: Setting one of a pair makes the other 0.
OTHER = {
    "dirty_background_bytes": "dirty_background_ratio",
    "dirty_background_ratio": "dirty_background_bytes",
    "dirty_bytes": "dirty_ratio",
    "dirty_ratio": "dirty_bytes",
}


def judge_linux(linux, policy):
    # type: (Linux, Policy) -> Finding
    """Pass, warn, or error where something is not known: it is advice, so never fail."""
    try:
        return _judge(linux, policy)
    except HostproofError as problem:
        return found(
            BUFFERED_WRITERS,
            ERROR,
            why="Could not be determined: {0}.".format(problem),
            evidence=[problem.key] if isinstance(problem, HostError) else [],
        )


def _judge(linux, policy):
    # type: (Linux, Policy) -> Finding
    dirty = known(linux.dirty)
    available = known(linux.available)
    throttle = known(linux.throttle)
    background = _limit(dirty, "dirty_background_bytes", "dirty_background_ratio", available)
    limit = _limit(dirty, "dirty_bytes", "dirty_ratio", available)
    advice = []  # type: List[str]
    if policy.dirty_limit is not None and limit > policy.dirty_limit:
        advice.append(
            "about {0} may be dirty before a writer waits, above io_pacing_dirty_limit {1}".format(
                human(limit), human(policy.dirty_limit)
            )
        )
    if background >= limit:
        advice.append(
            "writing back begins at {0}, no earlier than writers wait, so the kernel takes half "
            "of that limit".format(human(background))
        )
    at_boot = {name: sysctl_at_boot(linux.boot, "vm." + name).winner for name in DIRTY}
    set_at_boot = {}  # type: Dict[str, Optional[str]]
    for name in DIRTY:
        winner = at_boot[name]
        set_at_boot[name] = None if winner is None else winner.value.strip()
    advice += _after_boot(dirty, set_at_boot)
    places = [
        "{0}={1} ({2})".format(name, winner.value, winner.place)
        for name, winner in sorted(at_boot.items())
        if winner is not None
    ]
    wanted = None
    if policy.dirty_limit is not None:
        wanted = "at most {0} dirty".format(human(policy.dirty_limit))
    return found(
        BUFFERED_WRITERS,
        WARN if advice else PASS,
        why="Advice: {0}. A database with direct I/O is not governed by it.".format(
            "; ".join(advice)
        ),
        fix=_fix(policy),
        desired=wanted,
        persisted="; ".join(places) or "nothing set: the kernel's defaults",
        running="write back from about {0}, writers wait from about {1}".format(
            human(background), human(limit)
        ),
        in_use=_throttle_text(throttle),
        evidence=["file:" + VM + name for name in DIRTY] + ["file:/proc/meminfo"],
    )


def _limit(dirty, in_bytes, ratio, available):
    # type: (Dict[str, int], str, str, int) -> int
    """Bytes. The ratio is of the memory that is free or can be made so."""
    return dirty[in_bytes] or dirty[ratio] * available // 100


def _after_boot(dirty, set_at_boot):
    # type: (Dict[str, int], Dict[str, Optional[str]]) -> List[str]
    """What the next boot changes: a value set otherwise, or one that no file sets."""
    advice = []
    for name in DIRTY:
        coming = set_at_boot[name]
        if coming is not None:
            if set_at_boot[OTHER[name]] is None and coming != str(dirty[name]):
                advice.append(
                    "vm.{0} is {1} now and {2} after a boot".format(name, dirty[name], coming)
                )
        elif set_at_boot[OTHER[name]] is None and dirty[name] not in (DEFAULTS[name], 0):
            advice.append(
                "vm.{0} is {1}, which no file sets: a boot brings the kernel's default back".format(
                    name, dirty[name]
                )
            )
    for first in ("dirty_background_bytes", "dirty_bytes"):
        if set_at_boot[first] is not None and set_at_boot[OTHER[first]] is not None:
            advice.append(
                "vm.{0} and vm.{1} are both set at boot, and each makes the other 0".format(
                    first, OTHER[first]
                )
            )
    return advice


def _fix(policy):
    # type: (Policy) -> str
    limit = policy.dirty_limit
    if limit is None:
        return "Set vm.dirty_background_bytes and vm.dirty_bytes in a file of /etc/sysctl.d."
    return (
        "echo 'vm.dirty_background_bytes = {0}' > /etc/sysctl.d/90-dirty.conf; "
        "echo 'vm.dirty_bytes = {1}' >> /etc/sysctl.d/90-dirty.conf; "
        "sysctl -p /etc/sysctl.d/90-dirty.conf; or io_pacing_dirty_limit: unmanaged".format(
            limit // 4, limit
        )
    )


def _throttle_text(throttle):
    # type: (Dict[str, str]) -> Optional[str]
    """Writeback throttling of each disk: it keeps background writes from delaying reads."""
    if not throttle:
        return None
    return "writeback throttle (wbt_lat_usec): " + ", ".join(
        "{0} {1}".format(disk, "off" if throttle[disk] == "0" else throttle[disk] + " µs")
        for disk in sorted(throttle)
    )
