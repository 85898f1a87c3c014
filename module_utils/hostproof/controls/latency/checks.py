# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control latency checks."""

from ...finding import Check
from ...latency.change_checks import CHANGE, FLEET_CHANGE, GATE

_IOSTATS = "kernel Documentation/admin-guide/iostats.rst"

DISK = Check(
    "latency.disk",
    "Disks answer within the limits",
    "high",
    "now",
    "A database waits for each block that it reads and each log write that it commits.",
    _IOSTATS + "; Oracle Database 2 Day + Performance Tuning Guide, Setting the DBIO_EXPECTED "
    "Parameter",
)
DISK_READ = Check(
    "latency.disk_read",
    "Reads of a file that only the disk can answer are within the limits",
    "high",
    "now",
    "This is what a server process waits for a block that is not in the buffer cache.",
    "open(2), O_DIRECT; Oracle Database 2 Day + Performance Tuning Guide, Setting the "
    "DBIO_EXPECTED Parameter",
)
HOST_GAP = Check(
    "latency.host_gap",
    "What the host adds to a read is small",
    "medium",
    "now",
    "A process that waits for a CPU makes a fast disk look slow: faster storage would not help.",
    _IOSTATS + ": the time of a request ends before the process that waits for it runs",
)
NFS = Check(
    "latency.nfs",
    "NFS mounts answer within the limits",
    "high",
    "now",
    "A database on NFS waits for the server as it would for a disk.",
    "kernel net/sunrpc/stats.c; nfsiostat(8), avg RTT and avg exe",
)
TCP = Check(
    "latency.tcp",
    "The network answers within the limits",
    "medium",
    "now",
    "Each call of a session and each synchronous redo shipment waits for a round trip.",
    "tcp(7), TCP_INFO; kernel Documentation/networking/timestamping.rst; Oracle Data Guard "
    "Concepts and Administration, Redo Transport Services",
)
SCHEDULING_DELAY = Check(
    "latency.scheduling_delay",
    "This host wakes up in time for an answer",
    "medium",
    "now",
    "An answer that lies in the kernel until the process runs is no fault of the network.",
    "kernel Documentation/networking/timestamping.rst; sched(7)",
)
DATABASE = Check(
    "latency.database",
    "Wait events of the reports are within the limits",
    "high",
    "now",
    "This is what the sessions themselves waited, storage, network and host together.",
    "Oracle Database Reference, Oracle Wait Events; My Oracle Support 1376916.1",
)
LOG_WRITE = Check(
    "latency.log_file_parallel_write",
    "'log file parallel write' is read for what it is",
    "medium",
    "now",
    "From 12.2 on a multitenant database times only what is left of a log write when it looks: an "
    "average of that says nothing of the disk, and a low one hides a slow log.",
    "F. Hoogland, Oracle wait event 'log file parallel write' change; Oracle "
    "Database Reference, log file parallel write",
)
BUDGET = Check(
    "latency.round_trip_budget",
    "The round trip leaves room for the transactions",
    "medium",
    "now",
    "A session that waits for each answer cannot do more than its round trips allow, however fast "
    "the server is.",
    "transactions a second of one session = 1 / (round trips * round trip time + think time)",
)
#: In the order of the report.
CHECKS = (
    DISK,
    DISK_READ,
    HOST_GAP,
    NFS,
    TCP,
    SCHEDULING_DELAY,
    DATABASE,
    LOG_WRITE,
    BUDGET,
    CHANGE,
    FLEET_CHANGE,
    GATE,
)
