# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""/proc/self/mountstats: counters of the NFS client for each mount, since it was mounted.

Sources: kernel fs/proc_namespace.c, show_vfsstat(); fs/nfs/super.c, nfs_show_stats();
net/sunrpc/stats.c, rpc_clnt_show_stats() and rpc_count_iostats_metrics(); print_stats of
net/sunrpc/xprtsock.c and net/sunrpc/xprtrdma/transport.c. A busy host has half a million counters
here, so only those are read that a control checks."""

import re
from typing import Dict, List, Match, NamedTuple, Optional, Tuple

from ...errors import ParseError, kind_of
from ..mounts.mountinfo import unescape
from ..number import integer

_WHAT = "mountstats"
_DEVICE = re.compile(
    r"^(?:device (?P<source>.*?)|no device) mounted on (?P<path>.*?) with fstype (?P<fstype>\S+)"
    r"(?: statvers=\S+)? *$"
)
_RPC = re.compile(r"RPC iostats version: (\S+)  ?p/v: \d+/(\d+) ")
_NFS = ("nfs", "nfs4")
#: Columns that every kernel writes behind an operation; a ninth, errors, since Linux 5.3.
_COLUMNS = 8
#: Operations that are kept with all their counters.
NAMED = ("READ", "WRITE")
#: The kernel prints its sums as unsigned numbers. A sum below 0 (the clock was set back) is shown
#: as a number close to 2**64, which no counter reaches otherwise.
_UNDERFLOWN = 1 << 63


class Operation(NamedTuple):
    """Counters of one operation; times are milliseconds summed over the requests.

    ``transmissions`` exceed ``ops`` by what was sent again. ``queue_ms`` is the time until the
    last transmission began: it holds the wait before a retransmission too. ``errors`` is None
    on kernels that do not count them.
    """

    ops: int
    transmissions: int
    timeouts: int
    bytes_sent: int
    bytes_received: int
    queue_ms: int
    rtt_ms: int
    execute_ms: int
    errors: Optional[int]


class Transport(NamedTuple):
    """An xprt line: a connection, or a UDP socket. Mounts of one server share it.

    ``port`` is the port of the client, 0 if there is none. ``connects`` is the number of
    established connections, 0 for UDP. ``backlog`` is the sum, over all sends, of the requests that
    waited for a slot. ``max_slots`` is the maximum number of slots in use at the same time, None if
    it is not shown.
    """

    proto: str
    port: int
    connects: int
    sends: int
    receives: int
    bad_xids: int
    backlog: int
    max_slots: Optional[int]


class MountStats(NamedTuple):
    """The counters of one NFS mount. ``age`` is seconds, ``options`` those in force.

    ``version`` is that of the protocol ("3", "4"). ``named`` holds the operations of NAMED that
    this version has; ``counts`` requests, transmissions and timeouts of every operation that was
    ever used: what one operation sent again another one's unfinished requests must not hide.
    The lease is None unless the version is 4 and the kernel shows; seconds.
    """

    path: str
    source: str
    options: str
    age: int
    version: str
    transports: Tuple[Transport, ...]
    named: Dict[str, Operation]
    counts: Dict[str, Tuple[int, int, int]]
    lease_time: Optional[int]
    lease_expired: Optional[int]


def is_told(count: int) -> bool:
    """Whether a counter says anything: not where it fell below 0."""
    return 0 <= count < _UNDERFLOWN


def parse(text: str) -> Dict[str, MountStats]:
    """NFS mounts by path; one without counters is left out.

    Of mounts on one path the last counts, of whatever type it is.
    """
    readers: Dict[str, _Reader] = {}
    reader: Optional[_Reader] = None
    devices = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("\t") or line.startswith(" "):
            if reader is not None:
                reader.read(line, number)
        elif line:
            match = _DEVICE.match(line)
            if match is None:
                raise ParseError(_WHAT, f"{kind_of(line)} is not a mount", number)
            devices += 1
            path = unescape(match.group("path"))
            readers.pop(path, None)
            reader = None
            if match.group("fstype") in _NFS:
                reader = readers[path] = _Reader(path, match, number)
    if not devices:
        raise ParseError(_WHAT, "holds no mount")
    return {path: reader.finish() for path, reader in readers.items() if reader.has_counters()}


class _Reader:
    """Takes the lines of one mount."""

    def __init__(self, path: str, match: "Match[str]", number: int) -> None:
        self._path = path
        self._source = unescape(match.group("source") or "")
        self._number = number
        self._heads: Dict[str, str] = {}
        self._version = ""
        self._transports: List[Transport] = []
        self._in_operations = False
        self._named: Dict[str, Operation] = {}
        self._counts: Dict[str, Tuple[int, int, int]] = {}

    def read(self, line: str, number: int) -> None:
        try:
            if self._in_operations:
                # Most operations of a mount were never used.
                if ": 0 0 0 " not in line:
                    self._read_operation(line)
            else:
                self._read_head(line)
        except (IndexError, TypeError, ValueError):
            raise ParseError(_WHAT, f"{kind_of(line)} is not a line of counters", number) from None

    def _read_head(self, line: str) -> None:
        name, _, value = line.strip().partition(":")
        if name == "xprt":
            self._transports.append(_transport(value.split()))
        elif name == "RPC iostats version":
            match = _RPC.search(line)
            if match is None:
                raise ValueError(line)
            self._version = match.group(2)
        elif name == "per-op statistics":
            self._in_operations = True
        else:
            self._heads[name] = value.strip()

    def _read_operation(self, line: str) -> None:
        name, _, values = line.partition(":")
        name = name.strip()
        counts = values.split() if name in NAMED else values.split(None, 3)
        self._counts[name] = (integer(counts[0]), integer(counts[1]), integer(counts[2]))
        if name in NAMED:
            self._named[name] = _operation([integer(count) for count in counts])

    def has_counters(self) -> bool:
        return self._in_operations and bool(self._transports)

    def finish(self) -> MountStats:
        lease = dict(
            word.split("=", 1) for word in self._heads.get("nfsv4", "").split(",") if "=" in word
        )
        try:
            age = integer(self._heads["age"])
            times = [
                integer(lease[name]) if name in lease else None
                for name in ("lease_time", "lease_expired")
            ]
        except (KeyError, ValueError):
            raise ParseError(
                _WHAT, f"the NFS mount {self._path} has no age or lease", self._number
            ) from None
        return MountStats(
            path=self._path,
            source=self._source,
            options=self._heads.get("opts", ""),
            age=age,
            version=self._version,
            transports=tuple(self._transports),
            named=self._named,
            counts=self._counts,
            lease_time=times[0],
            lease_expired=times[1],
        )


#: Protocol to the places of port, connects, sends, receives, bad xids, backlog and max_slots.
_PLACES: Dict[str, Tuple[Optional[int], ...]] = {
    "udp": (0, None, 2, 3, 4, 6, 7),
    "tcp": (0, 2, 5, 6, 7, 9, 10),
    "rdma": (0, 2, 5, 6, 7, 9, None),
    "local": (None, 1, 4, 5, 6, 8, 9),
}


def _transport(words: List[str]) -> Transport:
    proto, counts = words[0], [integer(word) for word in words[1:]]
    if proto not in _PLACES:
        raise ValueError(proto)
    port, connects, sends, receives, bad_xids, backlog, max_slots = _PLACES[proto]
    if sends is None or receives is None:
        raise AssertionError
    if bad_xids is None or backlog is None:
        raise AssertionError
    return Transport(
        proto=proto,
        port=0 if port is None else counts[port],
        connects=0 if connects is None else counts[connects],
        sends=counts[sends],
        receives=counts[receives],
        bad_xids=counts[bad_xids],
        backlog=counts[backlog],
        # Kernels before 3.4 end the line with the backlog.
        max_slots=None if max_slots is None or max_slots >= len(counts) else counts[max_slots],
    )


def _operation(counts: List[int]) -> Operation:
    errors = counts[_COLUMNS] if len(counts) > _COLUMNS else None
    return Operation(*(counts[:_COLUMNS] + [errors]))  # type: ignore[arg-type]
