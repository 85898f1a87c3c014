"""The story of NFS mounts on a machine of its own, from an administrator's fstab to a reboot.

Every test goes on where the one before it ended; test_nfs_mounts_2 to _4 continue. The filers are
molecule/lab/filer.py, the policy is inventories/lab/group_vars/lab/nfs_mounts.yml.
"""

import re

from lab_machine import LOGIN
from machines import vm
from nfs_lab import FOLDERS


def test_the_mounts_are_as_the_administrator_made_them(nfs, nfs_untouched):
    assert sorted(nfs_untouched["mounts"]) == ["/u01/app/home", "/u02/oradata", "/u04/backup"]
    assert nfs_untouched["slots"] == "2\n65536\n"
    assert "rsize=32768" in nfs.options("/u02/oradata")
    assert "noac" in nfs.options("/u01/app/home")


def test_check_mode_shows_the_diff_and_what_stays_pending(nfs, nfs_untouched):
    planned = nfs.play("apply", "--check", "--diff")
    assert planned.rc == 0
    assert re.search(r"\n-filer:/vol/oradata\t.*,rsize=32768,wsize=32768\t0 0\n", planned.output)
    assert re.search(
        r"\n\+filer:/vol/oradata\t.*,rsize=262144,wsize=262144,actimeo=0\t0 0\n", planned.output
    )
    assert "\n+filer:/vol/redo /u03/redo nfs " in planned.output
    # A line that is right stays as it is, although it gets the newline that it had not.
    assert "\n filer:/vol/shared/backup /u04/backup " in planned.output
    for path in ("/u01/app/home", "/u02/oradata"):
        assert f"waiting: [lab-vm]: {path} stays as it is mounted" in planned.output
    assert nfs.state() == nfs_untouched


def test_apply_leaves_what_is_mounted_alone_and_judges_no_wire_without_traffic(nfs, nfs_untouched):
    applied = nfs.play("apply")
    assert applied.changed == 1
    assert applied.output.count(" stays as it is mounted ") == 2
    mounts = nfs.state()["mounts"]
    assert "vers=4.1" in mounts.pop("/u03/redo")
    assert mounts == nfs_untouched["mounts"]
    # What waits is not yet fulfilled, and verify says so.
    assert applied.rc == 2
    assert applied.worse_than_pass() == {
        "/u01/app/home nfs_mounts.caching": "warn",
        "/u01/app/home nfs_mounts.mounted_as_persisted": "warn",
        "/u02/oradata nfs_mounts.mounted_as_persisted": "warn",
        "/u02/oradata nfs_mounts.options_in_force": "fail",
        "/u02/oradata nfs_mounts.transfer_size": "warn",
    }
    for check in ("latency", "client_queue", "retransmissions"):
        finding = applied.finding(f"/u02/oradata nfs_mounts.{check}")
        assert finding["status"] == "skip"
        assert finding["why"].startswith("No traffic, no verdict")


def test_a_busy_mount_is_refused_with_the_process_that_holds_it(nfs):
    before = nfs.state()
    nfs.start_stand_in("LAB1", "--process dbw0 --open /u02/oradata/users01.dbf", login=LOGIN)
    refused = nfs.apply(nfs_mounts_allow_remount=True)
    nfs.stop_instance("LAB1")
    assert refused.rc == 2
    output = " ".join(refused.output.split())
    assert re.search(
        r"/u02/oradata is in use by ora_dbw0_LAB1 \(pid \d+, /u02/oradata/users01\.dbf\)", output
    )
    after = nfs.state()
    # Another mount does not depend on it.
    home = "/u01/app/home"
    assert before["mounts"].pop(home) != after["mounts"].pop(home)
    assert after == before
    assert "noac" not in nfs.options(home)


def test_apply_makes_the_mounts_anew_where_it_may(nfs):
    applied = nfs.play("apply", nfs_mounts_allow_remount=True)
    assert (applied.rc, applied.changed) == (0, 1)
    assert applied.worse_than_pass() == {}
    assert {"rsize=262144", "acregmax=0", "acdirmin=0"} <= set(nfs.options("/u02/oradata"))
    assert "noac" not in nfs.options("/u01/app/home")
    assert nfs.slots() == "128\n128\n"


def test_a_second_apply_changes_nothing(nfs):
    before = (nfs.state(), nfs.run("find /var/lib/hostproof | sort"))
    again = nfs.play("apply", "--diff", nfs_mounts_allow_remount=True)
    assert (again.rc, again.changed) == (0, 0)
    assert "+++" not in again.output
    assert (nfs.state(), nfs.run("find /var/lib/hostproof | sort")) == before


def test_everything_passes_under_traffic_after_a_reboot(nfs):
    mounts = nfs.state()["mounts"]
    vm.reboot()
    assert nfs.state()["mounts"] == mounts
    assert nfs.slots() == "128\n128\n"
    with nfs.traffic(*FOLDERS):
        verified = nfs.verify()
    assert verified.worse_than_pass() == {}
    statuses = verified.statuses()
    for path in FOLDERS:
        for check in ("latency", "client_queue", "retransmissions"):
            assert statuses[f"{path} nfs_mounts.{check}"] == "pass"
