# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters that are set in several places: the order of the file names decides which one wins."""

from typing import List

from ...collect.answer import attempt, existing, if_known, known
from ...evaluate.advice import Advice, Ask, Step
from ...evaluate.checking import Rules, Verdict
from ...evaluate.comparing import numbers
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .policy import NAME, Policy
from .required_parameters import Parameter, at_boot_of, judged_parameters

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "kernel_parameters.consistent_sources",
    "All places set a parameter to the same value",
    "Several places set a parameter to different values",
    severity="medium",
    takes_effect="reboot",
    why="An update or a profile switch can change which value applies: TuneD, saptune, a "
    "package or a file.",
    reference="sysctl.d(5); tuned-main.conf(5), reapply_sysctl; saptune(8)",
)
def consistent_sources(facts: Facts, policy: Policy) -> Verdict:
    managed = [
        parameter
        for parameter in judged_parameters(facts, policy)
        if parameter.key not in policy.unmanaged
    ]
    disagreeing = [parameter for parameter in managed if _others(parameter, facts)]
    conflicts = [_disagreement(parameter, facts) for parameter in disagreeing]
    profile = known(facts.boot.tuned).names
    if not conflicts:
        for current in managed:
            at_boot_of(current, facts.boot).settled()
    owners = ["tuned profile " + " ".join(profile)] if profile else []
    owners += [f"saptune ({directory})" for directory in sorted(set(facts.saptune.values()))]
    return Verdict(
        WARN if conflicts else PASS,
        why=f"{len(conflicts)} of them are set otherwise elsewhere: {'; '.join(conflicts)}.",
        advice=Advice([_step(parameter, facts, policy) for parameter in disagreeing]),
        desired="one value for each parameter",
        persisted="; ".join(conflicts) or "no two places disagree",
        running=", ".join(owners) or "neither a profile of TuneD nor saptune",
        evidence=["dir:/etc/sysctl.d", "file:/etc/sysctl.conf", "file:/etc/tuned/active_profile"],
        failing_layer="persisted",
    )


def _others(parameter: Parameter, facts: Facts) -> List[str]:
    """The places that set another value than the one that wins."""
    at_boot = at_boot_of(parameter, facts.boot)
    if at_boot.winner is None:
        return []
    wins = numbers(at_boot.winner.value)
    others = [
        place
        for place in at_boot.losers
        if "(not read at boot)" not in place and numbers(place.partition(" = ")[2]) != wins
    ]
    if parameter.key in facts.saptune:
        others.append(f"saptune ({facts.saptune[parameter.key]})")
    return others


def _disagreement(parameter: Parameter, facts: Facts) -> str:
    winner = existing(at_boot_of(parameter, facts.boot).winner)
    others = ", ".join(_others(parameter, facts))
    return f"{parameter.name} = {winner.value} from {winner.place} wins over {others}"


def _step(parameter: Parameter, facts: Facts, policy: Policy) -> Step:
    what = _correction(parameter, facts, policy)
    return Ask(f"{what}, or list {parameter.name} in kernel_parameters_unmanaged")


def _correction(parameter: Parameter, facts: Facts, policy: Policy) -> str:
    """A place that has the required value is never removed before the winner has it."""
    winner = existing(at_boot_of(parameter, facts.boot).winner)
    others = ", ".join(_others(parameter, facts))
    is_right = if_known(attempt(parameter.meets, numbers(winner.value)), None)
    if is_right:
        return f"keep {parameter.name} in {winner.place}, and remove it from {others}"
    if is_right is None:
        return f"check the values of {parameter.name}, and keep one place"
    if policy.sysctl_file in others:
        # As the other findings about the parameter advise.
        return f"remove {parameter.name} from {winner.place}, so that the file of apply counts"
    return (
        f"correct {parameter.name} first in {winner.place}, which counts, and then remove it from "
        f"{others}"
    )
