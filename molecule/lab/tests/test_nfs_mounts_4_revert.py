"""The end of the story: everything comes back as the administrator left it."""

import re

#: Each step takes seconds here, so not every one is taken.
EVERY = {"apply": 13, "revert": 9}


def test_revert_puts_files_mounts_and_slots_back(nfs, nfs_untouched):
    reverted = nfs.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    now = nfs.state()
    assert now["files"] == nfs_untouched["files"]
    assert now == nfs_untouched


def test_a_second_revert_finds_nothing_to_put_back(nfs, nfs_untouched):
    again = nfs.play("revert")
    assert (again.rc, again.changed) == (0, 0)
    assert nfs.state() == nfs_untouched


def test_revert_works_after_apply_was_killed(nfs, nfs_untouched):
    said = nfs.kill_at_each_step("apply", EVERY["apply"])
    assert int(re.search(r"killed at (\d+) steps", said).group(1)) >= 5
    assert nfs.state() == nfs_untouched


def test_revert_works_after_revert_was_killed(nfs, nfs_untouched):
    said = nfs.kill_at_each_step("revert", EVERY["revert"])
    assert int(re.search(r"killed at (\d+) steps", said).group(1)) >= 3
    assert nfs.state() == nfs_untouched
