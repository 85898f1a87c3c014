"""The story of NFS mounts in a container: every test goes on where the one before it ended.

A container may not mount, so the two mounts of the policy are made on access, which nothing here
does. What is asserted is what files show; systemctl is a stand-in that notes what it is asked.
The policy is molecule/nfs_mounts/inventory/group_vars/container/nfs_mounts.yml.
"""

import json
import re

import pytest

FSTAB = "/etc/fstab"
MODPROBE = "/etc/modprobe.d/zz-hostproof-nfs_mounts.conf"
ORANFSTAB = "/etc/oranfstab"
UNIT = "/etc/systemd/system/u02-oradata.mount"
MAP = "/etc/auto.direct"

#: fstab after apply: the options of two lines, and nothing else.
APPLIED = """\
# /etc/fstab: what hosts mount
UUID=0f1e  /  ext4   errors=remount-ro  0  1
filer1:/vol/oradata\t/u02/oradata  nfs  {data}  0  0
  # the backup: ask Dana
filer2:/vol/backup  /backup\tnfs\t{backup}\t0 0
tmpfs  /scratch  tmpfs  size=64m  0  0"""
DATA = "rw,hard,proto=tcp,noatime,x-systemd.automount,_netdev,actimeo=0"
BACKUP = "rw,bg,hard,ac,rsize=262144,wsize=262144,x-systemd.automount"

REDO = {"path": "/u03/redo", "source": "filer1:/vol/redo", "class": "redo"}


@pytest.fixture(scope="session")
def slots(box):
    """Variables for the RPC slots: a kernel that has the module has its values, not ours."""
    loaded = box.run("test -e /proc/sys/sunrpc && echo yes || echo no").strip() == "yes"
    return {"nfs_mounts_slot_table_entries": 0} if loaded else {}


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files(), "fstab": box.run(f"cat {FSTAB}")}


def test_verify_says_what_is_missing(box, untouched, slots):
    statuses = box.play("verify", **slots).statuses()
    assert statuses["/u02/oradata nfs_mounts.mounted"] == "fail"
    assert statuses["/u02/oradata nfs_mounts.safe_transport"] == "fail"
    assert statuses["/u02/oradata nfs_mounts.options_persisted"] == "fail"
    assert statuses["/u02/oradata nfs_mounts.options_in_force"] == "skip"
    assert statuses["/backup nfs_mounts.caching"] == "fail"
    assert statuses["/backup nfs_mounts.safe_transport"] == "pass"
    assert statuses["nfs_mounts.oranfstab"] == "skip"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched, slots):
    planned = box.play("apply", "--check", "--diff", **slots)
    assert (planned.rc, planned.changed) == (0, 1)
    assert f"+filer1:/vol/oradata\t/u02/oradata  nfs  {DATA}  0  0\n" in planned.output
    assert slots or "+options sunrpc tcp_slot_table_entries=128" in planned.output
    assert box.files() == untouched["files"]
    box.run("! test -e /var/lib/hostproof")


def test_a_unit_stands_before_fstab_and_is_not_edited(box, untouched, slots):
    unit = "[Mount]\nWhat=filer1:/vol/oradata\nWhere=/u02/oradata\nType=nfs\nOptions=soft\n"
    box.run(f"cat > {UNIT} <<'END'\n{unit}END")
    owner = box.verify(**slots).finding("/u02/oradata nfs_mounts.single_source")
    assert owner["status"] == "warn"
    assert UNIT in owner["why"]
    assert f"{FSTAB}:3" in owner["why"]
    refused = box.apply(**slots)
    assert refused.rc == 2
    assert UNIT in refused.output
    box.run(f"rm {UNIT}")
    # The other mount and the slots do not depend on it.
    assert BACKUP in box.run(f"cat {FSTAB}")
    assert box.play("revert").rc == 0
    assert box.files() == untouched["files"]


def test_an_autofs_map_counts_only_where_fstab_says_nothing(box, untouched, slots):
    box.run(f"echo '/- {MAP}' > /etc/auto.master")
    box.run(f"echo '/u02/oradata -soft filer1:/vol/oradata' > {MAP}")
    box.run("touch /run/autofs-is-enabled")
    owner = box.verify(**slots).finding("/u02/oradata nfs_mounts.single_source")
    assert owner["status"] == "warn"
    assert owner["persisted"].startswith(f"{FSTAB}:3")
    assert f"{MAP}:1" in owner["persisted"]
    box.run(f"rm /etc/auto.master {MAP} /run/autofs-is-enabled")
    assert box.files() == untouched["files"]


