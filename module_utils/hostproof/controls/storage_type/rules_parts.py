# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the components of the storage, from the health objects in storage_families.py."""

from typing import Dict, List, Tuple

from ...errors import Absent, HostproofError, Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.number import clipped
from .facts import Facts, Server
from .policy import NAME, Policy
from .snmp import storage_definitions as definitions
from .snmp.storage_agent import RECOGNISED
from .snmp.storage_definitions import Part
from .snmp.storage_health import HealthReading
from .subjects import SERVERS, health_of

rules: Rules[Facts, Policy] = Rules(NAME)

REFERENCE = "docs/controls/storage_type.md, Health"
_BECAUSE = ("storage_type.agent_answers",)


@rules.check(
    "storage_type.system_state",
    "Storage system reports itself healthy",
    "Storage system reports a fault",
    severity="high",
    takes_effect="now",
    why="The storage system reports hardware faults before a database is affected.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def system_state(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    return _judge(definitions.SYSTEM, server)


@rules.check(
    "storage_type.disks",
    "No storage disk has failed",
    "A storage disk has failed or is degraded",
    severity="high",
    takes_effect="now",
    why="The next failure can lose data, and a rebuild takes performance from the database.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def disks(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    return _judge(definitions.DISKS, server, policy.failed_disks_limit, "failed_disks_limit")


@rules.check(
    "storage_type.controllers",
    "Storage controllers are up and takeover is enabled",
    "A storage controller is down, or takeover is disabled",
    severity="high",
    takes_effect="now",
    why="One controller carries the whole load, and its failure ends the service.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def controllers(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    return _judge(definitions.CONTROLLERS, server)


@rules.check(
    "storage_type.controller_interconnect",
    "Interconnect of the storage controllers is up",
    "Interconnect of the storage controllers is down or degraded",
    severity="high",
    takes_effect="now",
    why="Controllers cannot mirror data that is not on disk yet.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def controller_interconnect(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    return _judge(definitions.PATHS, server)


@rules.check(
    "storage_type.battery",
    "Cache battery is healthy",
    "Cache battery is not healthy",
    severity="high",
    takes_effect="now",
    why="A power failure loses acknowledged writes, or every write waits for disks.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def battery(server: Server, _facts: Facts, _policy: Policy) -> Verdict:
    return _judge(definitions.BATTERY, server)


@rules.check(
    "storage_type.rebuild",
    "No storage disk is being rebuilt",
    "Storage disks are being rebuilt",
    severity="medium",
    takes_effect="now",
    why="The rebuild reads all disks of its group and competes with the database.",
    reference=REFERENCE,
    each=SERVERS,
    because_of=_BECAUSE,
)
def rebuild(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    return _judge(definitions.REBUILD, server, policy.rebuilding_limit, "rebuilding_limit")


def _judge(part: str, server: Server, most: int = 0, limit: str = "") -> Verdict:
    """The verdict of a component. The worst object counts; an unknown state is never a pass."""
    objects = [record for record in health_of(server).parts if record.part.part == part]
    if not objects:
        raise Skip(_not_available(server, part))
    states, unknown = _states(part, objects, most)
    evidence = list(dict.fromkeys(record.evidence for record in objects))
    bad, worn = states.get(definitions.BAD, []), states.get(definitions.WORN, [])
    good = states.get(definitions.GOOD, [])
    if not bad + worn:
        _require_good(states, unknown, evidence)
    is_counted = any(record.part.counts for record in objects)
    why = f"{len(bad)} bad and {len(worn)} degraded, of {len(bad + worn + good)} reported."
    if unknown:
        why += f" Some states could not be determined: {unknown[0]}"
    return Verdict(
        FAIL if bad else WARN if worn else PASS,
        why=why,
        advice=Advice(
            [
                Ask(
                    "check on the storage at {0}: {1}{2}".format(
                        server.target,
                        ", ".join((bad + worn)[:5]),
                        f"; the limit is storage_type_{limit}" if limit and is_counted else "",
                    )
                )
            ]
        ),
        desired=f"at most {most}" if is_counted else "good",
        running=", ".join((bad + worn + good)[:5]),
        values={"bad": len(bad), "warn": len(worn), "good": len(good)},
        evidence=evidence,
        reference="; ".join(dict.fromkeys(record.part.source for record in objects)),
    )


def _require_good(
    states: Dict[str, List[str]], unknown: List[HostproofError], evidence: List[str]
) -> None:
    """Raise what is unknown, or Skip where no object has a state."""
    if unknown:
        raise unknown[0]
    if not states.get(definitions.GOOD):
        reported = ", ".join(dict.fromkeys(states.get(definitions.MISSING, []))) or "no state"
        raise Skip(f"Not available: the agent reports {reported[:200]}.", evidence)


def _states(
    part: str, objects: List[HealthReading], most: int
) -> Tuple[Dict[str, List[str]], List[HostproofError]]:
    """The texts of the objects by state, and the errors of what is unknown."""
    states: Dict[str, List[str]] = {}
    unknown: List[HostproofError] = []
    for record in objects:
        if isinstance(record.rows, HostproofError):
            unknown += [] if isinstance(record.rows, Absent) else [record.rows]
            continue
        for row, value in record.rows.items():
            state, text = _state(record.part, value, most)
            text = f"{part} {row}: {text}" if row else text
            if not state:
                why = f"the agent reports {text}, whose meaning is unknown ({record.part.source})"
                unknown.append(Unanswered(record.evidence, why))
            states.setdefault(state, []).append(text)
    return states, unknown


def _state(part: Part, value: str, most: int) -> Tuple[str, str]:
    """The state (one of STATES, "" if unknown) and its text for messages."""
    if not part.counts:
        state, word = part.means.get(value, ("", repr(value[:60])))
        return state, word
    if not value.isdecimal():
        return "", f"{value[:60]!r} {part.counts}"
    over = definitions.WORN if part.part == definitions.REBUILD else definitions.BAD
    number = clipped(value)
    return over if number > most else definitions.GOOD, f"{number} {part.counts}"


def _not_available(server: Server, part: str) -> str:
    if server.storage.outcome != RECOGNISED:
        return "No definition matches the product, so its health objects are unknown."
    return f"Not available: no object of {server.storage.title} with this state is known ({part})."
