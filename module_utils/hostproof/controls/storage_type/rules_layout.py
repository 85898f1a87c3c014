# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check of the fragmentation of files on a filer, from the measurements in its EMS log."""

from typing import List, Tuple

from ...collect.answer import Answer, known
from ...errors import Unanswered
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Subjects, Verdict
from ...evaluate.finding import PASS, WARN
from .facts import Facts
from .parsers.ontap_ems import Layout
from .policy import NAME, FilerFile, Policy
from .rules_space import media_at
from .snmp import storage_rules

rules: Rules[Facts, Policy] = Rules(NAME)

#: The default threshold of a filer for reallocation, as in messages with a threshold. A filer
#: reported 3 for a LUN without fragmentation.
_THRESHOLD = 4

_Log = Tuple[FilerFile, Answer[List[Layout]]]


def _logs(facts: Facts, _policy: Policy) -> List[_Log]:
    return facts.layouts


LOGS = Subjects(
    _logs,
    none="storage_type_ems_logs is empty.",
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
            f"{entry.file} has no message wafl.reallocate.check: the filer has not measured "
            "fragmentation (7-Mode: reallocate measure -o VOLUME; ONTAP 9: volume reallocation "
            "measure).",
            ["file:" + entry.file],
        )
    media = media_at(entry.address, facts, policy)
    if media == storage_rules.SSD:
        raise Skip("The filer uses flash, which has no seek time.", ["file:" + entry.file])
    bad = [reading for reading in layouts if is_fragmented(reading)]
    measured = ", ".join(_text(reading) for reading in (bad or layouts)[:5])
    if bad and not media:
        raise Unanswered(
            "file:" + entry.file,
            f"{measured}: this matters only on disks, and storage_type_media does "
            f"not define the media of {entry.address}",
        )
    return Verdict(
        WARN if bad else PASS,
        why=f"The filer measured fragmentation: {measured} (3 is good, 10 is worst)."
        if bad
        else None,
        advice=Advice(
            [
                Ask(
                    "only if the file is read sequentially (full scans, backups): set read_realloc "
                    "on its volume, or run reallocate at a time of low load; existing snapshots "
                    "keep their own copies"
                )
            ]
        ),
        desired=f"below {_THRESHOLD}, or the threshold of the message, and no message of hot spots",
        running=measured,
    )


def is_fragmented(reading: Layout) -> bool:
    return reading.high or reading.value >= _threshold(reading)


def _text(reading: Layout) -> str:
    return f"{reading.path} {reading.value}" + (", reported as high" if reading.high else "")


def _threshold(reading: Layout) -> int:
    return _THRESHOLD if reading.threshold is None else reading.threshold
