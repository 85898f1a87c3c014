# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of swap: the size that Oracle recommends, and swapped-out database processes."""

from typing import Dict, List, Optional, Sequence, Tuple

from ...collect.answer import Answer, if_known, known
from ...errors import HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask, Edit
from ...evaluate.checking import Layer, Rules, Verdict, layered
from ...evaluate.finding import status_for
from ...parsers.size import human
from . import swap_at_boot
from .facts import FSTAB, SWAPS, VMSTAT, Facts, ordinary
from .parsers import proc_swaps
from .policy import NAME, Policy
from .subjects import skip_unmanaged
from .swap_at_boot import is_in_memory

rules: Rules[Facts, Policy] = Rules(NAME)

_GIB = 1 << 30
#: Tolerance in percent: an area is smaller than its device by a page and by rounding.
_TOLERANCE = 1
_BOOK = "Oracle Database Installation Guide for Linux, Server Hardware Checklist (swap space)"


def wanted_swap(facts: Facts, policy: Policy) -> Tuple[int, str]:
    """(bytes, reason). It depends on memory without huge pages."""
    if policy.swap is not None:
        return policy.swap, "memory_pressure_swap"
    memory = ordinary(facts)
    text = f"{human(memory)} memory without huge pages"
    if memory > 16 * _GIB:
        return 16 * _GIB, f"16 GiB, because the host has {text}"
    if memory > 2 * _GIB:
        return memory, f"equal to {text}"
    return memory * 3 // 2, f"1.5 times {text}"


