# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""How files are on the disks of a filer, as it measured that itself and said so in its EMS."""

from typing import List, Tuple

from ...collect.answer import Answer, known
from ...errors import Unanswered
from ...evaluate.checking import Rules, Skip, Subjects, Verdict
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .parsers.ontap_ems import Layout
from .policy import NAME, FilerFile, Policy
from .rules_space import media_by_policy, media_of
from .snmp import snmp_targets, storage_rules

rules = Rules(NAME)

#: From here on a filer reallocates where it does so (the threshold of the messages that have one);
#: 3 is what it stated of a LUN that lay well.
_THRESHOLD = 4

_Log = Tuple[FilerFile, Answer[List[Layout]]]


def _logs(facts: Facts, _policy: Policy) -> List[_Log]:
    return facts.layouts


LOGS = Subjects(
    _logs,
    none="storage_type_ems_logs names no log of a filer.",
    name=lambda log: str(log[0].address),
    evidence=lambda log: ("file:" + log[0].file,),
)


@rules.check(
    "storage_type.layout",
    "Files on the filer are not fragmented",
    "Files on the filer are fragmented",
    severity="low",
    takes_effect="now",
    why="Full scans and backups are slow, because disk heads move all the time. Throughput of "
    "such reads was higher after read_realloc.",
    reference="WAFL performance VS sequential reads, part III (2011); NetApp Knowledge Base, "
    "wafl.reallocate.check.high",
    each=LOGS,
)
def layout(log: _Log, facts: Facts, policy: Policy) -> Verdict:
    entry, layouts = log[0], known(log[1])
    if not layouts:
        raise Skip(
            f"{entry.file} has no message wafl.reallocate.check: the filer measured nothing "
            "(reallocate measure -o VOLUME on 7-Mode, volume reallocation measure on ONTAP 9).",
            ["file:" + entry.file],
        )
    media = media_at(entry.address, facts, policy)
    if media == storage_rules.SSD:
        raise Skip("It is on flash, which has no seek time.", ["file:" + entry.file])
    bad = [one for one in layouts if is_fragmented(one)]
    told = ", ".join(_said(one) for one in (bad or layouts)[:5])
    if bad and not media:
        raise Unanswered(
            "file:" + entry.file,
            f"{told}: this only matters on disks, and storage_type_media does "
            f"not define the media of {entry.address}",
        )
    return Verdict(
        WARN if bad else PASS,
        why=f"The filer measured fragmentation: {told} (3 is good, up to 10)." if bad else None,
        fix="only where it is read sequentially (full scans, backups): read_realloc on its volume, "
        "or a reallocate in a quiet night; snapshots that are there keep their own copies",
        desired=f"below {_THRESHOLD}, or the threshold of the message, and no message of hot spots",
        running=told,
    )


def is_fragmented(one: Layout) -> bool:
    return one.high or one.value >= _threshold(one)


def _said(one: Layout) -> str:
    return f"{one.path} {one.value}" + (", high by its own message" if one.high else "")


def _threshold(one: Layout) -> int:
    return _THRESHOLD if one.threshold is None else one.threshold


def media_at(address: str, facts: Facts, policy: Policy) -> str:
    """ "" where it is unknown: no agent need have answered where the policy shows."""
    told = {
        media_of(server, policy)
        for server in facts.servers
        if address in (server.target, snmp_targets.bare_address(server.target))
    }
    if not told:
        return media_by_policy(address, policy) or ""
    # Several agents on one address, which may be of different media.
    return told.pop() if len(told) == 1 else ""
