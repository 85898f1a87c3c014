"""The checks of nfs_mounts on mounts and options, in every status, each told as a host's story.

Those on the wire are in test_nfs_mounts_transport.py, those on Direct NFS in
test_nfs_mounts_direct_nfs.py.
"""

from collections.abc import Callable
from typing import Any

import nfs_packs
import packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.evaluate.finding import Finding, worst
from cases import cases
from nfs_packs import NO_CACHE, OPTIONS, Did, NfsMachine, listed, nfs_host, ready_host, shown
from packs import Machine
from stories import stories

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


MOUNTED = stories(
    "mounted",
    "mounted: it is",
    ("pass", mount(), "filer1:/vol/u02 on /u02"),
    "mounted: from the address of the server",
    ("pass", mount(), listed(source=f"{nfs_packs.ADDRESS}:/vol/u02/")),
    "mounted: from a server of another name",
    ("warn", mount(), listed(source="filer9:/vol/u02"), "comes from filer1", "filer9"),
    "mounted: another export",
    ("fail", mount(), listed(source="filer1:/vol/other")),
    ("filer1:/vol/u02 is mounted here, not filer1:/vol/other",),
    "mounted: listed, not there, and bg said nothing",
    ("fail", told(unmounted)),
    ("Not mounted.", "bg", "mount /u02", "/etc/fstab:2", "no file is open or exists there"),
    "mounted: a database writes into the root file system",
    ("fail", told(unmounted, lambda machine: machine.database(DATABASE_FILE))),
    ("ora_dbw0_ORCL (pid 2102) holds " + DATABASE_FILE, "stop the database now"),
    "mounted: somebody else sits in the empty folder",
    ("fail", told(unmounted, lambda machine: machine.process("/bin/bash", "/u02", pid=77))),
    ("bash (pid 77) holds /u02", "stop these processes"),
    "mounted: files lie beneath",
    ("fail", "dump0.dmp, dump1.dmp, dump2.dmp, ...", "which a mount hides"),
    told(
        unmounted,
        lambda machine: [machine.file(f"/u02/dump{number}.dmp", "") for number in range(5)],
    ),
    "mounted: there is not even a folder",
    ("fail", told(unmounted, lambda machine: machine.folders.discard("/u02"))),
    ("there is no such directory", "mkdir -p /u02', 'mount /u02"),
    "mounted: without root nobody knows what lies there",
    ("fail", told(unmounted, lambda machine: machine.deny("/u02", "open_files:all"))),
    ("Open and existing files there are unknown",),
    "mounted: nothing would mount it either",
    ("fail", told(unmounted, without_fstab), "nothing mounts it at boot", "./hostproof apply"),
    "mounted: a file of the mount beneath is no file of it",
    ("fail", "no file is open or exists there"),
    told(
        unmounted,
        lambda machine: machine.mount("/u02/arch", "filer1:/vol/arch"),
        lambda machine: machine.database("/u02/arch/1_77.arc"),
    ),
    "mounted: autofs will, when somebody looks",
    ("skip", "/etc/auto.oracle:1 mounts it on access"),
    told(
        autofs,
        lambda machine: machine.other_mount("/u02", "autofs", "/etc/auto.oracle"),
        ready=False,
    ),
    "mounted: systemd will, when somebody looks",
    ("skip", "/etc/fstab:2 mounts it on access"),
    told(
        lambda machine: machine.fstab("/u02", "filer1:/vol/u02", "hard,x-systemd.automount"),
        lambda machine: machine.other_mount("/u02", "autofs", "systemd-1"),
        ready=False,
    ),
    "mounted: nothing of NFS here",
    ("skip", nfs_host, {}, "No NFS mount here"),
    "mounted: nothing of Oracle on it",
    ("skip", told(lambda machine: machine.mount("/home", "nas:/home"), ready=False), {}),
    ("/home", "nfs_mounts_mounts"),
    policy=listed(),
)