def test_a_mount_that_fails_puts_everything_back(box, untouched, slots):
    """Nothing answers here, and a container may not mount: fstab and the folder must go again."""
    mounts = [{"path": "/backup", "source": "filer2:/vol/backup", "class": "backup"}, REDO]
    failed = box.play("apply", "-e", json.dumps({"nfs_mounts_mounts": mounts}), **slots)
    assert failed.rc == 2
    # Beside it stands what the host is like without the change.
    assert failed.statuses()["nfs_mounts.applied"] == "fail"
    assert len(failed.statuses()) > 20
    assert "the old state is restored" in failed.finding("nfs_mounts.applied")["why"]
    assert box.files() == untouched["files"]
    box.run("! test -e /u03")


def test_apply_edits_fstab_in_place_and_bounds_the_slots(box, untouched, slots):
    box.run("rm -f /run/systemctl.log")
    applied = box.play("apply", "--diff", **slots)
    # It verifies what it did, and nothing is mounted.
    assert (applied.rc, applied.changed) == (2, 1)
    assert applied.statuses()["/u02/oradata nfs_mounts.mounted"] == "fail"
    before, after = untouched["files"], box.files()
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed == ({FSTAB} if slots else {FSTAB, MODPROBE})
    assert box.run(f"cat {FSTAB}") == APPLIED.format(data=DATA, backup=BACKUP)
    assert box.run("grep -c daemon-reload /run/systemctl.log").strip() == "1"


def test_owner_and_mode_stay(host):
    assert host.file(FSTAB).mode == 0o640
    assert host.file("/var/lib/hostproof/journal").mode == 0o700


def test_the_drop_in_holds_what_the_policy_says(host, slots):
    if slots:
        pytest.skip("this machine's kernel has sunrpc loaded: its slots are left alone")
    words = "tcp_slot_table_entries=128 tcp_max_slot_table_entries=128"
    assert host.file(MODPROBE).contains(f"^options sunrpc {words}$")


def test_a_second_apply_changes_nothing(box, slots):
    before = box.files()
    again = box.apply(**slots)
    assert (again.rc, again.changed) == (2, 0)
    assert box.files() == before


def test_verify_finds_what_is_persisted_right(box, slots):
    statuses = box.verify(**slots).statuses()
    assert statuses["/u02/oradata nfs_mounts.options_persisted"] == "pass"
    assert statuses["/u02/oradata nfs_mounts.safe_transport"] == "pass"
    assert statuses["/u02/oradata nfs_mounts.server_locks"] == "pass"
    assert statuses["/backup nfs_mounts.caching"] == "pass"
    assert slots or statuses["nfs_mounts.slot_tables_persisted"] == "pass"


def test_verify_names_each_mistake_in_oranfstab(box, slots):
    lines = ["server: filer1", "paht: 192.0.2.5", "export: /vol/oradata mount: /u02/oradat"]
    box.run(f"printf '%s\\n' {' '.join(repr(line) for line in lines)} > {ORANFSTAB}")
    verified = box.verify(**slots)
    for number in (2, 3):
        assert verified.finding(f"{ORANFSTAB}:{number} nfs_mounts.oranfstab")["status"] == "fail"
    box.run(f"rm {ORANFSTAB}")


def test_revert_puts_every_file_back(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.run(f"cat {FSTAB}") == untouched["fstab"]
    assert box.files() == untouched["files"]


def test_a_second_revert_finds_nothing_to_put_back(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert box.files() == untouched["files"]


def test_revert_works_after_apply_was_killed_at_any_step(box, untouched, slots):
    """Files, and commands that do nothing here; mounts are the lab's."""
    output = box.kill_at_each_step("apply", **slots)
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 20
    assert box.files() == untouched["files"]


def test_revert_works_after_revert_was_killed_at_any_step(box, untouched, slots):
    output = box.kill_at_each_step("revert", **slots)
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 5
    assert box.files() == untouched["files"]
