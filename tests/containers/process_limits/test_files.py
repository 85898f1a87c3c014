"""The story of limits in a container: every test goes on where the last ended.

Processes are started by a login of PAM, by cron, and by a stand-in of a service: there is no
systemd in here. The policy is in molecule/process_limits/inventory.
"""

import re

import pytest
from machines.machine import TOOLS

FOLDER = "/etc/security/limits.d"
DROP_IN = f"{FOLDER}/zz-hostproof-process_limits.conf"
#: STAND-IN for a unit with LimitNOFILE=500:600: what systemd does before it starts a program.
SERVICE = "prlimit --nofile=500:600 setpriv --reuid=54321 --regid=54321 --clear-groups sh -c"


@pytest.fixture(scope="session")
def untouched(box):
    """What the container looked like before Hostproof changed anything."""
    return box.files()


@pytest.fixture(scope="session")
def running(box):
    """Three instances, each started another way."""
    box.start_stand_in("LOGIN", "", login="su oracle -c")
    box.start_stand_in("UNIT", "", login=SERVICE)
    job = f"@reboot oracle setsid -f {TOOLS}/instance.py --sid CRON >/tmp/CRON.log 2>&1"
    box.run(f"echo '{job}' > /etc/cron.d/oracle; cron")
    box.run("for i in $(seq 60); do grep -q ready /tmp/CRON.log && exit; sleep 0.5; done; exit 1")
    box.run("rm /etc/cron.d/oracle; pkill -x cron")


def test_in_use_is_what_each_process_was_given(box, untouched, running):
    result = box.play("verify")
    for sid, limits in (("LOGIN", "300/400"), ("UNIT", "500/600"), ("CRON", "350/450")):
        finding = result.finding(f"ora_pmon_{sid} process_limits.in_force")
        assert finding["status"] == "fail"
        assert f"nofile {limits}" in finding["in_use"]
        # The kernel's own account of it.
        soft, hard = limits.split("/")
        rows = box.run(f"cat /proc/$(pgrep -f ^ora_pmon_{sid})/limits")
        assert re.search(rf"Max open files +{soft} +{hard} ", rows)


def test_verify_says_which_file_wins(box):
    result = box.verify()
    finding = result.finding("oracle nofile process_limits.login")
    assert (
        finding["persisted"]
        == f"soft 300 ({FOLDER}/50-oracle.conf:1), hard 400 ({FOLDER}/50-oracle.conf:2)"
    )
    statuses = result.statuses()
    assert statuses["oracle nproc process_limits.login"] == "pass"
    assert statuses["oracle stack process_limits.login"] == "fail"
    assert statuses["su process_limits.pam"] == "pass"
    assert statuses["cron process_limits.pam"] == "warn"
    assert statuses["process_limits.remove_ipc"] == "skip"
    assert "oracle memlock process_limits.login" not in statuses


def test_a_file_that_would_not_win_is_refused(box, untouched):
    box.run(f"echo 'oracle hard nofile 100' > {FOLDER}/zzz-rival.conf")
    refused = box.apply()
    assert refused.rc == 2
    assert f"{FOLDER}/zzz-rival.conf:1" in " ".join(refused.output.split())
    box.run(f"rm {FOLDER}/zzz-rival.conf")
    # Limits that the other file does not concern were applied.
    assert box.play("revert").rc == 0
    assert box.files() == untouched


def test_check_mode_shows_the_plan_and_changes_nothing(box, untouched):
    planned = box.play("apply", "--check", "--diff")
    assert (planned.rc, planned.changed) == (0, 1)
    assert "+oracle hard nofile 800" in planned.output
    assert box.files() == untouched


def test_apply_writes_one_file_and_nothing_else(box, host, untouched):
    applied = box.play("apply", "--diff")
    assert applied.changed == 1
    after = box.files()
    changed = {path for path in untouched | after if untouched.get(path) != after.get(path)}
    assert changed == {DROP_IN}
    written = host.file(DROP_IN)
    assert written.contains("^oracle soft nofile 700$")
    assert not written.contains("nproc")
    assert written.mode == 0o640


def test_a_new_login_has_the_limits_and_what_runs_keeps_its_own(box):
    assert box.run("su oracle -c 'ulimit -Sn; ulimit -Hn'").split() == ["700", "800"]
    result = box.verify()
    assert result.statuses()["oracle nofile process_limits.login"] == "pass"
    finding = result.finding("ora_pmon_LOGIN process_limits.in_force")
    assert (finding["status"], "nofile 300/400" in finding["in_use"]) == ("fail", True)


def test_restarted_from_a_new_login_the_instance_has_them(box):
    box.stop_instance("LOGIN")
    box.start_stand_in("LOGIN", "", login="su oracle -c")
    finding = box.verify().finding("ora_pmon_LOGIN process_limits.in_force")
    assert "nofile 700/800" in finding["in_use"]


def test_a_second_apply_changes_nothing(box):
    before = box.files()
    assert box.apply().changed == 0
    assert box.files() == before


def test_revert_puts_the_file_back(box, untouched):
    reverted = box.play("revert", "--diff")
    assert (reverted.rc, reverted.changed) == (0, 1)
    assert box.files() == untouched


def test_revert_works_after_apply_was_killed_at_any_step(box, untouched):
    output = box.kill_at_each_step("apply")
    assert int(re.search(r"killed at (\d+) steps; \d+ files", output).group(1)) >= 10
    assert box.files() == untouched
