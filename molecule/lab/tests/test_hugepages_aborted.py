"""HugePages after a kill and after a power cut: revert restores every file and value.

The story begins where test_hugepages.py ended, and leaves the machine as it found it.
"""

import re

import pytest


@pytest.fixture(scope="module")
def untouched(lab):
    """The state of the machine before the first change."""
    return {"files": lab.files(), "values": lab.values()}


@pytest.mark.usefixtures("untouched")
def test_revert_works_after_apply_was_killed_at_a_value_of_the_kernel(lab):
    """Steps of files are killed at in the container (molecule/hugepages)."""
    output = lab.kill_at_each_step("apply", "kernel")
    # Before each of three values, and right after the first two; nothing comes after the last.
    assert int(re.search(r"killed at (\d+) steps; 6 files and values change", output).group(1)) >= 5


def test_revert_works_after_revert_was_killed_at_a_value_of_the_kernel(lab, untouched):
    output = lab.kill_at_each_step("revert", "kernel")
    assert int(re.search(r"killed at (\d+) steps", output).group(1)) >= 5
    assert lab.files() == untouched["files"]
    assert lab.values() == untouched["values"]


def test_revert_works_after_a_power_cut_in_the_middle_of_apply(lab, untouched):
    lab.cut_power("/etc/security/limits.d/zz-hostproof-hugepages.conf")
    assert lab.files() != untouched["files"]
    reverted = lab.revert()
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert lab.files() == untouched["files"]
    assert lab.values()["pool"] == untouched["values"]["pool"]
