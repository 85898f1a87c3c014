# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each account needs of the drop-in, and what speaks against it: for the plan and the fix."""

from typing import List, NamedTuple, Optional, Tuple

from ...apply.change import Refusal, header
from ...collect.answer import attempt, known, unless_absent
from ...errors import HostproofError
from ...evaluate.advice import apply_line
from ...evaluate.finding import PASS
from ...parsers.unix import limits_conf
from ...probes.unix import limits as limits_probe
from ...probes.unix.limits import Account
from .amounts import Demand, Pair, demands, grade_login, of_login, text_of
from .facts import Facts
from .policy import ACCOUNT, NAME, Policy

HEADER = header(NAME)


class Step(NamedTuple):
    """The lines of one account for one limit; ``over`` are those of others that lose to them."""

    account: Account
    demand: Demand
    hard: int
    lines: Tuple[str, ...]
    over: Tuple[limits_conf.Entry, ...]

    @property
    def part(self) -> str:
        return part_of(self.account.name, self.demand.row.item)


def steps(facts: Facts, policy: Policy) -> List[Step]:
    """What the drop-in has to hold, as other files leave it; raises what is unknown."""
    others = limits_probe.with_file(known(facts.entries), policy.limits_file, "")
    accounts = known(facts.accounts)
    additions = [
        _step(accounts[name], demand, others, facts)
        for name in sorted(accounts)
        for demand in demands(facts, policy)
    ]
    return [step for step in additions if step is not None]


def _step(
    account: Account, demand: Demand, others: List[limits_conf.Entry], facts: Facts
) -> Optional[Step]:
    limits = limits_probe.limits_of(account, others, demand.row.item)
    pair = of_login(limits, demand.row)
    if grade_login(demand, pair, facts)[0] == PASS:
        return None
    good = _written(demand, pair, facts)
    return Step(
        account,
        demand,
        good[1],
        tuple(
            f"{account.name} {side} {demand.row.item} {text_of(amount)}\n"
            for side, amount in zip(("soft", "hard"), good)
        ),
        tuple(entry for entry in (limits.soft, limits.hard) if entry is not None),
    )


def _written(demand: Demand, pair: Pair, facts: Facts) -> Tuple[int, int]:
    """Nothing is lowered that is above the least and below the most."""
    hard = pair.hard if pair.hard is not None and pair.hard >= demand.hard else demand.good[1]
    hard = min(hard, demand.most)
    if demand.row.item == "nofile":
        hard = max(min(hard, known(facts.nr_open)), demand.hard)
    soft = pair.soft if pair.soft is not None and pair.soft >= demand.soft else demand.good[0]
    return min(soft, hard), hard


def part_of(account: str, item: str) -> str:
    """The part of the plan (Refusal.part) of one limit of an account."""
    return f"{account} {item}"


def content(
    additions: List[Step], refused: List[Refusal], facts: Facts, policy: Policy
) -> Optional[str]:
    """The text of the drop-in without rejected lines; None if none is there and none is needed."""
    before = unless_absent(facts.file, None)
    parts = {refusal.part for refusal in refused}
    lines = {text for step in additions if step.part not in parts for text in step.lines}
    if before is not None and before.startswith(HEADER):
        # What the policy leaves alone by now stays as an earlier apply wrote it.
        lines |= {
            text + "\n"
            for text in before.splitlines()
            for entry in limits_conf.parse(text, policy.limits_file).entries
            if entry.item in policy.unmanaged or part_of(entry.domain, entry.item) in parts
        }
    elif not lines:
        return before
    return HEADER + "".join(sorted(lines))


def refusals(additions: List[Step], facts: Facts, policy: Policy) -> List[Refusal]:
    """Every reason against writing the drop-in."""
    path = policy.limits_file
    before = unless_absent(facts.file, None) or ""
    refused = []
    if additions and not before.startswith(HEADER) and limits_conf.parse(before, path).entries:
        reason = f"{path} holds other settings, which would be lost: choose another file"
        refused.append(Refusal(reason, None))
    later = limits_probe.with_file(
        known(facts.entries), path, content(additions, [], facts, policy) or ""
    )
    return refused + [
        Refusal(reason, None, step.part)
        for step in additions
        for reason in _reasons(later, step, facts, policy)
    ]


def _reasons(later: List[limits_conf.Entry], step: Step, facts: Facts, policy: Policy) -> List[str]:
    """What speaks against the lines of one account for one limit."""
    if not ACCOUNT.match(step.account.name):
        return [f"{step.account.name!r} is not a name that limits.conf accepts"]
    if step.demand.row.item == "nofile" and step.hard > known(facts.nr_open):
        return [
            f"fs.nr_open is {known(facts.nr_open)}: a login of {step.account.name} with "
            f"{text_of(step.hard)} open files would be rejected; raise it first"
        ]
    path = policy.limits_file
    limits = limits_probe.limits_of(step.account, later, step.demand.row.item)
    if grade_login(step.demand, of_login(limits, step.demand.row), facts)[0] == PASS:
        return []
    rivals = [
        f"{entry.path}:{entry.line}"
        for entry in (limits.exempt, limits.soft, limits.hard)
        if entry is not None and entry.path != path
    ]
    return [
        f"{path} would not win for {step.account.name} ({step.demand.row.item}): "
        f"{' and '.join(sorted(set(rivals)))} counts instead; remove that, choose a "
        "process_limits_limits_file that is read later, or leave it there with "
        "process_limits_unmanaged"
    ]


def remedy(part: str, facts: Facts, policy: Policy) -> Tuple[str, List[str]]:
    """(prose, the line) that corrects one limit of an account: never what apply would reject."""
    additions = attempt(steps, facts, policy)
    against = attempt(lambda: refusals(known(additions), facts, policy))
    if isinstance(against, HostproofError):
        return f"apply cannot plan this: {str(against).rstrip('.')}", []
    reasons = [refusal.reason for refusal in against if refusal.part in ("", part)]
    if reasons:
        return f"apply is blocked. First: {'; '.join(reasons)}", []
    return "apply the control, then log in again", [apply_line(NAME)]
