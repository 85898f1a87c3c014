# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the kernel's AIO limit: its value now and after reboot, and its use."""

from typing import Dict, List, Tuple

from ...collect.answer import known
from ...errors import Denied, HostproofError
from ...evaluate.advice import apply_line
from ...evaluate.checking import Rules, Verdict, failing
from ...evaluate.finding import FAIL, PASS, WARN
from ...probes.oracle import io_writers
from ...probes.systemd import boot as boot_probe
from .facts import RELEASE_FILE, Facts, Linux
from .plan import requests_of_databases, wanted_events
from .policy import DOCUMENTED, NAME, Policy
from .probes import aio
from .subjects import KERNEL, LINUX, MOS

rules: Rules[Facts, Policy] = Rules(NAME)

_EVENTS = ("file:" + aio.LIMIT_FILE, "file:" + aio.USED_FILE)
_BOOT = ("dir:/etc/sysctl.d", "file:/etc/sysctl.conf", "lines:boot")
#: Default value of the kernel (fs/aio.c).
_DEFAULT = 65536
_BY_APPLY = [apply_line("kernel_parameters")]
#: What kernel_parameters writes if its policy names no other file.
_DROP_IN = "/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf"
#: Number of the largest holders that a finding names; the others are only counted.
_NAMED = 5


@rules.check(
    "async_io.aio_max_nr",
    "fs.aio-max-nr is sufficient, now and after reboot",
    "fs.aio-max-nr is too low, now or after reboot",
    severity="high",
    takes_effect="now",
    why="When all contexts together reach the limit, io_setup fails with EAGAIN. The next "
    "instance that needs a context fails with ORA-27090.",
    reference=KERNEL + "; " + MOS + "; Oracle Database Installation Guide for Linux, Kernel "
    "Parameters",
    each=LINUX,
)
def aio_max_nr(linux: Linux, facts: Facts, policy: Policy) -> Verdict:
    events = known(linux.events)
    required = wanted_events(events, facts, policy)
    processes = required == requests_of_databases(facts)
    at_boot = boot_probe.sysctl_at_boot(linux.boot, aio.KEY)
    winner = at_boot.winner
    then = _DEFAULT if winner is None else int(winner.value)
    low = [
        text
        for text, is_low in (
            (f"It is {events.limit}", events.limit < required),
            (f"it is {then} after reboot", then < required),
        )
        if is_low
    ]
    if not low:
        at_boot.settled()
    blocked = _why_blocked(linux, required)
    # The growth of the use is a margin, not a need.
    needed = max(policy.aio_max_nr, requests_of_databases(facts))
    is_short = min(events.limit, then) < needed
    return Verdict(
        FAIL if is_short else WARN if low else PASS,
        why=f"{' and '.join(low)}; required is {required}: {policy.aio_max_nr} of the policy, or "
        f"{policy.growth_factor:g} times the {events.used} events in use"
        + (f", or {aio.REQUESTS} for each process of the databases." if processes else "."),
        fix=blocked or _fix(required),
        commands=_BY_APPLY if required <= DOCUMENTED and not blocked else [],
        desired=f"at least {required}",
        persisted=f"{then} (kernel default, nothing sets it)"
        if winner is None
        else f"{winner.value} from {winner.place}"
        + ("; not used: " + ", ".join(at_boot.losers) if at_boot.losers else ""),
        running=str(events.limit),
        in_use=f"{events.used} events",
        evidence=_EVENTS + _BOOT,
        values={
            "wanted": required,
            "next_boot": then,
            "running": events.limit,
            "used": events.used,
        },
        failing_layer=failing(running=events.limit < required, persisted=then < required),
    )


