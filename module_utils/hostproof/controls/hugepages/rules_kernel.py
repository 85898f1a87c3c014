# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the kernel: page size, NUMA nodes, surplus pages, transparent huge pages."""

from typing import Dict, List, Optional, Tuple

from ...collect.answer import Answer, attempt, if_known, known
from ...errors import Absent, HostproofError
from ...evaluate.advice import Advice, Apply, Ask, Run, Step, Wait
from ...evaluate.checking import (
    Layer,
    Rules,
    Skip,
    Verdict,
    failing,
    layered,
    unknown_sentence,
)
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from ...probes.systemd.boot import SysctlAtBoot, setting_text
from .facts import OVERCOMMIT_FILE, Facts
from .plan import TRANSPARENT
from .policy import NAME, UNMANAGED, Policy
from .policy_values import has_database, wanted_page_size, wanted_transparent
from .probes import huge_page_pool as pool_probe
from .probes import transparent_hugepages as thp_probe
from .probes.huge_page_pool import in_pages
from .subjects import BOOT, KERNEL, MEMINFO

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "hugepages.page_size",
    "Default huge page size is the size that Oracle uses",
    "Default huge page size is wrong",
    severity="high",
    takes_effect="reboot",
    why="Oracle cannot use the pool if the default size is 1 GiB. vm.nr_hugepages counts pages "
    "of the default size.",
    reference=KERNEL + ", default_hugepagesz",
)
def page_size(facts: Facts, policy: Policy) -> Verdict:
    if "Hugepagesize" not in known(facts.meminfo):
        is_needed = policy.profile is not None or has_database(facts, policy)
        return Verdict(
            FAIL if is_needed else WARN,
            "The kernel was built without huge pages: /proc/meminfo does not show them.",
            fix="start a kernel with CONFIG_HUGETLBFS, such as that of the distribution",
            desired=human(policy.page_size),
            running="no huge pages",
            evidence=MEMINFO,
        )
    size = known(facts.pool).page_size
    status = PASS
    required = wanted_page_size(facts, policy)
    if size != required:
        status = FAIL if has_database(facts, policy) else WARN
    return Verdict(
        status,
        fix="remove default_hugepagesz= from the kernel command line and reboot",
        desired=human(required),
        running=human(size),
        values={"wanted": required, "running": size, "unit": "bytes"},
        evidence=MEMINFO + ("file:/proc/cmdline",),
    )


@rules.check(
    "hugepages.numa_split",
    "Huge page pool is spread evenly over the NUMA nodes",
    "A NUMA node has less than half of its share of the pool",
    severity="medium",
    takes_effect="reboot",
    why="The SGA uses memory of the other nodes only. The kernel silently skips a node without "
    "contiguous memory.",
    reference=KERNEL + ", Interaction of Task Memory Policy with Huge Page Allocation",
)
def numa_split(facts: Facts, _policy: Policy) -> Verdict:
    nodes = known(facts.nodes)
    pool = known(facts.pool)
    if len(nodes) < 2:
        raise Skip("The host has one NUMA node with huge pages.")
    if pool.total == 0:
        raise Skip("The pool is empty.")
    share = pool.total / float(len(nodes))
    poor = [node.name for node in nodes if node.pages < share / 2]
    return Verdict(
        WARN if poor else PASS,
        why=f"{', '.join(poor)} has less than half of an even share.",
        fix="reserve the pool at boot, with hugepages= on the kernel command line",
        desired=f"about {share:.0f} pages per node",
        running=", ".join(f"{n.name}: {n.pages} ({n.free} free)" for n in nodes),
        in_use=_sga_by_node(facts),
        values={f"{node.name} pages": node.pages for node in nodes},
        evidence=[node.key for node in nodes],
        failing_layer="running",
    )


