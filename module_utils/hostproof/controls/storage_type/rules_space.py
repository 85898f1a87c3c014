# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How full the storage is, by what it is made of."""

import re
from typing import List, NamedTuple, Optional, Tuple

from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN
from ...parsers.size import human
from .facts import Facts, Server
from .policy import NAME, Policy
from .snmp import snmp_targets, storage_health, storage_rules
from .snmp.storage_health import Volume
from .subjects import SERVERS, health_of

rules = Rules(NAME)

CAPACITY = (
    "NetApp, Oracle Database on ONTAP: capacity limits; WAFL performance VS sequential reads, part "
    "I (2011): FlexVol utilization"
)


class Limits(NamedTuple):
    """Percent used from which on a pool is a warning and a failure, and for people why."""

    warn: int
    critical: int
    text: str


#: NetApp, Oracle Database on ONTAP, capacity limits: 10% free on flash, where nothing slows down
#: before it is full, and 15% on disks, which are slower from 10% on. Where the media is not known
#: the warning is that of disks, and the failure that of both.
_BY_MEDIA = {
    storage_rules.SSD: Limits(90, 98, "flash"),
    storage_rules.HDD: Limits(85, 90, "disks"),
    "": Limits(85, 98, "media not known: storage_type_media names it"),
}


#: Percent from which on a FlexVol is a warning where the policy names none: it has no room left,
#: even if its aggregate has.
_NO_ROOM = 98


#: Measured on 7-Mode with disks, part I (2011): no loss of sequential reads below this.
_SANE_ON_DISKS = 70


#: WAFL performance VS sequential reads, part III (2011): the filer itself measured the fragments,
#: and they were gone after reads with read_realloc. Of disks only: flash has no heads to move.
_FRAGMENTS = (
    "; where it is read sequentially (full scans, backups), let the filer measure its layout "
    "(reallocate measure -o VOLUME; EMS then reports wafl.reallocate.check.value, 3 is good), and "
    "consider read_realloc: on disks only, never on AFF"
)


_FULL_BY_DESIGN = re.compile(
    r"/\.?snapshot$|snap reserve$|^aggr0|^/vol/vol0/?$|[_-]root/?$", re.IGNORECASE
)


#: Bytes: a file system of a machine that is smaller than this is the machine's own.
_SYSTEM_SIZE = 10 << 30


@rules.check(
    "storage_type.space",
    "Storage system has enough free space",
    "Storage system or one of its volumes is too full",
    severity="high",
    takes_effect="now",
    why="Disks slow down to half or less near 100%. Flash keeps its speed, but full storage "
    "accepts no writes.",
    reference=CAPACITY,
    each=SERVERS,
    because_of=("storage_type.agent_answers",),
)
def space(server: Server, _facts: Facts, policy: Policy) -> Verdict:
    volumes = known_or_skip(health_of(server).volumes)
    shown = sorted(_of_interest(volumes, server), key=lambda one: -one.percent)
    untold = [name for name in volumes.untold if _counts(name, volumes, server)]
    if not shown and not untold:
        raise Skip("The agent reports nothing about the volumes that are mounted here.")
    media = media_of(server, policy)
    limits = limits_of(media, policy)
    pools = [one for one in shown if one.kind != storage_rules.FLEXIBLE]
    carved = [one for one in shown if one.kind == storage_rules.FLEXIBLE]
    status, reasons = _judge_pools(pools, carved, limits, server)
    volume_limit = policy.space_warn or _NO_ROOM
    volume_reasons = _judge_volumes(carved, media, server, volume_limit)
    if volume_reasons:
        status = WARN if status == PASS else status
        reasons += volume_reasons
    if status == PASS and untold:
        raise Unanswered(
            volumes.evidence[0],
            "the agent does not tell how full {0} is".format(", ".join(untold[:5])),
        )
    running = ", ".join(_volume_text(one) for one in shown[:5])
    if status == PASS and not pools:
        raise Skip(
            f"The agent reports the use of volumes ({running}), but not of their aggregates.",
            volumes.evidence,
        )
    return Verdict(
        status,
        why=" ".join(reasons),
        fix="add disks to the aggregate or pool, move data away, or enlarge the volume; "
        "storage_type_media says what the storage is made of"
        + (_FRAGMENTS if carved and media == storage_rules.HDD else ""),
        desired="below {0} percent, {1} at most ({2})".format(*limits)
        + (f"; volumes below {volume_limit} percent" if carved else ""),
        running=running,
        values={"fullest": shown[0].percent if shown else None, "unit": "percent"},
        evidence=volumes.evidence,
    )


def media_by_policy(target: str, policy: Policy) -> Optional[str]:
    return policy.media.get(target) or policy.media.get(snmp_targets.bare_address(target))


def media_of(server: Server, policy: Policy) -> str:
    """ "" where it is unknown."""
    given = media_by_policy(server.target, policy)
    if given:
        return given
    storage = server.storage
    if storage.product in storage_rules.BEFORE_FLASH:
        return storage_rules.HDD
    # The nodes of a cluster may be of several models.
    models = (storage.model or "").split(", ")
    if storage.product in storage_rules.FLASH_PRODUCTS or all(
        re.match(storage_rules.ALL_FLASH, model) for model in models
    ):
        return storage_rules.SSD
    return ""


