# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of the time until a request gets a connection from a pool."""

from typing import List

from ...collect.answer import known
from ...evaluate.checking import Rules, Verdict
from ...latency.probe_list import POOL
from .facts import Facts
from .figures import milliseconds
from .grading import Graded, around, grade_window, values_of, verdict_of
from .policy import NAME, Policy
from .subjects import POOLS, Probed, no_answer
from .thresholds import Subject

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "latency.checkout",
    "Connection checkout time is within the limits",
    "Connection checkout time exceeds the limits",
    severity="medium",
    takes_effect="now",
    why="Each request first waits for its connection. If the pool validates at checkout, that "
    "includes a round trip to the database.",
    reference="WildFly model reference, subsystem datasources, test-connection-in-pool",
    each=POOLS,
)
def checkout(subject: Probed, _facts: Facts, policy: Policy) -> Verdict:
    """The operation as a whole, of which the remark says what no pool takes."""
    measured = known(subject.answer)
    if not measured.windows:
        raise no_answer(subject, measured)
    graded: List[Graded] = []
    remarks = list(measured.remarks)
    for window in measured.windows:
        graded += grade_window(window, Subject(POOL, "any", window.layer), policy.thresholds, "")
        trivial = window.conditions.get("trivial_p50_us")
        if isinstance(trivial, (int, float)):
            remarks.append(f"{milliseconds(trivial)} of it are the management's own")
    return verdict_of(
        checkout.check,
        graded,
        subject.target,
        "see pool_validation.foreground and latency.tcp: a checkout that validates takes a round "
        "trip",
        (subject.key,),
        remarks + around(measured.windows),
    )._replace(values=values_of(subject.target, measured.windows) or None)
