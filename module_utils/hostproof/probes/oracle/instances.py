# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Oracle instances that run on a host, and where each one's SGA lies.

The process monitor of an instance (monitors.py) has every segment of the SGA mapped.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ...collect.answer import Answer, attempt, known
from ...collect.host import Host, Process
from ...errors import Absent, Unanswered
from ...parsers.kernel import numa_maps, proc_limits, proc_maps, proc_status, smaps, sysvipc_shm
from ..unix import accounts
from .monitors import PMON_KEY, monitors


class Segment(NamedTuple):
    """A SysV segment of an SGA: bytes, and the pages that pmon touched, by node."""

    shmid: Optional[int]
    size: int
    huge: bool
    node_pages: Dict[int, int]


class Instance(NamedTuple):
    """A running instance. What could not be read holds the error instead (answer.py)."""

    sid: str
    kind: str
    pid: int
    uid: int
    user: Answer[str]
    segments: Answer[List[Segment]]
    limits: Answer[Dict[str, proc_limits.Limit]]
    status: Answer[proc_status.ProcStatus]

    def evidence(self) -> Tuple[str, ...]:
        folder = f"file:/proc/{self.pid}/"
        return (PMON_KEY, folder + "maps", folder + "numa_maps")


def find_instances(host: Host) -> List[Instance]:
    """Every running instance by SID. Segments need root or the instance's own user."""
    return sorted(
        (_read_instance(host, process) for process in monitors(host)),
        key=lambda instance: instance.sid,
    )


def read_segments(host: Host) -> List[sysvipc_shm.ShmSegment]:
    """Every SysV shared memory segment of the host. Any account may read them."""
    return sysvipc_shm.parse(host.read_text("/proc/sysvipc/shm"))


class SgaPages(NamedTuple):
    """Bytes of an SGA by the pages that they are in; both 0 without a segment to check."""

    huge: int
    small: int


def sga_pages(segments: List[Segment], page: int) -> SgaPages:
    """Number of pages of an SGA that are huge pages of ``page`` bytes.

    Segments below a huge page always have ordinary pages: Oracle expects five such pages. A
    segment can be mapped in pieces, each smaller than a huge page.
    """
    whole: Dict[Optional[int], int] = {}
    for segment in segments:
        whole[segment.shmid] = whole.get(segment.shmid, 0) + segment.size
    counted = [item for item in segments if whole[item.shmid] >= page]
    return SgaPages(
        huge=sum(segment.size for segment in counted if segment.huge),
        small=sum(segment.size for segment in counted if not segment.huge),
    )


def _read_instance(host: Host, process: Process) -> Instance:
    folder = f"/proc/{process.pid}"
    return Instance(
        sid=process.argv0.split("_pmon_", 1)[1],
        kind=process.argv0.split("_", 1)[0],
        pid=process.pid,
        uid=process.uid,
        user=attempt(accounts.user_name, host, process.uid),
        segments=attempt(_read_sga, host, folder),
        limits=attempt(lambda: proc_limits.parse(host.read_text(folder + "/limits"))),
        status=attempt(lambda: proc_status.parse(host.read_text(folder + "/status"))),
    )


def _read_sga(host: Host, folder: str) -> List[Segment]:
    """Every SysV segment that a process has mapped.

    maps says where and how large, numa_maps whether huge. smaps costs most and is read only
    on kernels without numa_maps.
    """
    mapped = {
        area.start: area
        for area in proc_maps.parse(host.read_text(folder + "/maps"))
        if area.shmid is not None
    }
    text = attempt(host.read_text, folder + "/numa_maps")
    if isinstance(text, Absent):
        pages: Dict[int, Tuple[bool, Dict[int, int]]] = {
            segment.mapping.start: (segment.huge, {})
            for segment in smaps.parse(host.read_text(folder + "/smaps"))
        }
    else:
        pages = {
            area.start: (area.huge, dict(area.node_pages)) for area in numa_maps.parse(known(text))
        }
    if not set(mapped) <= set(pages):
        raise Unanswered("file:" + folder + "/maps", "the mappings changed while they were read")
    return [
        Segment(area.shmid, area.size, pages[start][0], pages[start][1])
        for start, area in sorted(mapped.items())
    ]
