"""What cannot be read of NFS is never a pass: every reading, taken away or spoilt in turn."""

import copy
import functools
from collections.abc import Callable
from typing import Any

import nfs_packs
from ansible.module_utils.hostproof.collect.host import RecordedHost
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import ERROR, PASS, SKIP, Finding
from cases import cases
from nfs_packs import NO_CACHE, OPTIONS, Did, NfsMachine, Op, listed, nfs_host, ready_host, shown
from spoilers import Reading, better_for_less, emptied, summary, sure_of_nothing

HOME = "/u01/app/oracle/product/19"


def sick_host() -> NfsMachine:
    """Nearly everything is wrong with /u02, and every reading of it matters."""
    options = OPTIONS.replace("hard", "soft").replace("timeo=600", "timeo=14") + ",nolock"
    slow = Did(
        read=Op(ops=900, rtt=80, queue=300, retransmissions=40, timeouts=40),
        write=Op(ops=900, rtt=80, queue=300),
        max_slots=4000,
    )
    machine = nfs_host()
    machine.persisted_mount(
        "/u02",
        "filer1:/vol/u02",
        options,
        shown(rsize=16384, recovery="soft", timeo=7, flags="nolock", local_lock="all"),
        did=slow,
    )
    machine.fstab("/u02", "filer1:/vol/u02", "soft").slots(65536, None).wire(retransmitted=900)
    return machine.database("/u02/oradata/system01.dbf")


def unmounted_host() -> NfsMachine:
    machine = ready_host()
    machine.unmount("/u02")
    machine.process("/bin/bash", "/u02/oradata/notes.txt", pid=77)
    machine.file("/u02/oradata/notes.txt", "")
    return machine


def sharing_host() -> NfsMachine:
    """NFSv4, two mounts of one superblock, a server that grants less than it did."""
    v4 = OPTIONS.replace("vers=3", "vers=4.1")
    machine = nfs_host()
    machine.persisted_mount(
        "/u02", "filer1:/vol/u02", v4, shown("4.1", timeo=300), superblock="0:45"
    )
    machine.persisted_mount(
        "/u03",
        "filer1:/vol/u03",
        v4.replace("timeo=600", "timeo=300"),
        shown("4.1", timeo=300),
        superblock="0:45",
    )
    machine.persisted_mount("/u04", "filer1:/vol/u04", v4, shown("4.1", 65536), did=Did(age=60))
    return machine.database("/u02/oradata/system01.dbf")


def backup_host() -> NfsMachine:
    noac = shown(cache=NO_CACHE, flags="noac")
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", OPTIONS + ",noac", noac)
    machine.file("/etc/nfsmount.conf", "[ NFSMount_Global_Options ]\nnoac=True\n")
    return machine


HOSTS: dict[str, tuple[Callable[[], NfsMachine], dict[str, Any]]] = {
    "ready": (ready_host, {}),
    "ready, listed": (ready_host, listed()),
    "sick, listed": (sick_host, listed(sharing="rac")),
    "unmounted": (unmounted_host, listed()),
    "sharing": (sharing_host, listed()),
    "backup": (backup_host, listed(**{"class": "backup"})),
    "nothing": (nfs_host, {}),
}


def judge(host: RecordedHost, **policy: Any) -> dict[str, list[Finding]]:
    """Without the check the schema, which the other tests take: this runs many times."""
    findings: dict[str, list[Finding]] = {}
    for finding in audit.judge_host(host, {"nfs_mounts": nfs_packs.nfs_policy(**policy)}):
        findings.setdefault(finding.check.removeprefix("nfs_mounts."), []).append(finding)
    return findings


def recording(host: str) -> dict[str, Reading]:
    machine, policy = HOSTS[host]
    target = machine()
    judge(target, **policy)
    return target.evidence


#: Their readers skip what they do not understand, and an empty one is legal: another host then.
LENIENT = ("file:/etc/", "file:/usr/lib/", "file:/run/", "file:/proc/cmdline")


def test_ready_host_has_nothing_but_passes_and_reasons():
    for host in ("ready", "ready, listed", "nothing"):
        machine, policy = HOSTS[host]
        assert set(summary(judge(machine(), **policy)).values()) <= {PASS, SKIP}, host


def test_sick_host_is_sick():
    statuses = summary(judge(sick_host(), **listed(sharing="rac")))
    passed = {check for check, status in statuses.items() if status == PASS}
    assert passed == {"mounted", "shared_superblock"}


#: The others of HOSTS are read and judged in the same ways.
DIFFERENT = ("ready, listed", "sick, listed", "unmounted", "sharing", "backup", "nothing")


@cases("turn host", *enumerate(DIFFERENT))
def test_no_check_gets_better_by_knowing_less(turn, host):
    _machine, policy = HOSTS[host]
    judged = functools.partial(judge, **policy)
    assert set(judged(RecordedHost({}))) == {
        check.id.removeprefix("nfs_mounts.") for check in nfs_mounts.checks
    }
    assert not better_for_less(judged, recording(host), turn, LENIENT)


#: Cited for what a finding shows beside its verdict, which does not rest on it.
SHOWN_BESIDE = {
    ("mounted", "file:/etc/fstab"),
    ("options_in_force", "file:/etc/fstab"),
    ("local_locks_advice", "file:/etc/fstab"),
    ("direct_nfs_in_use", "file:/proc/net/tcp"),
}


def test_finding_that_cites_a_silent_reading_is_no_pass():
    _machine, policy = HOSTS["ready"]
    judged = functools.partial(judge, **policy)
    assert sure_of_nothing(judged, recording("ready"), LENIENT) <= SHOWN_BESIDE


def test_no_evidence_is_no_answer():
    statuses = summary(judge(RecordedHost({}), **listed()))
    assert set(statuses.values()) == {ERROR} and len(statuses) == len(nfs_mounts.checks)


def test_recorded_host_is_judged_as_the_live_one():
    for machine, policy in HOSTS.values():
        live = machine()
        findings = judge(live, **policy)
        assert judge(RecordedHost(copy.deepcopy(live.evidence)), **policy) == findings


def test_list_of_mounts_that_is_empty_is_no_host_without_mounts():
    evidence = recording("ready")
    key = "file:" + nfs_packs.MOUNTINFO
    spoilt = RecordedHost(evidence | {key: emptied(evidence[key])})
    assert set(summary(judge(spoilt)).values()) == {ERROR}
