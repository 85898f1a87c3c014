"""Every spelling that lets a daemon step the clock."""

from typing import Any

import pytest
from ansible.module_utils.hostproof.controls.time_sync.control import CONTROL as time_sync
from ansible.module_utils.hostproof.controls.time_sync.facts import SHOW
from ansible.module_utils.hostproof.evaluate import audit
from ansible.module_utils.hostproof.evaluate.finding import Finding
from clock_packs import CONF, bare, daemon, shown, with_chrony
from default_policies import changed_policy
from packs import Machine

RAC = {"profile": "rac_asm"}


def judged(machine: Machine, **changes: Any) -> dict[str, Finding]:
    policy = changed_policy("time_sync", **RAC, **changes)
    found = audit.judge_host(machine, {time_sync.name: policy})
    return {one.check.partition(".")[2]: one for one in found}


def conf(*lines: str) -> Machine:
    return with_chrony("\n".join(["server ntp1 iburst", "makestep 1 3", *lines, ""]))


def test_a_leap_second_that_chronyd_steps():
    found = judged(conf("leapsecmode slew", "LeapSecMode step"))["never_steps"]
    assert (found.status, found.failing_layer) == ("fail", "persisted")
    assert f"{CONF}:4 (leapsecmode step)" in found.why


@pytest.mark.parametrize("line", ["leapsecmode slew", "leapsecmode system", "# leapsecmode step"])
def test_a_leap_second_that_it_does_not_step(line):
    assert judged(conf(line))["never_steps"].status == "pass"
    assert judged(conf("leapsecmode step", "leapsecmode slew"))["never_steps"].status == "pass"


def test_a_step_at_the_start_where_none_is_allowed():
    machine = with_chrony("server ntp1\ninitstepslew 30 ntp1\n")
    found = judged(machine, max_step_updates=0)["never_steps"]
    assert (found.status, found.persisted) == ("fail", f"{CONF}:2 (initstepslew 30)")
    assert judged(with_chrony("initstepslew 30 ntp1\n"))["never_steps"].status == "pass"


@pytest.mark.parametrize(
    ("argv", "status"),
    [
        ("phc2sys -a -r -S0.1", "fail"),
        ("phc2sys -a -r --step_threshold=0.1", "fail"),
        ("phc2sys -a -r --step_threshold 0.1", "fail"),
        ("phc2sys -a -r -S 0.0", "pass"),
        ("phc2sys -a -r -f /etc/phc2sys.conf", "error"),
        ("phc2sys -a -r", "pass"),
        ("ptp4l -S -i eth0", "pass"),
        ("ptp4l -i eth0 -S --step_threshold=1", "fail"),
        ("ptp4l -S -f /etc/ptp4l.conf", "error"),
    ],
)
def test_ptp(argv, status):
    machine = daemon(bare(), "/usr/sbin/" + argv)
    unit = argv.partition(" ")[0]
    machine.command(" ".join(SHOW), shown(**{unit: f"enabled /usr/sbin/{unit}"}))
    assert judged(machine)["never_steps"].status == status


def test_ptp4l_with_software_stamps_sets_the_clock_too():
    machine = daemon(with_chrony(), "/usr/sbin/ptp4l -i eth0 -S", pid=701)
    found = judged(machine)["one_daemon"]
    assert (found.status, found.running) == ("fail", "chronyd, ptp")


def test_a_chronyd_that_sets_no_clock_by_joined_options():
    machine = with_chrony(argv="/usr/sbin/chronyd -nx")
    assert judged(machine)["one_daemon"].running == "none"