@rules.check(
    "memory_pressure.swap_size",
    "Swap is as large as Oracle recommends",
    "Swap is smaller than recommended, now or after reboot",
    severity="medium",
    takes_effect="now",
    why="A peak of private memory triggers the OOM killer. The installer and the Cluster "
    "Verification Utility report PRVF-7573.",
    reference=_BOOK,
)
def swap_size(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("swap_size", policy)
    required, how = wanted_swap(facts, policy)
    areas = known(facts.swaps)
    on_disk = sum(area.size for area in areas if not is_in_memory(area))
    enough = required * (100 - _TOLERANCE)
    # Areas that are too small now are too small whatever a reboot activates of them.
    is_low = on_disk * 100 < enough
    sources = if_known(facts.swap_sources, None) if is_low else known(facts.swap_sources)
    listed = sources or ()
    unmatched, missing = swap_at_boot.not_activated(areas, listed)
    by_size = sorted(area.size for area in unmatched)
    after_reboot = on_disk - sum(by_size[:missing])
    is_low_later = after_reboot * 100 < enough
    if not is_low_later and (on_disk - sum(by_size)) * 100 < enough:
        raise Unanswered(
            "file:" + FSTAB,
            f"a reboot may not activate {_names(unmatched)}: the device "
            f"of one of these is unknown: {', '.join(source.text for source in listed)}",
        )
    problems = []
    if is_low:
        problems.append(f"{human(on_disk)} is less than {human(required)}")
    elif is_low_later:
        problems = _inactive(unmatched, missing, listed)
    more = Ask(
        "add a swap area (mkswap, swapon) and its line in /etc/fstab; if less is intended, set "
        "memory_pressure_swap"
    )
    return layered(
        persisted=Layer(
            _later_text(facts, sources),
            status_for((), is_low_later),
            "after reboot",
        ),
        running=Layer(", ".join(map(_text, areas)) or "no swap", status_for((), is_low)),
        in_use=Layer(_used(areas)),
        why=_sentence(problems),
        # An area that is active needs its line only: mkswap would fail, or destroy it.
        advice=Advice(
            both=[more],
            running=[more],
            persisted=[_line_of(area, listed) for area in unmatched],
        ),
        desired=f"at least {human(required)}: {how}",
        evidence=["file:" + SWAPS, "file:" + FSTAB, "file:/proc/meminfo"],
        values={
            "wanted": required,
            "running": on_disk,
            "persisted": None if sources is None else after_reboot,
            "unit": "bytes",
        },
    )


def _later_text(facts: Facts, sources: Optional[Sequence[swap_at_boot.Source]]) -> Answer[str]:
    """What a reboot activates."""
    if sources is not None:
        return ", ".join(source.text for source in sources if not source.inactive) or "nothing"
    return facts.swap_sources if isinstance(facts.swap_sources, HostproofError) else "unknown"


def _names(areas: Sequence[proc_swaps.Area]) -> str:
    return ", ".join(area.path for area in areas)


def _inactive(
    unmatched: Sequence[proc_swaps.Area], missing: int, sources: Sequence[swap_at_boot.Source]
) -> List[str]:
    """The areas that a reboot does not activate, and the reasons."""
    names = _names(unmatched)
    which = names if missing == len(unmatched) else f"{missing} of {names}"
    return [
        f"a reboot does not activate {which}",
        *(f"{source.text}: {source.inactive}" for source in sources if source.inactive),
    ]


def _used(areas: Sequence[proc_swaps.Area]) -> str:
    return human(sum(area.used for area in areas))


def _line_of(area: proc_swaps.Area, sources: Sequence[swap_at_boot.Source]) -> Edit:
    """The file of Azure's agent is on a disk that is empty after each deallocation."""
    path = swap_at_boot.WAAGENT
    if any(source.text == f"{area.path} ({path})" for source in sources):
        size = swap_at_boot.megabytes_of(area)
        settings = (
            f"ResourceDisk.Format=y, ResourceDisk.EnableSwap=y and ResourceDisk.SwapSizeMB={size}"
        )
        return Edit(path, what=f"set {settings} in {path}, and enable its service")
    return Edit(FSTAB, f"{area.path} none swap sw 0 0")


def _sentence(problems: List[str]) -> str:
    text = "; ".join(problems)
    return f"{text[:1].upper()}{text[1:]}."


def _text(area: proc_swaps.Area) -> str:
    note = ", in memory" if is_in_memory(area) else ""
    return f"{area.path} {human(area.size)} ({area.kind}{note})"


@rules.check(
    "memory_pressure.swapped_processes",
    "Database processes are not swapped out",
    "Database processes are swapped out",
    severity="high",
    takes_effect="instance_restart",
    why="All sessions wait for latches and redo held by a process that waits for its own memory.",
    reference="proc(5), /proc/PID/status (VmSwap); /proc/vmstat (pswpin, pswpout)",
    because_of=("kernel_parameters.memory", "hugepages.sga_in_huge_pages"),
)
def swapped_processes(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("swapped_processes", policy)
    sizes = [(process.name, known(process.swap)) for process in known(facts.swapped)]
    swapped = [f"{name} {human(size)}" for name, size in sizes if size]
    rates = known(facts.rates)
    busy = rates is not None and (rates.read > 0 or rates.written > 0)
    areas = known(facts.swaps)
    values: Dict[str, float] = {"swapped_bytes": sum(size for _name, size in sizes)}
    running = "not measured: hostproof_window_seconds is 0"
    if rates is not None:
        running = f"{rates.read:.1f} pages per second from swap, {rates.written:.1f} to it"
        values["pages_in_per_second"] = round(rates.read, 1)
        values["pages_out_per_second"] = round(rates.written, 1)
    used = f"{_used(areas)} of {human(sum(area.size for area in areas))}"
    return Verdict(
        status_for(swapped and busy, swapped or busy),
        why=f"{', '.join(swapped) or 'No checked process'} is in swap; {running}.",
        fix="find the processes that use the memory (ps -eo pid,rss,args --sort=-rss) and reduce "
        "it; then restart the swapped processes at a quiet time, or leave them: the kernel reads "
        "back the pages that they use",
        desired="no process of an instance or a listener in swap",
        running=running,
        in_use=f"{', '.join(swapped) or 'none of ' + str(len(sizes))}; {used} swap in use, "
        f"{human(ordinary(facts))} memory without huge pages",
        values=values,
        evidence=["file:" + SWAPS, "processes:oracle_writers", "file:" + VMSTAT, "sample:swapping"],
        failing_layer="in_use",
    )
