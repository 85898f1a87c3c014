"""The story of the kernel's parameters in a container: every test goes on where the last ended.

The kernel is that of the machine that runs the container, so nothing here may change its values,
and nothing may depend on them. What is asserted is what files of the container show.
The policy is molecule/kernel_parameters/inventory/group_vars/container/kernel_parameters.yml.
"""

import re

import pytest

SYSCTL = "/etc/sysctl.d/99-zz-hostproof-kernel_parameters.conf"


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files(), "values": box.values()}


def test_the_kernel_settings_are_read_only_in_here(box, untouched):
    """An unprivileged container cannot change the kernel that it shares with this machine."""
    for path in ("/proc/sys/vm/swappiness", "/proc/sys/fs/aio-max-nr"):
        box.run(f"! test -w {path}")


def test_verify_says_which_file_wins(box):
    verified = box.play("verify")
    statuses = verified.statuses()
    assert statuses["vm.swappiness kernel_parameters.memory"] == "warn"
    assert statuses["fs.aio-max-nr kernel_parameters.asynchronous_io"] == "fail"
    assert statuses["kernel_parameters.consistent_sources"] == "warn"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    assert "+fs.aio-max-nr = 3145728" in planned.output
    assert "-vm.swappiness = 30" in planned.output
    assert box.files() == untouched["files"]
    box.run("! test -e /var/lib/hostproof")


def test_a_drop_in_that_would_not_win_is_refused(box, untouched):
    box.run("echo 'vm.swappiness = 60' > /etc/sysctl.d/99-zzz-rival.conf")
    refused = box.apply()
    assert refused.rc == 2
    assert "/etc/sysctl.d/99-zzz-rival.conf:1" in " ".join(refused.output.split())
    box.run("rm /etc/sysctl.d/99-zzz-rival.conf")
    # The parts that the other file does not concern were applied.
    assert box.play("revert").rc == 0
    assert box.files() == untouched["files"]


def test_apply_writes_one_file_and_nothing_else(box, untouched):
    applied = box.play("apply", "--diff")
    assert applied.changed == 1
    before, after = untouched["files"], box.files()
    assert {path for path in before | after if before.get(path) != after.get(path)} == {SYSCTL}
    assert box.values() == untouched["values"]


def test_the_file_holds_what_is_missing(host):
    written = host.file(SYSCTL)
    assert written.contains("^fs.aio-max-nr = 3145728$")
    assert written.contains("^vm.swappiness = 10$")
    # The package sets these as asked, or the kernel allows more by itself.
    assert not written.contains("^kernel.shmmni")
    assert written.mode == 0o640
    assert host.file("/var/lib/hostproof/journal").mode == 0o700


def test_a_second_apply_changes_nothing(box):
    before = box.files()
    assert box.apply().changed == 0
    assert box.files() == before


def test_revert_puts_the_file_back(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.files() == untouched["files"]


def test_a_second_revert_finds_nothing_to_put_back(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert box.files() == untouched["files"]


def test_revert_works_after_apply_was_killed_at_any_step(box, untouched):
    output = box.kill_at_each_step("apply")
    assert int(re.search(r"killed at (\d+) steps; \d+ files", output).group(1)) >= 10
    assert box.files() == untouched["files"]
