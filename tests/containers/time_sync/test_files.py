"""The story of the clock in a container: every test goes on where the last ended.

A container may not set the clock of the machine that runs it, so its chronyd is a program that only
has the name and does nothing. What is asserted is what files show, and how old that process is.
The policy is molecule/time_sync/inventory/group_vars/container/time_sync.yml.
"""

import re

import pytest

CONF = "/etc/chrony/chrony.conf"
DROP_IN = "/etc/chrony/conf.d/zz-hostproof-time_sync.conf"
RIVAL = "/etc/chrony/conf.d/zzz-rival.conf"


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return {"files": box.files()}


def test_verify_says_which_line_steps_and_what_nobody_knows(box, untouched):
    statuses = box.play("verify").statuses()
    assert statuses["time_sync.never_steps"] == "fail"
    # Neither systemd nor chronyc is here.
    assert statuses["time_sync.one_daemon"] == "error"
    assert statuses["time_sync.sources"] == "error"


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    assert "+makestep 0.5 3" in planned.output
    assert box.files() == untouched["files"]
    box.run("! test -e /var/lib/hostproof")


def test_a_drop_in_that_would_not_win_is_refused(box, untouched):
    box.run(f"echo 'makestep 1 -1' > {RIVAL}")
    refused = box.apply()
    assert refused.rc == 2
    assert f"{RIVAL}:1" in " ".join(refused.output.split())
    box.run(f"rm {RIVAL}; ! test -e /var/lib/hostproof")
    assert box.files() == untouched["files"]


def test_apply_writes_one_file_and_nothing_else(box, untouched):
    applied = box.play("apply", "--diff")
    assert applied.changed == 1
    before, after = untouched["files"], box.files()
    assert {path for path in before | after if before.get(path) != after.get(path)} == {DROP_IN}
    assert "makestep 0.5 3" in box.run(f"cat {DROP_IN}")


def test_until_chronyd_starts_again_it_is_a_warning(box):
    assert box.verify().statuses()["time_sync.never_steps"] == "warn"
    box.run("kill $(pidof chronyd); setsid chronyd <> /run/chronyd.standin > /dev/null 2>&1 &")
    assert box.verify().statuses()["time_sync.never_steps"] == "pass"


def test_a_second_apply_changes_nothing(box):
    before = box.files()
    assert box.apply().changed == 0
    assert box.files() == before


def test_revert_takes_the_file_away(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.files() == untouched["files"]


def test_a_second_revert_finds_nothing_to_put_back(box, untouched):
    again = box.revert()
    assert (again.rc, again.changed) == (0, 0)
    assert box.files() == untouched["files"]


def test_revert_works_after_apply_was_killed_at_any_step(box, untouched):
    output = box.kill_at_each_step("apply")
    assert int(re.search(r"killed at (\d+) steps; \d+ files", output).group(1)) >= 5
    assert box.files() == untouched["files"]
