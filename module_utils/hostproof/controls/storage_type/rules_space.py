# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of the free space of the storage. The limits depend on the media."""

import re
from typing import List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from ...collect.answer import known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, known_or_skip
from ...evaluate.finding import FAIL, PASS, WARN, worst
from ...parsers.size import human
from .facts import Facts, Server
from .parsers.ontap_console import Filled
from .policy import NAME, Policy
from .snmp import snmp_targets, storage_health, storage_rules
from .snmp.storage_health import Volume
from .subjects import SERVERS_AND_OUTPUTS, Output, health_of

rules: Rules[Facts, Policy] = Rules(NAME)

CAPACITY = (
    "NetApp, Oracle Database on ONTAP: capacity limits; WAFL performance VS sequential reads, part "
    "I (2011): FlexVol utilization"
)


class Limits(NamedTuple):
    """Use in percent at which a pool is a warning and a failure, and the origin of the limits."""

    warn: int
    critical: int
    text: str


#: NetApp, Oracle Database on ONTAP, capacity limits. Flash needs 10% free space and is not slower
#: before it is full. Disks need 15% and are slower below 10%. For unknown media, the warning limit
#: is that of disks and the failure limit that of flash, so a failure is right for both.
_BY_MEDIA = {
    storage_rules.SSD: Limits(90, 98, "flash"),
    storage_rules.HDD: Limits(85, 90, "disks"),
    "": Limits(85, 98, "media unknown: set storage_type_media"),
}


#: Use in percent at which a FlexVol is a warning if the policy sets no limit. The volume is full
#: even if its aggregate has free space.
_NO_ROOM = 98


#: Part I (2011), measured on 7-Mode with disks: below this use, sequential reads are not slower.
_SANE_ON_DISKS = 70


#: WAFL performance VS sequential reads, part III (2011): the filer measured the fragmentation, and
#: reads with read_realloc removed it. This applies to disks only, because flash has no seek time.
_FRAGMENTS = (
    "; if the volume is read sequentially (full scans, backups), measure its layout on the filer "
    "(reallocate measure -o VOLUME; EMS then reports wafl.reallocate.check.value, 3 is good), and "
    "consider read_realloc: on disks only, never on AFF"
)


_FULL_BY_DESIGN = re.compile(
    r"/\.?snapshot$|snap reserve$|^aggr0|^/vol/vol0/?$|[_-]root/?$", re.IGNORECASE
)


#: In bytes. A smaller file system of a server belongs to its operating system.
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
    each=SERVERS_AND_OUTPUTS,
    because_of=("storage_type.agent_answers",),
)
def space(subject: Union[Server, Output], facts: Facts, policy: Policy) -> Verdict:
    """By the agent of a server, or by the saved output of a filer."""
    if isinstance(subject, Server):
        return _space_of_server(subject, policy)
    return _space_of_output(subject, facts, policy)


def _space_of_server(server: Server, policy: Policy) -> Verdict:
    volumes = known_or_skip(health_of(server).volumes)
    shown = sorted(_of_interest(volumes, server), key=lambda volume: -volume.percent)
    unreported = [name for name in volumes.untold if _counts(name, volumes, server)]
    if not shown and not unreported:
        raise Skip("The agent does not report the volumes that are mounted on this host.")
    media = media_of(server, policy)
    limits = limits_of(media, policy)
    pools = [volume for volume in shown if volume.kind != storage_rules.FLEXIBLE]
    carved = [volume for volume in shown if volume.kind == storage_rules.FLEXIBLE]
    status, reasons = _judge_pools(pools, carved, limits, server)
    volume_limit = policy.space_warn_percent or _NO_ROOM
    volume_reasons = _judge_volumes(carved, media, server, volume_limit)
    if volume_reasons:
        status = worst([status, WARN])
    running = ", ".join(_volume_text(volume) for volume in shown[:5])
    if status == PASS:
        _require_use(bool(pools), unreported, running, volumes.evidence)
    return Verdict(
        status,
        why=" ".join(reasons + volume_reasons),
        advice=_advice(bool(reasons), bool(volume_reasons), media),
        desired="below {0} percent, {1} at most ({2})".format(*limits)
        + (f"; volumes below {volume_limit} percent" if carved else ""),
        running=running,
        values={"fullest": shown[0].percent if shown else None, "unit": "percent"},
        evidence=volumes.evidence,
    )


def _require_use(
    has_pools: bool, unreported: List[str], running: str, evidence: Tuple[str, ...]
) -> None:
    """Raise Unanswered or Skip where the agent does not report all that a pass needs."""
    if unreported:
        names = ", ".join(unreported[:5])
        raise Unanswered(evidence[0], f"the agent does not report the use of {names}")
    if not has_pools:
        why = f"The agent reports the use of volumes ({running}), but not of their aggregates."
        raise Skip(why, evidence)


