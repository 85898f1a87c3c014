# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the metrics of the operating system are recorded over time."""

from ...collect.answer import Answer, if_known, known, unless_absent
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Verdict
from ...evaluate.finding import PASS, WARN
from ...parsers.unix.distribution import clean
from .facts import RECORDERS, SAR, Facts
from .policy import NAME, Policy

rules: Rules[Facts, Policy] = Rules(NAME)

#: Seconds. sar begins a file each day.
_FRESH = 2 * 86400


@rules.check(
    "platform.metrics_history",
    "A history of operating system metrics is recorded",
    "No history of operating system metrics is recorded",
    severity="low",
    takes_effect="now",
    why="The cause of a past hang or eviction is found in the metrics of that time only.",
    reference="ORAchk, OSWatcher status; sar(1); pmlogger(1)",
)
def metrics_history(facts: Facts, _policy: Policy) -> Verdict:
    recorders = [clean(name) for name in if_known(facts.recorders, [])]
    recorders += [f"sar ({path})" for path, at in facts.sar.items() if _is_fresh(facts, at)]
    if not recorders:
        # What is unknown might be a recorder.
        known(facts.recorders)
        for at in facts.sar.values():
            unless_absent(at, 0)
    return Verdict(
        PASS if recorders else WARN,
        "OSWatcher, ExaWatcher, pmlogger of PCP and osysmond of Clusterware do not run, and sar "
        f"wrote nothing to {' or '.join(SAR)} within two days.",
        advice=Advice([Ask("enable sysstat or PCP, or install and start OSWatcher")]),
        desired="at least one recorder",
        running=", ".join(recorders) or "none",
        evidence=["command:" + " ".join(RECORDERS)] + ["stat:" + path for path in SAR],
    )


def _is_fresh(facts: Facts, at: Answer[float]) -> bool:
    changed = if_known(at, None)
    return changed is not None and known(facts.now) - changed < _FRESH