def limits_of(media: str, policy: Policy) -> Limits:
    usual = _BY_MEDIA[media]
    warn = policy.space_warn or min(usual.warn, policy.space_critical or 100)
    text = usual.text
    if policy.space_warn or policy.space_critical:
        text = "storage_type_space_warn, storage_type_space_critical"
    return Limits(warn, max(warn, policy.space_critical or usual.critical), text)


def _judge_pools(
    pools: List[Volume], carved: List[Volume], limits: Limits, server: Server
) -> Tuple[str, List[str]]:
    """Status and reasons of what the disks themselves are measured by."""
    full = [one for one in pools if one.percent >= limits.warn]
    if not full:
        return PASS, []
    why = "{0} of {1} {2} at {3} percent or more ({4}).".format(
        len(full), len(pools), "are" if len(full) > 1 else "is", limits.warn, limits.text
    )
    critical = [one for one in full if one.percent >= limits.critical]
    # What stands unused in volumes is free as well, and only the filer knows in which aggregate.
    unused = sum(one.size * (1 - one.percent / 100.0) for one in carved if one.size)
    certain = []
    for one in critical:
        if one.kind == storage_rules.AGGREGATE:
            free = unused + (one.size or 0) * (1 - one.percent / 100.0)
            if one.size and free <= one.size * (1 - limits.critical / 100.0):
                certain.append(one)
        elif _is_mounted(one.name, server):
            certain.append(one)
    if certain:
        return FAIL, [why]
    if any(one.kind == storage_rules.AGGREGATE for one in full):
        why += " Thick volumes and LUNs make an aggregate look full, and what they do not use yet "
        why += "is free as well: check the filer (storage aggregate show-space)."
    return WARN, [why]


def _judge_volumes(volumes: List[Volume], media: str, server: Server, limit: int) -> List[str]:
    """Reasons for a warning about FlexVols; empty where there is none.

    A volume that is not mounted here counts as well: it may hold a LUN of this host.
    """
    mounted = [one for one in volumes if _is_mounted(one.name, server)]
    full = [one for one in volumes if one.percent >= limit]
    reasons = []
    here = [one for one in full if one in mounted]
    if here:
        reasons.append(
            f"{_names(here)} is mounted here and is at {limit} percent or more: a volume without "
            "room takes no new data."
        )
    elsewhere = [one for one in full if one not in mounted]
    if elsewhere:
        reasons.append(
            f"{_names(elsewhere)} is at {limit} percent or more and is not mounted here: it may "
            "hold a LUN of this host. A full volume slows sequential reads on disks, whatever "
            "is free in its aggregate. Space-reserved LUNs fill a volume by design: check the "
            "filer (lun show)."
        )
    slow = [one for one in mounted if one.percent >= _SANE_ON_DISKS and one not in full]
    if slow and media == storage_rules.HDD:
        reasons.append(
            f"{_names(slow)} is mounted here, is on disks and is at {_SANE_ON_DISKS} percent or "
            "more, where sequential reads were measured to slow down."
        )
    return reasons


def _names(volumes: List[Volume]) -> str:
    more = len(volumes) - 5
    return ", ".join(one.name for one in volumes[:5]) + (f" and {more} more" if more > 0 else "")


def _is_mounted(name: str, server: Server) -> bool:
    return any(_holds(name, export) for export in server.exports)


def _volume_text(volume: Volume) -> str:
    size = "" if volume.size is None else f" of {human(volume.size)}"
    return "{0} {1:.0f} percent{2}".format(volume.name or "(no name)", volume.percent, size)


def _of_interest(volumes: storage_health.Volumes, server: Server) -> List[Volume]:
    """Nothing full by design; of a machine's file systems those that hold what is mounted here.

    Where a filer's exports have other names than its file systems, the large ones count.
    """
    kept = [one for one in volumes.found if _counts(one.name, volumes, server)]
    if not volumes.generic:
        return kept
    holding = set()
    for export in server.exports:
        above = [one.name for one in kept if _holds(one.name, export)]
        if above:
            holding.add(max(above, key=len))
    if server.storage.role != storage_rules.SERVER and not holding - {"/"}:
        return [one for one in kept if one.size is None or one.size >= _SYSTEM_SIZE]
    return [one for one in kept if one.name in holding]


def _counts(name: str, volumes: storage_health.Volumes, server: Server) -> bool:
    """Not what is full by design.

    Of a machine's file systems without numbers only those count that hold a mount of this host. A
    pool, an aggregate or a volume without numbers may hold its data.
    """
    if _FULL_BY_DESIGN.search(name):
        return False
    return not (name in volumes.untold and volumes.generic) or _is_mounted(name, server)


def _holds(folder: str, path: str) -> bool:
    return folder.startswith("/") and (path + "/").startswith(folder.rstrip("/") + "/")