def _advice(of_pools: bool, of_volumes: bool, media: str) -> Advice:
    steps = [Ask("add disks to the aggregate or pool, or move data away from it")] * of_pools
    if of_volumes:
        text = "enlarge the volume, if its aggregate or pool has space, or move data away from it"
        steps.append(Ask(text + (_FRAGMENTS if media == storage_rules.HDD else "")))
    return Advice(steps)


def _space_of_output(output: Output, facts: Facts, policy: Policy) -> Verdict:
    """The FlexVols of df -g or volume show. The aggregates are for storage_type.aggregates."""
    entry, console = output[0], known(output[1])
    key = "file:" + entry.file
    volumes = [one for one in console.filled if not _FULL_BY_DESIGN.search(one.name)]
    if not volumes:
        raise Skip(f"{entry.file} has no output of df -g or volume show.", [key])
    media = media_at(entry.address, facts, policy)
    limit = policy.space_warn_percent or (
        _NO_ROOM if media == storage_rules.SSD else _SANE_ON_DISKS
    )
    fullest = sorted(volumes, key=lambda volume: -volume.percent)
    full = [volume for volume in fullest if volume.percent >= limit]
    return Verdict(
        WARN if full else PASS,
        why=_why_full(full, limit, media) if full else None,
        advice=Advice(
            [
                Ask(
                    "enlarge {0}, move data away, or delete snapshots that are not needed any more"
                    "{1}".format(
                        ", ".join(volume.name for volume in full[:5]),
                        "" if media == storage_rules.SSD else _FRAGMENTS,
                    )
                )
            ]
        ),
        desired=f"volumes below {limit} percent",
        running=", ".join(use_text(volume) for volume in fullest[:5]),
        values={"fullest": fullest[0].percent, "unit": "percent"},
        evidence=[key],
    )


def _why_full(full: List[Filled], limit: int, media: str) -> str:
    why = f"{_names(full)} at {limit} percent or more."
    if media != storage_rules.SSD:
        on = "on disks" if media else "on disks (media unknown: set storage_type_media)"
        why += f" Sequential reads of a FlexVol {on} became slower above {_SANE_ON_DISKS} percent,"
        why += " and took more than twice as long near 100."
    if any(volume.percent >= _NO_ROOM for volume in full):
        why += " A full volume accepts no new data."
    return why


def use_text(filled: Filled) -> str:
    """An aggregate or volume of saved output, with its use."""
    of = f"{filled.used} of {filled.total}" if filled.used else f"of {filled.total}"
    return f"{filled.name} {filled.percent} % ({of})"


def media_at(address: str, facts: Facts, policy: Policy) -> str:
    """The media of the storage, "" if unknown. An entry of the policy needs no SNMP answer."""
    media = {
        media_of(server, policy)
        for server in facts.servers
        if address in (server.target, snmp_targets.bare_address(server.target))
    }
    if not media:
        return media_by_policy(address, policy) or ""
    # Several agents on one address may have different media.
    return media.pop() if len(media) == 1 else ""


def media_by_policy(target: str, policy: Policy) -> Optional[str]:
    return policy.media.get(target) or policy.media.get(snmp_targets.bare_address(target))


def media_of(server: Server, policy: Policy) -> str:
    """The media of the storage, "" if unknown."""
    configured = media_by_policy(server.target, policy)
    if configured:
        return configured
    storage = server.storage
    if storage.product in storage_rules.BEFORE_FLASH:
        return storage_rules.HDD
    # The nodes of a cluster may have different models.
    models = (storage.model or "").split(", ")
    if storage.product in storage_rules.FLASH_PRODUCTS or all(
        re.match(storage_rules.ALL_FLASH, model) for model in models
    ):
        return storage_rules.SSD
    return ""


def limits_of(media: str, policy: Policy) -> Limits:
    usual = _BY_MEDIA[media]
    warn = policy.space_warn_percent or min(usual.warn, policy.space_fail_percent or 100)
    text = usual.text
    if policy.space_warn_percent or policy.space_fail_percent:
        text = "storage_type_space_warn_percent, storage_type_space_fail_percent"
    return Limits(warn, max(warn, policy.space_fail_percent or usual.critical), text)