@rules.check(
    "async_io.aio_usage",
    "Enough AIO contexts are free",
    "AIO contexts are nearly used up",
    severity="high",
    takes_effect="now",
    why="The next process that needs an AIO context gets none. The limit applies to the whole "
    "host, so another instance or a container can have used it up.",
    reference=KERNEL + "; " + MOS,
    each=LINUX,
)
def aio_usage(linux: Linux, facts: Facts, policy: Policy) -> Verdict:
    events = known(linux.events)
    left = events.contexts_left()
    share = 100.0 * events.used / max(events.limit, 1)
    is_full = share > policy.used_limit_percent
    charges_more = is_full and events.used > events.limit and _charges_more(linux)
    holders = _holders(linux)
    return Verdict(
        # A share of the limit is a margin: requests fail when no context is left.
        PASS if not is_full else WARN if left or charges_more else FAIL,
        why=f"{events.used} of {events.limit} events are in use ({share:.0f}%): {left} more "
        f"contexts of {aio.CONTEXT} are possible, then requests fail with EAGAIN."
        + (
            " This kernel charges more than was requested and allows twice its limit: the "
            "messages (async_io.aio_refused) say if it was reached."
            if charges_more
            else ""
        ),
        fix=f"{_fix(wanted_events(events, facts, policy))}; a larger limit does not reserve memory",
        desired=f"at most {policy.used_limit_percent}%",
        running=f"{events.limit}, {left} more contexts of {aio.CONTEXT}",
        in_use=f"{events.used}: {holders}",
        evidence=_EVENTS + io_writers.KEYS[:1] + ("file:" + RELEASE_FILE,),
        values={"used": events.used, "limit": events.limit, "contexts_left": left},
        failing_layer="in_use",
    )


def _why_blocked(linux: Linux, required: int) -> str:
    """Why a line of kernel_parameters would not count after a reboot; "" if it would."""
    line = f"{aio.KEY} = {required}\n"
    boot = boot_probe.with_sysctl_file(linux.boot, _DROP_IN, line)
    at_boot = boot_probe.sysctl_at_boot(boot, aio.KEY)
    if at_boot.winner is not None and int(at_boot.winner.value) >= required:
        return ""
    why = boot_probe.why_it_loses(at_boot, _DROP_IN, aio.KEY, "kernel_parameters_sysctl_file")
    return f"apply is blocked. First: {why}"


def _fix(required: int) -> str:
    """The fix. Only kernel_parameters writes the key: the same key in two files would conflict."""
    if required <= DOCUMENTED:
        return "apply kernel_parameters, which sets fs.aio-max-nr"
    return (
        f"list fs.aio-max-nr with {required} in kernel_parameters_values, and apply "
        "kernel_parameters"
    )


def _charges_more(linux: Linux) -> bool:
    release = known(linux.release)
    first, last = aio.CHARGED_MORE
    return first <= (release.major, release.minor) < last


def _holders(linux: Linux) -> str:
    """Holders of contexts, the largest first, and the number of processes that are not visible."""
    holders = linux.holders
    if isinstance(holders, HostproofError):
        hint = " (rerun with --become)" if isinstance(holders, Denied) else ""
        return f"the processes that use them are not known: {holders}{hint}"
    by_owner: Dict[str, List[Tuple[int, int]]] = {}
    seen = set()
    for process in holders.processes:
        for ring in process.rings:
            if ring[0] not in seen:
                seen.add(ring[0])
                by_owner.setdefault(_owner(process.argv0), []).append(ring)
    sums = {name: aio.sum_of(rings) for name, rings in by_owner.items()}
    most = sorted(sums, key=lambda name: (-sums[name][1], name))
    words = [
        f"{name} {sums[name][0]} contexts of {sums[name][1]} events at most"
        for name in most[:_NAMED]
    ]
    if most[_NAMED:]:
        words.append(f"{len(most) - _NAMED} others")
    if holders.unseen:
        words.append(f"and {holders.unseen} that are not visible to this account")
    return ", ".join(words) or "by no visible process"


def _owner(argv0: str) -> str:
    """The SID of an instance process, or the name of another program."""
    parts = argv0.split("_", 2)
    if len(parts) == 3 and parts[0] in ("ora", "db", "asm"):
        return "instance " + parts[2]
    name = argv0.rpartition("/")[2]
    if name.startswith("oracle") and len(name) > len("oracle"):
        return "instance " + name[len("oracle") :].split(" ")[0]
    return name[:60]
