"""Faults of NFS mounts as they happen on real hosts, all made on one machine at once.

Each has a mount of its own, so that its finding is about nothing else: what it does not name is as
the policy requires it.
"""

from typing import NamedTuple

from machines.machine import TOOLS
from nfs_lab import NfsLab

GOOD = "rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,wsize=262144"
RAC = GOOD + ",actimeo=0"

HOME = "/opt/oracle/home"


class Fault(NamedTuple):
    """A mount of the policy. ``asked`` is what it is mounted with, None if it is not mounted;
    ``persisted`` is what fstab says afterwards, if not the same.

    ``findings`` are check to status: all that is worse than a pass. ``fix`` and ``layer`` are of
    the first of them.
    """

    path: str
    source: str
    file_class: str
    asked: str | None
    findings: dict[str, str]
    layer: dict[str, str]
    fix: str
    persisted: str | None = None
    sharing: str = "single"
    version: str = "3"

    def wanted(self) -> dict[str, str]:
        """Its element of nfs_mounts_mounts."""
        return {
            "path": self.path,
            "source": self.source,
            "class": self.file_class,
            "sharing": self.sharing,
            "version": self.version,
        }

    def fstab_line(self) -> str:
        return f"{self.source} {self.path} nfs {self.persisted or self.asked} 0 0"


#: In the order in which they are mounted.
FAULTS = (
    Fault(
        "/f/lowered",
        "smallfiler:/vol/small",
        "backup",
        GOOD,
        {"transfer_size_lowered": "fail"},
        {"running": "wsize=262144"},
        "put the server's maximum back to 262144",
    ),
    Fault(
        "/f/small",
        "smallfiler:/vol/small",
        "backup",
        GOOD,
        {"transfer_size": "warn"},
        {"persisted": "262144", "running": "32768"},
        "raise the server's maximum",
    ),
    Fault(
        "/f/changed",
        "filer:/vol/oradata",
        "datafiles",
        GOOD,
        {"mounted_as_persisted": "warn"},
        {"persisted": "acregmax=120"},
        "umount /f/changed\nmount /f/changed",
        persisted=GOOD + ",acregmax=120",
    ),
    Fault(
        "/f/soft",
        "filer:/vol/oradata",
        "adr",
        GOOD.replace("hard", "soft"),
        {"safe_transport": "fail"},
        {"running": "soft"},
        "hard",
    ),
    Fault(
        "/f/cached",
        "filer:/vol/oradata",
        "datafiles",
        GOOD + ",acregmax=61",
        {"options_in_force": "fail", "options_persisted": "fail"},
        {"running": "acregmax=61"},
        "actimeo=0",
        sharing="rac",
    ),
    Fault(
        "/f/nolock",
        "filer:/vol/oradata",
        "datafiles",
        RAC + ",nolock",
        {"server_locks": "fail"},
        {"running": "nolock"},
        "set the options in /etc/fstab:",
        sharing="rac",
    ),
    Fault(
        "/f/nocto",
        "filer:/vol/oradata",
        "datafiles",
        GOOD + ",nocto",
        {"server_locks": "fail"},
        {"running": "nocto"},
        "set the options in /etc/fstab:",
        sharing="failover",
    ),
    Fault(
        "/f/noac",
        "filer:/vol/shared/backup",
        "backup",
        GOOD + ",noac",
        {"caching": "fail"},
        {"running": "noac"},
        "set the options in /etc/fstab:",
    ),
    Fault(
        "/f/first",
        "filer:/vol/redo",
        "backup",
        GOOD + ",retrans=5",
        {},
        {},
        "",
    ),
    Fault(
        "/f/second",
        "filer:/vol/redo",
        "backup",
        GOOD + ",retrans=2",
        {"shared_superblock": "fail", "mounted_as_persisted": "warn"},
        {"in_use": "/f/first"},
        "/f/first",
    ),
    Fault(
        "/f/connections",
        "filer:/vol/shared/home",
        "backup",
        GOOD + ",nconnect=4",
        {"nconnect": "warn"},
        {"persisted": "nconnect=4", "in_use": "1 connection"},
        "unmount all of them, then mount them with nconnect=4",
    ),
    Fault(
        "/f/version",
        "filer:/vol/shared/backup",
        "backup",
        GOOD.replace("vers=3", "vers=4.1"),
        {"options_persisted": "fail", "mounted_as_persisted": "warn"},
        {"persisted": "vers=3"},
        "vers=4.1",
        persisted=GOOD,
        version="4.1",
    ),
    Fault(
        "/f/lease",
        "filer:/vol/redo",
        "redo",
        GOOD.replace("vers=3", "vers=4.1"),
        {"v4_lease": "warn"},
        {"running": "4.1"},
        "version",
        version="any",
    ),
    Fault(
        "/f/unit",
        "filer:/vol/redo",
        "backup",
        None,
        {"single_source": "warn"},
        {"persisted": "/etc/systemd/system/f-unit.mount"},
        "remove it from: /etc/fstab:",
        persisted=GOOD,
    ),
    Fault(
        "/f/auto",
        "filer:/vol/redo",
        "backup",
        None,
        # Mounted by the automounter; at boot fstab is first.
        {"single_source": "warn", "mounted_as_persisted": "warn"},
        {"persisted": "/etc/auto.lab:1"},
        "remove it from: /etc/auto.lab:1",
        persisted=GOOD,
    ),
    Fault(
        "/f/missing",
        "filer:/vol/oradata",
        "datafiles",
        None,
        {"mounted": "fail"},
        {"in_use": "ora_dbw0_LAB1"},
        "stop the database now",
        persisted=GOOD,
    ),
)