def _judge_pools(
    pools: List[Volume], carved: List[Volume], limits: Limits, server: Server
) -> Tuple[str, List[str]]:
    """Status and reasons of the aggregates and pools."""
    full = [pool for pool in pools if pool.percent >= limits.warn]
    if not full:
        return PASS, []
    why = "{0} of {1} {2} at {3} percent or more ({4}).".format(
        len(full), len(pools), "are" if len(full) > 1 else "is", limits.warn, limits.text
    )
    critical = [pool for pool in full if pool.percent >= limits.critical]
    # Unused space in volumes is also free, but only the filer knows the aggregate it belongs to.
    unused = sum(volume.size * (1 - volume.percent / 100.0) for volume in carved if volume.size)
    if any(_is_certain(pool, unused, limits, server) for pool in critical):
        return FAIL, [why]
    if any(pool.kind == storage_rules.AGGREGATE for pool in full):
        why += " Thick volumes and LUNs reserve space that they do not use yet, so the aggregate "
        why += "may have free space: check the filer (storage aggregate show-space)."
    return WARN, [why]


def _is_certain(pool: Volume, unused: float, limits: Limits, server: Server) -> bool:
    """Whether a pool that is shown as too full is, even with the unused space of its volumes."""
    if pool.kind != storage_rules.AGGREGATE:
        return _is_mounted(pool.name, server)
    size = pool.size or 0
    free = unused + size * (1 - pool.percent / 100.0)
    return size != 0 and free <= size * (1 - limits.critical / 100.0)


def _judge_volumes(volumes: List[Volume], media: str, server: Server, limit: int) -> List[str]:
    """Reasons for a warning about FlexVols.

    A volume that is not mounted on this host also counts, because it may contain a LUN of it.
    """
    mounted = [volume for volume in volumes if _is_mounted(volume.name, server)]
    full = [volume for volume in volumes if volume.percent >= limit]
    reasons = []
    here = [volume for volume in full if volume in mounted]
    if here:
        reasons.append(
            f"{_names(here)} is mounted here and is at {limit} percent or more: a full volume "
            "accepts no new data."
        )
    elsewhere = [volume for volume in full if volume not in mounted]
    if elsewhere:
        reasons.append(
            f"{_names(elsewhere)} is at {limit} percent or more and is not mounted here, but may "
            "contain a LUN of this host. A full volume on disks slows sequential reads, even if "
            "its aggregate has free space. Space-reserved LUNs fill a volume by design: check "
            "the filer (lun show)."
        )
    slow = [volume for volume in mounted if volume.percent >= _SANE_ON_DISKS and volume not in full]
    if slow and media == storage_rules.HDD:
        reasons.append(
            f"{_names(slow)} is mounted here, is on disks and is at {_SANE_ON_DISKS} percent or "
            "more: measurements show slower sequential reads at this use."
        )
    return reasons


def _names(volumes: Sequence[Union[Volume, Filled]]) -> str:
    more = len(volumes) - 5
    return ", ".join(volume.name for volume in volumes[:5]) + (
        f" and {more} more" if more > 0 else ""
    )


def _is_mounted(name: str, server: Server) -> bool:
    return any(_holds(name, export) for export in server.exports)


def _volume_text(volume: Volume) -> str:
    size = "" if volume.size is None else f" of {human(volume.size)}"
    return "{0} {1:.0f} percent{2}".format(volume.name or "(no name)", volume.percent, size)


def _of_interest(volumes: storage_health.Volumes, server: Server) -> List[Volume]:
    """The volumes to check: not those that are full by design.

    A server's file system counts only if this host mounts a directory of it. If the
    exports of a filer have other names than its file systems, the large file systems count.
    """
    kept = [volume for volume in volumes.found if _counts(volume.name, volumes, server)]
    pools = [volume for volume in volumes.found if volume.kind == storage_rules.AGGREGATE]
    if not volumes.untold and not any(volume in pools for volume in kept):
        kept += pools  # a small filer has one aggregate for its root and its data
    if not volumes.generic:
        return kept
    holding = _holding(kept, server)
    if server.storage.role != storage_rules.SERVER and not holding - {"/"}:
        return [volume for volume in kept if volume.size is None or volume.size >= _SYSTEM_SIZE]
    return [volume for volume in kept if volume.name in holding]


def _holding(volumes: List[Volume], server: Server) -> Set[str]:
    """The names of the volumes that have the directories which this host mounts."""
    holding = set()
    for export in server.exports:
        above = [volume.name for volume in volumes if _holds(volume.name, export)]
        if above:
            holding.add(max(above, key=len))
    return holding


def _counts(name: str, volumes: storage_health.Volumes, server: Server) -> bool:
    """Whether a volume must be checked. Volumes that are full by design are not, unless this host
    mounts them.

    A server's file system without reported use counts only if this host mounts a directory of it. A
    pool, aggregate or volume without reported use always counts, because it may contain its data.
    """
    if _FULL_BY_DESIGN.search(name) and not _is_mounted(name, server):
        return False
    return not (name in volumes.untold and volumes.generic) or _is_mounted(name, server)


def _holds(directory: str, path: str) -> bool:
    return directory.startswith("/") and (path + "/").startswith(directory.rstrip("/") + "/")
