# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory as one budget: everything that may be taken at once, against the memory of the host."""

from typing import Dict, Union

from ...collect.answer import attempt, known
from ...evaluate.checking import Rules, Skip, Verdict, failing, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from ...probes.oracle import next_start
from .budget import PARTS, Budget, next_budget, running_budget
from .facts import MIN_FREE, Facts
from .policy import NAME, Policy
from .subjects import skip_unmanaged

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "memory_pressure.budget",
    "Memory covers the limits of all databases",
    "Memory does not cover the limits of all databases",
    severity="high",
    takes_effect="instance_restart",
    why="If the sessions reach their limits, the host swaps or the OOM killer stops an instance.",
    reference="Oracle Database Reference, PGA_AGGREGATE_LIMIT and PROCESSES; ORAchk, Verify "
    "database memory allocation; kernel Documentation/mm/page_tables.rst",
    because_of=("hugepages.sga_in_huge_pages", "hugepages.ram_share", "memory_pressure.physical"),
)
def budget(facts: Facts, policy: Policy) -> Verdict:
    skip_unmanaged("budget", policy)
    databases = known_or_skip(facts.databases) + known(facts.stopped)
    if not databases:
        known(facts.hidden)
        raise Skip("No database runs here, and oratab lists none.")
    memory = known(facts.meminfo)["MemTotal"]
    now, whole = running_budget(facts), attempt(next_budget, facts)
    coming = whole if isinstance(whole, Budget) else next_budget(facts, least=True)
    pairs = (("now", now), ("at the next start", coming))
    over = [f"{when} {human(need.total)} are needed" for when, need in pairs if need.total > memory]
    is_sure = any(need.sure > memory for _when, need in pairs)
    if not over:
        known(whole)
        known(facts.hidden)
    assumed = " with what processes, the page cache and a PGA without a limit are assumed to take"
    return Verdict(
        FAIL if is_sure else WARN if over else PASS,
        _sentence(
            f"{'; '.join(over)}{'' if is_sure else assumed}, and the host has {human(memory)}."
        ),
        fix="lower pga_aggregate_limit or processes, put the SGA in huge pages, reduce "
        "their pool to the SGAs, or add memory",
        desired=f"at most {human(memory)}",
        persisted=("" if whole is coming else "at least ") + _text(coming),
        running=_text(now),
        evidence=["file:/proc/meminfo", "file:" + MIN_FREE]
        + [key for database in databases for key in next_start.evidence_of(database)],
        values=_values(memory, now, coming),
        failing_layer=failing(running=now.total > memory, persisted=coming.total > memory),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _text(need: Budget) -> str:
    parts = [
        f"{name.replace('_', ' ')} {human(size)}" for name, size in zip(PARTS, need.parts) if size
    ]
    return f"{human(need.total)}: {', '.join(parts)}"


def _values(memory: int, now: Budget, coming: Budget) -> Dict[str, Union[int, str]]:
    """``now_PART`` and ``next_PART`` in bytes: the report draws bars from them."""
    values: Dict[str, Union[int, str]] = {"memory": memory, "unit": "bytes"}
    for when, need in (("now", now), ("next", coming)):
        values.update({f"{when}_{name}": size for name, size in zip(PARTS, need.parts)})
    return values
