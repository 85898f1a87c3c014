# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redo log members: the write latency of the devices and mounts below LGWR's open files."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import existing, known
from ...collect.measured import Measured
from ...evaluate.advice import Advice, Ask
from ...evaluate.checking import Rules, Skip, Verdict, verdict_or_error
from ...evaluate.finding import PASS, WARN
from ...latency.probe_list import DISK, NFS
from ...probes.oracle import io_writers
from .facts import EVIDENCE, PASSIVE_NAME, Facts, Member
from .figures import milliseconds
from .policy import NAME, Policy
from .subjects import IOSTATS, need_linux, need_window

rules: Rules[Facts, Policy] = Rules(NAME)

_KEYS = (EVIDENCE + PASSIVE_NAME,) + io_writers.KEYS
#: Two devices of one kind differ less than this. Our own limits.
_FACTOR = 2.0
_LEAST_US = 500.0
#: Number of members in a finding.
_SHOWN = 20


class _Timed(NamedTuple):
    """A member, its slowest place, and the median write there in microseconds."""

    path: str
    place: str
    write_us: float

    def __str__(self) -> str:
        return f"{self.path} on {self.place}: {milliseconds(self.write_us)}"


@rules.check(
    "latency.redo_members",
    "Redo log members have similar write latency",
    "A redo log member is slower than the others",
    severity="medium",
    takes_effect="now",
    why="LGWR waits for every member of a group. The slowest one sets the duration of a commit.",
    reference="Oracle Database Administrator's Guide, Multiplexing Redo Log Files; " + IOSTATS,
    because_of=("latency.disk", "latency.nfs"),
)
def redo_members(facts: Facts, policy: Policy) -> List[Verdict]:
    """One for each instance."""
    if not {DISK, NFS} & {probe.kind for probe in policy.probes}:
        raise Skip("latency_probes does not name disk or nfs.")
    need_linux(facts)
    need_window(policy)
    measured = existing(facts.passive)
    by_sid: Dict[str, List[Member]] = {}
    for member in known(facts.redo):
        by_sid.setdefault(member.sid, []).append(member)
    if not by_sid:
        raise Skip("No LGWR writes to redo log files. ASM does not show the disks of a member.")
    return [verdict_or_error(_judge, members, measured, of=sid) for sid, members in by_sid.items()]


def _judge(members: List[Member], measured: Measured) -> Verdict:
    writes = _writes(measured)
    entries = [_timed(member, writes) for member in members]
    timed = sorted(
        (entry for entry in entries if entry is not None), key=lambda entry: -entry.write_us
    )
    if not timed:
        raise Skip(f"No write latency was measured for {len(members)} redo log members.", _KEYS)
    slowest, fastest = timed[0], timed[-1]
    slower = slowest.write_us - fastest.write_us
    is_slow = slower > _LEAST_US and slowest.write_us > _FACTOR * fastest.write_us
    shown = [str(entry) for entry in timed[:_SHOWN]]
    if len(timed) > _SHOWN:
        shown.append(f"{len(timed) - _SHOWN} more")
    if len(timed) < len(members):
        shown.append(f"no write latency: {len(members) - len(timed)} members")
    return Verdict(
        WARN if is_slow else PASS,
        why=f"The slowest member is {slowest}. The fastest is {fastest}." if is_slow else None,
        advice=Advice(
            [
                Ask(
                    "move the slowest member to a device as fast as the others; the latency is "
                    "that of all writes to its device"
                )
            ]
        ),
        desired=f"at most {_FACTOR:g} times the fastest, or {milliseconds(_LEAST_US)} more",
        in_use="; ".join(shown),
        values={
            f"{entry.path} write_ms": round(entry.write_us / 1000.0, 3) for entry in timed[:_SHOWN]
        },
        evidence=_KEYS,
    )


def _writes(measured: Measured) -> Dict[str, float]:
    """The median write of each device and mount, in microseconds."""
    medians: Dict[str, float] = {}
    for window in measured.windows:
        if window.p50 is None:
            continue
        if window.probe == DISK and window.layer == "write":
            medians[window.subject] = window.p50
        elif window.probe == NFS and window.layer == "user":
            path, _, operation = window.subject.rpartition(" ")
            if operation == "WRITE":
                medians[path] = window.p50
    return medians


def _timed(member: Member, writes: Dict[str, float]) -> Optional[_Timed]:
    """None if one of its devices had too few writes, or the file system names no device."""
    places: Tuple[str, ...] = known(member.places)
    if not places or any(place not in writes for place in places):
        return None
    slowest = max(places, key=lambda place: writes[place])
    return _Timed(member.path, slowest, writes[slowest])