#: Those that belong to no mount.
OF_THE_HOST = {
    "nfs_mounts.slot_tables_persisted": "fail",
    "nfs_mounts.slot_tables_running": "fail",
    f"{HOME}/dbs/oranfstab:4 nfs_mounts.oranfstab": "fail",
    f"{HOME} nfs_mounts.oranfstab_order": "warn",
}

ORANFSTAB = """\
server: filer
path: 10.9.0.2
export: /vol/oradata mount: /u02/oradata
nfs_verson: nfsv3
"""

UNIT = f"""\
[Mount]
What=filer:/vol/redo
Where=/f/unit
Type=nfs
Options={GOOD},acregmax=70
"""

SEEDED = {
    "/etc/systemd/system/f-unit.mount": UNIT,
    "/etc/auto.master.d/lab.autofs": "/- /etc/auto.lab\n",
    "/etc/auto.lab": f"/f/auto -fstype=nfs,{GOOD},acregmax=71 filer:/vol/redo\n",
    "/etc/oratab": f"LAB1:{HOME}:N\n",
    # Direct NFS is linked in as in 12.1 and later.
    f"{HOME}/lib/libnfsodm19.so": "STAND-IN\n",
    f"{HOME}/rdbms/lib/odm/libnfsodm19.so": "STAND-IN\n",
    f"{HOME}/dbs/oranfstab": ORANFSTAB,
    "/etc/oranfstab": ORANFSTAB.replace("verson", "version"),
}

#: What the small filer grants at most when this mount is made.
GRANTS = {"/f/lowered": 262144, "/f/small": 32768}

SAVED = "/root/saved"
#: sysctl.d counts too: a udev rule of nfs-utils applies it when the module is loaded.
SLOTS = {
    "modprobe": "/etc/modprobe.d/zz-hostproof-nfs_mounts.conf",
    "sysctl": "/etc/sysctl.d/99-zz-hostproof-nfs_mounts.conf",
}


def expected() -> dict[str, str]:
    """Every finding that is worse than a pass."""
    statuses = {
        f"{fault.path} nfs_mounts.{check}": status
        for fault in FAULTS
        for check, status in fault.findings.items()
    }
    return {**statuses, **OF_THE_HOST}


def seed(nfs: NfsLab) -> None:
    """Make every fault."""
    mounted = [fault for fault in FAULTS if fault.asked]
    commands = ["set -e", f"mkdir -p {SAVED} {HOME}/dbs {HOME}/lib {HOME}/rdbms/lib/odm"]
    commands += [f"mkdir -p {fault.path}" for fault in FAULTS]
    commands.append(f"cp -p /etc/fstab {SAVED}/fstab")
    commands += [f"mv {path} {SAVED}/{name}" for name, path in SLOTS.items()]
    for path, content in SEEDED.items():
        commands.append(f"cat > {path} <<'EOF'\n{content}EOF")
    for fault in mounted:
        if fault.path in GRANTS:
            commands.append(f"{TOOLS}/filer.py maximum smallfiler {GRANTS[fault.path]}")
        # Not by fstab, which says later what was asked.
        commands.append(f"mount -t nfs -o {fault.asked} {fault.source} {fault.path}")
    lines = "".join(fault.fstab_line() + "\n" for fault in FAULTS)
    commands += [
        f"cat >> /etc/fstab <<'EOF'\n\n{lines}EOF",
        "systemctl daemon-reload",
        "systemctl start f-unit.mount autofs",
        "ls /f/auto",
        "echo 65536 > /proc/sys/sunrpc/tcp_max_slot_table_entries",
        "chown oracle /f/missing",
    ]
    nfs.run("\n".join(commands))
    nfs.start_stand_in(
        "LAB1", "--process dbw0 --open /f/missing/users01.dbf", login="su - oracle -c"
    )


def heal(nfs: NfsLab) -> None:
    """Undo every fault."""
    nfs.stop_instance("LAB1")
    commands = ["systemctl stop autofs f-unit.mount", "umount /f/*", "set -e"]
    commands += [f"rm -rf /f {HOME} {' '.join(SEEDED)}", "rmdir /opt/oracle"]
    commands += [f"mv {SAVED}/{name} {path}" for name, path in SLOTS.items()]
    commands += [f"mv {SAVED}/fstab /etc/fstab", "systemctl daemon-reload"]
    commands.append("echo 128 > /proc/sys/sunrpc/tcp_max_slot_table_entries")
    nfs.run("\n".join(commands))


def wanted() -> list[dict[str, str]]:
    """The policy's list."""
    return [fault.wanted() for fault in FAULTS]