SAFE = stories(
    "safe_transport",
    "transport: hard over TCP",
    ("pass", mount()),
    "transport: soft",
    ("fail", mount(shown(recovery="soft"), instead("hard", "soft"))),
    ("Mounted with soft", "/etc/fstab:2: soft", "hard"),
    "transport: softerr",
    ("fail", mount(shown(recovery="softerr"))),
    "transport: UDP, and fstab is right already",
    ("fail", mount(shown(proto="udp", timeo=11, retrans=3))),
    ("proto=udp", "umount /u02', 'mount /u02", "nfs_mounts_allow_remount: true"),
    "transport: fstab says soft, the mount was made right by hand",
    ("fail", mount(asks=instead("hard", "soft"))),
    ("Persisted as /etc/fstab:2: soft", "set the options in /etc/fstab:2 to rw,bg,hard,"),
    "transport: nfsmount.conf beats the hard of fstab",
    ("fail", told(lambda machine: machine.file("/etc/nfsmount.conf", _SOFT_BY_DEFAULT))),
    ("/etc/fstab:2 and nfsmount.conf: soft", "take soft out of /etc/nfsmount.conf"),
    "transport: the policy itself asks for soft",
    ("warn", mount(shown(recovery="soft"), instead("hard", "soft")), listed(options="soft")),
    "transport: RDMA is no UDP",
    ("pass", mount(shown(proto="rdma"))),
    "transport: not listed, and database files on it",
    ("fail", "/u09: ", "a guess from what is open on it"),
    told(
        lambda machine: machine.mount("/u09", "nas:/u09", shown(recovery="soft")),
        lambda machine: machine.database("/u09/users01.dbf", pid=9),
    ),
    "transport: not listed, and without root nobody knows what lies on it",
    ("error", "--become"),
    told(
        lambda machine: machine.mount("/u09", "nas:/u09", shown(recovery="soft")),
        lambda machine: machine.deny("open_files:database"),
    ),
    "transport: nothing here",
    ("skip", nfs_host, {}),
    policy=listed(),
)
_SOFT_BY_DEFAULT = "[ NFSMount_Global_Options ]\nSoft=True\n"

