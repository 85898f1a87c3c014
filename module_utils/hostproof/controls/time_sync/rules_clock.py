# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""From where the time comes, how far off the clock is, what it ticks by, and Clusterware's view."""

from typing import Sequence

from ...collect.answer import existing, if_known, known
from ...errors import HostproofError, Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from .facts import AVAILABLE, CURRENT, NTPQ, SOURCES, TIMEDATECTL, TRACKING, Facts, Sync
from .policy import CHRONYD, NAME, NTPD, PTP, TIMESYNCD, Policy
from .subjects import BOOK, ctss_alone

rules: Rules[Facts, Policy] = Rules(NAME)

_ASKED = {
    CHRONYD: ["command:" + " ".join(SOURCES), "command:" + " ".join(TRACKING)],
    NTPD: ["command:" + " ".join(NTPQ)],
    TIMESYNCD: ["command:" + " ".join(TIMEDATECTL)],
}
#: Read without a system call; the others cost one for each wait that a database times.
_FAST = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod")
_TSC = "tsc"
_FIRST_WITH_TSC = (19,)
#: A guest of Xen prefers it to tsc. It is read without a system call only if the hypervisor has a
#: stable TSC (arch/x86/xen/time.c).
_XEN = "xen"
_SLOW = ("hpet", "acpi_pm", "jiffies", "refined-jiffies")


def _sync(facts: Facts) -> Sync:
    """What the only daemon states of its sources."""
    keepers = known(facts.keepers)
    if len(keepers) != 1:
        raise Skip("Not exactly one known daemon sets the clock: see time_sync.one_daemon.")
    if PTP in keepers:
        raise Skip("PTP daemons are not queried for their sources.")
    return existing(facts.sync)


@rules.check(
    "time_sync.sources",
    "Time service is synchronized to a source",
    "Time service has no source, or too few",
    severity="high",
    takes_effect="now",
    why="The clock drifts, and a time service without sources reports nothing.",
    reference=BOOK + "; Cluster Verification Utility, PRVG-13606 and PRVG-13602",
)
def sources(facts: Facts, policy: Policy) -> Verdict:
    sync = _sync(facts)
    (name,) = known(facts.keepers)
    minimum = 1 if name == TIMESYNCD else policy.min_sources
    status, why = PASS, None
    if not sync.selected:
        status, why = FAIL, f"{name} follows none of its {sync.asked} sources."
    elif sync.reached < minimum:
        status, why = WARN, f"Only {sync.reached} of {sync.asked} sources answer."
    return Verdict(
        status,
        why,
        fix=f"let {name} reach its servers (UDP port 123), or configure other servers for it",
        desired=f"at least {minimum} answer, one is followed",
        running=f"{sync.reached} of {sync.asked} answer, followed: "
        + (", ".join(sync.selected) or "none"),
        values={"sources": sync.asked, "answering": sync.reached},
        evidence=_ASKED[name],
    )


@rules.check(
    "time_sync.offset",
    "Clock offset is within the limit",
    "Clock offset exceeds the limit",
    severity="high",
    takes_effect="now",
    why="Logs of different nodes contradict each other, and Clusterware warns or evicts a node.",
    reference=BOOK,
)
def offset(facts: Facts, policy: Policy) -> Verdict:
    sync = _sync(facts)
    (name,) = known(facts.keepers)
    if name == TIMESYNCD:
        raise Skip("systemd-timesyncd is not queried for its offset.")
    if not sync.selected or sync.offset_ms is None:
        raise Unanswered(
            _ASKED[name][-1],
            f"{name} follows no source, so the offset is unknown",
        )
    off = abs(sync.offset_ms) > policy.max_offset_ms
    error = "" if sync.error_ms is None else f", at most {sync.error_ms:.3f} ms with its sources"
    return Verdict(
        FAIL if off else PASS,
        f"The clock is {abs(sync.offset_ms):.3f} ms off." if off else None,
        fix=f"see in the sources and in the log of {name} why it does not correct the offset; do "
        "not step the clock while a database runs",
        desired=f"at most {policy.max_offset_ms} ms",
        running=f"{sync.offset_ms:+.3f} ms{error}",
        values={"clock_offset_ms": round(sync.offset_ms, 3)},
        evidence=_ASKED[name],
    )


_BOOT_WITH_TSC = (
    "check with the administrator of the hypervisor that the TSC of this guest stays stable, also "
    "in a live migration; if it does, add clocksource=tsc to the kernel command line (EL: grubby "
    "--update-kernel=ALL --args=clocksource=tsc; else GRUB_CMDLINE_LINUX in /etc/default/grub) and "
    "reboot"
)
_NO_TSC = (
    "the guest has no other fast clock source: configure a stable TSC in the hypervisor (Xen: "
    "tsc_mode), or keep it"
)


