# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recommendations for the Linux equivalent of I/O pacing: the limits of dirty pages. Pure."""

from typing import Dict, List, Optional

from ...collect import shell
from ...collect.answer import if_known, known
from ...evaluate.advice import Advice, Ask, Edit, Step
from ...evaluate.checking import Layer, Rules, Verdict, layered
from ...evaluate.finding import status_for
from ...parsers.size import human
from ...probes.systemd.boot import Setting, sysctl_at_boot
from .facts import DIRTY, VM, Facts, Linux
from .policy import NAME, Policy
from .subjects import LINUX

rules: Rules[Facts, Policy] = Rules(NAME)

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


@rules.check(
    "io_pacing.buffered_writers",
    "Dirty pages in the page cache are limited (advice)",
    "Buffered writers can fill the page cache (advice)",
    severity="low",
    takes_effect="now",
    why="When a backup or export reaches the limit of dirty pages, every buffered writer "
    "waits. A database with direct I/O is not affected.",
    reference="kernel Documentation/admin-guide/sysctl/vm.rst, dirty_*; "
    "Documentation/ABI/stable/sysfs-block",
    each=LINUX,
)
def buffered_writers(linux: Linux, _facts: Facts, policy: Policy) -> Verdict:
    """Advice, so it is never a fail."""
    dirty = known(linux.dirty)
    available = known(linux.available)
    # It is only shown.
    throttle = if_known(linux.throttle, {})
    background = _limit(dirty, "dirty_background_bytes", "dirty_background_ratio", available)
    limit = _limit(dirty, "dirty_bytes", "dirty_ratio", available)
    now = _wrong_now(background, limit, policy.dirty_limit)
    settings = {name: sysctl_at_boot(linux.boot, "vm." + name) for name in DIRTY}
    at_boot = {name: setting.winner for name, setting in settings.items()}
    refused = [refusal for setting in settings.values() for refusal in setting.refused]
    later = _after_boot(dirty, at_boot) + ["at boot " + refusal for refusal in refused]
    if not now and not later:
        for name in DIRTY:
            settings[name].settled()
    return layered(
        persisted=Layer(_places(at_boot), status_for((), later)),
        running=Layer(
            f"write back from about {human(background)}, writers wait from about {human(limit)}",
            status_for((), now),
        ),
        in_use=Layer(_throttle_text(throttle)) if throttle else None,
        advice=Advice(_limited(policy), persisted=_kept(dirty, at_boot, refused)),
        why="Advice: {0}. A database with direct I/O is not governed by it.".format(
            "; ".join(now + later)
        ),
        desired=None
        if policy.dirty_limit is None
        else f"at most {human(policy.dirty_limit)} dirty",
        values={"background": background, "limit": limit, "unit": "bytes"},
        evidence=["file:" + VM + name for name in DIRTY] + ["file:/proc/meminfo"],
    )


def _limit(dirty: Dict[str, int], in_bytes: str, ratio: str, available: int) -> int:
    """Bytes. The ratio is of the memory that is free or can be made so."""
    return dirty[in_bytes] or dirty[ratio] * available // 100


def _wrong_now(background: int, limit: int, most: Optional[int]) -> List[str]:
    """What is wrong with the limits in force."""
    advice = []
    if most is not None and limit > most:
        advice.append(
            f"about {human(limit)} may be dirty before a writer waits, above "
            f"io_pacing_dirty_limit {human(most)}"
        )
    if background >= limit:
        advice.append(
            f"writing back begins at {human(background)}, no earlier than writers wait, so the "
            "kernel takes half of that limit"
        )
    return advice


def _places(at_boot: Dict[str, Optional[Setting]]) -> str:
    places = [
        f"{name}={winner.value} ({winner.place})"
        for name, winner in sorted(at_boot.items())
        if winner is not None
    ]
    return "; ".join(places) or "nothing set: the kernel's defaults"


def _after_boot(dirty: Dict[str, int], at_boot: Dict[str, Optional[Setting]]) -> List[str]:
    """What a reboot changes: a value set otherwise, or one that no file sets."""
    advice = []
    for name in DIRTY:
        winner = at_boot[name]
        if at_boot[OTHER[name]] is not None:
            continue
        if winner is None and dirty[name] not in (DEFAULTS[name], 0):
            advice.append(
                f"vm.{name} is {dirty[name]}, which no file sets: a reboot restores the kernel's "
                "default"
            )
        elif winner is not None and winner.value != str(dirty[name]):
            advice.append(f"vm.{name} is {dirty[name]} now and {winner.value} after a reboot")
    for first in ("dirty_background_bytes", "dirty_bytes"):
        if at_boot[first] is not None and at_boot[OTHER[first]] is not None:
            advice.append(
                f"vm.{first} and vm.{OTHER[first]} are both set at boot, and each makes the other 0"
            )
    return advice


_DROP_IN = "/etc/sysctl.d/90-dirty.conf"


def _limited(policy: Policy) -> List[Step]:
    limit = policy.dirty_limit
    if limit is None:
        return [Ask("set vm.dirty_background_bytes and vm.dirty_bytes in a file of /etc/sysctl.d")]
    return [
        Step(
            f"write both limits to {_DROP_IN} and load it, or set io_pacing_dirty_limit: unmanaged",
            [
                # The file can hold settings of others.
                shell.written(f"vm.dirty_background_bytes = {limit // 4}", _DROP_IN, append=True),
                shell.written(f"vm.dirty_bytes = {limit}", _DROP_IN, append=True),
                shell.line("sysctl", "-p", _DROP_IN),
            ],
        )
    ]


def _kept(
    dirty: Dict[str, int], at_boot: Dict[str, Optional[Setting]], refused: List[str]
) -> List[Step]:
    """How a reboot keeps the running values."""
    steps: List[Step] = []
    for name in ("dirty_background_bytes", "dirty_bytes"):
        winner, other = at_boot[name], at_boot[OTHER[name]]
        if winner is not None and other is not None:
            steps.append(
                Ask(f"remove vm.{name} ({winner.place}) or vm.{OTHER[name]} ({other.place})")
            )
    for name in DIRTY:
        winner, value = at_boot[name], dirty[name]
        if at_boot[OTHER[name]] is not None or (winner is None and value in (DEFAULTS[name], 0)):
            continue
        if winner is None:
            steps.append(Edit(_DROP_IN, f"vm.{name} = {value}"))
        elif winner.value != str(value):
            kept = name if value else OTHER[name]
            steps.append(_instead_of(winner.place, kept, dirty[kept]))
    return steps or [Ask(f"correct {one}") for one in refused]


def _instead_of(place: str, name: str, value: int) -> Step:
    what = f"put vm.{name} = {value} in place of {place}"
    if "/tuned/" in place:
        what = (
            f"set {name} to {value} in a TuneD profile below /etc/tuned that "
            f"includes the active one, and activate it: {place} sets another value"
        )
    return Edit(place, what=what)


def _throttle_text(throttle: Dict[str, str]) -> Optional[str]:
    """Writeback throttling of each disk: it keeps background writes from delaying reads."""
    if not throttle:
        return None
    return "writeback throttle (wbt_lat_usec): " + ", ".join(
        "{0} {1}".format(disk, "off" if throttle[disk] == "0" else throttle[disk] + " µs")
        for disk in sorted(throttle)
    )
