# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares, rates and counts that other tools print, against limits."""

from typing import List

from ...collect.answer import known
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN, worst
from .facts import Facts
from .measurement.readings import LIMITS, Reading, readings_of
from .policy import NAME, Policy
from .subjects import REPORTS, Probed

rules: Rules[Facts, Policy] = Rules(NAME)

#: Figures that a finding shows.
_SHOWN = 20


@rules.check(
    "latency.tool_figures",
    "Figures that a tool counted are within the limits",
    "Figures that a tool counted exceed the limits",
    severity="high",
    takes_effect="now",
    why="Lost frames, requests that are sent again, busy CPUs and swapped memory are waits of the "
    "database.",
    reference="nfsstat(8), mpstat(1), sar(1), vmstat(8), ss(8), ethtool(8), na_ifstat(1): their "
    "figures",
    each=REPORTS,
)
def tool_figures(subject: Probed, _facts: Facts, _policy: Policy) -> Verdict:
    """Each figure of the output that has a limit."""
    readings = [one for one in readings_of(known(subject.answer).figures) if one.limit in LIMITS]
    if not readings:
        raise Skip("It has no count or share with a limit.", (subject.key,))
    status = worst(list(map(_status, readings)))
    decisive = [one for one in readings if _status(one) == status]
    limits = list(dict.fromkeys(one.limit for one in decisive))
    is_bad = status != PASS
    return Verdict(
        status,
        why="{0}: {1}.".format(subject.path, "; ".join(_reading_texts(decisive)))
        if is_bad
        else None,
        fix="; ".join(LIMITS[name].fix for name in limits) if is_bad else None,
        of=subject.path,
        desired="; ".join(_limit(one) for one in _one_of_each(decisive)),
        in_use="; ".join(_reading_texts(sorted(readings, key=lambda one: _status(one) == PASS))),
        values={f"{one.subject} {one.words} {one.unit}".strip(): one.value for one in readings},
        evidence=(subject.key,),
        reference="; limit: ".join(
            [tool_figures.check.reference, *(LIMITS[name].source for name in limits)]
        ),
    )


def _status(reading: Reading) -> str:
    limit = LIMITS[reading.limit]
    if limit.fail is not None and reading.value > limit.fail:
        return FAIL
    return WARN if reading.value > limit.warn else PASS


def _reading_texts(readings: List[Reading]) -> List[str]:
    more = len(readings) - _SHOWN
    texts = [one.text() for one in readings[:_SHOWN]]
    return texts + ([f"{more} more"] if more > 0 else [])


def _one_of_each(readings: List[Reading]) -> List[Reading]:
    return list({one.limit: one for one in reversed(readings)}.values())[::-1]


def _limit(reading: Reading) -> str:
    limit = LIMITS[reading.limit]
    unit = f" {reading.unit}" if reading.unit else ""
    fails = "" if limit.fail is None else f", above {limit.fail:g}{unit} fails"
    words = reading.words.partition(",")[0]
    return f"{words}: at most {limit.warn:g}{unit}{fails}"
