"""Odd but real hosts: what nfs_mounts says of them must neither frighten nor lull anybody."""

from collections.abc import Callable
from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls import nfs_mounts
from ansible.module_utils.hostproof.finding import Finding
from nfs_packs import OPTIONS, NfsMachine, listed, nfs_host, ready_host

DATABASE_FILE = "/u02/oradata/ORCL/system01.dbf"

#: judge(host, **changes of the policy): findings by check.
Judge = Callable[..., dict[str, list[Finding]]]


@pytest.fixture
def judge(validate_finding) -> Judge:
    def judge_host(host: NfsMachine, **changes: Any) -> dict[str, list[Finding]]:
        policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**changes))
        found: dict[str, list[Finding]] = {}
        for finding in nfs_mounts.judge(nfs_mounts.read(host, policy), policy):
            validate_finding(finding.as_dict())
            found.setdefault(finding.check.removeprefix("nfs_mounts."), []).append(finding)
        return found

    return judge_host


def frightening(findings: dict[str, list[Finding]]) -> dict[str, str]:
    """What is neither a pass nor a skip, by check."""
    return {
        check: f"{one.status}: {one.why}"
        for check, some in findings.items()
        for one in some
        if one.status not in ("pass", "skip")
    }


def database_on(options: str | None = None, fstab: str = OPTIONS) -> NfsMachine:
    """A database whose files lie on /u02."""
    machine = nfs_host().persisted_mount("/u02", "filer1:/vol/u02", fstab, options)
    return machine.database(DATABASE_FILE)


def test_oracle_restart_is_no_cluster(judge):
    machine = ready_host()
    machine.process("/u01/app/grid/bin/ohasd.bin", pid=90, uid=0)
    machine.process("/u01/app/grid/bin/ocssd.bin", pid=99)
    assert frightening(judge(machine)) == {}


class TestAutomounters:
    """A path below a folder of autofs is there as soon as somebody looks, if its map has it."""

    @staticmethod
    def indirect(key: str) -> NfsMachine:
        machine = nfs_host().other_mount("/nfs", "autofs", "/etc/auto.nfs")
        machine.file("/etc/auto.master", "/nfs /etc/auto.nfs\n")
        machine.file("/etc/auto.nfs", f"{key} -{OPTIONS} filer1:/vol/u02\n")
        machine.command("systemctl is-enabled autofs.service", "enabled\n")
        return machine

    def test_the_map_has_it(self, judge):
        (one,) = judge(self.indirect("u02"), **listed(path="/nfs/u02"))["mounted"]
        assert one.status == "skip"
        assert "/etc/auto.nfs:1 mounts it when somebody looks" in one.why

    def test_the_map_has_not(self, judge):
        (one,) = judge(self.indirect("u03"), **listed(path="/nfs/u02"))["mounted"]
        assert one.status == "fail"
        assert one.why.startswith("Not mounted")

    def test_the_map_is_nowhere_to_be_read(self, judge):
        machine = self.indirect("u03").file("/etc/auto.master", "/nfs ldap:ou=auto.nfs\n")
        (one,) = judge(machine, **listed(path="/nfs/u02"))["mounted"]
        assert one.status == "error"

    def test_a_unit_of_its_own_mounts_what_fstab_does_not(self, judge):
        """noauto in fstab, and an automount unit that somebody wrote."""
        machine = database_on(fstab=OPTIONS + ",noauto")
        machine.file("/etc/systemd/system/u02.automount", "[Automount]\nWhere=/u02\n")
        wants = "/etc/systemd/system/multi-user.target.wants"
        machine.file(f"{wants}/u02.automount", "").folder("/run/systemd/system")
        assert frightening(judge(machine, **listed())) == {}


def test_fstab_without_a_type(judge):
    """mount(8) and systemd take host:/folder for NFS where the type is auto."""
    machine = database_on()
    table = machine.files[nfs_packs.FSTAB].replace("/u02 nfs ", "/u02 auto ")
    unit = machine.files[nfs_packs.unit_file("/u02")].replace("Type=nfs\n", "")
    machine.file(nfs_packs.FSTAB, table).file(nfs_packs.unit_file("/u02"), unit)
    assert frightening(judge(machine, **listed())) == {}
