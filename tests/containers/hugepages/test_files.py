"""The story of HugePages in a container: every test goes on where the one before it ended.

The kernel is that of the machine that runs the container, so nothing here may change its values,
and nothing may depend on them. What is asserted is what files and processes of the container show.
The policy is molecule/hugepages/inventory/group_vars/container/hugepages.yml.
"""

import re

import pytest

#: 64M in pages of 2M, and 4 more for the instance.
POOL = 32 + 4

SYSCTL = "/etc/sysctl.d/99-zz-hostproof-hugepages.conf"
LIMITS = "/etc/security/limits.d/zz-hostproof-hugepages.conf"
TMPFILES = "/etc/tmpfiles.d/hostproof-hugepages.conf"


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files(), "values": box.values()}


def test_the_kernel_settings_are_read_only_in_here(box, untouched):
    """An unprivileged container cannot change the kernel that it shares with this machine."""
    for path in ("/proc/sys/vm/nr_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"):
        box.run(f"! test -w {path}")


def test_verify_says_what_is_missing(box):
    statuses = box.play("verify").statuses()
    assert statuses["hugepages.pool_persisted"] == "fail"
    assert statuses["oracle hugepages.memlock_persisted"] == "fail"
    assert statuses["hugepages.sga_in_huge_pages"] == "skip"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    assert f"+vm.nr_hugepages = {POOL}" in planned.output
    assert "-oracle soft memlock 64" in planned.output
    assert box.files() == untouched["files"]
    box.run("! test -e /var/lib/hostproof")


def test_a_drop_in_that_would_not_win_is_refused(box, untouched):
    box.run("echo 'vm.nr_hugepages = 7' > /etc/sysctl.d/99-zzz-rival.conf")
    refused = box.apply()
    assert refused.rc == 2
    assert "/etc/sysctl.d/99-zzz-rival.conf:1" in " ".join(refused.output.split())
    box.run("rm /etc/sysctl.d/99-zzz-rival.conf")
    # The parts that the other file does not concern were applied.
    assert box.play("revert").rc == 0
    assert box.files() == untouched["files"]


def test_apply_writes_the_three_files_and_nothing_else(box, untouched):
    applied = box.play("apply", "--diff")
    # It verifies what it did, and the running kernel waits for a boot: that is no failure of apply.
    assert (applied.rc, applied.changed) == (0, 1)
    assert applied.statuses()["hugepages.pool_covers_sga"] == "fail"
    assert f"/proc/sys/vm/nr_hugepages = {POOL}" in applied.output
    before, after = untouched["files"], box.files()
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    # A system without systemd has no tmpfiles.d: revert must remove the folder as well.
    assert changed == {SYSCTL, LIMITS, TMPFILES, "/etc/tmpfiles.d"}
    assert box.values() == untouched["values"]


def test_the_files_hold_what_the_policy_says(host):
    sysctl, limits, tmpfiles = (host.file(path) for path in (SYSCTL, LIMITS, TMPFILES))
    assert sysctl.contains(f"^vm.nr_hugepages = {POOL}$")
    assert sysctl.contains("^vm.hugetlb_shm_group = 54321$")
    assert sysctl.mode == 0o644
    assert limits.contains("^oracle hard memlock [0-9]*$")
    assert (limits.mode, limits.user, limits.group) == (0o640, "root", "oinstall")
    assert tmpfiles.contains("^w! /sys/kernel/mm/transparent_hugepage/enabled - - - - ")
    assert host.file("/var/lib/hostproof/journal").mode == 0o700


def test_a_second_apply_changes_nothing(box):
    before = box.files()
    again = box.apply()
    assert (again.rc, again.changed) == (2, 0)
    assert box.files() == before


def test_verify_names_the_file_and_line_that_win(box):
    box.run("echo 'vm.nr_hugepages = 7' > /etc/sysctl.d/97-older.conf")
    verified = box.verify()
    assert verified.statuses()["oracle hugepages.memlock_persisted"] == "pass"
    owner = verified.finding("hugepages.single_source")
    assert owner["status"] == "warn"
    assert owner["persisted"].startswith(f"{POOL} pages from {SYSCTL}:3")
    assert "/etc/sysctl.d/97-older.conf:1" in owner["persisted"]
    box.run("rm /etc/sysctl.d/97-older.conf")


def test_what_may_not_be_read_is_no_pass(box):
    """Root of the container may not read the memory map of another account's process."""
    box.start("BOX1", "64M")
    statuses = box.verify().statuses()
    assert statuses["BOX1 hugepages.sga_in_huge_pages"] == "error"
    assert "pass" not in statuses["BOX1 hugepages.memlock_in_force"]
    box.stop_instance("BOX1")


def test_revert_puts_every_file_back(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.files() == untouched["files"]


def test_a_second_revert_finds_nothing_to_put_back(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert box.files() == untouched["files"]


def test_revert_works_after_apply_was_killed_at_any_step(box, untouched):
    """Files only; the values of the kernel are the lab's."""
    output = box.kill_at_each_step("apply")
    assert (
        int(re.search(r"killed at (\d+) steps; 4 files and values change", output).group(1)) >= 40
    )
    assert box.files() == untouched["files"]


def test_revert_works_after_revert_was_killed_at_any_step(box, untouched):
    output = box.kill_at_each_step("revert")
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 10
    assert box.files() == untouched["files"]
