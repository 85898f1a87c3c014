"""The checks of nfs_mounts on mounts and options, in every status, each told as a host's story.

Those on the wire are in test_nfs_mounts_transport.py, those on Direct NFS in
test_nfs_mounts_direct_nfs.py.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import nfs_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.evaluate.finding import Finding, worst
from nfs_packs import NO_CACHE, OPTIONS, Did, NfsMachine, listed, nfs_host, ready_host, shown
from packs import Machine

RAC = listed(sharing="rac")
FAILOVER = listed(sharing="failover")
BACKUP = listed(**{"class": "backup"})
HOME = listed(**{"class": "oracle_home"})
DATABASE_FILE = "/u02/oradata/ORCL/system01.dbf"

#: The checks that are told elsewhere.
ELSEWHERE = {
    "shared_export",
    "nconnect",
    "latency",
    "client_queue",
    "retransmissions",
    "direct_nfs_library",
    "oranfstab",
    "oranfstab_order",
    "direct_nfs_in_use",
    "exec_and_suid",
}


def mount(shows: str | None = None, asks: str = OPTIONS, **how: Any) -> Callable[[], NfsMachine]:
    """A host whose fstab asks for /u02 one way and whose kernel shows it in another."""

    def tell() -> NfsMachine:
        machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", asks, shows, **how)
        return machine.database(DATABASE_FILE)

    return tell


def told(*steps: Callable[[NfsMachine], Any], ready: bool = True) -> Callable[[], NfsMachine]:
    """The host that is ready, or one without mounts, after some more steps."""

    def tell() -> NfsMachine:
        machine = ready_host() if ready else nfs_host()
        for step in steps:
            step(machine)
        return machine

    return tell


def instead(old: str, new: str, options: str = OPTIONS) -> str:
    assert old in options
    return options.replace(old, new)


def unmounted(machine: NfsMachine) -> None:
    machine.stop_instances()
    machine.unmount("/u02")


def without_fstab(machine: NfsMachine) -> None:
    machine.file(nfs_packs.FSTAB, "").remove(nfs_packs.unit_file("/u02"))


def clusterware(machine: NfsMachine) -> None:
    machine.process("/u01/app/grid/bin/crsd.bin", pid=99, uid=0)


def autofs(machine: NfsMachine, options: str = "-rw,hard,proto=tcp,timeo=600") -> None:
    machine.file("/etc/auto.master", "/- /etc/auto.oracle\n")
    machine.file("/etc/auto.oracle", f"/u02 {options} filer1:/vol/u02\n")
    machine.command("systemctl is-enabled autofs.service", "enabled\n")


def unit(machine: NfsMachine, options: str = OPTIONS) -> None:
    machine.file(
        "/etc/systemd/system/u02.mount",
        f"[Mount]\nWhat=filer1:/vol/u02\nWhere=/u02\nType=nfs\nOptions={options}\n"
        "[Install]\nWantedBy=remote-fs.target\n",
    )
    machine.file("/etc/systemd/system/remote-fs.target.wants/u02.mount", "")


def second_mount(
    shows: str, asks: str = OPTIONS, age: int = 60, **how: Any
) -> Callable[[NfsMachine], Any]:
    """Another mount of the same filer, a minute old."""
    return lambda machine: machine.persisted_mount(
        "/u03", "filer1:/vol/u03", asks, shows, did=Did(age=age), **how
    )


def then(
    host: Callable[[], NfsMachine], step: Callable[[NfsMachine], Any]
) -> Callable[[], NfsMachine]:
    """The same host after one more step."""

    def tell() -> NfsMachine:
        machine = host()
        step(machine)
        return machine

    return tell


class Story(NamedTuple):
    """``says`` are texts that the findings of the check must hold, in whatever field."""

    name: str
    host: Callable[[], Machine]
    policy: dict[str, Any]
    check: str
    status: str
    says: tuple[str, ...] = ()


MOUNTED = (
    Story("mounted: it is", mount(), listed(), "mounted", "pass", ("filer1:/vol/u02 on /u02",)),
    Story(
        "mounted: from the address of the server",
        mount(),
        listed(source=f"{nfs_packs.ADDRESS}:/vol/u02/"),
        "mounted",
        "pass",
    ),
    Story(
        "mounted: from a server of another name",
        mount(),
        listed(source="filer9:/vol/u02"),
        "mounted",
        "warn",
        ("comes from filer1", "filer9"),
    ),
    Story(
        "mounted: another export",
        mount(),
        listed(source="filer1:/vol/other"),
        "mounted",
        "fail",
        ("filer1:/vol/u02 is mounted here, not filer1:/vol/other",),
    ),
    Story(
        "mounted: listed, not there, and bg said nothing",
        told(unmounted),
        listed(),
        "mounted",
        "fail",
        ("Not mounted.", "bg", "mount /u02", "/etc/fstab:2", "no file is open or exists there"),
    ),
    Story(
        "mounted: a database writes into the root file system",
        told(unmounted, lambda machine: machine.database(DATABASE_FILE)),
        listed(),
        "mounted",
        "fail",
        ("ora_dbw0_ORCL (pid 2102) holds " + DATABASE_FILE, "stop the database now"),
    ),
    Story(
        "mounted: somebody else sits in the empty folder",
        told(unmounted, lambda machine: machine.process("/bin/bash", "/u02", pid=77)),
        listed(),
        "mounted",
        "fail",
        ("bash (pid 77) holds /u02", "stop these processes"),
    ),
    Story(
        "mounted: files lie beneath",
        told(
            unmounted,
            lambda machine: [machine.file(f"/u02/dump{number}.dmp", "") for number in range(5)],
        ),
        listed(),
        "mounted",
        "fail",
        ("dump0.dmp, dump1.dmp, dump2.dmp, ...", "which a mount hides"),
    ),
    Story(
        "mounted: there is not even a folder",
        told(unmounted, lambda machine: machine.folders.discard("/u02")),
        listed(),
        "mounted",
        "fail",
        ("there is no such directory", "mkdir -p /u02', 'mount /u02"),
    ),
    Story(
        "mounted: without root nobody knows what lies there",
        told(unmounted, lambda machine: machine.deny("/u02", "open_files:all")),
        listed(),
        "mounted",
        "fail",
        ("Open and existing files there are unknown",),
    ),
    Story(
        "mounted: nothing would mount it either",
        told(unmounted, without_fstab),
        listed(),
        "mounted",
        "fail",
        ("nothing mounts it at boot", "./hostproof apply"),
    ),
    Story(
        "mounted: a file of the mount beneath is no file of it",
        told(
            unmounted,
            lambda machine: machine.mount("/u02/arch", "filer1:/vol/arch"),
            lambda machine: machine.database("/u02/arch/1_77.arc"),
        ),
        listed(),
        "mounted",
        "fail",
        ("no file is open or exists there",),
    ),
    Story(
        "mounted: autofs will, when somebody looks",
        told(
            autofs,
            lambda machine: machine.other_mount("/u02", "autofs", "/etc/auto.oracle"),
            ready=False,
        ),
        listed(),
        "mounted",
        "skip",
        ("/etc/auto.oracle:1 mounts it on access",),
    ),
    Story(
        "mounted: systemd will, when somebody looks",
        told(
            lambda machine: machine.fstab("/u02", "filer1:/vol/u02", "hard,x-systemd.automount"),
            lambda machine: machine.other_mount("/u02", "autofs", "systemd-1"),
            ready=False,
        ),
        listed(),
        "mounted",
        "skip",
        ("/etc/fstab:2 mounts it on access",),
    ),
    Story("mounted: nothing of NFS here", nfs_host, {}, "mounted", "skip", ("No NFS mount here",)),
    Story(
        "mounted: nothing of Oracle on it",
        told(lambda machine: machine.mount("/home", "nas:/home"), ready=False),
        {},
        "mounted",
        "skip",
        ("/home", "nfs_mounts_mounts"),
    ),
)

SAFE = (
    Story("transport: hard over TCP", mount(), listed(), "safe_transport", "pass"),
    Story(
        "transport: soft",
        mount(shown(recovery="soft"), instead("hard", "soft")),
        listed(),
        "safe_transport",
        "fail",
        ("Mounted with soft", "/etc/fstab:2: soft", "hard"),
    ),
    Story(
        "transport: softerr",
        mount(shown(recovery="softerr")),
        listed(),
        "safe_transport",
        "fail",
    ),
    Story(
        "transport: UDP, and fstab is right already",
        mount(shown(proto="udp", timeo=11, retrans=3)),
        listed(),
        "safe_transport",
        "fail",
        ("proto=udp", "umount /u02', 'mount /u02", "nfs_mounts_allow_remount: true"),
    ),
    Story(
        "transport: fstab says soft, the mount was made right by hand",
        mount(asks=instead("hard", "soft")),
        listed(),
        "safe_transport",
        "fail",
        ("Persisted as /etc/fstab:2: soft", "set the options in /etc/fstab:2 to rw,bg,hard,"),
    ),
    Story(
        "transport: nfsmount.conf beats the hard of fstab",
        told(lambda machine: machine.file("/etc/nfsmount.conf", _SOFT_BY_DEFAULT)),
        listed(),
        "safe_transport",
        "fail",
        ("/etc/fstab:2 and nfsmount.conf: soft", "take soft out of /etc/nfsmount.conf"),
    ),
    Story(
        "transport: the policy itself asks for soft",
        mount(shown(recovery="soft"), instead("hard", "soft")),
        listed(options="soft"),
        "safe_transport",
        "warn",
    ),
    Story(
        "transport: RDMA is no UDP", mount(shown(proto="rdma")), listed(), "safe_transport", "pass"
    ),
    Story(
        "transport: not listed, and database files on it",
        told(
            lambda machine: machine.mount("/u09", "nas:/u09", shown(recovery="soft")),
            lambda machine: machine.database("/u09/users01.dbf", pid=9),
        ),
        listed(),
        "safe_transport",
        "fail",
        ("/u09: ", "a guess from what is open on it"),
    ),
    Story(
        "transport: not listed, and without root nobody knows what lies on it",
        told(
            lambda machine: machine.mount("/u09", "nas:/u09", shown(recovery="soft")),
            lambda machine: machine.deny("open_files:database"),
        ),
        listed(),
        "safe_transport",
        "error",
        ("--become",),
    ),
    Story("transport: nothing here", nfs_host, {}, "safe_transport", "skip"),
)
_SOFT_BY_DEFAULT = "[ NFSMount_Global_Options ]\nSoft=True\n"

LOCKS = (
    Story("locks: RAC with locks at the server", mount(), RAC, "server_locks", "pass"),
    Story(
        "locks: nolock under RAC",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        RAC,
        "server_locks",
        "fail",
        ("nolock", "corrupt"),
    ),
    Story(
        "locks: nolock after a failover",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        FAILOVER,
        "server_locks",
        "fail",
        ("for sharing failover",),
    ),
    Story(
        "locks: nocto under RAC",
        mount(shown(flags="nocto"), OPTIONS + ",nocto"),
        RAC,
        "server_locks",
        "fail",
        ("nocto",),
    ),
    Story(
        "locks: local_lock=flock under RAC",
        mount(shown(local_lock="flock"), OPTIONS + ",local_lock=flock"),
        RAC,
        "server_locks",
        "fail",
        ("local_lock=flock",),
    ),
    Story(
        "locks: only a reboot takes them away",
        mount(asks=OPTIONS + ",nolock"),
        RAC,
        "server_locks",
        "fail",
        ("Persisted as /etc/fstab:2: nolock",),
    ),
    Story(
        "locks: nolock has no effect on NFSv4",
        mount(shown("4.1"), instead("vers=3", "vers=4.1,nolock")),
        RAC,
        "server_locks",
        "pass",
    ),
    Story(
        "locks: the policy requires nolock, which it may not under RAC",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        listed(sharing="rac", options="nolock"),
        "server_locks",
        "fail",
    ),
    Story(
        "locks: of one host",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        listed(),
        "server_locks",
        "skip",
        ("Only one host",),
    ),
    Story(
        "locks: local ones where nobody says who uses the files",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        {},
        "server_locks",
        "warn",
        ("does not state whether other hosts", "nfs_mounts_sharing"),
    ),
    Story(
        "locks: at the server, and nobody says who uses the files",
        mount(),
        {},
        "server_locks",
        "skip",
    ),
    Story(
        "locks: voting files, whoever uses the rest",
        mount(shown(flags="nolock", local_lock="all")),
        listed(**{"class": "crs_voting"}),
        "server_locks",
        "fail",
    ),
    Story(
        "locks: Clusterware runs, so files are shared",
        told(
            lambda machine: machine.mount(
                "/u02", "filer1:/vol/u02", shown(flags="nolock", local_lock="all")
            ),
            clusterware,
        ),
        listed(sharing="auto"),
        "server_locks",
        "fail",
    ),
)

ADVICE = (
    Story(
        "advice: local locks would do",
        mount(),
        listed(),
        "local_locks_advice",
        "skip",
        ("Advice: ", "nolock,nocto", "options: nolock,nocto for this mount"),
    ),
    Story(
        "advice: taken",
        mount(shown(flags="nocto,nolock", local_lock="all"), OPTIONS + ",nolock,nocto"),
        listed(options="nolock,nocto"),
        "local_locks_advice",
        "pass",
    ),
    Story(
        "advice: half taken",
        mount(shown(flags="nocto")),
        listed(),
        "local_locks_advice",
        "skip",
        ("Advice: ", "nolock spares"),
    ),
    Story(
        "advice: not under RAC", mount(), RAC, "local_locks_advice", "skip", ("their locks stay",)
    ),
    Story(
        "advice: not where the use is a guess",
        mount(),
        listed(sharing="auto"),
        "local_locks_advice",
        "skip",
        ("No policy states",),
    ),
    Story("advice: not for a home", mount(), HOME, "local_locks_advice", "skip", ("opens little",)),
    Story(
        "advice: not for NFSv4",
        mount(shown("4.1")),
        listed(),
        "local_locks_advice",
        "skip",
        ("locks in the protocol",),
    ),
    Story("advice: not mounted", told(unmounted), listed(), "local_locks_advice", "skip"),
)

IN_FORCE = (
    Story("in force: as the table says", mount(), listed(), "options_in_force", "pass"),
    Story(
        "in force: mounted before fstab was changed",
        mount(shown(timeo=14)),
        listed(),
        "options_in_force",
        "fail",
        ("timeo=14", "timeo=600", "The next mount changes it", "umount /u02', 'mount /u02"),
    ),
    Story(
        "in force: fstab is wrong too",
        mount(shown(timeo=14), instead("timeo=600", "timeo=14")),
        listed(),
        "options_in_force",
        "fail",
        ("set the options in /etc/fstab:2 to", "with nfs_mounts_allow_remount: true"),
    ),
    Story(
        "in force: read-only",
        mount(shown(access="ro")),
        listed(),
        "options_in_force",
        "fail",
        ("Mounted with ro, wanted is rw",),
    ),
    Story(
        "in force: RAC without actimeo=0",
        mount(),
        RAC,
        "options_in_force",
        "fail",
        ("actimeo=0", "NetApp, Oracle Database on Linux"),
    ),
    Story(
        "in force: RAC with actimeo=0",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        RAC,
        "options_in_force",
        "pass",
    ),
    Story(
        "in force: RAC with noac, which is more",
        mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
        RAC,
        "options_in_force",
        "pass",
    ),
    Story(
        "in force: voting files without noac",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        listed(sharing="rac", **{"class": "crs_voting"}),
        "options_in_force",
        "fail",
        ("noac",),
    ),
    Story(
        "in force: the switch for a single instance",
        mount(),
        listed() | {"single_actimeo_zero": True},
        "options_in_force",
        "fail",
        ("actimeo=0", "MOS 359515.1"),
    ),
    Story(
        "in force: another version than the policy names",
        mount(),
        listed(version="4.1"),
        "options_in_force",
        "fail",
        ("vers=3", "vers=4.1"),
    ),
    Story(
        "in force: an option of the policy alone",
        mount(shown(timeo=300)),
        listed(options="timeo=300,acregmax=30"),
        "options_in_force",
        "fail",
        ("acregmax=60", "acregmax=30", "nfs_mounts_mounts"),
    ),
    Story(
        "in force: nolock by policy of a single instance",
        mount(),
        listed(options="nolock"),
        "options_in_force",
        "fail",
        ("nolock",),
    ),
    Story(
        "in force: of another mount's superblock, which must go too",
        told(
            lambda machine: machine.mount(
                "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
            ),
            second_mount(shown(timeo=300), superblock="0:45"),
        ),
        listed(),
        "options_in_force",
        "fail",
        (
            "as long as one of /u03 is mounted",
            "umount /u03', 'umount /u02', 'mount /u02', 'mount /u03",
        ),
    ),
    Story("in force: not mounted", told(unmounted), listed(), "options_in_force", "skip"),
    Story(
        "in force: guessed, and the finding says so",
        told(lambda machine: machine.mount("/u02", "filer1:/vol/u02", shown(timeo=14))),
        {},
        "options_in_force",
        "fail",
        ("Checked as datafiles with sharing single, a guess",),
    ),
)

PERSISTED = (
    Story("persisted: as the table says", mount(), listed(), "options_persisted", "pass"),
    Story(
        "persisted: other spellings of the same",
        mount(asks="bg,tcp,nfsvers=3,intr,rsize=262144,wsize=262144,_netdev"),
        listed(version="3"),
        "options_persisted",
        "pass",
    ),
    Story(
        "persisted: made right by hand, fstab is wrong",
        mount(asks=instead("timeo=600", "timeo=14")),
        listed(),
        "options_persisted",
        "fail",
        (
            "/etc/fstab:2: timeo=14",
            "wanted is timeo=600",
            "to rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,wsize=262144,nointr",
        ),
    ),
    Story(
        "persisted: small requests",
        mount(asks=instead("size=262144", "size=32768")),
        listed(),
        "options_persisted",
        "warn",
        ("rsize=32768,wsize=32768", "256.0 KiB"),
    ),
    Story(
        "persisted: sizes left to the server",
        mount(asks=instead(",rsize=262144,wsize=262144", "")),
        listed(),
        "options_persisted",
        "pass",
    ),
    Story(
        "persisted: a size that the policy means exactly",
        mount(asks=instead("rsize=262144", "rsize=1048576")),
        listed(options="rsize=262144"),
        "options_persisted",
        "fail",
    ),
    Story(
        "persisted: fg instead of bg delays a boot, no more",
        mount(asks=instead("bg", "fg")),
        listed(),
        "options_persisted",
        "warn",
        ("fg", "bg"),
    ),
    Story(
        "persisted: nothing does",
        told(without_fstab),
        listed(),
        "options_persisted",
        "fail",
        (
            "Nothing mounts it at the next reboot",
            "put 'filer1:/vol/u02 /u02 nfs rw,bg,hard,proto=tcp,timeo=600,"
            "rsize=262144,wsize=262144,vers=3 0 0' into /etc/fstab",
        ),
    ),
    Story(
        "persisted: nothing does, and nobody listed it",
        told(without_fstab),
        {},
        "options_persisted",
        "warn",
        ("Nothing mounts it at the next reboot",),
    ),
    Story(
        "persisted: noauto",
        mount(asks=OPTIONS + ",noauto"),
        listed(),
        "options_persisted",
        "fail",
        ("/etc/fstab:2 does not count at boot: noauto",),
    ),
    Story(
        "persisted: another export",
        mount(),
        listed(source="filer1:/vol/new"),
        "options_persisted",
        "fail",
        ("/etc/fstab:2 mounts filer1:/vol/u02, not filer1:/vol/new",),
    ),
    Story(
        "persisted: a blank in the options",
        mount(asks="rw,bg, hard,timeo=600"),
        listed(),
        "options_persisted",
        "fail",
        ("mount(8) rejects /etc/fstab:2", "six fields"),
    ),
    Story(
        "persisted: a line that is none",
        told(lambda machine: machine.file(nfs_packs.FSTAB, "filer1:/vol/u02 /u02\n")),
        listed(),
        "options_persisted",
        "fail",
        ("mount(8) rejects /etc/fstab:1", "Nothing mounts it"),
    ),
    Story(
        "persisted: by a mount unit",
        told(without_fstab, unit),
        listed(),
        "options_persisted",
        "pass",
        ("/etc/systemd/system/u02.mount",),
    ),
    Story(
        "persisted: a mount unit, wrong",
        told(without_fstab, lambda machine: unit(machine, instead("timeo=600", "timeo=7"))),
        listed(),
        "options_persisted",
        "fail",
        ("timeo=7", "systemctl daemon-reload"),
    ),
    Story(
        "persisted: a unit or a map needs no bg",
        told(without_fstab, lambda machine: unit(machine, instead("bg,", ""))),
        listed(),
        "options_persisted",
        "pass",
    ),
    Story(
        "persisted: by autofs",
        told(without_fstab, autofs),
        listed(),
        "options_persisted",
        "pass",
        ("/etc/auto.oracle:1",),
    ),
    Story(
        "persisted: autofs, wrong",
        told(without_fstab, lambda machine: autofs(machine, "-ro,hard")),
        listed(),
        "options_persisted",
        "fail",
        ("/etc/auto.oracle:1: ro", "systemctl reload autofs"),
    ),
    Story(
        "persisted: nfsmount.conf decides what fstab leaves open",
        told(
            lambda machine: machine.fstab("/u03", "filer1:/vol/u03", "bg"),
            lambda machine: machine.file(
                "/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\ntimeo=50\n"
            ),
        ),
        {"mounts": [nfs_packs.DATAFILES | {"path": "/u03", "source": "filer1:/vol/u03"}]},
        "options_persisted",
        "fail",
        ("timeo=50",),
    ),
    Story(
        "persisted: fstab may not be read",
        told(lambda machine: machine.deny(nfs_packs.FSTAB)),
        listed(),
        "options_persisted",
        "error",
        ("--become",),
    ),
)

OWNER = (
    Story("owner: one", mount(), listed(), "single_source", "pass"),
    Story(
        "owner: two lines, the first wins",
        told(lambda machine: machine.fstab("/u02", "filer1:/vol/u02", "soft")),
        listed(),
        "single_source",
        "warn",
        ("/etc/fstab:2 wins", "remove it from: /etc/fstab:3"),
    ),
    Story(
        "owner: a unit stands before fstab",
        told(unit),
        listed(),
        "single_source",
        "warn",
        ("/etc/systemd/system/u02.mount wins", "remove it from: /etc/fstab:2"),
    ),
    Story(
        "owner: fstab stands before autofs",
        told(autofs),
        listed(),
        "single_source",
        "warn",
        ("/etc/fstab:2 wins", "/etc/auto.oracle:1"),
    ),
    Story(
        "owner: systemd has not read the new fstab",
        told(
            without_fstab,
            lambda machine: machine.fstab("/u02", "filer1:/vol/u02"),
            lambda machine: machine.file(
                nfs_packs.FSTAB, f"filer1:/vol/u02 /u02 nfs {OPTIONS},nconnect=2 0 0\n"
            ),
        ),
        listed(),
        "single_source",
        "warn",
        ("systemctl daemon-reload",),
    ),
    Story("owner: nobody", told(without_fstab), listed(), "single_source", "skip"),
)

AS_PERSISTED = (
    Story("as persisted: it is", mount(), listed(), "mounted_as_persisted", "pass"),
    Story(
        "as persisted: spelt otherwise",
        mount(asks="bg,tcp,nfsvers=3,intr,hard,rsize=1048576,wsize=1048576,sec=sys,noauto,_netdev"),
        listed(),
        "mounted_as_persisted",
        "pass",
    ),
    Story(
        "as persisted: actimeo=0 is four limits",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        RAC,
        "mounted_as_persisted",
        "pass",
    ),
    Story(
        "as persisted: noac is sync too",
        mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
        RAC,
        "mounted_as_persisted",
        "pass",
    ),
    Story(
        "as persisted: nolock is local_lock=all",
        mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
        listed(),
        "mounted_as_persisted",
        "pass",
    ),
    Story(
        "as persisted: v4 is any minor version",
        mount(shown("4.2"), instead("vers=3", "vers=4")),
        listed(),
        "mounted_as_persisted",
        "pass",
    ),
    Story(
        "as persisted: both fulfil the policy and differ",
        mount(shown(retrans=5)),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("Mounted with retrans=5, but /etc/fstab:2 requests retrans=2",),
    ),
    Story(
        "as persisted: fstab was corrected since",
        mount(shown(recovery="soft")),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("soft", "hard", "umount /u02', 'mount /u02"),
    ),
    Story(
        "as persisted: another version",
        mount(shown("4.1"), OPTIONS),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("vers=4.1", "vers=3"),
    ),
    Story(
        "as persisted: larger requests than asked for are an older mount",
        mount(shown(rsize=1048576)),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("rsize=1048576",),
    ),
    Story(
        "as persisted: another security",
        mount(asks=OPTIONS + ",sec=krb5p"),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("sec=krb5p",),
    ),
    Story(
        "as persisted: another export",
        told(lambda machine: machine.mount("/u02", "filer1:/vol/old")),
        listed(),
        "mounted_as_persisted",
        "warn",
        ("Mounted is filer1:/vol/old, but /etc/fstab:2 names filer1:/vol/u02",),
    ),
    Story(
        "as persisted: not persisted", told(without_fstab), listed(), "mounted_as_persisted", "skip"
    ),
    Story("as persisted: not mounted", told(unmounted), listed(), "mounted_as_persisted", "skip"),
)

SIZES = (
    Story("size: granted", mount(), listed(), "transfer_size", "pass"),
    Story("size: more than wanted", mount(shown(rsize=1048576)), listed(), "transfer_size", "pass"),
    Story(
        "size: the server grants 32 KiB of 256",
        mount(shown(rsize=32768)),
        listed(),
        "transfer_size",
        "warn",
        (
            "rsize: 256.0 KiB asked, the server grants 32.0 KiB",
            "tcp-max-xfer-size 262144",
            "32 requests in place of 4",
            "SVM-wide",
        ),
    ),
    Story(
        "size: below what Oracle takes",
        mount(shown(rsize=262144, wsize=16384)),
        listed(),
        "transfer_size",
        "fail",
        ("wsize: 256.0 KiB asked, the server grants 16.0 KiB", "ORA-27054"),
    ),
    Story(
        "size: as small as it was requested",
        mount(shown(rsize=32768), instead("size=262144", "size=32768")),
        listed(),
        "transfer_size",
        "warn",
        ("rsize: mounted with 32.0 KiB, wanted is 256.0 KiB", "set the options in /etc/fstab:2"),
    ),
    Story(
        "size: more asked than needed, less granted",
        mount(shown(rsize=524288), instead("size=262144", "size=1048576")),
        listed(),
        "transfer_size",
        "warn",
        ("1.0 MiB asked, the server grants 512.0 KiB",),
    ),
    Story(
        "size: the mount is older than what is asked now",
        mount(shown(rsize=32768, timeo=300)),
        listed(),
        "transfer_size",
        "warn",
        ("rsize: mounted with 32.0 KiB, before 256.0 KiB was requested", "umount /u02', 'mount"),
    ),
    Story(
        "size: the server grants it to a younger mount",
        then(mount(shown(rsize=32768)), second_mount(shown())),
        listed(),
        "transfer_size",
        "warn",
        ("rsize: mounted with 32.0 KiB, before 256.0 KiB was requested", "umount /u02', 'mount"),
    ),
    Story(
        "size: the server granted it to an older mount",
        then(mount(shown(rsize=32768)), second_mount(shown(), age=99999)),
        listed(),
        "transfer_size",
        "warn",
        ("rsize: 256.0 KiB asked, the server grants 32.0 KiB",),
    ),
    Story(
        "size: the kernel rounds to pages",
        mount(shown(rsize=262144), instead("size=262144", "size=263168")),
        listed(),
        "transfer_size",
        "pass",
    ),
    Story(
        "size: the policy means it exactly",
        mount(shown(rsize=1048576)),
        listed(options="rsize=65536,wsize=65536"),
        "transfer_size",
        "fail",
        ("rsize: mounted with 1.0 MiB, wanted is 64.0 KiB",),
    ),
    Story("size: not mounted", told(unmounted), listed(), "transfer_size", "skip"),
)

LOWERED = (
    Story(
        "lowered: the only mount of its server",
        mount(),
        listed(),
        "transfer_size_lowered",
        "skip",
    ),
    Story(
        "lowered: a younger mount got as much",
        told(second_mount(shown())),
        listed(),
        "transfer_size_lowered",
        "pass",
        ("/u03 rsize=262144,wsize=262144",),
    ),
    Story(
        "lowered: a younger mount got less",
        told(second_mount(shown(rsize=65536))),
        listed(),
        "transfer_size_lowered",
        "fail",
        (
            "/u03 requested as much rsize and got 64.0 KiB, this one has 256.0 KiB",
            "it is 86340 s younger",
        ),
    ),
    Story(
        "lowered: an older mount got less: the server was raised",
        told(second_mount(shown(rsize=65536), age=99999)),
        listed(),
        "transfer_size_lowered",
        "pass",
    ),
    Story(
        "lowered: which is older is not known",
        told(second_mount(shown(rsize=65536))),
        listed() | {"window_seconds": 0},
        "transfer_size_lowered",
        "warn",
        ("which of the two is older is not known",),
    ),
    Story(
        "lowered: a younger mount asked for less",
        told(second_mount(shown(rsize=65536), instead("size=262144", "size=65536"))),
        listed(),
        "transfer_size_lowered",
        "pass",
    ),
    Story(
        "lowered: another server",
        told(second_mount(shown(rsize=65536, address="10.0.0.6"))),
        listed(),
        "transfer_size_lowered",
        "skip",
    ),
    Story(
        "lowered: another version has its own limit",
        told(second_mount(shown("4.1", rsize=65536), instead("vers=3", "vers=4.1"))),
        listed(),
        "transfer_size_lowered",
        "skip",
    ),
    Story(
        "lowered: the same superblock is the same mount",
        told(second_mount(shown(), superblock="0:45")),
        listed(),
        "transfer_size_lowered",
        "skip",
    ),
    Story("lowered: not mounted", told(unmounted), listed(), "transfer_size_lowered", "skip"),
)

SUPERBLOCK = (
    Story("superblock: its own", mount(), listed(), "shared_superblock", "pass"),
    Story(
        "superblock: shared, and asked alike",
        told(second_mount(shown(), superblock="0:45")),
        listed(),
        "shared_superblock",
        "pass",
        ("shared with /u03",),
    ),
    Story(
        "superblock: the first mount's timeo",
        told(
            lambda machine: machine.mount(
                "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
            ),
            second_mount(shown(timeo=300), instead("timeo=600", "timeo=300"), superblock="0:45"),
        ),
        listed(),
        "shared_superblock",
        "fail",
        ("/u03", "timeo=300", "/etc/fstab:2 requests timeo=600", "unmount all of them"),
    ),
    Story(
        "superblock: this one was first",
        told(second_mount(shown(), instead("timeo=600", "timeo=300"), superblock="0:45")),
        listed(),
        "shared_superblock",
        "pass",
    ),
    Story(
        "superblock: of a mount that was made by hand",
        told(
            lambda machine: machine.mount(
                "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
            ),
            lambda machine: machine.mount(
                "/u03", "filer1:/vol/u03", shown(timeo=300), superblock="0:45"
            ),
        ),
        listed(),
        "shared_superblock",
        "fail",
    ),
    Story(
        "superblock: both are older than fstab",
        told(
            lambda machine: machine.mount(
                "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
            ),
            second_mount(shown(timeo=300), superblock="0:45"),
        ),
        listed(),
        "shared_superblock",
        "pass",
    ),
    Story("superblock: not mounted", told(unmounted), listed(), "shared_superblock", "skip"),
)

CACHING = (
    Story("caching: on", mount(), BACKUP, "caching", "pass"),
    Story(
        "caching: noac on backups",
        mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
        BACKUP,
        "caching",
        "fail",
        ("noac", "MOS 359515.1", "to rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,"),
    ),
    Story(
        "caching: the next reboot switches it off for backups",
        mount(asks=OPTIONS + ",actimeo=0"),
        BACKUP,
        "caching",
        "fail",
        ("Persisted as /etc/fstab:2: actimeo=0",),
    ),
    Story(
        "caching: actimeo=0 on a home of one host",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        HOME,
        "caching",
        "warn",
        ("actimeo=0",),
    ),
    Story(
        "caching: noac on the diagnostics",
        mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
        listed(**{"class": "adr"}),
        "caching",
        "warn",
        ("nfs_mounts_adr_actimeo_zero",),
    ),
    Story(
        "caching: actimeo=0 on a single instance, where the sources disagree",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        listed(),
        "caching",
        "warn",
        ("nfs_mounts_single_actimeo_zero is false",),
    ),
    Story(
        "caching: the same where the policy follows the other source",
        mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
        listed() | {"single_actimeo_zero": True},
        "caching",
        "skip",
    ),
    Story(
        "caching: sync on backups",
        mount(shown().replace("rw,", "rw,sync,"), OPTIONS + ",sync"),
        BACKUP,
        "caching",
        "fail",
        ("sync",),
    ),
    Story("caching: RAC needs it off", mount(), RAC, "caching", "skip", ("share these files",)),
    Story(
        "caching: the policy requires noac",
        mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
        listed(options="noac", **{"class": "backup"}),
        "caching",
        "skip",
    ),
)

V4 = instead("vers=3", "vers=4.1")
LEASE = (
    Story("lease: none with v3", mount(), listed(), "v4_lease", "skip", ("NFSv3 has no leases",)),
    Story(
        "lease: v4.1 that nobody decided",
        mount(shown("4.1"), V4),
        listed(),
        "v4_lease",
        "warn",
        ("ORA-27072", "NFSv4.1 and a lease of 90 s", "nfs_mounts_version"),
    ),
    Story(
        "lease: v4.1 by policy",
        mount(shown("4.1"), V4),
        listed(version="4.1"),
        "v4_lease",
        "pass",
        ("lease of 90 s",),
    ),
    Story(
        "lease: ran out",
        mount(shown("4.1"), V4, did=Did(lease_expired=40)),
        listed(version="4.1"),
        "v4_lease",
        "fail",
        ("ran out 40 s ago",),
    ),
    Story(
        "lease: no locks on backups",
        mount(shown("4.2")),
        BACKUP,
        "v4_lease",
        "skip",
    ),
    Story(
        "lease: not watched",
        mount(shown("4.1"), V4),
        listed() | {"window_seconds": 0},
        "v4_lease",
        "warn",
    ),
    Story(
        "lease: not mounted, but a reboot takes v4",
        told(
            unmounted,
            without_fstab,
            lambda machine: machine.fstab("/u02", "filer1:/vol/u02", V4),
        ),
        listed(),
        "v4_lease",
        "warn",
    ),
    Story(
        "lease: not mounted, and the version is open",
        told(unmounted, without_fstab, lambda machine: machine.fstab("/u02", "f:/v", "bg")),
        listed(),
        "v4_lease",
        "skip",
    ),
)

SLOTS = (
    Story("slots: persisted", mount(), listed(), "slot_tables_persisted", "pass"),
    Story(
        "slots: nobody bounds them",
        told(lambda machine: machine.slots(128, None)),
        listed(),
        "slot_tables_persisted",
        "fail",
        ("tcp_max_slot_table_entries is 65536, not 128", "options sunrpc", "the kernel's default"),
    ),
    Story(
        "slots: too many at boot",
        told(lambda machine: machine.slots(128, 256)),
        listed(),
        "slot_tables_persisted",
        "fail",
        ("256",),
    ),
    Story(
        "slots: fewer than wanted",
        told(lambda machine: machine.slots(128, 64)),
        listed(),
        "slot_tables_persisted",
        "warn",
        ("is 64, not 128",),
    ),
    Story(
        "slots: a later file wins",
        told(
            lambda machine: machine.file(
                "/etc/modprobe.d/zzz.conf", "options sunrpc tcp_max_slot_table_entries=65536\n"
            )
        ),
        listed(),
        "slot_tables_persisted",
        "fail",
        ("/etc/modprobe.d/zzz.conf:1", "apply is blocked.", "comes later; remove that"),
    ),
    Story(
        "slots: rc.local sets another limit, which is not the kernel's default",
        told(
            lambda machine: machine.slots(128, 128),
            lambda machine: machine.file(
                "/etc/rc.local", "#!/bin/sh\nsysctl -w sunrpc.tcp_max_slot_table_entries=9\n", 0o755
            ),
        ),
        listed(),
        "slot_tables_persisted",
        "error",
        ("/etc/rc.local:2 may set sunrpc.tcp_max_slot_table_entries to 9",),
    ),
    Story(
        "slots: the other places with commands of the boot cannot be searched",
        told(
            lambda machine: machine.slots(128, 128),
            lambda machine: machine.deny("lines:boot"),
        ),
        listed(),
        "slot_tables_persisted",
        "error",
    ),
    Story(
        "slots: a parameter with which the module is not loaded",
        told(
            lambda machine: machine.file(
                "/etc/modprobe.d/zzz.conf", "options sunrpc tcp_max_slot_table_entries=0128\n"
            )
        ),
        listed(),
        "slot_tables_persisted",
        "error",
        ("with which the kernel does not load sunrpc",),
    ),
    Story(
        "slots: in sysctl.d alone, which nothing applies once the module is there",
        told(
            lambda machine: machine.slots(128, None),
            lambda machine: machine.file(
                "/etc/sysctl.d/nfs.conf", "sunrpc.tcp_max_slot_table_entries = 128\n"
            ),
        ),
        listed(),
        "slot_tables_persisted",
        "fail",
        ("/etc/sysctl.d/nfs.conf:1", "nothing applies it"),
    ),
    Story(
        "slots: not managed",
        mount(),
        listed() | {"slot_table_entries": 0},
        "slot_tables_persisted",
        "skip",
    ),
    Story("slots: no NFS", nfs_host, {}, "slot_tables_persisted", "skip"),
    Story("slots: in the kernel", mount(), listed(), "slot_tables_running", "pass"),
    Story(
        "slots: unbounded in the kernel",
        told(lambda machine: machine.slots(65536, 128)),
        listed(),
        "slot_tables_running",
        "fail",
        (
            "sunrpc.tcp_max_slot_table_entries = 128",
            "stop what uses the mounts of filer1, unmount all of them",
        ),
    ),
    Story(
        "slots: fewer in the kernel",
        told(lambda machine: machine.slots(16, 128)),
        listed(),
        "slot_tables_running",
        "warn",
    ),
    Story(
        "slots: mounted before the limit",
        mount(did=Did(max_slots=4000)),
        listed(),
        "slot_tables_running",
        "fail",
        ("/u02 has used 4000",),
    ),
    Story(
        "slots: the module is not loaded",
        told(unmounted, lambda machine: machine.slots(None, 128)),
        listed(),
        "slot_tables_running",
        "skip",
    ),
    Story(
        "slots: may not be read",
        told(lambda machine: machine.deny(nfs_packs.MAX_SLOTS)),
        listed(),
        "slot_tables_running",
        "error",
    ),
    Story(
        "slots: one limit may not be read and the other is too high",
        told(
            lambda machine: machine.slots(65536, 128),
            lambda machine: machine.deny(nfs_packs.SLOTS),
        ),
        listed(),
        "slot_tables_running",
        "fail",
        ("Not known: sunrpc.tcp_slot_table_entries",),
    ),
    Story(
        "slots: too high, and the traffic is unknown",
        told(
            lambda machine: machine.slots(65536, 128),
            lambda machine: machine.deny("/proc/self/mountstats"),
        ),
        listed(),
        "slot_tables_running",
        "fail",
    ),
    Story(
        "slots: unmanaged in the kernel",
        told(lambda machine: machine.slots(65536, 128)),
        listed() | {"slot_table_entries": 0},
        "slot_tables_running",
        "skip",
    ),
)

STORIES = (
    *MOUNTED,
    *SAFE,
    *LOCKS,
    *ADVICE,
    *IN_FORCE,
    *PERSISTED,
    *OWNER,
    *AS_PERSISTED,
    *SIZES,
    *LOWERED,
    *SUPERBLOCK,
    *CACHING,
    *LEASE,
    *SLOTS,
)


@pytest.fixture
def judge(findings_by_rules) -> Callable[..., dict[str, list[Finding]]]:
    """judge(host, **policy): findings by check, each as the schema says."""
    return lambda host, **changes: findings_by_rules(
        nfs_mounts, host, nfs_packs.nfs_policy(**changes)
    )


def local_only(value: str) -> Callable[[NfsMachine], Any]:
    return lambda machine: machine.file("/etc/oracle/olr.loc", f"local_only={value}\n")


#: The readings that identify a node of a cluster, and whether its files may be cached then.
SIGNS = {
    "nothing": ([], {}, None),
    "Oracle Restart": (
        [lambda machine: machine.process("/u01/app/grid/bin/ocssd.bin", pid=99, uid=0)],
        {},
        None,
    ),
    "crsd": ([clusterware], {}, False),
    "RAC instance": ([lambda machine: machine.process("ora_lmon_ORCL1", pid=98)], {}, False),
    "local_only=FALSE": ([local_only("FALSE")], {}, False),
    "RAC profile": ([], {"profile": "rac_nfs"}, False),
    "RAC profile of a release": ([], {"profile": "oracle_19c_rac"}, False),
    "local_only=TRUE": ([local_only("TRUE")], {}, True),
    "single profile": ([], {"profile": "oracle_19c_single"}, True),
    "stated": ([], {"sharing": "single"}, True),
    "profile, and the stack shows more": ([clusterware], {"profile": "oracle_19c_single"}, False),
}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    ("asks", "shows"),
    [
        (OPTIONS + ",actimeo=0", shown(cache=NO_CACHE)),
        (OPTIONS.replace("262144", "32768") + ",actimeo=0", shown(rsize=32768, cache=NO_CACHE)),
        (OPTIONS.replace("hard", "soft") + ",noac", shown(recovery="soft", flags="noac")),
    ],
)
def test_cache_stays_off_where_other_hosts_can_share_the_files(judge, sign, asks, shows):
    steps, policy, may_cache = SIGNS[sign]
    machine = mount(shows, asks)()
    for step in steps:
        step(machine)
    findings = judge(machine, **policy)
    status = {True: "warn", None: "warn", False: "skip"}[may_cache]
    assert [one.status for one in findings["caching"]] == [status]
    if may_cache is None:
        assert str(findings["caching"][0].fix).startswith("state who uses the files, and keep")
        assert findings["caching"][0].commands == ()
    for finding in (one for some in findings.values() for one in some if one.fix):
        option = "noac" if "noac" in asks else "actimeo=0"
        set_to = (
            finding.fix.partition("set the options in /etc/fstab:2 to ")[2]
            .partition(" ")[0]
            .rstrip(":;")
        )
        assert may_cache or not set_to or option in set_to.split(","), finding.fix


#: The mounts that the policy does not list are found where they are open and in /etc/fstab.
@pytest.mark.parametrize(
    ("check", "host", "place"),
    [
        ("safe_transport", {"recovery": "soft"}, "/etc/fstab"),
        ("safe_transport", {"proto": "udp"}, nfs_packs.unit_file("/u02")),
        ("options_in_force", {"timeo": 7}, "/etc/fstab"),
        ("transfer_size", {"rsize": 16384}, "/etc/fstab"),
        ("server_locks", {"flags": "nolock", "local_lock": "all"}, "/etc/fstab"),
    ],
)
def test_unknown_fstab_hides_no_mount_of_now(judge, check, host, place):
    before = judge(mount(shown(**host))())[check]
    after = judge(mount(shown(**host))().deny(place))[check]
    assert {finding.status for finding in before} <= {"fail", "warn"}
    assert [finding.status for finding in after if finding.title.startswith("/u02")] == [
        finding.status for finding in before
    ]
    unknown = [one.status for one in after if one.title.startswith("Mounts after a reboot")]
    if check in ("safe_transport", "options_in_force"):
        # A new mount has the options of the place that is not known.
        fixes = [str(one.fix) for one in after if one.status == "fail"]
        assert all("find the place that mounts /u02 at boot" in fix for fix in fixes)
    # Only what is mounted has a size.
    assert unknown == ([] if check == "transfer_size" else ["error"])


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story(judge, story):
    findings = judge(story.host(), **story.policy)[story.check]
    assert worst([finding.status for finding in findings]) == story.status, findings
    text = "\n".join(str(value) for finding in findings for value in finding)
    for told_text in story.says:
        assert told_text in text, text
    for finding in findings:
        assert finding.status in ("pass", "skip", "error") or finding.fix
        assert not finding.why.startswith(" ")
        assert "  " not in finding.why
        assert ".." not in finding.why.replace("...", "")


def test_names_of_stories_differ():
    assert len({story.name for story in STORIES}) == len(STORIES)


def test_every_check_is_told_passing_and_not_passing():
    statuses: dict[str, set[str]] = {}
    for story in STORIES:
        statuses.setdefault(story.check, set()).add(story.status)
    known = {check.id.removeprefix("nfs_mounts.") for check in nfs_mounts.checks}
    assert set(statuses) == known - ELSEWHERE
    assert [check for check, seen in statuses.items() if "pass" not in seen] == []
    assert [check for check, seen in statuses.items() if len(seen) < 2] == []


AIX_STANZA = """/u02/oradata:
\tdev\t\t= "/vol/oradata"
\tvfs\t\t= nfs
\tnodename\t= filer1
\tmount\t\t= true
\toptions\t\t= {options}
\taccount\t\t= false
"""
AIX_OPTIONS = "rw,bg,hard,nointr,rsize=32768,wsize=32768,proto=tcp,noac,vers=3,timeo=600,sec=sys"
SOLARIS_OPTIONS = (
    "rw,bg,hard,nointr,rsize=32768,wsize=32768,noac,forcedirectio,vers=3,proto=tcp,timeo=600"
)
ORADATA = {"path": "/u02/oradata", "source": "filer1:/vol/oradata"}


def other_system(name: str, command: str, fixture: str, table: str, text: str) -> Machine:
    """A host that is not Linux, with the mounts of a documented ``mount`` output."""
    machine = Machine().command("uname -s", name + "\n").file(table, text)
    return machine.command(command, (packs.FIXTURES / "mount" / fixture).read_text())


def aix(options: str = AIX_OPTIONS) -> Machine:
    stanza = AIX_STANZA.format(options=options)
    return other_system("AIX", "mount", "aix-mount.txt", "/etc/filesystems", stanza)


def solaris(options: str = SOLARIS_OPTIONS) -> Machine:
    line = f"filer1:/vol/oradata - /u02/oradata nfs - yes {options}\n"
    return other_system("SunOS", "mount -v", "solaris-mount-v.txt", "/etc/vfstab", line)


def hpux() -> Machine:
    line = f"filer1:/vol/oradata /u02/oradata nfs {SOLARIS_OPTIONS},suid 0 0\n"
    return other_system("HP-UX", "mount -v", "hpux-mount-v.txt", "/etc/fstab", line)


def rac(size: str = "32K") -> dict[str, Any]:
    return listed(sharing="rac", **ORADATA) | {"transfer_size": size}


class TestOtherSystems:
    """Their options are judged by their own column; what only Linux shows is a skip."""

    NOT_SHOWN = (
        *("transfer_size", "transfer_size_lowered", "shared_superblock"),
        *("latency", "client_queue", "retransmissions"),
        *("slot_tables_persisted", "slot_tables_running"),
        *("direct_nfs_library", "oranfstab", "oranfstab_order", "direct_nfs_in_use"),
    )

    @pytest.mark.parametrize("tell", [aix, hpux])
    def test_ready_for_rac(self, judge, tell):
        findings = judge(tell(), **rac())
        statuses = {
            check: worst([finding.status for finding in group]) for check, group in findings.items()
        }
        assert set(statuses.values()) == {"pass", "skip"}
        assert [statuses[check] for check in self.NOT_SHOWN] == ["skip"] * len(self.NOT_SHOWN)
        passed = (
            "mounted",
            "safe_transport",
            "options_in_force",
            "options_persisted",
            "single_source",
        )
        assert [statuses[check] for check in passed] == ["pass"] * len(passed)

    def test_solaris_mounts_read_only_what_vfstab_does_not(self, judge):
        findings = judge(solaris(), **rac())
        assert findings["options_persisted"][0].status == "pass"
        assert findings["options_in_force"][0].status == "fail"
        assert "Mounted with ro, wanted is rw" in findings["options_in_force"][0].why
        assert findings["mounted_as_persisted"][0].status == "warn"

    @pytest.mark.parametrize(
        ("asked", "expected"), [("", "pass"), ("nosuid,", "pass"), ("suid,", "warn")]
    )
    def test_what_was_not_requested_is_no_difference(self, judge, asked, expected):
        """Only Linux prints the options that are in force anyway."""
        machine = aix(AIX_OPTIONS.replace("sec=sys", asked + "sec=sys"))
        shown_there = machine.commands["mount"].stdout
        assert "sec=sys" in shown_there
        machine.command("mount", shown_there.replace("sec=sys", "nosuid,sec=sys"))
        (finding,) = judge(machine, **rac())["mounted_as_persisted"]
        assert finding.status == expected

    def test_sizes_that_were_asked_too_small(self, judge):
        (finding,) = judge(aix(), **rac("256K"))["transfer_size"]
        assert finding.status == "warn"
        assert "rsize: mounted with 32.0 KiB, wanted is 256.0 KiB" in finding.why

    def test_what_was_granted_is_no_pass(self, judge):
        (finding,) = judge(aix(), **rac())["transfer_size"]
        assert "nfsstat -m /u02/oradata" in finding.why
        assert finding.running.endswith("(asked)")

    def test_fix_has_words_that_the_system_knows(self, judge):
        """Only Linux has words (ac, async, cto) for what is so anyway."""
        policy = listed(**ORADATA, **{"class": "backup"}) | {"transfer_size": "32K"}
        (finding,) = judge(aix(), **policy)["caching"]
        assert finding.status == "fail"
        assert finding.fix.startswith("set the options in /etc/filesystems:1 to rw,bg,hard,nointr,")
        words = finding.fix.split(" to ")[1].split(";")[0].split(",")
        assert not {"noac", "ac", "async", "cto"} & set(words)

    def test_llock_after_a_failover(self, judge):
        machine = solaris(SOLARIS_OPTIONS + ",llock")
        (finding,) = judge(machine, **listed(sharing="failover", **ORADATA))["server_locks"]
        assert finding.status == "fail"
        assert "llock" in finding.why

    def test_timeo_that_mount_does_not_show(self, judge):
        options = ("timeo=600,", "")
        machine = aix()
        machine.command("mount", machine.commands["mount"].stdout.replace(*options))
        (finding,) = judge(machine, **rac())["options_in_force"]
        assert finding.status == "warn"
        assert "mount does not show timeo=600" in finding.why

    def test_system_that_nobody_knows(self, judge):
        findings = judge(Machine().command("uname -s", "FreeBSD\n"))
        assert {finding.status for group in findings.values() for finding in group} == {"skip"}
        assert len(findings) == len(nfs_mounts.checks)


class TestHosts:
    def test_ready_host_has_no_finding(self, judge):
        for policy in ({}, listed()):
            findings = judge(ready_host(), **policy)
            assert {finding.status for group in findings.values() for finding in group} == {
                "pass",
                "skip",
            }

    def test_laptop_without_nfs(self, judge):
        findings = judge(nfs_host())
        assert {finding.status for group in findings.values() for finding in group} == {"skip"}

    def test_order_of_the_report(self, judge):
        policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**listed()))
        findings = nfs_mounts.judge(nfs_mounts.read(ready_host(), policy), policy)
        order = [check.id for check in nfs_mounts.checks]
        assert [finding.check for finding in findings] == sorted(
            (finding.check for finding in findings), key=order.index
        )

    def test_one_mount_does_not_hide_the_verdict_on_another(self, judge):
        machine = ready_host()
        machine.file("/etc/auto.master", "/u05 yp:auto.u05\n")
        machine.command("systemctl is-enabled autofs.service", "enabled\n")
        mounts = [
            nfs_packs.DATAFILES,
            nfs_packs.DATAFILES | {"path": "/u05/x", "source": "filer1:/vol/x"},
        ]
        findings = judge(machine, mounts=mounts)["options_persisted"]
        assert [(finding.title.split(":")[0], finding.status) for finding in findings] == [
            ("/u02", "pass"),
            ("/u05/x", "error"),
        ]

    def test_each_fault_is_told_by_one_check_of_the_options(self, judge):
        """A soft mount is no second finding among the other options."""
        machine = mount(shown(recovery="soft"), instead("hard", "soft"))()
        findings = judge(machine, **listed())
        checks = [check for check, group in findings.items() if group[0].status == "fail"]
        assert checks == ["safe_transport"]
