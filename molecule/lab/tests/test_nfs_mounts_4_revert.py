"""The end of the story: everything comes back as the administrator left it."""

import re

import pytest
import yaml
from machines.needs import ROOT

#: One mount that exists and one that does not; more of them would only take longer.
KILLED = ("/u02/oradata", "/u03/redo")


@pytest.fixture(scope="module")
def two_mounts():
    """The variables of a policy of these two."""
    policy = yaml.safe_load((ROOT / "inventories/lab/group_vars/lab/nfs_mounts.yml").read_text())
    mounts = [mount for mount in policy["nfs_mounts_mounts"] if mount["path"] in KILLED]
    assert len(mounts) == len(KILLED)
    return {"nfs_mounts_mounts": mounts, "nfs_mounts_allow_remount": True}


def test_revert_puts_files_mounts_and_slots_back(nfs, nfs_untouched):
    reverted = nfs.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    now = nfs.state()
    assert now["files"] == nfs_untouched["files"]
    assert now == nfs_untouched


def test_a_second_revert_finds_nothing_to_put_back(nfs, nfs_untouched):
    again = nfs.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert nfs.state() == nfs_untouched


def test_revert_works_after_apply_was_killed_at_a_mount(nfs, nfs_untouched, two_mounts):
    """Steps of files are killed at in the container (molecule/nfs_mounts)."""
    output = nfs.kill_at_each_step("apply", "kernel", **two_mounts)
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 5
    assert nfs.state() == nfs_untouched


def test_revert_works_after_revert_was_killed_at_a_mount(nfs, nfs_untouched, two_mounts):
    output = nfs.kill_at_each_step("revert", "kernel", **two_mounts)
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 3
    assert nfs.state() == nfs_untouched