@rules.check(
    "time_sync.clock_source",
    "Clock source is fast",
    "Clock source is slow, or not tsc although it is available",
    severity="high",
    takes_effect="reboot",
    why="The database reads the clock at every wait. A clock source that needs a system call takes "
    "10 to 30 times longer.",
    reference="kernel Documentation/admin-guide/kernel-parameters.txt, clocksource and tsc; Oracle "
    "Database Installation Guide for Linux 19c and 26ai, Setting Clock Source for VMs on Linux "
    "x86-64",
)
def clock_source(facts: Facts, policy: Policy) -> Verdict:
    now = known_or_skip(facts.clock)
    there = if_known(facts.clocks, ())
    status, why = PASS, None
    if now in _SLOW:
        status, why = FAIL, f"It is {now}, each reading of which is a system call."
    elif now == _XEN and _TSC in there:
        status, why = WARN, f"It is {now} although tsc is available: the kernel prefers {now}."
    elif now not in _FAST:
        status, why = WARN, f"It is {now}: whether it is read without a system call is not known."
    elif now != _TSC and _is_recommended(facts, policy) and _TSC in known(facts.clocks):
        return Verdict(
            WARN,
            f"It is {now} although tsc is available, as Oracle recommends for guests.",
            fix=_BOOT_WITH_TSC,
            desired=_TSC,
            running=f"{now} of {', '.join(there)}",
            evidence=["file:" + CURRENT, "file:" + AVAILABLE],
        )
    return Verdict(
        status,
        why,
        fix=_fix_of_clock(now, there),
        desired="tsc, or that of the hypervisor",
        running=f"{now} of {', '.join(there) or 'an unknown list'}",
        evidence=["file:" + CURRENT, "file:" + AVAILABLE],
    )


def _fix_of_clock(now: str, there: Sequence[str]) -> str:
    if now == _XEN:
        return _BOOT_WITH_TSC if _TSC in there else _NO_TSC
    fix = "find in the log of the kernel why it gave up a faster one"
    better = [source for source in there if source in _FAST]
    if better:
        fix += f", such as {better[0]}, and then boot without clocksource= or notsc"
    return fix


def _is_recommended(facts: Facts, policy: Policy) -> bool:
    """Whether a release is here, or announced, whose guide recommends tsc. Unknown counts."""
    announced = policy.profile.release if policy.profile is not None else ()
    answers = [*if_known(facts.software.homes, {}).values(), *([announced] if announced else [])]
    releases = [release for release in answers if not isinstance(release, HostproofError)]
    return len(releases) < len(answers) or not answers or max(releases) >= _FIRST_WITH_TSC


#: A daemon that starts may step the clock, and a step can evict a node.
_ALONE = "while neither Clusterware nor a database runs there: it may step the clock"


@rules.check(
    "time_sync.ctss",
    "CTSS runs in observer mode",
    "CTSS mode does not fit the time service",
    severity="critical",
    takes_effect="cluster_restart",
    why="In active mode, CTSS and the time service both set the clock. In observer mode "
    "without a time service, nothing sets it.",
    reference="Oracle Clusterware Administration and Deployment Guide, Overview of Cluster Time "
    "Management",
)
def ctss(facts: Facts, policy: Policy) -> Verdict:
    mode = known(facts.ctss)
    if mode is None:
        raise Skip("No Clusterware of a cluster runs here.")
    running = sorted(known(facts.keepers))
    left = ", ".join(facts.left)
    status, why, fix = PASS, None, None
    if mode == "Observer" and not running:
        status = FAIL
        why = (
            "It only observes, and no time service that Hostproof knows runs "
            f"(left: {left or '-'})."
        )
        daemon = f"the daemon of {left}" if left else "a daemon, which has no configuration yet,"
        fix = f"start {daemon} on all nodes {_ALONE}"
    elif mode == "Active" and running:
        status = FAIL
        why = f"It is active, and {' and '.join(running)} sets the clock as well."
        fix = (
            f"enable and configure {running[0]} on all nodes, then restart Clusterware on one node "
            "after the other: it observes if it finds a daemon when it starts"
        )
    elif mode == "Active":
        status, sentence = ctss_alone(facts, policy)
        why = f"It keeps the clocks alike by itself. {sentence}"
        fix = f"configure chronyd on all nodes, and start it {_ALONE}"
    return Verdict(
        status,
        why,
        fix=fix,
        desired="observer mode, and one daemon",
        running=f"{mode.lower()} mode; daemons: {', '.join(running) or 'none'}",
        evidence=[
            "command:ask for the mode of cluster time synchronization (crsctl check ctss)",
            "processes:keepers",
        ],
    )