LOCKS = stories(
    "server_locks",
    "locks: RAC with locks at the server",
    ("pass", mount(), RAC),
    "locks: nolock under RAC",
    ("fail", mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"), RAC),
    ("nolock", "corrupt"),
    "locks: nolock after a failover",
    ("fail", mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"), FAILOVER),
    ("for sharing failover",),
    "locks: nocto under RAC",
    ("fail", mount(shown(flags="nocto"), OPTIONS + ",nocto"), RAC, "nocto"),
    "locks: local_lock=flock under RAC",
    ("fail", mount(shown(local_lock="flock"), OPTIONS + ",local_lock=flock"), RAC),
    ("local_lock=flock",),
    "locks: only a reboot takes them away",
    ("fail", mount(asks=OPTIONS + ",nolock"), RAC, "Persisted as /etc/fstab:2: nolock"),
    "locks: nolock has no effect on NFSv4",
    ("pass", mount(shown("4.1"), instead("vers=3", "vers=4.1,nolock")), RAC),
    "locks: the policy requires nolock, which it may not under RAC",
    ("fail",),
    mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"),
    listed(sharing="rac", options="nolock"),
    "locks: of one host",
    ("skip", mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"), "Only one host"),
    "locks: local ones where nobody says who uses the files",
    ("warn", mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock"), {}),
    ("does not state whether other hosts", "nfs_mounts_sharing"),
    "locks: at the server, and nobody says who uses the files",
    ("skip", mount(), {}),
    "locks: voting files, whoever uses the rest",
    ("fail", mount(shown(flags="nolock", local_lock="all")), listed(**{"class": "crs_voting"})),
    "locks: Clusterware runs, so files are shared",
    ("fail",),
    told(
        lambda machine: machine.mount(
            "/u02", "filer1:/vol/u02", shown(flags="nolock", local_lock="all")
        ),
        clusterware,
    ),
    listed(sharing="auto"),
    policy=listed(),
)

ADVICE = stories(
    "local_locks_advice",
    "advice: local locks would do",
    ("skip", mount(), "Advice: ", "nolock,nocto", "options: nolock,nocto for this mount"),
    "advice: taken",
    ("pass",),
    mount(shown(flags="nocto,nolock", local_lock="all"), OPTIONS + ",nolock,nocto"),
    listed(options="nolock,nocto"),
    "advice: half taken",
    ("skip", mount(shown(flags="nocto")), "Advice: ", "nolock spares"),
    "advice: not under RAC",
    ("skip", mount(), RAC, "their locks stay"),
    "advice: not where the use is a guess",
    ("skip", mount(), listed(sharing="auto"), "No policy states"),
    "advice: not for a home",
    ("skip", mount(), HOME, "opens little"),
    "advice: not for NFSv4",
    ("skip", mount(shown("4.1")), "locks in the protocol"),
    "advice: not mounted",
    ("skip", told(unmounted)),
    policy=listed(),
)

IN_FORCE = stories(
    "options_in_force",
    "in force: as the table says",
    ("pass", mount()),
    "in force: mounted before fstab was changed",
    ("fail", mount(shown(timeo=14))),
    ("timeo=14", "timeo=600", "The next mount changes it", "umount /u02', 'mount /u02"),
    "in force: fstab is wrong too",
    ("fail", mount(shown(timeo=14), instead("timeo=600", "timeo=14"))),
    ("set the options in /etc/fstab:2 to", "with nfs_mounts_allow_remount: true"),
    "in force: read-only",
    ("fail", mount(shown(access="ro")), "Mounted with ro, wanted is rw"),
    "in force: RAC without actimeo=0",
    ("fail", mount(), RAC, "actimeo=0", "NetApp, Oracle Database on Linux"),
    "in force: RAC with actimeo=0",
    ("pass", mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"), RAC),
    "in force: RAC with noac, which is more",
    ("pass", mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"), RAC),
    "in force: voting files without noac",
    ("fail", "noac"),
    mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
    listed(sharing="rac", **{"class": "crs_voting"}),
    "in force: the switch for a single instance",
    ("fail", mount(), listed() | {"single_actimeo_zero": True}, "actimeo=0", "MOS 359515.1"),
    "in force: another version than the policy names",
    ("fail", mount(), listed(version="4.1"), "vers=3", "vers=4.1"),
    "in force: an option of the policy alone",
    ("fail", mount(shown(timeo=300)), listed(options="timeo=300,acregmax=30")),
    ("acregmax=60", "acregmax=30", "nfs_mounts_mounts"),
    "in force: nolock by policy of a single instance",
    ("fail", mount(), listed(options="nolock"), "nolock"),
    "in force: of another mount's superblock, which must go too",
    (
        "fail",
        "as long as one of /u03 is mounted",
        "umount /u03', 'umount /u02', 'mount /u02', 'mount /u03",
    ),
    told(
        lambda machine: machine.mount(
            "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
        ),
        second_mount(shown(timeo=300), superblock="0:45"),
    ),
    "in force: not mounted",
    ("skip", told(unmounted)),
    "in force: guessed, and the finding says so",
    ("fail", told(lambda machine: machine.mount("/u02", "filer1:/vol/u02", shown(timeo=14))), {}),
    ("Checked as datafiles with sharing single, a guess",),
    policy=listed(),
)

PERSISTED = stories(
    "options_persisted",
    "persisted: as the table says",
    ("pass", mount()),
    "persisted: other spellings of the same",
    ("pass",),
    mount(asks="bg,tcp,nfsvers=3,intr,rsize=262144,wsize=262144,_netdev"),
    listed(version="3"),
    "persisted: made right by hand, fstab is wrong",
    ("fail", mount(asks=instead("timeo=600", "timeo=14"))),
    (
        "/etc/fstab:2: timeo=14",
        "wanted is timeo=600",
        "to rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,wsize=262144,nointr",
    ),
    "persisted: small requests",
    ("warn", mount(asks=instead("size=262144", "size=32768"))),
    ("rsize=32768,wsize=32768", "256.0 KiB"),
    "persisted: sizes left to the server",
    ("pass", mount(asks=instead(",rsize=262144,wsize=262144", ""))),
    "persisted: a size that the policy means exactly",
    ("fail", mount(asks=instead("rsize=262144", "rsize=1048576")), listed(options="rsize=262144")),
    "persisted: fg instead of bg delays a boot, no more",
    ("warn", mount(asks=instead("bg", "fg")), "fg", "bg"),
    "persisted: nothing does",
    ("fail", told(without_fstab)),
    (
        "Nothing mounts it at the next reboot",
        "put 'filer1:/vol/u02 /u02 nfs rw,bg,hard,proto=tcp,timeo=600,"
        "rsize=262144,wsize=262144,vers=3 0 0' into /etc/fstab",
    ),
    "persisted: nothing does, and nobody listed it",
    ("warn", told(without_fstab), {}, "Nothing mounts it at the next reboot"),
    "persisted: noauto",
    ("fail", mount(asks=OPTIONS + ",noauto"), "/etc/fstab:2 does not count at boot: noauto"),
    "persisted: another export",
    ("fail", mount(), listed(source="filer1:/vol/new")),
    ("/etc/fstab:2 mounts filer1:/vol/u02, not filer1:/vol/new",),
    "persisted: a blank in the options",
    ("fail", mount(asks="rw,bg, hard,timeo=600"), "mount(8) rejects /etc/fstab:2", "six fields"),
    "persisted: a line that is none",
    ("fail", told(lambda machine: machine.file(nfs_packs.FSTAB, "filer1:/vol/u02 /u02\n"))),
    ("mount(8) rejects /etc/fstab:1", "Nothing mounts it"),
    "persisted: by a mount unit",
    ("pass", told(without_fstab, unit), "/etc/systemd/system/u02.mount"),
    "persisted: a mount unit, wrong",
    ("fail", told(without_fstab, lambda machine: unit(machine, instead("timeo=600", "timeo=7")))),
    ("timeo=7", "systemctl daemon-reload"),
    "persisted: a unit or a map needs no bg",
    ("pass", told(without_fstab, lambda machine: unit(machine, instead("bg,", "")))),
    "persisted: by autofs",
    ("pass", told(without_fstab, autofs), "/etc/auto.oracle:1"),
    "persisted: autofs, wrong",
    ("fail", told(without_fstab, lambda machine: autofs(machine, "-ro,hard"))),
    ("/etc/auto.oracle:1: ro", "systemctl reload autofs"),
    "persisted: nfsmount.conf decides what fstab leaves open",
    ("fail", "timeo=50"),
    told(
        lambda machine: machine.fstab("/u03", "filer1:/vol/u03", "bg"),
        lambda machine: machine.file(
            "/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\ntimeo=50\n"
        ),
    ),
    {"mounts": [nfs_packs.DATAFILES | {"path": "/u03", "source": "filer1:/vol/u03"}]},
    "persisted: fstab may not be read",
    ("error", told(lambda machine: machine.deny(nfs_packs.FSTAB)), "--become"),
    policy=listed(),
)

OWNER = stories(
    "single_source",
    "owner: one",
    ("pass", mount()),
    "owner: two lines, the first wins",
    ("warn", told(lambda machine: machine.fstab("/u02", "filer1:/vol/u02", "soft"))),
    ("/etc/fstab:2 wins", "remove it from: /etc/fstab:3"),
    "owner: a unit stands before fstab",
    ("warn", told(unit), "/etc/systemd/system/u02.mount wins", "remove it from: /etc/fstab:2"),
    "owner: fstab stands before autofs",
    ("warn", told(autofs), "/etc/fstab:2 wins", "/etc/auto.oracle:1"),
    "owner: systemd has not read the new fstab",
    ("warn", "systemctl daemon-reload"),
    told(
        without_fstab,
        lambda machine: machine.fstab("/u02", "filer1:/vol/u02"),
        lambda machine: machine.file(
            nfs_packs.FSTAB, f"filer1:/vol/u02 /u02 nfs {OPTIONS},nconnect=2 0 0\n"
        ),
    ),
    "owner: nobody",
    ("skip", told(without_fstab)),
    policy=listed(),
)

AS_PERSISTED = stories(
    "mounted_as_persisted",
    "as persisted: it is",
    ("pass", mount()),
    "as persisted: spelt otherwise",
    ("pass",),
    mount(asks="bg,tcp,nfsvers=3,intr,hard,rsize=1048576,wsize=1048576,sec=sys,noauto,_netdev"),
    "as persisted: actimeo=0 is four limits",
    ("pass", mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"), RAC),
    "as persisted: noac is sync too",
    ("pass", mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"), RAC),
    "as persisted: nolock is local_lock=all",
    ("pass", mount(shown(flags="nolock", local_lock="all"), OPTIONS + ",nolock")),
    "as persisted: v4 is any minor version",
    ("pass", mount(shown("4.2"), instead("vers=3", "vers=4"))),
    "as persisted: both fulfil the policy and differ",
    ("warn", mount(shown(retrans=5))),
    ("Mounted with retrans=5, but /etc/fstab:2 requests retrans=2",),
    "as persisted: fstab was corrected since",
    ("warn", mount(shown(recovery="soft")), "soft", "hard", "umount /u02', 'mount /u02"),
    "as persisted: another version",
    ("warn", mount(shown("4.1"), OPTIONS), "vers=4.1", "vers=3"),
    "as persisted: larger requests than asked for are an older mount",
    ("warn", mount(shown(rsize=1048576)), "rsize=1048576"),
    "as persisted: another security",
    ("warn", mount(asks=OPTIONS + ",sec=krb5p"), "sec=krb5p"),
    "as persisted: another export",
    ("warn", told(lambda machine: machine.mount("/u02", "filer1:/vol/old"))),
    ("Mounted is filer1:/vol/old, but /etc/fstab:2 names filer1:/vol/u02",),
    "as persisted: not persisted",
    ("skip", told(without_fstab)),
    "as persisted: not mounted",
    ("skip", told(unmounted)),
    policy=listed(),
)

SIZES = stories(
    "transfer_size",
    "size: granted",
    ("pass", mount()),
    "size: more than wanted",
    ("pass", mount(shown(rsize=1048576))),
    "size: the server grants 32 KiB of 256",
    ("warn", mount(shown(rsize=32768))),
    (
        "rsize: 256.0 KiB asked, the server grants 32.0 KiB",
        "tcp-max-xfer-size 262144",
        "32 requests in place of 4",
        "SVM-wide",
    ),
    "size: below what Oracle takes",
    ("fail", mount(shown(rsize=262144, wsize=16384))),
    ("wsize: 256.0 KiB asked, the server grants 16.0 KiB", "ORA-27054"),
    "size: as small as it was requested",
    ("warn", mount(shown(rsize=32768), instead("size=262144", "size=32768"))),
    ("rsize: mounted with 32.0 KiB, wanted is 256.0 KiB", "set the options in /etc/fstab:2"),
    "size: more asked than needed, less granted",
    ("warn", mount(shown(rsize=524288), instead("size=262144", "size=1048576"))),
    ("1.0 MiB asked, the server grants 512.0 KiB",),
    "size: the mount is older than what is asked now",
    ("warn", mount(shown(rsize=32768, timeo=300))),
    ("rsize: mounted with 32.0 KiB, before 256.0 KiB was requested", "umount /u02', 'mount"),
    "size: the server grants it to a younger mount",
    ("warn", then(mount(shown(rsize=32768)), second_mount(shown()))),
    ("rsize: mounted with 32.0 KiB, before 256.0 KiB was requested", "umount /u02', 'mount"),
    "size: the server granted it to an older mount",
    ("warn", then(mount(shown(rsize=32768)), second_mount(shown(), age=99999))),
    ("rsize: 256.0 KiB asked, the server grants 32.0 KiB",),
    "size: the kernel rounds to pages",
    ("pass", mount(shown(rsize=262144), instead("size=262144", "size=263168"))),
    "size: the policy means it exactly",
    ("fail", mount(shown(rsize=1048576)), listed(options="rsize=65536,wsize=65536")),
    ("rsize: mounted with 1.0 MiB, wanted is 64.0 KiB",),
    "size: not mounted",
    ("skip", told(unmounted)),
    policy=listed(),
)

LOWERED = stories(
    "transfer_size_lowered",
    "lowered: the only mount of its server",
    ("skip", mount()),
    "lowered: a younger mount got as much",
    ("pass", told(second_mount(shown())), "/u03 rsize=262144,wsize=262144"),
    "lowered: a younger mount got less",
    ("fail", told(second_mount(shown(rsize=65536)))),
    (
        "/u03 requested as much rsize and got 64.0 KiB, this one has 256.0 KiB",
        "it is 86340 s younger",
    ),
    "lowered: an older mount got less: the server was raised",
    ("pass", told(second_mount(shown(rsize=65536), age=99999))),
    "lowered: which is older is not known",
    ("warn", told(second_mount(shown(rsize=65536))), listed() | {"window_seconds": 0}),
    ("which of the two is older is not known",),
    "lowered: a younger mount asked for less",
    ("pass", told(second_mount(shown(rsize=65536), instead("size=262144", "size=65536")))),
    "lowered: another server",
    ("skip", told(second_mount(shown(rsize=65536, address="10.0.0.6")))),
    "lowered: another version has its own limit",
    ("skip", told(second_mount(shown("4.1", rsize=65536), instead("vers=3", "vers=4.1")))),
    "lowered: the same superblock is the same mount",
    ("skip", told(second_mount(shown(), superblock="0:45"))),
    "lowered: not mounted",
    ("skip", told(unmounted)),
    policy=listed(),
)

SUPERBLOCK = stories(
    "shared_superblock",
    "superblock: its own",
    ("pass", mount()),
    "superblock: shared, and asked alike",
    ("pass", told(second_mount(shown(), superblock="0:45")), "shared with /u03"),
    "superblock: the first mount's timeo",
    ("fail", "/u03", "timeo=300", "/etc/fstab:2 requests timeo=600", "unmount all of them"),
    told(
        lambda machine: machine.mount(
            "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
        ),
        second_mount(shown(timeo=300), instead("timeo=600", "timeo=300"), superblock="0:45"),
    ),
    "superblock: this one was first",
    ("pass", told(second_mount(shown(), instead("timeo=600", "timeo=300"), superblock="0:45"))),
    "superblock: of a mount that was made by hand",
    ("fail",),
    told(
        lambda machine: machine.mount(
            "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
        ),
        lambda machine: machine.mount(
            "/u03", "filer1:/vol/u03", shown(timeo=300), superblock="0:45"
        ),
    ),
    "superblock: both are older than fstab",
    ("pass",),
    told(
        lambda machine: machine.mount(
            "/u02", "filer1:/vol/u02", shown(timeo=300), superblock="0:45"
        ),
        second_mount(shown(timeo=300), superblock="0:45"),
    ),
    "superblock: not mounted",
    ("skip", told(unmounted)),
    policy=listed(),
)

CACHING = stories(
    "caching",
    "caching: on",
    ("pass", mount(), BACKUP),
    "caching: noac on backups",
    ("fail", mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"), BACKUP),
    ("noac", "MOS 359515.1", "to rw,bg,hard,vers=3,proto=tcp,timeo=600,rsize=262144,"),
    "caching: the next reboot switches it off for backups",
    ("fail", mount(asks=OPTIONS + ",actimeo=0"), BACKUP, "Persisted as /etc/fstab:2: actimeo=0"),
    "caching: actimeo=0 on a home of one host",
    ("warn", mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"), HOME, "actimeo=0"),
    "caching: noac on the diagnostics",
    ("warn", "nfs_mounts_adr_actimeo_zero"),
    mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
    listed(**{"class": "adr"}),
    "caching: actimeo=0 on a single instance, where the sources disagree",
    ("warn", mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0")),
    ("nfs_mounts_single_actimeo_zero is false",),
    "caching: the same where the policy follows the other source",
    ("skip",),
    mount(shown(cache=NO_CACHE), OPTIONS + ",actimeo=0"),
    listed() | {"single_actimeo_zero": True},
    "caching: sync on backups",
    ("fail", mount(shown().replace("rw,", "rw,sync,"), OPTIONS + ",sync"), BACKUP, "sync"),
    "caching: RAC needs it off",
    ("skip", mount(), RAC, "share these files"),
    "caching: the policy requires noac",
    ("skip",),
    mount(shown(cache=NO_CACHE, flags="noac"), OPTIONS + ",noac"),
    listed(options="noac", **{"class": "backup"}),
    policy=listed(),
)

V4 = instead("vers=3", "vers=4.1")
LEASE = stories(
    "v4_lease",
    "lease: none with v3",
    ("skip", mount(), "NFSv3 has no leases"),
    "lease: v4.1 that nobody decided",
    ("warn", mount(shown("4.1"), V4)),
    ("ORA-27072", "NFSv4.1 and a lease of 90 s", "nfs_mounts_version"),
    "lease: v4.1 by policy",
    ("pass", mount(shown("4.1"), V4), listed(version="4.1"), "lease of 90 s"),
    "lease: ran out",
    ("fail", mount(shown("4.1"), V4, did=Did(lease_expired=40)), listed(version="4.1")),
    ("ran out 40 s ago",),
    "lease: no locks on backups",
    ("skip", mount(shown("4.2")), BACKUP),
    "lease: not watched",
    ("warn", mount(shown("4.1"), V4), listed() | {"window_seconds": 0}),
    "lease: not mounted, but a reboot takes v4",
    ("warn",),
    told(unmounted, without_fstab, lambda machine: machine.fstab("/u02", "filer1:/vol/u02", V4)),
    "lease: not mounted, and the version is open",
    ("skip", told(unmounted, without_fstab, lambda machine: machine.fstab("/u02", "f:/v", "bg"))),
    policy=listed(),
)

SLOTS = stories(
    "slot_tables_persisted",
    "slots: persisted",
    ("pass", mount()),
    "slots: nobody bounds them",
    ("fail", told(lambda machine: machine.slots(128, None))),
    ("tcp_max_slot_table_entries is 65536, not 128", "options sunrpc", "the kernel's default"),
    "slots: too many at boot",
    ("fail", told(lambda machine: machine.slots(128, 256)), "256"),
    "slots: fewer than wanted",
    ("warn", told(lambda machine: machine.slots(128, 64)), "is 64, not 128"),
    "slots: a later file wins",
    ("fail", "/etc/modprobe.d/zzz.conf:1", "apply is blocked.", "comes later; remove that"),
    told(
        lambda machine: machine.file(
            "/etc/modprobe.d/zzz.conf", "options sunrpc tcp_max_slot_table_entries=65536\n"
        )
    ),
    "slots: rc.local sets another limit, which is not the kernel's default",
    ("error", "/etc/rc.local:2 may set sunrpc.tcp_max_slot_table_entries to 9"),
    told(
        lambda machine: machine.slots(128, 128),
        lambda machine: machine.file(
            "/etc/rc.local", "#!/bin/sh\nsysctl -w sunrpc.tcp_max_slot_table_entries=9\n", 0o755
        ),
    ),
    "slots: the other places with commands of the boot cannot be searched",
    ("error",),
    told(lambda machine: machine.slots(128, 128), lambda machine: machine.deny("lines:boot")),
    "slots: a parameter with which the module is not loaded",
    ("error", "with which the kernel does not load sunrpc"),
    told(
        lambda machine: machine.file(
            "/etc/modprobe.d/zzz.conf", "options sunrpc tcp_max_slot_table_entries=0128\n"
        )
    ),
    "slots: in sysctl.d alone, which nothing applies once the module is there",
    ("fail", "/etc/sysctl.d/nfs.conf:1", "nothing applies it"),
    told(
        lambda machine: machine.slots(128, None),
        lambda machine: machine.file(
            "/etc/sysctl.d/nfs.conf", "sunrpc.tcp_max_slot_table_entries = 128\n"
        ),
    ),
    "slots: not managed",
    ("skip", mount(), listed() | {"slot_table_entries": 0}),
    "slots: no NFS",
    ("skip", nfs_host, {}),
    "slots: in the kernel",
    ("pass slot_tables_running", mount()),
    "slots: unbounded in the kernel",
    ("fail slot_tables_running", told(lambda machine: machine.slots(65536, 128))),
    (
        "sunrpc.tcp_max_slot_table_entries = 128",
        "stop what uses the mounts of filer1, unmount all of them",
    ),
    "slots: fewer in the kernel",
    ("warn slot_tables_running", told(lambda machine: machine.slots(16, 128))),
    "slots: mounted before the limit",
    ("fail slot_tables_running", mount(did=Did(max_slots=4000)), "/u02 has used 4000"),
    "slots: the module is not loaded",
    ("skip slot_tables_running", told(unmounted, lambda machine: machine.slots(None, 128))),
    "slots: may not be read",
    ("error slot_tables_running", told(lambda machine: machine.deny(nfs_packs.MAX_SLOTS))),
    "slots: one limit may not be read and the other is too high",
    ("fail slot_tables_running", "Not known: sunrpc.tcp_slot_table_entries"),
    told(lambda machine: machine.slots(65536, 128), lambda machine: machine.deny(nfs_packs.SLOTS)),
    "slots: too high, and the traffic is unknown",
    ("fail slot_tables_running",),
    told(
        lambda machine: machine.slots(65536, 128),
        lambda machine: machine.deny("/proc/self/mountstats"),
    ),
    "slots: unmanaged in the kernel",
    ("skip slot_tables_running",),
    told(lambda machine: machine.slots(65536, 128)),
    listed() | {"slot_table_entries": 0},
    policy=listed(),
)

STORIES = (
    *(*MOUNTED, *SAFE, *LOCKS, *ADVICE, *IN_FORCE, *PERSISTED, *OWNER, *AS_PERSISTED, *SIZES),
    *(*LOWERED, *SUPERBLOCK, *CACHING, *LEASE, *SLOTS),
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
@cases(
    "asks shows",
    (OPTIONS + ",actimeo=0", shown(cache=NO_CACHE)),
    (OPTIONS.replace("262144", "32768") + ",actimeo=0", shown(rsize=32768, cache=NO_CACHE)),
    (OPTIONS.replace("hard", "soft") + ",noac", shown(recovery="soft", flags="noac")),
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
@cases(
    "check host place",
    ("safe_transport", {"recovery": "soft"}, "/etc/fstab"),
    ("safe_transport", {"proto": "udp"}, nfs_packs.unit_file("/u02")),
    ("options_in_force", {"timeo": 7}, "/etc/fstab"),
    ("transfer_size", {"rsize": 16384}, "/etc/fstab"),
    ("server_locks", {"flags": "nolock", "local_lock": "all"}, "/etc/fstab"),
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
        assert not finding.why.startswith(" ") and "  " not in finding.why
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

    @cases("tell", aix, hpux)
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

    @cases("asked expected", ("", "pass"), ("nosuid,", "pass"), ("suid,", "warn"))
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
        assert "nfsstat -m /u02/oradata" in finding.why and finding.running.endswith("(asked)")

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
        assert finding.status == "fail" and "llock" in finding.why

    def test_timeo_that_mount_does_not_show(self, judge):
        options = ("timeo=600,", "")
        machine = aix()
        machine.command("mount", machine.commands["mount"].stdout.replace(*options))
        (finding,) = judge(machine, **rac())["options_in_force"]
        assert finding.status == "warn" and "mount does not show timeo=600" in finding.why

    def test_system_that_nobody_knows(self, judge):
        findings = judge(Machine().command("uname -s", "FreeBSD\n"))
        assert {finding.status for group in findings.values() for finding in group} == {"skip"}
        assert len(findings) == len(nfs_mounts.checks)


class TestHosts:
    def test_ready_host_has_no_finding(self, judge):
        for policy in ({}, listed()):
            findings = judge(ready_host(), **policy)
            statuses = {finding.status for group in findings.values() for finding in group}
            assert statuses == {"pass", "skip"}

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
        machine = ready_host().file("/etc/auto.master", "/u05 yp:auto.u05\n")
        machine.command("systemctl is-enabled autofs.service", "enabled\n")
        mounts = [
            nfs_packs.DATAFILES,
            nfs_packs.DATAFILES | {"path": "/u05/x", "source": "filer1:/vol/x"},
        ]
        findings = judge(machine, mounts=mounts)["options_persisted"]
        statuses = [(finding.title.split(":")[0], finding.status) for finding in findings]
        assert statuses == [("/u02", "pass"), ("/u05/x", "error")]

    def test_each_fault_is_told_by_one_check_of_the_options(self, judge):
        """A soft mount is no second finding among the other options."""
        findings = judge(mount(shown(recovery="soft"), instead("hard", "soft"))(), **listed())
        checks = [check for check, group in findings.items() if group[0].status == "fail"]
        assert checks == ["safe_transport"]
