"""io_pacing: the plan and its guards."""

from typing import Any

import aix_packs
import pytest
from aix_packs import aix
from ansible.module_utils.hostproof.apply import difference
from ansible.module_utils.hostproof.apply.change import CommandChange, Plan
from ansible.module_utils.hostproof.collect.command import state_of
from ansible.module_utils.hostproof.collect.host import Output
from ansible.module_utils.hostproof.controls.io_pacing.control import CONTROL as io_pacing
from ansible.module_utils.hostproof.controls.registry import planner
from ansible.module_utils.hostproof.errors import HostproofError
from ansible.module_utils.hostproof.probes.unix import sys_parm
from cases import cases
from test_io_pacing import linux


def plan(host: Any, **changes: Any) -> Plan:
    policy = io_pacing.policy_from(aix_packs.io_pacing_policy(**changes))
    return planner("io_pacing")(io_pacing.read(host, policy), policy)


def only(made: Plan) -> CommandChange:
    (change,) = made.changes
    assert isinstance(change, CommandChange)
    return change


def argv(commands: Any) -> list[str]:
    return [" ".join(command.argv) for command in commands]


def _seen(change: CommandChange, machine: aix_packs.AixMachine) -> str:
    """What the look, which runs both commands in one process, would tell of the machine."""
    assert change.look.name == f"{aix_packs.LSATTR}; {aix_packs.SYS_PARM}"
    marks = sys_parm.values_command(("maxpout", "minpout"))
    text = machine.run(aix_packs.LSATTR.split()).stdout + machine.ask(marks).stdout
    return state_of(change.look, Output(0, text, ""))


class TestChanges:
    def test_nothing_to_do(self):
        assert plan(aix()) == Plan([], [], [], [])

    def test_both_marks_in_one_chdev(self):
        made = plan(aix().marks(33, 24))
        change = only(made)
        assert argv(change.make) == ["chdev -l sys0 -a maxpout=8193 -a minpout=4096"]
        assert argv(change.undo) == ["chdev -l sys0 -a maxpout=33 -a minpout=24"]
        assert made.refusals == made.pending == made.at_boot == []

    def test_one_mark_alone_differs(self):
        """The kernel may go by others, and takes only a pair that goes together."""
        change = only(plan(aix().odm(8193, 24)))
        assert argv(change.make) == ["chdev -l sys0 -a maxpout=8193 -a minpout=4096"]
        assert argv(change.undo)[0] == "chdev -l sys0 -a maxpout=8193 -a minpout=24"

    def test_diff_is_what_lsattr_prints(self):
        (diff,) = difference.of_plan(plan(aix().marks(33, 24)))
        text = (
            "maxpout {0} HIGH water mark for pending write I/Os per file True\n"
            "minpout {1} LOW water mark for pending write I/Os per file True\n"
        )
        kernel = "maxpout={0}\nminpout={1}\n"
        assert diff["before"] == (text + kernel).format(33, 24)
        assert diff["after"] == (text + kernel).format(8193, 4096)
        assert diff["before_header"] == "sys0: maxpout minpout"

    def test_after_is_what_a_look_tells_then(self):
        """The columns of a longer value are wider; what was planned must still be found."""
        machine = aix().marks(33, 24)
        change = only(plan(machine))
        assert _seen(change, aix().marks(8193, 4096)) == change.after
        assert _seen(change, machine) == change.before
        # Either layer alone is another state.
        assert _seen(change, aix().kernel(33, 24)) not in (change.after, change.before)
        unknown = aix().odm(33, 24).failing(aix_packs.SYS_PARM, "no ctypes")
        database = only(plan(unknown))
        assert database.look.name == aix_packs.LSATTR
        assert state_of(database.look, unknown.run(list(database.look.argv))) == database.before

    def test_applied_and_planned_again(self):
        assert only(plan(aix().marks(33, 24), profile="off")).make
        assert plan(aix().marks(0, 0), profile="off").changes == []

    def test_kernel_alone(self):
        """The ODM is right already: chdev -T brings the kernel to it, and touches nothing else."""
        change = only(plan(aix().kernel(33, 24)))
        assert argv(change.make) == ["chdev -l sys0 -a maxpout=8193 -a minpout=4096 -T"]
        assert argv(change.undo) == ["chdev -l sys0 -a maxpout=33 -a minpout=24 -T"]
        assert change.look.name == aix_packs.SYS_PARM and change.before == "maxpout=33\nminpout=24"
        assert change.after == "maxpout=8193\nminpout=4096"

    def test_revert_brings_a_kernel_back_that_went_by_other_marks(self):
        change = only(plan(aix().odm(33, 24).kernel(513, 256)))
        assert argv(change.undo) == [
            "chdev -l sys0 -a maxpout=33 -a minpout=24",
            "chdev -l sys0 -a maxpout=513 -a minpout=256 -T",
        ]

    def test_kernel_not_known(self):
        made = plan(aix().failing(aix_packs.SYS_PARM, "no ctypes"))
        assert made.changes == [] and "not known" in made.pending[0]
        assert "no ctypes" in made.pending[0]
        assert len(only(plan(aix().odm(33, 24).failing(aix_packs.SYS_PARM, "no ctypes"))).undo) == 1

    def test_odm_not_known(self):
        with pytest.raises(HostproofError, match="0514-519"):
            plan(aix().failing(aix_packs.LSATTR, "0514-519"))

    def test_linux_gets_advice_alone(self):
        made = plan(linux(dirty_ratio=90))
        assert made.changes == made.refusals == []
        assert made.pending == ["io_pacing changes nothing on Linux."]