def _sga_by_node(facts: Facts) -> Optional[str]:
    """Number of SGA pages that each pmon touched on each node, if they can be read."""
    touched: Dict[int, int] = {}
    for instance in if_known(facts.instances, []):
        for segment in if_known(instance.segments, []):
            for node, count in segment.node_pages.items() if segment.huge else ():
                touched[node] = touched.get(node, 0) + count
    if not touched:
        return None
    return "touched by pmon: " + ", ".join(
        f"node{node}: {count}" for node, count in sorted(touched.items())
    )


@rules.check(
    "hugepages.no_overcommit",
    "Surplus huge pages are not allowed",
    "Surplus huge pages are allowed or in use",
    severity="low",
    takes_effect="now",
    why="An instance that started with surplus pages may not get them again. They depend on "
    "the free memory at that moment.",
    reference=KERNEL + ", nr_overcommit_hugepages",
)
def no_overcommit(facts: Facts, _policy: Policy) -> Verdict:
    if isinstance(facts.overcommit, Absent):
        raise Skip("The kernel has no surplus pages.")
    allowed = known(facts.overcommit)
    pool = known(facts.pool)
    at_boot = attempt(pool_probe.overcommit_at_boot, facts.boot, pool.page_size)
    later: Answer[str] = at_boot if isinstance(at_boot, HostproofError) else setting_text(at_boot)
    is_bad_later = False
    if isinstance(at_boot, SysctlAtBoot):
        is_bad_later = at_boot.winner is not None and at_boot.winner.value != "0"
        later = later if is_bad_later else at_boot.unknown or later
    now = Run("sysctl", "-w", pool_probe.OVERCOMMIT_KEY + "=0", text="set it to 0 now")
    place = Ask("set vm.nr_overcommit_hugepages to 0 where it is set at boot")
    if isinstance(at_boot, SysctlAtBoot) and at_boot.winner is not None:
        place = Ask(f"set vm.nr_overcommit_hugepages to 0 {_where(at_boot.winner.place)}")
    return layered(
        persisted=Layer(later, WARN if is_bad_later else PASS, "after a reboot"),
        running=Layer(f"up to {in_pages(allowed)}", WARN if allowed else PASS),
        in_use=Layer(f"{in_pages(pool.surp)} surplus", WARN if pool.surp else PASS),
        advice=Advice(
            both=[now, place],
            persisted=[place],
            running=[now],
            in_use=[Ask("size the pool for every SGA (hugepages.pool_covers_sga)")],
        ),
        desired="0 pages",
        values={"allowed": allowed, "surplus": pool.surp, "unit": "pages"},
        evidence=MEMINFO + ("file:" + OVERCOMMIT_FILE,) + BOOT,
    )


def _where(place: str) -> str:
    """A profile of a package is not changed: an update restores it."""
    if place.startswith("tuned profile /usr/"):
        return (
            "in a TuneD profile below /etc/tuned that includes the active one, and activate that: "
            f"{place[len('tuned profile ') :]} is below /usr, which packages own"
        )
    return f"at {place}"


