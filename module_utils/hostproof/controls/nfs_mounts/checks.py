# Copyright: Hostproof contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the control nfs_mounts checks: most once for each mount, with its path before the title."""

from ...finding import Check

_NFS = "nfs(5)"
_NTAP = "NetApp, Oracle Database on ONTAP"
_LADBI = "Oracle Database Installation Guide for Linux"

MOUNTED = Check(
    "nfs_mounts.mounted",
    "The mount is there",
    "critical",
    "now",
    "A database that starts on an empty mount point writes into the root file system.",
    "nfs(5), bg: a mount that failed returns 0; " + _NTAP,
)
SAFE_TRANSPORT = Check(
    "nfs_mounts.safe_transport",
    "Hard mount over TCP",
    "critical",
    "remount",
    "soft returns an error to the database in the middle of a write, and UDP fragments can be put "
    "together wrongly: both corrupt files silently.",
    _NFS + ", soft/hard and Using NFS over UDP on high-speed links",
)
OPTIONS_IN_FORCE = Check(
    "nfs_mounts.options_in_force",
    "The kernel uses the options that the files need",
    "high",
    "remount",
    "What the kernel granted counts, not what fstab says.",
    _NTAP + ", NFS mount options; MOS 359515.1",
)
OPTIONS_PERSISTED = Check(
    "nfs_mounts.options_persisted",
    "The next boot mounts with the options that the files need",
    "high",
    "remount",
    "A mount made right by hand is wrong again after the next boot.",
    "fstab(5); systemd.mount(5); autofs(5); " + _NTAP + ", NFS mount options",
)
ONE_OWNER = Check(
    "nfs_mounts.one_owner",
    "Only one place mounts the path",
    "medium",
    "remount",
    "Where fstab, a unit and autofs name the same path, only one of them counts.",
    "systemd.mount(5), fstab; systemd.unit(5), unit file load path; auto.master(5)",
)
MOUNTED_AS_PERSISTED = Check(
    "nfs_mounts.mounted_as_persisted",
    "The mount was made with what is persisted now",
    "medium",
    "remount",
    "The file was changed after the mount was made; the change waits for an unmount and a mount.",
    _NFS + ", remount: NFS options of a mount do not change",
)
TRANSFER_SIZE = Check(
    "nfs_mounts.transfer_size",
    "The server grants the transfer size that was asked",
    "high",
    "remount",
    "A smaller rsize or wsize makes more and smaller requests; Oracle refuses less than 32 KiB "
    "(ORA-27054).",
    _NFS + ", rsize and wsize; " + _NTAP + ", NFS transfer sizes",
)
TRANSFER_SIZE_LOWERED = Check(
    "nfs_mounts.transfer_size_lowered",
    "The server's transfer size was not lowered under a mount",
    "critical",
    "remount",
    "A server whose maximum was lowered below what a mount uses can hang or corrupt that mount.",
    _NTAP + ", NFS transfer sizes",
)
SHARED_SUPERBLOCK = Check(
    "nfs_mounts.shared_superblock",
    "Mounts of one export do not take over the options of the first",
    "high",
    "remount",
    "The first mount of an export decides for all later ones: what they ask for is ignored.",
    _NFS + ", sharecache",
)
LOCKS_BETWEEN_CLIENTS = Check(
    "nfs_mounts.locks_between_clients",
    "Files that several hosts use are locked between them",
    "critical",
    "remount",
    "With local locks a second host can open the same database and corrupt it.",
    _NFS + ", lock/nolock, local_lock, cto/nocto; " + _NTAP,
)
LOCAL_LOCKS_ADVICE = Check(
    "nfs_mounts.local_locks_advice",
    "Local locks would do where only one host uses the files (advice)",
    "low",
    "remount",
    "Files of one host need no lock manager and no close-to-open check.",
    "M. Dawson, Performance Tuning: A Case Study, Sys Admin 2002; " + _NFS,
)
CACHING = Check(
    "nfs_mounts.caching",
    "Attributes are cached where coherence is not needed",
    "medium",
    "remount",
    "noac, sync and actimeo=0 make each write synchronous or each open ask the server: backups, "
    "homes and diagnostics get slow.",
    "MOS 359515.1: not for RMAN and Data Pump; " + _NTAP + ", ADR",
)
V4_LEASE = Check(
    "nfs_mounts.v4_lease",
    "NFSv4 leases outlive an outage of the server",
    "medium",
    "remount",
    "An NFSv4 outage longer than the lease loses locks (ORA-27072, Lock reclaim failed) and ends "
    "the instance; NFSv3 waits.",
    _NTAP + ", NFSv4 leases and grace periods",
)
NCONNECT = Check(
    "nfs_mounts.nconnect",
    "As many connections as were asked for",
    "low",
    "remount",
    "The first mount of a server decides how many connections all its mounts use.",
    _NFS + ", nconnect",
)
SLOT_TABLES_PERSISTED = Check(
    "nfs_mounts.slot_tables_persisted",
    "The next boot bounds the RPC slots",
    "medium",
    "reboot",
    "Without a bound the client sends up to 65536 requests at once and floods the server.",
    _NTAP + ", NFS TCP slot tables; SUSE 000019281",
)
SLOT_TABLES_RUNNING = Check(
    "nfs_mounts.slot_tables_running",
    "The RPC slots are bounded now",
    "medium",
    "remount",
    "New limits reach a server only after all its mounts are gone and made again.",
    _NTAP + ", NFS TCP slot tables; SUSE 000019281",
)
LATENCY = Check(
    "nfs_mounts.latency",
    "Reads and writes return in time",
    "high",
    "now",
    "Every wait of the database for a block includes this round trip.",
    "kernel net/sunrpc/stats.c; M. Dawson, Performance Tuning: A Case Study (30 ms)",
)
CLIENT_QUEUE = Check(
    "nfs_mounts.client_queue",
    "Requests do not wait in the client",
    "medium",
    "now",
    "Requests that wait longer for a slot of the client than for the server's answer need more "
    "slots or connections, not a faster server.",
    "nfsiostat(8); kernel net/sunrpc/stats.c",
)
RETRANSMISSIONS = Check(
    "nfs_mounts.retransmissions",
    "Nothing is sent twice",
    "high",
    "now",
    "A request that is sent again has waited for a timeout first.",
    "nfsstat(8); M. Dawson, Performance Tuning: A Case Study (2 % bad, 0.01 % good)",
)
DIRECT_NFS_LIBRARY = Check(
    "nfs_mounts.direct_nfs_library",
    "The ODM library is the one that the policy wants",
    "medium",
    "instance_restart",
    "Without its library linked in, Direct NFS is off whatever oranfstab says.",
    _LADBI + ", Enabling Direct NFS Client",
)
ORANFSTAB = Check(
    "nfs_mounts.oranfstab",
    "oranfstab is right",
    "high",
    "instance_restart",
    "A mistake in oranfstab hangs the start of the instance or silently falls back to the kernel's "
    "NFS.",
    _LADBI + ", Creating an oranfstab File; " + _NTAP + ", Direct NFS",
)
ORANFSTAB_ORDER = Check(
    "nfs_mounts.oranfstab_order",
    "Only one oranfstab counts",
    "medium",
    "instance_restart",
    "Only the first file of the search order is read; another one is changed in vain.",
    _LADBI + ", About Direct NFS Client: dbs/oranfstab, /etc/oranfstab, /etc/mtab",
)
DIRECT_NFS_IN_USE = Check(
    "nfs_mounts.direct_nfs_in_use",
    "The database really uses Direct NFS",
    "medium",
    "instance_restart",
    "Direct NFS falls back to the kernel's NFS without a word.",
    "Oracle Database Reference, V$DNFS_SERVERS and V$DNFS_CHANNELS",
)

#: In the order of the report.
CHECKS = (
    MOUNTED,
    SAFE_TRANSPORT,
    LOCKS_BETWEEN_CLIENTS,
    OPTIONS_IN_FORCE,
    OPTIONS_PERSISTED,
    ONE_OWNER,
    MOUNTED_AS_PERSISTED,
    TRANSFER_SIZE,
    TRANSFER_SIZE_LOWERED,
    SHARED_SUPERBLOCK,
    CACHING,
    V4_LEASE,
    NCONNECT,
    SLOT_TABLES_PERSISTED,
    SLOT_TABLES_RUNNING,
    LATENCY,
    CLIENT_QUEUE,
    RETRANSMISSIONS,
    DIRECT_NFS_LIBRARY,
    ORANFSTAB,
    ORANFSTAB_ORDER,
    DIRECT_NFS_IN_USE,
    LOCAL_LOCKS_ADVICE,
)
