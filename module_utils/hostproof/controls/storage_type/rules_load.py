# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of discarded packets and of the CPU load of the storage."""

from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import PASS, WARN
from .facts import Facts, Server
from .policy import NAME, Policy
from .snmp import storage_health
from .subjects import SERVERS, health_of

rules: Rules[Facts, Policy] = Rules(NAME)


@rules.check(
    "storage_type.discards",
    "Storage interfaces discard no packets",
    "Storage interfaces discard packets",
    severity="medium",
    takes_effect="now",
    why="Each discarded packet is retransmitted, and the database waits for it.",
    reference="RFC 2863, ifInDiscards and ifOutDiscards",
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def discards(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    health = health_of(server)
    before = known_or_skip(health.before)
    if not policy.window_seconds:
        raise Skip("hostproof_window_seconds is 0.")
    after = known_or_skip(health.after)
    lost = storage_health.losses(before, after)
    bad = [loss for loss in lost if max(loss.received, loss.sent) > policy.discards_limit]
    seconds = storage_health.seconds_between(before, after)
    losses = ", ".join(
        f"{loss.interface}: {loss.received} received, {loss.sent} sent"
        for loss in (bad or lost)[:5]
    )
    return Verdict(
        WARN if bad else PASS,
        why=f"{len(bad)} interfaces discarded packets within {seconds:.1f} s.",
        advice=Advice(
            [
                Ask(
                    "compare speed, duplex and flow control of {0} on the storage with its switch "
                    "port and with this host".format(", ".join(loss.interface for loss in bad[:5]))
                )
            ]
        ),
        desired=f"at most {policy.discards_limit} in a sample",
        running="{0} on {1} interfaces within {2:.1f} s".format(
            losses or "none", len(after.discards), seconds
        ),
        values={"discards": sum(loss.received + loss.sent for loss in lost)},
        evidence=before.evidence + after.evidence,
    )


@rules.check(
    "storage_type.cpu_busy",
    "Storage CPU load is below the limit",
    "Storage CPU load is too high",
    severity="medium",
    takes_effect="now",
    why="The filer responds late, however fast its disks are.",
    reference="HOST-RESOURCES-MIB (RFC 2790); NETWORK-APPLIANCE-MIB cpuBusyTimePerCent",
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def cpu_busy(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    load = known_or_skip(health_of(server).load)
    return Verdict(
        WARN if load.percent >= policy.cpu_limit else PASS,
        why=f"The CPU load is {load.percent} percent.",
        advice=Advice(
            [
                Ask(
                    f"find the clients and jobs that load {server.target}, and move some to "
                    "another hour or other storage; the limit is storage_type_cpu_limit"
                )
            ]
        ),
        desired=f"below {policy.cpu_limit} percent",
        running=f"{load.percent} percent",
        values={"load": load.percent, "unit": "percent"},
        evidence=load.evidence,
    )
