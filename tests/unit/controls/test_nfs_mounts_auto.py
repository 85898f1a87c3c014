"""Which mounts are judged: what the policy lists, or what holds Oracle files now, and as what."""

from typing import Any

import nfs_packs
import pytest
from ansible.module_utils.hostproof.controls.nfs_mounts.checked_mounts import (
    guessed_mounts,
    judged_mounts,
    why_none,
)
from ansible.module_utils.hostproof.controls.nfs_mounts.control import CONTROL as nfs_mounts
from ansible.module_utils.hostproof.controls.nfs_mounts.facts import JudgedMount
from ansible.module_utils.hostproof.errors import Denied, HostproofError
from cases import cases
from nfs_packs import NfsMachine, nfs_host

HOME = "/u01/app/oracle/product/19"
DATA = "/u02/oradata/ORCL"


def judged(machine: NfsMachine, **changes: Any) -> list[JudgedMount]:
    policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**changes))
    return judged_mounts(nfs_mounts.read(machine, policy), policy)


def guessed(machine: NfsMachine, **changes: Any) -> dict[str, tuple[str, str]]:
    """Path to class and use of what is judged where the policy lists nothing."""
    mounts = judged(machine, **changes)
    assert all(mount.guessed and mount.mounted for mount in mounts)
    return {mount.wanted.path: (mount.wanted.file_class, mount.wanted.sharing) for mount in mounts}


def mounted(*paths: str) -> NfsMachine:
    machine = nfs_host()
    for path in paths or ("/u02",):
        machine.mount(path, f"filer1:/vol{path}")
    return machine


def oratab(machine: NfsMachine, home: str) -> NfsMachine:
    machine.file("/etc/oratab", f"ORCL:{home}:N\n")
    return machine


@cases(
    "files file_class",
    ([f"{DATA}/system01.dbf"], "datafiles"),
    ([f"{DATA}/system01.dbf", f"{DATA}/redo01.log"], "datafiles"),
    ([f"{DATA}/control01.ctl"], "datafiles"),
    ([f"{DATA}/redo01.log", f"{DATA}/redo02.log"], "redo"),
    (["/u02/ORCL/onlinelog/o1_mf_1_jx_.log"], "redo"),
    (["/u02/app/diag/rdbms/orcl/ORCL/trace/ORCL_dbw0_7.trc"], "adr"),
    (["/u02/admin/ORCL/adump/ORCL_ora_7.aud"], "adr"),
    (["/u02/app/diag/rdbms/orcl/ORCL/trace/a.trc", f"{DATA}/users01.dbf"], "datafiles"),
    ([f"{DATA}/old01.dbf (deleted)"], "datafiles"),
    ([f"{DATA}/redo01.log (deleted)"], "redo"),
)
def test_class_by_what_is_open(files, file_class):
    assert guessed(mounted().database(*files)) == {"/u02": (file_class, "single")}


class TestHome:
    def test_that_somebody_names(self):
        assert guessed(oratab(mounted("/u01"), HOME)) == {"/u01": ("oracle_home", "single")}

    def test_whose_program_runs_is_no_database_file(self):
        machine = oratab(mounted("/u01"), HOME).database(f"{HOME}/bin/oracle", f"{HOME}/dbs/lk")
        assert guessed(machine) == {"/u01": ("oracle_home", "single")}

    def test_beside_database_files_counts_less(self):
        machine = oratab(mounted("/u01"), HOME)
        machine.database(f"{HOME}/bin/oracle", "/u01/oradata/system01.dbf")
        assert guessed(machine) == {"/u01": ("datafiles", "single")}

    def test_is_on_the_deepest_mount(self):
        machine = oratab(mounted("/u01", "/u01/app"), HOME)
        assert guessed(machine) == {"/u01/app": ("oracle_home", "single")}

    def test_of_the_policy(self):
        assert guessed(mounted("/u01"), oracle_homes=[HOME]) == {"/u01": ("oracle_home", "single")}