class TestGuards:
    def test_out_of_the_range_that_lsattr_tells(self):
        machine = aix().marks(33, 24).command("lsattr -R -l sys0 -a maxpout", "0...4097 (+1)\n")
        (refusal,) = plan(machine).refusals
        assert refusal.override is None
        assert "maxpout of sys0 cannot be '8193': it takes 0 to 4097" in refusal.reason

    def test_a_range_that_nobody_tells_is_for_chdev_to_judge(self):
        machine = aix().marks(33, 24)
        machine.failing("lsattr -R -l sys0 -a maxpout", "0514-530 Cannot display")
        assert plan(machine).refusals == []

    @cases(
        "now profile refused",
        ((33, 24), "default", True),
        ((33, 24), "intermediate", True),
        ((33, 24), "off", True),
        ((513, 256), "default", True),
        ((8193, 4096), "off", True),
        ((8193, 4096), "intermediate", False),
        ((8193, 4096), "legacy_hacmp", False),
        ((0, 0), "default", False),
        ((17, 8), "legacy_hacmp", False),
    )
    def test_old_hacmp(self, now, profile, refused):
        made = plan(aix().marks(*now).powerha("6.1.0.0"), profile=profile)
        assert made.changes and bool(made.refusals) == refused
        if refused:
            (refusal,) = made.refusals
            assert refusal.override == "allow_deadman_risk"
            assert "PowerHA 6.1.0.0 (active)" in refusal.reason
            assert "CPU headroom 32%" in refusal.reason

    def test_kernel_that_would_be_raised_from_less(self):
        made = plan(aix().kernel(33, 24).powerha("6.1.0.0"))
        assert [refusal.override for refusal in made.refusals] == ["allow_deadman_risk"]

    def test_taken_by_name(self):
        made = plan(aix().marks(33, 24).powerha("6.1.0.0"), allow_deadman_risk=True)
        assert made.changes and made.refusals == []

    @cases("version", "7.1", "7.2.3", "none")
    def test_newer_or_none(self, version):
        machine = aix().marks(33, 24).failing(aix_packs.LSLPP, "0504-081")
        assert plan(machine, powerha_version=version).refusals == []
        assert plan(aix().marks(33, 24), powerha_version=version).refusals == []

    def test_powerha_not_known(self):
        machine = aix().marks(33, 24).failing(aix_packs.LSLPP, "0504-081")
        machine.command("lsattr -R -l sys0 -a maxpout", "0...4097 (+1)\n")
        range_of_it, unknown = plan(machine, profile="default").refusals
        assert "it takes 0 to 4097" in range_of_it.reason
        assert unknown.override == "allow_deadman_risk" and "0504-081" in unknown.reason
        assert "give io_pacing_powerha_version" in unknown.reason
        assert "maxpout=8193 minpout=4096" in unknown.reason
        assert plan(machine, profile="legacy_hacmp").refusals == []
        assert len(plan(machine, profile="default", allow_deadman_risk=True).refusals) == 1
        assert len(plan(machine, powerha_version="7.2").refusals) == 1

    @cases("told", "7.2.3", "none")
    def test_policy_does_not_overrule_the_host(self, told):
        """One group_vars file may be of other hosts than this."""
        machine = aix().marks(33, 24).powerha("6.1.0.0")
        (refusal,) = plan(machine, profile="default", powerha_version=told).refusals
        assert refusal.override == "allow_deadman_risk"
        assert "io_pacing_powerha_version says" in refusal.reason
        assert "PowerHA 6.1.0.0 (active)" in refusal.reason

    def test_kernel_that_does_not_tell_may_be_raised(self):
        made = plan(aix().odm(16385, 8192).powerha("6.1.0.0").failing(aix_packs.SYS_PARM, "no"))
        assert made.changes
        (refusal,) = made.refusals
        assert refusal.override == "allow_deadman_risk"
        assert "may raise the marks of the kernel, which are not known" in refusal.reason