@rules.check(
    "hugepages.transparent_hugepages",
    "Transparent huge pages are set as Oracle recommends",
    "Transparent huge pages are not set as Oracle recommends",
    severity="high",
    takes_effect="now",
    why="Allocations by khugepaged stall processes and can cause the eviction of a RAC node.",
    reference="Oracle Grid Infrastructure Installation Guide 19c for Linux, Setting Transparent "
    "HugePages to madvise (F19136); 21c and 23ai, the same",
)
def transparent_hugepages(facts: Facts, policy: Policy) -> Verdict:
    if policy.transparent == UNMANAGED:
        raise Skip("hugepages_transparent is unmanaged.")
    if isinstance(facts.thp_mode, Absent):
        raise Skip("The kernel has no transparent huge pages.")
    mode = known(facts.thp_mode)
    required, because = wanted_transparent(facts, policy)
    at_boot = attempt(thp_probe.at_boot, facts.boot, facts.thp_default)
    boot_mode = _mode_of(at_boot)
    sizes = if_known(facts.thp_sizes, {})
    always = sorted(name for name in sizes if sizes[name] == "always")
    later = attempt(thp_probe.always_at_boot, facts.boot, sizes)
    by_size = always + _settings_of_others(if_known(later, []), always)
    status, why = _grade_transparent(required, mode, boot_mode, by_size)
    database: Answer[bool] = True
    is_unknown_later = isinstance(at_boot, HostproofError)
    if status == FAIL:
        # A mode that is enabled for every process is wrong, independent of the mode after reboot.
        database = attempt(has_database, facts, policy)
        if database is False:
            status = WARN
            why = (why or transparent_hugepages.check.why) + " The host has no database yet."
    elif is_unknown_later and mode != required:
        why = f"The mode is '{mode}' now."
    else:
        known(at_boot).settled()
        _need_sizes(status, facts.thp_sizes, later)
    is_wrong_now = _is_wrong_now(required, "always" if always else mode, boot_mode)
    is_right_later = boot_mode == required and by_size == always
    is_wrong_later = not (is_unknown_later or is_right_later)
    anonymous = if_known(facts.meminfo, {}).get("AnonHugePages", 0)
    return Verdict(
        status,
        why=why,
        desired=f"{required} ({because})",
        persisted=setting_text(at_boot, "no setting found", remarks=False),
        running=f"{mode} ({human(anonymous)} in use)" if anonymous else mode,
        values={"in_use": anonymous, "unit": "bytes"},
        evidence=("file:" + thp_probe.SYSFS, "file:/proc/cmdline", "dir:/etc/tmpfiles.d") + MEMINFO,
        failing_layer=failing(running=is_wrong_now, persisted=is_wrong_later),
        advice=_advice_of_transparent(by_size, policy),
        wrong=frozenset(["running"] * is_wrong_now + ["persisted"] * is_wrong_later),
        right=frozenset(["persisted"] * is_right_later),
        unknown=unknown_sentence(
            [("after a reboot", at_boot), ("whether the host has a database", database)]
        ),
    )


def _settings_of_others(settings: List[str], names: List[str]) -> List[str]:
    return [setting for setting in settings if setting.partition(" ")[0] not in names]


def _mode_of(at_boot: Answer[thp_probe.ThpAtBoot]) -> Optional[str]:
    if isinstance(at_boot, HostproofError) or at_boot.winner is None:
        return None
    return at_boot.winner.value


def _need_sizes(status: str, *sizes: Answer[object]) -> None:
    """Raise what is unknown, where no other mode is wrong."""
    if status == PASS:
        for answer in sizes:
            known(answer)


def _advice_of_transparent(by_size: List[str], policy: Policy) -> Advice:
    steps: List[Step] = [Apply(NAME, TRANSPARENT)]
    now: List[Step] = [Wait("reboot")] if policy.activation == "reboot" else list(steps)
    if by_size:
        files = f"{thp_probe.FOLDER}/hugepages-*kB/enabled"
        names = ", ".join(sorted({setting.partition(" ")[0] for setting in by_size}))
        sizes = Ask(f"set the mode of {names} to inherit in {files}, now and at boot")
        steps.insert(0, sizes)
        now.insert(0, sizes)
    return Advice(steps, running=now)


def _is_wrong_now(required: str, mode: str, boot_mode: Optional[str]) -> bool:
    if mode == "always":
        return True
    return mode != required and boot_mode != "always"


def _grade_transparent(
    required: str, mode: str, boot_mode: Optional[str], by_size: List[str]
) -> Tuple[str, Optional[str]]:
    if mode == "always":
        return FAIL, None
    if boot_mode == "always":
        return FAIL, "A reboot turns them on for every process."
    if by_size:
        return FAIL, f"The mode of a size is always: {', '.join(by_size)}."
    if boot_mode is None and mode != required:
        return WARN, f"The mode is '{mode}' now. No setting was found that applies after a reboot."
    if boot_mode is None:
        return WARN, f"No setting was found that keeps '{mode}' after a reboot."
    if mode != required or boot_mode != required:
        now = f"'{mode}' now and '{boot_mode}' after a reboot"
        return WARN, f"{now} are safe, but differ from the policy."
    return PASS, None