def test_mount_that_oranfstab_names():
    machine = mounted("/u02", "/u03")
    machine.file("/etc/oranfstab", "server: filer1\npath: 10.0.0.5\nexport: /vol/u03 mount: /u03\n")
    assert guessed(machine) == {"/u03": ("datafiles", "single")}


class TestUse:
    def test_clusterware_shares(self):
        machine = mounted().database(f"{DATA}/system01.dbf")
        machine.process("/u01/app/grid/bin/crsd.bin", pid=99, uid=0)
        assert guessed(machine) == {"/u02": ("datafiles", "rac")}

    def test_the_policy_knows_better(self):
        machine = mounted().database(f"{DATA}/system01.dbf")
        machine.process("/u01/app/grid/bin/crsd.bin", pid=99, uid=0)
        assert guessed(machine, sharing="single") == {"/u02": ("datafiles", "single")}
        assert guessed(machine, sharing="failover") == {"/u02": ("datafiles", "failover")}
        assert judged(machine, sharing="single")[0].sharing_stated

    def test_of_a_listed_mount_may_be_left_open(self):
        machine = mounted().process("/u01/app/grid/bin/crsd.bin", pid=99, uid=0)
        (mount,) = judged(machine, **nfs_packs.listed(sharing="auto"))
        assert (mount.wanted.sharing, mount.sharing_stated, mount.guessed) == ("rac", False, False)
        (mount,) = judged(machine, **nfs_packs.listed(sharing="single"))
        assert mount.wanted.sharing == "single" and mount.sharing_stated is True
        assert mount.guessed is False


class TestNothing:
    def test_of_nfs(self):
        assert judged(nfs_host()) == []

    def test_of_oracle(self):
        policy = nfs_mounts.policy_from(nfs_packs.nfs_policy())
        facts = nfs_mounts.read(mounted("/home", "/srv"), policy)
        assert judged_mounts(facts, policy) == [] and "/home, /srv" in why_none(facts)

    def test_listed(self):
        assert judged(mounted().database(f"{DATA}/system01.dbf"), mounts=[]) == []


def test_files_count_for_the_deepest_mount():
    machine = mounted("/u02", "/u02/oradata").database(f"{DATA}/system01.dbf")
    assert guessed(machine) == {"/u02/oradata": ("datafiles", "single")}


def test_name_of_one_mount_is_the_beginning_of_another():
    machine = mounted("/u02", "/u020").database("/u020/oradata/system01.dbf")
    assert guessed(machine) == {"/u020": ("datafiles", "single")}


def test_mounts_are_in_order():
    machine = mounted("/u03", "/u02").database("/u03/a.dbf", "/u02/b.dbf")
    assert list(guessed(machine)) == ["/u02", "/u03"]


def test_others_than_the_listed_ones_are_guessed():
    machine = mounted("/u02", "/u03", "/srv").database("/u03/a.dbf", "/u02/b.dbf")
    policy = nfs_mounts.policy_from(nfs_packs.nfs_policy(**nfs_packs.listed()))
    others = guessed_mounts(nfs_mounts.read(machine, policy), policy)
    assert [mount.wanted.path for mount in others] == ["/u03"]


def test_what_is_listed_need_not_be_mounted():
    (mount,) = judged(nfs_host(), **nfs_packs.listed())
    assert mount.mounted is None


class TestUnknown:
    def test_without_root_nobody_knows_what_databases_hold(self):
        machine = mounted().database(f"{DATA}/system01.dbf").deny("open_files:database")
        with pytest.raises(Denied):
            judged(machine)

    def test_without_nfs_it_does_not_matter(self):
        assert judged(nfs_host().deny("open_files:database")) == []

    def test_mounts_unread(self):
        with pytest.raises(HostproofError):
            judged(mounted().deny(nfs_packs.MOUNTINFO))
